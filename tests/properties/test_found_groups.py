"""No two neighbours' groups differ in more rows than is stated, in any type of any engine.

What is compared are the numbers of rows by which groups are reported or not, for random tables and
their neighbours. INBOUNDS_NEIGHBOUR_SEED says which, and INBOUNDS_GROUP_CASES how many pairs.
"""

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import duckdb
import numpy as np
import pytest

from inbounds.frames.binding import bind_columns
from inbounds.frames.central.aggregate import Key
from inbounds.frames.central.group_count import group_counts

from .neighbours import COLUMNS, Case, Row, draw_case
from .storage import in_duckdb, stored

CASES = int(os.environ.get("INBOUNDS_GROUP_CASES", "300"))
SEED = int(os.environ.get("INBOUNDS_NEIGHBOUR_SEED", "0"))
Hold = Callable[[list[Row], dict[str, str], dict[str, int]], Any]


def counted(frame: Any, case: Case) -> dict[Key, int]:
    used = [("by", "table"), ("by", "town"), *[("id", "who")] * case.person]
    table, names = bind_columns(frame, used)
    who = names["who"] if case.person else None
    return group_counts(
        table, [names["table"], names["town"]], person=who, rows=case.rows, secret=b"a key"
    )


def apart(before: dict[Key, int], after: dict[Key, int], table: int) -> tuple[int, int]:
    """How many rows enter groups of a table, and how many leave them."""
    keys = [key for key in {**before, **after} if key[0] == table]
    changes = [after.get(key, 0) - before.get(key, 0) for key in keys]
    return sum(c for c in changes if c > 0), -sum(c for c in changes if c < 0)


def too_far(case: Case, frames: list[dict[Key, int]]) -> list[tuple[int, int]]:
    """The pairs of neighbours whose groups differ in more rows than is stated."""
    found = []
    for table in range(len(case.tables)):
        for v, w in case.pairs:
            enter, leave = apart(frames[v], frames[w], table)
            far = enter + leave if case.adjacency == "add-remove" else max(enter, leave)
            if far > case.rows:
                found.append((enter, leave))
    return found


def run(engine: str, hold: Hold, count: Callable[[Any, Case], dict[Key, int]] = counted) -> int:
    """Return how many pairs of neighbours are too far apart."""
    tried, number, wrong = 0, 0, 0
    while tried < CASES:
        rng = np.random.default_rng([SEED, *engine.encode(), number, 1])
        number += 1
        case = draw_case(rng, 4, 5)
        drawn = {name: int(rng.integers(1000)) for name in COLUMNS}
        frames = [count(hold(case.frame(v), case.kinds, drawn), case) for v in range(5)]
        assert all(type(rows) is int for frame in frames for rows in frame.values())
        wrong += len(too_far(case, frames))
        tried += len(case.tables) * len(case.pairs)
    return wrong


@pytest.mark.parametrize("engine", ["pandas", "polars", "polars lazy", "arrow"])
def test_the_groups_of_neighbours_differ_in_no_more_rows_than_is_stated(engine: str) -> None:
    assert run(engine, partial(stored, engine)) == 0


def test_the_groups_of_neighbours_in_duckdb_differ_in_no_more_rows_than_is_stated() -> None:
    with duckdb.connect() as connection:

        def hold(table: list[Row], kinds: dict[str, str], drawn: dict[str, int]) -> Any:
            folded = "NOCASE" if drawn["x"] % 3 == 0 else ""
            connection.execute(f"SET default_collation = '{folded}'")
            return in_duckdb(connection, table, kinds, drawn)

        assert run("duckdb", hold) == 0


def test_counting_all_rows_of_a_person_would_be_noticed() -> None:
    def all_rows(frame: Any, case: Case) -> dict[Key, int]:
        table, names = bind_columns(frame, [("by", "table"), ("by", "town")])
        return group_counts(table, [names["table"], names["town"]])

    assert run("polars", partial(stored, "polars"), all_rows) > 10
