"""Privacy loss and scale of Laplace noise truncated to a box.

In units of the scale b, with u = w/b, γ = c/b and r = u - γ, a change c of one coordinate costs at
most ``g = γ + ln(1 + (1-e^-γ)(1-e^-r)/(1-e^-u))``, which is concave in c with a slope between 2/b
and 0. In many dimensions the worst change maximises the sum of losses under an l1 norm. An l2 norm
is replaced by the smallest l1 norm that contains it: √m·D, or less if coordinates have caps.
"""

import math
from functools import lru_cache

import numpy as np

from inbounds._types import Floats
from inbounds.calibration.exact import PureLoss
from inbounds.numerics.partition import ROUNDING
from inbounds.numerics.search import crossing, newton_admissible, next_admissible
from inbounds.reach import Reach

_FAR, _CELLS, _ROUNDS = 40.0, 1 << 9, 24  # a bound further away than _FAR scales has no effect
_WIDEST = 2.0**20  # in wider intervals doubles cannot resolve places near the upper bound


def as_l1(reach: Reach) -> Reach:
    """Return a small reach that contains `reach` and has no norm but l1.

    Proof: docs/proofs/laplace.md, theorem 6.
    """
    if reach.order != 2:
        return reach
    caps = np.minimum(reach.caps, reach.radius)
    total = reach.total
    return Reach(caps, None, np.inf) if caps.sum() <= total else Reach(caps, 1, total)


def losses(widths: Floats, change: Floats, scale: Floats) -> Floats:
    """Return g of each coordinate. No term is negative, so nothing cancels.

    Proof: docs/proofs/laplace.md, theorem 1.
    """
    shift, rest = change / scale, (widths - change) / scale
    extra = np.expm1(-shift) * np.expm1(-rest) / -np.expm1(-widths / scale)
    result: Floats = shift + np.log1p(extra)
    return result


def slopes(widths: Floats, change: Floats, scale: Floats) -> Floats:
    """Return g' of each coordinate (docs/proofs/laplace.md, theorem 2)."""
    gone, left = np.expm1(-change / scale), np.expm1(-(widths - change) / scale)
    result: Floats = 2 * left / (gone + left) / scale
    return result


def laplace_loss(widths: Floats, reach: Reach, scale: Floats) -> PureLoss:
    """Return a bound on epsilon for an l1 reach, above the exact value by rounding only.

    Proof: docs/proofs/laplace.md, theorems 4 and 7.
    """
    if widths.size == 1:
        sides = float(widths[0]), float(reach.caps[0]), float(scale[0])
        return PureLoss(_interval_bound(*sides)[0], reach.caps, 0.0)
    if reach.order is None:
        epsilon = float(losses(widths, reach.caps, scale).sum())
        return PureLoss(epsilon * (1 + ROUNDING), reach.caps, 0.0)
    level = _level(widths, reach, scale)
    change, _ = _changes(widths, reach.caps, scale, level)
    level *= 1 + 2.0**-47  # so that rounding errors of many slopes do not count as excess
    slope = slopes(widths, change, scale)
    tangent = losses(widths, change, scale) - slope * change
    excess = reach.caps * np.maximum(slope - level, 0.0)
    epsilon = float((tangent + excess).sum()) + level * reach.radius
    return PureLoss(epsilon * (1 + ROUNDING), change, level)


def smallest_on_interval(width: float, change: float, epsilon: float) -> tuple[float, float]:
    """Return the smallest scale for one interval, and the bound on its epsilon.

    Proof: docs/proofs/laplace.md, theorems 2 and 3.
    """
    start = 1.4 * change / epsilon  # it is between once and twice this quotient
    return newton_admissible(lambda scale: _interval_bound(width, change, scale), start, epsilon)


def _interval_bound(width: float, change: float, scale: float) -> tuple[float, float]:
    """Return a bound on g for one interval, and d ln g / d ln b.

    Proof: docs/proofs/laplace.md, theorems 1, 3 and 7.
    """
    u, shift, rest = width / scale, change / scale, (width - change) / scale
    gone, left, whole = -math.expm1(-shift), -math.expm1(-rest), -math.expm1(-u)
    extra = gone * left / whole
    loss = shift + math.log1p(extra)
    rise = shift / gone - shift - (u / whole - u) + (rest / left - rest if left else 1.0)
    slope = -(shift + extra / (1 + extra) * rise) / loss
    return loss * (1 + ROUNDING), slope


def _level(widths: Floats, reach: Reach, scale: Floats) -> float:
    """Return the slope at which the changes use up the radius.

    Proof: docs/proofs/laplace.md, theorem 4.
    """
    steepest = 2 / float(scale.min()) * (1 + 2.0**-50)
    whole = float(reach.caps.sum())

    def unused(t: float) -> float:
        change, left = _changes(widths, reach.caps, scale, steepest * math.exp(-t))
        if reach.radius < whole / 2:
            return reach.radius - float(change.sum())
        return float(left.sum()) - (whole - reach.radius)  # the changes are nearly the caps

    most = math.log(float(scale.max() / scale.min())) + 42.0
    t = most if unused(most) >= 0 else crossing(unused, 0.0, most, within=1e-16)
    return steepest * math.exp(-t)


def _changes(widths: Floats, caps: Floats, scale: Floats, level: float) -> tuple[Floats, Floats]:
    """Return the change at which each slope is `level`, and what is left of each cap.

    With n = level·b, k = min(n, 2-n) and v = 1-e^-u, the shorter y of γ and r has x = e^y - 1 with
    k(1-v)x² + 2(1-kv)x = kv. No difference of nearly equal numbers is taken.

    Proof: docs/proofs/laplace.md, theorem 5.
    """
    n, u = np.minimum(level * scale, 2.0), widths / scale
    k, v = np.minimum(n, 2 - n), -np.expm1(-u)
    half = (1 - k) + k * np.exp(-u)
    with np.errstate(divide="ignore"):  # if k = 1 and e^-u underflows, y = u/2
        x = k * v / (half + np.hypot(half, k * np.sqrt(v * np.exp(-u))))
    shorter = np.minimum(np.log1p(x), u / 2) * scale
    is_shorter = n >= 1
    change: Floats = np.clip(np.where(is_shorter, shorter, widths - shorter), 0.0, caps)
    left: Floats = np.where(is_shorter, caps - shorter, shorter - (widths - caps))
    return change, np.clip(left, 0.0, caps)


def laplace_delta(width: float, change: float, scale: float, epsilon: float) -> float:
    """Bound delta at `epsilon` on an interval from above, within one percent.

    Cells cover all positions of a value; those with the largest bounds are halved.

    Proof: docs/proofs/laplace.md, theorem 8.
    """
    u, shift = width / scale, change / scale
    if u > _WIDEST:
        return 1.0
    near = np.minimum(np.linspace(0.0, _FAR, _CELLS), u - shift)
    places = np.unique(np.concatenate([near, u - shift - near]))
    low, high = places[: max(1, places.size - 1)], places[-max(1, places.size - 1) :]
    settled = 0.0
    for _ in range(_ROUNDS):
        attained = float(_delta_of_cells(u, shift, epsilon, high, high).max())
        bound = _delta_of_cells(u, shift, epsilon, low, high)
        rest = bound > attained * 1.005
        settled = max(settled, float(bound[~rest].max(initial=0.0)))
        if not rest.any():
            return min(1.0, settled)
        middle = (low[rest] + high[rest]) / 2
        low, high = np.concatenate([low[rest], middle]), np.concatenate([middle, high[rest]])
    return min(1.0, max(settled, float(_delta_of_cells(u, shift, epsilon, low, high).max())))


def _delta_of_cells(u: float, shift: float, epsilon: float, low: Floats, high: Floats) -> Floats:
    """Return Q(high, M(low)); the largest log-ratio M decreases in s, and Q increases in s.

    With a = M - ε and t = min(a/2, u-s), Q = ((1-e^-s)(1-e^-a) + (1-e^-t)(1-e^(t-a)))/Z(s).

    Proof: docs/proofs/laplace.md, theorem 8.
    """
    # e^shift alone would overflow; s + shift is at most u, so these exponents are not positive.
    step = np.expm1(-shift) * (np.exp(-low) - np.exp(low - u + shift))
    largest = shift + np.log1p(step / (np.expm1(-low) + np.expm1(low - u)))
    over = np.maximum(largest - epsilon + 2.0**-48 * (largest + epsilon), 0.0)
    stretch = np.minimum(over / 2, u - high)
    part = np.expm1(-high) * np.expm1(-over) + np.expm1(-stretch) * np.expm1(stretch - over)
    result: Floats = part / -(np.expm1(-high) + np.expm1(high - u)) * (1 + 1e-9)
    return result


def smallest_scale(
    widths: Floats, reach: Reach, shape: Floats, epsilon: float
) -> tuple[Floats, PureLoss]:
    """Return the smallest multiple of `shape` whose epsilon is at most `epsilon`, and its loss.

    Proof: docs/proofs/laplace.md, theorem 4.
    """
    total = float((reach.caps / shape).sum())
    if reach.order is not None:
        total = min(total, reach.radius / float(shape.min()))

    @lru_cache(maxsize=1)
    def loss(factor: float) -> PureLoss:
        return laplace_loss(widths, reach, factor * shape)

    def excess(log_factor: float) -> float:
        return math.log(loss(math.exp(log_factor)).epsilon / epsilon)

    low = math.log(float((reach.caps / shape).max()) / epsilon) - 1e-9  # one cap alone costs more
    high = math.log(2 * total / epsilon) + 1e-9  # slopes are at most 2/b
    factor = math.exp(crossing(excess, low, high, within=1e-15))
    factor = next_admissible(factor, lambda factor: loss(factor).epsilon <= epsilon, step=2.0**-50)
    return factor * shape, loss(factor)
