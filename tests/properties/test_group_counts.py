"""Whatever a column can be grouped by, its groups have as many rows as plain Python counts.

A key that silently matches nothing would give zeros. Every type in which an engine holds strings,
whole numbers, booleans or dates is tried, as categories and dictionaries too; the noise is next to
none.
"""

from collections import Counter
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from inbounds.frames.binding import bind_columns
from inbounds.frames.central.group_count import group_counts
from inbounds.frames.central.level import categories
from inbounds.frames.central.statistic import count
from inbounds.frames.central.summarize import summarize

from .neighbours import TOWNS, some
from .storage import PLAIN, SQL_TYPES, makers_of, seen

IN_MEMORY = [
    (family, kind, place)
    for family in ("pandas", "polars", "arrow")
    for kind in TOWNS
    for place in range(len(makers_of(family, kind, is_key=True)))
]


def drawn(kind: str, seed: int) -> tuple[list[Any], list[Any]]:
    """Draw the values of rows, and groups that are listed: some of them, and in any order."""
    rng = np.random.default_rng(seed)
    pool = TOWNS[kind]
    values = [pool[i] for i in rng.integers(0, len(pool), 60)]
    return values, some(rng, pool, len(pool))


def counts(frame: Any, groups: list[Any]) -> list[float]:
    result = summarize(frame, count(), "town", groups, rho=1e12)
    rows = nw.from_native(result).lazy().collect().rows(named=True)
    assert [row["town"] for row in rows] == groups
    levels = summarize(frame, categories("town", groups, complete=False), rho=1e12)
    counted = nw.from_native(levels).lazy().collect().rows(named=True)
    assert [row["level"] for row in counted] == groups
    assert [row["value"] for row in counted] == [round(row["value"]) for row in rows]
    return [round(row["value"]) for row in rows]


@pytest.mark.parametrize(("family", "kind", "place"), IN_MEMORY)
def test_groups_are_as_large_as_python_counts(family: str, kind: str, place: int) -> None:
    values, groups = drawn(kind, place)
    column = makers_of(family, kind, is_key=True)[place](values)
    make: Any = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}[family]
    assert counts(make({"town": column}), groups) == [values.count(group) for group in groups]


@pytest.mark.parametrize(
    ("kind", "declared"), [(kind, one) for kind in TOWNS for one in SQL_TYPES["duckdb"][kind]]
)
def test_groups_in_duckdb_are_as_large_as_python_counts(kind: str, declared: str) -> None:
    values, groups = drawn(kind, len(declared))
    if declared == "ENUM":
        declared = "ENUM (" + ", ".join(f"'{value}'" for value in seen(values)) + ")"
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE visits (town {declared})")
        connection.register("given", pa.table({"town": pa.array(values, PLAIN[kind])}))
        connection.execute("INSERT INTO visits SELECT * FROM given")
        found = counts(connection.sql("SELECT * FROM visits"), groups)
    assert found == [values.count(group) for group in groups]


def check_found(frame: Any, values: list[Any]) -> None:
    """Assert that the groups found in a frame are the values, each as often as Python counts."""
    expected = Counter((value,) for value in values if value is not None)
    table, _ = bind_columns(frame, [("by", "town")])
    found = group_counts(table, ["c0"])
    assert found == expected
    assert all(
        type(a) is type(b) for (a,), (b,) in zip(sorted(found), sorted(expected), strict=True)
    )
    pairs = group_counts(table, ["c0", "c0"])
    assert pairs == {(key, key): rows for (key,), rows in expected.items()}


@pytest.mark.parametrize(("family", "kind", "place"), IN_MEMORY)
@pytest.mark.parametrize("nulls", [False, True])
def test_the_groups_that_are_found_are_those_of_python(
    family: str, kind: str, place: int, nulls: bool
) -> None:
    values, _ = drawn(kind, place)
    values = [None if nulls and i % 7 == 3 else value for i, value in enumerate(values)]
    column = makers_of(family, kind, is_key=True)[place](values)
    if nulls and isinstance(column, np.ndarray):  # NumPy has nulls among doubles alone
        return
    make: Any = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}[family]
    check_found(make({"town": column}), values)
    if family == "polars":
        check_found(pl.LazyFrame({"town": column}), values)


@pytest.mark.parametrize(
    ("kind", "declared"), [(kind, one) for kind in TOWNS for one in SQL_TYPES["duckdb"][kind]]
)
def test_the_groups_that_are_found_in_duckdb_are_those_of_python(kind: str, declared: str) -> None:
    values, _ = drawn(kind, len(declared))
    values = [*values, None, None]
    if declared == "ENUM":
        declared = "ENUM (" + ", ".join(f"'{value}'" for value in seen(values)) + ")"
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE visits (town {declared})")
        connection.register("given", pa.table({"town": pa.array(values, PLAIN[kind])}))
        connection.execute("INSERT INTO visits SELECT * FROM given")
        check_found(connection.sql("SELECT * FROM visits"), values)
