"""The layout of what is published: batches of a constant number of rows, in arrays built anew.

The ends of an input's row groups, record batches, chunks and blocks of text may depend on private
values, and so may its dictionaries. None of them is passed on, whether the rows come from a file or
from memory. The number of rows in a batch depends only on the number and the types of the columns,
and a dictionary lists values in the order of their first appearance or, if shuffled, sorted.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Container, Iterable, Iterator
from typing import Any

import numpy as np

from inbounds._extra import optional
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.frames.local.metadata import bare_schema
from inbounds.frames.local.nested import with_fields
from inbounds.frames.local.replica import Places, replica
from inbounds.frames.silence import in_our_words

with optional():
    import pyarrow as pa
    import pyarrow.compute as pc

_FEWEST, _MOST = 1 << 12, 1 << 19  # rows in a batch: the largest keep every core busy
_MOST_OF_TEXT = 1 << 16  # rows in a batch whose cells may have any length
_CELLS = 1 << 22  # cells in a batch
_FAILURES = (pa.ArrowException, ArithmeticError, LookupError, TypeError, ValueError)
_PLAIN = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}
_MANY_LAYOUTS = (pa.types.is_union, pa.types.is_list_view, pa.types.is_large_list_view)


def batch_rows(schema: Any) -> int:
    """Return the number of rows in a batch, from the number and types of the columns alone.

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
    """Cut and join batches so that each has `rows` rows, except the last one.

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
    """Join batches into new memory: a slice of an array would keep the rows beside it."""
    columns = [
        joined([batch.column(i) for batch in batches], field) for i, field in enumerate(schema)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def joined(arrays: list[Any], field: Any) -> Any:
    """Join arrays into one of a field's type, with nothing in its memory except their cells.

    Examples
    --------
    >>> joined([pa.array([1]), pa.array([2])], pa.field("x", pa.int64())).to_pylist()
    [1, 2]
    """
    return in_our_words(
        lambda: _joined_cells(arrays, field),
        lambda _: ArgumentTypeError.must_be(
            f"column {field.name!r}",
            "of a type that Arrow can join, with texts and lists that are not too long for it",
            hint="cast texts to large_string, and lists to large_list.",
        ),
        *_FAILURES,
    )


def _joined_cells(arrays: list[Any], field: Any) -> Any:
    plain = [
        array if array.type == field.type else replica(array, field, np.arange(len(array)))
        for array in arrays
    ]
    whole = plain[0] if len(plain) == 1 else pa.concat_arrays(plain)
    return replica(whole, field, np.arange(len(whole)))


class Rebuilt:
    """Batches built anew from plain arrays, without views of text, runs and inner dictionaries.

    Parameters
    ----------
    schema
        The schema of the given batches. The attribute `schema` is that of the new ones.

    Examples
    --------
    >>> batch = pa.record_batch({"town": pa.array(["Ulm", "Rom"]).dictionary_encode()})
    >>> rebuilt = Rebuilt(batch.schema)
    >>> [part["town"].dictionary.to_pylist() for part in rebuilt.batches([batch.slice(1), batch])]
    [['Rom', 'Ulm']]
    """

    def __init__(self, schema: Any) -> None:
        schema = bare_schema(schema)
        fields = [field.with_type(_published(field.type, field.name)) for field in schema]
        self.schema = pa.schema(fields)
        self._plain = pa.schema([field.with_type(_held(field.type)) for field in fields])
        self._coded = [i for i, field in enumerate(fields) if pa.types.is_dictionary(field.type)]
        self._known: dict[int, Any] = {}

    def batches(self, batches: Iterable[Any], rows: int | None = None) -> Iterator[Any]:
        """Yield the rows of batches in new batches of `rows` rows, or of `batch_rows(schema)`."""
        rows = rows or batch_rows(self.schema)
        for batch in rebatched(map(self._decoded, batches), self._plain, rows):
            yield self._encoded(batch)

    def batch(self, batch: Any) -> Any:
        """Return a new batch with the rows of one batch, even if there are none."""
        return self._encoded(_joined([self._decoded(batch)], self._plain))

    def reordered(
        self, batches: Iterable[Any], order: Callable[[int], Places], rows: int | None = None
    ) -> Iterator[Any]:
        """Read all rows into memory, and yield them in the order that `order(rows)` returns.

        Unordered dictionaries are sorted, because their own order would reveal that of the rows.
        """
        for whole in rebatched(map(self._decoded, batches), self._plain, sys.maxsize):
            places = order(whole.num_rows)
            columns = [
                replica(column, field, places)
                for column, field in zip(whole.columns, self._plain, strict=True)
            ]
            for i in self._coded:
                if not self.schema.field(i).type.ordered:
                    listed = columns[i].unique().drop_null()
                    self._known[i] = listed.take(pc.array_sort_indices(listed))
            moved = pa.RecordBatch.from_arrays(columns, schema=self._plain)
            for batch in rebatched([moved], self._plain, rows or batch_rows(self.schema)):
                yield self._encoded(batch)

    def table(self, batches: Iterable[Any], schema: Any, replaced: Container[int] = ()) -> Any:
        """Return a table of batches that were made here, with one dictionary for each column.

        `schema` is the schema of these batches. The columns at the places `replaced` were put in
        place of private ones: the dictionaries known here list true values, so theirs are kept.
        """
        table = pa.Table.from_batches(batches, schema)
        for i in self._coded:
            kind = schema.field(i).type
            if pa.types.is_dictionary(kind) and i not in replaced:
                chunks = [
                    pa.DictionaryArray.from_arrays(
                        chunk.indices, self._known[i], ordered=kind.ordered
                    )
                    for chunk in table.column(i).chunks
                ]
                table = table.set_column(i, schema.field(i), pa.chunked_array(chunks, kind))
        return table

    def _decoded(self, batch: Any) -> Any:
        """Return a batch with ordered categories as places in their list, which is remembered."""
        for i in self._coded:
            if self.schema.field(i).type.ordered:
                column = batch.column(i)
                self._keep_categories(i, column.dictionary)
                batch = batch.set_column(i, batch.schema.names[i], column.indices)
        return batch

    def _keep_categories(self, place: int, given: Any) -> None:
        field = self.schema.field(place)
        listed = joined([given], field.with_type(field.type.value_type))
        if listed.null_count or len(listed.unique()) != len(listed):
            requirement = "have ordered categories that are distinct and not null"
            raise ArgumentError.must(f"column {field.name!r}", requirement)
        if _buffers(self._known.setdefault(place, listed)) != _buffers(listed):
            requirement = "have the same ordered categories in all batches"
            raise ArgumentError.must(f"column {field.name!r}", requirement)

    def _encoded(self, batch: Any) -> Any:
        columns = batch.columns
        for i in self._coded:
            kind = self.schema.field(i).type
            if not kind.ordered:
                columns[i] = self._places(i, columns[i])
            columns[i] = pa.DictionaryArray.from_arrays(
                columns[i], self._known[i], ordered=kind.ordered
            )
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def _places(self, place: int, values: Any) -> Any:
        """Return the places of values in the list of all values that have appeared so far."""
        known = self._known.get(place, values[:0])
        unique = values.unique().drop_null()
        new = unique.filter(pc.invert(pc.is_in(unique, value_set=known)))
        known = self._known[place] = joined([known, new], self._plain.field(place))
        return joined([pc.index_in(values, value_set=known)], pa.field("", pa.int32()))


def rebuilt_column(values: Any, name: str, *, sort: bool = False) -> Any:
    """Return a new array or chunked array of the same values; `sort` sorts its dictionary.

    Examples
    --------
    >>> towns = pa.array(["Ulm", "Rom"]).dictionary_encode()
    >>> rebuilt_column(towns, "town", sort=True).dictionary.to_pylist()
    ['Rom', 'Ulm']
    """
    is_chunked = isinstance(values, pa.ChunkedArray)
    given = [
        pa.RecordBatch.from_arrays([chunk], [name])
        for chunk in (values.chunks if is_chunked else [values])
    ]
    rebuilt = Rebuilt(pa.schema([pa.field(name, values.type)]))
    rows = None if is_chunked else max(len(values), 1)
    batches = rebuilt.reordered(given, np.arange, rows) if sort else rebuilt.batches(given, rows)
    table = rebuilt.table(batches, rebuilt.schema)
    return table.column(0) if is_chunked else table.column(0).combine_chunks()


def _published(kind: Any, name: str) -> Any:
    """Return the type of a published column.

    Ordered categories stay as they are, dictionaries of text are built anew, and other dictionaries
    become their values.
    """
    plain = _plain(kind, name)
    if not pa.types.is_dictionary(kind):
        return plain
    if kind.ordered:
        return pa.dictionary(kind.index_type, plain, ordered=True) if _has_unique(plain) else plain
    is_text = pa.types.is_string(plain) or pa.types.is_large_string(plain)
    return pa.dictionary(pa.int32(), plain) if is_text else plain


def _has_unique(kind: Any) -> bool:
    """Say whether Arrow can compare values of a type."""
    try:
        pa.array([], kind).unique()
    except pa.ArrowException:
        return False
    return True


def _buffers(array: Any) -> list[bytes | None]:
    """Return the bytes of a replica, by which NaN is equal to itself."""
    return [buffer and buffer.to_pybytes() for buffer in array.buffers()]


def _held(kind: Any) -> Any:
    """Return the type in which cells are joined and reordered: places for ordered categories."""
    if not pa.types.is_dictionary(kind):
        return kind
    return kind.index_type if kind.ordered else kind.value_type


def _plain(kind: Any, name: str) -> Any:
    """Return a type for the same values whose arrays can hold them in one way only."""
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return _plain(kind.value_type, name)
    if isinstance(kind, pa.BaseExtensionType):
        storage = _plain(kind.storage_type, name)
        return kind if storage == kind.storage_type else storage
    if any(has_many_layouts(kind) for has_many_layouts in _MANY_LAYOUTS):
        requirement = "of a type with one layout, unlike unions and views of lists"
        raise ArgumentTypeError.must_be(f"column {name!r}", requirement)
    nested = with_fields(kind, lambda field: field.with_type(_plain(field.type, name)))
    return _PLAIN.get(kind, kind) if nested is None else nested
