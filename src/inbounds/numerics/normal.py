"""Normal noise, whose scale is the standard deviation σ.

Differences that would cancel are computed as integrals instead.
"""

import math
from dataclasses import dataclass

import numpy as np
from flint import arb
from scipy.special import erf, erfinv, ndtr, ndtri

from inbounds._types import Floats
from inbounds.numerics.noise import Noise
from inbounds.numerics.normal_series import normal_integral
from inbounds.numerics.quadrature import unit_rule

_ROOT_HALF = np.sqrt(0.5)
_ROOT_TWO_PI = np.sqrt(2 * np.pi)
_NODES, _WEIGHTS = unit_rule(32)
_NARROW = 1e-3  # in σ: a narrower box leaves nothing but the first term of a series
_WINDOW = 9.0  # posterior mass further away than this many σ is below 1e-18
_PRIOR_NODES, _PRIOR_WEIGHTS = np.polynomial.legendre.leggauss(96)
_BLOCK = 1 << 13
_FEW = 1 << 10  # numbers whose products with all nodes stay in the processor's cache


@dataclass(frozen=True, repr=False)
class _Normal(Noise):
    """The normal distribution. Formulas: docs/proofs/moments.md, theorem 1."""

    name = "normal"
    scale_name = "sigma"
    half_mass = math.sqrt(math.pi / 2)
    reach = 16.0

    def plain_density(self, z: Floats) -> Floats:
        result: Floats = np.exp(-z * z / 2) / _ROOT_TWO_PI
        return result

    def plain_quantile(self, q: Floats) -> Floats:
        result: Floats = ndtri(q)
        return result

    def tail(self, distance: Floats) -> Floats:
        result: Floats = ndtr(-distance)
        return result

    def mass(self, left: Floats, right: Floats) -> Floats:
        total: Floats = (erf(left * _ROOT_HALF) + erf(right * _ROOT_HALF)) / 2
        return total

    def fall(self, distance: float) -> float:
        return distance * distance / 2

    def likelihood_weights(self, change: Floats, scales: Floats) -> Floats:
        return change / scales**2

    def bias(self, left: Floats, right: Floats) -> Floats:
        """Return (φ(left) - φ(right)) / mass."""
        near = np.minimum(left, right)
        fall = -np.expm1(-np.abs(right - left) * (left + right) / 2)
        edge: Floats = np.exp(-near * near / 2) / _ROOT_TWO_PI * fall
        return np.sign(right - left) * edge / self.mass(left, right)

    def second_moment(self, left: Floats, right: Floats) -> Floats:
        return (_square_part(left) + _square_part(right)) / self.mass(left, right)

    def posterior_mean(self, position: Floats, width: Floats) -> Floats:
        """Return the mean over the likelihood of s, exp(-(x-s)²/2) divided by the mass inside.

        Proof: docs/proofs/moments.md, theorem 2.
        """
        flat, wide = (np.ravel(side) for side in np.broadcast_arrays(position, width))
        result = np.empty_like(flat)
        for first in range(0, flat.size, _BLOCK):
            x, top = flat[first : first + _BLOCK, None], wide[first : first + _BLOCK, None]
            low, high = np.maximum(0.0, x - _WINDOW), np.minimum(top, x + _WINDOW)
            s = (low + high) / 2 + (high - low) / 2 * _PRIOR_NODES
            likelihood = np.exp(-((x - s) ** 2) / 2) / self.mass(s, top - s) * _PRIOR_WEIGHTS
            result[first : first + _BLOCK] = (likelihood * s).sum(axis=1) / likelihood.sum(axis=1)
        return result.reshape(np.shape(position))

    def tail_mean(self, width: Floats) -> Floats:
        """Return ∫zQ(z)dz/∫Q(z)dz over [0, w], integrated by parts; Q is the tail.

        Formulas: docs/proofs/readings.md, theorem 2.
        """
        tail, top = self.tail(width), self.plain_density(np.zeros(()))
        end = self.plain_density(width)
        cube = np.where(
            width < _NARROW, top * width**3 / 3, erf(width / np.sqrt(2)) / 2 - width * end
        )
        result: Floats = (width**2 * tail + cube) / 2 / (width * tail + top - end)
        return result

    def _left_mass(self, z: Floats, left: Floats) -> Floats:
        length = np.minimum(z + left, 0.5)
        total = np.zeros_like(length)
        for node, weight in zip(_NODES, _WEIGHTS, strict=True):
            y = z - length * node
            total += weight * np.exp(-y * y / 2)
        total *= length / _ROOT_TWO_PI
        return np.where(z + left <= 0.5, total, ndtr(z) - ndtr(-left))

    def _lower_quantile(self, mass: Floats, left: Floats, right: Floats) -> Floats:
        half = self.mass(left, np.zeros_like(left))
        above = erfinv(np.clip(2 * (mass - half), 0.0, 0.75)) / _ROOT_HALF
        below = self._negative_quantile(np.minimum(mass, half), left)
        return np.where(mass > half, np.minimum(above, right), below)

    def _negative_quantile(self, mass: Floats, left: Floats) -> Floats:
        """Return z in [-left, 0] for which [-left, z] has a mass, by bracketed Newton steps."""
        low, high = -left, np.zeros_like(left)
        z = np.clip(ndtri(np.minimum(ndtr(-left) + mass, 0.5)), low, high)
        for _ in range(60):
            excess = self._left_mass(z, left) - mass
            low, high = np.where(excess < 0, z, low), np.where(excess < 0, high, z)
            with np.errstate(over="ignore", invalid="ignore"):
                moved = z - excess * _ROOT_TWO_PI * np.exp(np.minimum(z * z / 2, 700.0))
            moved = np.where((moved >= low) & (moved <= high), moved, (low + high) / 2)
            settled = (np.abs(moved - z) <= 1e-15 * left) | (high - low <= 1e-15 * left)
            z = moved
            if settled.all():
                break
        return np.where(mass > 0, z, -left)

    def log_density(self, z: arb) -> arb:
        return -z * z / 2

    def ball_tail(self, distance: arb) -> arb:
        return (distance / arb(2).sqrt()).erfc() / 2

    def ball_within(self, distance: arb) -> arb:
        return (distance / arb(2).sqrt()).erf()

    def ball_distance(self, fraction: arb) -> arb:
        return arb(2).sqrt() * fraction.erfinv()

    def loss_and_slope(self, width: arb, change: arb, scale: arb) -> tuple[arb, arb]:
        """Return h(u) - h(u - γ) = γ(2u - γ)/2 - ln R and its slope, for any real change.

        Proofs: docs/proofs/interval.md, theorem 1, and docs/proofs/box.md, theorem 2.
        """
        u, gamma, rest = width / scale, change / scale, (width - change) / scale
        root = arb(0.5).sqrt()
        mass = (gamma * root).erf() + (rest * root).erf()
        loss = gamma * (u + rest) / 2 - (mass / (u * root).erf()).log()
        edges = (-(rest * rest) / 2).exp() - (-(gamma * gamma) / 2).exp()
        return loss, (rest + edges / (mass * (arb.pi() / 2).sqrt())) / scale

    def loss_by_integrals(self, width: arb, change: arb, scale: arb) -> tuple[arb, arb]:
        """Return g and g' from p_s(x) ∝ exp(-(x-s)²/2σ²) alone.

        With I(τ) = ∫exp(-(v-τ)²/2)dv over [0, u], the integrals to both sides of τ,
        g = ln I(u) - ln I(r) + (u² - r²)/2, and g' is the mean of v at the location r, over σ.

        Proofs: docs/proofs/interval.md, theorem 8, and docs/proofs/box.md, theorem 2.
        """
        u, gamma, rest = width / scale, change / scale, (width - change) / scale
        at_u, at_gamma, at_rest = ((-v * v / 2).exp() for v in (u, gamma, rest))
        inside = normal_integral(rest, at_rest) + normal_integral(gamma, at_gamma)
        mean = rest + (at_rest - at_gamma) / inside
        log_ratio = (normal_integral(u, at_u) / inside).log()
        return log_ratio + gamma * (u + rest) / 2, mean / scale


NORMAL = _Normal()


def _square_part(edge: Floats) -> Floats:
    """Return ∫z²φ over [0, edge], up to 4 by quadrature, because Φ₀ - zφ would cancel.

    Formula: docs/proofs/moments.md, theorem 1.
    """
    short = np.minimum(edge, 4.0)
    total = np.zeros(short.size)
    for first in range(0, short.size, _FEW):
        z = short.ravel()[first : first + _FEW] * _NODES[:, None]
        total[first : first + _FEW] = (_WEIGHTS[:, None] * z * z * np.exp(-z * z / 2)).sum(axis=0)
    total = total.reshape(short.shape) * (short / _ROOT_TWO_PI)
    direct: Floats = erf(edge * _ROOT_HALF) / 2 - edge * np.exp(-edge * edge / 2) / _ROOT_TWO_PI
    return np.where(edge > 4, direct, total)
