"""The cells that values are rounded to before staircase noise is added, and the noise in cells.

A staircase is not continuous: values that are further apart than the sensitivity, by however
little, may cost twice the epsilon. So the period of the noise, in whole cells, covers the
sensitivity and every rounding error on the way from a value to its cell.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from inbounds._types import Floats
from inbounds.numerics.staircase import best_plateau
from inbounds.sampling.block import Block
from inbounds.sampling.offset import nudge

NARROWEST = 2.0**-900
"""The smallest width of a box, so that cells per unit are a finite double."""

_ROUNDING = 8  # units of 2^-53 of the width, where 6.1 are possible
_NUDGED = Fraction(1, 2**930)
_PLATEAU_CELLS = 2.0**22  # half the plateau has about this many cells
_MOST_CELLS = 2.0**56  # in the box
_SIGNIFICANT = 7  # bits after the leading one, to which both parts of a period are rounded


@dataclass(frozen=True, slots=True)
class Part:
    """A number of cells, as `count` blocks of 2^`bits` cells each."""

    count: int
    bits: int

    @property
    def cells(self) -> int:
        """The number of cells."""
        return self.count << self.bits

    @classmethod
    def near(cls, cells: float, least: int = 1) -> Part:
        """Return a number of cells near a real number, and not below `least`.

        Examples
        --------
        >>> Part.near(1000.4), Part.near(3.2)
        (Part(count=250, bits=2), Part(count=3, bits=0))
        """
        bits = max(0, math.frexp(max(cells, 1.0))[1] - 1 - _SIGNIFICANT)
        return cls(max(round(math.ldexp(cells, -bits)), -(-least >> bits)), bits)


@dataclass(frozen=True, eq=False)
class Lattice:
    """Cells on [lower, upper], and the staircase in units of cells.

    Proof: docs/proofs/staircase.md, theorems 1 and 2.

    Parameters
    ----------
    lower, upper
        The bounds of the box.
    per_unit
        Cells per unit of length. The value x is in the cell floor((x - lower) · per_unit).
    plateau, lower_step
        The two parts of a period: the cells before and after the step of the staircase.

    Examples
    --------
    >>> lattice = Lattice.fit(0.0, 1.0, 0.25, 1.0)
    >>> bool(lattice.length >= 0.25), round(lattice.length, 12), round(lattice.gamma, 2)
    (True, 0.25, 0.42)
    >>> cells = lattice.cells(np.array([0.1, 0.35]))
    >>> bool(cells[1] - cells[0] <= lattice.period)
    True
    """

    lower: float
    upper: float
    per_unit: float
    plateau: Part
    lower_step: Part

    @classmethod
    def fit(cls, lower: float, upper: float, sensitivity: float, epsilon: float) -> Lattice:
        """Return cells fine enough for the noise, whose period covers the sensitivity."""
        return _fit(lower, upper, sensitivity, epsilon)

    @cached_property
    def period(self) -> int:
        """The cells in one period of the staircase."""
        return self.plateau.cells + self.lower_step.cells

    @property
    def gamma(self) -> float:
        """The fraction of a period before the step."""
        return self.plateau.cells / self.period

    @property
    def shift(self) -> float:
        """What is added to the distance of a value from the lower bound."""
        return nudge(self.lower, self.upper)

    @property
    def plateau_cells(self) -> int:
        """The cells of the plateau on both sides."""
        return 2 * self.plateau.cells

    def level(self, noise: int) -> int:
        """Return how many steps of the staircase are before a number of cells of noise."""
        distance = noise if noise >= 0 else ~noise
        return (distance + self.lower_step.cells) // self.period

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks of a period, which are the same on both sides."""
        parts = (0, self.plateau), (self.plateau.cells, self.lower_step)
        return tuple(
            Block(start + (i << part.bits), part.bits, falls=start > 0)
            for start, part in parts
            for i in range(part.count)
        )

    @property
    def spacing(self) -> float:
        """The width of a cell."""
        return 1 / self.per_unit

    @property
    def length(self) -> float:
        """The length of a period."""
        return self.period / self.per_unit

    @cached_property
    def count(self) -> int:
        """The number of cells in the box; indices of outputs go from 0 to this number."""
        return int(self.cells(np.array([self.upper]))[0]) + 1

    @property
    def rounding(self) -> float:
        """More than an output can be from the ideal one, before it is rounded to a step.

        Proof: docs/proofs/staircase.md, theorem 4.
        """
        return self.spacing * (1 + 2.0**-20) + 2.0**-49 * (self.upper - self.lower)

    def covers(self, sensitivity: float) -> bool:
        """Tell whether values at that distance are at most one period apart: a check in integers.

        Decimal numbers at that distance, which may be further apart as doubles, are included.
        Proof: docs/proofs/staircase.md, theorem 1.
        """
        most = reach(self.lower, self.upper, sensitivity)
        return Fraction(self.per_unit) * most <= self.period

    def cells(self, values: Floats) -> NDArray[np.int64]:
        """Return the cells of doubles, in the same time for all of them."""
        return cells_of(values, self.lower, self.upper, self.shift, self.per_unit)

    def cells_at(self, offsets: Floats) -> NDArray[np.int64]:
        """Return the cells of values at the given distances from the lower bound."""
        return ((offsets + self.shift) * self.per_unit).astype(np.int64)


def cells_of(
    values: Floats, lower: float, upper: float, shift: float, per_unit: float
) -> NDArray[np.int64]:
    """Return the cells of doubles, in the same time for all of them.

    Examples
    --------
    >>> cells_of(np.array([-1.0, 0.4, 0.5, 9.0]), 0.0, 3.0, 0.5, 1.0).tolist()
    [0, 0, 1, 3]
    """
    return (shifted_offsets(values, lower, upper, shift) * per_unit).astype(np.int64)


def shifted_offsets(values: Floats, lower: float, upper: float, shift: float) -> Floats:
    """Return the distances of doubles from the lower bound, plus `shift`: none is subnormal."""
    offsets: Floats = np.maximum(values, lower)
    np.minimum(offsets, upper, out=offsets)
    offsets -= lower
    offsets += shift
    return offsets


def reach(lower: float, upper: float, sensitivity: float, rounding: int = _ROUNDING) -> Fraction:
    """Return a distance that a period must cover, for the distance of neighbours to be hidden.

    Two numbers may differ by one unit in the last place more than the sensitivity if they were
    rounded to doubles, and the sensitivity may have been rounded to a double itself. Rounding on
    the way to a cell adds at most `rounding` units of 2^-53 of the width. Proof:
    docs/proofs/staircase.md, theorems 1 and 6.
    """
    width = Fraction(upper) - Fraction(lower)
    between = Fraction(math.nextafter(sensitivity, math.inf))
    between += Fraction(math.ulp(max(abs(lower), abs(upper))))
    if sensitivity >= upper - lower:
        between = width
    return min(between, width) + width * Fraction(rounding, 2**53) + _NUDGED


@lru_cache(maxsize=1024)
def _fit(lower: float, upper: float, sensitivity: float, epsilon: float) -> Lattice:
    distance, gamma = reach(lower, upper, sensitivity), best_plateau(epsilon)
    per_period = float(distance / (Fraction(upper) - Fraction(lower))) * _MOST_CELLS
    cells = min(_PLATEAU_CELLS, gamma * per_period) / gamma if gamma else per_period
    plateau = Part.near(gamma * cells)
    rest = plateau.cells * (1 - gamma) / gamma if plateau.count > 1 else cells - 1
    lower_step = Part.near(rest, plateau.cells)
    period = plateau.cells + lower_step.cells
    per_unit = float(period / distance)
    while Fraction(per_unit) * distance > period:
        per_unit = math.nextafter(per_unit, 0.0)
    return Lattice(lower, upper, per_unit, plateau, lower_step)
