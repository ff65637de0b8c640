"""PyArrow tables, record batches and streams of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from inbounds._extra import optional
from inbounds.errors import ArgumentError, InBoundsError
from inbounds.frames.local.category import (
    CategoryColumn,
    LocalColumn,
    arrow_release,
    arrow_type,
)
from inbounds.frames.local.column import locate, number_type
from inbounds.frames.local.layout import Rebuilt, batch_rows
from inbounds.frames.local.order import permutation
from inbounds.frames.silence import each_in_our_words

with optional():
    import pyarrow as pa

_TYPES = {f"{sign}int{bits}": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
_WHOLE_DOUBLES = 2**53
_TYPES |= {"halffloat": "float16", "float": "float32", "double": "float64"}


def privatize_frame(frame: Any, columns: Sequence[LocalColumn], *, shuffle: bool = False) -> Any:
    """Replace columns of a table or record batch now, or of a reader's batches as they are read.

    All rows are built anew, as for files: metadata, the ends of chunks, and anything else in the
    memory of the given arrays are left out. Tables and readers come back in batches of a constant
    number of rows.

    Examples
    --------
    >>> import inbounds as ib
    >>> from inbounds.frames.local.column import PrivateColumn
    >>> m = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 120, epsilon=1.0)
    >>> table = pa.table({"age": [17, 41], "town": ["Ulm", "Rom"]})
    >>> privatize_frame(table, [PrivateColumn("age", m, "error")]).schema.types
    [DataType(double), DataType(string)]
    """
    places = locate(columns, frame.schema.names)
    rebuilt = Rebuilt(frame.schema)
    schema = released_schema(rebuilt.schema, places)
    is_batch = isinstance(frame, pa.RecordBatch)
    rows = max(frame.num_rows, 1) if is_batch else batch_rows(schema)
    is_reader = isinstance(frame, pa.RecordBatchReader)
    given = _read(frame) if is_reader else [frame] if is_batch else frame.to_batches()
    batches: Iterator[Any] = (
        released_batch(batch, places, schema) for batch in rebuilt.batches(given, rows)
    )
    replaced: Collection[int] = places
    if shuffle:
        rebuilt, replaced = Rebuilt(schema), ()  # its dictionaries list outputs
        batches = rebuilt.reordered(batches, permutation, rows)
    if is_reader:
        return pa.RecordBatchReader.from_batches(schema, batches)
    if is_batch:
        return next(batches, None) or released_batch(rebuilt.batch(frame), places, schema)
    return rebuilt.table(batches, schema, replaced)


def _read(reader: Any) -> Iterator[Any]:
    """Yield a reader's batches; if it fails, its message is dropped, because it may show cells."""
    return each_in_our_words(
        reader,
        lambda error: (
            error
            if isinstance(error, InBoundsError)
            else ArgumentError(
                f"frame could not be read: its reader raised {type(error).__name__}.",
                argument="frame",
                hint="the reader's message is not shown, because it may hold private values; read "
                "all of its batches to see it.",
            )
        ),
        Exception,
    )


def released_schema(schema: Any, places: Mapping[int, LocalColumn]) -> Any:
    """Return the schema of released batches, whose private columns have no metadata at all.

    Examples
    --------
    >>> released_schema(pa.schema({"town": pa.string()}), {}).types
    [DataType(string)]
    """
    for i, column in places.items():
        field = schema.field(i)
        released = pa.field(field.name, output_type(column, field.type), field.nullable)
        schema = schema.set(i, released)
    return schema


def released_batch(batch: Any, places: Mapping[int, LocalColumn], schema: Any) -> Any:
    """Return a rebuilt batch with columns replaced; `schema` is the schema of the result.

    Examples
    --------
    >>> batch = pa.record_batch({"town": ["Ulm"]})
    >>> released_batch(batch, {}, batch.schema).to_pylist()
    [{'town': 'Ulm'}]
    """
    columns = [
        release(places[i], values) if i in places else values
        for i, values in enumerate(batch.columns)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def shuffled_batches(batches: Iterable[Any], schema: Any, rows: int | None = None) -> Iterator[Any]:
    """Read all batches into memory, and yield their rows in a random order.

    Examples
    --------
    >>> batch = pa.record_batch({"x": [1, 2, 3]})
    >>> sorted(pa.Table.from_batches(shuffled_batches([batch], batch.schema))["x"].to_pylist())
    [1, 2, 3]
    """
    return Rebuilt(schema).reordered(batches, permutation, rows)


def release(column: LocalColumn, values: Any) -> Any:
    """Return private outputs for an array or a chunked array, without its dictionary.

    Examples
    --------
    >>> import inbounds as ib
    >>> from inbounds.frames.local.column import PrivateColumn
    >>> m = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 120, epsilon=1.0)
    >>> release(PrivateColumn("age", m, "keep"), pa.array([17, None])).null_count
    1
    """
    is_chunked = isinstance(values, pa.ChunkedArray)
    if isinstance(column, CategoryColumn):
        levels = arrow_release(column, values.combine_chunks() if is_chunked else values)
        return pa.chunked_array([levels]) if is_chunked else levels
    released_type = output_type(column, values.type)
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if pa.types.is_decimal(values.type):
        values = values.cast(pa.float64())  # may round, but any two values in the box are hidden
    array = values.combine_chunks() if is_chunked else values
    missing = None
    if array.null_count:
        missing = array.is_null().to_numpy(zero_copy_only=False)
        array = array.fill_null(0)
    outputs = column.release(array.to_numpy(zero_copy_only=False), missing)
    mask = missing if column.nulls == "keep" else None
    result = pa.array(outputs, mask=mask)
    result = result if result.type == released_type else result.cast(released_type)
    return pa.chunked_array([result]) if is_chunked else result


@lru_cache(maxsize=256)
def output_type(column: LocalColumn, given: Any) -> Any:
    """Return the type of the outputs for a column of type `given`; DuckDB asks for each vector."""
    if isinstance(column, CategoryColumn):
        return arrow_type(column, given)
    plain = given.value_type if pa.types.is_dictionary(given) else given
    if pa.types.is_decimal(plain):
        digits = plain.precision - plain.scale if plain.scale >= 0 else 0
        largest = min(10 ** max(digits, 0) - 1, _WHOLE_DOUBLES)
        return plain if column.outputs_within(-largest, largest) else pa.float64()
    if column.becomes_integer:
        return pa.int64()
    return plain if column.keeps(number_type(column, plain, _TYPES)) else pa.float64()
