"""Rényi, zero-concentrated and Gaussian privacy of a bounded Gaussian, bounded from above.

Truncation only improves privacy: each guarantee is at most that of the plain Gaussian. The
improvement is the variance v <= 1, in units of sigma², of the truncated distribution centred in the
middle: ρ <= Σ c² v / 2σ².
"""

import math
from collections.abc import Callable

import numpy as np
from scipy.special import erf

from inbounds._types import Floats
from inbounds.calibration.exact import pure_loss
from inbounds.calibration.waterfill import knapsack_threshold
from inbounds.numerics import divergence
from inbounds.numerics.doubles import power_of_two_below
from inbounds.numerics.partition import ROUNDING
from inbounds.numerics.quadrature import unit_rule
from inbounds.numerics.search import next_admissible
from inbounds.reach import Reach

_QUADRATURE = 2.0**-32  # relative error of a Rényi divergence, with room to spare
_NODES, _WEIGHTS = unit_rule(12)
_OUTSIDE = 2.0 ** np.arange(21)  # natural lengths below the interval; further, variance is 1/x²
_WIDEST = 200.0  # in units of sigma: for larger widths only the simple bounds are used
_POINTS = 9
_TINY = 1e-300  # covers underflow
_MOST_DISTINCT = 64  # coordinates, as each needs a search


def mu_upper_bound(widths: Floats, reach: Reach, sigma: Floats) -> float:
    """Return μ for which the release is μ-GDP: the largest ‖c/σ‖ of an allowed change.

    Proof: docs/proofs/approximate.md, theorem 5.

    Examples
    --------
    >>> mu_upper_bound(np.array([10.0]), Reach(np.array([1.0]), None, np.inf), np.array([2.0]))
    0.50000000000...
    """
    if widths.size == 1:
        return float(reach.caps[0] / sigma[0]) * (1 + ROUNDING) + _TINY
    return math.sqrt(_largest_square(widths, reach, sigma, np.ones_like(widths))) * (1 + ROUNDING)


def rho_upper_bound(widths: Floats, reach: Reach, sigma: Floats) -> float:
    """Return ρ for which the release is ρ-zCDP: the Rényi divergence is at most αρ for all α > 1.

    Proof: docs/proofs/concentrated.md, theorem 5.

    Examples
    --------
    >>> rho_upper_bound(np.array([10.0]), Reach(np.array([1.0]), None, np.inf), np.array([2.0]))
    0.113...
    """
    kept = _middle_variance(widths, sigma)
    return _largest_square(widths, reach, sigma, kept) / 2 * (1 + ROUNDING)


def sigma_for_rho(widths: Floats, reach: Reach, shape: Floats, rho: float) -> Floats:
    """Return the smallest multiple of `shape` whose ρ is at most `rho`.

    It is at most that of the plain Gaussian (docs/proofs/concentrated.md, theorem 5).

    Examples
    --------
    >>> reach = Reach(np.array([1.0]), None, np.inf)
    >>> sigma_for_rho(np.array([10.0]), reach, np.ones(1), 0.1)  # the plain Gaussian needs 2.236
    array([2.104...])
    """
    scale = mu_upper_bound(widths, reach, shape) / math.sqrt(2 * rho)  # enough without truncation
    slope, before = -2.0, (0.0, 0.0)

    def bound(scale: float) -> float:
        return rho_upper_bound(widths, reach, scale * shape)

    for _ in range(60):
        error = math.log(bound(scale) / rho)
        if -1e-12 <= error <= 0:
            break
        here = (math.log(scale), error)
        if before != (0.0, 0.0) and abs(here[0] - before[0]) > 1e-9:
            slope = min(-2.0, max(-4.0, (error - before[1]) / (here[0] - before[0])))
        before = here
        scale *= math.exp(-(error + 2e-13) / slope)
    return next_admissible(scale, lambda scale: bound(scale) <= rho, step=1e-13) * shape


def renyi_upper_bound(widths: Floats, reach: Reach, sigma: Floats, alpha: float) -> float:
    """Bound the Rényi divergence of order `alpha` of every allowed pair from above.

    Order 1 is the Kullback–Leibler divergence and order infinity the pure epsilon. Proof:
    docs/proofs/concentrated.md, theorem 6.

    Examples
    --------
    >>> reach = Reach(np.array([1.0]), None, np.inf)
    >>> renyi_upper_bound(np.array([10.0]), reach, np.array([1.0]), 8.0)  # the Gaussian has 4
    3.89...
    """
    pure = pure_loss(widths, reach, sigma).epsilon
    if alpha >= 1e15:
        return pure
    bound = min(pure, alpha * rho_upper_bound(widths, reach, sigma) * (1 + ROUNDING))
    if reach.order is not None:
        return bound
    distinct, counts = np.unique(np.stack([widths, reach.caps, sigma]), axis=1, return_counts=True)
    if counts.size > _MOST_DISTINCT:
        return bound
    total = math.fsum(
        count * interval_renyi(width, change, scale, alpha)
        for count, (width, change, scale) in zip(counts.tolist(), distinct.T.tolist(), strict=True)
    )
    return min(bound, total * (1 + ROUNDING))


def interval_renyi(width: float, change: float, sigma: float, alpha: float) -> float:
    """Bound the Rényi divergence of one interval from above; `change` is at most `width`.

    The divergence has one peak in the position s, and its logarithm changes by at most `steepness`
    per unit of s. So a bracket of the peak, found by comparing values, gives a bound. Proof:
    docs/proofs/concentrated.md, theorems 2 to 5 and 10.
    """
    u, gamma = width / sigma, change / sigma
    spread = min(1.0, u / math.sqrt(12)) * (1 + ROUNDING)
    simple = alpha * gamma * gamma * _middle_variance(np.array([width]), np.array([sigma]))[0] / 2
    simple = float(simple) * (1 + ROUNDING)
    if u > _WIDEST:
        return simple
    steepness, low, high = 2 * spread, 0.0, (width - change) / sigma
    while True:
        s = np.linspace(low, high, _POINTS)
        value = _renyi(u, gamma, alpha, s, 1 / spread)
        best = int(np.argmax(value))
        apart = np.flatnonzero(value * (1 + _QUADRATURE) < value[best] * (1 - _QUADRATURE))
        before, after = apart[apart < best], apart[apart > best]
        start = s[before[-1]] if before.size else low
        stop = s[after[0]] if after.size else high
        settled = stop - start > 0.75 * (high - low) or (stop - start) * steepness < 1e-8
        low, high = float(start), float(stop)
        if settled:
            room = steepness * max(s[best] - low, high - s[best]) + 2 * _QUADRATURE
            return min(simple, float(value[best]) * math.exp(room))


def _renyi(u: float, gamma: float, alpha: float, s: Floats, natural: float) -> Floats:
    """Return D_α(p_s ‖ p_{s+γ}): the integral of h'' times a tent from s - (α-1)γ to s + γ.

    Proof, and how accurate it is: docs/proofs/concentrated.md, theorems 1 and 9.
    """
    near = _integral(u, s + gamma, s, natural, lambda below: below)
    if alpha == 1:
        return near
    foot = (alpha - 1) * gamma  # s - t
    edge = natural * _OUTSIDE[-1]
    length = np.minimum(foot, s + edge)
    far = _integral(u, s, s - length, natural, lambda below: foot - below)
    ratio = np.maximum((foot - s) / edge, 1.0)
    result: Floats = near + (far + (ratio - 1 - np.log(ratio))) / (alpha - 1)
    return result


def _integral(
    u: float, top: Floats, bottom: Floats, natural: float, kernel: Callable[[Floats], Floats]
) -> Floats:
    """Integrate h'' times a function of the distance to the top, over [bottom, top].

    Inside the interval panels are at most a natural length long; below it they may double. The
    error of the rule is bounded in docs/proofs/concentrated.md, theorem 9.
    """
    inside = np.minimum(top, top - np.maximum(bottom, 0.0))
    panels = max(1, math.ceil(float(inside.max()) / natural))
    breaks = inside * (np.arange(panels + 1) / panels)[:, None]
    outside = np.clip(top + natural * _OUTSIDE[:, None], inside, np.maximum(top - bottom, inside))
    breaks = np.concatenate([breaks, outside])
    length = np.diff(breaks, axis=0)
    used = length.max(axis=1) > 0
    length = length[used, None]
    below = breaks[:-1][used, None] + length * _NODES[:, None]
    kept = divergence.variance(u, (top - below).ravel()).reshape(below.shape)
    result: Floats = (length * _WEIGHTS[:, None] * kernel(below) * kept).sum(axis=(0, 1))
    return result


def _middle_variance(widths: Floats, sigma: Floats) -> Floats:
    """Return v, the variance in units of σ² of the distribution centred in the middle.

    Both forms, and their errors: docs/proofs/concentrated.md, theorem 8.
    """
    half = widths / sigma / 2
    small, square = half < 1, np.minimum(half, 1.0) ** 2
    upper, lower = np.zeros_like(half), np.zeros_like(half)
    for node, weight in zip(_NODES, _WEIGHTS, strict=True):
        density = weight * np.exp(-square * (node * node / 2))
        upper += node * node * density
        lower += density
    edge = half * np.exp(-half * half / 2) / (math.sqrt(math.pi / 2) * erf(half / math.sqrt(2)))
    kept = np.where(small, square * upper / lower, 1 - edge) * (1 + ROUNDING)
    return np.minimum(1.0, kept)


def _largest_square(widths: Floats, reach: Reach, sigma: Floats, weight: Floats) -> float:
    """Bound Σ weight c²/σ² over the reach. It is linear in c², so any multiplier ν gives a bound.

    For an l1 norm, c² is at most cap·c, and Σc² at most radius·(largest cap); the smallest of these
    bounds is used. Proof: docs/proofs/concentrated.md, theorem 7.
    """
    power = power_of_two_below(float(widths.max()))  # squares stay in range
    small, scale = reach / power, sigma / power
    caps, radius, weights = small.caps, small.radius, weight / scale / scale
    total = float(np.sum(weights * caps * caps))
    if reach.order is None:
        return total * (1 + ROUNDING) + _TINY
    if reach.order == 1:
        total = min(total, _knapsack(weights * caps, caps, radius))
        square = radius * min(radius, float(caps.max()))
    else:
        square = radius * radius
    return min(total, _knapsack(weights, caps * caps, square)) * (1 + ROUNDING) + _TINY


def _knapsack(value: Floats, most: Floats, total: float) -> float:
    """Bound Σ value·x over 0 <= x <= most, Σx <= total by weak duality, valid for every ν.

    Proof: docs/proofs/concentrated.md, theorem 7.
    """
    nu = knapsack_threshold(value, most, total)
    return nu * total + float(np.sum(most * np.maximum(value - nu, 0.0)))
