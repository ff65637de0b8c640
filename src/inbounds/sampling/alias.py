"""Exact draws from rows of integers that sum to 2¹²⁸, one random word each.

Each row is cut into 2ᵇ columns of equal total, each of which holds at most two outputs. The first b
bits of a random number of 128 bits choose the column, and the others, compared with a threshold,
the output. The first 64 bits decide, unless they are equal to the threshold's.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from inbounds._types import Floats
from inbounds.sampling.entropy import Entropy, Words
from inbounds.sampling.point import PAD, padded_array

_BITS, _WORD = 128, 64


@dataclass(frozen=True, eq=False)
class AliasTable:
    """Thresholds and outputs of all columns of all rows.

    Proof that outputs have exactly the rows' probabilities: docs/proofs/optimal.md, theorem 8.

    Examples
    --------
    >>> half = 1 << 127
    >>> table = AliasTable.of(((half, half), (half // 2, 3 * (half // 2))), (0.0, 1.0))
    >>> words = np.array([0, 2**62, 2**63, 2**64 - 1], np.uint64)
    >>> from inbounds.sampling.entropy import SYSTEM
    >>> table.draw(np.zeros(4, np.intp), words, SYSTEM).tolist()
    [0.0, 0.0, 1.0, 1.0]
    >>> sorted(table.draw(np.ones(4, np.intp), words, SYSTEM).tolist())
    [0.0, 1.0, 1.0, 1.0]
    """

    bits: int  # of the number of a column
    thresholds: Words  # the column's number, then the first bits of its threshold
    low: Words  # the other 64 bits of the threshold
    outputs: Floats  # of a column: from the threshold on, and below it

    @classmethod
    def of(cls, rows: Sequence[tuple[int, ...]], outputs: tuple[float, ...]) -> Self:
        """Build the table of rows of integers that sum to 2¹²⁸, one per output."""
        bits = max(1, (len(outputs) - 1).bit_length())
        high, low, other = _columns(rows, bits)
        number = np.arange(1 << bits, dtype=np.uint64) << np.uint64(_WORD - bits)
        padded = np.concatenate([outputs, np.full((1 << bits) - len(outputs), outputs[0])])
        own = np.broadcast_to(np.arange(1 << bits), other.shape)
        pairs = np.stack([other, own], axis=-1)
        return cls(bits, (number | high).reshape(-1), low.reshape(-1), padded[pairs.reshape(-1)])

    def draw(
        self,
        rows: NDArray[np.intp],
        words: Words,
        entropy: Entropy,
        kernel: ModuleType | None = None,
    ) -> Floats:
        """Return an output of each of `rows`, given one random word for each.

        With `kernel`, which is the module `table_kernel`, compiled code looks for ties first.
        """
        if kernel is not None:
            outputs = np.empty(words.size)
            if kernel.draw_outputs(words, rows, self.bits, self.thresholds, self.outputs, outputs):
                return outputs
        places = (words >> np.uint64(_WORD - self.bits)).view(np.int64)
        places += rows << self.bits
        thresholds = self.thresholds.take(places, mode="clip")
        below = words < thresholds
        tied = words == thresholds
        if tied.any():
            for i in np.flatnonzero(tied).tolist():
                below[i] = entropy.bits(_WORD) < int(self.low[places[i]])
        places <<= 1
        places += below
        return self.outputs.take(places, mode="clip")

    @cached_property
    def draw_one(self) -> Callable[[float, int, Entropy], float]:
        """A function that returns an output of one row, given the row and a random word.

        It takes as long for all rows: their places are computed with floats.
        """
        shift, columns = _WORD - self.bits, float(1 << self.bits)
        thresholds = padded_array("Q", self.thresholds)
        outputs = padded_array("d", self.outputs)
        pad = int(PAD)

        def draw(row: float, word: int, entropy: Entropy) -> float:
            place = int(row * columns + PAD) + (word >> shift)
            threshold = thresholds[place]
            below = word < threshold
            if word == threshold:
                below = entropy.bits(_WORD) < int(self.low[place - pad])
            output: float = outputs[2 * place + below - pad]
            return output

        return draw


def _columns(rows: Sequence[tuple[int, ...]], bits: int) -> tuple[Words, Words, NDArray[np.intp]]:
    """Return the threshold of each column, as two words, and the output from it on.

    Below its threshold, a column has the output of its own number. This is Walker's method, for all
    rows at once: the last column with less than its size is filled up from the last one with more.
    Proof: docs/proofs/optimal.md, theorem 8.
    """
    high, low, other = _words(rows, bits)
    size = np.uint64(1 << (_WORD - bits))  # of a column, in its first word; the second is zero
    small, large = high < size, (high > size) | ((high == size) & (low > 0))
    wanting, giving = _Stacks.of(small), _Stacks.of(large)
    full = ~small
    while (active := np.flatnonzero(wanting.count)).size:
        own, giver = wanting.pop(active), giving.last(active)
        other[active, own] = giver
        left = low[active, giver] + low[active, own]
        carry = left < low[active, own]
        first = high[active, giver] + high[active, own] + carry - size
        low[active, giver], high[active, giver] = left, first
        is_small = first < size
        giving.count[active] -= is_small | ((first == size) & (left == 0))
        wanting.push(active[is_small], giver[is_small])
        full[active[is_small], giver[is_small]] = False
    high[full], low[full] = 0, 0  # columns with one output
    return high, low, other


def _words(rows: Sequence[tuple[int, ...]], bits: int) -> tuple[Words, Words, NDArray[np.intp]]:
    """Return the integers of rows as two words each, and the number of each column.

    One integer may be 2¹²⁸ itself, which two words do not hold. Its row becomes full columns.
    """
    shape = len(rows), 1 << bits
    high, low = np.zeros(shape, np.uint64), np.zeros(shape, np.uint64)
    other = np.tile(np.arange(1 << bits), (len(rows), 1))
    for i, row in enumerate(rows):
        if max(row) >> _BITS:
            high[i], other[i] = 1 << (_WORD - bits), row.index(max(row))
            continue
        pairs = b"".join(entry.to_bytes(16, "little") for entry in row)
        words = np.frombuffer(pairs, "<u8").reshape(-1, 2)
        low[i, : len(row)], high[i, : len(row)] = words.T
    return high, low, other


@dataclass(frozen=True, eq=False)
class _Stacks:
    """A stack of column numbers for each row; the last one is at `count` - 1."""

    numbers: NDArray[np.intp]
    count: NDArray[np.intp]

    @classmethod
    def of(cls, members: NDArray[np.bool_]) -> Self:
        """Fill the stacks with the columns that are marked, in increasing order."""
        return cls(np.argsort(~members, axis=1, kind="stable"), members.sum(axis=1))

    def last(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        return self.numbers[rows, self.count[rows] - 1]

    def pop(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        numbers = self.last(rows)
        self.count[rows] -= 1
        return numbers

    def push(self, rows: NDArray[np.intp], numbers: NDArray[np.intp]) -> None:
        self.numbers[rows, self.count[rows]] = numbers
        self.count[rows] += 1
