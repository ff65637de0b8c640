"""The law of a Laplace variable centred at s in [a, b] and truncated to [a, b].

The same functions as `truncated_normal`, with the same standardised arguments: ``left = (s - a)/b``
and ``right = (b - s)/b`` in units of the scale b, and positions ``z`` in ``[-left, right]``.

Formulas: docs/proofs/moments.md.
"""

import numpy as np
from scipy.special import gammainc

from inbounds._types import Floats


def tail(distance: Floats) -> Floats:
    """Return the probability of noise beyond `distance` to one side, before truncation."""
    result: Floats = np.where(
        distance >= 0, np.exp(-np.abs(distance)) / 2, 1 - np.exp(-np.abs(distance)) / 2
    )
    return result


def plain_density(z: Floats) -> Floats:
    """Return the density before truncation, in units of 1/b."""
    result: Floats = np.exp(-np.abs(z)) / 2
    return result


def plain_quantile(q: Floats) -> Floats:
    """Return z with P(Z <= z) = q, before truncation."""
    with np.errstate(divide="ignore"):
        result: Floats = np.where(
            q <= 0.5, np.log(2 * np.minimum(q, 0.5)), -np.log(2 * (1 - np.maximum(q, 0.5)))
        )
    return result


def mass(left: Floats, right: Floats) -> Floats:
    """Return the probability of [-left, right] before truncation."""
    total: Floats = -(np.expm1(-left) + np.expm1(-right)) / 2
    return total


def density(z: Floats, left: Floats, right: Floats) -> Floats:
    """Return the density in units of 1/b; zero outside."""
    near = np.clip(z, -left, right)
    return np.where(z == near, plain_density(near) / mass(left, right), 0.0)


def atoms(left: Floats, right: Floats) -> tuple[Floats, Floats]:
    """Return the probabilities of the two bounds themselves: none."""
    none = np.zeros(np.broadcast_shapes(np.shape(left), np.shape(right)))
    return none, none


def bias(left: Floats, right: Floats) -> Floats:
    """Return the mean of z, positive when the left side is nearer."""
    result: Floats = (gammainc(2, right) - gammainc(2, left)) / 2 / mass(left, right)
    return result


def second_moment(left: Floats, right: Floats) -> Floats:
    """Return the mean of z²."""
    result: Floats = (gammainc(3, left) + gammainc(3, right)) / mass(left, right)
    return result


def cumulative(z: Floats, left: Floats, right: Floats) -> Floats:
    """Return P(Z <= z); small probabilities keep their relative accuracy."""
    z = np.clip(z, -left, right)
    below = -np.exp(np.minimum(z, 0.0)) * np.expm1(-(left + np.minimum(z, 0.0))) / 2
    part = np.where(z <= 0, below, mass(left, np.maximum(z, 0.0))) / mass(left, right)
    return np.where(z < right, np.minimum(part, 1.0), 1.0)


def quantile(q: Floats, left: Floats, right: Floats) -> Floats:
    """Return z with P(Z <= z) = q, measured from the nearer end."""
    q, left, right = np.broadcast_arrays(q, left, right)
    flip = q > 0.5
    near, far = np.where(flip, right, left), np.where(flip, left, right)
    z = _lower_quantile(2 * np.where(flip, 1 - q, q) * mass(left, right), near, far)
    return np.where(flip, -z, z)


def _lower_quantile(target: Floats, left: Floats, right: Floats) -> Floats:
    """Solve 2·P([-left, z]) = target, where target is at most the mass."""
    half = -np.expm1(-left)
    above = -np.log1p(-np.clip(target - half, 0.0, 0.75))
    close = -left + np.log1p(np.minimum(target, half) * np.exp(np.minimum(left, 30.0)))
    with np.errstate(divide="ignore"):
        distant = np.log(target + np.exp(-left))
    below = np.clip(np.where(left < 30, close, distant), -left, 0.0)
    return np.where(target > half, np.minimum(above, right), below)
