"""The worst neighbour in many dimensions: a concave maximisation solved by water-filling.

The loss is a sum over coordinates of concave functions of their changes, so one multiplier
determines the worst change c: every coordinate that is not at its cap has the same slope per unit
of the norm. The result is used only together with `gap`, which gives an upper bound for *any* c and
multiplier, so an unfinished search can cost accuracy but never privacy.
"""

import numpy as np

from inbounds._types import Floats
from inbounds.calibration.concave import LOSS, Concave, Coordinates, WorstChange, blocks, inside
from inbounds.calibration.parabola import fill_l2

_CLOSE = 1e-9  # relative tolerance of Newton's method on single coordinates
_MET = 1e-8  # relative tolerance of the norm; its effect on the bound is of second order
_PASSES = 80


def worst_change(
    coordinates: Coordinates,
    sigma: Floats,
    start: float | None = None,
    of: Concave = LOSS,
) -> WorstChange:
    """Maximise the summed losses (or log-ratios) over every change the norm and caps allow.

    `start` is a first guess for the multiplier. Proof: docs/proofs/box.md, theorem 3.
    """
    if coordinates.order is None:
        return WorstChange(coordinates.cap, 0.0)
    if coordinates.width.size == 1:  # all are equal and the maximiser is unique: equal changes
        parts = coordinates.count ** (1 / coordinates.order)
        change = np.minimum(coordinates.radius / parts, coordinates.cap)
        slope = float(of.slopes(coordinates.width / sigma, change / sigma)[0][0] / sigma[0])
        return WorstChange(change, slope if coordinates.order == 1 else slope / float(change[0]))
    if coordinates.order == 1:
        return _fill_l1(coordinates, sigma, start, of)
    if of is LOSS and (worst := fill_l2(coordinates, sigma, start)):
        return worst
    return _fill_l2(coordinates, sigma, start, of)


def _fill_l2(
    coordinates: Coordinates, sigma: Floats, start: float | None, of: Concave
) -> WorstChange:
    """Find ν with ‖c(ν)‖ = radius by Newton's method on 1/‖free part of c‖, nearly linear in ν.

    Log-ratios are maximised like this, because no gap covers what is missing, and parabolas may end
    far from the maximum of a flat function. The maximum is that of docs/proofs/box.md, theorem 3.
    """
    width, cap, count = coordinates.width, coordinates.cap, coordinates.count
    radius, variance = coordinates.radius, sigma * sigma
    u, most = width / sigma, cap / sigma
    release = _slope(of, u, most) / (most * variance)  # a coordinate is at its cap while ν <= this
    low, high = 0.0, np.inf
    nu = start or 0.75 * float(np.sqrt(count @ (width / variance) ** 2)) / radius
    guess = of.guess(u, nu * variance)
    for _ in range(_PASSES):
        free = release < nu
        tilt = nu * variance[free]
        gamma, curvature = _root(of, u[free], tilt, guess[free])
        guess[free] = gamma
        free_change = gamma * sigma[free]
        square = float(count[free] @ free_change**2)
        wanted = radius * radius - float(count[~free] @ cap[~free] ** 2)
        if abs(square - wanted) <= _MET * square or high - low <= 1e-15 * nu:
            break
        low, high = (nu, high) if square > wanted else (low, nu)
        part = free_change / radius
        descent = float(count[free] @ (part * part * variance[free] / (curvature + tilt)))
        excess = np.sqrt(square / wanted) - 1 if wanted > 0 else np.inf
        step = excess * (square / radius**2) / descent if descent > 0 else np.inf
        nu = inside(nu + step, low, high)
    change = cap.copy()
    if square > 0:  # meet the norm exactly, because the gap is linear in what is missing
        free_change *= np.sqrt(max(0.0, wanted) / square)
    change[free] = np.minimum(free_change, cap[free])
    return WorstChange(change, nu)


def _fill_l1(
    coordinates: Coordinates, sigma: Floats, start: float | None, of: Concave
) -> WorstChange:
    """Find ν with Σc(ν) = radius; if rounding hides c(ν), interpolate the nearest responses.

    Proof: docs/proofs/box.md, theorem 3.
    """
    count, radius = coordinates.count, coordinates.radius
    u, most = coordinates.width / sigma, coordinates.cap / sigma
    first = _slope(of, u, np.zeros_like(u)) / sigma
    last = _slope(of, u, most) / sigma
    low, high = float(last.min()) * (1 - 1e-12), float(first.max()) * (1 + 1e-12)
    below, above = coordinates.cap, np.zeros_like(u)  # responses at low and at high
    nu = start if start and low < start < high else (low + high) / 2
    for _ in range(_PASSES):
        change = np.where(last >= nu, coordinates.cap, 0.0)
        free = (first > nu) & (last < nu)
        gamma, curvature = _inverse(of, u[free], most[free], nu * sigma[free])
        change[free] = gamma * sigma[free]
        excess = float(count @ change) - radius
        if excess >= 0:
            low, below = nu, change
        else:
            high, above = nu, change
        if high - low <= 4e-16 * high:
            break
        descent = float(count[free] @ (sigma[free] ** 2 / np.maximum(curvature, 1e-300)))
        if abs(excess) < _CLOSE * radius and descent > 0:
            shift = excess / descent * sigma[free] ** 2 / np.maximum(curvature, 1e-300)
            change[free] = np.clip(change[free] - shift, 0.0, coordinates.cap[free])
            total = float(count @ change)
            if abs(total - radius) <= 1e-14 * radius:
                return WorstChange(change * min(1.0, radius / total), nu)
        nu = inside(nu + (excess / descent if descent > 0 else np.inf), low, high)
    over, under = float(count @ below) - radius, radius - float(count @ above)
    fraction = under / (over + under) if over + under > 0 else 0.0
    return WorstChange(above + fraction * (below - above), nu)


def gap(coordinates: Coordinates, worst: WorstChange, slope: Floats) -> float:
    """Return a bound on how much the loss of any allowed change can exceed that of `worst`.

    `slope` is that of the losses at the worst change. No term of the sum is negative.

    Proofs: docs/proofs/box.md, theorem 4, and docs/proofs/rounding.md, theorem 2.
    """
    change, nu, cap = worst.change, worst.multiplier, coordinates.cap
    if coordinates.order is None:
        return 0.0
    if coordinates.order == 1:
        excess = slope - nu
        terms = excess * np.where(excess > 0, cap - change, -change)
        slack = coordinates.radius - _total(coordinates, change)
        return max(0.0, _total(coordinates, terms)) + nu * max(0.0, slack)
    best = np.minimum(slope / nu, cap)
    # slope x - ν x²/2 at its best x less the same at x = change, factored to avoid cancellation
    terms = (best - change) * (slope - nu * (best + change) / 2)
    slack = coordinates.radius**2 - _total(coordinates, change**2)
    return max(0.0, _total(coordinates, terms)) + nu * max(0.0, slack) / 2


def _total(coordinates: Coordinates, terms: Floats) -> float:
    """Sum pairwise, as the error bound needs short chains of additions, unlike a dot product's.

    Proof: docs/proofs/rounding.md, theorem 2.
    """
    return float(np.sum(coordinates.count * terms))


def with_best_multiplier(
    coordinates: Coordinates, worst: WorstChange, slope: Floats
) -> WorstChange:
    """Choose the multiplier that makes the l1 gap smallest; the l2 gap hardly depends on it.

    Proof: docs/proofs/box.md, theorem 4.
    """
    if coordinates.order != 1:
        return worst
    most = coordinates.count * coordinates.cap
    multiplier = knapsack_threshold(slope, most, coordinates.radius)
    # A little more, so that rounding errors of many slopes do not count as excess.
    return WorstChange(worst.change, multiplier * (1 + 2.0**-47))


def knapsack_threshold(value: Floats, most: Floats, total: float) -> float:
    """Return the value of the last item that fits in `total` if the most valuable go first."""
    order = np.argsort(-value)
    last = int(np.searchsorted(np.cumsum(most[order]), total))
    return float(value[order[min(last, value.size - 1)]])


def _slope(of: Concave, u: Floats, gamma: Floats) -> Floats:
    result = np.empty_like(u)
    for i in blocks(u.size):
        result[i] = of.slopes(u[i], gamma[i])[0]
    return result


def _root(of: Concave, u: Floats, a: Floats, guess: Floats) -> tuple[Floats, Floats]:
    """Solve slope(γ) = a γ for γ in (0, u); return γ and the curvature there."""
    return _newton(of, u, guess=np.clip(guess, 0.0, u), most=u, a=a, level=np.zeros_like(u))


def _inverse(of: Concave, u: Floats, most: Floats, level: Floats) -> tuple[Floats, Floats]:
    """Solve slope(γ) = level for γ in (0, most); return γ and the curvature there."""
    return _newton(of, u, guess=most / 2, most=most, a=np.zeros_like(u), level=level)


def _newton(
    of: Concave, u: Floats, *, guess: Floats, most: Floats, a: Floats, level: Floats
) -> tuple[Floats, Floats]:
    """Solve slope(γ) = a γ + level on (0, most), by Newton steps kept inside a bracket."""
    root, bend = np.empty_like(u), np.empty_like(u)
    for i in blocks(u.size):
        x, low, high = guess[i], np.zeros_like(u[i]), most[i]
        for _ in range(_PASSES):
            slope, curvature = of.slopes(u[i], x)
            value = slope - a[i] * x - level[i]
            low, high = np.where(value > 0, x, low), np.where(value > 0, high, x)
            with np.errstate(divide="ignore", invalid="ignore"):
                moved = x + value / (curvature + a[i])
            moved = np.where((moved >= low) & (moved <= high), moved, (low + high) / 2)
            done = bool((np.abs(moved - x) <= _CLOSE * moved).all())
            x = moved
            if done:
                break
        root[i], bend[i] = x, curvature
    return root, bend
