"""Which group and which person a row belongs to, decided by bytes, never by an engine's equality.

Engines merge what is different (collations, padded strings) and split what is equal (the sign of
zero), and they order categories as rows happened to arrive. Each key therefore becomes the place of
its value in a public list, or bytes, or a plain number, by its own row alone. Why that is needed:
docs/proofs/statistics.md, item 3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any, cast

import numpy as np

from inbounds._extra import optional
from inbounds.frames.binding import Table
from inbounds.frames.central.value_type import plain

with optional():
    import narwhals as nw

Places = Mapping[Any, int]

# How bytes of a value, a literal of bytes, and its place in a list are written in SQL.
_SQL = {
    "duckdb": ("encode(CAST({} AS VARCHAR))", "unhex('{}')", "list_position([{}], {})"),
    "spark": ("CAST(CAST({} AS STRING) AS BINARY)", "X'{}'", "array_position(array({}), {})"),
}


def places(values: Iterable[Any]) -> dict[Any, int]:
    """Give each public value a number from 1 on, in their own order; 0 is for all other values.

    Examples
    --------
    >>> places(["Ulm", "Rom", "Ulm"])
    {'Rom': 1, 'Ulm': 2}
    """
    return {value: i for i, value in enumerate(sorted(set(values)), 1)}


def with_plain_keys(table: Table, listed: Mapping[str, Places], person: str | None = None) -> Table:
    """Replace columns of keys by the places of their values, and one of people by exact keys.

    Parameters
    ----------
    table
        Its columns have names of our own, which are plain identifiers.
    listed
        For each column of keys, the places of its public values.
    person
        The column that says whose row it is, without nulls.

    Examples
    --------
    >>> import pandas as pd
    >>> table = nw.from_native(pd.DataFrame({"key0": ["Ulm", "ulm", None], "who": ["b", "a", "b"]}))
    >>> with_plain_keys(table, {"key0": places(["Ulm"])}, "who").rows()
    [(1, 1), (0, 2), (0, 1)]
    """
    if person is not None:
        kind = table.collect_schema()[person]
        if kind.is_float():  # finite, as was checked: all that is left is the sign of zero
            table = table.with_columns(without_signed_zero(person))
        if kind.is_float() or kind.is_integer():
            person = None  # every engine's equality of these is exact
    if not listed and person is None:
        return table
    implementation = table.implementation
    if implementation.is_pandas():
        return _in_pandas(table, listed, person)
    if implementation.is_duckdb() or implementation.is_spark_like():
        return _in_sql(table, listed, person)
    return _in_arrow_memory(table, listed, person)


def without_signed_zero(name: str) -> nw.Expr:
    """Return a column as doubles, with -0 as 0: some engines tell them apart, others do not.

    Examples
    --------
    >>> import polars as pl
    >>> nw.from_native(pl.DataFrame({"x": [-0.0]})).select(without_signed_zero("x")).rows()
    [(0.0,)]
    """
    number = nw.col(name).cast(nw.Float64())
    return nw.when(number == 0.0).then(nw.lit(0.0)).otherwise(number).alias(name)


def _in_sql(table: Table, listed: Mapping[str, Places], person: str | None) -> Table:
    """Have the engine compare bytes: types of bytes have no collation."""
    native, schema = table.to_native(), table.collect_schema()
    engine = "duckdb" if table.implementation.is_duckdb() else "spark"
    in_bytes, literal, position = _SQL[engine]
    columns = []
    for name in schema:
        written = name
        if name in listed:
            values = ", ".join(literal.format(_text(value).hex()) for value in listed[name])
            written = f"coalesce({position.format(values, in_bytes.format(name))}, 0)"
        elif name == person and schema[name] != nw.Binary:
            written = in_bytes.format(name)
        columns.append(f"{written} AS {name}")
    if engine == "duckdb":
        return cast("Table", nw.from_native(native.project(", ".join(columns))))
    return cast("Table", nw.from_native(native.selectExpr(*columns)))


def _in_arrow_memory(table: Table, listed: Mapping[str, Places], person: str | None) -> Table:
    """Have Polars or PyArrow compare strings, which they do by bytes; categories are decoded."""
    written = [
        nw.col(name)
        .cast(nw.String())
        .replace_strict(
            [_text(value).decode() for value in known],
            list(known.values()),
            default=0,
            return_dtype=nw.Int64(),
        )
        .alias(name)
        for name, known in listed.items()
    ]
    if person is not None and table.collect_schema()[person] != nw.Binary:
        written.append(nw.col(person).cast(nw.String()))
    return table.with_columns(*written) if written else table


def _in_pandas(table: Table, listed: Mapping[str, Places], person: str | None) -> Table:
    """Look values up in Python: a column of objects may hold anything, and in any encoding."""
    frame = table.to_native().reset_index(drop=True)
    keys = {}
    for name, known in listed.items():
        codes, values = _distinct(frame[name])
        typed = {(type(value), value): place for value, place in known.items()}
        found = np.array([typed.get(value, 0) for value in values] + [0], np.int64)
        keys[name] = found[codes]
    if person is not None:
        codes, _ = _distinct(frame[person])
        keys[person] = codes + 1
    return cast("Table", nw.from_native(frame.assign(**keys)))


def _distinct(series: Any) -> tuple[Any, list[tuple[type, Any]]]:
    """Return the distinct values of a column, and for each row the place of its value, -1 if none.

    By Python's equality of plain values of one type, not by that of pandas' hash tables, which
    differ by type and version, nor by one that a value brings along.
    """
    rows = getattr(series, "cat", None)
    values = map(plain, series.tolist() if rows is None else rows.categories.tolist())
    seen: dict[tuple[type, Any], int] = {}
    places = [seen.setdefault((type(value), value), len(seen)) for value in values]
    codes = np.array([*places, -1], np.int64)
    if rows is None:
        return codes[:-1], list(seen)
    return codes[rows.codes.to_numpy()], list(seen)


def _text(value: Any) -> bytes:
    """Write a public value as every engine writes it when it casts its column to a string."""
    if isinstance(value, bool):
        return b"true" if value else b"false"
    return (value.isoformat() if isinstance(value, date) else str(value)).encode()
