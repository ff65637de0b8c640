"""Large jobs are divided into blocks that cover everything once."""

import pytest

from inbounds.sampling import blocks
from inbounds.sampling.blocks import in_blocks
from inbounds.sampling.entropy import SYSTEM, SeededEntropy


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 100])
def test_blocks_cover_all_values_once(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(blocks, "_PER_THREAD", 4)
    monkeypatch.setattr(blocks, "_BLOCK", 3)
    monkeypatch.setattr(blocks, "_cores", lambda: 3)
    filled: list[slice] = []
    in_blocks(size, SYSTEM, filled.append)
    assert sorted(i for part in filled for i in range(part.start, part.stop)) == [*range(size)]
    assert all(part.stop - part.start <= 3 for part in filled)


def test_a_source_whose_bits_depend_on_the_order_is_used_in_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(blocks, "_PER_THREAD", 4)
    monkeypatch.setattr(blocks, "_BLOCK", 30)
    filled: list[slice] = []
    in_blocks(100, SeededEntropy(0), filled.append)
    assert [part.start for part in filled] == [0, 30, 60, 90]


def test_there_is_a_core() -> None:
    assert blocks._cores() >= 1
