"""The groups that a table has, and how many of the rows that are used each of them holds.

All of this is private. Keys are told apart by their bytes, never by an engine's equality; the
engine counts, and only groups and counts leave it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any, cast

import numpy as np

from inbounds._extra import optional
from inbounds.frames.binding import BoundTable
from inbounds.frames.central.aggregate import Key, keep_rows
from inbounds.frames.central.key import distinct, text, with_keys_in_bytes, with_plain_keys
from inbounds.frames.central.value_type import value_type

with optional():
    import narwhals as nw

_PERSON = "person"
Reader = Callable[[Any], Any]
"""Turns what stands for a key in a table into the key, or into None if Python has no such value."""


def group_counts(
    table: BoundTable,
    by: Sequence[str],
    *,
    person: str | None = None,
    rows: int = 1,
    secret: bytes = b"",
) -> dict[Key, int]:
    """Return the number of rows of each group that has any.

    What the count depends on: docs/proofs/groups.md, theorem 5.

    Parameters
    ----------
    table
        A table whose names are plain identifiers.
    by
        Columns of strings, integers, booleans or dates. Rows with a null in any of them belong to
        no group, nor do rows with a date that Python cannot hold.
    person, rows, secret
        As in `inbounds.frames.central.aggregate.sums`.

    Examples
    --------
    >>> import pandas as pd
    >>> table = nw.from_native(pd.DataFrame({"town": ["Ulm", "ulm", None, "Ulm"]}))
    >>> group_counts(table, ["town"])
    {('Ulm',): 2, ('ulm',): 1}
    """
    types = {f"key{i}": value_type(table, name)[0] for i, name in enumerate(by)}
    columns = [nw.col(name).alias(key) for name, key in zip(by, types, strict=True)]
    columns += [] if person is None else [nw.col(person).alias(_PERSON)]
    table, readers = _with_readable_keys(table.select(*columns), types)
    for key in types:
        table = table.filter(~nw.col(key).is_null())
    if person is not None:
        table = keep_rows(with_plain_keys(table, {}, _PERSON, secret), list(types), rows)
    counted = table.group_by(*types).agg(nw.len().alias("rows"))
    eager = counted.collect() if isinstance(counted, nw.LazyFrame) else counted
    counts: dict[Key, int] = {}
    for row in eager.rows(named=True):
        group = tuple(readers[key](row[key]) for key in types)
        if None not in group:
            counts[group] = int(row["rows"])
    return counts


def _with_readable_keys(
    table: BoundTable, types: Mapping[str, type | None]
) -> tuple[BoundTable, dict[str, Reader]]:
    """Replace keys by bytes, or in pandas by places among the values, and say how to read them."""
    if not table.implementation.is_pandas():
        readers: dict[str, Reader] = {key: _reader(kind) for key, kind in types.items()}
        return with_keys_in_bytes(table, list(types)), readers
    frame, readers, places = table.to_native().reset_index(drop=True), {}, {}
    for key, kind in types.items():
        codes, values = distinct(frame[key])
        fitting = sorted(value for own, value in values if own is kind)
        place_of = {value: float(place) for place, value in enumerate(fitting)}
        found = [place_of[value] if own is kind else np.nan for own, value in values]
        places[key] = np.array([*found, np.nan])[codes]
        readers[key] = _item_of(fitting)
    return cast("BoundTable", nw.from_native(frame.assign(**places))), readers


def _item_of(values: list[Any]) -> Reader:
    return lambda place: values[int(place)]


def _reader(kind: type | None) -> Reader:
    """Return how a key is read from its text: docs/proofs/groups.md, theorem 5."""

    def read(written: bytes) -> Any:
        """Return the value whose text this is; two texts never stand for one value."""
        try:
            value = _READERS[kind](written.decode())
        except ValueError:
            return None
        return value if text(value) == written else None

    return read


_READERS: dict[type | None, Callable[[str], Any]] = {
    str: str,
    int: int,
    bool: {"true": True, "false": False}.get,
    date: date.fromisoformat,
}
