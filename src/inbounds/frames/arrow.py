"""PyArrow tables, record batches and streams of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from inbounds._extra import optional
from inbounds.frames.column import Column, locate, number_type
from inbounds.frames.metadata import bare_column, bare_schema
from inbounds.frames.order import permutation

with optional():
    import pyarrow as pa

_TYPES = {f"{sign}int{bits}": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
_TYPES |= {"halffloat": "float16", "float": "float32", "double": "float64"}


def privatize_frame(frame: Any, columns: Sequence[Column], *, shuffle: bool = False) -> Any:
    """Replace columns of a table or record batch now, and of a reader's batches as they are read.

    Metadata of the schema and of its fields is left out.

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
    return replaced.take(permutation(replaced.num_rows)) if shuffle else replaced


def shuffled_batches(batches: Iterable[Any], schema: Any) -> Iterator[Any]:
    """Hold all batches in memory, and yield their rows in a random order.

    Examples
    --------
    >>> batch = pa.record_batch({"x": [1, 2, 3]})
    >>> sorted(pa.Table.from_batches(shuffled_batches([batch], batch.schema))["x"].to_pylist())
    [1, 2, 3]
    """
    table = pa.Table.from_batches(batches, schema)
    yield from table.take(permutation(table.num_rows)).to_batches()


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
    array = values.combine_chunks() if chunked else values
    missing = None
    if array.null_count:
        missing = array.is_null().to_numpy(zero_copy_only=False)
        array = array.fill_null(0)
    answers = column.answer(array.to_numpy(zero_copy_only=False), missing)
    result = pa.array(answers, kind, mask=missing if column.nulls == "keep" else None)
    return pa.chunked_array([result]) if chunked else result


def answer_type(column: Column, given: Any) -> Any:
    """Return the type that the answers to a column of type `given` have."""
    plain = given.value_type if pa.types.is_dictionary(given) else given
    return plain if column.keeps(number_type(column, plain, _TYPES)) else pa.float64()


def _replaced(frame: Any, places: dict[int, Column], schema: Any) -> Any:
    columns = [
        answer(places[i], frame.column(i)) if i in places else bare_column(frame.column(i), field)
        for i, field in enumerate(schema)
    ]
    return type(frame).from_arrays(columns, schema=schema)


def _answered_batches(reader: Any, places: dict[int, Column], schema: Any) -> Iterator[Any]:
    for batch in reader:
        yield _replaced(batch, places, schema)
