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


def cumulative(x: arb, lower: arb, upper: arb, centre: arb, sigma: arb) -> arb:
    """Return P(X <= x) for the normal distribution at `centre`, truncated to [lower, upper]."""
    root = arb(2).sqrt() * sigma
    below = ((centre - lower) / root).erf()
    return (((x - centre) / root).erf() + below) / (((upper - centre) / root).erf() + below)


def float_above(ball: arb) -> float:
    """Return a double that is at least as large as every number in the ball."""
    top = ball.upper()
    number = float(top)
    while not arb(number) >= top:
        number = math.nextafter(number, math.inf)
    return number
