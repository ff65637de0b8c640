"""Moments of the likelihood ratio of the three-point pair, and the order that costs most.

Orders of Rényi divergences are written as 1 + y/epsilon. The moment is

    M(y) = 1 + a (e^y - 1) (1 - e^-(y + epsilon)),

the divergence is epsilon · ln M / y, and divided by its order it is epsilon² · ln M / (y (y +
epsilon)), which increases up to one value of y and decreases from there on.
"""

from __future__ import annotations

import math

_LARGE = 600.0  # e^y is not computed for a larger y
_ROUNDING = 2.0**-50  # of logarithms, and of coth x, relative to 1/x
_SURE = 2.0**-36  # a slope this far from zero, relative to its terms, has its true sign
_HALVINGS = 64


def log_moment(a: float, epsilon: float, y: float) -> float:
    """Return ln M(y), up to rounding.

    Proof: docs/proofs/pure.md, theorem 3.

    Examples
    --------
    >>> round(log_moment(0.5, 1.0, 1.0), 6), round(log_moment(0.5, 1.0, 1000.0), 6)
    (0.555533, 999.306853)
    """
    if y <= _LARGE:
        return math.log1p(a * math.expm1(y) * -math.expm1(-(y + epsilon)))
    log_a = math.log(a)
    log_excess = y + log_a + _ROUNDING * (y - log_a)
    return max(log_excess, 0.0) + math.log1p(math.exp(-abs(log_excess)))


def largest_quotient(a: float, epsilon: float, divergence: float) -> float:
    """Bound the largest quotient of a divergence and its order; `divergence` is that of order 1.

    With x = y + epsilon/2, it is at most the larger of epsilon² (ln M)'/(2x) and
    epsilon² (coth x - 1/x)/(2x), for every y at which the quotient does not decrease.

    Proof: docs/proofs/pure.md, theorem 4.

    Examples
    --------
    >>> round(largest_quotient(0.10262619394982736, 1.0, 0.06487212707001281), 9)
    0.093507885
    """
    y = _still_increasing(a, epsilon)
    x = y + epsilon / 2
    slope = divergence
    if y:
        slope = -math.expm1(-log_moment(a, epsilon, y)) * _growth(epsilon, y)
        slope *= epsilon / 2 * (epsilon / x)
    return max(slope, epsilon / 2 * epsilon * _langevin_quotient(x))


def _still_increasing(a: float, epsilon: float) -> float:
    """Return about the largest y at which the quotient certainly increases, or 0."""
    low, high = 0.0, 1.0
    while _increases(a, epsilon, high):
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = low / 2 + high / 2
        low, high = (middle, high) if _increases(a, epsilon, middle) else (low, middle)
    return low


def _increases(a: float, epsilon: float, y: float) -> bool:
    """Tell whether the quotient certainly increases at y.

    The derivative of its logarithm, times y, is y (ln M)'/ln M - 1 - y/(y + epsilon).

    Proof: docs/proofs/pure.md, theorem 4.
    """
    moment = log_moment(a, epsilon, y)
    if moment == 0:  # underflow
        return False
    rise = y * -math.expm1(-moment) / moment * _growth(epsilon, y)
    return rise - 1 - y / (y + epsilon) > _SURE * (2 + rise)


def _growth(epsilon: float, y: float) -> float:
    """Return the derivative of ln(M - 1)."""
    further = y + epsilon
    return 1 / -math.expm1(-y) + math.exp(-further) / -math.expm1(-further)


def _langevin_quotient(x: float) -> float:
    """Return an upper bound on (coth x - 1/x)/x, which is at most 1/3."""
    if x < 1e-3:
        return 1 / 3
    return min(1 / 3, (1 / math.tanh(x) - (1 - _ROUNDING) / x) / x)
