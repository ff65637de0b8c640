"""The (ε, δ) guarantee of a bounded Gaussian, and the smallest scale that gives it.

On an interval `delta_upper_bound` covers all positions of a pair with cells, bounds δ on each cell
and divides the cells with the largest bounds, until these are within `_TIGHT` of the δ of an actual
pair. On a box it is the smallest of three bounds: δ = 0 from the pure epsilon on, the Gaussian of
μ-GDP, and ρ-zCDP.

Proof: docs/proofs/approximate.md; the bounds on μ and ρ: docs/proofs/concentrated.md.
"""

import math
from collections.abc import Callable

import numpy as np

from inbounds._types import Floats
from inbounds.calibration import concentrated
from inbounds.calibration.exact import pure_loss, smallest_sigma
from inbounds.calibration.gaussian import gaussian_delta, gaussian_mu
from inbounds.errors import ArgumentError, CertificateError
from inbounds.numerics import divergence
from inbounds.numerics.search import next_admissible
from inbounds.reach import Reach

__all__ = [
    "delta_upper_bound",
    "gaussian_delta",
    "gaussian_mu",
    "interval_delta",
    "rho_delta",
    "sigma_for_delta",
]

SMALLEST_DELTA = 1e-300
"""Added to every δ that is not exactly zero, to cover underflow."""

_TIGHT = 1e-3  # relative: cells this close to the worst pair found are not divided
_FIRST, _PARTS, _ROUNDS, _MOST_CELLS = 24, 4, 16, 1 << 14
_CLOSE = 1e-7  # relative: where searches stop


def delta_upper_bound(widths: Floats, reach: Reach, sigma: Floats, epsilon: float) -> float:
    """Bound the δ of every allowed pair at `epsilon` from above.

    Examples
    --------
    >>> reach = Reach(np.array([1.0]), None, np.inf)
    >>> delta_upper_bound(np.array([10.0]), reach, np.array([2.75]), 1.0)
    1.94...e-07
    >>> delta_upper_bound(np.array([10.0]), reach, np.array([2.76]), 1.0)  # purely private
    0.0
    """
    return _profile(widths, reach, sigma)(epsilon)


def sigma_for_delta(
    widths: Floats, reach: Reach, shape: Floats, epsilon: float, delta: float
) -> Floats:
    """Return the smallest multiple of `shape` whose δ at `epsilon` is at most `delta`.

    It is at most the sigma of the analytic Gaussian, and at most that of pure `epsilon`.

    Examples
    --------
    >>> reach = Reach(np.array([1.0]), None, np.inf)
    >>> sigma_for_delta(np.array([10.0]), reach, np.ones(1), 1.0, 1e-6)
    array([2.7394...])
    """

    def bound(scale: float) -> float:
        return delta_upper_bound(widths, reach, scale * shape, epsilon)

    def without_pure(scale: float) -> float:
        return _concentrated_delta(widths, reach, scale * shape, epsilon)

    top = concentrated.mu_upper_bound(widths, reach, shape) / gaussian_mu(epsilon, delta)
    if widths.size > 1:
        top = _smallest_scale(without_pure, delta, _enough(without_pure, delta, top))
    if epsilon > 0:
        pure = smallest_sigma(widths, reach, shape, epsilon)[0]
        top = min(top, float((pure / shape).max()))
    top = _enough(bound, delta, top)
    return (_smallest_scale(bound, delta, top) if widths.size == 1 else top) * shape


def _profile(widths: Floats, reach: Reach, sigma: Floats) -> Callable[[float], float]:
    """Return the bound on δ as a function of ε."""
    pure = pure_loss(widths, reach, sigma).epsilon

    def delta(epsilon: float) -> float:
        if epsilon >= pure:
            return 0.0
        if widths.size > 1:
            return _concentrated_delta(widths, reach, sigma, epsilon)
        width, change, scale = float(widths[0]), float(reach.caps[0]), float(sigma[0])
        dominating = gaussian_delta(concentrated.mu_upper_bound(widths, reach, sigma), epsilon)
        return interval_delta(width, change, scale, epsilon, dominating)

    return delta


def _concentrated_delta(widths: Floats, reach: Reach, sigma: Floats, epsilon: float) -> float:
    """Bound δ on a box by the smaller of the bounds from μ-GDP and ρ-zCDP."""
    dominating = gaussian_delta(concentrated.mu_upper_bound(widths, reach, sigma), epsilon)
    return min(dominating, rho_delta(concentrated.rho_upper_bound(widths, reach, sigma), epsilon))


def interval_delta(
    width: float, change: float, sigma: float, epsilon: float, dominating: float = 1.0
) -> float:
    """Bound δ on an interval from above; `dominating` is a bound that is already known.

    The result covers every cell, including those that the search stopped dividing.
    """
    u, gamma = width / sigma, change / sigma
    edges = np.linspace(0.0, (width - change) / sigma, _FIRST + 1)
    slope = divergence.mean_slope(u, gamma, edges)
    attained = float(divergence.delta_of_cells(u, gamma, epsilon, edges, slope).max())
    low, high, slope_high = edges[:-1], edges[1:], slope[1:]
    settled = 0.0
    for _ in range(_ROUNDS):
        if dominating <= attained * (1 + _TIGHT):
            return dominating
        bound = divergence.delta_of_cells(u, gamma, epsilon, low, slope_high)
        open_ = bound > attained * (1 + _TIGHT)
        settled = max(settled, float(bound[~open_].max(initial=0.0)))
        if not open_.any() or open_.sum() > _MOST_CELLS:
            break
        fractions = np.arange(_PARTS + 1) / _PARTS
        edges = low[open_, None] + (high - low)[open_, None] * fractions
        edges[:, -1] = high[open_]
        slope = divergence.mean_slope(u, gamma, edges.ravel()).reshape(edges.shape)
        inner, at = edges[:, 1:-1].ravel(), slope[:, 1:-1].ravel()
        pairs = divergence.delta_of_cells(u, gamma, epsilon, inner, at)
        attained = max(attained, float(pairs.max()))
        low, high, slope_high = edges[:, :-1].ravel(), edges[:, 1:].ravel(), slope[:, 1:].ravel()
    remaining = float(bound[open_].max(initial=0.0))
    return min(dominating, max(settled, remaining) + SMALLEST_DELTA)


def rho_delta(rho: float, epsilon: float) -> float:
    """Bound δ at `epsilon` of any ρ-zCDP release, by the best order α found.

    Examples
    --------
    >>> rho_delta(0.1, 3.0)
    1.79...e-11
    """
    if epsilon <= rho:
        return 1.0

    def log_delta(alpha: float) -> float:
        rest = alpha - 1
        return rest * (alpha * rho - epsilon) + rest * math.log1p(-1 / alpha) - math.log(alpha)

    low, high = math.log(1e-6), math.log(2 + 2 * epsilon / rho)
    for _ in range(60):  # unimodal in ln(α - 1); any α is valid, so it need not be the best one
        left, right = low + (high - low) * 0.382, low + (high - low) * 0.618
        if log_delta(1 + math.exp(left)) < log_delta(1 + math.exp(right)):
            high = right
        else:
            low = left
    alpha = 1 + math.exp(low)
    best = log_delta(alpha)
    rounding = 1e-12 * (1 + abs(best) + (alpha - 1) * epsilon)
    return min(1.0, math.exp(min(0.0, best + rounding)) + SMALLEST_DELTA)


def _enough(bound: Callable[[float], float], delta: float, start: float) -> float:
    """Return a scale whose bound is at most `delta`: `start`, increased to cover rounding."""
    most = start * 2.0**192  # much more than rounding needs
    try:
        return next_admissible(start, lambda scale: bound(scale) <= delta, step=2.0**-50, most=most)
    except CertificateError:
        sentence = "delta is too small for a sensitivity this small; increase delta."
        raise ArgumentError(sentence, argument="delta") from None


def _smallest_scale(bound: Callable[[float], float], delta: float, top: float) -> float:
    """Return about the smallest scale whose bound is at most `delta`, as that of `top` is.

    The bound of the scale returned has been evaluated, and is at most `delta`.
    """
    target = math.sqrt(delta)
    low, excess_low = top, 0.0
    for _ in range(1100):  # halve until the scale is too small
        low /= 2
        delta_low = bound(low)
        excess_low = math.sqrt(delta_low) - target
        if delta_low > delta:  # not only its root, which is rounded
            break
        top = low
    excess_top = math.sqrt(bound(top)) - target
    for step in range(80):
        if top - low <= _CLOSE * top:
            break
        fraction = excess_low / (excess_low - excess_top) if excess_low > excess_top else 0.5
        fraction = 0.5 if step % 3 == 2 else min(1 - 1e-3, max(1e-3, fraction))
        middle = low + (top - low) * fraction
        delta_middle = bound(middle)
        excess = math.sqrt(delta_middle) - target
        if delta_middle <= delta:
            top, excess_top, excess_low = middle, excess, excess_low / 2
        else:
            low, excess_low, excess_top = middle, excess, excess_top / 2
    return top
