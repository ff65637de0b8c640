"""Argument checks: the keyword is the label, as in ``positive(sigma=sigma)``.

Each check takes exactly one keyword argument and returns its value as a float, an integer, a string
or an array. A number that a double cannot represent exactly becomes the nearest double. Epsilon,
delta and rho are rounded down instead, and costs are rounded up, unless the number is the shortest
decimal of a double, as 0.1 is. `private_array` and `private_values` read data, and their messages
never show any.
"""

import math
from collections.abc import Iterable
from types import NoneType
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from inbounds import _exact, _kind
from inbounds._number import (
    as_double,
    as_floats,
    as_numbers,
    fits_in_memory,
    refuse_masked,
    type_refusal,
    unwrapped,
)
from inbounds._types import Floats
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.errors import quoted as quoted  # noqa: PLC0414 - `_check.quoted`, for callers

_BLOCK = 1 << 16  # numbers that are checked at once, so that a check needs little memory
_LARGEST = math.nextafter(math.inf, 0)
_FINITE = "finite: NaN and infinities cannot be released"
_PROMISES = frozenset({"epsilon", "delta", "rho", "claimed_epsilon"})  # rounded down


def finite(**labelled: object) -> float:
    """Return the argument as a finite float."""
    ((name, value),) = labelled.items()
    number = value if type(value) is float else _as_float(name, value)
    if not math.isfinite(number):
        raise refusal("finite", **labelled)
    return number


def positive(**labelled: object) -> float:
    """Return the argument as a finite float above zero."""
    (value,) = labelled.values()
    if type(value) is float and 0 < value < math.inf:
        return value
    number = finite(**labelled)
    if number <= 0:
        raise refusal("positive", **labelled)
    return number


def not_negative(**labelled: object) -> float:
    """Return the argument as a finite float of zero or more."""
    number = finite(**labelled)
    if number < 0:
        raise refusal("zero or more", **labelled)
    return number


def charge(**labelled: object) -> float:
    """Return a cost as a finite float of zero or more, rounded up."""
    name, value = _only(labelled)
    number = not_negative(**{name: value})
    return finite(**{name: _exact.not_below(unwrapped(value), number)})


def within(low: float, high: float, **labelled: object) -> float:
    """Return the argument as a float strictly between `low` and `high`."""
    number = finite(**labelled)
    if not low < number < high:
        raise refusal(f"strictly between {low:g} and {high:g}", **labelled)
    return number


def positive_integer(**labelled: object) -> int:
    """Return the argument as a Python integer of at least 1.

    Examples
    --------
    >>> positive_integer(count=np.int64(3))
    3
    """
    name, value = _only(labelled)
    number = 0
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        number = int(value) if isinstance(value, np.integer) else int.__add__(value, 0)
    if number < 1:
        raise refusal("a positive integer", **{name: value})
    return number


def whole(least: int, most: int, **labelled: object) -> int:
    """Return a whole number in a range as a Python integer; 1e6 is one.

    Examples
    --------
    >>> whole(1, 10**9, count=1e6)
    1000000
    """
    number = finite(**labelled)
    if not (number.is_integer() and least <= number <= most):
        raise refusal(f"a whole number from {least:,} to {most:,}", **labelled)
    return int(number)


def finite_vector(**labelled: object) -> float | Floats:
    """Return a finite float, or a read-only vector of at least one finite float."""
    name, value = _only(labelled)
    if _exact.plain(value) is not None:
        return finite(**labelled)
    array = as_floats(name, value, shown=True)
    if array.ndim == 0:
        return finite(**{name: array.item()})
    if array.ndim != 1 or array.size == 0:
        raise ArgumentError.must_be(
            name,
            "a number or a one-dimensional sequence of at least one number",
            got=f"shape {array.shape}",
        )
    if not np.isfinite(array).all():
        raise _vector_refusal("finite in every coordinate", **labelled)
    return frozen(array)


def frozen(array: Floats) -> Floats:
    """Return a read-only copy."""
    array = array.copy()
    array.flags.writeable = False
    return array


def positive_vector(**labelled: object) -> float | Floats:
    """Return a positive finite float, or a read-only vector of positive finite floats."""
    (value,) = labelled.values()
    if type(value) is float and 0 < value < math.inf:
        return value
    vector = finite_vector(**labelled)
    least = vector if isinstance(vector, float) else vector.min()
    if least <= 0:
        raise _vector_refusal("positive", **labelled)
    return vector


def several(**labelled: object) -> NDArray[Any]:
    """Return a number, or a nested list of numbers and Nones, as an array of objects."""
    name, value = _only(labelled)
    refuse_masked(name, value)
    fits_in_memory(value.size if isinstance(value, np.ndarray) else 1, name)
    try:
        array = np.asarray("" if isinstance(value, bytearray) else value, dtype=object)
    except Exception:  # a foreign object may raise anything
        array = np.asarray("", dtype=object)
    if all(kind is NoneType or _kind.is_real(kind) for kind in set(map(type, array.flat))):
        return array
    raise type_refusal(name, "a real number or a list of real numbers", value, shown=True)


def one_of(options: Iterable[str], **labelled: object) -> str:
    """Return the argument, which must be one of the options, as a string."""
    _, value = _only(labelled)
    allowed = tuple(options)
    option = str.__str__(value) if isinstance(value, str) else None  # a subclass may override it
    if option not in allowed:
        raise refusal("one of " + ", ".join(map(repr, allowed)), **labelled)
    return option


def yes_or_no(**labelled: object) -> bool:
    """Return the argument as a bool; only True and False are accepted."""
    name, value = _only(labelled)
    if not isinstance(value, bool | np.bool_):
        raise ArgumentTypeError.must_be(name, "True or False", got=f"{name}={quoted(value)}")
    return bool(value)


def private_array(**labelled: object) -> NDArray[Any]:
    """Return private data as an array of finite numbers; errors never show any of them.

    No number is rounded. The array has the data type of the input, or holds Python integers,
    fractions and floats if a double cannot represent every number exactly.
    """
    name, value = _only(labelled)
    if _are_few_doubles(value) and np.isfinite(value).all():
        return value
    array = as_numbers(name, value, shown=False, exact=True)
    if array.dtype == object and not _exact.are_finite(array):
        raise ArgumentError.must_be(name, _FINITE)
    flat = array.reshape(-1)
    for start in range(0, flat.size if array.dtype.kind == "f" else 0, _BLOCK):
        if not np.isfinite(flat[start : start + _BLOCK]).all():
            raise ArgumentError.must_be(name, _FINITE)
    return array


def _are_few_doubles(value: object) -> TypeGuard[Floats]:
    return type(value) is np.ndarray and value.dtype == np.float64 and value.size <= _BLOCK


def private_number(value: float | np.number[Any], name: str = "values") -> float:
    """Return a private number as a float or an integer, if it is finite; errors never show it.

    Examples
    --------
    >>> private_number(2**2000) == 2**2000, type(private_number(np.float64(0.5)))
    (True, <class 'float'>)
    """
    if type(value) is float and math.isfinite(value):
        return value
    if isinstance(value, int):
        return value
    if not math.isfinite(value):
        raise ArgumentError.must_be(name, _FINITE)
    return value.item() if isinstance(value, np.integer) else float(value)


def private_values(**labelled: object) -> Floats:
    """Return private data as the nearest finite doubles; errors never show any of them."""
    name, value = _only(labelled)
    array = private_array(**{name: value})
    if array.dtype == object:
        array = np.array([_nearest(number) for number in array.flat]).reshape(array.shape)
    return array.astype(np.float64, copy=False)


def _nearest(number: Any) -> float:
    """Return the nearest finite double: a huge number is still inside or outside a box."""
    try:
        return float(number)
    except OverflowError:
        return math.copysign(_LARGEST, 1 if number > 0 else -1)


def public_values(**labelled: object) -> Floats:
    """Return public numbers, such as outputs or probabilities, as doubles without NaN."""
    name, value = _only(labelled)
    array = as_floats(name, value, shown=False)
    if np.isnan(array).any():
        raise ArgumentError.must(name, "not contain NaN")
    return array


def format_numbers(value: object) -> str:
    """Return a number or vector as a person would write it: 120 for 120.0, long vectors cut."""
    if isinstance(value, float | np.floating):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
    if not isinstance(value, list | tuple | np.ndarray) or getattr(value, "ndim", 1) != 1:
        return quoted(value)  # it may be anything that a file held
    shown = list(value) if len(value) <= 6 else [*value[:3], value[-1]]
    texts = [format_numbers(x) if isinstance(x, float | np.floating) else quoted(x) for x in shown]
    if len(value) > 6:
        texts.insert(3, "...")
    return "[" + ", ".join(texts) + "]"


def _only(labelled: dict[str, object]) -> tuple[str, Any]:
    ((name, value),) = labelled.items()
    return name, value


def refusal(requirement: str, hint: str | None = None, /, **labelled: object) -> ArgumentError:
    """Return the error which says what a public argument must be, and what was given.

    Examples
    --------
    >>> str(refusal("below 1", delta=1.5))
    'delta must be below 1, got delta=1.5.'
    """
    name, value = _only(labelled)
    return ArgumentError.must_be(name, requirement, got=f"{name}={quoted(value)}", hint=hint)


def _vector_refusal(requirement: str, **labelled: object) -> ArgumentError:
    """Return the same error about an argument that may have several coordinates."""
    name, value = _only(labelled)
    return ArgumentError.must_be(name, requirement, got=f"{name}={quoted(value, vector=True)}")


def _as_float(name: str, value: object) -> float:
    if (plain := _exact.plain(value)) is not None:
        return plain
    refuse_masked(name, value)
    number = unwrapped(value)
    if not _kind.is_real(type(number)):
        raise type_refusal(name, "a real number", value, shown=True)
    try:
        double = as_double(number)
        if name not in _PROMISES or isinstance(number, float) or not math.isfinite(double):
            return double
        return _exact.not_above(number, double)
    except Exception:  # it is too large, or a foreign object raises something
        raise refusal("a number that fits in a double", **{name: value}) from None
