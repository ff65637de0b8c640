"""PyArrow tables, record batches and streams of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from inbounds._extra import optional
from inbounds.errors import ArgumentTypeError
from inbounds.frames.local.column import Column, locate, number_type
from inbounds.frames.local.layout import batch_rows, rebatched, without_old_order
from inbounds.frames.local.metadata import bare_column, bare_schema
from inbounds.frames.local.order import category_order, permutation

with optional():
    import pyarrow as pa

_TYPES = {f"{sign}int{bits}": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
_WHOLE_DOUBLES = 2**53
_TYPES |= {"halffloat": "float16", "float": "float32", "double": "float64"}


def privatize_frame(frame: Any, columns: Sequence[Column], *, shuffle: bool = False) -> Any:
    """Replace columns of a table or record batch now, and of a reader's batches as they are read.

    Metadata of the schema and of its fields is left out. Columns of a table come back in one piece,
    and a reader's batches have a constant number of rows: where pieces end may tell of values.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 120, epsilon=1.0)
    >>> table = pa.table({"age": [17, 41], "town": ["Ulm", "Rom"]})
    >>> privatize_frame(table, [Column("age", m, "error")]).schema.types
    [DataType(double), DataType(string)]
    """
    places = locate(columns, frame.schema.names)
    schema = bare_schema(frame.schema, places)
    for i, column in places.items():
        field = schema.field(i)
        schema = schema.set(i, field.with_type(answer_type(column, field.type)))
    if isinstance(frame, pa.RecordBatchReader):
        batches = _answered_batches(frame, places, schema)
        if shuffle:
            batches = shuffled_batches(batches, schema)
        return pa.RecordBatchReader.from_batches(schema, batches)
    replaced = _replaced(frame, places, schema)
    if isinstance(frame, pa.RecordBatch):
        if not shuffle:
            return replaced
        (replaced,) = _shuffled(pa.Table.from_batches([replaced])).to_batches() or [replaced]
        return replaced
    return _shuffled(replaced) if shuffle else _in_one_piece(replaced)


def shuffled_batches(batches: Iterable[Any], schema: Any) -> Iterator[Any]:
    """Hold all batches in memory, and yield their rows in a random order.

    Examples
    --------
    >>> batch = pa.record_batch({"x": [1, 2, 3]})
    >>> sorted(pa.Table.from_batches(shuffled_batches([batch], batch.schema))["x"].to_pylist())
    [1, 2, 3]
    """
    table = _shuffled(pa.Table.from_batches(batches, schema))
    yield from rebatched(table.to_batches(), schema, batch_rows(schema))


def _shuffled(table: Any) -> Any:
    """Put rows into a random order; categories are sorted, as they may be listed in the old one."""
    table = _in_one_piece(table)
    for i, field in enumerate(table.schema):
        column = sortable(table.column(i), field.name)
        table = table.set_column(i, field.with_type(column.type), column)
    return _in_one_piece(table.take(permutation(table.num_rows)))


def sortable(values: Any, name: str) -> Any:
    """Return a chunked array that can be put in another order without a trace of the old one.

    Examples
    --------
    >>> towns = pa.chunked_array([pa.array(["Ulm", "Rom"]).dictionary_encode()])
    >>> sortable(towns, "town").chunk(0).dictionary.to_pylist()
    ['Rom', 'Ulm']
    """
    kind = values.type
    if not pa.types.is_dictionary(kind) or kind.ordered:
        return without_old_order(values, name)
    try:
        if kind.value_type.num_fields:  # which may hold dictionaries itself
            decoded = [chunk.dictionary_decode() for chunk in values.chunks]
            return without_old_order(pa.chunked_array(decoded, kind.value_type), name)
        chunks = [_with_sorted_categories(chunk) for chunk in values.chunks]
        return pa.chunked_array(chunks, kind)
    except (pa.ArrowException, ArithmeticError, ValueError):  # whose messages may show a value
        pass
    raise ArgumentTypeError(
        f"column {name!r} must have categories that can be sorted.\n"
        "Hint: cast it to a plain type first."
    )


def _with_sorted_categories(array: Any) -> Any:
    order = category_order(array.dictionary.to_pylist())
    places = pa.array(np.argsort(order), array.type.index_type)
    return pa.DictionaryArray.from_arrays(
        places.take(array.indices), array.dictionary.take(pa.array(order))
    )


def _in_one_piece(table: Any) -> Any:
    """Join the pieces of columns; runs and views, which tell where they ended, are undone."""
    for i, field in enumerate(table.schema):
        if pa.types.is_run_end_encoded(field.type) or str(field.type).endswith("_view"):
            column = without_old_order(table.column(i), field.name)
            table = table.set_column(i, field.with_type(column.type), column)
    try:
        return table.combine_chunks()
    except pa.ArrowException:
        raise ArgumentTypeError("columns must be of types that Arrow can join.") from None


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


def _replaced(frame: Any, places: dict[int, Column], schema: Any) -> Any:
    columns = [
        answer(places[i], frame.column(i)) if i in places else bare_column(frame.column(i), field)
        for i, field in enumerate(schema)
    ]
    return type(frame).from_arrays(columns, schema=schema)


def _answered_batches(reader: Any, places: dict[int, Column], schema: Any) -> Iterator[Any]:
    for batch in rebatched(reader, reader.schema, batch_rows(reader.schema)):
        yield _replaced(batch, places, schema)
