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


def fraction_below(ball: arb) -> Fraction:
    """Return a fraction of at least zero that is at most as large as any number in the ball.

    For a ball that may contain negative numbers, is not finite or is below 2⁻⁴⁰⁰⁰, that is zero.

    Examples
    --------
    >>> fraction_below(arb(3) / 4)
    Fraction(3, 4)
    >>> fraction_below(arb(-1))
    Fraction(0, 1)
    """
    if not (ball.is_finite() and ball > 0):
        return Fraction(0)
    if ball < arb(2) ** -4000:
        return Fraction(0)
    mantissa, exponent = ball.lower().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
