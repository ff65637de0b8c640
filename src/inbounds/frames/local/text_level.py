"""Levels that are written as text in CSV, where a blank cell is a missing value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from inbounds._extra import optional
from inbounds.frames.local.category import CategoryColumn

with optional():
    import pyarrow as pa
    import pyarrow.compute as pc

_TYPES = {"text": "string", "integer": "int64", "boolean": "bool"}


def level_schema(schema: Any, columns: Iterable[CategoryColumn]) -> Any:
    """Return a schema in which columns of text have the types of their levels.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.RandomizedResponse([0, 1], epsilon=1.0)
    >>> level_schema(pa.schema({"x": pa.string()}), [CategoryColumn("x", m, "error")]).types
    [DataType(int64)]
    """
    for column in columns:
        kind = pa.type_for_alias(_TYPES[column.mechanism.family])
        schema = schema.set(schema.names.index(column.name), pa.field(str(column.name), kind))
    return schema


def read_levels(
    batches: Iterable[Any], schema: Any, columns: Mapping[CategoryColumn, tuple[str, ...]]
) -> Iterator[Any]:
    """Yield batches in which columns of text hold levels, of the types that `schema` states.

    Parameters
    ----------
    batches, schema
        Batches of a CSV file, and what `level_schema` returned.
    columns
        For each column of categories, how its levels are written, in their order.

    Raises
    ------
    ArgumentError
        If a cell is neither blank nor a level. The message does not show it.

    Examples
    --------
    >>> import inbounds as ib
    >>> column = CategoryColumn("x", ib.RandomizedResponse([0, 1], epsilon=1.0), "keep")
    >>> batch = pa.record_batch({"x": ["1", "", "0"]})
    >>> (typed,) = read_levels([batch], level_schema(batch.schema, [column]), {column: ("0", "1")})
    >>> typed["x"].to_pylist()
    [1, None, 0]
    """
    for batch in batches:
        arrays = list(batch.columns)
        for column, texts in columns.items():
            place = schema.names.index(column.name)
            arrays[place] = _levels(arrays[place], column, texts, schema.field(place).type)
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def blank_as_missing(batch: Any, names: Iterable[str]) -> Any:
    """Return a batch of a CSV file in which blank cells of some columns are nulls.

    Examples
    --------
    >>> blank_as_missing(pa.record_batch({"x": ["no", ""]}), ["x"])["x"].to_pylist()
    ['no', None]
    """
    for name in names:
        place = batch.schema.names.index(name)
        cells = batch.column(place)
        filled = pc.if_else(pc.equal(cells, ""), pa.scalar(None, cells.type), cells)
        batch = batch.set_column(place, batch.schema.field(place).with_nullable(True), filled)
    return batch


def _levels(cells: Any, column: CategoryColumn, texts: tuple[str, ...], kind: Any) -> Any:
    codes = pc.index_in(cells, value_set=pa.array(texts, cells.type))
    is_blank = pc.fill_null(pc.equal(cells, ""), fill_value=True)
    if pc.any(pc.and_(codes.is_null(), pc.invert(is_blank))).as_py():
        raise column.foreign()
    return pa.array(column.mechanism.levels, kind).take(codes)
