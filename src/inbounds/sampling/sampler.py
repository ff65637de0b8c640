"""Exact outputs for many values: few by plain floats, many in blocks by NumPy or compiled code.

All of them make the same trials, so where one takes over from another depends on the number of
values alone. An output is the ideal real-valued one rounded to the grid. Memory beyond the output
stays at a few MiB.

Values are exact numbers: doubles, integers of any length, fractions. None is rounded before the
lower bound is subtracted, so the distance between neighbours stays what it is.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import cycle
from types import ModuleType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from inbounds._types import Floats
from inbounds.numerics.noise import Noise
from inbounds.sampling import blocks
from inbounds.sampling.blocks import in_blocks, kernel_for
from inbounds.sampling.coordinate import Coordinate, coordinate, spacing_of
from inbounds.sampling.entropy import Entropy
from inbounds.sampling.filling import FEW, Block, Filling, pieces
from inbounds.sampling.grid import Exact, Grid, even_intervals, even_points
from inbounds.sampling.offset import Integers, as_doubles, doubles_hold, rational_offsets
from inbounds.sampling.plan import Parameters, Plan
from inbounds.sampling.trial_block import BlockTrials

_FIRST = np.zeros(1, np.intp)
_PART = 1 << 18  # values whose refused trials are repeated together


class Draws(Protocol):
    """What draws outputs for checked values."""

    def draw(self, values: NDArray[Any], entropy: Entropy) -> Floats | NDArray[np.int64]:
        """Return an output for each of `values`, whose last axis runs over the coordinates."""

    def draw_one(self, number: Exact, entropy: Entropy) -> float:
        """Return an output for one number, on an interval, without arrays."""


@dataclass(frozen=True, eq=False)
class Sampler:
    """Noise of one distribution on each coordinate of a box.

    Parameters
    ----------
    noise
        The distribution of the noise.
    lower, upper, scale
        Bounds and scale of the noise, one of each per coordinate.
    steps
        Distance between outputs, one per coordinate; None for a fine grid.
    clamped
        Whether the noise is clamped (True) or truncated (False) to the box.
    equal_time
        Whether to refuse some more trials, so that the expected number is the same for all values.
    caution
        Added to every margin, in grid steps. It does not change the distribution, only how many
        trials are settled in ball arithmetic. Tests use it.
    """

    noise: Noise
    lower: Floats
    upper: Floats
    scale: Floats
    steps: tuple[float | None, ...]
    clamped: bool = False
    equal_time: bool = True
    caution: float = 0.0

    @np.errstate(over="ignore", under="ignore")  # of the widest and the tiniest boxes
    def draw(self, values: NDArray[Any], entropy: Entropy) -> Floats | NDArray[np.int64]:
        """Return an output for each of `values`, whose last axis runs over the coordinates."""
        flat = values.reshape(-1)
        kernel = self._kernel(flat, entropy)
        if flat.size <= FEW and kernel is None:
            outputs = np.array(self._draw_few(flat, entropy), self._dtype)
        else:
            outputs = np.empty(flat.size, self._dtype)
            _ = self._plan  # built once, before threads start
            read = self._reader(flat.dtype)

            def fill(part: slice) -> None:
                block, out = read(flat[part], self._where(part)), outputs[part]
                indices = np.empty(out.size) if self._integral else out
                Filling.of(self, kernel, entropy, out.size).fill(block, indices)
                self._write_numbers(indices, block.where, out)

            in_blocks(flat.size, entropy, fill, _PART)
        return outputs.reshape(values.shape)

    def _kernel(self, flat: NDArray[Any], entropy: Entropy) -> ModuleType | None:
        """Return the compiled trials if they repay."""
        if flat.size < blocks.MANY:
            return None  # without a plan
        joint = self.lower.size > 1
        variant = joint, self.noise, self.clamped, joint or bool(self._plan.narrow[0])
        return kernel_for("trial_kernel", flat, entropy, *variant, few=FEW)

    def _draw_few(self, values: NDArray[Any], entropy: Entropy) -> list[float]:
        """Return outputs that are drawn one at a time, from random words drawn at once."""
        numbers, each = values.tolist(), 3 if self.clamped else 2
        if len(numbers) == 1:
            return [self.draw_one(numbers[0], entropy)]  # from the same bits as a plain number
        words = entropy.words(each * len(numbers)).tolist() if numbers else []
        starts = range(0, len(words), each)
        return [
            draw(words[start : start + each], number, entropy)
            for draw, number, start in zip(cycle(self._draws), numbers, starts, strict=False)
        ]

    def draw_one(self, number: Exact, entropy: Entropy) -> float:
        """Return an output for one number, on an interval, without arrays."""
        return self._only.draw(number, entropy)

    def coordinate(self, j: int) -> Coordinate:
        """Return coordinate j, whose outputs are drawn one at a time."""
        return self._only if self.lower.size == 1 else self._made(coordinate, j)

    def grid(self, j: int) -> Grid:
        """Return the grid of possible outputs of coordinate j."""
        return self.coordinate(j).grid

    @cached_property
    def _only(self) -> Coordinate:
        return self._made(Coordinate, 0)

    def _made(self, make: Callable[..., Coordinate], j: int) -> Coordinate:
        return make(
            self.noise,
            *(float(side[j]) for side in (self.lower, self.upper, self.scale)),
            self.steps[j],
            clamped=self.clamped,
            equal_time=self.equal_time,
            caution=self.caution,
        )

    @cached_property
    def _stepped(self) -> dict[int, Grid]:
        return {j: self.grid(j) for j, step in enumerate(self.steps) if step is not None}

    @property
    def has_steps(self) -> bool:
        """Whether some coordinate has steps."""
        return bool(self._stepped)

    @cached_property
    def _ends(self) -> tuple[float, float, float]:
        """The bounds and the largest index of the only coordinate, as numbers."""
        return self.lower.item(), self.upper.item(), self.intervals.item()

    @cached_property
    def _integral(self) -> bool:
        return len(self._stepped) == self.lower.size and all(
            grid.integral for grid in self._stepped.values()
        )

    @cached_property
    def _dtype(self) -> type[np.generic]:
        return np.int64 if self._integral else np.float64

    @cached_property
    def _draws(self) -> list[Callable[[Sequence[int], Exact, Entropy], float]]:
        """How outputs of each coordinate are drawn from words; for boxes of few coordinates."""
        return [self.coordinate(j).draw_from for j in range(self.lower.size)]

    @cached_property
    def intervals(self) -> Floats:
        """The largest index of each coordinate."""
        intervals = even_intervals(self.upper - self.lower, self.scale)
        for j, grid in self._stepped.items():
            intervals[j] = grid.intervals
        return intervals

    @cached_property
    def _plan(self) -> Plan:
        spacing = (self.upper - self.lower) / self.intervals
        for j, grid in self._stepped.items():
            spacing[j] = spacing_of(grid)
        bounds = self.lower, self.upper
        return Plan.of(self.noise, *bounds, self.scale, spacing, equal_time=self.equal_time)

    def trials(self, block: Block) -> BlockTrials:
        """Return the trials of values whose windows are all narrow, or all wide."""
        if self.lower.size > 1:
            narrow = bool(block.plan.narrow[block.where[0]])
            given = Parameters(*(side[block.where] for side in block.plan.parameters))
            return BlockTrials.of(self.noise, narrow, given, self.caution)
        return self._alone if block.plan is self._plan else self._alone.relative

    @cached_property
    def _alone(self) -> BlockTrials:
        """The trials of the only coordinate."""
        given = Parameters(*(side.reshape(()) for side in self._plan.parameters))
        return BlockTrials.of(self.noise, bool(self._plan.narrow[0]), given, self.caution)

    def _reader(self, dtype: np.dtype[Any]) -> Callable[[NDArray[Any], NDArray[np.intp]], Block]:
        """Return a function that reads values of a type, chosen by the type and the box alone."""
        if doubles_hold(dtype, self.lower, self.upper):
            return lambda values, where: Block(values, as_doubles(values), where, self._plan)
        plan = self._plan.relative
        if dtype.kind in "iu":
            integers = Integers.of(dtype, self.lower, self.upper)
            return lambda values, where: Block(values, integers.offsets(values, where), where, plan)

        def read(values: NDArray[Any], where: NDArray[np.intp]) -> Block:
            coordinates = np.broadcast_to(where, values.shape)
            offsets = rational_offsets(values, self.lower[coordinates], self.upper[coordinates])
            return Block(values, offsets, where, plan)

        return read

    def _where(self, part: slice) -> NDArray[np.intp]:
        """Return the coordinate of each value in a part, or one for all."""
        if self.lower.size == 1:
            return _FIRST
        return np.arange(part.start, part.stop) % self.lower.size

    def _write_numbers(self, indices: Floats, where: NDArray[np.intp], out: NDArray[Any]) -> None:
        """Write the numbers at `indices` to `out`, which may be the same array."""
        if self.lower.size == 1:
            for piece in pieces(indices.size):
                if self._stepped:
                    out[piece] = self._stepped[0].points(indices[piece].astype(np.int64))
                else:
                    even_points(indices[piece], *self._ends)
            return
        stepped = {
            j: grid.points(indices[where == j].astype(np.int64))
            for j, grid in self._stepped.items()
        }
        if len(stepped) < self.lower.size:
            sides = self.lower, self.upper, self.intervals
            for piece in pieces(indices.size):
                given = (side[where[piece]] if side.size > 1 else side for side in sides)
                even_points(indices[piece], *given)
        for j, points in stepped.items():
            out[where == j] = points
