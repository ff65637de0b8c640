"""The worst privacy loss of a truncated normal distribution, and its derivatives.

Everything is in units of sigma: `u` is the width of the interval, `gamma` the change a neighbour
may cause (0 < gamma <= u) and `r = u - gamma`, which callers compute from the width itself, since
the difference of two rounded quotients would lose digits. With h the log-partition function, the
loss of a change gamma is ``h(u) - h(u - gamma)``.

Scalar functions (`math`, a few microseconds) are for intervals, and array functions for boxes.
"""

import math

import numpy as np
from scipy.special import erf

from inbounds._types import Floats
from inbounds.numerics.quadrature import unit_rule

ROUNDING = 2.0**-45
"""Relative margin that covers every rounding error of `loss` and of sums of losses."""

_ROOT_HALF = math.sqrt(0.5)
_ROOT_HALF_PI = math.sqrt(math.pi / 2)
_ROOT_2_OVER_PI = math.sqrt(2 / math.pi)
_WIDE = 2.5  # in a wider interval, the bound further away often has hardly any effect
_TINY = 1e-6
_RULES = tuple((most, *unit_rule(points)) for most, points in ((2**-7, 3), (0.125, 5), (0.5, 7)))
"""Rules of quadrature, each with the largest k that it is accurate for."""
_FEW, _SOME, _MANY = (
    tuple(zip(nodes.tolist(), weights.tolist(), strict=True)) for _, nodes, weights in _RULES
)


def log_ratio(u: float, k: float) -> float:
    """Return ln R, R = [erf(k/√2) + erf((u-k)/√2)] / erf(u/√2), for 0 <= k <= u/2.

    Up to k = 1/2, log1p(R - 1) is computed instead of log(R). R - 1 is an integral of positive
    terms, because a difference of error functions would cancel, unless the tail is small beside k.
    R is that of docs/proofs/interval.md, theorem 1. Errors: docs/proofs/rounding.md, theorem 1.
    """
    erf_u = math.erf(u * _ROOT_HALF)
    if k > 0.5:
        return math.log((math.erf(k * _ROOT_HALF) + math.erf((u - k) * _ROOT_HALF)) / erf_u)
    if u > _WIDE:
        tail = math.erfc((u - k) * _ROOT_HALF)
        if tail * (u * u + 1) <= 2 * k:
            excess = math.erf(k * _ROOT_HALF) - (tail - math.erfc(u * _ROOT_HALF))
            return math.log1p(excess / erf_u)
    excess = 0.0
    for node, weight in _FEW if k <= 2**-7 else _SOME if k <= 0.125 else _MANY:
        y = k * node
        excess -= weight * math.exp(-y * y / 2) * math.expm1(-u * (u - 2 * y) / 2)
    return math.log1p(k * excess / (_ROOT_HALF_PI * erf_u))


def loss(u: float, gamma: float, r: float) -> float:
    """Return h(u) - h(r), the pure epsilon of one coordinate.

    Proofs: docs/proofs/interval.md, theorem 1, and docs/proofs/rounding.md, theorem 1.

    Examples
    --------
    >>> loss(1.0, 1.0, 0.0)  # a neighbour may change everything: u²/2
    0.5
    """
    return u * gamma / 2 + (gamma * r / 2 - log_ratio(u, min(gamma, r)))


def loss_and_steepness(u: float, gamma: float, r: float) -> tuple[float, float]:
    """Return the loss and T >= 0, where d ln loss / d ln sigma = -2 - T/loss.

    T is good to a few digits, enough for Newton's method.

    Proof: docs/proofs/interval.md, theorems 1 and 5.
    """
    log_r = log_ratio(u, gamma if gamma < r else r)
    value = u * gamma / 2 + (gamma * r / 2 - log_r)
    if u < 0.3:
        return value, u * u * gamma * r / 12
    density, mass = math.exp(-u * u / 2), math.erf(u * _ROOT_HALF)
    if gamma < _TINY:  # T would cancel; the loss is gamma times the mean u - shift for the value u
        hazard = density / (mass * _ROOT_HALF_PI)
        shift = (1 - density) / (mass * _ROOT_HALF_PI)
        return value, value * (shift / (u - shift) - u * hazard)
    edge = u * density / mass
    inner = gamma * math.exp(-gamma * gamma / 2) + r * math.exp(-r * r / 2)
    inner /= math.erf(gamma * _ROOT_HALF) + math.erf(r * _ROOT_HALF)
    return value, max(0.0, 2 * log_r + _ROOT_2_OVER_PI * (edge - inner))


def log_ratios(u: Floats, k: Floats) -> Floats:
    """Return `log_ratio` for arrays, always by quadrature up to k = 1/2.

    Errors: docs/proofs/rounding.md, theorem 1.
    """
    erf_u = erf(u * _ROOT_HALF)
    small = k <= 0.5
    if small.all():
        return _small_log_ratios(u, k, erf_u)
    result = np.empty_like(u)
    if small.any():
        result[small] = _small_log_ratios(u[small], k[small], erf_u[small])
    some_u, some_k = u[~small], k[~small]
    both = erf(some_k * _ROOT_HALF) + erf((some_u - some_k) * _ROOT_HALF)
    result[~small] = np.log(both / erf_u[~small])
    return result


def _small_log_ratios(u: Floats, k: Floats, erf_u: Floats) -> Floats:
    """Return ln R for k up to 1/2, all by the rule that the largest of them needs.

    Errors: docs/proofs/rounding.md, theorem 1.
    """
    largest = float(k.max(initial=0.0))
    nodes, weights = next(rule for most, *rule in _RULES if largest <= most)
    excess = np.zeros_like(u)
    for node, weight in zip(nodes, weights, strict=True):
        y = k * node
        excess -= weight * np.exp(-y * y / 2) * np.expm1(-u * (u - 2 * y) / 2)
    result: Floats = np.log1p(k * excess / (_ROOT_HALF_PI * erf_u))
    return result


def losses(u: Floats, gamma: Floats, r: Floats) -> tuple[Floats, Floats]:
    """Return `loss_and_steepness` for arrays; both are zero where gamma is zero.

    Proofs: docs/proofs/interval.md, theorems 1 and 5, and docs/proofs/rounding.md, theorem 1.
    """
    log_r = log_ratios(u, np.minimum(gamma, r))
    edge = u * np.exp(-u * u / 2) / erf(u * _ROOT_HALF)
    inner = gamma * np.exp(-gamma * gamma / 2) + r * np.exp(-r * r / 2)
    inner /= erf(gamma * _ROOT_HALF) + erf(r * _ROOT_HALF)
    steepness = 2 * log_r + _ROOT_2_OVER_PI * (edge - inner)
    steepness = np.maximum(np.where(u < 0.3, u * u * gamma * r / 12, steepness), 0.0)
    return u * gamma / 2 + (gamma * r / 2 - log_r), steepness


def loss_slopes(u: Floats, gamma: Floats) -> tuple[Floats, Floats]:
    """Return M = d loss / d gamma and V = -dM / d gamma, both positive.

    M is the mean and V the variance, in units of sigma, of the distribution centred at
    ``u - gamma``.

    Proofs: docs/proofs/box.md, theorem 2, and docs/proofs/rounding.md, theorem 2.
    """
    ratio, spread = _tilt(u, gamma)
    return (u - gamma) - ratio, spread


def ratio_slopes(u: Floats, gamma: Floats) -> tuple[Floats, Floats]:
    """Return the first derivative of ln R in gamma, and minus the second, for gamma <= u/2.

    Proof: docs/proofs/box.md, theorem 2.
    """
    ratio, spread = _tilt(u, gamma)
    return ratio, 1 - spread


def _tilt(u: Floats, gamma: Floats) -> tuple[Floats, Floats]:
    """Return (φ(γ) - φ(r)) / (Φ₀(γ) + Φ₀(r)) and the variance V, Φ₀ = Φ - 1/2.

    Proofs: docs/proofs/box.md, theorem 2, and docs/proofs/rounding.md, theorem 2.
    """
    r = u - gamma
    near = np.minimum(gamma, r)
    gap = r - gamma
    density = np.exp(-near * near / 2)
    fall = np.expm1(-u * np.abs(gap) / 2)  # φ(far) = φ(near)(1 + fall)
    mass = (erf(gamma * _ROOT_HALF) + erf(r * _ROOT_HALF)) * _ROOT_HALF_PI
    scale = density / mass
    ratio = -np.sign(gap) * scale * fall
    edges = scale * (near + np.maximum(gamma, r) * (1 + fall))
    spread = 1 - edges - ratio * ratio
    small = u * u / 12
    return ratio, np.where(u < 0.01, small, np.clip(spread, 0.0, np.minimum(1.0, small)))
