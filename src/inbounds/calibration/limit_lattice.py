"""Lattices of values, and the level function on one that a dual solution undercuts the most."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from inbounds._types import Floats
from inbounds.calibration.level_function import Levels, least_levels, least_sum

_NEWTON = 30


def centred(size: int) -> Floats:
    """Return places that are 1 apart, around zero.

    Examples
    --------
    >>> centred(3).tolist()
    [-1.0, 0.0, 1.0]
    """
    return np.linspace(-(size - 1) / 2, (size - 1) / 2, size)


@dataclass(frozen=True, slots=True, eq=False)
class Dual:
    """A dual solution on a lattice, and the bound that it gives if its margin is proved."""

    weights: Floats
    slopes: Floats
    values: Floats
    bound: float
    """The bound in squares of the lattice's spacing."""


@dataclass(frozen=True, slots=True, eq=False)
class ValueLattice:
    """Places around zero, of which those at most `reach` apart are neighbours, and their epsilon.

    Examples
    --------
    >>> ValueLattice.of(4, 1, 1.0).places.tolist()
    [-1.5, -0.5, 0.5, 1.5]
    """

    places: Floats
    reach: int
    epsilon: float

    @classmethod
    def of(cls, size: int, reach: int, epsilon: float) -> ValueLattice:
        """Return a lattice of equally likely places, 1 apart."""
        return cls(centred(size), reach, epsilon)

    @property
    def half(self) -> int:
        """The number of places up to the middle."""
        return (self.places.size + 1) // 2

    def columns(self, levels: Levels | Floats) -> Floats:
        """Return level functions, one per row, with their largest entry 1."""
        return np.exp(self.epsilon * levels)

    def plateaus(self) -> Floats:
        """Return the columns that are level on a few places and fall off on both sides."""
        size = self.places.size
        place = np.arange(size)
        first, last = np.triu_indices(size)
        kept = (last - first < int(1.3 * self.reach) + 2) & (first + last <= size - 1)
        first, last = first[kept, None], last[kept, None]
        distance = np.maximum(np.maximum(first - place, place - last), 0)
        return self.columns(-np.ceil(distance / self.reach))


def least_ratio(
    lattice: ValueLattice, dual: tuple[Floats, Floats, Floats], outputs: Floats, most: float = 0.0
) -> tuple[Floats, Floats]:
    """Return the least Σf(πa² - ρa - ν) / Σfπ at each output a where it is below `most`.

    The second array has the columns at these outputs. Newton's method for ratios: a column with a
    lower ratio gives the next guess. Proof: docs/proofs/limit.md, theorems 3 and 6.
    """
    weights, slopes, values = (part[:, None] for part in dual)
    costs = weights * outputs**2 - slopes * outputs - values
    ratio = math.exp(lattice.epsilon)
    below = least_sum(costs - most * weights, lattice.reach, ratio) < 0
    costs = costs[:, below]
    columns = np.empty((costs.shape[1], lattice.places.size))
    margin = np.full(costs.shape[1], most)
    active = np.arange(margin.size)
    for _ in range(_NEWTON):
        if not active.size:
            break
        levels = least_levels(costs[:, active] - margin[active] * weights, lattice.reach, ratio)
        columns[active] = lattice.columns(levels)
        better = np.einsum("ai,ia->a", columns[active], costs[:, active])
        better /= columns[active] @ dual[0]
        lower = better < margin[active] - 1e-12 * (1 + np.abs(margin[active]))
        margin[active] = np.minimum(margin[active], better)
        active = active[lower]
    return margin, columns
