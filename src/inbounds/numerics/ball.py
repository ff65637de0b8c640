"""Ball arithmetic: in from exact numbers, out to doubles that are never too small.

Every ball holds the truth; the working precision is flint's.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, fmpq


def exact(number: float | Fraction | np.integer[Any]) -> fmpq:
    """Return a double, an integer or a fraction as the rational number it is."""
    whole = int(number) if isinstance(number, np.integer) else number
    return fmpq(*whole.as_integer_ratio())


def cumulative(x: arb, lower: arb, upper: arb, centre: arb, sigma: arb) -> arb:
    """Return P(X <= x) for the normal at `centre` truncated to [lower, upper]."""
    root = arb(2).sqrt() * sigma
    below = ((centre - lower) / root).erf()
    return (((x - centre) / root).erf() + below) / (((upper - centre) / root).erf() + below)


def float_above(ball: arb) -> float:
    """Return a double at least as large as everything in the ball."""
    top = ball.upper()
    number = float(top)
    while not arb(number) >= top:
        number = math.nextafter(number, math.inf)
    return number
