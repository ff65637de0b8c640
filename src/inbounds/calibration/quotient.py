"""The largest norm of c/σ over all allowed changes c, with one scale per coordinate.

    l1: max Σ cᵢ/σᵢ        l2: max √Σ(cᵢ/σᵢ)²        over 0 <= cᵢ <= κᵢ, ‖c‖ <= D

The result is an upper bound, and exact up to rounding with one exception: the l2 norm under an l1
bound with caps, which is a knapsack problem, is bounded by its fractional relaxation.

Proof: docs/proofs/clamped.md, theorem 7.
"""

import math

import numpy as np

from inbounds._types import Floats
from inbounds.reach import Reach

_UP = 1 + 2.0**-50  # covers the rounding of a quotient and a sum


def largest_l1(reach: Reach, scales: Floats) -> float:
    """Return an upper bound on Σ cᵢ/σᵢ.

    Examples
    --------
    >>> reach = Reach(np.array([0.1, 1.0]), None, np.inf)
    >>> round(largest_l1(reach, np.array([1.0, 100.0])), 9)
    0.11
    """
    if (scales == scales[0]).all():
        return reach.total / float(scales[0]) * _UP
    quotients = reach.caps / scales
    total = math.fsum(quotients.tolist())
    if reach.order == 1:
        total = min(total, _filled(reach.caps / reach.radius, reach.radius / scales))
    elif reach.order == 2:
        total = min(total, _under_l2(reach, scales))
    return total * _up(scales.size)


def largest_l2(reach: Reach, scales: Floats) -> float:
    """Return an upper bound on √Σ(cᵢ/σᵢ)².

    Examples
    --------
    >>> reach = Reach(np.array([0.1, 1.0]), None, np.inf)
    >>> round(largest_l2(reach, np.array([1.0, 100.0])), 6)
    0.100499
    """
    if (scales == scales[0]).all():
        return reach.diameter / float(scales[0]) * _UP
    most = math.hypot(*(reach.caps / scales).tolist())
    if reach.order is not None:
        least = float(scales.min())
        ratios = least / scales
        fractions = np.minimum(reach.caps / reach.radius, 1.0)
        # Under l2, squares add up to D². Under l1, a square is below its chord; chords add up to D.
        worth = ratios**2 if reach.order == 2 else fractions * ratios**2
        filled = _filled(fractions**reach.order, worth)
        most = min(most, reach.radius / least * math.sqrt(filled))
    return most * _up(scales.size)


def _filled(most: Floats, worth: Floats) -> float:
    """Return max Σ xᵢ·worthᵢ over 0 <= xᵢ <= mostᵢ, Σxᵢ <= 1: the most valuable go first."""
    order = np.argsort(-worth, kind="stable")
    most, worth = most[order], worth[order]
    before = np.concatenate([[0.0], np.cumsum(most)[:-1]])
    used = np.minimum(most, np.maximum(1.0 - before, 0.0))
    return math.fsum((used * worth).tolist())


def _under_l2(reach: Reach, scales: Floats) -> float:
    """Bound Σ cᵢ/σᵢ under an l2 norm by its dual at one multiplier, valid for every multiplier."""
    slopes = float(scales.min()) / scales
    caps = np.minimum(reach.caps / reach.radius, 1.0)
    order = np.argsort(caps / slopes, kind="stable")  # the order in which min(κᵢ, t·slopeᵢ) is κᵢ
    full = np.concatenate([[0.0], np.cumsum(caps[order] ** 2)[:-1]])
    rest = np.cumsum(slopes[order][::-1] ** 2)[::-1]
    levels = np.sqrt(np.maximum(1.0 - full, 0.0) / rest)
    fits = levels * slopes[order] <= caps[order]
    level = float(levels[int(np.argmax(fits))]) if fits.any() else math.inf
    if not 0 < level < math.inf:
        return math.inf
    nu = 1 / level
    change = np.minimum(caps, slopes / nu)
    terms = change * (slopes - nu * change / 2)
    return (math.fsum(terms.tolist()) + nu / 2) * (reach.radius / float(scales.min()))


def _up(size: int) -> float:
    """Return a factor that covers the rounding of quotients, cumulative sums and a root."""
    return 1 + 2.0**-45 + size * 2.0**-50
