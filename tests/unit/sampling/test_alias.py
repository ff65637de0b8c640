"""Alias tables in integers: every word of a small table, and ties."""

import random
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inbounds.sampling.alias import AliasTable
from inbounds.sampling.entropy import SYSTEM, SeededEntropy, Words

UNIT = 1 << 120  # eight bits decide


@dataclass
class Fixed:
    """A source that gives the same bits each time, and counts how often."""

    number: int
    asked: int = 0

    def bits(self, count: int) -> int:
        self.asked += 1
        return self.number

    def words(self, count: int) -> Words:
        raise NotImplementedError


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 255), min_size=0, max_size=12, unique=True))
def test_every_word_leads_to_its_output_and_all_counts_are_exact(cuts: list[int]) -> None:
    """All 256 first bytes: each output is drawn exactly as often as its integer says."""
    ends = [0, *sorted(cuts), 256]
    counts = np.diff(ends).tolist()
    row = tuple(count * UNIT for count in counts)
    table = AliasTable.of((row,), tuple(map(float, range(len(row)))))
    words = np.arange(256, dtype=np.uint64) << np.uint64(56)
    drawn = table.draw(np.zeros(256, np.intp), words + np.uint64(12345), SYSTEM)
    assert Counter(drawn.tolist()) == dict(enumerate(map(int, counts)))


def units_of_output(table: AliasTable, row: int, output: float) -> int:
    """How many of the 2¹²⁸ numbers lead to an output, from the arrays that `draw` reads."""
    columns, total = 1 << table.bits, 0
    for c in range(columns):
        place = row * columns + c
        start = c << (64 - table.bits)
        own = ((int(table.thresholds[place]) - start) << 64) | int(table.low[place])
        size = 1 << (128 - table.bits)
        assert 0 <= own < size
        total += own * bool(table.outputs[2 * place + 1] == output)
        total += (size - own) * bool(table.outputs[2 * place] == output)
    return total


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, (1 << 128) - 1), min_size=1, max_size=20, unique=True))
def test_all_numbers_of_128_bits_are_divided_as_the_row_says(cuts: list[int]) -> None:
    ends = [0, *sorted(cuts), 1 << 128]
    row = tuple(b - a for a, b in pairwise(ends))
    table = AliasTable.of((row, row[::-1]), tuple(map(float, range(len(row)))))
    for j, units in enumerate(row):
        assert units_of_output(table, 0, float(j)) == units
        assert units_of_output(table, 1, float(len(row) - 1 - j)) == units


def test_a_tie_is_decided_by_the_other_64_bits() -> None:
    threshold = (5 << 64) | 7
    table = AliasTable.of(((threshold, (1 << 128) - threshold),), (0.0, 1.0))
    tie, row = np.array([5], np.uint64), np.zeros(1, np.intp)
    assert table.draw(row, tie, Fixed(6)).tolist() == [0.0]
    assert table.draw(row, tie, Fixed(7)).tolist() == [1.0]
    for word, output in ((4, 0.0), (6, 1.0)):
        source = Fixed(0)
        assert table.draw(row, np.array([word], np.uint64), source).tolist() == [output]
        assert source.asked == 0


@pytest.mark.parametrize("outputs", [1, 2, 3, 64, 65])
def test_tables_of_any_width_are_drawn_from(outputs: int) -> None:
    share = (1 << 128) // outputs
    row = (share,) * (outputs - 1) + ((1 << 128) - share * (outputs - 1),)
    table = AliasTable.of((row,), tuple(map(float, range(outputs))))
    drawn = table.draw(np.zeros(4000, np.intp), SeededEntropy(1).words(4000), SYSTEM)
    assert set(drawn.tolist()) == set(map(float, range(outputs)))


def random_row(size: int, seed: int) -> tuple[int, ...]:
    """Integers that sum to 2¹²⁸: cuts anywhere, tiny ones beside a large one, or a single one."""
    rng, total = random.Random(seed), 1 << 128
    kind = rng.choice(["cuts", "tiny", "single"])
    if kind == "cuts":
        ends = [0, *sorted(rng.randrange(total) for _ in range(size - 1)), total]
        return tuple(high - low for low, high in pairwise(ends))
    row = [rng.randrange(2 ** rng.choice([1, 63, 64, 65])) * (kind == "tiny") for _ in range(size)]
    row[rng.randrange(size)] += total - sum(row)
    return tuple(row)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 33), st.lists(st.integers(0, 2**32), min_size=1, max_size=6))
def test_rows_of_all_kinds_side_by_side_have_exactly_their_integers(
    size: int, seeds: list[int]
) -> None:
    rows = tuple(random_row(size, seed) for seed in seeds)
    table = AliasTable.of(rows, tuple(map(float, range(size))))
    for i, row in enumerate(rows):
        assert [units_of_output(table, i, float(j)) for j in range(size)] == list(row)
