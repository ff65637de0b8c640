"""Staircase noise on an interval, clamped to it.

The value is rounded to its cell or its step, noise in whole cells or steps is added, and the sum is
moved into the interval. The noise does not depend on the value, and the rest takes the same time
for all values.

Proof: docs/proofs/staircase.md, parts 1, 2 and 6.
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
from inbounds.sampling.blocks import COMPILED, in_blocks
from inbounds.sampling.entropy import Entropy
from inbounds.sampling.grid import Grid, Points
from inbounds.sampling.lattice import Lattice
from inbounds.sampling.offset import Integers, as_doubles, doubles_hold, rational_offsets
from inbounds.sampling.staircase_noise import Cells, StaircaseNoise
from inbounds.sampling.step_lattice import StepLattice


@dataclass(frozen=True, eq=False)
class StaircaseSampler:
    """Draws of clamped staircase noise on an interval.

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
        outputs: NDArray[Any] = np.empty(flat.size, np.int64 if self._integral else np.float64)
        kernel = _kernel() if flat.size >= COMPILED else None
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
    def _integral(self) -> bool:
        return self.step is not None and self.grid(0).integral

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
    def _points(self) -> Callable[[Cells], Points]:
        return self.grid(0).finder()

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
        grid = self.grid(0)
        steps = np.floor(index * (self._spacing / float(grid.spacing)) + 0.5)
        out[:] = self._points(np.minimum(steps, grid.intervals).astype(np.int64))


def _kernel() -> ModuleType:
    from inbounds.sampling import staircase_kernel  # noqa: PLC0415 - loads compiled code

    return staircase_kernel
