"""Blocks of cells that noise is equally likely to be in, each a power of two of cells."""

from dataclasses import dataclass
from typing import Literal

Side = Literal["left", "right"]


@dataclass(frozen=True, slots=True)
class Block:
    """The cells of a period of the staircase from `first` on, 2^`bits` of them.

    Parameters
    ----------
    first
        The first cell, counted from the middle of the staircase outwards.
    bits
        The random bits that choose a cell.
    falls
        Whether the cells come after the step of the staircase, so that each is less likely.
    side
        Which side of the staircase the block is on, or both.

    Examples
    --------
    >>> Block(4, 2, falls=True).mask(), Block(4, 2, falls=True, side="left").mask()
    (-9223372036854775805, 3)
    """

    first: int
    bits: int
    falls: bool
    side: Literal["both"] | Side = "both"

    def mask(self) -> int:
        """Return the random bits of a word that choose a cell, and the highest one a side."""
        return ((1 << self.bits) - 1) - (1 << 63 if self.side == "both" else 0)

    def turn(self) -> int:
        """Return the highest bit of a word if the block is on the left, or else zero."""
        return -(1 << 63) if self.side == "left" else 0


def blocks_of(first: int, count: int, side: Side, *, falls: bool) -> list[Block]:
    """Return blocks of `count` cells in all, one for each binary digit of that number.

    Examples
    --------
    >>> [(block.first, block.bits) for block in blocks_of(10, 5, "left", falls=False)]
    [(10, 2), (14, 0)]
    """
    blocks = []
    for bits in reversed(range(count.bit_length())):
        if count >> bits & 1:
            blocks.append(Block(first, bits, falls, side))
            first += 1 << bits
    return blocks
