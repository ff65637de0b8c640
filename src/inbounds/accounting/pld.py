"""Privacy loss distributions of tabulated profiles, convolved by Google's dp-accounting.

A profile is a table of certified deltas. Delta is convex in e^epsilon, so the largest convex curve
below the table is still above the truth, and so is the curve with straight lines between any of
its points: that is what dp-accounting's "connect the dots" makes a distribution of.

Proof: docs/proofs/composition.md.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds._check import Floats
from inbounds.loss import PrivacyLoss, Profile

if TYPE_CHECKING:
    from dp_accounting.pld import privacy_loss_distribution as distribution

_CELLS = 1 << 12  # of the widest profile
_MOST_CELLS = 1 << 21  # of the composition
_TRUNCATED = 1e-15  # mass moved to infinity by each convolution: pessimistic
_NOISE = 1e-14  # rounding errors of the convolutions, in delta

Losses = tuple[tuple[PrivacyLoss, int], ...]


def delta(losses: Losses, epsilon: float) -> float:
    """Return delta at `epsilon` of all releases together, from their profiles."""
    return min(1.0, float(composed(losses).get_delta_for_epsilon(epsilon)) + _NOISE)


@lru_cache(maxsize=32)
def composed(losses: Losses) -> distribution.PrivacyLossDistribution:
    """Return the distribution of the loss of all releases together."""
    spread = max(loss.profile[-1][0] for loss, _ in losses)
    total = sum(n * loss.profile[-1][0] for loss, n in losses)
    step = max(spread / _CELLS, 2 * total / _MOST_CELLS, 1e-12)
    result: Any = None
    for loss, n in losses:
        one = _single(loss.profile, step)
        many = one if n == 1 else one.self_compose(n, _TRUNCATED)
        result = many if result is None else result.compose(many, _TRUNCATED)
    return result


def _single(points: Profile, step: float) -> distribution.PrivacyLossDistribution:
    from dp_accounting.pld import pld_pmf, privacy_loss_distribution  # noqa: PLC0415 - optional

    most = math.ceil(points[-1][0] / step)
    epsilons = np.arange(most + 1, dtype=np.float64) * step
    above = convex(points, epsilons)
    # Either direction of a pair is covered: delta(-ε) = 1 - e^-ε (1 - delta(ε)).
    below = 1 - np.exp(-epsilons[:0:-1]) * (1 - above[:0:-1])
    deltas = np.minimum.accumulate(np.concatenate([below, above]))
    pmf = pld_pmf.create_pmf_pessimistic_connect_dots_fixed_gap(
        step, -most, most, np.clip(deltas, 0.0, 1.0)
    )
    return privacy_loss_distribution.PrivacyLossDistribution(pmf)


def convex(points: Profile, epsilons: Floats) -> Floats:
    """Evaluate the largest curve below the points that is convex in e^epsilon.

    Beyond the last point the curve stays at its delta: there is no more to know.
    """
    x, y = np.exp([e for e, _ in points]), np.array([d for _, d in points])
    hull: list[int] = []
    for k in range(x.size):
        while len(hull) > 1 and _is_above(x, y, hull[-2], hull[-1], k):
            hull.pop()
        hull.append(k)
    result: Floats = np.interp(np.exp(epsilons), x[hull], y[hull])
    return result


def _is_above(x: Floats, y: Floats, i: int, j: int, k: int) -> bool:
    """Tell whether point j lies on or above the line from i to k."""
    return bool((y[j] - y[i]) * (x[k] - x[i]) >= (y[k] - y[i]) * (x[j] - x[i]))
