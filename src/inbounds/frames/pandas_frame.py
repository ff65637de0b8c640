"""pandas data frames, whatever keeps their columns: numpy, masked or Arrow arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from inbounds._extra import optional
from inbounds.frames.column import Column, locate, wrong_type
from inbounds.frames.order import permutation

with optional():
    import pandas as pd


def privatize_frame(frame: Any, columns: Sequence[Column], *, shuffle: bool = False) -> Any:
    """Return a copy of a data frame with columns replaced; NaN is a null, as pandas means it.

    `attrs`, and what a subclass carries along in `_metadata`, are left out. Other columns are
    copied: pandas keeps columns of a type in one array, with the true values beside them.

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
    for i in sorted(places):
        copy.insert(i, f"{i}", answer(places[i], frame.iloc[:, i]))
    copy.columns = frame.columns
    copy.attrs = {}
    for name in copy._metadata:
        copy.__dict__.pop(name, None)
    return copy.iloc[permutation(len(copy))].reset_index(drop=True) if shuffle else copy


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
