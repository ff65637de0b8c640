"""A lazy table is evaluated once, and gives what the same table in memory gives."""

from collections.abc import Callable
from itertools import product
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from inbounds.errors import ArgumentError
from inbounds.frames.central.drawing import grids
from inbounds.frames.central.level import categories, proportion
from inbounds.frames.central.measure import measure
from inbounds.frames.central.moment import moments
from inbounds.frames.central.quantile import median, quantile
from inbounds.frames.central.request import check_request, open_table
from inbounds.frames.central.statistic import Statistic, count, histogram, mean, total, variance
from inbounds.frames.central.summarize import summarize

ROWS = 1500
PLAIN: dict[str, Any] = {
    "by": None,
    "groups": None,
    "adjacency": "add-remove",
    "rows": 1,
    "person": None,
    "size": 10**6,
    "nulls": "error",
}
ASKED: dict[str, list[Statistic]] = {
    "sums": [count(), variance("age", 0, 100), mean("ratio", -0.3, 0.7), proportion("flag")],
    "bins and levels": [histogram("ratio", [-1, 0, 1]), categories("town", ["Rom", "Ulm"])],
    "one quantile": [median("ratio", -0.3, 0.7)],
    "all": [count(), total("age", 0, 9), median("age", 0, 9), quantile("ratio", [0.1], -1, 1)],
}
OPTIONS: dict[str, dict[str, Any]] = {
    "all rows": {},
    "groups": {"by": ["town", "year"], "groups": [("Rom", 1), ("Ulm", 2), ("nowhere", 1)]},
    "people": {"person": "who", "rows": 2},
    "people and groups": {"person": "who", "rows": 3, "by": "year", "groups": [2, 3]},
    "names": {"person": "name", "rows": 1},
    "inside": {"outside": "skip"},
}


def data(*, nulls: bool = False) -> pa.Table:
    """Numbers inside and outside the bounds, ties, and people with 0 to 20 rows."""
    generator = np.random.default_rng(7)
    missing = generator.random(ROWS) < 0.1 if nulls else None
    who = generator.poisson(300, ROWS)
    return pa.table(
        {
            "age": pa.array(generator.integers(-5, 120, ROWS), pa.int32()),
            "ratio": pa.array(np.round(generator.normal(0.1, 0.4, ROWS), 2), mask=missing),
            "flag": pa.array(generator.random(ROWS) < 0.3),
            "town": pa.array(generator.choice(["Ulm", "Rom", "Bern"], ROWS).tolist()),
            "year": pa.array(generator.integers(1, 4, ROWS)),
            "who": pa.array(who),
            "name": pa.array([f"person {number}" for number in who]),
        }
    )


def measured(frame: Any, statistics: list[Statistic], **options: Any) -> list[Any]:
    request = check_request(statistics=statistics, **(PLAIN | options))
    opened = open_table(frame, request)
    needed = moments(opened.request.statistics, sizes_public=False)
    found = measure(opened, needed, list(dict.fromkeys(grids(opened))), b"")
    counts = [(c.points.tolist(), c.rows.tolist()) for groups in found.counts for c in groups]
    return [found.rows, found.sums, counts]


LAZY: dict[str, Callable[[pa.Table], Any]] = {
    "polars": lambda table: pl.DataFrame(pl.from_arrow(table)).lazy(),
    "duckdb": lambda table: duckdb.connect().from_arrow(table),
}


@pytest.mark.parametrize("engine", LAZY)
@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize(("options", "nulls"), [*product(OPTIONS, ["error"]), ("people", "skip")])
def test_one_pass_gives_the_sums_and_points_of_a_table_in_memory(
    engine: str, asked: str, options: str, nulls: str
) -> None:
    table, how = data(nulls=nulls == "skip"), {"nulls": nulls, **OPTIONS[options]}
    found = measured(LAZY[engine](table), ASKED[asked], **how)
    assert found == measured(table, ASKED[asked], **how)
    assert found[0] == ROWS
    assert sum(sum(rows) for _, rows in found[2]) > 0 or found[1][0][0] > 0


ROLES: dict[str, Callable[[], Statistic]] = {
    "code": lambda: mean("code", 0, 5),
    "far": lambda: total("far", 0, 2.0**54),
    "flag": lambda: proportion("flag"),
    "ratio": lambda: median("ratio", 0, 1),
    "levels of code": lambda: categories("code", [1, 2, 3]),
    "levels of flag": lambda: categories("flag", [True]),
}


@pytest.mark.parametrize("engine", LAZY)
@pytest.mark.parametrize("seed", range(25))
def test_a_column_may_be_a_number_a_key_a_level_and_a_person(engine: str, seed: int) -> None:
    """Integers beyond 2⁵³ are different people and keys, though they are the same double."""
    generator = np.random.default_rng(seed)
    far = 2**53 + generator.integers(0, 5, 60)
    flags, codes = generator.random(60) < 0.5, generator.integers(1, 4, 60)
    ratios = generator.integers(0, 3, 60) / 2
    table = pa.table({"code": codes, "far": far, "flag": flags, "ratio": ratios})
    keys = {"code": [1, 2, 3], "far": [2**53, 2**53 + 1, 2**53 + 3], "flag": [True, False]}
    chosen = generator.choice([*ROLES], 3, replace=False)
    how: dict[str, Any] = {}
    if generator.random() < 0.7:
        how["by"] = str(generator.choice([*keys]))
        how["groups"] = keys[how["by"]]
    if generator.random() < 0.5:
        how |= {"person": str(generator.choice(["code", "far"])), "rows": 60}  # so all are used
    statistics = [count(), *(ROLES[name]() for name in chosen)]
    found = measured(LAZY[engine](table), statistics, **how)
    assert found == measured(table, statistics, **how)
    assert sum(group[0] for group in found[1]) > 0


def counted_polars(table: pa.Table) -> tuple[Any, list[int]]:
    rows: list[int] = []

    def count_rows(frame: pl.DataFrame) -> pl.DataFrame:
        rows.append(len(frame))
        return frame

    frame = pl.DataFrame(pl.from_arrow(table))
    return frame.lazy().map_batches(count_rows, schema=frame.schema), rows


def counted_duckdb(table: pa.Table) -> tuple[Any, list[int]]:
    rows: list[int] = []
    connection = duckdb.connect()

    def count_rows(ages: Any) -> Any:
        rows.append(len(ages))
        return ages

    kind: dict[str, Any] = {"type": "arrow", "side_effects": True}
    connection.create_function("count_rows", count_rows, ["INTEGER"], "INTEGER", **kind)
    return connection.from_arrow(table).project("* REPLACE (count_rows(age) AS age)"), rows


@pytest.mark.parametrize("made", [counted_polars, counted_duckdb])
@pytest.mark.parametrize("asked", ["sums", "all"])
@pytest.mark.parametrize("options", OPTIONS)
def test_every_row_of_a_lazy_frame_is_computed_once(
    made: Callable[[pa.Table], tuple[Any, list[int]]], asked: str, options: str
) -> None:
    frame, rows = made(data())
    how = {"id" if name == "person" else name: value for name, value in OPTIONS[options].items()}
    given = {"adjacency": "add-remove", "size": 10**6, "epsilon": 1.0, **how}
    summarize(frame, ASKED[asked], **given)
    assert sum(rows) == ROWS


@pytest.mark.parametrize("engine", LAZY)
@pytest.mark.parametrize(
    ("column", "cell", "told"),
    [
        ("ratio", None, "have no nulls"),
        ("ratio", np.nan, "finite, without NaN"),
        ("ratio", -np.inf, "finite, without NaN"),
        ("ratio", 1e300, None),
        ("who", None, "have no nulls, because every row must belong to a person"),
        ("name", None, "have no nulls, because every row must belong to a person"),
        ("id", np.nan, "finite, without NaN"),
    ],
)
def test_what_cannot_be_used_is_refused_after_one_pass(
    engine: str, column: str, cell: float | None, told: str | None
) -> None:
    """The engine must not fail before, for example when it turns NaN into an integer."""
    table = data().append_column("id", pa.array(np.arange(ROWS) / 2.0))
    place, cells = table.schema.get_field_index(column), table[column].to_pylist()
    cells[1234] = cell
    frame = LAZY[engine](table.set_column(place, column, pa.array(cells)))
    person = None if column == "ratio" else column
    asked = [mean("ratio", -0.3, 0.7), median("ratio", 0, 1)]
    if told is None:
        assert measured(frame, asked, person=person)[0] == ROWS
        return
    with pytest.raises(ArgumentError, match=f"column '{column}' must.* {told}"):
        measured(frame, asked, person=person)


@pytest.mark.parametrize("engine", LAZY)
def test_a_lazy_table_without_rows_has_sums_of_zero(engine: str) -> None:
    frame = LAZY[engine](data()[:0])
    for options in OPTIONS.values():
        rows, sums, counts = measured(frame, ASKED["all"], **options)
        assert (rows, {number for group in sums for number in group}) == (0, {0})
        assert all(points == [] for points, _ in counts)


def test_a_number_beyond_the_bounds_is_counted_as_a_bound_by_one_pass() -> None:
    values = [-1e300, 1e300, 0.5, -0.0]
    frames = [LAZY[engine](pa.table({"x": values})) for engine in LAZY]
    for frame in (*frames, pa.table({"x": values})):
        assert isinstance(nw.from_native(frame), nw.LazyFrame | nw.DataFrame)
        assert measured(frame, [median("x", 0, 1, step=0.5)])[2] == [([0, 1, 2], [2, 1, 1])]
