from fractions import Fraction
from itertools import pairwise
from typing import Any

import narwhals as nw
import pandas as pd
import polars as pl
import pytest

from inbounds.errors import ArgumentError
from inbounds.frames.central.aggregate import keep_rows, sums
from inbounds.frames.central.check import check_table
from inbounds.frames.central.moment import moments
from inbounds.frames.central.statistic import count, histogram, mean, total

COUNT = moments([count()], sizes_public=False)
SUM = moments([total("x", 0, 8)], sizes_public=False)


@pytest.mark.parametrize("nulls", ["error", "skip"])
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_numbers_that_are_not_finite_are_refused_by_column_and_not_shown(
    nulls: str, bad: float
) -> None:
    table = nw.from_native(pl.DataFrame({"x": [98765.0, bad]}))
    with pytest.raises(ArgumentError, match="column 'x' must be finite") as caught:
        check_table(table, ["x"], None, nulls)  # type: ignore[arg-type]
    assert "98765" not in str(caught.value)
    assert "1" not in str(caught.value)


def test_nulls_are_refused_by_column() -> None:
    table = nw.from_native(pl.DataFrame({"x": [1, None], "y": [1, 2]}))
    with pytest.raises(ArgumentError, match="column 'x' must have no nulls"):
        check_table(table, ["y", "x"], None, "error")
    assert check_table(table, ["y"], None, "error")[0] == 2


def test_nan_is_a_null_in_pandas() -> None:
    table = nw.from_native(pd.DataFrame({"x": [1.0, float("nan")]}))
    with pytest.raises(ArgumentError, match="nulls"):
        check_table(table, ["x"], None, "error")
    rows, rest = check_table(table, ["x"], None, "skip")
    assert (rows, sums(rest, COUNT)) == (2, [[1]])


def test_rows_with_a_null_in_any_column_asked_about_are_skipped() -> None:
    table = nw.from_native(pl.DataFrame({"x": [1, None, 3, 4], "y": [1, 2, None, 4]}))
    assert sums(check_table(table, ["x", "y"], None, "skip")[1], COUNT) == [[2]]


@pytest.mark.parametrize("nulls", ["error", "skip"])
def test_every_row_must_be_somebodys(nulls: str) -> None:
    table = nw.from_native(pl.DataFrame({"x": [1, 2], "who": ["a", None]}))
    with pytest.raises(ArgumentError, match="column 'who'"):
        check_table(table, ["x"], "who", nulls)  # type: ignore[arg-type]


def test_groups_are_those_listed_in_their_order() -> None:
    table = nw.from_native(pl.DataFrame({"x": [1, 2, 3, 4], "g": ["b", "a", "b", None]}))
    found = sums(table, SUM, by=["g"], groups=[("a",), ("nobody",), ("b",)])
    assert found == [[Fraction(2, 8)], [Fraction(0)], [Fraction(4, 8)]]


def test_groups_of_several_columns_are_pairs_that_are_listed() -> None:
    table = nw.from_native(pl.DataFrame({"g": ["a", "a", "b"], "h": [1, 2, 1]}))
    found = sums(table, COUNT, by=["g", "h"], groups=[("a", 1), ("b", 2)])
    assert found == [[1], [0]]


@pytest.mark.parametrize("bins", [63, 64, 65, 130])
@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pl.LazyFrame])
def test_many_bins_are_counted_some_at_a_time_and_none_is_lost(kind: Any, bins: int) -> None:
    table = nw.from_native(kind({"x": [0, bins - 1, bins - 1], "g": ["a", "a", "b"]}))
    asked = moments([histogram("x", range(bins + 1))], sizes_public=False)
    b, a, c = sums(table, asked, by=["g"], groups=[("b",), ("a",), ("c",)])
    assert b == [0] * (bins - 1) + [1]
    assert a == [1] + [0] * (bins - 2) + [1]
    assert c == [0] * bins


def test_columns_may_have_any_names() -> None:
    table = nw.from_native(
        pl.DataFrame({"rows": [1, 3], "key0": ["a", "a"], "place": [7, 8], "first_0_high": [1, 1]})
    )
    asked = moments([count(), mean("rows", 0, 4), mean("place", 0, 8)], sizes_public=False)
    found = sums(table, asked, by=["key0"], groups=[("a",)], person="first_0_high", rows=2)
    assert found == [[2, 0, Fraction(7, 8)]]


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("rows", [1, 2, 3, 7])
@pytest.mark.parametrize("own", [1, 2, 3, 5, 10])
def test_a_person_has_as_many_rows_as_allowed_and_spread_evenly(
    own: int, rows: int, lazy: bool
) -> None:
    frame = pl.DataFrame({"person": [1] * own + [2], "x0": [*map(float, range(own)), 50.0]})
    frame = frame.with_columns(pl.lit(0.5).alias("chance"))
    table = nw.from_native(frame.sample(fraction=1, shuffle=True, seed=4))
    kept = keep_rows(table.lazy() if lazy else table, ["x0"], rows)
    values = kept.lazy().collect().to_native()
    hers = sorted(values.filter(pl.col("person") == 1)["x0"].to_list())
    assert len(hers) == min(own, rows)
    assert len(values) == len(hers) + 1
    if rows == 1:
        assert hers == [(own - 1) // 2]
    gaps = [b - a for a, b in pairwise(hers)]
    assert not gaps or max(gaps) - min(gaps) <= 1


def test_people_are_counted_without_any_other_column() -> None:
    table = nw.from_native(pl.DataFrame({"who": list("aaabbc")}))
    assert sums(table, COUNT, person="who", rows=2) == [[5]]
    assert sums(table.lazy(), COUNT, person="who", rows=2) == [[5]]
