"""pandas data frames, whatever keeps their columns: numpy, masked or Arrow arrays."""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from types import NoneType
from typing import Any

import numpy as np

from inbounds._extra import optional
from inbounds.errors import ArgumentTypeError, InBoundsError
from inbounds.frames.local.column import Column, bare_dtype, locate, wrong_type
from inbounds.frames.local.order import category_order, permutation
from inbounds.frames.silence import in_our_words

with optional():
    import pandas as pd

_MASKED = (pd.arrays.IntegerArray, pd.arrays.FloatingArray, pd.arrays.BooleanArray)
_WHOLE = {str, bytes, bool, int, float, complex, Decimal, date, datetime, time, timedelta}
_WHOLE |= {NoneType, type(pd.NA), type(pd.NaT), pd.Timestamp, pd.Timedelta}  # that cells may be


def privatize_frame(frame: Any, columns: Sequence[Column], *, shuffle: bool = False) -> Any:
    """Return a copy of a data frame with columns replaced; NaN is a null, as pandas means it.

    `attrs`, metadata of dtypes, and what a subclass carries along in `_metadata`, are left out.
    Other columns are copied: pandas keeps columns of a type in one array, with the true values
    beside them. Arrays of Arrow are built anew, as for tables of Arrow.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 120, epsilon=1.0)
    >>> frame = pd.DataFrame({"age": [17, 41]}, index=["a", "b"])
    >>> privatize_frame(frame, [Column("age", m, "error")]).index.tolist()
    ['a', 'b']
    """
    places = locate(columns, frame.columns)
    others = [i for i in range(frame.shape[1]) if i not in places]
    copy = frame.iloc[:, others].copy(deep=True)
    copy.columns = pd.RangeIndex(len(others))  # so that answers can be put between any names
    copy.index = pd.RangeIndex(len(copy)) if shuffle else _bare_index(frame.index)
    _rebuild(copy, [frame.columns[i] for i in others])
    for i in sorted(places):
        copy.insert(i, f"{i}", answer(places[i], frame.iloc[:, i]))
    if shuffle:
        copy = copy.iloc[permutation(len(copy))].reset_index(drop=True)
        _rebuild(copy, frame.columns, sort=True)
    copy.columns = _bare_index(frame.columns)
    copy.attrs = {}
    for name in copy._metadata:
        copy.__dict__.pop(name, None)
    return copy


def _rebuild(frame: Any, names: Iterable[Any], *, sort: bool = False) -> None:
    """Build columns anew in a frame of our own, if there may be more to them than values."""
    for i, name in enumerate(names):
        array = frame.iloc[:, i].array
        if not _is_bare(array):
            frame.isetitem(i, _rebuilt(array, name, sort=sort))


def _is_bare(array: Any) -> bool:
    """Say whether an array has nothing but its values; those of pandas' own have arrays inside."""
    if not isinstance(array, pd.arrays.NumpyExtensionArray):
        return False
    values = array.to_numpy()
    if values.dtype == object:  # a cell may be a part of something larger
        return set(map(type, values)) <= _WHOLE
    return values.dtype.metadata is None and values.dtype.isnative


def _rebuilt(array: Any, name: Any, *, sort: bool = False) -> Any:
    """Return an array or index of the same values, built anew and without metadata of dtypes.

    With `sort`, categories without an order are sorted: they may be listed as they first appeared.
    """
    if isinstance(array, pd.arrays.NumpyExtensionArray) and array.to_numpy().dtype != object:
        values = array.to_numpy()
        bare = np.empty(values.shape, bare_dtype(values.dtype))
        bare[...] = values  # a copy by numpy.array would keep the metadata
        return bare
    copy = in_our_words(
        lambda: _copy_by_pickle(array, str(name), sort=sort),
        lambda error: (
            error
            if isinstance(error, InBoundsError)
            else ArgumentTypeError(f"column or index {name!r} must be of a type to copy.")
        ),
        Exception,  # whatever the classes of the values raise, with a message that may show them
    )
    if sort and isinstance(copy, pd.Categorical) and not copy.ordered:
        order = category_order(copy.categories.tolist())
        copy = copy.reorder_categories(copy.categories.take(order))
    return copy


def _copy_by_pickle(array: Any, name: str, *, sort: bool) -> Any:
    file = io.BytesIO()
    pickler = _BarePickler(file, name, sort=sort)
    pickler.dump(array)
    file.seek(0)
    return _BareUnpickler(file, pickler.kept).load()


class _BarePickler(pickle.Pickler):
    """Writes types of numpy and Arrow without metadata, wherever in an array of pandas they are.

    Arrays of Arrow are not written, but built anew and `kept` for the reader.
    """

    def __init__(self, file: io.BytesIO, name: str, *, sort: bool) -> None:
        super().__init__(file, protocol=5)
        self.kept: list[Any] = []
        self._name, self._sort = name, sort

    def persistent_id(self, value: Any) -> int | None:
        arrow = sys.modules.get("pyarrow")  # whoever has an array of Arrow has loaded it
        if arrow is None or not isinstance(value, arrow.Array | arrow.ChunkedArray):
            return None
        from inbounds.frames.local.layout import rebuilt_column  # noqa: PLC0415 - needs PyArrow

        self.kept.append(rebuilt_column(value, self._name, sort=self._sort))
        return len(self.kept) - 1

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, _MASKED):
            known = ~value.isna()
            data = np.zeros_like(value._data)  # what lies below nulls is left out
            data[known] = value._data[known]
            return type(value), (data, ~known)
        if isinstance(value, np.dtype) and value.metadata is not None:
            return np.dtype, (value.str,)
        if type(value) is pd.arrays.ArrowExtensionArray:  # it takes its type from the new array
            return pd.arrays.ArrowExtensionArray, (value.__arrow_array__(),)
        if isinstance(value, pd.ArrowDtype):
            from inbounds.frames.local.metadata import bare_type  # noqa: PLC0415 - needs PyArrow

            return pd.ArrowDtype, (bare_type(value.pyarrow_dtype),)
        return NotImplemented


class _BareUnpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, kept: list[Any]) -> None:
        super().__init__(file)
        self._kept = kept

    def persistent_load(self, place: int) -> Any:
        return self._kept[place]


def _bare_index(index: Any) -> Any:
    if isinstance(index, pd.RangeIndex):
        return index.copy()
    if not isinstance(index, pd.MultiIndex) and _is_bare(index.array):
        return index.copy(deep=True)  # it may be a part of an array with the true values
    if isinstance(index, pd.MultiIndex):
        index = index.remove_unused_levels()  # of rows that were left out before
    return _rebuilt(index, index.name)


def answer(column: Column, series: Any) -> Any:
    """Answer a series by an array of the same family.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.BoundedGaussian.calibrated(ib.Box(0, 120, step=1), 120, epsilon=1.0)
    >>> answer(Column("age", m, "keep"), pd.Series([17, None], dtype="Int8")).dtype
    Int8Dtype()
    """
    given = series.dtype
    extension = not isinstance(given, np.dtype)
    kind = getattr(given, "numpy_dtype", None) if extension else bare_dtype(given)
    if not isinstance(kind, np.dtype) or kind.kind not in "iuf" or kind.itemsize > 8:
        raise wrong_type(column, given)
    missing = series.isna().to_numpy()
    values = series.to_numpy(dtype=kind, na_value=0) if missing.any() else series.to_numpy(kind)
    if kind.kind == "f":
        missing = missing | np.isnan(values)  # a masked column can hold NaN beside nulls
    answers = column.answer(values, missing)
    keeps_nulls = column.nulls == "keep" and missing.any()
    if not extension:
        return np.where(missing, np.nan, answers) if keeps_nulls else answers
    array = pd.array(answers, dtype=given if column.keeps(kind) else _double(given))
    if keeps_nulls:
        array[missing] = pd.NA
    return array


def _double(given: Any) -> Any:
    """Return the type of doubles in the family of a masked or Arrow type."""
    if not isinstance(given, pd.ArrowDtype):
        return pd.Float64Dtype()
    with optional():
        import pyarrow as pa  # noqa: PLC0415 - only Arrow columns need it

    return pd.ArrowDtype(pa.float64())
