"""The neighbour machine, for quantiles: neighbours differ in as many rows as is stated.

Random tables in random types of every engine, random requests, and neighbours of each. What is
compared are the counts on grids that quantiles are drawn from, group by group and point by point:
theorems 6 and 7 of docs/proofs/quantiles.md rest on nothing else about the engine. A case is a pair
of neighbours. INBOUNDS_NEIGHBOUR_CASES says how many are tried: a twentieth of it.
"""

import dataclasses
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import duckdb
import numpy as np
import pytest

from inbounds.frames.central import grid
from inbounds.frames.central.check import check_table
from inbounds.frames.central.points import Grid
from inbounds.frames.central.quantile import median
from inbounds.frames.central.request import Request, check_request, open_table

from .neighbours import COLUMNS, Case, Row, draw_case
from .storage import in_duckdb, in_spark, renamed, stored
from .test_neighbours import CASES, SEED

# PySpark warns of pandas 3 wherever Arrow is used; no pandas object of it is used here.
pytestmark = pytest.mark.filterwarnings(
    "ignore:PySpark does not yet fully support pandas:FutureWarning"
)

GRIDS = [Grid(0.0, 2.0, 4, False), Grid(-1.0, 3.0, 2**16, False), Grid(0.0, 7.0, 7, True)]
PARTS = {
    "pandas": 0.2,
    "polars": 0.2,
    "polars lazy": 0.2,
    "arrow": 0.2,
    "duckdb": 0.18,
    "spark": 0.01,
}
Rows = Counter[tuple[int, int, int]]
Hold = Callable[[list[Row], dict[str, str], dict[str, int]], Any]


def asked(case: Case) -> Request:
    """Medians of both columns; no size is needed."""
    return check_request(
        statistics=[median("x", 0, 2), median("y", -1, 3)],
        by=None if case.groups is None else "town",
        groups=case.groups,
        adjacency=case.adjacency,
        rows=case.rows,
        person="who" if case.person else None,
        size=None,
        nulls=case.nulls,
        outside=case.outside,
    )


def counted(
    frame: Any, request: Request, names: dict[str, str] | None, tables: int, points: Grid
) -> list[Rows]:
    """How many rows are at each point of each group, for each table of a frame."""
    groups = tuple((i, *group) for i in range(tables) for group in request.groups)
    wide = dataclasses.replace(request, by=("table", *request.by), groups=groups)
    if names is not None:
        wide, frame = wide.under(names), renamed(frame, names)
    opened = open_table(frame, wide)
    ours = opened.request
    bounds: Any = {"outside": ours.outside, "statistics": ours.statistics}
    _, table = check_table(opened.table, ours.columns, ours.person, ours.nulls, **bounds)
    wanted = [(column, points) for column in ours.numbers]
    how = {"by": ours.by, "groups": ours.groups, "person": ours.person, "rows": ours.rows}
    how["secret"] = b""  # rows of a person are chosen alike in all tables
    found = [Counter[tuple[int, int, int]]() for _ in range(tables)]
    for which, by_group in enumerate(grid.counts(table, wanted, ours.numbers, **how)):
        for place, held in enumerate(by_group):
            i, group = divmod(place, len(request.groups))
            for point, rows in zip(held.points.tolist(), held.rows.tolist(), strict=True):
                found[i][which, group, point] += rows
    return found


def excess(request: Request, before: Rows, after: Rows) -> str:
    """Say in what two neighbours differ more than is stated, if in anything."""
    for which in range(2):
        fewer, more = (
            sum(rows for place, rows in (one - other).items() if place[0] == which)
            for one, other in ((before, after), (after, before))
        )
        if max(fewer, more) > request.rows:
            return "more rows change than is stated"
        if request.adjacency == "add-remove" and min(fewer, more):
            return "rows are replaced"
        if request.sizes_public and fewer != more:
            return "a public size changes"
    return ""


def run(engine: str, hold: Hold) -> int:
    tried, number, tables, versions = 0, 0, 8 if engine == "spark" else 4, 3
    changed = 0
    while tried < CASES * PARTS[engine] / 20:
        rng = np.random.default_rng([SEED, *engine.encode(), number, 15])
        number += 1
        case = draw_case(rng, tables, versions)
        request, points = asked(case), GRIDS[number % len(GRIDS)]
        drawn = {name: int(rng.integers(1000)) for name in COLUMNS}
        frames = [
            counted(hold(case.frame(v), case.kinds, drawn), request, case.names, tables, points)
            for v in range(versions)
        ]
        for i in range(tables):
            for v, w in case.pairs:
                exceeded = excess(request, frames[v][i], frames[w][i])
                assert not exceeded, f"{exceeded} in {engine}, case {number}, table {i}"
                changed += frames[v][i] != frames[w][i]
                tried += 1
    assert changed > tried / 4, "neighbours that do not differ test nothing"
    return tried


@pytest.mark.parametrize("engine", ["pandas", "polars", "polars lazy", "arrow"])
def test_neighbours_differ_in_as_many_rows_as_is_stated(engine: str) -> None:
    assert run(engine, partial(stored, engine)) >= CASES * PARTS[engine] / 20


def test_neighbours_in_duckdb_differ_in_as_many_rows_as_is_stated() -> None:
    with duckdb.connect() as connection:

        def hold(table: list[Row], kinds: dict[str, str], drawn: dict[str, int]) -> Any:
            folded = "NOCASE" if drawn["x"] % 3 == 0 else ""
            connection.execute(f"SET default_collation = '{folded}'")
            return in_duckdb(connection, table, kinds, drawn)

        assert run("duckdb", hold) >= CASES * PARTS["duckdb"] / 20


def test_neighbours_in_spark_differ_in_as_many_rows_as_is_stated(spark: Any) -> None:
    assert run("spark", partial(in_spark, spark)) >= CASES * PARTS["spark"] / 20
