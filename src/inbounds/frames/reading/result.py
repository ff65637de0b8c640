"""A small table of results as a frame of the user's kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from inbounds._extra import optional
from inbounds.frames.reading.row import LABELS, NUMBERS, Row

with optional():
    import narwhals as nw
    import pyarrow as pa

_WORDS = ("statistic", "column")
_NUMBER = nw.Float64()


def as_frame(table: Any, rows: Sequence[Row], by: Sequence[str]) -> Any:
    """Return rows as a frame of the kind that `table` is; Arrow for DuckDB and readers.

    Examples
    --------
    >>> import pandas as pd
    >>> table = nw.from_native(pd.DataFrame({"age": [1.0]}))
    >>> as_frame(table, [{"statistic": "mean", "value": 41.0}], []).columns.tolist()
    ['statistic', 'value']
    """
    names = [name for name in (*by, *LABELS, *NUMBERS) if any(name in row for row in rows)]
    columns = {name: [row.get(name) for row in rows] for name in names}
    engine = getattr(table, "implementation", None)
    if engine is not None and (engine.is_pandas() or engine.is_polars()):
        schema = {name: _NUMBER for name in names if name not in (*by, *_WORDS)}
        table = nw.from_dict(columns, backend=cast("Any", engine))
        return table.with_columns(nw.col(n).cast(kind) for n, kind in schema.items()).to_native()
    result = pa.table({name: _arrow(name, values, by) for name, values in columns.items()})
    if engine is not None and engine.is_pyspark():
        return table.to_native().sparkSession.createDataFrame(result)
    return result


def _arrow(name: str, values: list[Any], by: Sequence[str]) -> Any:
    """Return a column of Arrow; numbers are doubles, even if all are missing."""
    if name in by:
        return pa.array(values)
    return pa.array(values, pa.string() if name in _WORDS else pa.float64())
