"""The law of a normal variable centred at s in [a, b] and truncated to [a, b].

Arguments are standardised: ``left = (s - a)/σ`` and ``right = (b - s)/σ``, both non-negative, and
positions are ``z = (x - s)/σ`` in ``[-left, right]``. Because the centre lies inside, the mass is a
sum of two non-negative parts and never cancels; what could cancel is integrated instead.

Formulas: docs/proofs/moments.md.
"""

import numpy as np
from scipy.special import erf, erfinv, ndtr, ndtri

from inbounds._types import Floats

_ROOT_HALF = np.sqrt(0.5)
_ROOT_TWO_PI = np.sqrt(2 * np.pi)
_NODES, _WEIGHTS = (array / 2 for array in np.polynomial.legendre.leggauss(32))
_NODES = _NODES + 0.5  # on [0, 1]
_WINDOW = 9.0  # posterior mass further away than this many σ is below 1e-18
_PRIOR_NODES, _PRIOR_WEIGHTS = np.polynomial.legendre.leggauss(96)
_BLOCK = 1 << 13


def tail(distance: Floats) -> Floats:
    """Return the probability of noise beyond `distance` to one side, before truncation."""
    result: Floats = ndtr(-distance)
    return result


def plain_density(z: Floats) -> Floats:
    """Return the density before truncation, in units of 1/σ."""
    result: Floats = np.exp(-z * z / 2) / _ROOT_TWO_PI
    return result


def plain_quantile(q: Floats) -> Floats:
    """Return z with P(Z <= z) = q, before truncation."""
    result: Floats = ndtri(q)
    return result


def mass(left: Floats, right: Floats) -> Floats:
    """Return ∫φ over [-left, right]."""
    total: Floats = (erf(left * _ROOT_HALF) + erf(right * _ROOT_HALF)) / 2
    return total


def density(z: Floats, left: Floats, right: Floats) -> Floats:
    """Return the density in units of 1/σ; zero outside."""
    near = np.clip(z, -left, right)
    return np.where(z == near, plain_density(near) / mass(left, right), 0.0)


def atoms(left: Floats, right: Floats) -> tuple[Floats, Floats]:
    """Return the probabilities of the two bounds themselves: none."""
    none = np.zeros(np.broadcast_shapes(np.shape(left), np.shape(right)))
    return none, none


def bias(left: Floats, right: Floats) -> Floats:
    """Return (φ(left) - φ(right)) / mass: the mean of z, positive when the left side is nearer."""
    near = np.minimum(left, right)
    fall = -np.expm1(-np.abs(right - left) * (left + right) / 2)
    edge: Floats = np.exp(-near * near / 2) / _ROOT_TWO_PI * fall
    return np.sign(right - left) * edge / mass(left, right)


def second_moment(left: Floats, right: Floats) -> Floats:
    """Return the mean of z²."""
    return (_square_part(left) + _square_part(right)) / mass(left, right)


def _square_part(edge: Floats) -> Floats:
    """Return ∫z²φ over [0, edge]; below 4 by quadrature, where Φ₀ - zφ would cancel."""
    short = np.minimum(edge, 4.0)
    total = np.zeros_like(short)
    for node, weight in zip(_NODES, _WEIGHTS, strict=True):
        z = short * node
        total += weight * z * z * np.exp(-z * z / 2)
    total *= short / _ROOT_TWO_PI
    direct = erf(edge * _ROOT_HALF) / 2 - edge * np.exp(-edge * edge / 2) / _ROOT_TWO_PI
    return np.where(edge > 4, direct, total)


def cumulative(z: Floats, left: Floats, right: Floats) -> Floats:
    """Return P(Z <= z); small probabilities keep their relative accuracy."""
    z = np.clip(z, -left, right)
    below = _left_part(np.minimum(z, 0.0), left)
    part = np.where(z <= 0, below, mass(left, np.maximum(z, 0.0))) / mass(left, right)
    return np.where(z < right, np.minimum(part, 1.0), 1.0)


def _left_part(z: Floats, left: Floats) -> Floats:
    """Return ∫φ over [-left, z] for -left <= z <= 0."""
    length = np.minimum(z + left, 0.5)
    total = np.zeros_like(length)
    for node, weight in zip(_NODES, _WEIGHTS, strict=True):
        y = z - length * node
        total += weight * np.exp(-y * y / 2)
    total *= length / _ROOT_TWO_PI
    return np.where(z + left <= 0.5, total, ndtr(z) - ndtr(-left))


def quantile(q: Floats, left: Floats, right: Floats) -> Floats:
    """Return z with P(Z <= z) = q, measured from the nearer end."""
    sides = np.broadcast_arrays(q, left, right)
    q, left, right = (np.ravel(side) for side in sides)
    result = np.empty(q.size)
    for first in range(0, q.size, _BLOCK):
        i = slice(first, first + _BLOCK)
        flip = q[i] > 0.5
        near, far = np.where(flip, right[i], left[i]), np.where(flip, left[i], right[i])
        tail = np.where(flip, 1 - q[i], q[i]) * mass(left[i], right[i])
        z = _lower_quantile(tail, near, far)
        result[i] = np.where(flip, -z, z)
    return result.reshape(sides[0].shape)


def _lower_quantile(target: Floats, left: Floats, right: Floats) -> Floats:
    """Solve ∫φ over [-left, z] = target, where target is at most half the mass."""
    half = mass(left, np.zeros_like(left))
    above = erfinv(np.clip(2 * (target - half), 0.0, 0.75)) / _ROOT_HALF
    below = _negative_quantile(np.minimum(target, half), left)
    return np.where(target > half, np.minimum(above, right), below)


def _negative_quantile(target: Floats, left: Floats) -> Floats:
    """Solve ∫φ over [-left, z] = target for z in [-left, 0], by bracketed Newton steps."""
    low, high = -left, np.zeros_like(left)
    z = np.clip(ndtri(np.minimum(ndtr(-left) + target, 0.5)), low, high)
    for _ in range(60):
        excess = _left_part(z, left) - target
        low, high = np.where(excess < 0, z, low), np.where(excess < 0, high, z)
        with np.errstate(over="ignore", invalid="ignore"):
            moved = z - excess * _ROOT_TWO_PI * np.exp(np.minimum(z * z / 2, 700.0))
        moved = np.where((moved >= low) & (moved <= high), moved, (low + high) / 2)
        settled = (np.abs(moved - z) <= 1e-15 * left) | (high - low <= 1e-15 * left)
        z = moved
        if settled.all():
            break
    return np.where(target > 0, z, -left)


def posterior_mean(position: Floats, u: Floats) -> Floats:
    """Return E[s | x] under a uniform prior on s, both measured from the lower bound in σ.

    `u` is the width in σ; the likelihood of s is exp(-(x-s)²/2) over the mass it leaves inside.
    """
    flat, wide = (np.ravel(side) for side in np.broadcast_arrays(position, u))
    result = np.empty_like(flat)
    for first in range(0, flat.size, _BLOCK):
        x, top = flat[first : first + _BLOCK, None], wide[first : first + _BLOCK, None]
        low, high = np.maximum(0.0, x - _WINDOW), np.minimum(top, x + _WINDOW)
        s = (low + high) / 2 + (high - low) / 2 * _PRIOR_NODES
        likelihood = np.exp(-((x - s) ** 2) / 2) / mass(s, top - s) * _PRIOR_WEIGHTS
        result[first : first + _BLOCK] = (likelihood * s).sum(axis=1) / likelihood.sum(axis=1)
    return result.reshape(np.shape(position))
