"""Rows of any frame in blocks: the values to group by, and the private outputs as doubles.

A lazy frame is evaluated once, and only a block of it is in memory where its engine allows that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from types import NoneType
from typing import Any, cast

import numpy as np

from inbounds._extra import optional
from inbounds._kind import type_name
from inbounds._types import Floats
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.frames.binding import BoundTable, bind_columns
from inbounds.frames.central.value_type import check_keys, plain_value, value_type
from inbounds.frames.reading.level import FOREIGN, Codes, level_codes
from inbounds.frames.silence import each_quietly, quietly
from inbounds.mechanisms.level import Level

with optional():
    import narwhals as nw
    import pyarrow as pa

ROWS = 1 << 20
"""Rows of a block."""

Opener = Callable[[Any], tuple[BoundTable, dict[str, str]]]


class Block:
    """Rows in memory, under the user's names of columns."""

    def __init__(self, table: Any, names: dict[str, str]) -> None:
        self._table, self._names = table, names
        self.rows = len(table)

    def keys(self, by: Sequence[str]) -> tuple[Any, list[tuple[Any, ...]]]:
        """Return for each row the place of its values in `by`, and the distinct values."""
        if not by:
            return np.zeros(self.rows, np.int64), [()]
        place, combined = np.zeros(self.rows, np.int64), [()]
        for name in by:
            codes, values = _coded(self._table[self._names[name]])
            place, distinct = _renumbered(place * len(values) + codes)
            combined = [
                (*combined[i // len(values)], values[i % len(values)]) for i in distinct.tolist()
            ]
        return place, combined

    def outputs(self, name: str) -> tuple[Floats, Any]:
        """Return a column as doubles, and where it is missing."""
        series = self._table[self._names[name]]
        missing = np.asarray(series.is_null().to_numpy(), np.bool_)
        numbers = series.cast(nw.Float64()).fill_null(0.0).to_numpy()
        return np.asarray(numbers, np.float64), missing

    def levels(self, name: str, levels: Sequence[Level]) -> Codes:
        """Return for each row the place of its level; below zero, it is missing or no level."""
        codes, values = _coded(self._table[self._names[name]])
        return np.asarray(np.append(level_codes(values, levels), 0)[codes], np.int64)


def blocks(
    frame: Any,
    columns: Iterable[str],
    by: Sequence[str],
    groups: Sequence[tuple[Any, ...]],
    categories: Sequence[str] = (),
) -> tuple[Any, Iterator[Block]]:
    """Return what kind of frame it is, and its rows in blocks.

    `columns` hold numbers, and `categories` levels.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [17.5, 41.0], "town": ["Ulm", "Rom"]})
    >>> _, (block,) = blocks(frame, ["age"], ["town"], [])
    >>> block.keys(["town"])[1], block.outputs("age")[0].tolist()
    ([('Ulm',), ('Rom',)], [17.5, 41.0])
    """
    columns = list(columns)
    used = [*(("columns", name) for name in (*columns, *categories)), *(("by", n) for n in by)]

    def opened(table: Any) -> tuple[BoundTable, dict[str, str]]:
        bound, names = bind_columns(table, used)
        _check_types(bound, names, columns)
        _check_categories(bound, names, categories)
        for i, name in enumerate(by):
            check_keys(bound, names[name], name, [key[i] for key in groups])
        return bound, names

    if isinstance(frame, pa.RecordBatch):
        frame = pa.Table.from_batches([frame])
    if isinstance(frame, pa.RecordBatchReader):
        return frame, _of_batches(frame, opened)
    table, names = quietly(lambda: opened(frame))
    return table, _of_table(table, names)


def _of_batches(batches: Iterable[Any], opened: Opener) -> Iterator[Block]:
    for batch in each_quietly(lambda: batches):
        table, names = opened(pa.Table.from_batches([batch]))
        yield from _of_table(table, names)


def _of_table(table: BoundTable, names: dict[str, str]) -> Iterator[Block]:
    if isinstance(table, nw.DataFrame):
        for start in range(0, len(table), ROWS):
            yield Block(table[start : start + ROWS], names)
        return
    native, engine = table.to_native(), table.implementation
    if engine.is_polars():
        collected = quietly(native.collect)
        yield from _of_table(cast("BoundTable", nw.from_native(collected)), names)
        return
    of_duckdb = engine.is_duckdb()
    for batch in each_quietly(
        lambda: native.to_arrow_reader(ROWS) if of_duckdb else _of_spark(native)
    ):
        if batch.num_rows:
            yield Block(nw.from_native(pa.Table.from_batches([batch]), eager_only=True), names)


def _of_spark(frame: Any) -> Iterator[Any]:
    """Yield record batches; partitions come to the driver one after the other."""
    packed = frame.mapInArrow(_packed, "batch binary")
    for row in packed.toLocalIterator(prefetchPartitions=True):
        with pa.ipc.open_stream(row.batch) as reader:
            yield from reader


def _packed(batches: Iterable[Any]) -> Iterator[Any]:
    """Write every batch of a partition as bytes; executors run this."""
    for batch in batches:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        written = sink.getvalue().to_pybytes()
        yield pa.RecordBatch.from_arrays([pa.array([written], pa.binary())], ["batch"])


def _check_types(table: BoundTable, names: dict[str, str], columns: Iterable[str]) -> None:
    schema = table.collect_schema()
    for name in columns:
        if not schema[names[name]].is_numeric():
            raise ArgumentTypeError.must(
                f"column {name!r}", "hold numbers", got=type_name(schema[names[name]])
            )


def _check_categories(table: BoundTable, names: dict[str, str], columns: Iterable[str]) -> None:
    for name in columns:
        fitting, got = value_type(table, names[name])
        if fitting not in (str, int, bool, float, NoneType) or got == "UUID":
            requirement = "hold levels, which are texts, integers or booleans"
            raise ArgumentTypeError.must(f"column {name!r}", requirement, got=got)


def _coded(series: Any) -> tuple[Any, list[Any]]:
    """Return for each row the place of its value among the distinct ones; null is one of them."""
    arrow = series.to_arrow()
    if isinstance(arrow, pa.ChunkedArray):
        arrow = arrow.combine_chunks()
    if pa.types.is_dictionary(arrow.type):
        arrow = arrow.dictionary_decode()
    coded = arrow.dictionary_encode(null_encoding="encode")
    values = [plain_value(value) for value in coded.dictionary.to_pylist()]
    return coded.indices.to_numpy(zero_copy_only=False).astype(np.int64), values


def _renumbered(place: Any) -> tuple[Any, Any]:
    distinct, again = np.unique(place, return_inverse=True)
    return again.astype(np.int64), distinct


def check_codes(name: str, codes: Codes) -> None:
    """Refuse values that are none of the levels of a column's mechanism; none of them is shown.

    Examples
    --------
    >>> check_codes("smoker", np.array([0, 1, -2]))
    Traceback (most recent call last):
    inbounds.errors.ArgumentError: column 'smoker' must hold levels of its mechanism only.
    Hint: give the mechanism that the column was made with.
    """
    if (codes == FOREIGN).any():
        hint = "give the mechanism that the column was made with."
        requirement = "hold levels of its mechanism only"
        raise ArgumentError.must(f"column {name!r}", requirement, hint=hint)


def check_outputs(name: str, outputs: Floats, bounds: tuple[float, float]) -> None:
    """Refuse numbers that cannot be outputs of a column's mechanism; none of them is shown.

    Examples
    --------
    >>> check_outputs("age", np.array([130.0]), (0.0, 120.0))
    Traceback (most recent call last):
    inbounds.errors.ArgumentError: column 'age' must lie in the box of its mechanism.
    Hint: give the mechanism that the column was made with.
    """
    inside = (outputs >= bounds[0]) & (outputs <= bounds[1])  # false for NaN
    if not inside.all():
        hint = "give the mechanism that the column was made with."
        raise ArgumentError.must(f"column {name!r}", "lie in the box of its mechanism", hint=hint)
