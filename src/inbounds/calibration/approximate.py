"""The (ε, δ) guarantee of a bounded Gaussian, and the smallest scale that gives it.

`delta_upper_bound` is the smallest of three bounds: δ = 0 from the pure epsilon on, the Gaussian of
μ-GDP, and on an interval a cover of all pairs (`cover`), on a box ρ-zCDP. `sigma_for_delta` first
asks whether the plain Gaussian's sigma is the smallest already. If not, it searches by the δ of
actual pairs, which is quick, and proves the sigma that it returns.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from inbounds._types import Floats
from inbounds.calibration import concentrated
from inbounds.calibration.cover import SMALLEST_DELTA, TIGHT, attained_delta, interval_delta
from inbounds.calibration.exact import pure_loss, smallest_sigma
from inbounds.calibration.gaussian import gaussian_delta, gaussian_mu
from inbounds.errors import ArgumentError, CertificateError
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

_CLOSE = 5e-7  # relative: where searches stop
_SHRINK, _MOST_SHRINKS = 0.8, 11  # the first step to a scale that is too small; the next is squared
_NEARBY = 1e-3  # relative: where a slope is taken
_CURVE = (
    0.25  # the power of δ that is nearly straight, as δ grows from nought like a power of 2 to 8
)
_MOST_PROOFS = 8  # of scales close to each other
_SMALLEST = math.ulp(0.0)


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

    It is at most the sigma of the analytic Gaussian, and at most that of pure `epsilon`
    (docs/proofs/approximate.md, theorems 4 and 7).

    Examples
    --------
    >>> reach = Reach(np.array([1.0]), None, np.inf)
    >>> sigma_for_delta(np.array([10.0]), reach, np.ones(1), 1.0, 1e-6)
    array([2.7394...])
    """

    def without_pure(scale: float) -> float:
        return _concentrated_delta(widths, reach, scale * shape, epsilon)

    def simple(scale: float) -> float:
        pure = epsilon > 0 and pure_loss(widths, reach, scale * shape).epsilon <= epsilon
        return 0.0 if pure else without_pure(scale)

    top = concentrated.mu_upper_bound(widths, reach, shape) / gaussian_mu(epsilon, delta)
    if widths.size > 1:
        top = _smallest_scale(without_pure, delta, _enough(without_pure, delta, top))
    if epsilon > 0:
        pure = smallest_sigma(widths, reach, shape, epsilon)[0]
        top = min(top, float((pure / shape).max()))
    top = _enough(simple, delta, top)
    if widths.size > 1:
        return top * shape
    return _interval_sigma(widths, reach, top * shape, epsilon, delta)


def _interval_sigma(
    widths: Floats, reach: Reach, top: Floats, epsilon: float, delta: float
) -> Floats:
    """Return about the smallest sigma of an interval; `top` is known to be enough."""
    width, change = float(widths[0]), float(reach.caps[0])

    def attained(scale: float) -> float:
        return attained_delta(width, change, scale, epsilon)

    def bound(scale: float) -> float:
        return delta_upper_bound(widths, reach, np.array([scale]), epsilon)

    best = float(top[0])
    if attained(best) * (1 + TIGHT) >= delta:
        return top
    scale, slope = _smallest_scale(attained, delta, best), 0.0
    for _ in range(_MOST_PROOFS):
        if scale >= best:
            break
        excess = math.log(max(bound(scale), _SMALLEST) / delta)
        best = scale if excess <= 0 else best
        if -2 * TIGHT <= excess <= 0:
            break
        slope = slope or _log_slope(attained, scale)
        if -_CLOSE * slope <= excess <= 0:
            break
        step = 1.05 * (excess + TIGHT / 20) if excess > 0 else excess + TIGHT / 4
        scale *= 1 + max(step / slope, _CLOSE if excess > 0 else -1.0)
    return np.array([best])


def _log_slope(attained: Callable[[float], float], scale: float) -> float:
    """Return about how much ln δ falls per unit of ln σ, but at least 1."""
    here, nearby = attained(scale), attained(scale * (1 - _NEARBY))
    return max(1.0, math.log(max(nearby, _SMALLEST) / max(here, _SMALLEST)) / _NEARBY)


def _profile(widths: Floats, reach: Reach, sigma: Floats) -> Callable[[float], float]:
    """Return the bound on δ as a function of ε (docs/proofs/approximate.md, theorem 4)."""
    pure = pure_loss(widths, reach, sigma).epsilon

    def delta(epsilon: float) -> float:
        if epsilon >= pure:
            return 0.0
        known = _concentrated_delta(widths, reach, sigma, epsilon)
        if widths.size > 1:
            return known
        width, change, scale = float(widths[0]), float(reach.caps[0]), float(sigma[0])
        return interval_delta(width, change, scale, epsilon, known)

    return delta


def _concentrated_delta(widths: Floats, reach: Reach, sigma: Floats, epsilon: float) -> float:
    """Bound δ by μ-GDP; on a box of several coordinates by ρ-zCDP if that is smaller.

    Proof: docs/proofs/approximate.md, theorems 5 and 6. The bound on ρ:
    docs/proofs/concentrated.md, theorem 5.
    """
    dominating = gaussian_delta(concentrated.mu_upper_bound(widths, reach, sigma), epsilon)
    if widths.size == 1:
        return dominating
    return min(dominating, rho_delta(concentrated.rho_upper_bound(widths, reach, sigma), epsilon))


def rho_delta(rho: float, epsilon: float) -> float:
    """Bound δ at `epsilon` of any ρ-zCDP release, by the best order α found.

    Proof: docs/proofs/approximate.md, theorem 6.

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

    The scale returned is `top`, or its bound has been evaluated and is at most `delta`.
    """

    def tried(scale: float) -> _Tried:
        reached = bound(scale)
        return _Tried(scale, reached <= delta, reached**_CURVE - delta**_CURVE)

    high, shrink = tried(top * (1 - _CLOSE)), _SHRINK
    if not high.enough:
        return top
    low = third = high
    for _ in range(_MOST_SHRINKS):
        low = tried(high.scale * shrink)
        if not low.enough:
            break
        third, high, shrink = high, low, shrink * shrink
    for step in range(200):
        room = _CLOSE * high.scale / 2
        if high.scale - low.scale <= 2 * room:
            break
        guess = (low.scale + high.scale) / 2 if step % 4 == 3 else _interpolated(low, high, third)
        middle = tried(min(max(guess, low.scale + room), high.scale - room))
        third, low, high = (high, low, middle) if middle.enough else (low, middle, high)
    return high.scale


class _Tried(NamedTuple):
    """A scale, whether it is enough, and by how much a power of its δ exceeds the one allowed.

    It is compared by δ itself: two neighbouring doubles can have the same power.
    """

    scale: float
    enough: bool
    excess: float


def _interpolated(low: _Tried, high: _Tried, third: _Tried) -> float:
    """Return where the excess is nought on a curve through three points, or else through two."""
    (x, _, f), (y, _, g), (z, _, h) = low, high, third
    if len({f, g, h}) == 3:  # inverse quadratic interpolation
        scale = x + f / (g - h) * (g * (z - x) / (f - h) - h * (y - x) / (f - g))
        if x < scale < y:
            return scale
    return x + (y - x) * (f / (f - g) if f > g else 0.5)
