"""The cost of several pure releases together, from the epsilon and total variation of each.

The worst pair for pure epsilon and a total variation has the losses epsilon, 0 and -epsilon, so the
loss of equal releases is epsilon times a sum S of steps +1, 0 and -1, and

    delta(t) = Σ_s P(S = s) (1 - e^(t - s·epsilon))₊.

The probabilities follow from a recurrence without subtractions, so their rounding errors are
bounded; they are raised by as much. If releases differ, each epsilon is rounded up to a multiple of
a common step.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from inbounds._types import Floats
from inbounds.pure import likely

Release = tuple[float, float, int]
"""Epsilon, the total variation, and the number of releases that have them."""

_MOST = 10**5  # equal releases
_MOST_CELLS = 1 << 14  # of the common lattice, for positive losses
_MOST_PARTS = 256  # of the smallest epsilon in a step
_CLOSE = 1e-9  # a relative increase of epsilon that is not worth a finer step
_RAISE = 2.0**-48  # covers the rounding of one probability
_SMALLEST = 1e-280  # probabilities are rounded up to it, so that no quotient overflows
_TINY = 1e-290  # covers underflow


def delta(releases: tuple[Release, ...], epsilon: float) -> float:
    """Return an upper bound on delta at `epsilon` of all releases together.

    Proof: docs/proofs/pure.md, theorems 6 and 10.

    Examples
    --------
    >>> two = ((1.0, math.tanh(0.5), 2),)  # randomised responses: (e² - e^1.5)/(1 + e)²
    >>> round(delta(two, 1.5), 9), round((math.exp(2) - math.exp(1.5)) / (1 + math.e) ** 2, 9)
    (0.210288369, 0.210288369)
    """
    distribution = composed(releases)
    if distribution is None:
        return 1.0
    step, masses, rounding = distribution
    loss = np.arange(masses.size) * step
    excess = loss - epsilon + (loss + epsilon) * _RAISE
    lost = np.where(excess > 0, -np.expm1(-np.maximum(excess, 0.0)), 0.0)
    return min(1.0, float(masses @ lost) * rounding + _TINY)


@lru_cache(maxsize=32)
def composed(releases: tuple[Release, ...]) -> tuple[float, Floats, float] | None:
    """Return a step, the probabilities of its multiples from 0 on, and a factor for rounding.

    It returns None if there are too many releases. Proof: docs/proofs/pure.md, theorem 10.

    Examples
    --------
    >>> step, masses, _ = composed(((0.5, 0.1, 2),))
    >>> step, [round(float(mass), 6) for mass in masses]
    (0.5, [0.428464, 0.300761, 0.064592])
    """
    if len(releases) == 1:
        [(epsilon, variation, count)] = releases
        if count > _MOST:
            return None
        return epsilon, nonnegative(epsilon, variation, count), _rounding(count)
    step, multiples = common_step(releases)
    cells = sum(n * multiple for (_, _, n), multiple in zip(releases, multiples, strict=True))
    if cells > 2 * _MOST_CELLS:
        return None
    together = np.ones(1)
    for (_, variation, n), multiple in zip(releases, multiples, strict=True):
        spread = np.zeros(2 * n * multiple + 1)
        spread[::multiple] = both_signs(multiple * step, variation, n)
        together = np.convolve(together, spread)  # direct: sums of products of positive numbers
    total = sum(n for _, _, n in releases)
    return step, together[cells:], _rounding(total + 2 * cells * len(releases))


def _rounding(operations: int) -> float:
    return 1 + (32 * operations + 256) * 2.0**-52


def common_step(releases: tuple[Release, ...]) -> tuple[float, list[int]]:
    """Return a step, and for each release the smallest multiple of it that is its epsilon or more.

    Proof: docs/proofs/pure.md, theorem 6.

    Examples
    --------
    >>> step, multiples = common_step(((0.5, 0.1, 3), (0.75, 0.1, 2)))
    >>> round(step, 9), multiples
    (0.25, [2, 3])
    """
    smallest = min(epsilon for epsilon, _, _ in releases)
    total = math.fsum(n * epsilon for epsilon, _, n in releases)
    coarsest = total / _MOST_CELLS * (1 + 1e-9)
    best, least = (coarsest, _multiples(releases, coarsest)), math.inf
    for parts in range(1, _MOST_PARTS + 1):
        step = smallest / parts * (1 + 2.0**-48)
        if step < coarsest:
            break
        multiples = _multiples(releases, step)
        used = math.fsum(n * k * step for (_, _, n), k in zip(releases, multiples, strict=True))
        if used / total < least - _CLOSE:
            best, least = (step, multiples), used / total
    return best


def _multiples(releases: tuple[Release, ...], step: float) -> list[int]:
    multiples = []
    for epsilon, _, _ in releases:
        multiple = max(1, math.floor(epsilon / step))
        while multiple * step < epsilon:
            multiple += 1
        multiples.append(multiple)
    return multiples


def both_signs(epsilon: float, variation: float, count: int) -> Floats:
    """Return upper bounds on P(S = s) for s from -count to count; P(-s) = e^(-s·epsilon) P(s).

    Proof: docs/proofs/pure.md, theorem 10.

    Examples
    --------
    >>> both_signs(1.0, 0.25, 1).round(6).tolist()
    [0.145494, 0.459012, 0.395494]
    """
    masses = nonnegative(epsilon, variation, count)
    exponent = np.arange(count, 0, -1) * epsilon
    below = np.exp(-exponent) * (1 + np.minimum(exponent, 800.0) * _RAISE) * (1 + _RAISE)
    return np.concatenate([masses[:0:-1] * below, masses])


def nonnegative(epsilon: float, variation: float, count: int) -> Floats:
    """Return P(S = s) for s from 0 to `count`, up to rounding, of a pair that is raised by little.

    Writing f_k for P(S = count - k), the recurrence is (k + 1) a f_{k+1} =
    (count - k) c f_k + (2·count - k + 1) b f_{k-1}, with a, c and b the probabilities of the steps.

    Proof: docs/proofs/pure.md, theorem 10.

    Examples
    --------
    >>> nonnegative(1.0, 0.25, 2).round(6).tolist()
    [0.325776, 0.363073, 0.156416]
    """
    a = max(likely(epsilon, variation) * (1 + _RAISE), _SMALLEST)
    b = max(a * math.exp(-epsilon), _SMALLEST)
    c = max(1 - a - b, 0.0) + 4 * _RAISE
    number, exponent = _power(a, count)
    before, numbers, exponents = 0.0, [number], [exponent]
    for k in range(count):
        after = ((count - k) * c * number + (2 * count - k + 1) * b * before) / ((k + 1) * a)
        after, shift = math.frexp(after)
        before, number = math.ldexp(number, -shift), after
        exponent += shift
        numbers.append(number)
        exponents.append(exponent)
    masses: Floats = np.ldexp(numbers, np.maximum(exponents, -1070).astype(np.intc))[::-1]
    return masses


def _power(base: float, count: int) -> tuple[float, int]:
    """Return `base` to the power of `count` as a number from 0.5 to 1 and a power of two."""
    number, exponent = 1.0, 0
    for digit in bin(count)[2:]:
        number, shift = math.frexp(number * number * (base if digit == "1" else 1.0))
        exponent = 2 * exponent + shift
    return number, exponent
