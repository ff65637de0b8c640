"""Powers of two, by which a double is multiplied and divided without rounding."""

import math


def power_of_two_below(number: float) -> float:
    """Return the largest power of two that is at most a positive number.

    Lengths in units of it are not rounded, and their squares neither overflow nor underflow.

    Examples
    --------
    >>> power_of_two_below(120.0), power_of_two_below(0.5)
    (64.0, 0.5)
    """
    return math.ldexp(1.0, math.frexp(number)[1] - 1)
