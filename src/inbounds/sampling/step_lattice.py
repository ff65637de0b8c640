"""The steps of a box as cells for staircase noise, which is then a whole number of steps.

A value is rounded to the nearest step before the noise is added. Rounding can move two values
further apart, so the period of the noise covers as many steps as the rounded values of neighbours
can be apart. Thresholds between steps are further apart than a step by what rounding to doubles
adds to the sensitivity: if the sensitivity is a whole number of steps, so is the period.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from inbounds._types import Floats
from inbounds.numerics.staircase import Staircase
from inbounds.numerics.step_staircase import StepStaircase, rounded_variance
from inbounds.sampling.block import Block, Side, blocks_of
from inbounds.sampling.grid import Grid
from inbounds.sampling.lattice import Lattice, cells_of, reach

_ROUNDING = 16  # units of 2^-53 of the width, where 14.1 are possible
_WIDER = Fraction(1, 2**20)  # of a step: by how much thresholds may be further apart than steps
_MOST_STEPS = 1 << 40
_PER_STEP = 16  # units in the last place of a bound, at least


@dataclass(frozen=True, eq=False)
class StepLattice:
    """The steps of a grid, and the staircase in units of steps.

    Proof: docs/proofs/staircase.md, theorem 6.

    Parameters
    ----------
    grid
        The steps.
    upper
        The last step, as a double.
    per_unit
        Thresholds per unit of length, slightly fewer than steps.
    shift
        About half a step. The value x is rounded to the step floor((x - lower + shift) · per_unit).
    period, half
        The steps of one period of the staircase, and those of the plateau on each side of zero.

    Examples
    --------
    >>> lattice = StepLattice.fit(0.0, 1000.0, 1.0, 1.0, 1.0)
    >>> lattice.period, lattice.half, lattice.cells(np.array([0.4, 7.0, 2000.0])).tolist()
    (1, 0, [0, 7, 1000])
    """

    grid: Grid
    upper: float
    per_unit: float
    shift: float
    period: int
    half: int

    @classmethod
    def fit(
        cls, lower: float, upper: float, step: float, sensitivity: float, epsilon: float
    ) -> StepLattice | None:
        """Return the best noise in whole steps, or None if doubles cannot be rounded to them.

        Every step is rounded to itself. Proof: docs/proofs/staircase.md, theorem 6.
        """
        grid = Grid.fit(lower, upper, step, 1.0)
        last, spacing = grid.intervals, Fraction(int(grid.spacing.p), int(grid.spacing.q))
        top = min(float(grid.points(last)), upper)
        unit = Fraction(math.ulp(max(abs(lower), abs(upper))))
        if last > _MOST_STEPS or unit * _PER_STEP > spacing:
            return None
        distance = reach(lower, top, sensitivity, _ROUNDING)
        wider = min(_WIDER, Fraction(1, 2 * last))
        period = min(max(1, math.ceil(distance / spacing * (1 - wider))), last)
        per_unit = _double_below(min(period / distance, 1 / spacing))
        shift = float((last + 1) / Fraction(per_unit) / 2 - last * spacing / 2)
        half = StepStaircase.best(epsilon, period).half
        lattice = cls(grid, top, per_unit, shift, period, half)
        return lattice if lattice.covers(sensitivity) else None

    @property
    def lower(self) -> float:
        """The first step, which is the lower bound."""
        return self.grid.lower

    @property
    def count(self) -> int:
        """The index of the last step; indices of outputs go from 0 to this number."""
        return self.grid.intervals

    @property
    def gamma(self) -> float:
        """The fraction of a period that half the plateau covers."""
        return (2 * self.half + 1) / (2 * self.period)

    @property
    def spacing(self) -> float:
        """The length of a step."""
        return float(self.grid.spacing)

    @property
    def length(self) -> float:
        """The length of a period."""
        return self.period * self.spacing

    @property
    def plateau_cells(self) -> int:
        """The steps of the plateau."""
        return 2 * self.half + 1

    def level(self, noise: int) -> int:
        """Return how often the staircase falls before noise, which is symmetric around -1."""
        return -(-max(abs(noise + 1) - self.half, 0) // self.period)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks of a period, where no noise at all counts as the first on the left."""
        plateaus: dict[Side, int] = {"left": self.half + 1, "right": self.half}
        blocks: list[Block] = []
        for side, plateau in plateaus.items():
            blocks += blocks_of(0, plateau, side, falls=False)
            blocks += blocks_of(plateau, self.period - plateau, side, falls=True)
        return tuple(blocks)

    def covers(self, sensitivity: float) -> bool:
        """Tell whether values at that distance are at most a period apart: a check in integers.

        Decimal numbers at that distance, which may be further apart as doubles, are included.
        Proof: docs/proofs/staircase.md, theorem 6.
        """
        if not math.isfinite(self.upper - self.lower + self.shift):
            return False  # the upper bound would be rounded to no step
        most = reach(self.lower, self.upper, sensitivity, _ROUNDING)
        return Fraction(self.per_unit) * most <= self.period

    def cells(self, values: Floats) -> NDArray[np.int64]:
        """Return the steps that doubles are rounded to, in the same time for all of them."""
        return cells_of(values, self.lower, self.upper, self.shift, self.per_unit)

    def cells_at(self, offsets: Floats) -> NDArray[np.int64]:
        """Return the steps of values at the given distances from the lower bound."""
        return ((offsets + self.shift) * self.per_unit).astype(np.int64)


@lru_cache(maxsize=1024)
def lattice_for(
    lower: float, upper: float, step: float | None, sensitivity: float, epsilon: float
) -> Lattice | StepLattice:
    """Return the steps of a box if noise in whole steps has the lower variance, or else cells.

    The variance is that of an output on a step for a value on a step, far from both bounds. Noise
    in whole steps is better if the sensitivity is a whole number of them, or just below that. If it
    is much less than a step, noise in cells hardly ever leads to another step.

    Examples
    --------
    >>> type(lattice_for(0.0, 100.0, 1.0, 2.0, 1.0)).__name__
    'StepLattice'
    >>> type(lattice_for(0.0, 100.0, 1.0, 0.5, 1.0)).__name__
    'Lattice'
    """
    cells = Lattice.fit(lower, upper, sensitivity, epsilon)
    steps = None if step is None else StepLattice.fit(lower, upper, step, sensitivity, epsilon)
    if steps is None:
        return cells
    rounded = rounded_variance(Staircase(epsilon, cells.gamma), steps.spacing / cells.length)
    whole = StepStaircase(epsilon, steps.period, steps.half).variance
    return steps if whole <= rounded else cells


def _double_below(number: Fraction) -> float:
    """Return the largest double that is not above a number."""
    nearest = float(number)
    return math.nextafter(nearest, 0.0) if Fraction(nearest) > number else nearest
