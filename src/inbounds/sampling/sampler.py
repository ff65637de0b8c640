"""Exact answers for many values: blocks through the compiled kernel, a few through the oracle.

Small jobs take `reference` (no compiled code to load); large ones take blocks of `kernel`, in
threads when there are cores for it. Either way an answer is the ideal real-valued output rounded
to the grid. Memory beyond the output stays at a few MiB.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from inbounds._types import Floats
from inbounds.numerics import truncated_laplace, truncated_normal
from inbounds.sampling import reference
from inbounds.sampling.entropy import Entropy, SystemEntropy
from inbounds.sampling.grid import Grid, even_intervals
from inbounds.sampling.refine import is_beyond, refine
from inbounds.sampling.strips import Law

if TYPE_CHECKING:
    from inbounds.sampling.plan import Plan

SMALL = 1024  # values; below it the oracle is quicker than loading compiled code
_BLOCK = 1 << 14  # values in a block: their random words stay in a core's cache
_SHARE = 1 << 18  # values that are worth a thread of their own
_OPEN = -3.0  # stands for an index that is still to be found
_TINY = 2.0**-40  # relative margin of the probabilities of the bounds
_LAWS = {"normal": truncated_normal, "laplace": truncated_laplace}


@dataclass(frozen=True, eq=False)
class Sampler:
    """Noise of one law on each coordinate of a box.

    Parameters
    ----------
    law
        ``"normal"`` or ``"laplace"``.
    lower, upper, scale
        Bounds and scale of the noise, one per coordinate.
    steps
        Distance between answers, one per coordinate, None for a fine grid.
    clamped
        Whether noise that leaves the box is moved to its bounds (True) or cannot leave (False).
    equal_time
        Whether to refuse a few more trials so that every value takes as many.
    caution
        Added to every margin, in grid steps. It changes no law, only how much is settled in ball
        arithmetic; tests use it.
    """

    law: Law
    lower: Floats
    upper: Floats
    scale: Floats
    steps: tuple[float | None, ...]
    clamped: bool = False
    equal_time: bool = True
    caution: float = 0.0

    def draw(self, values: NDArray[Any], entropy: Entropy) -> Floats | NDArray[np.int64]:
        """Answer every number of `values`, whose last axis runs over the coordinates."""
        flat = values.reshape(-1)
        answers: NDArray[Any] = np.empty(flat.size, np.int64 if self._integral else np.float64)
        if flat.size < SMALL:
            self._fill_small(flat, answers, entropy)
        else:
            _ = self._plan  # built once, before threads start
            shared = isinstance(entropy, SystemEntropy)  # others give their bits in one order
            workers = min(_cores(), flat.size // _SHARE) if shared else 1
            if workers <= 1:
                self._fill(flat, answers, slice(0, flat.size), entropy)
            else:
                cuts = np.linspace(0, flat.size, workers + 1).astype(int).tolist()
                parts = [slice(*ends) for ends in pairwise(cuts)]
                with ThreadPoolExecutor(workers) as pool:
                    list(pool.map(lambda part: self._fill(flat, answers, part, entropy), parts))
        return answers.reshape(values.shape)

    def grid(self, j: int) -> Grid:
        """Return the possible answers of coordinate j."""
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
            self.law, self.lower, self.upper, self.scale, spacing, equal_time=self.equal_time
        )

    def _fill_small(self, flat: NDArray[Any], answers: NDArray[Any], entropy: Entropy) -> None:
        size = self.lower.size
        grids = [self.grid(j) for j in range(min(size, flat.size))]
        scales = self.scale.tolist()
        for i, number in enumerate(flat.tolist()):
            grid = grids[i % size]
            value = min(max(float(number), grid.lower), grid.upper)
            index = reference.draw(
                value, scales[i % size], grid, entropy, self.law, clamped=self.clamped
            )
            answers[i] = grid.points(index)

    def _fill(
        self, flat: NDArray[Any], answers: NDArray[Any], part: slice, entropy: Entropy
    ) -> None:
        """Answer one part of the values, block by block."""
        size = self.lower.size
        mixed = size > 1 or self.clamped or not self._plan.usable[0]
        plain = flat.dtype == np.float64 and flat.flags.carray  # one kind, one compilation
        for start in range(part.start, part.stop, _BLOCK):
            stop = min(part.stop, start + _BLOCK)
            values = flat[start:stop]
            if not plain:
                values = np.require(values, np.float64, ["C", "W"])
            out = answers[start:stop]
            indices = np.empty(stop - start) if self._integral else out
            where = np.arange(start, stop) % size if mixed else np.zeros(1, np.intp)
            (self._fill_mixed if mixed else self._fill_alike)(values, where, indices, entropy)
            self._write_numbers(indices, where, out)

    def _fill_mixed(
        self, values: Floats, where: NDArray[np.intp], indices: Floats, entropy: Entropy
    ) -> None:
        """Find the grid index of an answer to each value; `where` are their coordinates."""
        indices[:] = _OPEN
        if self.clamped:
            self._fill_bounds(values, where, indices, entropy)
        for narrow in (False, True):
            kind = self._plan.usable & (self._plan.narrow == narrow)
            chosen = np.flatnonzero((indices == _OPEN) & kind[where])
            if chosen.size:
                found = np.empty(chosen.size)
                self._fill_alike(values[chosen], where[chosen], found, entropy)
                indices[chosen] = found
        for i in np.flatnonzero(indices == _OPEN).tolist():
            j = int(where[i])
            grid, scale = self.grid(j), float(self.scale[j])
            value = min(max(float(values[i]), grid.lower), grid.upper)
            indices[i] = reference.draw(value, scale, grid, entropy, self.law)

    def _fill_alike(
        self, values: Floats, where: NDArray[np.intp], indices: Floats, entropy: Entropy
    ) -> None:
        """Do so for values whose windows are all narrow or all wide, by the kernel."""
        for i, *words in self._plan.indices(values, where, indices, entropy, self.caution):
            j = int(where[i if where.size > 1 else 0])
            indices[i] = self._refined(float(values[i]), j, (words[0], words[1]), entropy)
        if self._stepped:
            np.minimum(indices, self._intervals[where], out=indices)

    def _refined(self, value: float, j: int, words: tuple[int, int], entropy: Entropy) -> int:
        """Settle an undecided trial; if it is refused, the oracle takes over."""
        grid, scale = self.grid(j), float(self.scale[j])
        proposal = self._plan.proposal(value, j)
        value = min(max(value, grid.lower), grid.upper)
        index = refine(
            value=value,
            law=self.law,
            scale=scale,
            grid=grid,
            proposal=proposal,
            words=words,
            entropy=entropy,
        )
        return reference.draw(value, scale, grid, entropy, self.law) if index is None else index

    def _fill_bounds(
        self, values: Floats, where: NDArray[np.intp], indices: Floats, entropy: Entropy
    ) -> None:
        """Decide which values are answered by a bound, from one random word each."""
        where = np.broadcast_to(where, values.shape)
        inside, scale = np.clip(values, self.lower[where], self.upper[where]), self.scale[where]
        words = entropy.words(values.size)
        for bound, word, index in (
            (self.lower[where], words, np.zeros(values.size)),
            (self.upper[where], ~words, self._intervals[where]),
        ):
            chance = _LAWS[self.law].tail(np.abs(inside - bound) / scale)
            drawn = word * 2.0**-64
            beyond = drawn + 2.0**-63 <= chance * (1 - _TINY)
            unsure = ~beyond & (drawn * (1 - _TINY) <= chance * (1 + _TINY))
            for i in np.flatnonzero(unsure).tolist():
                beyond[i] = is_beyond(
                    value=float(inside[i]),
                    bound=float(bound[i]),
                    scale=float(scale[i]),
                    law=self.law,
                    word=int(word[i]),
                    entropy=entropy,
                )
            indices[beyond] = index[beyond]

    def _write_numbers(self, indices: Floats, where: NDArray[np.intp], out: NDArray[Any]) -> None:
        """Turn indices, which `out` may itself hold, into numbers."""
        if self._stepped and self.lower.size == 1:
            out[:] = self._stepped[0].points(indices.astype(np.int64))
            return
        stepped = {
            j: grid.points(indices[where == j].astype(np.int64))
            for j, grid in self._stepped.items()
        }
        if len(stepped) < self.lower.size:
            from inbounds.sampling.kernel import place  # noqa: PLC0415 - loads compiled code

            sides = (self.lower, self.upper, self._intervals)
            place(indices, *(side[where] if side.size > 1 else side for side in sides))
        for j, points in stepped.items():
            out[where == j] = points


_grid = lru_cache(maxsize=1024)(Grid.fit)  # public parameters only; saves a scalar release a tenth


def _cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
