"""The divergence of the output distributions of two neighbours, in one dimension.

Everything is in units of sigma: `u` is the width, and the neighbours are at `s` and ``s + gamma``,
inside ``[0, u]``. With h the log-partition function, the log-ratio of the two densities at v is
``gamma (H(s) - v)``, where ``H(s) = (h(s + gamma) - h(s)) / gamma``. Hence, with z = H(s) - ε/γ,

    δ(ε) = Q(s, z),   Q(s, z) = E_s[(1 - exp(-γ(z - v)))₊].

Two bounds cover a whole cell of positions. Q decreases in s and increases in z, and z increases
with s, so ``Q(low, z(high))`` is one. The other, `delta_of_centred_cells`, follows the position: it
is tight where the bounds of the interval are far away. No difference of nearly equal numbers is
taken.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf, erfcx, ndtr

from inbounds._types import Floats
from inbounds.numerics.normal import NORMAL
from inbounds.numerics.quadrature import unit_rule

POSITION_ERROR = 2.0**-43
"""Fraction of u that covers every rounding error of a threshold z."""

_ROOT_HALF = np.sqrt(0.5)
_ROOT_TWO_PI = np.sqrt(2 * np.pi)
_SHORT = 0.25  # changes up to this size are integrated
_REACH = 9.0  # a normal distribution has mass 2e-19 beyond
_FALL = 38.0  # e^-38 = 3e-17
_FEW, _PART, _MANY = unit_rule(8), unit_rule(20), unit_rule(56)


def _blocks(chosen: NDArray[np.intp]) -> Iterator[NDArray[np.intp]]:
    for first in range(0, chosen.size, 1 << 12):
        yield chosen[first : first + (1 << 12)]


def relative_error(u: float | Floats) -> float | Floats:
    """Return the relative margin that covers every other rounding error of Q.

    Proof: docs/proofs/approximate.md, theorem 8.

    Examples
    --------
    >>> relative_error(1.0) < 1e-11
    True
    """
    return 2.0**-38 * (1 + u)


def mean_slope(u: float, gamma: float, s: Floats) -> Floats:
    """Return H(s) = (h(s + γ) - h(s)) / γ, the average of h' from s to s + γ.

    `POSITION_ERROR` covers its rounding: docs/proofs/approximate.md, theorem 8.

    Examples
    --------
    >>> mean_slope(2.0, 1.0, np.array([0.5]))  # symmetric about the middle
    array([1.])
    """
    if gamma <= _SHORT:
        nodes, weights = _FEW
        t = s + gamma * nodes[:, None]
        mean: Floats = weights @ (t + NORMAL.bias(t, np.maximum(u - t, 0.0)))
        return mean
    ratio = _mass(u, s + gamma) / _mass(u, s)
    result: Floats = s + gamma / 2 + np.log(ratio) / gamma
    return result


def delta_of_cells(u: float, gamma: float, epsilon: float, low: Floats, slope: Floats) -> Floats:
    """Bound δ(ε) from above for all positions from `low` up to where H is `slope`.

    With ``slope = H(low)`` this is the δ of one pair, rounded up. Proof:
    docs/proofs/approximate.md, theorems 2, 3 and 8.

    Examples
    --------
    >>> s = np.array([0.0])
    >>> delta_of_cells(1.0, 1.0, 0.6, s, mean_slope(1.0, 1.0, s))  # the pure epsilon is 1/2 here
    array([0.])
    """
    z = np.maximum(slope - epsilon / gamma + POSITION_ERROR * u, 0.0)
    return np.clip(_excess(u, gamma, low, z) / _mass(u, low), 0.0, 1.0)


def delta_of_centred_cells(
    u: float, gamma: float, epsilon: float, low: Floats, high: Floats, *, slope: Floats
) -> Floats:
    """Bound δ(ε) from above for all positions from `low` to `high`, where H(low) is `slope`.

    With y = v - s and t = z - s, the excess is an integral over y in [-s, min(t, u - s)] that
    increases with t, and t falls in s. So t(low) and the union of these ranges serve all positions.
    That is the excess at `high` on an interval longer by the cell. Proof:
    docs/proofs/approximate.md, theorems 3 and 8.

    Examples
    --------
    >>> low, high = np.array([10.0]), np.array([90.0])  # far from both bounds: a long cell is tight
    >>> delta_of_centred_cells(100.0, 0.1, 0.5, low, high, slope=mean_slope(100.0, 0.1, low))
    array([6.856...e-09])
    >>> delta_of_cells(100.0, 0.1, 0.5, low, mean_slope(100.0, 0.1, low))
    array([6.856...e-09])
    """
    end = high + POSITION_ERROR * u
    longer = end - low
    z = slope - epsilon / gamma + POSITION_ERROR * (u + longer) + longer
    mass = np.minimum(_mass(u, low), _mass(u, high))
    return np.clip(_excess(u + longer, gamma, end, np.maximum(z, 0.0)) / mass, 0.0, 1.0)


def variance(u: float, t: Floats) -> Floats:
    """Return h''(t), the variance of the density ∝ exp(tv - v²/2) on [0, u], for any real t.

    How accurate it is: docs/proofs/concentrated.md, theorem 9.

    Examples
    --------
    >>> bool(variance(1e-3, np.array([0.0]))[0] * 12e6 > 0.999)  # nearly uniform: u²/12
    True
    """
    t = np.where(t > u / 2, u - t, t)  # reflected, so that the centre is in the left half
    result = np.ones_like(t)
    for i in _blocks(np.flatnonzero(t < _REACH + 0.5)):  # further inside, the variance is 1
        result[i] = _variance(u, t[i])
    return result


def _variance(u: float, t: Floats) -> Floats:
    low = np.maximum(t - _REACH, 0.0)
    with np.errstate(divide="ignore"):
        fall = np.where(t < 0, _FALL / np.abs(t), np.inf)
    length = np.minimum(np.minimum(np.maximum(t, 0.0) + _REACH, fall), u) - low
    nodes, weights = (side[:, None] for side in _MANY)
    v = low + length * nodes
    start = np.minimum(t, 0.0)  # the exponent is measured from its largest value
    weight = weights * np.exp(-(v - (t + start)) * (v - (t - start)) / 2)
    weight /= weight.sum(axis=0)
    offset = length * (nodes - (weight * nodes).sum(axis=0))
    result: Floats = (weight * offset * offset).sum(axis=0)
    return result


def _excess(u: float | Floats, gamma: float, s: Floats, z: Floats) -> Floats:
    """Return ∫φ(v - s)(1 - exp(-γ(z - v)))dv over [0, min(z, u)], rounded up.

    Proof: docs/proofs/approximate.md, theorem 8.
    """
    margin = relative_error(u)
    if gamma <= _SHORT:
        return _by_quadrature(u, gamma, s, z) * (1 + margin)
    first, second = _lower_mass(np.minimum(z, u), s), _damped_mass(u, gamma, s, z)
    return (first * (1 + margin) - second * (1 - margin)) * (1 + margin)


def _mass(u: float, s: Floats) -> Floats:
    return NORMAL.mass(s, np.maximum(u - s, 0.0))


def _lower_mass(z: Floats, s: Floats) -> Floats:
    """Return ∫φ(v - s)dv over [0, z] for s >= 0, by quadrature if z is small."""
    tail = ndtr(z - s) - ndtr(-s)
    bulk = (erf((z - s) * _ROOT_HALF) + erf(s * _ROOT_HALF)) / 2
    long = np.where(z < s, tail, bulk)
    is_short = z <= 0.5
    if not is_short.any():
        return long
    short = np.minimum(z, 0.5)
    nodes, weights = _PART
    total = weights @ np.exp(-((short * nodes[:, None] - s) ** 2) / 2)
    total *= short / _ROOT_TWO_PI
    return np.where(is_short, total, long)


def _damped_mass(u: float | Floats, gamma: float, s: Floats, z: Floats) -> Floats:
    """Return ∫φ(v - s)exp(-γ(z - v))dv over [0, min(z, u)], which involves neither e^ε nor h."""
    ahead = s + gamma - z  # with x = z - v the integrand is φ(z - s)exp(-ahead x - x²/2)
    inside = np.exp(-gamma * np.maximum(z - s - gamma / 2, 0.0))
    inside *= _lower_mass(np.minimum(z, u), s + gamma)
    is_ahead = ahead > 0
    if not is_ahead.any():
        return inside
    k = np.maximum(ahead, 0.0)
    fall = (k + z / 2) * z
    nodes, weights = _PART
    x = np.where(fall <= 1, z, 0.0) * nodes[:, None]
    short = z * (weights @ np.exp(-(k + x / 2) * x))
    tail = erfcx(k * _ROOT_HALF) - np.exp(-fall) * erfcx((k + z) * _ROOT_HALF)
    tail = np.where(fall <= 1, short, tail * _ROOT_TWO_PI / 2)
    tail *= np.exp(-((z - s) ** 2) / 2) / _ROOT_TWO_PI
    return np.where(is_ahead, tail, inside)


def _by_quadrature(u: float | Floats, gamma: float, s: Floats, z: Floats) -> Floats:
    """Return the excess by an integral of positive terms in x = z - v, where it matters."""
    tilt = s - z
    low = np.maximum(np.maximum(z - u, 0.0), -tilt - _REACH)
    with np.errstate(divide="ignore"):
        fall = np.where(tilt > 0, np.minimum(_REACH, _FALL / np.abs(tilt)), _REACH - tilt)
    length = np.minimum(z, fall) - low
    nodes, weights = _MANY
    x = low + length * nodes[:, None]
    total = weights @ (np.exp(-((x + tilt) ** 2) / 2) * -np.expm1(-gamma * x))
    result: Floats = total * length / _ROOT_TWO_PI
    return result
