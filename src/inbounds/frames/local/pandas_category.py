"""Columns of categories in pandas: numpy, masked and Arrow arrays, objects and `Categorical`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from inbounds._extra import optional
from inbounds.frames.local.category import CategoryColumn, Codes, arrow_release
from inbounds.frames.local.column import bare_dtype

with optional():
    import pandas as pd


def release_levels(column: CategoryColumn, series: Any) -> Any:
    """Return private levels for a series, in an array of the same type.

    A `Categorical` lists the levels of the mechanism, in their order, whatever it listed before.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.RandomizedResponse(["no", "yes"], epsilon=1.0)
    >>> smoker = pd.Series(["no", "no"], dtype="category")
    >>> release_levels(CategoryColumn("smoker", m, "error"), smoker).categories.tolist()
    ['no', 'yes']
    """
    if isinstance(series.dtype, pd.ArrowDtype):
        return pd.arrays.ArrowExtensionArray(
            arrow_release(column, _whole(series.array.__arrow_array__()))
        )
    missing = series.isna().to_numpy()
    codes = column.draw(_codes(column, series), missing)
    keeps_nulls = column.nulls == "keep" and missing.any()
    levels = column.mechanism.levels
    if isinstance(series.dtype, pd.CategoricalDtype):
        places = np.where(missing, -1, codes) if keeps_nulls else codes
        return pd.Categorical.from_codes(places, list(levels), ordered=series.dtype.ordered)
    cells: NDArray[Any] = np.empty(len(levels), object)
    cells[:] = levels
    cells = cells[codes]
    if keeps_nulls:
        cells[missing] = None
    if isinstance(series.dtype, np.dtype):
        return cells.astype(bare_dtype(series.dtype))
    return pd.array(cells, dtype=series.dtype)


def _codes(column: CategoryColumn, series: Any) -> Codes:
    """Return the place of each value among the levels, or -1."""
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        places = _places(series.cat.categories.tolist(), column)
        return _taken(places, series.cat.codes.to_numpy())
    if isinstance(dtype, np.dtype) and dtype.kind == "O":
        return _places(series.tolist(), column)
    numpy_type = getattr(dtype, "numpy_dtype", dtype)
    if isinstance(dtype, pd.StringDtype):
        fits = column.mechanism.family == "text"
    else:
        fits = isinstance(numpy_type, np.dtype) and column.fits(numpy_type)
    if not fits:
        raise column.refused_type(dtype)
    if isinstance(dtype, np.dtype):
        series = series.astype(bare_dtype(dtype))  # pandas cannot count in another byte order
    distinct, values = pd.factorize(series)
    return _taken(_places(values.tolist(), column), distinct)


def _places(values: list[Any], column: CategoryColumn) -> Codes:
    """Look values up by their exact types; what is no level gets -1."""
    known = {level: i for i, level in enumerate(column.mechanism.levels)}
    kind = type(column.mechanism.levels[0])
    codes = (known.get(value, -1) if type(value) is kind else -1 for value in values)
    return np.fromiter(codes, np.int64, len(values))


def _taken(places: Codes, codes: NDArray[Any]) -> Codes:
    """Return the place of each of pandas' own codes, whose -1 for nulls stays -1."""
    return np.asarray(np.append(places, -1)[codes], np.int64)


def _whole(array: Any) -> Any:
    return array.combine_chunks() if hasattr(array, "combine_chunks") else array
