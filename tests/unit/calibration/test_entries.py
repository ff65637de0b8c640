"""Sums and ratios of rows of integers, against the definitions in Python's own integers."""

import copy
import pickle
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbounds.calibration.entries import Entries

TOTAL = 1 << 128
SOUND = Entries.of([(1, 7), (4, 4)])


@st.composite
def tables(draw: st.DrawFn, least: int = 0) -> list[tuple[int, ...]]:
    """Rows of one length; few of the integers are distinct, and some have 128 bits or more."""
    kinds = st.integers(least, 5) | st.integers(least, TOTAL) | st.just(TOTAL)
    integers = draw(st.lists(kinds, min_size=1, max_size=6))
    width = draw(st.integers(1, 7))
    row = st.lists(st.sampled_from(integers), min_size=width, max_size=width).map(tuple)
    return draw(st.lists(row, min_size=1, max_size=7))


@given(tables())
def test_it_is_a_sequence_equal_to_its_rows(rows: list[tuple[int, ...]]) -> None:
    entries = Entries.of(rows)
    assert list(entries) == rows
    assert entries == tuple(rows) == entries[:]
    assert tuple(rows) == entries == pickle.loads(pickle.dumps(entries))
    assert hash(entries) == hash(tuple(rows))
    assert entries != (*rows, rows[0])
    assert entries != Entries.of([*rows, rows[0]])
    assert entries.is_sound


@given(tables())
def test_sums_are_exact(rows: list[tuple[int, ...]]) -> None:
    assert Entries.of(rows).sums() == [sum(row) for row in rows]


@given(tables(), st.data())
def test_products_are_exact_whatever_the_weights(
    rows: list[tuple[int, ...]], data: st.DataObject
) -> None:
    numbers = st.integers(-3, 3) | st.integers(-(1 << 1100), 1 << 1100) | st.integers()
    width = len(rows[0])
    weights = data.draw(
        st.lists(st.lists(numbers, min_size=width, max_size=width), min_size=1, max_size=3)
    )
    expected = [
        [sum(a * w for a, w in zip(row, ws, strict=True)) for row in rows] for ws in weights
    ]
    assert Entries.of(rows).products(*weights) == expected


def test_wide_rows_of_the_largest_digits_are_exact() -> None:
    """The sums of products come as near to 2⁵³ as they can."""
    for width in (1, 2, 1023, 1024, 4096):
        entries = Entries.of([(TOTAL - 1,) * width] * 2)
        assert entries.sums() == [(TOTAL - 1) * width] * 2
        weights = [(1 << 1074) - 1] * width
        assert entries.products(weights, [-w for w in weights]) == [
            [sign * (TOTAL - 1) * weights[0] * width] * 2 for sign in (1, -1)
        ]


@given(tables(least=1), st.data())
def test_ratios_are_those_of_all_pairs_so_few_rows_apart(
    rows: list[tuple[int, ...]], data: st.DataObject
) -> None:
    within = data.draw(st.integers(1, 8))
    columns = list(zip(*rows, strict=True))
    ratios = [
        Fraction(max(a, b), min(a, b))
        for column in columns
        for i, a in enumerate(column)
        for b in column[i : i + within + 1]
    ]
    largest = max(ratios)
    entries = Entries.of(rows)
    exact = largest.numerator, largest.denominator
    assert entries.grows_at_most(*exact, within=within)
    if largest > 1:
        assert not entries.grows_at_most(exact[0] * TOTAL - 1, exact[1] * TOTAL, within=within)


@given(tables(), st.data())
def test_joined_columns_are_sums(rows: list[tuple[int, ...]], data: st.DataObject) -> None:
    column = st.integers(0, len(rows[0]) - 1)
    groups = data.draw(st.lists(st.lists(column, min_size=1, max_size=3), min_size=1, max_size=4))
    expected = [tuple(sum(row[j] for j in group) for group in groups) for row in rows]
    joined = Entries.of(rows).joined(groups)
    assert list(joined) == expected
    assert joined.is_sound
    more = joined.with_column(range(len(rows)))
    assert list(more) == [(*row, i) for i, row in enumerate(expected)]


@given(tables())
def test_replaced_numbers_stand_where_their_entries_do(rows: list[tuple[int, ...]]) -> None:
    assert Entries.of(rows).replaced(str).tolist() == [list(map(str, row)) for row in rows]


@pytest.mark.parametrize(
    "forged",
    [
        Entries((1, 4, 7), np.array([[0, 2], [1, 3]], np.int32)),
        Entries((1, 4, 7), np.array([[0, 2], [1, -1]], np.int32)),
        Entries((1, 7, 4), SOUND.places.copy()),
        Entries((1, 4, 4), SOUND.places.copy()),
        Entries((1, 4, 7.0), SOUND.places.copy()),  # type: ignore[arg-type]
        Entries((True, 4, 7), SOUND.places.copy()),
        Entries((1, 4, 7), SOUND.places.astype(np.float64)),  # type: ignore[arg-type]
        Entries((1, 4, 7), SOUND.places[0]),
        Entries((1, 4, 7), [[0, 2], [1, 1]]),  # type: ignore[arg-type]
    ],
)
def test_what_is_not_sound_is_told(forged: Any) -> None:
    assert SOUND.is_sound
    assert not forged.is_sound


class Forged(Entries):
    """An object of another class may answer anything."""


@pytest.mark.parametrize(
    "forged",
    [
        Forged(SOUND.distinct, SOUND.places),
        Entries(np.array([1, 4, 7], object), SOUND.places),  # type: ignore[arg-type]
        Entries([1, 4, 7], SOUND.places),  # type: ignore[arg-type]
        Entries(type("Lying", (tuple,), {})(SOUND.distinct), SOUND.places),
    ],
)
def test_what_could_change_or_lie_is_not_sound(forged: Any) -> None:
    assert not forged.is_sound


def test_places_in_a_file_are_copied(tmp_path: Path) -> None:
    """A mechanism that joblib wrote to a file has its arrays there."""
    np.save(tmp_path / "places.npy", SOUND.places)
    mapped = np.load(tmp_path / "places.npy", mmap_mode="r")
    entries = Entries(SOUND.distinct, mapped)
    assert type(mapped) is np.memmap
    assert entries.is_sound
    assert entries == SOUND


def test_its_places_cannot_be_changed() -> None:
    base = np.array([[0, 2], [1, 1]], np.int32)
    for entries in (
        SOUND,
        Entries(SOUND.distinct, base[:]),
        pickle.loads(pickle.dumps(SOUND)),
        copy.deepcopy(SOUND),
    ):
        base[0, 0] = 1
        assert entries == SOUND
        with pytest.raises(ValueError, match="read-only"):
            entries.places[0, 0] = 2
        with pytest.raises(ValueError, match="WRITEABLE"):
            entries.places.setflags(write=True)


def test_the_distinct_integers_ascend() -> None:
    assert all(
        a < b for a, b in pairwise(Entries.at([9, 5, 9, 1], np.zeros((1, 1), np.int64)).distinct)
    )
