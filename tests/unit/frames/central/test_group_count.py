from collections import Counter
from datetime import date
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from inbounds.frames.central.group_count import group_counts

ROWS = {"town": ["Ulm", "Rom", "Ulm", None, "ulm", "Ulm"], "year": [1, 1, 2, 1, None, 1]}
MAKERS: dict[str, Any] = {
    "pandas": lambda data: pd.DataFrame(data).astype({"year": "Int64"}),
    "polars": pl.DataFrame,
    "lazy": pl.LazyFrame,
    "arrow": pa.table,
    "duckdb": lambda data: duckdb.connect().from_arrow(pa.table(data)),
}


@pytest.mark.parametrize("engine", MAKERS)
def test_groups_of_several_columns_are_pairs_without_nulls(engine: str) -> None:
    table = nw.from_native(MAKERS[engine](ROWS))
    assert group_counts(table, ["town", "year"]) == {("Ulm", 1): 2, ("Ulm", 2): 1, ("Rom", 1): 1}
    assert group_counts(table, ["year"]) == {(1,): 4, (2,): 1}


@pytest.mark.parametrize("engine", MAKERS)
def test_rows_of_a_person_are_chosen_evenly_and_rows_with_nulls_are_nobodys(engine: str) -> None:
    towns = ["a"] * 6 + [None] * 5 + ["b"] * 3 + ["c"]
    data = {"town": towns, "year": [0] * 15, "who": ["Ann"] * 14 + ["Bob"]}
    table = nw.from_native(MAKERS[engine](data))
    assert group_counts(table, ["town"], person="who", rows=3) == {("a",): 2, ("b",): 1, ("c",): 1}
    whole = {"town": towns, "year": [0] * 15, "who": [1] * 14 + [2]}
    table = nw.from_native(MAKERS[engine](whole))
    assert group_counts(table, ["town"], person="who", rows=3) == {("a",): 2, ("b",): 1, ("c",): 1}


@pytest.mark.parametrize("engine", MAKERS)
def test_a_table_without_rows_or_without_keys_has_no_groups(engine: str) -> None:
    empty = {"town": pa.array([], pa.string()), "year": pa.array([], pa.int64())}
    nulls = {"town": pa.array([None, None], pa.string()), "year": pa.array([1, 2])}
    for data in (empty, nulls):
        frame = pa.table(data)
        made = frame.to_pandas() if engine == "pandas" else MAKERS[engine](data)
        made = pl.from_arrow(frame) if engine == "polars" else made
        table = nw.from_native(made)
        assert group_counts(table, ["town"]) == {}
        assert group_counts(table, ["town"], person="year") == {}


def test_which_rows_are_used_depends_on_the_secret_and_on_the_person_alone() -> None:
    hers = pl.DataFrame({"town": [f"t{i}" for i in range(50)], "who": ["Ann"] * 50})
    more = pl.DataFrame(
        {"town": [f"t{i}" for i in range(25, 90)], "who": [f"p{i}" for i in range(65)]}
    )
    found = []
    for frame in (hers, pl.concat([more, hers.reverse()])):
        counts = Counter(group_counts(nw.from_native(frame), ["town"], person="who", secret=b"key"))
        others = Counter(group_counts(nw.from_native(more), ["town"]))
        found.append(counts if frame is hers else counts - others)
    assert found[0] == found[1]
    chosen = {
        town
        for i in range(20)
        for town in group_counts(
            nw.from_native(hers), ["town"], person="who", secret=bytes([i + 1])
        )
    }
    assert len(chosen) > 5


@pytest.mark.parametrize("kind", ["object", "category"])
def test_values_of_pandas_are_told_apart_by_type_and_not_by_their_own_equality(kind: str) -> None:
    class Sly(str):
        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 7

    series = pd.Series([Sly("a"), Sly("b"), Sly("b")], dtype=object)
    if kind == "category":
        series = pd.Series(pd.Categorical(["a", "b", "b"], categories=["b", "a", "c"]))
    assert group_counts(nw.from_native(pd.DataFrame({"c0": series})), ["c0"]) == {
        ("a",): 1,
        ("b",): 2,
    }


def test_dates_that_python_cannot_hold_are_no_groups() -> None:
    with duckdb.connect() as connection:
        frame = connection.sql(
            "SELECT unnest(['2026-01-02', '10000-01-01', '0001-01-01 (BC)', 'infinity', NULL,"
            " '2026-01-02'])::DATE AS c0"
        )
        assert group_counts(nw.from_native(frame), ["c0"]) == {(date(2026, 1, 2),): 2}
    far = pa.table({"c0": pa.array([20_000_000, 0, -(10**7)], pa.int32()).cast(pa.date32())})
    assert group_counts(nw.from_native(far), ["c0"]) == {(date(1970, 1, 1),): 1}
    assert group_counts(nw.from_native(pl.from_arrow(far)), ["c0"]) == {(date(1970, 1, 1),): 1}


def test_text_that_is_no_utf8_is_no_group() -> None:
    broken = pa.array([b"\xff", b"ok"], pa.binary()).view(pa.string())
    assert group_counts(nw.from_native(pa.table({"c0": broken})), ["c0"]) == {("ok",): 1}


def test_integers_beyond_64_bits_are_told_apart() -> None:
    values = [2**64 - 1, 2**64, -(2**100), 2**64]
    frame = pl.DataFrame({"c0": pl.Series(values, dtype=pl.Int128)})
    expected = {(2**64 - 1,): 1, (2**64,): 2, (-(2**100),): 1}
    assert group_counts(nw.from_native(frame), ["c0"]) == expected
    with duckdb.connect() as connection:
        listed = ", ".join(f"({value}::HUGEINT)" for value in values)
        relation = connection.sql(f"SELECT * FROM (VALUES {listed}) AS t(c0)")
        assert group_counts(nw.from_native(relation), ["c0"]) == expected


def test_numpy_booleans_are_booleans() -> None:
    frame = pd.DataFrame({"c0": np.array([True, False, True])})
    ((first, _), (second, _)) = sorted(
        (key[0], n) for key, n in group_counts(nw.from_native(frame), ["c0"]).items()
    )
    assert (first, second) == (False, True)
    assert type(first) is bool
