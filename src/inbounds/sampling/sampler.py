"""Exact outputs for many values: blocks through the compiled kernel, few through `reference`.

Small jobs use `reference`, which has no compiled code to load. Large ones use blocks of `kernel`,
in several threads if there are enough cores. Either way an output is the ideal real-valued one
rounded to the grid. Memory beyond the output stays at a few MiB.

Values are exact numbers: doubles, integers of any length, fractions. None is rounded before the
lower bound is subtracted, so the distance between neighbours stays what it is.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from inbounds._types import Floats
from inbounds.numerics.noise import Noise
from inbounds.sampling import reference
from inbounds.sampling.blocks import in_blocks
from inbounds.sampling.entropy import Entropy
from inbounds.sampling.grid import Exact, Grid, even_intervals
from inbounds.sampling.offset import Integers, as_doubles, doubles_hold, rational_offsets
from inbounds.sampling.refine import is_beyond, refine

if TYPE_CHECKING:
    from inbounds.sampling.plan import Plan, Undecided

SMALL = 1024  # for fewer values `reference` is quicker than loading compiled code


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """Some exact values, and `doubles`: the values themselves, or their distances from `lower`."""

    numbers: NDArray[Any]
    doubles: Floats
    where: NDArray[np.intp]  # the coordinate of each value, or one for all
    plan: "Plan"  # for values, or for distances

    def number(self, i: int) -> Exact:
        number: Exact = self.numbers[i : i + 1].tolist()[0]
        return number

    def part(self, chosen: NDArray[np.intp]) -> "_Block":
        where = self.where[chosen] if self.where.size > 1 else self.where
        return _Block(self.numbers[chosen], self.doubles[chosen], where, self.plan)


class Draws(Protocol):
    """What draws outputs for checked values."""

    def draw(self, values: NDArray[Any], entropy: Entropy) -> Floats | NDArray[np.int64]:
        """Return an output for each of `values`, whose last axis runs over the coordinates."""


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

    def draw(self, values: NDArray[Any], entropy: Entropy) -> Floats | NDArray[np.int64]:
        """Return an output for each of `values`, whose last axis runs over the coordinates."""
        flat = values.reshape(-1)
        outputs: NDArray[Any] = np.empty(flat.size, np.int64 if self._integral else np.float64)
        if flat.size < SMALL:
            self._fill_small(flat, outputs, entropy)
        else:
            _ = self._plan  # built once, before threads start
            read = self._reader(flat.dtype)
            in_blocks(flat.size, entropy, lambda b: self._fill(flat, outputs, b, read, entropy))
        return outputs.reshape(values.shape)

    def grid(self, j: int) -> Grid:
        """Return the grid of possible outputs of coordinate j."""
        return _grid(
            float(self.lower[j]), float(self.upper[j]), self.steps[j], float(self.scale[j])
        )

    @cached_property
    def _stepped(self) -> dict[int, Grid]:
        return {j: self.grid(j) for j, step in enumerate(self.steps) if step is not None}

    @cached_property
    def _integral(self) -> bool:
        return len(self._stepped) == self.lower.size and all(
            grid.integral for grid in self._stepped.values()
        )

    @cached_property
    def _intervals(self) -> Floats:
        intervals = even_intervals(self.upper - self.lower, self.scale)
        for j, grid in self._stepped.items():
            intervals[j] = grid.intervals
        return intervals

    @cached_property
    def _plan(self) -> "Plan":
        from inbounds.sampling.plan import Plan  # noqa: PLC0415 - loads compiled code

        spacing = (self.upper - self.lower) / self._intervals
        for j, grid in self._stepped.items():
            spacing[j] = int(grid.spacing.p) / int(grid.spacing.q)
        return Plan.of(
            self.noise, self.lower, self.upper, self.scale, spacing, equal_time=self.equal_time
        )

    def _fill_small(self, flat: NDArray[Any], outputs: NDArray[Any], entropy: Entropy) -> None:
        size = self.lower.size
        grids = [self.grid(j) for j in range(min(size, flat.size))]
        for i, number in enumerate(flat.tolist()):
            grid = grids[i % size]
            index = reference.draw(
                grid.clamp(number),
                float(self.scale[i % size]),
                grid,
                entropy,
                self.noise,
                clamped=self.clamped,
            )
            outputs[i] = grid.points(index)

    def _fill(
        self,
        flat: NDArray[Any],
        outputs: NDArray[Any],
        block: slice,
        read: Callable[[NDArray[Any], NDArray[np.intp]], _Block],
        entropy: Entropy,
    ) -> None:
        """Fill in the outputs of one block of the values."""
        mixed = self.lower.size > 1 or not self._plan.usable[0]
        out = outputs[block]
        indices = np.empty(out.size) if self._integral else out
        where = np.zeros(1, np.intp)
        if mixed:
            where = np.arange(block.start, block.stop) % self.lower.size
        (self._fill_mixed if mixed else self._fill_alike)(
            read(flat[block], where), indices, entropy
        )
        self._write_numbers(indices, where, out)

    def _reader(self, dtype: np.dtype[Any]) -> Callable[[NDArray[Any], NDArray[np.intp]], _Block]:
        """Return a function that reads values of a type, chosen by the type and the box alone."""
        if doubles_hold(dtype, self.lower, self.upper):
            return lambda values, where: _Block(values, as_doubles(values), where, self._plan)
        plan = self._plan.relative
        if dtype.kind in "iu":
            integers = Integers.of(dtype, self.lower, self.upper)
            return lambda values, where: _Block(
                values, integers.offsets(values, where), where, plan
            )

        def read(values: NDArray[Any], where: NDArray[np.intp]) -> _Block:
            coordinates = np.broadcast_to(where, values.shape)
            offsets = rational_offsets(values, self.lower[coordinates], self.upper[coordinates])
            return _Block(values, offsets, where, plan)

        return read

    def _fill_mixed(self, block: _Block, indices: Floats, entropy: Entropy) -> None:
        """Draw a grid index for each value, of any coordinates."""
        where = np.broadcast_to(block.where, indices.shape)
        for narrow in (False, True):
            coordinates = block.plan.usable & (block.plan.narrow == narrow)
            chosen = np.flatnonzero(coordinates[where])
            if chosen.size:
                drawn = np.empty(chosen.size)
                self._fill_alike(block.part(chosen), drawn, entropy)
                indices[chosen] = drawn
        for i in np.flatnonzero(~block.plan.usable[where]).tolist():
            indices[i] = self._drawn(block, i, entropy, clamped=self.clamped)

    def _fill_alike(self, block: _Block, indices: Floats, entropy: Entropy) -> None:
        """Draw a grid index for each value by the kernel; all windows are narrow, or all wide."""
        undecided = block.plan.attempt(block.doubles, block.where, indices, entropy, self.caution)
        for trial in undecided:
            indices[trial.which] = self._refined(block, trial, entropy)
        if self._stepped:
            np.minimum(indices, self._intervals[block.where], out=indices)
        if self.clamped:
            self._move_to_bounds(block, indices, entropy)

    def _drawn(self, block: _Block, i: int, entropy: Entropy, *, clamped: bool) -> int:
        """Draw an index by `reference`."""
        j, grid, value = self._exact(block, i)
        scale = float(self.scale[j])
        return reference.draw(value, scale, grid, entropy, self.noise, clamped=clamped)

    def _refined(self, block: _Block, trial: "Undecided", entropy: Entropy) -> int:
        """Settle an undecided trial; if it is refused, draw by `reference`."""
        j, grid, value = self._exact(block, trial.which)
        index = refine(
            value=value,
            noise=self.noise,
            scale=float(self.scale[j]),
            grid=grid,
            proposal=block.plan.proposal(float(block.doubles[trial.which]), j),
            words=trial.words,
            entropy=entropy,
        )
        return self._drawn(block, trial.which, entropy, clamped=False) if index is None else index

    def _move_to_bounds(self, block: _Block, indices: Floats, entropy: Entropy) -> None:
        """Move indices to the bounds where noise leaves the box, by one more random word each."""
        from inbounds.sampling.atoms import bounds_loop  # noqa: PLC0415 - compiled code

        words, unsure = entropy.words(indices.size), np.empty(indices.size, np.intp)
        joint = self.lower.size > 1
        parameters = (*block.plan.parameters[:4], self._intervals)
        sides = (side[block.where] if joint else side for side in parameters)
        move_to_bounds = bounds_loop(self.noise, joint)
        count = move_to_bounds(words, block.doubles, *sides, indices, unsure)
        for i in unsure[:count].tolist():
            indices[i] = self._at_bound(block, i, int(words[i]), float(indices[i]), entropy)

    def _at_bound(self, block: _Block, i: int, word: int, inside: float, entropy: Entropy) -> float:
        """Return an index after settling in ball arithmetic whether noise leaves the box."""
        j, grid, value = self._exact(block, i)
        upward = bool(word >> 63)  # noise above zero
        beyond = is_beyond(
            value=value,
            bound=grid.upper if upward else grid.lower,
            scale=float(self.scale[j]),
            noise=self.noise,
            word=word ^ (2**64 - 1) if upward else word,
            entropy=entropy,
        )
        return (float(grid.intervals) if upward else 0.0) if beyond else inside

    def _exact(self, block: _Block, i: int) -> tuple[int, Grid, Exact]:
        """Return the coordinate of a value, its grid, and the exact value, clamped to the box."""
        j = int(block.where[i if block.where.size > 1 else 0])
        grid = self.grid(j)
        return j, grid, grid.clamp(block.number(i))

    def _write_numbers(self, indices: Floats, where: NDArray[np.intp], out: NDArray[Any]) -> None:
        """Write the numbers at `indices` to `out`, which may be the same array."""
        if self._stepped and self.lower.size == 1:
            out[:] = self._stepped[0].points(indices.astype(np.int64))
            return
        stepped = {
            j: grid.points(indices[where == j].astype(np.int64))
            for j, grid in self._stepped.items()
        }
        if len(stepped) < self.lower.size:
            from inbounds.sampling.kernel import write_even  # noqa: PLC0415 - loads compiled code

            sides = (self.lower, self.upper, self._intervals)
            write_even(indices, *(side[where] if side.size > 1 else side for side in sides))
        for j, points in stepped.items():
            out[where == j] = points


_grid = lru_cache(maxsize=1024)(Grid.fit)  # public parameters only; saves 10 % of a scalar release
