"""pandas data frames, whose columns are numpy, masked or Arrow arrays."""

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
from inbounds.errors import ArgumentError, ArgumentTypeError, InBoundsError
from inbounds.frames.local.category import CategoryColumn, LocalColumn
from inbounds.frames.local.column import bare_dtype, locate, type_refusal
from inbounds.frames.local.order import category_order, permutation
from inbounds.frames.local.pandas_category import release_levels
from inbounds.frames.silence import in_our_words

with optional():
    import pandas as pd

_MASKED = (pd.arrays.IntegerArray, pd.arrays.FloatingArray, pd.arrays.BooleanArray)
_WHOLE = {str, bytes, bool, int, float, complex, Decimal, date, datetime, time, timedelta}
_WHOLE |= {NoneType, type(pd.NA), type(pd.NaT), pd.Timestamp, pd.Timedelta}  # types of cells


def privatize_frame(frame: Any, columns: Sequence[LocalColumn], *, shuffle: bool = False) -> Any:
    """Return a copy of a data frame with columns replaced; NaN is a null, as usual in pandas.

    `attrs`, metadata of dtypes, and the attributes that a subclass lists in `_metadata` are left
    out. Other columns are copied, because pandas stores columns of the same type in one array,
    where the true values are beside them. Arrow arrays are built anew, as in Arrow tables.

    Examples
    --------
    >>> import inbounds as ib
    >>> from inbounds.frames.local.column import PrivateColumn
    >>> m = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 120, epsilon=1.0)
    >>> frame = pd.DataFrame({"age": [17, 41]}, index=["a", "b"])
    >>> privatize_frame(frame, [PrivateColumn("age", m, "error")]).index.tolist()
    ['a', 'b']
    """
    places = locate(columns, frame.columns)
    if not shuffle:
        _refuse_private_index(frame.index, columns)
    others = [i for i in range(frame.shape[1]) if i not in places]
    copy = frame.iloc[:, others].copy(deep=True)
    copy.columns = pd.RangeIndex(len(others))  # so that outputs can be inserted between any names
    copy.index = pd.RangeIndex(len(copy)) if shuffle else _bare_index(frame.index)
    _rebuild(copy, [frame.columns[i] for i in others])
    for i in sorted(places):
        copy.insert(i, f"{i}", _unchanged(release(places[i], frame.iloc[:, i]), copy.index))
    if shuffle:
        copy = copy.iloc[permutation(len(copy))].reset_index(drop=True)
        _rebuild(copy, frame.columns, sort=True)
    copy.columns = _bare_index(frame.columns)
    copy.attrs = {}
    for name in copy._metadata:
        copy.__dict__.pop(name, None)
    return copy


def _refuse_private_index(index: Any, columns: Sequence[LocalColumn]) -> None:
    """Refuse an index that bears the name of a private column: it would be published as it is."""
    for column in columns:
        if column.name in [name for name in index.names if name is not None]:
            requirement = f"have an index that is not private, not one named {column.name!r}"
            hint = "reset_index(drop=True) leaves it out; shuffle=True replaces it."
            raise ArgumentError.must("frame", requirement, hint=hint)


def _rebuild(frame: Any, names: Iterable[Any], *, sort: bool = False) -> None:
    """Build those columns of our copy anew that may hold more than their values."""
    for i, name in enumerate(names):
        array = frame.iloc[:, i].array
        if not _is_bare(array):
            frame.isetitem(i, _unchanged(_rebuilt(array, name, sort=sort), frame.index))


def _unchanged(array: Any, index: Any) -> Any:
    """Return what pandas inserts as it is; of an array of objects it would make one of texts."""
    of_numpy = isinstance(array, np.ndarray | pd.arrays.NumpyExtensionArray)
    return pd.Series(array, index, object) if of_numpy and array.dtype.kind == "O" else array


def _is_bare(array: Any) -> bool:
    """Say whether an array holds its values only; pandas' own arrays have other arrays inside."""
    if not isinstance(array, pd.arrays.NumpyExtensionArray):
        return False
    dtype = array.to_numpy().dtype
    return dtype.kind != "O" and dtype.metadata is None and dtype.isnative


def _rebuilt(array: Any, name: Any, *, sort: bool = False) -> Any:
    """Return a new array or index of the same values, without metadata of dtypes.

    With `sort`, unordered categories are sorted: their order may be that of the rows.
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
            else ArgumentTypeError.must_be(
                f"column or index {name!r}", "of a type that can be copied"
            )
        ),
        Exception,  # classes of values may raise anything, with a message that shows values
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


def _copied_cells(cells: Any, name: str) -> Any:
    """Copy an array of Python objects cell by cell.

    A cell may be part of a larger object. And equal cells that are one object in one place and two
    in another would tell, in a pickle, which rows came from one chunk of a file.
    """
    copy = np.empty(cells.shape, object)
    for place in np.ndindex(cells.shape):
        cell = cells[place]
        is_whole = type(cell) in _WHOLE
        copy[place] = (
            pickle.loads(pickle.dumps(cell, 5))
            if is_whole
            else _copy_by_pickle(cell, name, sort=False)
        )
    return copy


class _BarePickler(pickle.Pickler):
    """Writes numpy and Arrow types without metadata, wherever they are in a pandas array.

    Arrow arrays and arrays of objects are not written; they are built anew and `kept` for the
    reader.
    """

    def __init__(self, file: io.BytesIO, name: str, *, sort: bool) -> None:
        super().__init__(file, protocol=5)
        self.kept: list[Any] = []
        self._name, self._sort = name, sort

    def persistent_id(self, value: Any) -> int | None:
        arrow = sys.modules.get("pyarrow")  # it is loaded if an Arrow array exists
        if isinstance(value, np.ndarray) and value.dtype == object:
            self.kept.append(_copied_cells(value, self._name))
        elif arrow is not None and isinstance(value, arrow.Array | arrow.ChunkedArray):
            from inbounds.frames.local.layout import rebuilt_column  # noqa: PLC0415 - needs PyArrow

            self.kept.append(rebuilt_column(value, self._name, sort=self._sort))
        else:
            return None
        return len(self.kept) - 1

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, _MASKED):
            known = ~value.isna()
            data = np.zeros_like(value._data)  # values below nulls are left out
            data[known] = value._data[known]
            return type(value), (data, ~known)
        if isinstance(value, np.dtype) and value.metadata is not None:
            if value.names is not None:
                raise TypeError  # it would lose its fields
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
        return index.copy(deep=True)  # it may be a slice of an array with the true values
    if isinstance(index, pd.MultiIndex):
        index = index.remove_unused_levels()  # of rows that were left out before
    return _rebuilt(index, index.name)


def release(column: LocalColumn, series: Any) -> Any:
    """Return private outputs for a series, in an array of the same family (numpy, masked, Arrow).

    Examples
    --------
    >>> import inbounds as ib
    >>> from inbounds.frames.local.column import PrivateColumn
    >>> m = ib.BoundedGaussian.calibrated(ib.Box(0, 120, step=1), 120, epsilon=1.0)
    >>> release(PrivateColumn("age", m, "keep"), pd.Series([17, None], dtype="Int8")).dtype
    Int8Dtype()
    """
    if isinstance(column, CategoryColumn):
        return release_levels(column, series)
    given = series.dtype
    is_extension = not isinstance(given, np.dtype)
    dtype = getattr(given, "numpy_dtype", None) if is_extension else bare_dtype(given)
    if not isinstance(dtype, np.dtype) or dtype.kind not in "iuf" or dtype.itemsize > 8:
        raise type_refusal(column, given)
    missing = series.isna().to_numpy()
    values = series.to_numpy(dtype=dtype, na_value=0) if missing.any() else series.to_numpy(dtype)
    if dtype.kind == "f":
        missing = missing | np.isnan(values)  # a masked column can hold NaN besides nulls
    outputs = column.release(values, missing)
    keeps_nulls = column.nulls == "keep" and missing.any()
    if not is_extension:
        return np.where(missing, np.nan, outputs) if keeps_nulls else outputs
    array = pd.array(outputs, dtype=given if column.keeps(dtype) else _double(given))
    if keeps_nulls:
        array[missing] = pd.NA
    return array


def _double(given: Any) -> Any:
    """Return the masked or Arrow type of doubles, of the same family as `given`."""
    if not isinstance(given, pd.ArrowDtype):
        return pd.Float64Dtype()
    with optional():
        import pyarrow as pa  # noqa: PLC0415 - only Arrow columns need it

    return pd.ArrowDtype(pa.float64())
