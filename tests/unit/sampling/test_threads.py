"""Large jobs are divided into parts that cover everything once."""

import pytest

from inbounds.sampling import threads
from inbounds.sampling.entropy import SYSTEM, SeededEntropy
from inbounds.sampling.threads import in_parts


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 100])
def test_parts_cover_all_values_once(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(threads, "_PER_THREAD", 4)
    monkeypatch.setattr(threads, "cores", lambda: 3)
    filled: list[slice] = []
    in_parts(size, SYSTEM, filled.append)
    assert sorted(i for part in filled for i in range(part.start, part.stop)) == [*range(size)]
    assert len(filled) == max(1, min(3, size // 4))


def test_a_source_whose_bits_depend_on_the_order_is_used_by_one_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(threads, "_PER_THREAD", 4)
    filled: list[slice] = []
    in_parts(100, SeededEntropy(0), filled.append)
    assert filled == [slice(0, 100)]


def test_there_is_a_core() -> None:
    assert threads.cores() >= 1
