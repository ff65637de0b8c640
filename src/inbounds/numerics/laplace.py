"""Laplace noise, with the density exp(-|z|)/2 in units of its scale b."""

from dataclasses import dataclass

import numpy as np
from flint import arb
from scipy.special import gammainc

from inbounds._types import Floats
from inbounds.numerics.noise import Noise
from inbounds.numerics.quadrature import unit_rule

_NODES, _WEIGHTS = unit_rule(16)
_FAR = (1.0, 3.0, 7.0, 15.0, 45.0)  # posterior mass further away than the last is below 1e-18
_PANELS = np.array([*(-end for end in reversed(_FAR)), 0.0, *_FAR])
_BLOCK = 1 << 11


@dataclass(frozen=True, repr=False)
class _Laplace(Noise):
    """The Laplace distribution. Formulas: docs/proofs/moments.md, theorem 3."""

    name = "laplace"
    scale_name = "scale"
    half_mass = 1.0
    reach = 45.0

    def plain_density(self, z: Floats) -> Floats:
        result: Floats = np.exp(-np.abs(z)) / 2
        return result

    def plain_quantile(self, q: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            result: Floats = np.where(
                q <= 0.5, np.log(2 * np.minimum(q, 0.5)), -np.log(2 * (1 - np.maximum(q, 0.5)))
            )
        return result

    def tail(self, distance: Floats) -> Floats:
        half = np.exp(-np.abs(distance)) / 2
        return np.where(distance >= 0, half, 1 - half)

    def mass(self, left: Floats, right: Floats) -> Floats:
        total: Floats = -(np.expm1(-left) + np.expm1(-right)) / 2
        return total

    def fall(self, distance: float) -> float:
        return distance

    def likelihood_weights(self, change: Floats, scales: Floats) -> Floats:
        weights: Floats = np.sign(change) / scales
        return weights

    def bias(self, left: Floats, right: Floats) -> Floats:
        result: Floats = (gammainc(2, right) - gammainc(2, left)) / 2 / self.mass(left, right)
        return result

    def second_moment(self, left: Floats, right: Floats) -> Floats:
        result: Floats = (gammainc(3, left) + gammainc(3, right)) / self.mass(left, right)
        return result

    def posterior_mean(self, position: Floats, width: Floats) -> Floats:
        """Return the mean over the likelihood of s, exp(-|x-s|) divided by the mass inside.

        Proof: docs/proofs/moments.md, theorem 2.
        """
        flat, wide = (np.ravel(side) for side in np.broadcast_arrays(position, width))
        result = np.empty_like(flat)
        for first in range(0, flat.size, _BLOCK):
            x, top = flat[first : first + _BLOCK, None], wide[first : first + _BLOCK, None]
            ends = np.clip(x + _PANELS, 0.0, top)
            s = ends[:, :-1, None] + np.diff(ends)[:, :, None] * _NODES
            likelihood = np.exp(-np.abs(s - x[:, :, None])) / self.mass(s, top[:, :, None] - s)
            likelihood *= np.diff(ends)[:, :, None] * _WEIGHTS
            moments = (likelihood * s).sum(axis=(1, 2))
            result[first : first + _BLOCK] = moments / likelihood.sum(axis=(1, 2))
        return result.reshape(np.shape(position))

    def tail_mean(self, width: Floats) -> Floats:
        return self.bias(np.zeros_like(width), width)

    def _left_mass(self, z: Floats, left: Floats) -> Floats:
        result: Floats = -np.exp(z) * np.expm1(-(left + z)) / 2
        return result

    def _lower_quantile(self, mass: Floats, left: Floats, right: Floats) -> Floats:
        double, half = 2 * mass, -np.expm1(-left)
        above = -np.log1p(-np.clip(double - half, 0.0, 0.75))
        close = -left + np.log1p(np.minimum(double, half) * np.exp(np.minimum(left, 30.0)))
        with np.errstate(divide="ignore"):
            distant = np.log(double + np.exp(-left))
        below = np.clip(np.where(left < 30, close, distant), -left, 0.0)
        return np.where(double > half, np.minimum(above, right), below)

    def log_density(self, z: arb) -> arb:
        return -abs(z)

    def ball_tail(self, distance: arb) -> arb:
        return (-distance).exp() / 2

    def ball_within(self, distance: arb) -> arb:
        return -((-distance).exp() - 1)

    def ball_distance(self, fraction: arb) -> arb:
        if fraction > 0:
            return -(1 - fraction).log()
        return (1 + fraction).log() if fraction < 0 else arb.nan()

    def loss_and_slope(self, width: arb, change: arb, scale: arb) -> tuple[arb, arb]:
        """Return γ + ln(1 + (1-e^-γ)(1-e^-r)/(1-e^-u)) and its slope.

        Proof: docs/proofs/laplace.md, theorems 1 and 2.
        """
        gone, left = (-change / scale).expm1(), ((change - width) / scale).expm1()
        extra = gone * left / -(-width / scale).expm1()
        return change / scale + (1 + extra).log(), 2 * left / (gone + left) / scale

    def loss_by_integrals(self, width: arb, change: arb, scale: arb) -> tuple[arb, arb]:
        """Return g and g' from p_s(x) ∝ exp(-|x-s|/b) alone.

        With Z(s) = ∫exp(-|x-s|)dx over [0, u], all in units of b, g = γ + ln Z(γ) - ln Z(0) and
        g' = (1 + Z'(γ)/Z(γ))/b. Z' is the part of the integral above s less the part below.

        Proof: docs/proofs/laplace.md, theorems 1 and 2.
        """
        u, gamma, rest = width / scale, change / scale, (width - change) / scale
        below, above = _one_side(gamma), _one_side(rest)
        mass = below + above
        return gamma + (mass / _one_side(u)).log(), (1 + (above - below) / mass) / scale


def _one_side(length: arb) -> arb:
    """Return ∫e^(-v)dv over [0, length]; the second form does not cancel for a short side."""
    half = length / 2
    return 1 - (-length).exp() if half > 1 else 2 * (-half).exp() * half.sinh()


LAPLACE = _Laplace()
