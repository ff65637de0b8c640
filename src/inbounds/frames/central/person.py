"""A number for each person that nobody can foresee, by which some of that person's rows are chosen.

It depends on a secret key, drawn for one call, and on the person's id alone: neither on other
people nor on an engine's order of rows. A repeated task of an engine therefore chooses the same
rows. Why the choice is private for every key: docs/proofs/statistics.md, theorem 3.
"""

from __future__ import annotations

import os
import struct
from hashlib import blake2b
from typing import Any, cast

from inbounds._extra import optional
from inbounds.frames.binding import BoundTable

with optional():
    import narwhals as nw

CHANCE = "chance"
"""The column of random numbers."""

CHANCES = 1 << 16
"""The number of different chances; few enough that adding a number of rows to one is exact."""

_KEY_BYTES = 32

# How SQL writes the id as bytes, and the first four hexadecimal digits of a hash as an integer.
_SQL = {
    "duckdb": (
        "encode(CAST({} AS VARCHAR))",
        "CAST('0x' || substr(sha256(unhex('{key}') || {id}), 1, 4) AS INTEGER)",
    ),
    "spark": (
        "CAST(CAST({} AS STRING) AS BINARY)",
        "CAST(conv(substr(sha2(concat(X'{key}', {id}), 256), 1, 4), 16, 10) AS INT)",
    ),
}


def new_key() -> bytes:
    """Return a secret key for one call."""
    return os.urandom(_KEY_BYTES)


def chance(value: Any, key: bytes) -> float:
    """Return a number in [0, 1) that depends on a value and on the key; 1/2 if the key is empty.

    Examples
    --------
    >>> 0 <= chance("Doe", b"secret") < 1, chance("Doe", b"secret") == chance("Doe", b"other")
    (True, False)
    """
    if not key:
        return 0.5
    return int.from_bytes(blake2b(_bytes(value), key=key, digest_size=2).digest()) / CHANCES


def with_chances(table: BoundTable, person: str, key: bytes) -> BoundTable:
    """Add the column ``chance`` of doubles, one for each person.

    Parameters
    ----------
    table, person
        A table, and its column of people: integers, doubles, strings or bytes, without nulls. A
        lazy frame of Polars is collected.
    key
        The secret key.

    Examples
    --------
    >>> import pandas as pd
    >>> table = with_chances(nw.from_native(pd.DataFrame({"who": [7, 8, 7]})), "who", b"secret")
    >>> first, second, third = table["chance"].to_list()
    >>> first == third, first == second
    (True, False)
    """
    engine = table.implementation
    if engine.is_duckdb() or engine.is_spark_like():
        return _in_sql(table, person, key)
    eager = table.collect() if isinstance(table, nw.LazyFrame) else table
    people = eager[person]
    if people.dtype.is_integer():  # Arrow makes a list of integers one of 63 bits
        people = people.cast(nw.String())
    known = people.unique().to_list()
    if not known:
        return eager.with_columns(nw.lit(0.0).alias(CHANCE))
    numbers = [chance(value, key) for value in known]
    return eager.with_columns(
        people.replace_strict(known, numbers, return_dtype=nw.Float64()).alias(CHANCE)
    )


def _in_sql(table: BoundTable, person: str, key: bytes) -> BoundTable:
    native, schema = table.to_native(), table.collect_schema()
    is_duckdb = table.implementation.is_duckdb()
    in_bytes, number = _SQL["duckdb" if is_duckdb else "spark"]
    id_bytes = person if schema[person] == nw.Binary else in_bytes.format(person)
    digits = number.format(key=key.hex(), id=id_bytes) if key else f"{CHANCES} / 2"
    columns = ["*", f"CAST({digits} AS DOUBLE) / {CHANCES}.0 AS {CHANCE}"]
    if is_duckdb:
        return cast("BoundTable", nw.from_native(native.project(", ".join(columns))))
    return cast("BoundTable", nw.from_native(native.selectExpr(*columns)))


def _bytes(value: Any) -> bytes:
    """Write an id so that different ids of one column are different bytes."""
    if isinstance(value, bytes):
        return value
    return struct.pack("<d", value) if isinstance(value, float) else str(value).encode()
