"""Exact draws from rows of integers that sum to 2¹²⁸, one random word each.

Each row is cut into 2ᵇ columns of equal total, each of which holds at most two outputs. The first b
bits of a random number of 128 bits choose the column, and the others, compared with a threshold,
the output. The first 64 bits decide, unless they are equal to the threshold's.

Proof: docs/proofs/optimal.md, theorem 8.
"""

from dataclasses import dataclass
from types import ModuleType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from inbounds._types import Floats
from inbounds.sampling.entropy import Entropy, Words

_BITS, _WORD = 128, 64
_LOW = (1 << _WORD) - 1


@dataclass(frozen=True, eq=False)
class AliasTable:
    """Thresholds and outputs of all columns of all rows.

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
    def of(cls, rows: tuple[tuple[int, ...], ...], outputs: tuple[float, ...]) -> Self:
        """Build the table of rows of integers that sum to 2¹²⁸, one per output."""
        bits = max(1, (len(outputs) - 1).bit_length())
        columns = [column for row in rows for column in _columns(row, bits)]
        high, low = zip(
            *(divmod(threshold, 1 << _WORD) for threshold, _, _ in columns), strict=True
        )
        number = np.tile(
            np.arange(1 << bits, dtype=np.uint64) << np.uint64(_WORD - bits), len(rows)
        )
        padded = np.concatenate([outputs, np.full((1 << bits) - len(outputs), outputs[0])])
        pairs = [(alias, own) for _, own, alias in columns]
        return cls(
            bits,
            np.bitwise_or(number, np.array(high, np.uint64)),
            np.array(low, np.uint64),
            padded[np.array(pairs, np.intp).reshape(-1)],
        )

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


def _columns(row: tuple[int, ...], bits: int) -> list[tuple[int, int, int]]:
    """Return the threshold of each column, the output below it and the output from it on."""
    size = 1 << (_BITS - bits)
    left = [*row, *([0] * ((1 << bits) - len(row)))]
    columns = [(0, own, own) for own in range(len(left))]  # full columns have one output
    small = [own for own, total in enumerate(left) if total < size]
    large = [own for own, total in enumerate(left) if total > size]
    while small:
        own, other = small.pop(), large[-1]
        columns[own] = (left[own], own, other)
        left[other] -= size - left[own]
        if left[other] <= size:
            large.pop()
            if left[other] < size:
                small.append(other)
    return columns
