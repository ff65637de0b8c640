"""Polars data frames and lazy frames."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any

from inbounds._extra import optional
from inbounds.errors import ArgumentTypeError
from inbounds.frames.local.column import Column, locate, number_type
from inbounds.frames.local.layout import rebuilt_column
from inbounds.frames.local.order import permutation, warn_if_sorted

with optional():
    import polars as pl

_TYPES = {
    f"{sign}Int{bits}": f"{sign}int{bits}".lower() for sign in ("", "U") for bits in (8, 16, 32, 64)
}
_TYPES |= {"Float16": "float16", "Float32": "float32", "Float64": "float64"}

_WITHOUT_ARROW = (pl.Int128, pl.UInt128)
_SORTED = re.compile(r'SORT BY (?:\[[a-z_]+: [^"]*\] )?\[col\("(.*?)"\)[],]')  # how explain says it


def privatize_frame(frame: Any, columns: Sequence[Column], *, shuffle: bool = False) -> Any:
    """Replace columns of a data frame now, and of a lazy frame whenever it is collected.

    The step of a lazy plan is one function from frames to frames. As an expression, Polars would
    call it once for a column that it keeps as one repeated value, and repeat the answer. Filters
    must stay behind the step, or they would see the true values.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 120, epsilon=1.0)
    >>> lazy = pl.LazyFrame({"age": [17, 41]})
    >>> dict(privatize_frame(lazy, [Column("age", m, "error")]).collect_schema())
    {'age': Float64}
    """
    schema = pl.Schema(frame.collect_schema())
    places = locate(columns, schema.names())
    for column in places.values():
        schema[str(column.name)] = _answer_type(column, schema[str(column.name)])
    if isinstance(frame, pl.DataFrame):
        if not shuffle:
            warn_if_sorted(c.name for i, c in places.items() if _is_sorted(frame.to_series(i)))
        return _replaced(frame, places, shuffle=shuffle)
    if not shuffle:
        warn_if_sorted(c.name for c in places.values() if c.name == _last_sorted_by(frame))
    return frame.map_batches(
        lambda batch: _replaced(batch, places, shuffle=shuffle),
        predicate_pushdown=False,
        projection_pushdown=False,
        slice_pushdown=not shuffle,
        streamable=not shuffle,
        schema=schema,
    )


def answer(column: Column, series: pl.Series) -> pl.Series:
    """Answer a series by another of the same name; NaN is a value here, and refused.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 120, epsilon=1.0)
    >>> answer(Column("age", m, "keep"), pl.Series("age", [17, None])).null_count()
    1
    """
    kind = _answer_type(column, series.dtype)
    missing = series.is_null() if series.null_count() else None
    values = series if missing is None else series.fill_null(0)
    nulls = None if missing is None else missing.to_numpy()
    answers = pl.Series(series.name, column.answer(values.to_numpy(), nulls), kind)
    return answers if missing is None or column.nulls != "keep" else answers.set(missing, None)


def _answer_type(column: Column, given: Any) -> Any:
    return given if column.keeps(number_type(column, given, _TYPES)) else pl.Float64()


def _is_sorted(series: pl.Series) -> bool:
    """Say what the series carries as a flag; its values are not looked at."""
    return len(series) > 1 and any(series.flags[name] for name in ("SORTED_ASC", "SORTED_DESC"))


def _last_sorted_by(frame: pl.LazyFrame) -> str | None:
    """Return the first column by which the last step of a plan sorts, if that is what it does."""
    found = _SORTED.match(frame.explain(optimized=False))
    return found and found[1]


def _replaced(frame: pl.DataFrame, places: dict[int, Column], *, shuffle: bool) -> pl.DataFrame:
    answers = [answer(column, frame.to_series(i)) for i, column in places.items()]
    replaced = frame.with_columns(answers)
    if shuffle:
        replaced = replaced[permutation(len(replaced))]
    return _with_texts_moved(_rebuilt(replaced.rechunk()))  # where pieces end may tell of values


def _rebuilt(frame: pl.DataFrame) -> pl.DataFrame:
    """Build columns anew by Arrow: rows beside a list, and values below nulls, would stay."""
    chosen = [name for name, kind in frame.schema.items() if _is_plain(kind)]
    if not chosen:
        return frame
    table = frame.select(chosen).to_arrow(compat_level=pl.CompatLevel.oldest())
    columns = [rebuilt_column(table[name].combine_chunks(), name) for name in chosen]
    series = [
        pl.Series(name, column, frame.schema[name])
        for name, column in zip(chosen, columns, strict=True)
    ]
    return frame.with_columns(series)


def _is_plain(kind: Any) -> bool:
    """Say whether Arrow has the same type, and Polars reads it back."""
    if isinstance(kind, pl.Struct):
        return all(_is_plain(field.dtype) for field in kind.fields)
    if isinstance(kind, pl.List | pl.Array):
        return 0 not in getattr(kind, "shape", ()) and _is_plain(kind.inner)
    plain = pl.String | pl.Binary | pl.Boolean | pl.Date | pl.Time | pl.Datetime | pl.Duration
    return isinstance(kind, plain) or (kind.is_numeric() and kind not in _WITHOUT_ARROW)


def _with_texts_moved(frame: pl.DataFrame) -> pl.DataFrame:
    """Write texts that are not rebuilt one after the other: Polars leaves them in place."""
    schema = frame.schema
    chosen = [name for name, kind in schema.items() if _has_text(kind) and not _is_plain(kind)]
    if not chosen:
        return frame
    file = io.BytesIO()
    try:
        frame.select(chosen).write_ipc(file, compat_level=pl.CompatLevel.oldest())
        file.seek(0)
        written = pl.read_ipc(file)
    except Exception:  # whose message may show a value
        written = None
    if written is None or written.schema != frame.select(chosen).schema:
        raise ArgumentTypeError(
            f"columns {chosen} must be of types that Polars can write to a file.\n"
            "Hint: cast them to String or Binary first."
        )
    return frame.with_columns(written)


def _has_text(kind: Any) -> bool:
    if isinstance(kind, pl.Struct):
        return any(_has_text(field.dtype) for field in kind.fields)
    if isinstance(kind, pl.Array) and 0 in kind.shape:
        return False
    if isinstance(kind, pl.List | pl.Array):
        return _has_text(kind.inner)
    if hasattr(kind, "ext_storage"):  # an extension type of Polars 2
        return _has_text(kind.ext_storage())
    return isinstance(kind, pl.String | pl.Binary)
