"""PyArrow tables, record batches and streams of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from inbounds._extra import optional
from inbounds.errors import ArgumentError, InBoundsError
from inbounds.frames.local.column import Column, locate, number_type
from inbounds.frames.local.layout import Rebuilt, batch_rows
from inbounds.frames.local.order import permutation
from inbounds.frames.silence import each_in_our_words

with optional():
    import pyarrow as pa

_TYPES = {f"{sign}int{bits}": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
_WHOLE_DOUBLES = 2**53
_TYPES |= {"halffloat": "float16", "float": "float32", "double": "float64"}


def privatize_frame(frame: Any, columns: Sequence[Column], *, shuffle: bool = False) -> Any:
    """Replace columns of a table or record batch now, and of a reader's batches as they are read.

    All rows are built anew, as those of files are: metadata, where pieces of columns end, and what
    else the memory of the given arrays may hold are left out. Tables and readers come back in
    batches of a constant number of rows.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 120, epsilon=1.0)
    >>> table = pa.table({"age": [17, 41], "town": ["Ulm", "Rom"]})
    >>> privatize_frame(table, [Column("age", m, "error")]).schema.types
    [DataType(double), DataType(string)]
    """
    places = locate(columns, frame.schema.names)
    rebuilt = Rebuilt(frame.schema)
    schema = answered_schema(rebuilt.schema, places)
    is_batch = isinstance(frame, pa.RecordBatch)
    rows = max(frame.num_rows, 1) if is_batch else batch_rows(schema)
    is_reader = isinstance(frame, pa.RecordBatchReader)
    given = _read(frame) if is_reader else [frame] if is_batch else frame.to_batches()
    batches: Iterator[Any] = (
        answered_batch(batch, places, schema) for batch in rebuilt.batches(given, rows)
    )
    if shuffle:
        rebuilt = Rebuilt(schema)
        batches = rebuilt.reordered(batches, permutation, rows)
    if is_reader:
        return pa.RecordBatchReader.from_batches(schema, batches)
    if is_batch:
        return next(batches, None) or answered_batch(rebuilt.whole(frame), places, schema)
    return rebuilt.table(batches, schema)


def _read(reader: Any) -> Iterator[Any]:
    """Yield a reader's batches; what it says when it fails, as of text it reads, may show cells."""
    return each_in_our_words(
        reader,
        lambda error: (
            error
            if isinstance(error, InBoundsError)
            else ArgumentError(
                f"frame could not be read: its reader raised {type(error).__name__}.\n"
                "Hint: its message may hold private values, so it is not shown; read it by itself."
            )
        ),
        Exception,
    )


def answered_schema(schema: Any, places: dict[int, Column]) -> Any:
    """Return the schema of answered batches; private columns keep no notes of an extension type.

    Examples
    --------
    >>> answered_schema(pa.schema({"town": pa.string()}), {}).types
    [DataType(string)]
    """
    for i, column in places.items():
        field = schema.field(i)
        kind = answer_type(column, field.type)
        schema = schema.set(i, pa.field(field.name, kind, field.nullable))
    return schema


def answered_batch(batch: Any, places: dict[int, Column], schema: Any) -> Any:
    """Replace columns of a batch that was rebuilt; `schema` is that of the result.

    Examples
    --------
    >>> batch = pa.record_batch({"town": ["Ulm"]})
    >>> answered_batch(batch, {}, batch.schema).to_pylist()
    [{'town': 'Ulm'}]
    """
    columns = [
        answer(places[i], values) if i in places else values
        for i, values in enumerate(batch.columns)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def shuffled_batches(batches: Iterable[Any], schema: Any, rows: int | None = None) -> Iterator[Any]:
    """Hold all batches in memory, and yield their rows in a random order.

    Examples
    --------
    >>> batch = pa.record_batch({"x": [1, 2, 3]})
    >>> sorted(pa.Table.from_batches(shuffled_batches([batch], batch.schema))["x"].to_pylist())
    [1, 2, 3]
    """
    return Rebuilt(schema).reordered(batches, permutation, rows)


def answer(column: Column, values: Any) -> Any:
    """Answer an array or a chunked array; dictionaries, which list true values, are dropped.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 120, epsilon=1.0)
    >>> answer(Column("age", m, "keep"), pa.array([17, None])).null_count
    1
    """
    kind = answer_type(column, values.type)
    chunked = isinstance(values, pa.ChunkedArray)
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if pa.types.is_decimal(values.type):
        values = values.cast(pa.float64())  # may round, but any two values in the box are hidden
    array = values.combine_chunks() if chunked else values
    missing = None
    if array.null_count:
        missing = array.is_null().to_numpy(zero_copy_only=False)
        array = array.fill_null(0)
    answers = column.answer(array.to_numpy(zero_copy_only=False), missing)
    result = pa.array(answers, mask=missing if column.nulls == "keep" else None).cast(kind)
    return pa.chunked_array([result]) if chunked else result


def answer_type(column: Column, given: Any) -> Any:
    """Return the type that the answers to a column of type `given` have."""
    plain = given.value_type if pa.types.is_dictionary(given) else given
    if pa.types.is_decimal(plain):
        digits = plain.precision - plain.scale if plain.scale >= 0 else 0
        most = min(10 ** max(digits, 0) - 1, _WHOLE_DOUBLES)
        return plain if column.answers_within(-most, most) else pa.float64()
    if column.becomes_whole:
        return pa.int64()
    return plain if column.keeps(number_type(column, plain, _TYPES)) else pa.float64()
