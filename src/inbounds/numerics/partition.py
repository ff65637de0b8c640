"""The worst privacy loss of a truncated normal distribution, and its derivatives.

Everything is in units of sigma: `u` is the width of the interval, `gamma` the change a neighbour
may cause (0 < gamma <= u) and `r = u - gamma`, which callers compute from the width itself, since
the difference of two rounded quotients would lose digits. With h the log-partition function, the
loss of a change gamma is ``h(u) - h(u - gamma)``.

Scalar functions (`math`, a few microseconds) are for intervals, and array functions for boxes.

Proofs: docs/proofs/interval.md, docs/proofs/box.md; rounding errors: docs/proofs/rounding.md.
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
_SHORT_RULE = unit_rule(7)
_LONG_RULE = unit_rule(12)
_SHORT_PAIRS = tuple(zip(*(side.tolist() for side in _SHORT_RULE), strict=True))
_LONG_PAIRS = tuple(zip(*(side.tolist() for side in _LONG_RULE), strict=True))


def log_ratio(u: float, k: float) -> float:
    """Return ln R, R = [erf(k/√2) + erf((u-k)/√2)] / erf(u/√2), for 0 <= k <= u/2.

    Up to k = 1/2 the excess R - 1 is integrated with positive terms, because a difference of error
    functions would cancel.
    """
    erf_u = math.erf(u * _ROOT_HALF)
    if k > 0.5:
        return math.log((math.erf(k * _ROOT_HALF) + math.erf((u - k) * _ROOT_HALF)) / erf_u)
    excess = 0.0
    for node, weight in _SHORT_PAIRS if max(u, 1.0) * k <= 1 else _LONG_PAIRS:
        y = k * node
        excess -= weight * math.exp(-y * y / 2) * math.expm1(-u * (u - 2 * y) / 2)
    return math.log1p(k * excess / (_ROOT_HALF_PI * erf_u))


def loss(u: float, gamma: float, r: float) -> float:
    """Return h(u) - h(r), the pure epsilon of one coordinate.

    Examples
    --------
    >>> loss(1.0, 1.0, 0.0)  # a neighbour may change everything: u²/2
    0.5
    """
    return loss_and_steepness(u, gamma, r)[0]


def loss_and_steepness(u: float, gamma: float, r: float) -> tuple[float, float]:
    """Return the loss and T >= 0, where d ln loss / d ln sigma = -2 - T/loss.

    T is good to a few digits, enough for Newton's method.
    """
    log_r = log_ratio(u, min(gamma, r))
    value = u * gamma / 2 + (gamma * r / 2 - log_r)
    if u < 0.3:
        return value, u * u * gamma * r / 12
    edge = u * math.exp(-u * u / 2) / math.erf(u * _ROOT_HALF)
    inner = gamma * math.exp(-gamma * gamma / 2) + r * math.exp(-r * r / 2)
    inner /= math.erf(gamma * _ROOT_HALF) + math.erf(r * _ROOT_HALF)
    return value, max(0.0, 2 * log_r + _ROOT_2_OVER_PI * (edge - inner))


def log_ratios(u: Floats, k: Floats) -> Floats:
    """Return `log_ratio` for arrays."""
    erf_u = erf(u * _ROOT_HALF)
    result = np.empty_like(u)
    direct = k > 0.5
    short = np.maximum(u, 1.0) * k <= 1
    short &= ~direct
    long = ~(direct | short)
    for chosen, (nodes, weights) in ((short, _SHORT_RULE), (long, _LONG_RULE)):
        if not chosen.any():
            continue
        some_u, some_k = u[chosen], k[chosen]
        excess = np.zeros_like(some_u)
        for node, weight in zip(nodes, weights, strict=True):
            y = some_k * node
            excess -= weight * np.exp(-y * y / 2) * np.expm1(-some_u * (some_u - 2 * y) / 2)
        result[chosen] = np.log1p(some_k * excess / (_ROOT_HALF_PI * erf_u[chosen]))
    if direct.any():
        some_u, some_k = u[direct], k[direct]
        both = erf(some_k * _ROOT_HALF) + erf((some_u - some_k) * _ROOT_HALF)
        result[direct] = np.log(both / erf_u[direct])
    return result


def losses(u: Floats, gamma: Floats, r: Floats) -> tuple[Floats, Floats]:
    """Return `loss_and_steepness` for arrays; both are zero where gamma is zero."""
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
    """
    ratio, spread = _tilt(u, gamma)
    return (u - gamma) - ratio, spread


def ratio_slopes(u: Floats, gamma: Floats) -> tuple[Floats, Floats]:
    """Return the first derivative of ln R in gamma, and minus the second, for gamma <= u/2."""
    ratio, spread = _tilt(u, gamma)
    return ratio, 1 - spread


def _tilt(u: Floats, gamma: Floats) -> tuple[Floats, Floats]:
    """Return (φ(γ) - φ(r)) / (Φ₀(γ) + Φ₀(r)) and the variance V, Φ₀ = Φ - 1/2."""
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
