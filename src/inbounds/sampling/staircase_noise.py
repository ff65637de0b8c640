"""Staircase noise in whole cells, drawn exactly.

Noise is a sign, a geometric number of periods, a block of the period and a cell of the block. Each
is drawn exactly, so that the probabilities of noise up to one period apart differ by a factor of
e^epsilon or not at all. The noise does not depend on any value, and neither does the time it takes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType

import numpy as np
from flint import arb
from numpy.typing import NDArray

from inbounds.sampling.block import Block
from inbounds.sampling.entropy import Entropy
from inbounds.sampling.lattice import Lattice
from inbounds.sampling.outcome import BITS, OUTCOMES, OutcomeTable
from inbounds.sampling.step_lattice import StepLattice

Cells = NDArray[np.int64]
Random = NDArray[np.uint32]

_BASE = OUTCOMES - 1  # values of a digit; the last outcome of the highest digit means "or more"
_RARE = 16.0  # a redraw with a probability of e^-16 is rare
_UNSETTLED = -1  # stands for cells that are settled one by one
_WORD, _LOW = 64, 2**32 - 1
_POSITIVE = 2**63 - 1  # all bits of a word but the highest


@dataclass(frozen=True, eq=False)
class StaircaseNoise:
    """Whole numbers of cells, with the probabilities of a staircase around -1/2, or -1 for steps.

    Proof: docs/proofs/staircase.md, theorems 2, 3 and 6.

    Parameters
    ----------
    lattice
        The shape of the staircase in cells, and the number of cells that matter. Noise of more than
        the box has may be replaced by other such noise, as its output is a bound either way.
    epsilon
        The logarithm of a step of the staircase.
    kept
        The bits of probabilities that are not left to ball arithmetic. Tests use it.

    Examples
    --------
    >>> from inbounds.sampling.entropy import SYSTEM
    >>> noise = StaircaseNoise(Lattice.fit(0.0, 10.0, 1.0, 1.0), 1.0)
    >>> noise.draw(3, SYSTEM).dtype
    dtype('int64')
    >>> near, far = noise.probability(0), noise.probability(noise.lattice.period)
    >>> round(float((near / far).log()), 12)
    1.0
    """

    lattice: Lattice | StepLattice
    epsilon: float
    kept: int = BITS

    def draw(self, count: int, entropy: Entropy, kernel: ModuleType | None = None) -> Cells:
        """Return `count` whole numbers of cells.

        With `kernel`, which is the module `staircase_kernel`, compiled code draws what it can.
        """
        digits = self.digits
        words = entropy.words(count + (count * (1 + len(digits)) + 1) // 2)
        free, random = words[:count].view(np.int64), words[count:].view(np.uint32)
        if kernel is not None:
            cells = np.empty(count, np.int64)
            if kernel.draw_noise(free, random, *self.tables, cells):
                return cells
        cells, sides = self.blocks.draw(random[:count], free, entropy)
        for i, digit in enumerate(digits, 1):
            cells += digit.draw(random[i * count : (i + 1) * count], entropy)
        cells ^= sides  # ~cells = -1 - cells on the left
        return cells

    @cached_property
    def draw_one(self) -> Callable[[Entropy], int]:
        """A function that returns one number of cells, which is that of `draw` for the same words.

        The words are drawn together. The first one is the highest bits; of each of the others, the
        lower half is used before the upper half.
        """
        block, digits = self.blocks.draw_one, [digit.draw_one for digit in self.digits]
        rest = (len(digits) + 2) // 2  # words after the first
        bits = _WORD * (1 + rest)
        shifts = [_WORD * (rest - 1 - i // 2) + BITS * (i % 2) for i in range(len(digits) + 1)]
        parts = list(zip(shifts[1:], digits, strict=True))

        def draw(entropy: Entropy) -> int:
            words = entropy.bits(bits)
            cells, side = block(words >> shifts[0] & _LOW, words >> (bits - _WORD), entropy)
            for shift, digit in parts:
                cells += digit(words >> shift & _LOW, entropy)
            return cells ^ side

        return draw

    @cached_property
    def tables(self) -> tuple[Random, Cells, Cells, Cells]:
        """The tables of the blocks and all digits: limits, cells, and masks and turns of blocks."""
        limits = [self.blocks.table.limits, *(digit.table.limits for digit in self.digits)]
        first, masks, turns = self.blocks.by_place
        cells = [first, *(digit.by_place for digit in self.digits)]
        return np.array(limits), np.array(cells), masks, turns

    def probability(self, cells: int) -> arb:
        """Return the probability of a number of cells, in the current precision."""
        plateau, period = self.lattice.plateau_cells, self.lattice.period
        alpha, gone = (-arb(self.epsilon)).exp(), -(-arb(self.epsilon)).expm1()
        level = self.lattice.level(cells)
        return alpha**level * gone / (plateau + alpha * (2 * period - plateau))

    @cached_property
    def blocks(self) -> Blocks:
        """The blocks of a period: each has a constant density."""
        return Blocks(self.lattice.blocks, self.epsilon, self.kept)

    @cached_property
    def digits(self) -> tuple[Digit, ...]:
        """The digits of the number of periods, which is geometric; the highest is the last."""
        most = self.lattice.count // self.lattice.period + 2  # beyond the box, from any value
        digits, stride = [], 1
        while self.epsilon * stride * _BASE < _RARE and stride * _BASE < most:
            digits.append(Digit(stride, most, self.lattice.period, self.epsilon, False, self.kept))
            stride *= _BASE
        highest = Digit(stride, most, self.lattice.period, self.epsilon, True, self.kept)
        return (*digits, highest)


@dataclass(frozen=True, eq=False)
class Blocks:
    """A table of the blocks of a period; those after the plateau have the density e^-epsilon.

    Proof: docs/proofs/staircase.md, theorem 3.
    """

    blocks: tuple[Block, ...]
    epsilon: float
    kept: int

    def draw(self, random: Random, free: Cells, entropy: Entropy) -> tuple[Cells, Cells]:
        """Return the places in a period, and -1 for the left side and 0 for the right one.

        The places in a block, and the sides of blocks that are on both, are made of free random
        bits.
        """
        place = self.table.places(random)
        first_at, mask_at, turn_at = self.by_place
        cells, masks, turns = first_at.take(place), mask_at.take(place), turn_at.take(place)
        if np.minimum.reduce(cells, initial=0) < 0:
            for i in np.flatnonzero(cells < 0).tolist():
                cells[i], masks[i], turns[i] = self._outcomes[self.table.settle(entropy)]
        masks &= free
        cells += masks & _POSITIVE
        turns |= masks
        turns >>= 63
        return cells, turns

    @cached_property
    def draw_one(self) -> Callable[[int, int, Entropy], tuple[int, int]]:
        """A function that returns what `draw` does, for one random number and a word."""
        place_of, (firsts, masks, turns) = self.table.place_of, self.by_place
        first_at, mask_at, turn_at = firsts.item, masks.item, turns.item

        def draw(random: int, free: int, entropy: Entropy) -> tuple[int, int]:
            place = place_of(random)
            first, mask, turn = first_at(place), mask_at(place), turn_at(place)
            if first < 0:
                first, mask, turn = self._outcomes[self.table.settle(entropy)]
            chosen = mask & free
            return first + (chosen & _POSITIVE), -((turn | chosen) >> 63 & 1)

        return draw

    @cached_property
    def table(self) -> OutcomeTable:
        """The probabilities of the blocks."""
        return OutcomeTable(self._weights, self.kept)

    def _weights(self) -> list[arb]:
        alpha = (-arb(self.epsilon)).exp()
        sizes = ((arb(1 << block.bits), block.falls) for block in self.blocks)
        return [alpha * size if falls else size for size, falls in sizes]

    @cached_property
    def _outcomes(self) -> list[tuple[int, int, int]]:
        """The first cell of each block, its mask and its turn."""
        return [(block.first, block.mask(), block.turn()) for block in self.blocks]

    @cached_property
    def by_place(self) -> tuple[Cells, ...]:
        """The first cell, the mask and the turn at each place of the table."""
        outcomes = np.array([*self._outcomes, (_UNSETTLED, 0, 0)], np.int64)
        return tuple(np.ascontiguousarray(outcomes[self.table.outcome].T))


@dataclass(frozen=True, eq=False)
class Digit:
    """A table of one digit of a geometric number, which counts `stride` periods each.

    The digits of a geometric number are independent. The highest one is not bounded: its last
    outcome means that many or more. As the geometric distribution has no memory, it is drawn
    again, and added; but not if that many are beyond the box already, which is `most` periods.
    Proof: docs/proofs/staircase.md, theorem 3.
    """

    stride: int
    most: int
    period: int
    epsilon: float
    highest: bool
    kept: int

    def draw(self, random: Random, entropy: Entropy) -> Cells:
        """Return the cells of the digit's periods."""
        cells = self.by_place.take(self.table.places(random))
        if np.minimum.reduce(cells, initial=0) < 0:
            for i in np.flatnonzero(cells < 0).tolist():
                cells[i] = self._settled(int(random[i]), entropy)
        return cells

    @cached_property
    def draw_one(self) -> Callable[[int, Entropy], int]:
        """A function that returns what `draw` does, for one random number."""
        place_of, cells_at = self.table.place_of, self.by_place.item

        def draw(random: int, entropy: Entropy) -> int:
            cells: int = cells_at(place_of(random))
            return self._settled(random, entropy) if cells < 0 else cells

        return draw

    @cached_property
    def table(self) -> OutcomeTable:
        """The probabilities of the digit's values, and of the last one or more."""
        return OutcomeTable(self._weights, self.kept)

    def _settled(self, random: int, entropy: Entropy) -> int:
        """Return the cells of a draw that was left over, or of a digit with more to come."""
        before, digit = 0, self._outcome(random, entropy)
        while digit == _BASE and (before + _BASE) * self.stride < self.most:
            before += _BASE
            digit = self._outcome(entropy.bits(BITS), entropy)
        return self._cells(before + digit)

    def _outcome(self, random: int, entropy: Entropy) -> int:
        outcome = int(self.table.outcome[self.table.place_of(random)])
        return self.table.settle(entropy) if outcome == self.table.leftover else outcome

    def _cells(self, digit: int) -> int:
        return min(digit * self.stride, self.most) * self.period

    def _weights(self) -> list[arb]:
        fall = -arb(self.epsilon) * self.stride
        alpha, powers = fall.exp(), [arb(1)]
        for _ in range(_BASE):
            powers.append(powers[-1] * alpha)
        if self.highest:
            powers[-1] /= -fall.expm1()  # this and all higher ones
        return powers if self.highest else powers[:-1]

    @cached_property
    def by_place(self) -> Cells:
        """The cells at each place of the table."""
        cells = [self._cells(digit) for digit in range(_BASE)]
        if self.highest:
            ends = _BASE * self.stride >= self.most
            cells.append(self._cells(_BASE) if ends else _UNSETTLED)
        return np.array([*cells, _UNSETTLED], np.int64)[self.table.outcome]
