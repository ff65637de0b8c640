"""Data as the numbers they are, before anything rounds them.

NumPy makes doubles of a list or a frame that holds both integers and doubles, and doubles are 256
apart near 2⁶⁰. Two integers that differ by 1 may then differ by 256. So whatever is not a double is
kept as an integer or a fraction; the lower bound is subtracted before anything is rounded.

Proof: docs/proofs/sampler.md.
"""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rational = int | float | Fraction

_BEYOND = 400  # decimal digits before the point that no double has
_HUGE = 10**400
_FINEST = 10_000  # decimal digits after the point: what is left is below any sensitivity's margin


def unrounded(value: object, array: NDArray[Any]) -> NDArray[Any]:
    """Return the numbers in a list or frame, of which numpy has made an array of floats.

    Examples
    --------
    >>> mixed = [2**60 + 1, 0.5]
    >>> unrounded(mixed, np.asarray(mixed)).tolist()
    [1152921504606846977, 0.5]
    """
    table = _table(value)
    if table is not None:
        return table
    if array.ndim == 0 or hasattr(value, "__array__") or _is_buffer(value):
        return array  # of one type, which numpy has kept
    tables = [_table(item) for item in value]  # type: ignore[attr-defined]
    items = [item if own is None else own for item, own in zip(value, tables, strict=True)]  # type: ignore[call-overload]
    objects = np.asarray(items, dtype=object)
    return objects if any(map(_may_be_long, set(map(type, objects.flat)))) else array


def rationals(array: NDArray[Any]) -> NDArray[Any]:
    """Return real numbers of Python and numpy as doubles if all are, else exactly, as objects.

    Examples
    --------
    >>> from decimal import Decimal
    >>> rationals(np.array([Decimal("0.5"), 3], dtype=object))
    array([0.5, 3. ])
    >>> rationals(np.array([Decimal("0.1"), 3], dtype=object))
    array([Fraction(1, 10), 3], dtype=object)
    """
    exact = np.empty(array.shape, dtype=object)
    flat = exact.reshape(-1)
    for i, number in enumerate(array.flat):
        flat[i] = _rational(number)
    if all(map(_is_double, flat.tolist())):
        return exact.astype(np.float64)
    return exact


def rounded_up(value: Any, doubles: Any) -> Any:
    """Return the doubles nearest to some numbers, or the next above where those are below.

    Examples
    --------
    >>> rounded_up(2**60 + 1, float(2**60 + 1)) == 2.0**60 + 256
    True
    """
    array = np.asarray(value)
    if array.dtype.kind == "f" and array.ndim and not isinstance(value, np.ndarray):
        array = unrounded(value, array)
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
        return doubles
    pairs = zip(array.astype(object).flat, np.ravel(doubles).tolist(), strict=True)
    above = [
        math.nextafter(double, math.inf) if _rational(number) > double else double
        for number, double in pairs
    ]
    return np.array(above) if np.ndim(doubles) else above[0]


def are_finite(array: NDArray[Any]) -> bool:
    """Whether no number among objects is NaN or infinite.

    Examples
    --------
    >>> are_finite(np.array([10**400, float("nan")], dtype=object))
    False
    """
    return not any(isinstance(n, float) and not math.isfinite(n) for n in array.flat)


def _rational(number: Any) -> Rational:
    """Return a number exactly; one beyond all doubles as another beyond them, on the same side."""
    if isinstance(number, int | np.integer):
        return int(number)
    if isinstance(number, Decimal):
        return _fraction(number)
    if isinstance(number, Fraction):
        return Fraction(number)
    if isinstance(number, np.longdouble) and np.isfinite(number):
        return Fraction(*number.as_integer_ratio())
    double: float = float(number)
    return double


def _fraction(number: Decimal) -> Rational:
    if not number.is_finite():
        return math.nan if number.is_nan() else float(number)
    if number and number.adjusted() >= _BEYOND:
        return -_HUGE if number < 0 else _HUGE
    sign, digits, exponent = number.as_tuple()
    if not number or number.adjusted() < -_FINEST:
        return 0
    if isinstance(exponent, int) and exponent < -_FINEST:  # cut off, towards zero
        number = Decimal((sign, digits[: exponent + _FINEST], -_FINEST))
    return Fraction(number)


def _is_double(number: Rational) -> bool:
    try:
        return isinstance(number, float) or float(number) == number
    except OverflowError:
        return False


def _may_be_long(kind: type) -> bool:
    """Whether a type has numbers that are no doubles."""
    return issubclass(kind, int | np.integer | np.longdouble | Fraction | Decimal)


def _is_buffer(value: object) -> bool:
    try:
        memoryview(value)  # type: ignore[arg-type]
    except TypeError:
        return False
    return True


def _table(value: Any) -> NDArray[Any] | None:
    """Return the numbers in a frame whose columns have several types; None of anything else."""
    columns = [np.asarray(column) for column in _columns(value)]
    if len({column.dtype for column in columns}) < 2:
        return None
    return np.stack([column.astype(object) for column in columns], axis=1)


def _columns(value: Any) -> list[Any]:
    """Return the columns of a frame of pandas, Polars or Arrow; none of anything else."""
    if hasattr(value, "iloc") and getattr(value, "ndim", 0) == 2:
        return [value.iloc[:, i] for i in range(value.shape[1])]
    if hasattr(value, "get_columns"):
        return list(value.get_columns())
    return list(value.itercolumns()) if hasattr(value, "itercolumns") else []
