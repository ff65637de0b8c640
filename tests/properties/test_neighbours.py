"""The neighbour machine: no two neighbours' exact sums are further apart than is stated.

Random tables in random types of every engine, random requests, and neighbours of each. What is
compared are the fractions that are handed to the mechanism, with the bounds that it is calibrated
for, in exact arithmetic: as they are, and with a random factor for each moment. A case is a pair of
neighbours. INBOUNDS_NEIGHBOUR_CASES says how many are tried (10,000 unless told), and
INBOUNDS_NEIGHBOUR_SEED which.
"""

import dataclasses
import os
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import duckdb
import numpy as np
import pytest

from inbounds.frames.central.aggregate import sums
from inbounds.frames.central.change import Neighbours, box, per_number, sensitivities
from inbounds.frames.central.check import check_table
from inbounds.frames.central.moment import Moment, moments
from inbounds.frames.central.request import Request, check_request, open_table
from inbounds.reach import Reach

from .neighbours import COLUMNS, Case, Row, draw_case
from .storage import in_duckdb, in_spark, renamed, stored

CASES = int(os.environ.get("INBOUNDS_NEIGHBOUR_CASES", "10000"))
SEED = int(os.environ.get("INBOUNDS_NEIGHBOUR_SEED", "0"))
# Each engine's part of the cases, how many tables a frame holds, and in how many versions. A query
# takes Spark seconds, however many tables: it gets many tables in two versions each.
PARTS = {
    "pandas": (0.15, 4, 5),
    "polars": (0.2, 4, 5),
    "polars lazy": (0.2, 4, 5),
    "arrow": (0.2, 4, 5),
    "duckdb": (0.22, 4, 5),
    "spark": (0.015, 8, 2),
}
SIZE = 50
Sums = list[list[Fraction]]
Hold = Callable[[list[Row], dict[str, str], dict[str, int]], Any]

# PySpark warns of pandas 3 wherever Arrow is used; no pandas object of it is used here.
pytestmark = pytest.mark.filterwarnings(
    "ignore:PySpark does not yet fully support pandas:FutureWarning"
)


def asked(case: Case) -> Request:
    """The request that is made of each table."""
    private = case.person or case.adjacency == "add-remove"
    return check_request(
        statistics=case.statistics,
        by=None if case.groups is None else "town",
        groups=case.groups,
        adjacency=case.adjacency,
        rows=case.rows,
        person="who" if case.person else None,
        size=SIZE if private else None,
        nulls=case.nulls,
        outside=case.outside,
    )


def exact(
    frame: Any, request: Request, tables: int, names: dict[str, str] | None = None
) -> list[Sums]:
    """What is handed to the mechanism, before it is divided by the largest size of a group."""
    wide = request
    if tables > 1:
        groups = tuple((i, *group) for i in range(tables) for group in request.groups)
        wide = dataclasses.replace(request, by=("table", *request.by), groups=groups)
    if names is not None:
        wide, frame = wide.under(names), renamed(frame, names)
    opened = open_table(frame, wide)
    ours = opened.request
    bounds: Any = {"outside": ours.outside, "statistics": ours.statistics}
    _, table = check_table(opened.table, ours.columns, ours.person, ours.nulls, **bounds)
    asked_for = moments(ours.statistics, sizes_public=request.sizes_public)
    found = sums(
        table,
        asked_for,
        by=ours.by,
        groups=ours.groups,
        person=ours.person,
        rows=ours.rows,
        secret=b"",
    )
    each = len(request.groups)
    return [found[i * each : (i + 1) * each] for i in range(tables)]


def asked_moments(request: Request) -> list[Moment]:
    return moments(request.statistics, sizes_public=request.sizes_public)


def limits(request: Request, factors: list[float]) -> tuple[Reach, Reach]:
    """What the mechanism would be calibrated for."""
    found = asked_moments(request)
    neighbours = Neighbours(
        groups=len(request.groups),
        adjacency=request.adjacency,
        sizes_public=request.sizes_public,
        rows=request.rows,
        size=SIZE,
    )
    bounds = sensitivities(found, neighbours, factors)
    dimension = box(found, len(request.groups)).dimension
    return bounds[0].limits(dimension), bounds[1].limits(dimension)


def excess(before: Sums, after: Sums, bounds: tuple[Reach, Reach], factors: list[Fraction]) -> str:
    """Say which stated bound two neighbours exceed, if any; all of it in fractions."""
    change = [
        abs(a - b) * factor / SIZE
        for theirs, ours in zip(before, after, strict=True)
        for a, b, factor in zip(theirs, ours, factors, strict=True)
    ]
    if not any(change):
        return ""
    for reach in bounds:
        if any(c > Fraction(cap) for c, cap in zip(change, reach.caps.tolist(), strict=True)):
            return "the bound of one coordinate"
        if reach.order is None:
            continue
        order = int(reach.order)
        if sum(c**order for c in change) > Fraction(reach.radius) ** order:
            return f"the bound in the l{order} norm"
    return ""


def check(
    case: Case, request: Request, frames: list[list[Sums]], told: str, factors: list[float]
) -> int:
    """Compare all neighbours of a case, and return how many pairs there were."""
    bounds = limits(request, factors)
    each = [Fraction(f) for f in per_number(asked_moments(request), factors).tolist()]
    for i, versions in enumerate(case.tables):
        for v, w in case.pairs:
            exceeded = excess(frames[v][i], frames[w][i], bounds, each)
            assert not exceeded, (
                f"{exceeded} is exceeded by {told} with the factors {factors}\n{request}\n"
                f"{versions[v]} gives {frames[v][i]}\n{versions[w]} gives {frames[w][i]}"
            )
    return len(case.tables) * len(case.pairs)


def run(engine: str, hold: Hold) -> int:
    """Try an engine's part of the cases; return how many pairs of neighbours were compared."""
    part, most, versions = PARTS[engine]
    tried, number = 0, 0
    while tried < CASES * part:
        rng = np.random.default_rng([SEED, *engine.encode(), number])
        number += 1
        tables = 1 if rng.random() < 0.2 and engine != "spark" else most
        case = draw_case(rng, tables, versions)
        request = asked(case)
        if not (needed := asked_moments(request)):
            continue  # only a public number of rows is asked for
        drawn = {name: int(rng.integers(1000)) for name in COLUMNS}
        frames = [
            exact(hold(case.frame(version), case.kinds, drawn), request, tables, case.names)
            for version in range(versions)
        ]
        told = f"{engine} {case.kinds} {drawn} {case.names} number {number}"
        check(case, request, frames, told, [1.0] * len(needed))
        factors = rng.choice([1.0, 0.7, 0.1, 1e-4], len(needed)).tolist()
        tried += check(case, request, frames, told, factors)
    print(f"{engine}: {tried} pairs of neighbours in {number} requests")  # noqa: T201
    return tried


@pytest.mark.parametrize("engine", ["pandas", "polars", "polars lazy", "arrow"])
def test_no_neighbours_are_further_apart_than_is_stated(engine: str) -> None:
    assert run(engine, partial(stored, engine)) >= CASES * PARTS[engine][0]


def test_no_neighbours_in_duckdb_are_further_apart_than_is_stated() -> None:
    with duckdb.connect() as connection:

        def hold(table: list[Row], kinds: dict[str, str], drawn: dict[str, int]) -> Any:
            folded = "NOCASE" if drawn["x"] % 3 == 0 else ""
            connection.execute(f"SET default_collation = '{folded}'")
            return in_duckdb(connection, table, kinds, drawn)

        assert run("duckdb", hold) >= CASES * PARTS["duckdb"][0]


def test_no_neighbours_in_spark_are_further_apart_than_is_stated(spark: Any) -> None:
    assert run("spark", partial(in_spark, spark)) >= CASES * PARTS["spark"][0]
