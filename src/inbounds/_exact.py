"""Exact numbers, read from data before anything rounds them.

NumPy converts a list or a frame of both integers and doubles to doubles, which are 256 apart near
2⁶⁰, so that two integers which differ by 1 may become doubles which differ by 256. A number that a
double cannot represent is therefore kept as an integer or a fraction, and the lower bound is
subtracted before anything is rounded.

Proof: docs/proofs/sampler.md, theorem 2.
"""

import math
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from itertools import chain
from numbers import Rational as RationalNumber
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rational = int | float | Fraction

_DOUBLES = frozenset({float, np.float64, np.float32, np.float16})
_BEYOND = 400  # digits before the point: more than any double has
_HUGE = 10**400
_FINEST = 10_000  # digits after the point: the rest is below the margin of any sensitivity
_WHOLE = 1 << 53  # doubles represent every integer up to this one


def plain(value: object) -> float | None:
    """Return a Python float, or an integer of at most 2⁵³, as a double; None for anything else.

    Nothing is rounded, so a number that is plain needs no array and no exact arithmetic.

    Examples
    --------
    >>> plain(120), plain(0.5), plain(True), plain(2**60), plain(np.float64(0.5))
    (120.0, 0.5, None, None, None)
    """
    if type(value) is float:
        return value
    return float(value) if type(value) is int and -_WHOLE <= value <= _WHOLE else None


def unrounded(value: object, array: NDArray[Any]) -> NDArray[Any]:
    """Return the numbers in `value` without the rounding of ``array = np.asarray(value)``.

    `value` holds nested lists, arrays, columns or frames. The result is `array` itself if doubles
    represent every number of the types in it. Otherwise it holds the original objects, including
    those that are not numbers, which the caller refuses by their type.

    Examples
    --------
    >>> mixed = [np.array(2**60 + 1), 0.5]
    >>> unrounded(mixed, np.asarray(mixed)).tolist()
    [1152921504606846977, 0.5]
    """
    pieces = list(_pieces(value))
    if all(map(_are_doubles, pieces)):
        return array
    exact = np.empty(sum(map(len, pieces)), dtype=object)
    for i, number in enumerate(chain.from_iterable(map(_objects, pieces))):
        exact[i] = number
    return exact.reshape(array.shape)


def rationals(array: NDArray[Any]) -> NDArray[Any]:
    """Return real numbers as doubles if that rounds none of them, and else as exact objects.

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
    """Return the smallest doubles that are not below some numbers, given the nearest `doubles`.

    Examples
    --------
    >>> rounded_up(2**60 + 1, float(2**60 + 1)) == 2.0**60 + 256
    True
    """
    return moved(lambda number, double: _above(_rational(number), double), value, doubles)


def not_below(number: Any, double: float) -> float:
    """Return `double`, the nearest to a number, or the next above if it is below the number.

    The double whose shortest decimal is the number, as 0.3 is, counts as equal to it.

    Examples
    --------
    >>> not_below(Decimal("0.3"), 0.3), not_below(Fraction(1, 3), 1 / 3) > Fraction(1, 3)
    (0.3, True)
    """
    exact = number if isinstance(number, Decimal) else _rational(number)
    return double if _is_decimal(exact, double) else _above(exact, double)


def not_above(number: Any, double: float) -> float:
    """Return `double`, the nearest to a number, or the next below if it is above the number.

    The double whose shortest decimal is the number, as 0.1 is, counts as equal to it.

    Examples
    --------
    >>> not_above(Decimal("0.1"), 0.1), not_above(2**53 + 3, 2.0**53 + 4) == 2**53 + 2
    (0.1, True)
    """
    exact = number if isinstance(number, Decimal) else _rational(number)
    return double if _is_decimal(exact, double) else -_above(-exact, -double)


def moved(move: Callable[[Any, float], float], value: Any, doubles: Any) -> Any:
    """Return ``move(number, double)`` for each number in `value` and the double nearest to it.

    Examples
    --------
    >>> moved(not_above, [Fraction(2, 3), 0.5], np.array([2 / 3, 0.5])).tolist()
    [0.6666666666666666, 0.5]
    """
    if plain(value) is not None:
        return doubles
    array = np.asarray(value)
    if array.dtype.kind == "f" and array.ndim and not isinstance(value, np.ndarray):
        array = unrounded(value, array)
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
        return doubles
    pairs = zip(array.astype(object).flat, np.ravel(doubles).tolist(), strict=True)
    results = [move(number, double) for number, double in pairs]
    return np.array(results) if np.ndim(doubles) else results[0]


def are_finite(array: NDArray[Any]) -> bool:
    """Return whether no object in the array is NaN or infinite.

    Examples
    --------
    >>> are_finite(np.array([10**400, float("nan")], dtype=object))
    False
    """
    return not any(isinstance(n, float) and not math.isfinite(n) for n in array.flat)


def _rational(number: Any) -> Rational:
    """Return a number exactly; a decimal beyond all doubles becomes ±10⁴⁰⁰."""
    if isinstance(number, int | np.integer):
        return int(number)
    if isinstance(number, Decimal):
        return _fraction(number)
    if isinstance(number, Fraction):
        return Fraction(number)
    if isinstance(number, np.longdouble) and np.isfinite(number):
        return Fraction(*number.as_integer_ratio())
    if isinstance(number, RationalNumber):  # from another package
        return Fraction(int(number.numerator), int(number.denominator))
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
    if isinstance(exponent, int) and exponent < -_FINEST:  # rounded towards zero
        number = Decimal((sign, digits[: exponent + _FINEST], -_FINEST))
    return Fraction(number)


def _is_double(number: Rational) -> bool:
    try:
        return isinstance(number, float) or float(number) == number
    except OverflowError:
        return False


def _above(exact: Any, double: float) -> float:
    return math.nextafter(double, math.inf) if exact > double else double


def _is_decimal(exact: Any, double: float) -> bool:
    """Return whether a fraction or decimal is the shortest decimal of a double, as 0.1 is."""
    if not isinstance(exact, Decimal | Fraction) or not math.isfinite(double):
        return False
    return exact == type(exact)(repr(double))


def _is_buffer(value: object) -> bool:
    try:
        memoryview(value)  # type: ignore[arg-type]
    except TypeError:
        return False
    return True


def _pieces(value: Any) -> Iterator[NDArray[Any] | list[Any]]:
    """Yield what a value holds, in order, as flat arrays of one type and lists of scalars."""
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError  # masked numbers must not be read
    columns = [np.asarray(column) for column in _columns(value)]
    if len({column.dtype for column in columns}) > 1:
        together = np.empty((len(columns[0]), len(columns)), dtype=object)
        for j, column in enumerate(columns):
            together[:, j] = _objects(column)
        yield together.reshape(-1)
    elif hasattr(value, "__array__") or _is_buffer(value):
        yield np.asarray(value).reshape(-1)
    elif not _is_sequence(type(value)):
        yield [value]
    elif any(map(_is_nested, set(map(type, value)))):
        for item in value:
            yield from _pieces(item)
    else:
        yield list(value)


def _is_sequence(kind: type) -> bool:
    """Return whether NumPy reads objects of this type as sequences."""
    return (
        hasattr(kind, "__len__")
        and hasattr(kind, "__getitem__")
        and not issubclass(kind, str | bytes | dict)
    )


def _is_nested(kind: type) -> bool:
    """Return whether objects of a type may hold several numbers, or a number of another type."""
    holds = _is_sequence(kind) or hasattr(kind, "__array__")
    return holds and not issubclass(kind, np.generic)


def _are_doubles(piece: NDArray[Any] | list[Any]) -> bool:
    """Return whether doubles represent every number of the types in a piece."""
    if isinstance(piece, np.ndarray):
        return piece.dtype.kind == "f" and piece.dtype.itemsize <= 8
    return set(map(type, piece)) <= _DOUBLES


def _objects(piece: NDArray[Any] | list[Any]) -> list[Any]:
    """Return the items of a piece as Python objects, but durations as they are, not as integers."""
    if isinstance(piece, np.ndarray) and piece.dtype.kind in "iufO":
        piece = piece.astype(object)
    return list(piece)


def _columns(value: Any) -> list[Any]:
    """Return the columns of a frame of pandas, Polars or Arrow, and [] for anything else."""
    if hasattr(value, "iloc") and getattr(value, "ndim", 0) == 2:
        return [value.iloc[:, i] for i in range(value.shape[1])]
    if hasattr(value, "get_columns"):
        return list(value.get_columns())
    return list(value.itercolumns()) if hasattr(value, "itercolumns") else []
