"""Group privacy: the loss of several changes of the data, given the loss of one.

Proof: docs/proofs/unit.md, theorem 1.
"""

from __future__ import annotations

import math
from fractions import Fraction

_UP = 1 + 2.0**-40  # covers rounding
_TINY = 1e-300  # covers underflow


def multiplied(count: int, number: float) -> float:
    """Return ``count * number``, rounded up.

    Examples
    --------
    >>> multiplied(2, 0.1), multiplied(3, 0.1)
    (0.2, 0.30000000000000004)
    """
    if not math.isfinite(number):
        return number
    product = count * Fraction(number)
    try:
        nearest = float(product)
    except OverflowError:
        return math.inf
    return nearest if nearest >= product else math.nextafter(nearest, math.inf)


def group_delta(epsilon: float, delta: float, count: int) -> float:
    """Return the delta of a group of `count` changes at ``count * epsilon``, at most 1.

    It is delta * (1 + e^epsilon + ... + e^((count - 1) epsilon)).

    Examples
    --------
    >>> group_delta(0.0, 1e-6, 3), group_delta(1.0, 1e-6, 2), group_delta(400.0, 1e-6, 2)
    (3.0...e-06, 3.7...e-06, 1.0)
    """
    if delta == 0 or count == 1:
        return delta
    total = multiplied(count, epsilon)
    if total > 700 or count > 1 / max(delta, _TINY):  # the sum is at least `count`
        return 1.0
    weight = math.expm1(total) / math.expm1(epsilon) if epsilon else float(count)
    return min(1.0, delta * weight * _UP + _TINY)
