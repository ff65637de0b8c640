"""Ball arithmetic: from exact numbers to balls, and from balls to doubles that bound them.

Every ball contains the true number. The working precision is flint's.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, fmpq


def exact(number: float | Fraction | np.integer[Any]) -> fmpq:
    """Return a double, an integer or a fraction as a rational number, exactly."""
    native = int(number) if isinstance(number, np.integer) else number
    return fmpq(*native.as_integer_ratio())


def float_above(ball: arb) -> float:
    """Return a double that is at least as large as every number in the ball."""
    top = ball.upper()
    number = float(top)
    while not arb(number) >= top:
        number = math.nextafter(number, math.inf)
    return number
