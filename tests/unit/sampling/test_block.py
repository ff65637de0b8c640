"""Blocks of cells: their binary digits, and the random bits that choose cells and sides."""

import pytest

from inbounds.sampling.block import Block, blocks_of


@pytest.mark.parametrize("count", [0, 1, 2, 5, 100, 2**40 - 1, 2**40])
def test_blocks_cover_every_cell_once(count: int) -> None:
    blocks = blocks_of(7, count, "right", falls=True)
    ends = [7, *(block.first + (1 << block.bits) for block in blocks)]
    assert [block.first for block in blocks] == ends[:-1]
    assert ends[-1] == 7 + count
    assert all(block.falls and block.side == "right" for block in blocks)


def test_only_a_block_on_both_sides_leaves_its_side_to_a_random_bit() -> None:
    assert Block(0, 3, falls=False).mask() < 0
    for side in ("left", "right"):
        assert Block(0, 3, False, side).mask() == 7
    turns = [Block(0, 3, False, side).turn() < 0 for side in ("both", "left", "right")]
    assert turns == [False, True, False]
