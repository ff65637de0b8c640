"""The layout of what is published: batches of a constant number of rows, in arrays built anew.

Where an input's row groups, record batches and blocks of text end may depend on private values, and
so may the dictionaries that come with them. None of it is passed on: how many rows a batch has
depends on the number and the types of columns, and a dictionary lists values as they first appear.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from inbounds._extra import optional
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.frames.local.nested import with_fields

with optional():
    import pyarrow as pa
    import pyarrow.compute as pc

_FEWEST, _MOST = 1 << 12, 1 << 19  # rows in a batch: with the most, every core draws answers
_MOST_OF_TEXT = 1 << 16  # rows in a batch with cells of any length
_CELLS = 1 << 22  # in a batch
_PLAIN = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}
_BUILT = (
    pa.types.is_struct,
    pa.types.is_map,
    pa.types.is_list,
    pa.types.is_large_list,
    pa.types.is_fixed_size_list,
)
_MANY_LAYOUTS = (pa.types.is_union, pa.types.is_list_view, pa.types.is_large_list_view)


def batch_rows(schema: Any) -> int:
    """Return how many rows a batch has; nothing but the number and types of columns tells it.

    Examples
    --------
    >>> batch_rows(pa.schema({"age": pa.int8()})), batch_rows(pa.schema({"town": pa.string()}))
    (524288, 65536)
    """
    most = _MOST if all(_has_one_width(field.type) for field in schema) else _MOST_OF_TEXT
    return min(max(_CELLS // max(len(schema), 1), _FEWEST), most)


def _has_one_width(kind: Any) -> bool:
    return bool(pa.types.is_primitive(kind) or pa.types.is_decimal(kind))


def rebatched(batches: Iterable[Any], schema: Any, rows: int) -> Iterator[Any]:
    """Cut and join batches, so that each has `rows` rows and the last one what is left.

    Examples
    --------
    >>> batch = pa.record_batch({"x": [1, 2, 3]})
    >>> [part.num_rows for part in rebatched([batch, batch], batch.schema, 4)]
    [4, 2]
    """
    held: list[Any] = []
    missing = rows
    for batch in batches:
        start = 0
        while batch.num_rows - start >= missing:
            yield _joined([*held, batch.slice(start, missing)], schema)
            start, held, missing = start + missing, [], rows
        if start < batch.num_rows:
            held.append(batch.slice(start))
            missing -= batch.num_rows - start
    if held:
        yield _joined(held, schema)


def _joined(batches: list[Any], schema: Any) -> Any:
    """Join batches into new memory: a part of an array would keep what stands beside it."""
    columns = [
        joined([batch.column(i) for batch in batches], field) for i, field in enumerate(schema)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def joined(arrays: list[Any], field: Any) -> Any:
    """Return arrays of a type as one, with nothing left in the places of nulls.

    A reader may leave anything there, and Arrow's files would carry it.

    Examples
    --------
    >>> joined([pa.array([1]), pa.array([2])], pa.field("x", pa.int64())).to_pylist()
    [1, 2]
    """
    try:
        array = pa.concat_arrays(arrays)
        is_clean = not array.null_count and pa.types.is_primitive(array.type)
        if is_clean or pa.types.is_run_end_encoded(array.type):  # runs have no places of nulls
            return array
        return _cleaned(_taken(array))
    except pa.ArrowException:
        raise ArgumentTypeError(
            f"column {field.name!r} must be of a type that Arrow can join, got "
            f"{field.type.__class__.__name__}."
        ) from None


def _cleaned(array: Any) -> Any:
    """Return an array with nothing left below a null struct, however deep: `take` keeps that."""
    kind = array.type
    if not _can_be_cleaned(kind):
        return array
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, _cleaned(array.storage))
    nulls = array.is_null()
    if pa.types.is_struct(kind):
        children = [_cleaned(_taken(child)) for child in array.flatten()]
        return pa.StructArray.from_arrays(children, fields=list(kind), mask=nulls)
    if pa.types.is_map(kind):
        keys, items = _cleaned(_taken(array.keys)), _cleaned(_taken(array.items))
        return pa.MapArray.from_arrays(array.offsets, keys, items, type=kind, mask=nulls)
    values = _cleaned(_taken(array.values))
    if pa.types.is_fixed_size_list(kind):
        return pa.FixedSizeListArray.from_arrays(values, type=kind, mask=nulls)
    return type(array).from_arrays(array.offsets, values, type=kind, mask=nulls)


def _can_be_cleaned(kind: Any) -> bool:
    """Say whether a type is nested, and of those that Arrow can take apart and build again."""
    if isinstance(kind, pa.BaseExtensionType):
        return _can_be_cleaned(kind.storage_type)
    if not any(is_kind(kind) for is_kind in _BUILT) or getattr(kind, "list_size", 1) == 0:
        return False
    inner = (kind.field(i).type for i in range(kind.num_fields))
    return all(not part.num_fields or _can_be_cleaned(part) for part in inner)


def _taken(array: Any) -> Any:
    return array.take(pa.array(np.arange(len(array))))


class Rebuilt:
    """Rows of a file in plain batches: views of text, runs and inner dictionaries are undone.

    Parameters
    ----------
    schema
        Of the batches that are given; that of the ones that come out is `schema`.

    Examples
    --------
    >>> batch = pa.record_batch({"town": pa.array(["Ulm", "Rom"]).dictionary_encode()})
    >>> rebuilt = Rebuilt(batch.schema)
    >>> [part["town"].dictionary.to_pylist() for part in rebuilt.batches([batch.slice(1), batch])]
    [['Rom', 'Ulm']]
    """

    def __init__(self, schema: Any) -> None:
        self._known: dict[int, Any] = {}
        plain = [field.with_type(_plain(field.type, field.name)) for field in schema]
        self._ordered = [i for i, field in enumerate(schema) if _is_ordered(field.type)]
        self._plain = pa.schema(plain, schema.metadata)
        fields = [
            field.with_type(pa.dictionary(pa.int32(), plain[i].type))
            if _is_encoded(field.type)
            else plain[i]
            for i, field in enumerate(schema)
        ]
        self.schema = pa.schema(fields, schema.metadata)

    def batches(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield the rows of batches in as many as their columns say."""
        for batch in rebatched(map(self._cast, batches), self._plain, batch_rows(self.schema)):
            columns = [
                self._encoded(i, column) if field.type != self._plain.field(i).type else column
                for i, (field, column) in enumerate(zip(self.schema, batch.columns, strict=True))
            ]
            yield pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def _cast(self, batch: Any) -> Any:
        for i in self._ordered:
            listed = batch.column(i).dictionary
            if not self._known.setdefault(i, listed).equals(listed):
                raise ArgumentError(
                    f"column {batch.schema.names[i]!r} must have the same ordered categories in "
                    "all of the file."
                )
        columns = [_cast(column, field) for column, field in zip(batch, self._plain, strict=True)]
        return pa.RecordBatch.from_arrays(columns, schema=self._plain)

    def _encoded(self, place: int, values: Any) -> Any:
        """Return values by their places in a list of all that have appeared so far."""
        known = self._known.get(place, values[:0])
        unique = values.unique().drop_null()
        new = unique.filter(pc.invert(pc.is_in(unique, value_set=known)))
        known = self._known[place] = pa.concat_arrays([known, new])
        return pa.DictionaryArray.from_arrays(pc.index_in(values, value_set=known), known)


def _is_ordered(kind: Any) -> bool:
    return bool(pa.types.is_dictionary(kind) and kind.ordered)


def _is_encoded(kind: Any) -> bool:
    """Say whether a dictionary is built anew; one of numbers or of nested values is undone."""
    if not pa.types.is_dictionary(kind) or kind.ordered:
        return False
    text = _plain(kind.value_type, "")
    return bool(pa.types.is_string(text) or pa.types.is_large_string(text))


def _plain(kind: Any, name: str) -> Any:
    """Return a type whose arrays have one way only to hold the same values."""
    if _is_ordered(kind):
        return kind
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return _plain(kind.value_type, name)
    if isinstance(kind, pa.BaseExtensionType):
        storage = _plain(kind.storage_type, name)
        return kind if storage == kind.storage_type else storage
    if any(has_many_layouts(kind) for has_many_layouts in _MANY_LAYOUTS):
        raise ArgumentTypeError(
            f"column {name!r} must be of a type with one layout only, unlike unions and views of "
            "lists."
        )
    nested = with_fields(kind, lambda field: field.with_type(_plain(field.type, name)))
    return _PLAIN.get(kind, kind) if nested is None else nested


def without_old_order(values: Any, name: str) -> Any:
    """Return a column whose memory, once its rows are put in another order, does not tell the old.

    Dictionaries inside nested types, views of text and runs are undone: they list values as they
    appeared, and keep them where they were.

    Examples
    --------
    >>> listed = pa.StructArray.from_arrays([pa.array(["b", "a"]).dictionary_encode()], ["x"])
    >>> without_old_order(listed, "town").type
    StructType(struct<x: string>)
    """
    kind = values.type
    if pa.types.is_dictionary(kind):
        return values
    field = pa.field(name, _plain(kind, name))
    if not isinstance(values, pa.ChunkedArray):
        return _cast(values, field)
    return pa.chunked_array([_cast(chunk, field) for chunk in values.chunks], field.type)


def _cast(values: Any, field: Any) -> Any:
    if values.type == field.type:
        return values
    try:
        if isinstance(values.type, pa.BaseExtensionType):
            values = values.storage
        if pa.types.is_run_end_encoded(values.type):
            values = pc.run_end_decode(values)
        return values.cast(field.type)
    except pa.ArrowException:
        raise ArgumentTypeError(
            f"column {field.name!r} must be of a type that can be written plainly."
        ) from None
