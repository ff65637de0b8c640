"""DuckDB relations."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from inbounds._extra import optional
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.frames.local import arrow_frame
from inbounds.frames.local.category import CategoryColumn, LocalColumn
from inbounds.frames.local.column import locate, number_type
from inbounds.frames.local.once import drawn_once
from inbounds.frames.local.order import permutation, random_keys
from inbounds.sampling.blocks import cores

with optional():
    import pyarrow as pa

_INTEGERS = {"TINYINT": "int8", "SMALLINT": "int16", "INTEGER": "int32", "BIGINT": "int64"}
_TYPES = {
    **_INTEGERS,
    **{f"U{name}": f"u{kind}" for name, kind in _INTEGERS.items()},
    "FLOAT": "float32",
    "DOUBLE": "float64",
}
_SAME_IN_ARROW = {*_TYPES, "BOOLEAN", "VARCHAR", "DATE", "TIMESTAMP"}
"""Types whose values go to Arrow and back unchanged, and come back with the same type."""

_BATCH = 1 << 19  # rows that DuckDB hands over at once; a function of its own gets 2048


def privatize_frame(
    frame: Any, columns: Sequence[LocalColumn], *, shuffle: bool = False, lazy: bool = False
) -> Any:
    """Return a relation over outputs that are drawn now or, if `lazy`, at every evaluation.

    Outputs that are drawn now are held in memory by the relation and those made from it. Nothing is
    written to the database, which may be read-only, and no transaction can undo them. Columns of
    plain types pass through Arrow, in large batches.

    If `lazy`, or if Arrow would change another column's type, a fresh function for each column is
    registered on the relation's connection. It is declared to have side effects, so that DuckDB
    neither reuses its outputs nor moves a filter past it. If `lazy`, functions stay until the
    connection is closed (close it: otherwise DuckDB reports leaks at exit); they are removed
    otherwise.

    Examples
    --------
    >>> import duckdb
    >>> import inbounds as ib
    >>> from inbounds.frames.local.column import PrivateColumn
    >>> m = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 120, epsilon=1.0)
    >>> relation = duckdb.connect().sql("SELECT 41 AS age, 'Ulm' AS town")
    >>> privatize_frame(relation, [PrivateColumn("age", m, "error")]).columns
    ['age', 'town']
    """
    connection = getattr(frame, "_con", None)  # DuckDB has no public name for it
    if connection is None:
        raise ArgumentTypeError.must_be("frame", "a relation of DuckDB 2.0 or newer")
    places = locate(columns, frame.columns)
    _refuse_alike(places, frame.columns)
    if not lazy and _SAME_IN_ARROW.issuperset(map(str, frame.types)):
        for i, column in places.items():
            _types(column, frame.types[i])  # refuses a type in DuckDB's words
        work = partial(_through_arrow, frame, places, connection, shuffle=shuffle)
        return drawn_once(work, places.values())
    functions: list[str] = []
    try:
        released = _released(frame, places, connection, functions, shuffle=shuffle)
        return released if lazy else drawn_once(released.materialize, places.values())
    finally:
        if not lazy:
            _remove(functions, connection)


def _through_arrow(
    frame: Any, places: dict[int, LocalColumn], connection: Any, *, shuffle: bool
) -> Any:
    """Return a relation over outputs in memory, which are drawn from large batches of Arrow.

    DuckDB copies all cells into memory of its own, so nothing else of the batches is kept.
    """
    reader = frame.to_arrow_reader(_BATCH)
    schema = arrow_frame.released_schema(reader.schema, places)
    release = partial(arrow_frame.released_batch, places=places, schema=schema)
    with ThreadPoolExecutor(cores()) as pool:  # outputs are drawn while DuckDB reads on
        batches = list(pool.map(release, reader))
    released = pa.Table.from_batches(batches, schema)
    if shuffle:
        released = released.take(pa.array(permutation(released.num_rows)))
    return connection.from_arrow(released).materialize()


def _released(
    frame: Any,
    places: dict[int, LocalColumn],
    connection: Any,
    functions: list[str],
    *,
    shuffle: bool,
) -> Any:
    """Return a relation that draws at every evaluation; `functions` gets what it registers."""
    replaced = []
    for i, column in places.items():
        given, returned, final = _types(column, frame.types[i])
        name = _new_name(functions)
        connection.create_function(
            name,
            partial(arrow_frame.release, column),
            [given],
            returned,
            type="arrow",
            null_handling="special",
            side_effects=True,
        )
        quoted = '"' + str(column.name).replace('"', '""') + '"'
        replaced.append(f"{name}({quoted}::{given})::{final} AS {quoted}")
    released = frame.project(f"* REPLACE ({', '.join(replaced)})")
    return _shuffled(released, next(iter(places)), connection, functions) if shuffle else released


def _types(column: LocalColumn, given: Any) -> tuple[str, str, str]:
    """Return the types that our function takes and returns, and that of the result.

    Enums pass our function as texts; the result lists the levels, whatever the enum listed.
    """
    kind = str(given)
    if not isinstance(column, CategoryColumn):
        returned = kind if column.keeps(number_type(column, kind, _TYPES)) else "DOUBLE"
        return kind, returned, returned
    is_text = column.mechanism.family == "text"
    if is_text and given.id == "enum":
        levels = map(str, column.mechanism.levels)
        listed = ", ".join("'" + level.replace("'", "''") + "'" for level in levels)
        return "VARCHAR", "VARCHAR", f"ENUM({listed})"
    numpy_type = "bool" if kind == "BOOLEAN" else _TYPES.get(kind, "float64")
    if not (is_text if kind == "VARCHAR" else column.fits(np.dtype(numpy_type))):
        raise column.refused_type(kind)
    return kind, kind, kind


def _new_name(functions: list[str]) -> str:
    functions.append(f"inbounds_{secrets.token_hex(8)}")
    return functions[-1]


def _remove(functions: list[str], connection: Any) -> None:
    """Remove functions, except those that went with a transaction that has failed."""
    for name in functions:
        with suppress(Exception):
            connection.remove_function(name)


def _shuffled(frame: Any, place: int, connection: Any, functions: list[str]) -> Any:
    """Order rows by our own random words, because DuckDB's random() can be predicted."""
    name = _new_name(functions)
    connection.create_function(
        name,
        lambda values: pa.array(random_keys(len(values))),
        [str(frame.types[place])],
        "UBIGINT",
        type="arrow",
        null_handling="special",
        side_effects=True,
    )
    quoted = '"' + frame.columns[place].replace('"', '""') + '"'
    return frame.order(f"{name}({quoted})")


def _refuse_alike(places: dict[int, LocalColumn], names: Sequence[str]) -> None:
    """Refuse a name that differs from another one only in case: DuckDB does not tell them apart."""
    folded = [name.casefold() for name in names]
    for i in places:
        if folded.count(folded[i]) > 1:
            raise ArgumentError.must(
                "mechanisms",
                "name columns that differ from others by more than case",
                got=repr(names[i]),
            )
