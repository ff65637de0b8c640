"""Doubles as exact numbers: powers of two, and the fractions that people mean by them."""

import math
import sys
from fractions import Fraction

_SIMPLE = 10**9  # the largest denominator of a fraction that a person may mean, as 1/10 by 0.1


def simple_fraction(number: float) -> Fraction | None:
    """Return the simple fraction that a double is the nearest to, or None if there is none.

    Examples
    --------
    >>> simple_fraction(0.1), simple_fraction(0.1 + 0.2), simple_fraction(2.0**-40)
    (Fraction(1, 10), None, None)
    """
    fraction = Fraction(number).limit_denominator(_SIMPLE)
    return fraction if float(fraction) == number else None


def as_written(number: float) -> Fraction:
    """Return the decimal or the simple fraction that a double stands for, or its exact value.

    A decimal of up to 15 digits is the only one of that length that rounds to its double.

    Examples
    --------
    >>> as_written(0.3), as_written(2 / 3), as_written(0.1 + 0.2) > Fraction(3, 10)
    (Fraction(3, 10), Fraction(2, 3), True)
    """
    digits = repr(number).partition("e")[0].strip("-").replace(".", "").strip("0")
    if len(digits) <= sys.float_info.dig:
        return Fraction(repr(number))
    simple = simple_fraction(number)
    return Fraction(number) if simple is None else simple


def power_of_two_below(number: float) -> float:
    """Return the largest power of two that is at most a positive number.

    Lengths in units of it are not rounded, and their squares neither overflow nor underflow.

    Examples
    --------
    >>> power_of_two_below(120.0), power_of_two_below(0.5)
    (64.0, 0.5)
    """
    return math.ldexp(1.0, math.frexp(number)[1] - 1)
