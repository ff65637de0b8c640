"""Polars data frames and lazy frames."""

from __future__ import annotations

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
    return _rebuilt(replaced.rechunk())  # where pieces end may tell of values


def _rebuilt(frame: pl.DataFrame) -> pl.DataFrame:
    """Build columns anew by Arrow: rows beside a list, and values below nulls, would stay."""
    return frame.with_columns(_rebuilt_series(frame[name]) for name in frame.columns)


def _rebuilt_series(series: pl.Series) -> pl.Series:
    name, kind = series.name, series.dtype
    if isinstance(kind, pl.Object) or (isinstance(kind, pl.Array) and 0 in kind.shape):
        return series  # objects of Python, and nothing
    if hasattr(kind, "ext_storage"):  # an extension type of Polars 2
        return _rebuilt_series(series.ext.storage()).ext.to(kind)
    through = _in_arrow(kind)
    if through is None:
        raise ArgumentTypeError.must(
            f"column {name!r}",
            "be of a type that can be rebuilt",
            got=type(kind).__name__,
            hint="take what is inside apart, or cast it to plain types, first.",
        )
    plain = series if through == kind else series.cast(through)
    array = plain.to_arrow(compat_level=pl.CompatLevel.oldest())
    return pl.Series(name, rebuilt_column(array, name), through).cast(kind)


def _in_arrow(kind: Any) -> Any:
    """Return a type that Arrow has, and that a type can be cast to and back; None if there is none.

    Categories are written as text, and integers of 128 bits in digits.
    """
    if isinstance(kind, pl.Struct):
        fields = {field.name: _in_arrow(field.dtype) for field in kind.fields}
        return None if None in fields.values() else pl.Struct(fields)
    if isinstance(kind, pl.List | pl.Array):
        if (inner := _in_arrow(kind.inner)) is None or 0 in getattr(kind, "shape", ()):
            return None
        return pl.List(inner) if isinstance(kind, pl.List) else pl.Array(inner, kind.size)
    if isinstance(kind, pl.Categorical | pl.Enum | pl.Int128 | pl.UInt128):
        return pl.String()
    if isinstance(kind, pl.Null):
        return pl.Boolean()
    plain = pl.String | pl.Binary | pl.Boolean | pl.Date | pl.Time | pl.Datetime | pl.Duration
    return kind if isinstance(kind, plain) or kind.is_numeric() else None
