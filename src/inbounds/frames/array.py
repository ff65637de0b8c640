"""Columns of NumPy arrays, in types that data frames know.

A column of a two-dimensional array is named by its index, and one of a structured array by the name
of its field. What a value becomes depends on that value alone. Errors name types, never values.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inbounds.errors import ArgumentError, ArgumentTypeError

_LARGEST = np.finfo(np.float64).max


def open_array(
    array: NDArray[Any], keys: Collection[Any] = ()
) -> tuple[list[Any], Callable[[int], NDArray[Any]]]:
    """Return the names of an array's columns, and a function that copies a column by its place.

    Parameters
    ----------
    array
        An array of two dimensions, whose columns are named 0, 1, …; of one dimension, which is
        column 0; or a structured array of one dimension, whose columns are its fields.
    keys
        The columns whose floats are read as integers, in masked arrays: a float that is no integer
        is masked.

    Examples
    --------
    >>> names, column = open_array(np.array([[17, 1], [41, 2]], dtype=">i2"))
    >>> names, column(0)
    ([0, 1], array([17, 41], dtype=int16))
    >>> open_array(np.array([(17, "Ulm")], dtype=[("age", "f8"), ("town", "U9")]))[0]
    ['age', 'town']
    """
    if isinstance(array, np.ma.MaskedArray):
        hint = "filled(numpy.nan) of an array of floats makes masked values nulls."
        raise ArgumentTypeError.must("frame", "not be masked", got="a masked array", hint=hint)
    plain = np.asarray(array)  # a matrix would keep its two dimensions
    fields = plain.dtype.names
    if plain.ndim not in ((1, 2) if fields is None else (1,)):
        requirement = "have rows and columns" if fields is None else "have one dimension"
        raise ArgumentError.must("frame", requirement, got=f"an array of {plain.ndim} dimensions")
    if fields is not None:
        return list(fields), lambda place: _readable(plain[fields[place]], fields[place])
    if plain.ndim == 1:
        plain = plain[:, np.newaxis]

    def column(place: int) -> NDArray[Any]:
        read = _readable(plain[:, place], place)
        return _whole(read) if place in keys and read.dtype.kind == "f" else read

    return list(range(plain.shape[1])), column


def _whole(column: NDArray[Any]) -> NDArray[Any]:
    """Return floats as integers of 64 bits, with a mask over all that are none."""
    held = (np.abs(column) < 2.0**63) & (column == np.rint(column))  # false for NaN
    return np.ma.MaskedArray(np.where(held, column, 0.0).astype(np.int64), mask=~held)


def _readable(column: NDArray[Any], name: Any) -> NDArray[Any]:
    """Return a copy in the machine's byte order: numbers, booleans, times or objects.

    Texts become objects, which hold every text, and days become dates. A number beyond all doubles
    becomes the largest one, which is beyond the same bounds; other long doubles are rounded.
    """
    kind = column.dtype.kind
    if column.ndim != 1 or kind in "cV":
        got = f"{column.dtype.name}" if kind == "c" else "several values in each row"
        requirement = "hold numbers, booleans, texts, bytes or dates"
        raise ArgumentTypeError.must(f"column {name!r}", requirement, got=got)
    if kind == "f":
        if column.dtype.itemsize > 8:
            finite = np.isfinite(column)
            column = np.where(finite, np.clip(column, -_LARGEST, _LARGEST), column)
        return column.astype(np.float64)
    is_day = kind == "M" and np.datetime_data(column.dtype)[0] == "D"
    if is_day or kind in "UST":
        return column.astype(object)
    return column.astype(column.dtype.newbyteorder("="))
