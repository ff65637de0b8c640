"""Grid indices for a block of values, by trials of all of them until none is refused.

Which program makes the trials depends on the number of values alone: plain floats for few, NumPy or
compiled code for many.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from inbounds._types import Floats
from inbounds.sampling.atoms import BEYOND, UNSURE, verdicts
from inbounds.sampling.coordinate import Coordinate
from inbounds.sampling.entropy import Entropy
from inbounds.sampling.grid import REFUSED, Exact
from inbounds.sampling.plan import Plan
from inbounds.sampling.proposal_block import scratch_for
from inbounds.sampling.trial import Proposal
from inbounds.sampling.trial_block import FEW_REFUSED, Again

if TYPE_CHECKING:
    from inbounds.sampling.sampler import Sampler

FEW = 20
"""Up to this many values, trials in plain floats are quicker than in arrays."""

_BLOCK = 1 << 14  # values whose trials stay in a core's cache
_FEW_COMPILED = 4  # refused trials that plain floats repeat sooner than compiled code would

_Left = tuple[int, Exact, Proposal | None]  # the place of a value, the value, and its proposal


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Some exact values, and `doubles`: the values themselves, or their distances from `lower`."""

    numbers: NDArray[Any]
    doubles: Floats
    where: NDArray[np.intp]  # the coordinate of each value, or one for all
    plan: Plan  # for values, or for distances

    def number(self, i: int) -> Exact:
        """Return the exact value at a place."""
        number: Exact = self.numbers[i : i + 1].tolist()[0]
        return number

    def part(self, chosen: NDArray[np.intp] | slice) -> Block:
        """Return some of the values."""
        where = self.where[chosen] if self.where.size > 1 else self.where
        return Block(self.numbers[chosen], self.doubles[chosen], where, self.plan)


@dataclass(frozen=True, slots=True, eq=False)
class Filling:
    """Draws the indices of blocks, with the random bits of `entropy`.

    Every index has exactly the ideal distribution. Proof: docs/proofs/sampler.md, theorem 1.

    Parameters
    ----------
    sampler
        The noise and the box.
    kernel
        The compiled trials, or None for those of NumPy.
    entropy
        The source of random bits.
    scratch
        From `scratch_for`, with room for a block.
    """

    sampler: Sampler
    kernel: ModuleType | None
    entropy: Entropy
    scratch: Floats

    @classmethod
    def of(
        cls, sampler: Sampler, kernel: ModuleType | None, entropy: Entropy, size: int
    ) -> Filling:
        """Prepare to draw the indices of up to `size` values."""
        return cls(sampler, kernel, entropy, scratch_for(min(size, _BLOCK)))

    def fill(self, block: Block, indices: Floats) -> None:
        """Draw a grid index for each value, of any coordinates."""
        plan = block.plan
        if plan.usable.size == 1 and plan.usable[0]:
            self._fill_alike(block, indices)
            return
        where = np.broadcast_to(block.where, indices.shape)
        for narrow in (False, True):
            chosen = np.flatnonzero((plan.usable & (plan.narrow == narrow))[where])
            if chosen.size:
                drawn = np.empty(chosen.size)
                self._fill_alike(block.part(chosen), drawn)
                indices[chosen] = drawn
        for i in np.flatnonzero(~plan.usable[where]).tolist():
            indices[i] = self._coordinate(block, i).index(block.number(i), self.entropy)

    def _fill_alike(self, block: Block, indices: Floats) -> None:
        """Draw a grid index for each value; all windows are narrow, or all wide."""
        self._try(block, indices)
        if self.sampler.has_steps:  # without, no position is rounded to more than the last point
            np.minimum(indices, self.sampler.intervals[block.where], out=indices)
        if self.sampler.clamped:
            for piece in pieces(indices.size):
                self.move_to_bounds(block.part(piece), indices[piece])

    def _try(self, block: Block, indices: Floats) -> None:
        """Make trials of all values until none is refused."""
        if indices.size <= _BLOCK:
            refused = self._attempt(block, indices)
        else:
            refused = np.concatenate(
                [
                    self._attempt(block.part(piece), indices[piece]) + piece.start
                    for piece in pieces(indices.size)
                ]
            )
        if refused.size:
            drawn = np.empty(refused.size)
            self._try(block.part(refused), drawn)
            indices[refused] = drawn

    def _attempt(self, block: Block, indices: Floats) -> NDArray[np.intp]:
        """Make one trial of each value; return the places of those that have none accepted yet.

        If few are refused, they are tried again at once, and all have an index.
        """
        size = indices.size
        words, trials = self.entropy.words(2 * size), self.sampler.trials(block)
        attempt = trials.attempt if self.kernel is None else partial(self.kernel.attempt, trials)
        again = attempt(block.doubles, words, indices, self.scratch)
        for i, proposal in zip(again.unsure.tolist(), again.proposals, strict=True):
            pair, one = (int(words[i]), int(words[size + i])), self._coordinate(block, i)
            indices[i] = one.settle(block.number(i), proposal, pair, self.entropy)
        refused = again.refused
        if refused.size > FEW_REFUSED:
            return refused
        if self.kernel is not None and refused.size > _FEW_COMPILED:
            drawn = np.empty(refused.size)
            self._try(block.part(refused), drawn)
            indices[refused] = drawn
        elif refused.size:
            self._repeat(block, indices, again)
        return refused[:0]

    def _repeat(self, block: Block, indices: Floats, again: Again) -> None:
        """Make trials of the values that were refused, one by one, until none is.

        They take the words that another block would take, so equal seeds give equal outputs.
        """
        numbers = block.numbers[again.refused].tolist()
        proposals: Sequence[Proposal | None] = again.again or [None] * len(numbers)
        left: list[_Left] = list(zip(again.refused.tolist(), numbers, proposals, strict=True))
        while left:
            words = self.entropy.words(2 * len(left)).tolist()
            pairs = zip(words[: len(left)], words[len(left) :], strict=True)
            tried, left, unsure = left, [], []
            for (i, number, known), pair in zip(tried, pairs, strict=True):
                index, proposal = self._coordinate(block, i).trial(number, pair, known)
                if index >= 0:
                    indices[i] = index
                elif index == REFUSED:
                    left.append((i, number, proposal))
                else:
                    unsure.append((i, number, proposal, pair))
            for i, number, (_, first, many, thin), pair in unsure:
                choice = int(first), int(many), thin
                indices[i] = self._coordinate(block, i).settle(number, choice, pair, self.entropy)

    def move_to_bounds(self, block: Block, indices: Floats) -> None:
        """Move indices to the bounds where noise leaves the box, by one more random word each.

        Proof: docs/proofs/sampler.md, theorem 11.
        """
        words, given = self.entropy.words(indices.size), self.sampler.trials(block).given
        judge = verdicts if self.kernel is None else self.kernel.verdicts
        found = judge(self.sampler.noise, given, block.doubles, words, self.scratch)
        moves = self.sampler.intervals[block.where] * (words >> np.uint64(63))  # to either bound
        np.subtract(moves, indices, out=moves)
        np.multiply(moves, found == BEYOND, out=moves)  # no branch, so time is constant
        np.add(indices, moves, out=indices)
        for i in np.flatnonzero(found == UNSURE).tolist():
            one, inside = self._coordinate(block, i), int(indices[i])
            indices[i] = one.at_bound(block.number(i), int(words[i]), inside, self.entropy)

    def _coordinate(self, block: Block, i: int) -> Coordinate:
        return self.sampler.coordinate(block.where.item(i if block.where.size > 1 else 0))


def pieces(size: int) -> Iterator[slice]:
    """Return slices that cover 0..size, each of one block.

    Examples
    --------
    >>> list(pieces(20_000))
    [slice(0, 16384, None), slice(16384, 20000, None)]
    """
    return (slice(start, min(start + _BLOCK, size)) for start in range(0, max(size, 1), _BLOCK))
