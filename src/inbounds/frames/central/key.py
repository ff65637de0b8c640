"""Which group and which person a row belongs to, decided by bytes, never by an engine's equality.

Engines merge values that differ (collations, padded strings) and split values that are equal (the
sign of zero), and they order categories by the order in which rows arrived. Each key is therefore
replaced, from its own row alone, by its place in a public list, by bytes or by a plain number. Why
that is needed: docs/proofs/statistics.md, theorem 3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any, cast

import numpy as np

from inbounds._extra import optional
from inbounds.frames.binding import BoundTable
from inbounds.frames.central.person import CHANCE, chance, with_chances
from inbounds.frames.central.value_type import plain_value

with optional():
    import narwhals as nw

Places = Mapping[Any, int]

# How SQL writes the bytes of a value, a literal of bytes, and the place of a value in a list.
_SQL = {
    "duckdb": ("encode(CAST({} AS VARCHAR))", "unhex('{}')", "list_position([{}], {})"),
    "spark": ("CAST(CAST({} AS STRING) AS BINARY)", "X'{}'", "array_position(array({}), {})"),
}


def places(values: Iterable[Any]) -> dict[Any, int]:
    """Return the places of the distinct public values in sorted order; others are at place 0.

    Examples
    --------
    >>> places(["Ulm", "Rom", "Ulm"])
    {'Rom': 1, 'Ulm': 2}
    """
    return {value: i for i, value in enumerate(sorted(set(values)), 1)}


def with_plain_keys(
    table: BoundTable,
    listed: Mapping[str, Places],
    person: str | None = None,
    secret: bytes = b"",
) -> BoundTable:
    """Replace keys by the places of their values, and ids of people by values compared exactly.

    If there are people, the column ``chance`` has a random number for each of them.

    Parameters
    ----------
    table
        A table whose column names are plain identifiers.
    listed
        For each column of keys, the places of its public values.
    person, secret
        The column that holds each row's person, without nulls, and the key of the random numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> table = nw.from_native(pd.DataFrame({"key0": ["Ulm", "ulm", None], "who": ["b", "a", "b"]}))
    >>> with_plain_keys(table, {"key0": places(["Ulm"])}, "who").select("key0", "who").rows()
    [(1, 1), (0, 2), (0, 1)]
    """
    compared = person
    if person is not None:
        dtype = table.collect_schema()[person]
        if dtype.is_float():  # they were checked to be finite, so only the sign of zero is left
            table = table.with_columns(without_signed_zero(person))
        if dtype.is_float() or dtype.is_integer():
            compared = None  # every engine compares these exactly
    implementation = table.implementation
    if implementation.is_pandas():
        table = _in_pandas(table, listed, compared, secret)
    elif listed or compared is not None:
        in_sql = implementation.is_duckdb() or implementation.is_spark_like()
        table = (_in_sql if in_sql else _in_arrow_memory)(table, listed, compared)
    if person is None or (implementation.is_pandas() and compared is not None):
        return table
    return with_chances(table, person, secret)


def with_keys_in_bytes(table: BoundTable, names: Sequence[str]) -> BoundTable:
    """Replace keys by the bytes of their text, in any engine but pandas.

    Examples
    --------
    >>> import polars as pl
    >>> table = nw.from_native(pl.DataFrame({"key0": ["Ulm", None], "key1": [True, False]}))
    >>> with_keys_in_bytes(table, ["key0", "key1"]).rows()
    [(b'Ulm', b'true'), (None, b'false')]
    """
    engine = table.implementation
    if not (engine.is_duckdb() or engine.is_spark_like()):
        return table.with_columns(nw.col(*names).cast(nw.String()).cast(nw.Binary()))
    in_bytes = _SQL["duckdb" if engine.is_duckdb() else "spark"][0]
    columns = table.collect_schema()
    written = [f"{in_bytes.format(n) if n in names else n} AS {n}" for n in columns]
    native = table.to_native()
    if engine.is_duckdb():
        return cast("BoundTable", nw.from_native(native.project(", ".join(written))))
    return cast("BoundTable", nw.from_native(native.selectExpr(*written)))


def without_signed_zero(name: str) -> nw.Expr:
    """Return a column as doubles, with -0 replaced by 0, which only some engines tell apart.

    Examples
    --------
    >>> import polars as pl
    >>> nw.from_native(pl.DataFrame({"x": [-0.0]})).select(without_signed_zero("x")).rows()
    [(0.0,)]
    """
    number = nw.col(name).cast(nw.Float64())
    return nw.when(number == 0.0).then(nw.lit(0.0)).otherwise(number).alias(name)


def _in_sql(table: BoundTable, listed: Mapping[str, Places], person: str | None) -> BoundTable:
    """Let the engine compare bytes, which have no collation."""
    native, schema = table.to_native(), table.collect_schema()
    engine = "duckdb" if table.implementation.is_duckdb() else "spark"
    in_bytes, literal, position = _SQL[engine]
    columns = []
    for name in schema:
        written = name
        if name in listed:
            values = ", ".join(literal.format(text(value).hex()) for value in listed[name])
            written = f"coalesce({position.format(values, in_bytes.format(name))}, 0)"
        elif name == person and schema[name] != nw.Binary:
            written = in_bytes.format(name)
        columns.append(f"{written} AS {name}")
    if engine == "duckdb":
        return cast("BoundTable", nw.from_native(native.project(", ".join(columns))))
    return cast("BoundTable", nw.from_native(native.selectExpr(*columns)))


def _in_arrow_memory(
    table: BoundTable, listed: Mapping[str, Places], person: str | None
) -> BoundTable:
    """Let Polars or PyArrow compare strings, which they do by bytes; categories are decoded."""
    written = [
        nw.col(name)
        .cast(nw.String())
        .replace_strict(
            [text(value).decode() for value in known],
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


def _in_pandas(
    table: BoundTable, listed: Mapping[str, Places], person: str | None, secret: bytes
) -> BoundTable:
    """Look up values in Python: a column of objects may hold anything, in any encoding."""
    if not listed and person is None:
        return table
    frame = table.to_native().reset_index(drop=True)
    keys = {}
    for name, known in listed.items():
        codes, values = distinct(frame[name])
        typed = {(type(value), value): place for value, place in known.items()}
        place_of = np.array([*(typed.get(value, 0) for value in values), 0], np.int64)
        keys[name] = place_of[codes]
    if person is not None:
        codes, values = distinct(frame[person])
        keys[person] = codes + 1
        keys[CHANCE] = np.array([chance(value, secret) for _, value in values])[codes]
    return cast("BoundTable", nw.from_native(frame.assign(**keys)))


def distinct(series: Any) -> tuple[Any, list[tuple[type, Any]]]:
    """Return for each row the place of its value among the distinct values, or -1, and the values.

    Values are compared as plain values of one type, by Python: the hash tables of pandas compare
    differently by type and version, and a value may bring an equality along.

    Examples
    --------
    >>> import pandas as pd
    >>> distinct(pd.Series(["Ulm", "Rom", "Ulm"]))
    (array([0, 1, 0]), [(<class 'str'>, 'Ulm'), (<class 'str'>, 'Rom')])
    """
    categories = getattr(series, "cat", None)
    listed = series.tolist() if categories is None else categories.categories.tolist()
    values = map(plain_value, listed)
    seen: dict[tuple[type, Any], int] = {}
    places = [seen.setdefault((type(value), value), len(seen)) for value in values]
    codes = np.array([*places, -1], np.int64)
    if categories is None:
        return codes[:-1], list(seen)
    return codes[categories.codes.to_numpy()], list(seen)


def text(value: Any) -> bytes:
    """Write a value as every engine does when it casts a column to strings.

    Examples
    --------
    >>> text(True), text(date(2026, 1, 2)), text("Ulm")
    (b'true', b'2026-01-02', b'Ulm')
    """
    if isinstance(value, bool):
        return b"true" if value else b"false"
    return (value.isoformat() if isinstance(value, date) else str(value)).encode()
