"""Random tables and their neighbours.

A table is a list of rows of plain Python values. A case asks one question of several tables, each
in several versions that are neighbours. Frame v holds version v of every table: whatever one table
does to another in the same frame, such as the order of categories, shows as a change too large.
"""

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from itertools import combinations
from typing import Any

import numpy as np

from inbounds.frames.central.level import categories, proportion
from inbounds.frames.central.statistic import Statistic, count, histogram, mean, total, variance

Row = tuple[Any, ...]
COLUMNS = ("table", "town", "who", "x", "y")

# Spellings that some engine, collation or library takes for one another.
TOWNS: dict[str, list[Any]] = {
    "text": ["Rom", "rom", "ROM", "Rom ", "Róm", "Ro\u0301m", "Rom\0", "Ulm", "ulm", "ß", "ss", ""],
    "integer": [0, 1, 2, 3, 100],
    "boolean": [False, True],
    "date": [date(2026, 1, 1), date(1, 1, 1), date(1969, 12, 31), date(2026, 1, 2)],
}
PEOPLE: dict[str, list[Any]] = {
    "text": ["Ann", "ann", "ANN", "Ann ", "A\u0308nn", "Änn", "Ann\0", "Bob", "bob"],
    "integer": [0, 1, 2, 3, 4, 5, 6],
    "float": [0.0, 1.0, -1.0, 0.5, 2.0, 3.0],
    "decimal": [Decimal("0.00"), Decimal("1.00"), Decimal("1.10"), Decimal("-1.10")],
    "date": TOWNS["date"],
    "bytes": [b"a", b"A", b"a\0", b"", b"\xff"],
}
NUMBERS: dict[str, list[Any]] = {
    "float": [0.0, -0.0, 0.5, 1.0, 2.5, -3.0, 7.0, 1e300, -1e300, 5e-324],
    "integer": [0, 1, 2, 3, 7, 100],
    "decimal": [Decimal("0.00"), Decimal("0.50"), Decimal("2.25"), Decimal("-7.00")],
}

# What columns may be called. Beside the first are a struct ``a`` with fields of the plain names in
# engines that have structs, beside the others columns of the plain names: none of them is meant.
NAMES: list[dict[str, str]] = [
    {"table": "table", "town": "town", "who": "a.who", "x": "a.x", "y": "a.y"},
    {name: f"^{name}$" for name in COLUMNS},
    {"table": "count(*)", "town": "select", "who": "my col", "x": 'a"b', "y": "a`b"},
    {"table": "#2", "town": "c1", "who": "c0", "x": "x0) --", "y": "unnest([1,2,3]) --"},
    {
        "table": "`a.who`",
        "town": "key0",
        "who": "person ",
        "x": "explode(array(1, 2)) --",
        "y": " ",
    },
]


@dataclass
class Case:
    """Versions of tables that are neighbours in pairs, and what is asked of them."""

    tables: list[list[list[Row]]]  # tables[i][v]: version v of table i
    pairs: list[tuple[int, int]]  # of versions
    kinds: dict[str, str]  # of columns
    statistics: list[Statistic]
    groups: list[Any] | None
    adjacency: str
    rows: int
    person: bool
    nulls: str
    names: dict[str, str] | None  # of columns, where they are not the plain ones
    outside: str = "clip"

    def frame(self, version: int) -> list[Row]:
        """Return a version of all tables one after another, each with people of its own.

        The largest doubles are infinite where such rows are left out.
        """
        largest = {1e300: np.inf, -1e300: -np.inf} if self.outside == "skip" else {}
        return [
            (number, town, _of_table(who, number), largest.get(x, x), largest.get(y, y))
            for number, table in enumerate(self.tables)
            for town, who, x, y in table[version]
        ]


def draw_case(rng: np.random.Generator, tables: int, versions: int) -> Case:
    """Draw types, a request, and tables in versions that the request calls neighbours."""
    kinds = {"table": "integer", "town": "text", "who": "text"}  # most goes wrong with strings
    if rng.random() < 0.25:
        kinds["town"] = pick(rng, sorted(TOWNS))
    if rng.random() < 0.5:
        kinds["who"] = pick(rng, sorted(PEOPLE))
    kinds |= {name: pick(rng, sorted(NUMBERS)) for name in ("x", "y")}
    adjacency, rows = pick(rng, ["replace", "add-remove"]), pick(rng, [1, 1, 2, 3])
    person, nulls = bool(rng.random() < 0.7), pick(rng, ["error", "skip"])
    towns = some(rng, TOWNS[kinds["town"]], 5)
    pools = {
        "town": [*towns, *[None] * (kinds["town"] == "text" and rng.random() < 0.3)],
        "who": PEOPLE[kinds["who"]],
        **{name: [*NUMBERS[kinds[name]], *[None] * (nulls == "skip")] for name in "xy"},
    }
    how = {"adjacency": adjacency, "rows": rows, "person": person}
    drawn = [draw_versions(rng, pools, versions, **how) for _ in range(tables)]
    pairs = list(combinations(range(versions), 2))
    if adjacency == "add-remove":
        pairs = [(0, version) for version in range(1, versions)]
    groups = pick(rng, [None, towns, towns, some(rng, towns, 5)])
    levels = some(rng, TOWNS[kinds["town"]], 5) if rng.random() < 0.4 else []
    asked, names = questions(rng), pick(rng, [None, None, NAMES[0], *NAMES])
    if levels and (nulls == "skip" or None not in pools["town"]):
        asked = [*asked, categories("town", levels)]
    outside = "skip" if rng.random() < 0.25 else "clip"
    return Case(drawn, pairs, kinds, asked, groups, adjacency, rows, person, nulls, names, outside)


def draw_versions(
    rng: np.random.Generator,
    pools: dict[str, list[Any]],
    versions: int,
    *,
    adjacency: str,
    rows: int,
    person: bool,
) -> list[list[Row]]:
    """Draw a table, and what `rows` of its rows, or all rows of a person, may be instead."""
    few = {name: some(rng, values, 4) for name, values in pools.items()}

    def row(who: Any) -> Row:
        who = pick(rng, [0.0, -0.0]) if isinstance(who, float) and who == 0 else who  # one person
        return pick(rng, few["town"]), who, pick(rng, few["x"]), pick(rng, few["y"])

    base = [row(pick(rng, few["who"])) for _ in range(rng.integers(2, 12))]
    if rng.random() < 0.6:  # a crowd with the same rows: what moves one of them, moves all
        towns, (_, _, x, y) = some(rng, pools["town"], 4), row(None)
        base = [(town, who, x, y) for who in pools["who"] for town in towns]
    others = range(versions - 1)
    if person:
        her = pick(rng, few["who"])
        base = [one for one in base if one[1] != her]
        changes = [[row(her) for _ in range(rng.integers(0, 6))] for _ in others]
        return [base, *(mixed(rng, base, hers) for hers in changes)]
    if adjacency == "add-remove":
        changes = [[row(pick(rng, few["who"])) for _ in range(rows)] for _ in others]
        return [base, *(mixed(rng, base, more) for more in changes)]
    kept = base[min(rows, len(base)) :]
    changes = [[row(pick(rng, few["who"])) for _ in range(len(base) - len(kept))] for _ in others]
    return [base, *(mixed(rng, kept, more) for more in changes)]


def _of_table(who: Any, table: int) -> Any:
    """Make people of different tables different people, who differ as before from each other."""
    if isinstance(who, str):
        return f"{table}{who}"
    if isinstance(who, bytes):
        return bytes([table]) + who
    if isinstance(who, date):
        return who + timedelta(days=10 * table)
    return who + 8 * table if table else who


def questions(rng: np.random.Generator) -> list[Statistic]:
    """Draw what to ask. Often only a count: then all that decides which rows are used are keys."""
    if rng.random() < 0.3:
        return [count()]
    asked = [
        count(),
        mean("x", 0, 2),
        variance("x", -1, 3),
        variance("y", -1, 3),
        total("x", 0.5, 2),
        total("y", -3, 1),
        histogram("x", [-1, 0, 0.5, 2]),
        histogram("y", [0, 1]),
        proportion("x"),
    ]
    return some(rng, asked, 2)


def pick(rng: np.random.Generator, values: list[Any]) -> Any:
    return values[rng.integers(len(values))]


def some(rng: np.random.Generator, values: list[Any], most: int) -> list[Any]:
    many = rng.integers(1, min(most, len(values)) + 1)
    return [values[i] for i in rng.choice(len(values), many, replace=False)]


def mixed(rng: np.random.Generator, rows: list[Row], more: list[Row]) -> list[Row]:
    """Put rows in front or behind, or everything in any order: neighbours are sets of rows."""
    how = rng.integers(4)
    if how == 3:
        both = [*rows, *more]
        return [both[i] for i in rng.permutation(len(both))]
    return [*more, *rows] if how else [*rows, *more]
