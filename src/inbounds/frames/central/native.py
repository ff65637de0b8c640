"""A summary as a frame of the user's kind."""

from __future__ import annotations

from typing import Any, cast

from inbounds._extra import optional
from inbounds.frames.binding import BoundTable
from inbounds.frames.central.estimate import NUMBERS

with optional():
    import narwhals as nw


def native_frame(table: BoundTable, columns: dict[str, list[Any]]) -> Any:
    """Return columns as a frame of the kind that the table is; None is an empty cell.

    Examples
    --------
    >>> import polars as pl
    >>> table = nw.from_native(pl.DataFrame({"x": [1]}))
    >>> columns = {"town": ["Ulm"], **dict.fromkeys(NUMBERS, [None])}
    >>> native_frame(table, columns)["value"].dtype
    Float64
    """
    engine = table.implementation
    if engine.is_pandas() or engine.is_polars():
        frame = nw.from_dict(columns, backend=cast("Any", engine))
        return frame.with_columns(nw.col(*NUMBERS).cast(nw.Float64())).to_native()
    result = _arrow_table(columns)
    return table.to_native().sparkSession.createDataFrame(result) if engine.is_pyspark() else result


def _arrow_table(columns: dict[str, list[Any]]) -> Any:
    """Return a table of Arrow, which by itself would read integers as signed ones only."""
    with optional():
        import pyarrow as pa  # noqa: PLC0415 - pandas and Polars do without

    arrays = {}
    for name, values in columns.items():
        is_large = any(isinstance(value, int) and value >= 2**63 for value in values)
        kind = pa.float64() if name in NUMBERS else None
        arrays[name] = pa.array(values, pa.uint64() if is_large else kind)
    return pa.table(arrays)
