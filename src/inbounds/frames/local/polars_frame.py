"""Polars data frames and lazy frames."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from inbounds._extra import optional
from inbounds.errors import ArgumentTypeError
from inbounds.frames.local.category import CategoryColumn, LocalColumn, arrow_release
from inbounds.frames.local.column import locate, number_type
from inbounds.frames.local.layout import rebuilt_column
from inbounds.frames.local.once import evaluated
from inbounds.frames.local.order import permutation, warn_if_sorted

with optional():
    import polars as pl

_TYPES = {
    f"{sign}Int{bits}": f"{sign}int{bits}".lower() for sign in ("", "U") for bits in (8, 16, 32, 64)
}
_TYPES |= {"Float16": "float16", "Float32": "float32", "Float64": "float64"}

_SORTED = re.compile(r'SORT BY (?:\[[a-z_]+: [^"]*\] )?\[col\("(.*?)"\)[],]')  # as explain shows


def privatize_frame(
    frame: Any, columns: Sequence[LocalColumn], *, shuffle: bool = False, lazy: bool = False
) -> Any:
    """Replace columns of a data frame now, or of a lazy frame whenever it is collected.

    Unless `lazy` is true, a lazy frame is collected here, once, and the result is a lazy frame over
    the outputs in memory.

    In a lazy plan, this is a function of whole frames. If it were an expression, Polars would call
    it once for a column that is stored as one repeated value, and repeat the output. Filters must
    stay after this step, because before it they would see the true values.

    Examples
    --------
    >>> import inbounds as ib
    >>> from inbounds.frames.local.column import PrivateColumn
    >>> m = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 120, epsilon=1.0)
    >>> lazy = pl.LazyFrame({"age": [17, 41]})
    >>> dict(privatize_frame(lazy, [PrivateColumn("age", m, "error")]).collect_schema())
    {'age': Float64}
    """
    given = frame.collect_schema()
    schema = pl.Schema({name: _without_codes(kind) for name, kind in given.items()})
    places = locate(columns, schema.names())
    for column in places.values():
        schema[str(column.name)] = _output_type(column, given[str(column.name)])
    if isinstance(frame, pl.DataFrame):
        if not shuffle:
            warn_if_sorted(c.name for i, c in places.items() if _is_sorted(frame.to_series(i)))
        return _replaced(frame, places, shuffle=shuffle)
    if not shuffle:
        warn_if_sorted(c.name for c in places.values() if c.name == _last_sorted_by(frame))
    if not lazy:
        return _replaced(evaluated(frame.collect), places, shuffle=shuffle).lazy()
    return frame.map_batches(
        lambda batch: _replaced(batch, places, shuffle=shuffle),
        predicate_pushdown=False,
        projection_pushdown=False,
        slice_pushdown=not shuffle,
        streamable=not shuffle,
        schema=schema,
    )


def release(column: LocalColumn, series: pl.Series) -> pl.Series:
    """Return private outputs for a series; NaN is a value in Polars, not a null, and is refused.

    Examples
    --------
    >>> import inbounds as ib
    >>> from inbounds.frames.local.column import PrivateColumn
    >>> m = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 120, epsilon=1.0)
    >>> release(PrivateColumn("age", m, "keep"), pl.Series("age", [17, None])).null_count()
    1
    """
    dtype = _output_type(column, series.dtype)
    if isinstance(column, CategoryColumn):
        plain = series if series.dtype == _in_arrow(series.dtype) else series.cast(pl.String())
        levels = arrow_release(column, plain.to_arrow(compat_level=pl.CompatLevel.oldest()))
        return pl.Series(series.name, levels).cast(dtype)
    missing = series.is_null() if series.null_count() else None
    values = series if missing is None else series.fill_null(0)
    nulls = None if missing is None else missing.to_numpy()
    outputs = pl.Series(series.name, column.release(values.to_numpy(), nulls), dtype)
    return outputs if missing is None or column.nulls != "keep" else outputs.set(missing, None)


def _output_type(column: LocalColumn, given: Any) -> Any:
    if isinstance(column, CategoryColumn):
        return _category_type(column, given)
    return given if column.keeps(number_type(column, given, _TYPES)) else pl.Float64()


def _category_type(column: CategoryColumn, given: Any) -> Any:
    """Return the type of private levels: an enum lists the levels, whatever it listed before."""
    if column.mechanism.family == "text" and isinstance(given, pl.Enum):
        return pl.Enum(map(str, column.mechanism.levels))
    is_text = isinstance(given, pl.String | pl.Categorical)
    numpy_type = "bool" if isinstance(given, pl.Boolean) else _TYPES.get(str(given), "float64")
    if column.mechanism.family == "text" if is_text else column.fits(np.dtype(numpy_type)):
        return _without_codes(given)
    raise column.refused_type(given)


def _is_sorted(series: pl.Series) -> bool:
    """Say whether the series has a flag that it is sorted; its values are not examined."""
    return len(series) > 1 and any(series.flags[name] for name in ("SORTED_ASC", "SORTED_DESC"))


def _last_sorted_by(frame: pl.LazyFrame) -> str | None:
    """Return the first column by which the last step of a plan sorts, if that step is a sort."""
    match = _SORTED.match(frame.explain(optimized=False))
    return match and match[1]


def _replaced(
    frame: pl.DataFrame, places: dict[int, LocalColumn], *, shuffle: bool
) -> pl.DataFrame:
    outputs = [release(column, frame.to_series(i)) for i, column in places.items()]
    replaced = frame.with_columns(outputs)
    if shuffle:
        replaced = replaced[permutation(len(replaced))]
    return _rebuilt(replaced.rechunk())  # the ends of chunks may reveal values


def _rebuilt(frame: pl.DataFrame) -> pl.DataFrame:
    """Build columns anew by Arrow: Polars would keep rows beside lists and values below nulls."""
    return frame.with_columns(_rebuilt_series(frame[name]) for name in frame.columns)


def _rebuilt_series(series: pl.Series) -> pl.Series:
    name, kind = series.name, series.dtype
    if isinstance(kind, pl.Array) and 0 in kind.shape:
        return series  # arrays without cells
    if hasattr(kind, "ext_storage"):  # an extension type of Polars 2
        storage = _rebuilt_series(series.ext.storage())
        return storage.ext.to(kind) if storage.dtype == kind.ext_storage() else storage
    arrow_type = _in_arrow(kind)
    if arrow_type is None:
        raise _refusal(series)
    plain = series if arrow_type == kind else series.cast(arrow_type)
    array = plain.to_arrow(compat_level=pl.CompatLevel.oldest())
    rebuilt = pl.Series(name, rebuilt_column(array, name), arrow_type)
    kind = _without_codes(kind)
    result = rebuilt.cast(kind)
    if result.dtype == kind:
        return result
    if not _holds_nothing(kind):  # by way of Python, nanoseconds would be lost
        raise _refusal(series)
    return pl.Series(name, rebuilt.to_list(), kind)  # Polars does not cast to lists of nothing


def _refusal(series: pl.Series) -> ArgumentTypeError:
    return ArgumentTypeError.must_be(
        f"column {series.name!r}",
        "of a type that can be rebuilt",
        got=type(series.dtype).__name__,
        hint="unnest it, or cast it to plain types, first.",
    )


def _holds_nothing(kind: Any) -> bool:
    """Say whether a type has nulls and lists of them only."""
    return isinstance(kind, pl.Null) or (
        isinstance(kind, pl.List | pl.Array) and _holds_nothing(kind.inner)
    )


def _without_codes(kind: Any) -> Any:
    """Return a type with text for categories: their codes tell which values were seen first."""
    if isinstance(kind, pl.Struct):
        return pl.Struct({field.name: _without_codes(field.dtype) for field in kind.fields})
    if isinstance(kind, pl.List):
        return pl.List(_without_codes(kind.inner))
    if isinstance(kind, pl.Array) and 0 not in kind.shape:
        return pl.Array(_without_codes(kind.inner), kind.size)
    if hasattr(kind, "ext_storage"):
        storage = _without_codes(kind.ext_storage())
        return kind if storage == kind.ext_storage() else storage
    return pl.String() if isinstance(kind, pl.Categorical) else kind


def _in_arrow(kind: Any) -> Any:
    """Return a type that Arrow has and to which `kind` can be cast and back, or None.

    Categories are cast to text, and integers of 128 bits to decimal digits.
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
