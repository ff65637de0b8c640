"""A small table of results, as a frame of the user's kind."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, cast

from inbounds._extra import optional

NUMBERS = ("value", "standard_error", "lower", "upper")
"""Columns of a result that hold estimates."""


_MIXED = ("column", "level")  # which may hold integers, and nothing in other rows


def native_frame(
    table: Any, columns: dict[str, list[Any]], doubles: Collection[str] = NUMBERS
) -> Any:
    """Return columns as a frame of the kind that the table is; None is an empty cell.

    Parameters
    ----------
    table
        A narwhals frame, or a stream of Arrow; streams and DuckDB get a table of Arrow.
    columns
        The columns, which all have the same length.
    doubles
        The columns that hold doubles, even if all cells are empty.

    Examples
    --------
    >>> import narwhals as nw
    >>> import polars as pl
    >>> table = nw.from_native(pl.DataFrame({"x": [1]}))
    >>> columns = {"town": ["Ulm"], **dict.fromkeys(NUMBERS, [None])}
    >>> native_frame(table, columns)["value"].dtype
    Float64
    """
    with optional():
        import narwhals as nw  # noqa: PLC0415 - statistics are named without it

    engine = getattr(table, "implementation", None)
    if engine is not None and (engine.is_pandas() or engine.is_polars()):
        if engine.is_pandas():
            columns = {**columns, **{n: _integers(columns[n]) for n in _MIXED if n in columns}}
        frame = nw.from_dict(columns, backend=cast("Any", engine))
        held = [name for name in columns if name in doubles]
        return frame.with_columns(nw.col(*held).cast(nw.Float64())).to_native()
    result = _arrow_table(columns, doubles)
    is_spark = engine is not None and engine.is_pyspark()
    return table.to_native().sparkSession.createDataFrame(result) if is_spark else result


def of_one_type(values: list[Any]) -> list[Any]:
    """Return levels as text if they are of several types, as a column must be of one.

    Examples
    --------
    >>> of_one_type(["no", None, 1]), of_one_type([0, 1])
    (['no', None, '1'], [0, 1])
    """
    if len({type(value) for value in values if value is not None}) <= 1:
        return values
    return [None if value is None else str(value) for value in values]


def _integers(values: list[Any]) -> Any:
    """Return integers as those of pandas, even beside an empty cell; other values as they are."""
    if {type(value) for value in values} != {int, type(None)}:
        return values
    with optional():
        import pandas as pd  # noqa: PLC0415 - this is a frame of pandas

    return pd.array(values, dtype="Int64")


def _arrow_table(columns: dict[str, list[Any]], doubles: Collection[str]) -> Any:
    """Return a table of Arrow, which by itself would read integers as signed ones only."""
    with optional():
        import pyarrow as pa  # noqa: PLC0415 - pandas and Polars do without

    arrays = {}
    for name, values in columns.items():
        kind = pa.float64() if name in doubles else None
        if kind is None and all(value is None for value in values):
            kind = pa.string()
        is_large = any(isinstance(value, int) and value >= 2**63 for value in values)
        arrays[name] = pa.array(values, pa.uint64() if is_large else kind)
    return pa.table(arrays)
