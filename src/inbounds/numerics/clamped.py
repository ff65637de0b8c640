"""The law of noise around s in [a, b] that is moved to the nearer bound when it leaves [a, b].

The same functions as `truncated_normal`, with the same standardised arguments. The law has a
density inside and an atom at either bound.

Formulas: docs/proofs/moments.md.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from inbounds._types import Floats


class Noise(Protocol):
    """What a law of bounded noise can tell; everything in units of its scale."""

    def density(self, z: Floats, left: Floats, right: Floats, /) -> Floats:
        """Return the density at z, without atoms."""
        ...

    def bias(self, left: Floats, right: Floats, /) -> Floats:
        """Return the mean of z."""
        ...

    def second_moment(self, left: Floats, right: Floats, /) -> Floats:
        """Return the mean of z²."""
        ...

    def cumulative(self, z: Floats, left: Floats, right: Floats, /) -> Floats:
        """Return P(Z <= z)."""
        ...

    def quantile(self, q: Floats, left: Floats, right: Floats, /) -> Floats:
        """Return z with P(Z <= z) = q."""
        ...

    def atoms(self, left: Floats, right: Floats, /) -> tuple[Floats, Floats]:
        """Return the probabilities of the two bounds themselves."""
        ...


class Truncated(Noise, Protocol):
    """A law that can be clamped as well: it also knows itself before truncation."""

    def tail(self, distance: Floats, /) -> Floats:
        """Return the probability of noise beyond `distance` to one side."""
        ...

    def plain_density(self, z: Floats, /) -> Floats:
        """Return the density before truncation."""
        ...

    def plain_quantile(self, q: Floats, /) -> Floats:
        """Return the quantile before truncation."""
        ...

    def mass(self, left: Floats, right: Floats, /) -> Floats:
        """Return the probability of [-left, right] before truncation."""
        ...


@dataclass(frozen=True, slots=True)
class Clamped:
    """The noise of `law`, moved to the bounds where it leaves them."""

    law: Truncated

    def density(self, z: Floats, left: Floats, right: Floats) -> Floats:
        """Return the density strictly inside; the atoms at the bounds have none."""
        return np.where((z > -left) & (z < right), self.law.plain_density(z), 0.0)

    def bias(self, left: Floats, right: Floats) -> Floats:
        """Return the mean of z: of what stays inside, and of what goes to either bound."""
        inside = self.law.mass(left, right) * self.law.bias(left, right)
        return inside + (right * self.law.tail(right) - left * self.law.tail(left))

    def second_moment(self, left: Floats, right: Floats) -> Floats:
        """Return the mean of z²."""
        inside = self.law.mass(left, right) * self.law.second_moment(left, right)
        return inside + right**2 * self.law.tail(right) + left**2 * self.law.tail(left)

    def cumulative(self, z: Floats, left: Floats, right: Floats) -> Floats:
        """Return P(Z <= z), the atom at the lower bound included."""
        inside = self.law.tail(-np.clip(z, -left, right))
        return np.where(z < right, inside, 1.0)

    def quantile(self, q: Floats, left: Floats, right: Floats) -> Floats:
        """Return the smallest z with P(Z <= z) >= q."""
        return np.clip(self.law.plain_quantile(q), -left, right)

    def atoms(self, left: Floats, right: Floats) -> tuple[Floats, Floats]:
        """Return the probabilities of the two bounds themselves."""
        return self.law.tail(left), self.law.tail(right)
