"""pandas data frames, whatever keeps their columns: numpy, masked or Arrow arrays."""

from __future__ import annotations

import io
import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np

from inbounds._extra import optional
from inbounds.errors import ArgumentTypeError
from inbounds.frames.local.column import Column, bare_dtype, locate, wrong_type
from inbounds.frames.local.order import category_order, permutation

with optional():
    import pandas as pd


def privatize_frame(frame: Any, columns: Sequence[Column], *, shuffle: bool = False) -> Any:
    """Return a copy of a data frame with columns replaced; NaN is a null, as pandas means it.

    `attrs`, metadata of dtypes, and what a subclass carries along in `_metadata`, are left out.
    Other columns are copied: pandas keeps columns of a type in one array, with the true values
    beside them, and columns of Arrow in pieces, whose ends may tell of values.

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
    for i in range(len(others)):
        array = copy.iloc[:, i].array
        if not _is_bare(array):
            copy.isetitem(i, _rebuilt(array, frame.columns[others[i]], sort=shuffle))
    for i in sorted(places):
        copy.insert(i, f"{i}", answer(places[i], frame.iloc[:, i]))
    copy.columns = _bare_index(frame.columns)
    copy.index = _bare_index(frame.index)
    copy.attrs = {}
    for name in copy._metadata:
        copy.__dict__.pop(name, None)
    return copy.iloc[permutation(len(copy))].reset_index(drop=True) if shuffle else copy


def _is_bare(array: Any) -> bool:
    """Say whether an array has nothing but its values; those of pandas' own have arrays inside."""
    return (
        isinstance(array, pd.arrays.NumpyExtensionArray) and array.to_numpy().dtype.metadata is None
    )


def _rebuilt(array: Any, name: Any, *, sort: bool = False) -> Any:
    """Return an array or index of the same values, in one piece and without metadata of dtypes.

    With `sort`, categories without an order are sorted: they may be listed as they first appeared.
    """
    if isinstance(array, pd.arrays.NumpyExtensionArray):
        values = array.to_numpy()
        bare = np.empty(values.shape, bare_dtype(values.dtype))
        bare[...] = values  # a copy by numpy.array would keep the metadata
        return bare
    file, copy = io.BytesIO(), None
    try:
        _BarePickler(file, sort=sort).dump(array)
        file.seek(0)
        copy = pickle.load(file)
    except Exception:  # whatever the classes of the values raise, with a message that may show them
        pass
    if copy is None:  # raised here, so that the other error is not its context
        raise ArgumentTypeError(f"column or index {name!r} must be of a type to copy.")
    if sort and isinstance(copy, pd.Categorical) and not copy.ordered:
        order = category_order(copy.categories.tolist())
        copy = copy.reorder_categories(copy.categories.take(order))
    return copy


class _BarePickler(pickle.Pickler):
    """Writes types of numpy and Arrow without metadata, wherever in an array of pandas they are."""

    def __init__(self, file: io.BytesIO, *, sort: bool) -> None:
        super().__init__(file, protocol=5)
        self._sort = sort

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, np.dtype) and value.metadata is not None:
            return np.dtype, (value.str,)
        if type(value) is pd.arrays.ArrowExtensionArray:
            return pd.arrays.ArrowExtensionArray, (_bare_arrow(value, sort=self._sort),)
        if isinstance(value, pd.ArrowDtype):
            from inbounds.frames.local.metadata import bare_type  # noqa: PLC0415 - needs PyArrow

            return pd.ArrowDtype, (bare_type(value.pyarrow_dtype),)
        return NotImplemented


def _bare_arrow(array: Any, *, sort: bool) -> Any:
    """Return the Arrow column that an array of pandas holds, without notes on its type."""
    with optional():
        import pyarrow as pa  # noqa: PLC0415 - only Arrow columns need it

    from inbounds.frames.local.arrow_frame import sortable  # noqa: PLC0415 - needs PyArrow
    from inbounds.frames.local.metadata import bare_column, bare_type  # noqa: PLC0415

    values = pa.chunked_array([array.__arrow_array__().combine_chunks()])
    values = bare_column(values, pa.field("column", bare_type(values.type)))
    return sortable(values, "column") if sort else values


def _bare_index(index: Any) -> Any:
    if isinstance(index, pd.RangeIndex):
        return index
    if not isinstance(index, pd.MultiIndex) and _is_bare(index.array):
        return index.copy(deep=True)  # it may be a part of an array with the true values
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
    kind = getattr(given, "numpy_dtype", None) if extension else given
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
