"""Random tables, their neighbours, and every type in which an engine may hold them.

A table is a list of rows of plain Python values. A case asks one question of several tables, each
in several versions that are neighbours. Frame v holds version v of every table: whatever one table
does to another in the same frame, such as the order of categories, shows as a change too large.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from itertools import combinations
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from inbounds.frames.statistic import Statistic, count, histogram, mean, total, variance

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

    def frame(self, versions: Iterable[int]) -> list[Row]:
        """Return all tables of some versions one after another, each with people of its own."""
        tables = [table[version] for version in versions for table in self.tables]
        return [
            (number, town, _of_table(who, number), x, y)
            for number, table in enumerate(tables)
            for town, who, x, y in table
        ]


def draw_case(rng: np.random.Generator, tables: int, versions: int) -> Case:
    """Draw types, a request, and tables in versions that the request calls neighbours."""
    kinds = {"table": "integer", "town": "text", "who": "text"}  # most goes wrong with strings
    if rng.random() < 0.4:
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
    return Case(drawn, pairs, kinds, questions(rng), groups, adjacency, rows, person, nulls)


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


def seen(values: list[Any]) -> list[Any]:
    """Different values in order of appearance."""
    return [value for value in dict.fromkeys(values) if value is not None]


def appearance(values: list[Any], *, ordered: bool) -> pd.Categorical:
    return pd.Categorical(values, categories=pd.Index(seen(values), dtype=object), ordered=ordered)


def pandas_type(kind: Any) -> Callable[[list[Any]], Any]:
    return lambda values: pd.array(values, dtype=kind)


def numpy_type(kind: str) -> Callable[[list[Any]], Any]:
    """Return what holds integers as pandas does: beside a null, they become doubles."""
    return lambda values: np.array(values, float if None in values else kind)


def arrow_type(kind: Any) -> Callable[[list[Any]], Any]:
    return lambda values: pa.array(values, kind)


def in_pandas(kind: Any) -> Callable[[list[Any]], Any]:
    return lambda values: pd.array(pa.array(values, kind), dtype=pd.ArrowDtype(kind))


def polars_type(kind: Any) -> Callable[[list[Any]], Any]:
    return lambda values: pl.Series(values, dtype=kind)


_ARROW_INTEGERS = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint64()]
_DECIMAL = pa.decimal128(12, 2)
_DICTIONARY = pa.dictionary(pa.int8(), pa.string())
_POLARS_INTEGERS = [f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64, 128)]

STORAGE: dict[str, dict[str, list[Callable[[list[Any]], Any]]]] = {
    "pandas": {
        "text": [
            lambda values: pd.Series(values, dtype=object),
            *map(pandas_type, ["str", pd.StringDtype("python"), pd.StringDtype("pyarrow")]),
            *map(in_pandas, [pa.string(), pa.large_string(), _DICTIONARY]),
            lambda values: appearance(values, ordered=False),
            lambda values: appearance(values, ordered=True),
            lambda values: appearance(values[::-1], ordered=True)[::-1],
            lambda values: pa.array(values, pa.string()).dictionary_encode().to_pandas(),
        ],
        "integer": [
            *map(numpy_type, ["int8", "uint64"]),
            *map(pandas_type, ["Int64", "UInt8"]),
            in_pandas(pa.int16()),
        ],
        "boolean": [lambda values: np.array(values, bool), pandas_type("boolean")],
        "date": [in_pandas(pa.date32())],
        "float": [
            lambda values: np.array(values, float),
            *map(pandas_type, ["Float64"]),
            in_pandas(pa.float64()),
        ],
        "decimal": [in_pandas(_DECIMAL)],
        "bytes": [in_pandas(pa.binary())],
    },
    "polars": {
        "text": [
            *map(polars_type, [pl.String, pl.Categorical]),
            lambda values: pl.Series(values, dtype=pl.Enum(seen(values))),
            lambda values: pl.Series(values, dtype=pl.Enum(seen(values)[::-1])),
        ],
        "integer": [polars_type(getattr(pl, name)) for name in _POLARS_INTEGERS],
        "boolean": [polars_type(pl.Boolean)],
        "date": [polars_type(pl.Date)],
        "float": [polars_type(pl.Float64)],
        "decimal": [polars_type(pl.Decimal(12, 2)), polars_type(pl.Decimal(38, 3))],
        "bytes": [polars_type(pl.Binary)],
    },
    "arrow": {
        "text": [
            *map(arrow_type, [pa.string(), pa.large_string(), _DICTIONARY]),
            lambda values: pa.array(values, pa.large_string()).dictionary_encode(),
            lambda values: pa.chunked_array(
                [
                    pa.array(part, pa.string()).dictionary_encode()
                    for part in (values[:2], values[2:])
                ]
            ),
        ],
        "integer": [*map(arrow_type, _ARROW_INTEGERS)],
        "boolean": [arrow_type(pa.bool_())],
        "date": [arrow_type(pa.date32())],
        "float": [arrow_type(pa.float64())],
        "decimal": [arrow_type(_DECIMAL)],
        "bytes": [arrow_type(pa.binary())],
    },
}
SQL_TYPES: dict[str, dict[str, list[str]]] = {
    "duckdb": {
        "text": [
            "VARCHAR",
            "CHAR(5)",
            "VARCHAR COLLATE NOCASE",
            "VARCHAR COLLATE NOACCENT",
            "VARCHAR COLLATE NOCASE.NOACCENT",
            "VARCHAR COLLATE NFC",
            "ENUM",
        ],
        "integer": ["TINYINT", "SMALLINT", "BIGINT", "HUGEINT", "UHUGEINT", "UBIGINT"],
        "boolean": ["BOOLEAN"],
        "date": ["DATE"],
        "float": ["DOUBLE"],
        "decimal": ["DECIMAL(5, 2)", "DECIMAL(38, 2)"],
        "bytes": ["BLOB"],
    },
    "spark": {
        "text": [
            "STRING",
            "STRING COLLATE UTF8_LCASE",
            "STRING COLLATE UNICODE_CI_AI",
            "STRING COLLATE UNICODE",
            "STRING COLLATE UTF8_BINARY_RTRIM",
        ],
        "integer": ["INT", "BIGINT"],
        "boolean": ["BOOLEAN"],
        "date": ["DATE"],
        "float": ["DOUBLE"],
        "decimal": ["DECIMAL(12, 2)", "DECIMAL(38, 2)"],
        "bytes": ["BINARY"],
    },
}
PLAIN = {
    "text": pa.string(),
    "integer": pa.int64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "float": pa.float64(),
    "decimal": _DECIMAL,
    "bytes": pa.binary(),
}


def plain(table: list[Row], kinds: dict[str, str]) -> pa.Table:
    columns = _columns(table)
    return pa.table({name: pa.array(columns[name], PLAIN[kinds[name]]) for name in COLUMNS})


def _columns(table: list[Row]) -> dict[str, list[Any]]:
    return {name: [row[i] for row in table] for i, name in enumerate(COLUMNS)}


def stored(engine: str, table: list[Row], kinds: dict[str, str], drawn: dict[str, int]) -> Any:
    """Hold a table in an engine; `drawn` says in which of its types, for each column."""
    family, _, lazy = engine.partition(" ")
    held = {}
    for name, values in _columns(table).items():
        makers = STORAGE[family][kinds[name]]
        held[name] = makers[drawn[name] % len(makers)](values)
    if family == "pandas":
        return pd.DataFrame(held)
    if family == "arrow":
        return pa.table(held)
    frame = pl.DataFrame(held)
    return frame.lazy() if lazy else frame


def in_duckdb(
    connection: duckdb.DuckDBPyConnection,
    table: list[Row],
    kinds: dict[str, str],
    drawn: dict[str, int],
) -> Any:
    """Hold a table in DuckDB, in columns that were declared with their types and collations."""
    declared = []
    for name, values in _columns(table).items():
        types = SQL_TYPES["duckdb"][kinds[name]]
        kind = types[drawn[name] % len(types)]
        if kind == "ENUM":
            quoted = ["'" + value.replace("'", "''") + "'" for value in seen(values) or [""]]
            kind = f"ENUM ({', '.join(quoted)})"
        declared.append(f"{name} {kind}".replace("table ", '"table" '))
    connection.execute(f"CREATE OR REPLACE TABLE visits ({', '.join(declared)})")
    connection.register("given", plain(table, kinds))
    connection.execute("INSERT INTO visits SELECT * FROM given")
    return connection.sql("SELECT * FROM visits")


def in_spark(session: Any, table: list[Row], kinds: dict[str, str], drawn: dict[str, int]) -> Any:
    """Hold a table in Spark, its columns cast to types and collations."""
    cast = []
    for name in COLUMNS:
        types = SQL_TYPES["spark"][kinds[name]]
        kind = types[drawn[name] % len(types)]
        cast.append(f"CAST(`{name}` AS {kind}) AS `{name}`")
    return session.createDataFrame(plain(table, kinds)).selectExpr(*cast)
