"""Privacy loss distributions of tabulated profiles, convolved by Google's dp-accounting.

A profile is a table of certified deltas. Delta is convex in e^epsilon, so the largest convex curve
below the table is still above the true one, and so is the curve with straight lines between points
of it. dp-accounting's "connect the dots" makes a distribution of the latter.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds._extra import optional
from inbounds._types import Floats
from inbounds.loss import PrivacyLoss
from inbounds.profile import LARGEST, Profile

if TYPE_CHECKING:
    from dp_accounting.pld import privacy_loss_distribution as distribution

_CELLS = 1 << 8  # cells of the narrowest profile, a multiple of its number of points
_MOST_CELLS = 1 << 16  # cells of the widest profile
_MOST_COMPOSED = 1 << 20  # cells of the composition, approximately
_DEVIATIONS = 17  # by Hoeffding, less than _TRUNCATED of the mass is beyond half of these
_TOGETHER = 1 << 10  # releases in one convolution; dp-accounting's bounds are loose for more
_TRUNCATED = 1e-15  # mass that each convolution moves to infinity, which is pessimistic
_NOISE = 2e-15  # bounds rounding errors in delta, per release and ten times more

Losses = tuple[tuple[PrivacyLoss, int], ...]


def delta(losses: Losses, epsilon: float) -> float:
    """Return delta at `epsilon` of all releases together, from their profiles.

    Examples
    --------
    >>> pair = ((PrivacyLoss.pure(1.0), 2),)  # exactly (e² - e^1.5)/(1 + e)²
    >>> delta(pair, 1.5)
    0.21028...
    """
    if any(loss.profile[-1][1] == 1 for loss, _ in losses):
        return 1.0
    noise = _NOISE * (10 + sum(n for _, n in losses))
    if noise >= 1:  # the result would be 1, so a convolution is not worth its time
        return 1.0
    return min(1.0, float(composed(losses).get_delta_for_epsilon(epsilon)) + noise)


@lru_cache(maxsize=32)
def composed(losses: Losses) -> distribution.PrivacyLossDistribution:
    """Return the distribution of the loss of all releases together.

    Proof: docs/proofs/composition.md, theorem 5.

    Examples
    --------
    >>> two = composed(((PrivacyLoss.pure(1.0), 1), (PrivacyLoss.pure(0.5), 1)))
    >>> round(two.get_epsilon_for_delta(0.01), 2)
    1.48
    """
    step = _step([(_top(loss.profile), n) for loss, n in losses])
    parts = [_repeated(single(loss.profile, step), n) for loss, n in losses]
    while len(parts) > 1:  # in pairs, so that most convolutions are short
        unpaired = parts[len(parts) & ~1 :]
        pairs = zip(parts[::2], parts[1::2], strict=False)
        parts = [first.compose(second, _TRUNCATED) for first, second in pairs] + unpaired
    return parts[0]


def _top(points: Profile) -> float:
    return min(points[-1][0], LARGEST)


def _step(tops: list[tuple[float, int]]) -> float:
    """Return the size of a cell: fine for the narrowest profile, but limiting their number."""
    tops = [(top, n) for top, n in tops if top]
    if not tops:
        return 1.0
    narrowest, widest = min(tops)[0], max(tops)[0]
    total = sum(n * top for top, n in tops)
    likely = _DEVIATIONS * widest * math.sqrt(sum(n * (top / widest) ** 2 for top, n in tops))
    spread = min(2 * total, likely)
    return max(narrowest / _CELLS, widest / _MOST_CELLS, spread / _MOST_COMPOSED)


def _repeated(part: Any, times: int) -> Any:
    if times == 1:
        return part
    if times <= _TOGETHER:
        return part.self_compose(times, _TRUNCATED)
    groups, remainder = divmod(times, _TOGETHER)
    whole = _repeated(part.self_compose(_TOGETHER, _TRUNCATED), groups)
    return whole.compose(_repeated(part, remainder), _TRUNCATED) if remainder else whole


def single(points: Profile, step: float) -> distribution.PrivacyLossDistribution:
    """Return a distribution on multiples of `step` that is at most as private as a profile.

    Proof: docs/proofs/composition.md, theorem 5.

    Examples
    --------
    >>> one = single(PrivacyLoss.pure(1.0).profile, 1 / 64)  # response_delta(1.0, 0.5)
    >>> round(float(one.get_delta_for_epsilon(0.5)), 6)
    0.287649
    """
    with optional():
        from dp_accounting.pld import pld_pmf, privacy_loss_distribution  # noqa: PLC0415 - optional

    most = math.ceil(_top(points) / step)
    epsilons = np.arange(-most, most + 1, dtype=np.float64) * step
    deltas = convex(points, epsilons)
    pmf = pld_pmf.create_pmf_pessimistic_connect_dots_fixed_gap(
        step, -most, most, np.clip(np.minimum.accumulate(deltas), 0.0, 1.0)
    )
    return privacy_loss_distribution.PrivacyLossDistribution(pmf)


def convex(points: Profile, epsilons: Floats) -> Floats:
    """Evaluate the largest curve below the points that is convex in e^epsilon.

    Epsilons may be negative. As the profile covers both directions of a pair, its points have
    mirror images, delta(-ε) = 1 - e^-ε (1 - delta(ε)). After the last point the curve is constant,
    because nothing smaller is known. Proof: docs/proofs/composition.md, theorem 5.

    Examples
    --------
    >>> convex(((0.0, 0.5), (1.0, 0.5), (2.0, 0.0)), np.array([1.0, 3.0]))  # (1, 0.5) is too high
    array([0.365..., 0.        ])
    """
    kept = np.array([point for point in points if point[0] <= LARGEST])
    epsilon, delta = kept.T
    mirrored = -np.expm1(-epsilon) + np.exp(-epsilon) * delta
    # expm1 rather than exp, so that tiny epsilons stay apart.
    x = np.expm1(np.concatenate([[-np.inf], -epsilon[:0:-1], epsilon]))
    y = np.concatenate([[1.0], mirrored[:0:-1], delta])
    hull: list[int] = []
    for k in range(x.size):
        while len(hull) > 1 and _is_above(x, y, hull[-2], hull[-1], k):
            hull.pop()
        hull.append(k)
    result: Floats = np.interp(np.expm1(epsilons), x[hull], y[hull])
    return result


def _is_above(x: Floats, y: Floats, i: int, j: int, k: int) -> bool:
    """Tell whether point j lies on or above the line from i to k."""
    return bool((y[j] - y[i]) * (x[k] - x[i]) >= (y[k] - y[i]) * (x[j] - x[i]))
