"""Staircase noise on an interval, clamped to it.

The value is rounded to its cell or its step, noise in whole cells or steps is added, and the sum is
moved into the interval. The noise does not depend on the value, and the rest takes the same time
for all values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inbounds._types import Floats
from inbounds.sampling import point
from inbounds.sampling.blocks import in_blocks, kernel_for
from inbounds.sampling.entropy import Entropy
from inbounds.sampling.grid import Exact, Grid, Points
from inbounds.sampling.lattice import Lattice
from inbounds.sampling.offset import Integers, as_doubles, doubles_hold, rational_offsets
from inbounds.sampling.point import floor_double
from inbounds.sampling.staircase_noise import Cells, StaircaseNoise
from inbounds.sampling.step_lattice import StepLattice

_SHORT = 1 << 51


@dataclass(frozen=True, eq=False)
class StaircaseSampler:
    """Draws of clamped staircase noise on an interval.

    Proof: docs/proofs/staircase.md, theorems 1, 2 and 6.

    Parameters
    ----------
    lattice
        The cells or steps, and the shape of the staircase in these.
    epsilon
        The logarithm of a step of the staircase.
    step
        The distance between outputs, or None for the lattice of cells.

    Examples
    --------
    >>> from inbounds.sampling.entropy import SYSTEM
    >>> sampler = StaircaseSampler(Lattice.fit(0.0, 10.0, 1.0, 1.0), 1.0, 1.0)
    >>> outputs = sampler.draw(np.array([2.0, 7.0]), SYSTEM)
    >>> outputs.dtype.kind, bool(((outputs >= 0) & (outputs <= 10)).all())
    ('i', True)
    """

    lattice: Lattice | StepLattice
    epsilon: float
    step: float | None = None

    def draw(self, values: NDArray[Any], entropy: Entropy) -> Floats | Cells:
        """Return an output for each of `values`."""
        flat = values.reshape(-1)
        kernel = kernel_for("staircase_kernel", flat, entropy, self.step is None, few=point.FEW)
        if kernel is None and 0 < values.size <= point.FEW:
            return point.one_by_one(self._draw_one, values, entropy)
        outputs: NDArray[Any] = np.empty(flat.size, np.int64 if self._integral else np.float64)
        _ = self.noise.tables  # built once, before threads start
        read = self._reader(flat.dtype, kernel)

        def fill(block: slice) -> None:
            noise = self.noise.draw(block.stop - block.start, entropy, kernel)
            index = read(flat[block])
            if kernel is not None:
                kernel.add_noise(index, noise, self.lattice.count)
            else:
                index += noise
                index += 1
                np.maximum(index, 0, out=index)
                np.minimum(index, self.lattice.count, out=index)
            self._write(index, outputs[block], kernel)

        in_blocks(flat.size, entropy, fill)
        return outputs.reshape(values.shape)

    def draw_one(self, number: Exact, entropy: Entropy) -> float:
        """Return an output for one number, without arrays.

        It is that of `draw` if the words are the same. They are drawn together, the first one as
        the highest bits.
        """
        return self._draw_one(number, entropy)

    @cached_property
    def _draw_one(self) -> Callable[[Exact, Entropy], float]:
        lattice, noise, number_of = self.lattice, self.noise.draw_one, self._number_at
        shift, per_unit = lattice.shift, lattice.per_unit
        offset = point.offset_from(lattice.lower, lattice.upper)
        is_short = lattice.count < _SHORT  # so that doubles hold all indices
        whole, kind = (floor_double, float) if is_short else (int, int)
        first, last = kind(0), kind(lattice.count)

        def draw(number: Exact, entropy: Entropy) -> float:
            cell = whole((offset(number) + shift) * per_unit)
            return number_of(min(max(cell + (noise(entropy) + 1), first), last))

        return draw

    def grid(self, j: int) -> Grid:
        """Return the grid of possible outputs, where j is 0, the only coordinate."""
        lattice = self.lattice
        if isinstance(lattice, StepLattice):
            return lattice.grid
        if self.step is None:
            return Grid(lattice.lower, lattice.upper, None, lattice.count)
        return Grid.fit(lattice.lower, lattice.upper, self.step, 1.0)

    @cached_property
    def noise(self) -> StaircaseNoise:
        """The noise that is added to the cell of a value."""
        return StaircaseNoise(self.lattice, self.epsilon)

    @cached_property
    def _grid(self) -> Grid:
        return self.grid(0)

    @cached_property
    def _integral(self) -> bool:
        return self.step is not None and self._grid.integral

    def _reader(
        self, dtype: np.dtype[Any], kernel: ModuleType | None = None
    ) -> Callable[[NDArray[Any]], Cells]:
        """Return a function that finds the cells of values of a type."""
        lattice = self.lattice
        bounds = np.array([lattice.lower]), np.array([lattice.upper])
        if doubles_hold(dtype, *bounds):
            if kernel is None:
                return lambda values: lattice.cells(as_doubles(values))
            ends = lattice.lower, lattice.upper, lattice.shift, lattice.per_unit

            def read(values: NDArray[Any]) -> Cells:
                cells = np.empty(values.size, np.int64)
                kernel.find_cells(as_doubles(values), *ends, cells)
                return cells

            return read
        if dtype.kind in "iu":
            integers, where = Integers.of(dtype, *bounds), np.zeros(1, np.intp)
            return lambda values: lattice.cells_at(integers.offsets(values, where))
        return lambda values: lattice.cells_at(
            rational_offsets(values, *(np.broadcast_to(bound, values.shape) for bound in bounds))
        )

    @cached_property
    def _spacing(self) -> float:
        """The distance between outputs, rounded up so that the last index gives the upper bound."""
        lattice, spacing = self.lattice, self.lattice.spacing
        while lattice.lower + lattice.count * spacing < lattice.upper:
            spacing = np.nextafter(spacing, np.inf)
        return float(spacing)

    @cached_property
    def _steps_per_cell(self) -> float:
        return self._spacing / float(self._grid.spacing)

    @cached_property
    def _points(self) -> Callable[[Cells], Points]:
        return self._grid.finder()

    @cached_property
    def _number_at(self) -> Callable[[float], float]:
        """What `_write` does, for one index."""
        lattice, spacing = self.lattice, self._spacing
        number = point.number_at(self._grid)
        if isinstance(lattice, StepLattice):
            return lambda index: number(int(index))
        if self.step is None:
            lower, upper = lattice.lower, lattice.upper
            return lambda index: min(index * spacing + lower, upper)
        per_cell, last = self._steps_per_cell, self._grid.intervals
        return lambda index: number(min(int(index * per_cell + 0.5), last))

    def _write(self, index: Cells, out: NDArray[Any], kernel: ModuleType | None) -> None:
        """Write the numbers at indices of the lattice, or of the nearest steps."""
        lattice = self.lattice
        if isinstance(lattice, StepLattice):
            out[:] = self._points(index)
            return
        if self.step is None:
            if kernel is not None:
                kernel.write_numbers(index, self._spacing, lattice.lower, lattice.upper, out)
                return
            np.multiply(index, self._spacing, out=out)
            out += lattice.lower
            np.minimum(out, lattice.upper, out=out)
            return
        steps = np.floor(index * self._steps_per_cell + 0.5)
        out[:] = self._points(np.minimum(steps, self._grid.intervals).astype(np.int64))
