"""The interface of a distribution of noise, which all other packages use.

A distribution is symmetric about zero and given in units of its scale. Arguments are standardised:
for a value s in [a, b], ``left = (s - a)/scale`` and ``right = (b - s)/scale``, both non-negative,
and positions are ``z = (x - s)/scale`` in ``[-left, right]``. Because the centre lies inside, the
mass is a sum of two non-negative parts and never cancels.

Each distribution has its own module in this package, and an entry in `noises`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from flint import arb

from inbounds._types import Floats

_BLOCK = 1 << 13


@dataclass(frozen=True, repr=False)
class Noise(ABC):
    """A distribution of noise: plain (without bounds), truncated to bounds, or `clamped` to them.

    `density`, `bias`, `second_moment`, `cumulative`, `quantile` and `atoms` describe the truncated
    distribution, which has the same shape inside the bounds and no mass outside.

    Attributes
    ----------
    name
        The name of the distribution in certificates.
    scale_name
        The name of its scale in messages and tables.
    half_mass
        The integral of exp(-`fall`) over the positive numbers.
    reach
        The distance from a bound beyond which it moves no posterior mean, up to rounding.

    Examples
    --------
    >>> from inbounds.numerics.laplace import LAPLACE
    >>> LAPLACE
    laplace
    >>> float(LAPLACE.tail(np.array(0.0))), float(LAPLACE.bias(np.array(1.0), np.array(1.0)))
    (0.5, 0.0)
    """

    name: ClassVar[str]
    scale_name: ClassVar[str]
    half_mass: ClassVar[float]
    reach: ClassVar[float]

    def __repr__(self) -> str:
        return self.name

    # Plain.

    @abstractmethod
    def plain_density(self, z: Floats) -> Floats:
        """Return the density at z, without bounds."""

    @abstractmethod
    def plain_quantile(self, q: Floats) -> Floats:
        """Return z with P(Z <= z) = q, without bounds."""

    @abstractmethod
    def tail(self, distance: Floats) -> Floats:
        """Return the probability of noise beyond `distance` to one side."""

    @abstractmethod
    def mass(self, left: Floats, right: Floats) -> Floats:
        """Return the probability of [-left, right]."""

    @abstractmethod
    def fall(self, distance: float) -> float:
        """Return ln f(0) - ln f(distance), with f the plain density."""

    @abstractmethod
    def likelihood_weights(self, change: Floats, scales: Floats) -> Floats:
        """Return the slope in each coordinate, up to a factor, of the log-likelihood ratio.

        The ratio is that of two values `change` apart, at the output where it is steepest.
        """

    # Truncated to bounds.

    def density(self, z: Floats, left: Floats, right: Floats) -> Floats:
        """Return the density, which is zero outside the bounds."""
        near = np.clip(z, -left, right)
        return np.where(z == near, self.plain_density(near) / self.mass(left, right), 0.0)

    @abstractmethod
    def bias(self, left: Floats, right: Floats) -> Floats:
        """Return the mean of z, positive when the left side is nearer."""

    @abstractmethod
    def second_moment(self, left: Floats, right: Floats) -> Floats:
        """Return the mean of z²."""

    def cumulative(self, z: Floats, left: Floats, right: Floats) -> Floats:
        """Return P(Z <= z); small probabilities keep their relative accuracy.

        Formulas: docs/proofs/moments.md, theorems 1 and 3.
        """
        z = np.clip(z, -left, right)
        below = self._left_mass(np.minimum(z, 0.0), left)
        above = self.mass(left, np.maximum(z, 0.0))
        part = np.where(z <= 0, below, above) / self.mass(left, right)
        return np.where(z < right, np.minimum(part, 1.0), 1.0)

    def quantile(self, q: Floats, left: Floats, right: Floats) -> Floats:
        """Return z with P(Z <= z) = q, computed from the end with the smaller probability."""
        sides = np.broadcast_arrays(q, left, right)
        q, left, right = (np.ravel(side) for side in sides)
        result = np.empty(q.size)
        for first in range(0, q.size, _BLOCK):
            i = slice(first, first + _BLOCK)
            flip = q[i] > 0.5
            near, far = np.where(flip, right[i], left[i]), np.where(flip, left[i], right[i])
            mass = np.where(flip, 1 - q[i], q[i]) * self.mass(left[i], right[i])
            z = self._lower_quantile(mass, near, far)
            result[i] = np.where(flip, -z, z)
        return result.reshape(sides[0].shape)

    def atoms(self, left: Floats, right: Floats) -> tuple[Floats, Floats]:
        """Return the probabilities of the two bounds themselves, which are zero."""
        none = np.zeros(np.broadcast_shapes(np.shape(left), np.shape(right)))
        return none, none

    @abstractmethod
    def posterior_mean(self, position: Floats, width: Floats) -> Floats:
        """Return the mean of a uniform value in [0, width], given an output at the position."""

    @abstractmethod
    def tail_mean(self, width: Floats) -> Floats:
        """Return the mean of z in [0, width] with the weight `tail` (z)."""

    @abstractmethod
    def _left_mass(self, z: Floats, left: Floats) -> Floats:
        """Return the probability of [-left, z] before truncation, for -left <= z <= 0."""

    @abstractmethod
    def _lower_quantile(self, mass: Floats, left: Floats, right: Floats) -> Floats:
        """Return z for which [-left, z] has a given plain mass, at most half of the mass inside."""

    # Clamped to bounds.

    @property
    def clamped(self) -> Clamped:
        """The same noise, moved to the nearest bound if it leaves the bounds."""
        return Clamped(self)

    # In ball arithmetic: every result is a ball that contains the true number.

    @abstractmethod
    def log_density(self, z: arb) -> arb:
        """Return -`fall`: the logarithm of the density, scaled to be one at zero."""

    @abstractmethod
    def ball_tail(self, distance: arb) -> arb:
        """Return the probability of noise beyond a non-negative distance to one side."""

    @abstractmethod
    def ball_within(self, distance: arb) -> arb:
        """Return P(|Z| <= distance), continued to negative distances as an odd function."""

    @abstractmethod
    def ball_distance(self, fraction: arb) -> arb:
        """Return the distance at which `ball_within` is a fraction; NaN if that is undecided."""

    @abstractmethod
    def loss_and_slope(self, width: arb, change: arb, scale: arb) -> tuple[arb, arb]:
        """Return the worst privacy loss g of a change, for noise truncated to an interval, and g'.

        Both are in closed form.
        """

    @abstractmethod
    def loss_by_integrals(self, width: arb, change: arb, scale: arb) -> tuple[arb, arb]:
        """Return the same numbers from integrals of the density alone."""


@dataclass(frozen=True, slots=True)
class Clamped:
    """Noise moved to the nearest bound if it leaves the bounds, so that each bound has an atom.

    Formulas: docs/proofs/moments.md, theorem 4.
    """

    noise: Noise

    def density(self, z: Floats, left: Floats, right: Floats) -> Floats:
        """Return the density strictly inside; `atoms` has the probabilities of the bounds."""
        return np.where((z > -left) & (z < right), self.noise.plain_density(z), 0.0)

    def bias(self, left: Floats, right: Floats) -> Floats:
        """Return the mean of z."""
        inside = self.noise.mass(left, right) * self.noise.bias(left, right)
        return inside + (right * self.noise.tail(right) - left * self.noise.tail(left))

    def second_moment(self, left: Floats, right: Floats) -> Floats:
        """Return the mean of z²."""
        inside = self.noise.mass(left, right) * self.noise.second_moment(left, right)
        return inside + right**2 * self.noise.tail(right) + left**2 * self.noise.tail(left)

    def cumulative(self, z: Floats, left: Floats, right: Floats) -> Floats:
        """Return P(Z <= z), including the atoms at the bounds."""
        inside = self.noise.tail(-np.clip(z, -left, right))
        return np.where(z < right, inside, 1.0)

    def quantile(self, q: Floats, left: Floats, right: Floats) -> Floats:
        """Return the smallest z with P(Z <= z) >= q."""
        return np.clip(self.noise.plain_quantile(q), -left, right)

    def atoms(self, left: Floats, right: Floats) -> tuple[Floats, Floats]:
        """Return the probabilities of the two bounds themselves."""
        return self.noise.tail(left), self.noise.tail(right)
