"""Attacks through the names of columns: an engine reads another column than the one that is meant.

A dot is a field of a struct in Spark, a pattern is many columns in Polars, SQL in a name is run,
and of two columns with one name any may be read. What is compared are the exact sums handed to the
mechanism.
"""

from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from inbounds.errors import ArgumentError
from inbounds.frames.central.statistic import count, histogram

from .test_engine_equality import sums

ROWS = 6
ALIKE = {"size": 100, "adjacency": "add-remove"}
NAMES = [
    "a.b",
    "a`b",
    "`a.b`",
    'a"b',
    "a'b",
    "my col",
    "select",
    "count(*)",
    "*",
    "^c.$",
    "c0",
    "person",
    "key0",
    "rows",
    "index",
    "#1",
    "unnest([1,2,3]) --",
    "explode(array(1, 2, 3)) --",
    "x) /*",
    "{}",
    "\\",
    " ",
    "Größe",
]


def held(engine: str, names: list[str], columns: list[list[Any]]) -> Any:
    """Hold columns under their names, whatever these are."""
    if engine == "duckdb":
        table = pa.table(dict(zip([f"v{i}" for i in range(len(names))], columns, strict=True)))
        quoted = ['"' + name.replace('"', '""') + '"' for name in names]
        listed = ", ".join(f"v{i} AS {name}" for i, name in enumerate(quoted))
        return duckdb.connect().from_arrow(table).project(listed)
    named = dict(zip(names, columns, strict=True))
    if engine == "pandas":
        return pd.DataFrame(named)
    if engine == "arrow":
        return pa.table(named)
    frame = pl.DataFrame(named)
    return frame.lazy() if engine == "polars lazy" else frame


ENGINES = ["pandas", "polars", "polars lazy", "arrow", "duckdb"]


def test_the_control_is_broken_polars_and_duckdb_read_names_as_programs() -> None:
    frame = held("polars", ["^w$", "w"], [["ann"] * ROWS, [f"r{i}" for i in range(ROWS)]])
    assert frame.select(pl.col("^w$")).columns == ["w"]
    relation = held("duckdb", ["unnest([1,2,3]) --"], [[0] * ROWS])
    assert len(relation.project("unnest([1,2,3]) --").fetchall()) == 3 * ROWS


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("place", range(len(NAMES)))
def test_any_name_is_the_name_of_its_column_alone(engine: str, place: int) -> None:
    """As the column of people, of groups and of numbers, beside others that are not meant."""
    who, town, number = (NAMES[(place + i) % len(NAMES)] for i in range(3))
    others = [name for name in ("c0", "c1", "b", "a") if name not in (who, town, number)]
    wrong = [[f"r{i}" for i in range(ROWS)]] * len(others)
    columns = [*wrong, ["ann"] * ROWS, ["Rom"] * ROWS, [1.0] * ROWS]
    frame = held(engine, [*others, who, town, number], columns)
    found = sums(frame, histogram(number, [0, 5, 10]), town, id=who, **ALIKE)
    assert np.round(found).tolist() == [1, 0, 0, 0]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ["a.b", "select", "my col", "unnest([1,2,3]) --", "count(*)", "*"])
def test_a_name_that_is_not_used_counts_nothing(engine: str, name: str) -> None:
    frame = held(engine, [name], [["ann"] * ROWS])
    assert np.round(sums(frame, count(), **ALIKE)).tolist() == [ROWS]


@pytest.mark.parametrize("engine", ["polars", "polars lazy"])
def test_a_pattern_is_no_name_of_other_columns(engine: str) -> None:
    frame = held(engine, ["^w$", "w"], [["ann"] * ROWS, [f"r{i}" for i in range(ROWS)]])
    assert np.round(sums(frame, count(), id="^w$", **ALIKE)).tolist() == [1]


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("engine", ["pandas", "arrow", "duckdb"])
def test_a_name_that_two_columns_have_is_refused(engine: str, turned: bool) -> None:
    columns = [["ann"] * ROWS, [f"r{i}" for i in range(ROWS)]]
    columns = columns[::-1] if turned else columns
    if engine == "duckdb":
        frame: Any = held(engine, ["who", "who"], columns)
    elif engine == "arrow":
        frame = pa.table([pa.array(column) for column in columns], names=["who", "who"])
    else:
        frame = pd.DataFrame(list(zip(*columns, strict=True)), columns=["who", "who"])
    with pytest.raises(ArgumentError, match="id must name columns that the frame has once"):
        sums(frame, count(), id="who", **ALIKE)
    assert np.round(sums(frame, count(), **ALIKE)).tolist() == [ROWS]
