"""Every type in which an engine may hold a column of a random table.

What a column is stored as is drawn by number, for each engine and each kind of values.
"""

from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from .neighbours import COLUMNS, Row


def seen(values: list[Any]) -> list[Any]:
    """Different values in order of appearance."""
    return [value for value in dict.fromkeys(values) if value is not None]


def appearance(values: list[Any], *, ordered: bool) -> pd.Categorical:
    return pd.Categorical(values, categories=pd.Index(seen(values), dtype=object), ordered=ordered)


class Odd(str):
    """A string that equals nothing but itself, if it is asked."""

    __slots__ = ()
    __eq__ = object.__eq__
    __hash__ = object.__hash__


def odd(values: list[Any]) -> Any:
    return pd.Series([value if value is None else Odd(value) for value in values], dtype=object)


def as_objects(values: list[Any]) -> Any:
    return pd.Series(values, dtype=object)


def as_categories(values: list[Any]) -> Any:
    return pd.Categorical(values)


def encoded(kind: Any) -> Callable[[list[Any]], Any]:
    return lambda values: pa.array(values, kind).dictionary_encode()


def encoded_in_pandas(kind: Any) -> Callable[[list[Any]], Any]:
    return lambda values: pd.arrays.ArrowExtensionArray(encoded(kind)(values))


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
# What keys may also be stored as, but no numbers that are summed.
_CODED = {
    "integer": [pa.int8(), pa.int64()],
    "boolean": [pa.bool_()],
    "date": [pa.date32()],
    "decimal": [_DECIMAL],
    "bytes": [pa.binary()],
}
KEY_STORAGE: dict[str, dict[str, list[Callable[[list[Any]], Any]]]] = {
    "pandas": {
        "text": [odd],
        "float": [],
        **{
            kind: [
                as_objects,
                as_categories,
                lambda values: appearance(values, ordered=True),
                *map(encoded_in_pandas, inner),
            ]
            for kind, inner in _CODED.items()
        },
    },
    "arrow": {
        "text": [],
        "float": [],
        **{kind: [*map(encoded, inner)] for kind, inner in _CODED.items()},
    },
    "polars": {kind: [] for kind in STORAGE["polars"]},
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


def makers_of(family: str, kind: str, *, is_key: bool) -> list[Callable[[list[Any]], Any]]:
    """What makes a column of an engine that holds its tables in memory."""
    return [*STORAGE[family][kind], *(KEY_STORAGE[family][kind] if is_key else [])]


def stored(engine: str, table: list[Row], kinds: dict[str, str], drawn: dict[str, int]) -> Any:
    """Hold a table in an engine; `drawn` says in which of its types, for each column."""
    family, _, lazy = engine.partition(" ")
    held = {}
    for name, values in _columns(table).items():
        makers = makers_of(family, kinds[name], is_key=name in ("table", "town", "who"))
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


def renamed(frame: Any, names: dict[str, str] | None) -> Any:
    """Call columns by other names, and put columns beside them that may be taken for them.

    Those hold another value in each row: whoever reads them takes every row for a person's own.
    """
    if names is None:
        return frame
    new = [names[name] for name in COLUMNS]
    if isinstance(frame, pd.DataFrame):
        beside = [name for name in COLUMNS if name not in new]
        return frame.set_axis(new, axis=1).assign(**dict.fromkeys(beside, range(len(frame))))
    if isinstance(frame, pa.Table):
        rows = pa.array(map(str, range(len(frame))))
        struct = pa.StructArray.from_arrays([rows] * len(COLUMNS), names=list(COLUMNS))
        return frame.rename_columns(new).append_column("a", struct)
    if isinstance(frame, pl.DataFrame | pl.LazyFrame):
        renamed = frame.rename(names).with_row_index("who")
        return renamed.with_columns(pl.col("who").alias(name) for name in ("x", "y"))
    if isinstance(frame, duckdb.DuckDBPyRelation):
        quoted = ['"' + name.replace('"', '""') + '"' for name in new]
        listed = [f"#{i} AS {name}" for i, name in enumerate(quoted, 1)]
        fields = ", ".join(f"'{name}': uuid()::VARCHAR" for name in COLUMNS)
        return frame.project(", ".join([*listed, f"{{{fields}}} AS a"]))
    beside = frame.selectExpr("*", "named_struct('who', uuid(), 'x', rand(1), 'y', rand(1)) AS a")
    return beside.toDF(*new, "a")
