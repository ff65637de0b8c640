"""Argument checks: the keyword is the label, as in ``positive(sigma=sigma)``.

Each takes exactly one keyword argument and returns its value in clean form. Numbers that are no
doubles become the nearest one; epsilon, delta and rho one that is not above, and costs one that is
not below, unless they are the shortest decimal of a double.
`private_values` is the one for data: its messages never show what was passed.
"""

import math
import os
from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache
from numbers import Real
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inbounds import _exact, _kind
from inbounds._types import Floats
from inbounds.errors import ArgumentError, ArgumentTypeError

_BLOCK = 1 << 16  # numbers looked at together, so that a check needs little memory
_LARGEST = math.nextafter(math.inf, 0)
_FINITE = "finite: NaN and infinities have no answer"
_PROMISES = frozenset({"epsilon", "delta", "rho", "claimed_epsilon"})  # never read as more


def finite(**labelled: object) -> float:
    """Return the argument as a finite float."""
    name, value = _only(labelled)
    number = _as_float(name, value)
    if not math.isfinite(number):
        raise refusal("finite", **labelled)
    return number


def positive(**labelled: object) -> float:
    """Return the argument as a finite float above zero."""
    name, value = _only(labelled)
    number = finite(**{name: value})
    if number <= 0:
        raise refusal("positive", **labelled)
    return number


def not_negative(**labelled: object) -> float:
    """Return the argument as a finite float of zero or more."""
    name, value = _only(labelled)
    number = finite(**{name: value})
    if number < 0:
        raise refusal("zero or more", **labelled)
    return number


def charge(**labelled: object) -> float:
    """Return a cost as a finite float of zero or more, never less than it is."""
    name, value = _only(labelled)
    number = not_negative(**{name: value})
    return finite(**{name: _exact.not_below(_unwrapped(value), number)})


def within(low: float, high: float, **labelled: object) -> float:
    """Return the argument as a float strictly between `low` and `high`."""
    name, value = _only(labelled)
    number = finite(**{name: value})
    if not low < number < high:
        raise refusal(f"strictly between {low:g} and {high:g}", **labelled)
    return number


def positive_integer(**labelled: object) -> int:
    """Check that a value is a whole number of at least 1, and return it as a plain integer.

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


def finite_vector(**labelled: object) -> float | Floats:
    """Return a finite float, or a read-only one-dimensional array of at least one of them."""
    name, value = _only(labelled)
    array = _as_floats(name, value, shown=True)
    if array.ndim == 0:
        return finite(**{name: array.item()})
    if array.ndim != 1 or array.size == 0:
        raise ArgumentError.must_be(
            name,
            "a number or a one-dimensional sequence of at least one number",
            got=f"shape {array.shape}",
        )
    if not np.isfinite(array).all():
        raise refusal("finite in every coordinate", **labelled)
    return frozen(array)


def frozen(array: Floats) -> Floats:
    """Return a copy that nobody can write to."""
    array = array.copy()
    array.flags.writeable = False
    return array


def positive_vector(**labelled: object) -> float | Floats:
    """Return a positive finite float, or a read-only vector of them."""
    name, value = _only(labelled)
    vector = finite_vector(**{name: value})
    if np.any(np.asarray(vector) <= 0):
        raise refusal("positive", **labelled)
    return vector


def several(**labelled: object) -> NDArray[Any]:
    """Return a number, or several of them and Nones, as an array of objects."""
    name, value = _only(labelled)
    _refuse_masked(name, value)
    fits_in_memory(value.size if isinstance(value, np.ndarray) else 1, name)
    try:
        array = np.asarray("" if isinstance(value, bytearray) else value, dtype=object)
    except Exception:  # whatever a foreign object raises
        array = np.asarray("", dtype=object)
    if all(kind is NoneType or _is_number(kind) for kind in set(map(type, array.flat))):
        return array
    raise _type_refusal(name, "a real number or a list of real numbers", value, shown=True)


def one_of(options: Iterable[str], **labelled: object) -> str:
    """Return the argument, which must be one of the named options."""
    _, value = _only(labelled)
    allowed = tuple(options)
    plain = str.__str__(value) if isinstance(value, str) else None  # not by a method of its class
    if plain not in allowed:
        raise refusal("one of " + ", ".join(map(repr, allowed)), **labelled)
    return plain


def yes_or_no(**labelled: object) -> bool:
    """Return the argument, which must be True or False."""
    name, value = _only(labelled)
    if not isinstance(value, bool | np.bool_):
        raise ArgumentTypeError.must_be(name, "True or False", got=f"{name}={quoted(value)}")
    return bool(value)


def private_array(**labelled: object) -> NDArray[Any]:
    """Return data as an array of finite numbers, never showing any in an error.

    Numbers are as they were: floats and integers of any width, or objects, where some are no
    doubles: integers, fractions and doubles of Python.
    """
    name, value = _only(labelled)
    array = _as_numbers(name, value, shown=False, exact=True)
    if array.dtype == object and not _exact.are_finite(array):
        raise ArgumentError.must_be(name, _FINITE)
    flat = array.reshape(-1)
    for start in range(0, flat.size if array.dtype.kind == "f" else 0, _BLOCK):
        if not np.isfinite(flat[start : start + _BLOCK]).all():
            raise ArgumentError.must_be(name, _FINITE)
    return array


def private_values(**labelled: object) -> Floats:
    """Return data as the nearest float64, all finite, never showing any of it in an error."""
    name, value = _only(labelled)
    array = private_array(**{name: value})
    if array.dtype == object:
        array = np.array([_nearest(number) for number in array.flat]).reshape(array.shape)
    return array.astype(np.float64, copy=False)


def _nearest(number: Any) -> float:
    """Return the nearest double; what is finite stays so, since it is in or out of a box."""
    try:
        return float(number)
    except OverflowError:
        return math.copysign(_LARGEST, 1 if number > 0 else -1)


def public_values(**labelled: object) -> Floats:
    """Return published numbers (outputs, probabilities) as an array of float64 without NaN."""
    name, value = _only(labelled)
    array = _as_floats(name, value, shown=False)
    if np.isnan(array).any():
        raise ArgumentError.must(name, "not contain NaN")
    return array


def short(value: object) -> str:
    """Write a number or vector as a person would: 120 rather than 120.0, long vectors cut."""
    if isinstance(value, float | np.floating):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
    if value is None:
        return "None"
    items = list(value)  # type: ignore[call-overload]
    shown = [short(item) for item in (items if len(items) <= 6 else items[:3])]
    if len(items) > 6:
        shown += ["...", short(items[-1])]
    return "[" + ", ".join(shown) + "]"


def _only(labelled: dict[str, object]) -> tuple[str, Any]:
    ((name, value),) = labelled.items()
    return name, value


def quoted(value: object) -> str:
    """Write a public argument as code, cut if long; its type where it cannot be written."""
    try:
        text = repr(value)
    except Exception:  # an int of more than 4300 digits, or a foreign object
        return f"<{type(value).__name__}>"
    text = " ".join(text.split()) if "\n" in text else text
    return text if len(text) <= 80 else text[:77] + "..."


def refusal(requirement: str, hint: str | None = None, /, **labelled: object) -> ArgumentError:
    """Return the error that says what a public argument must be, and what it is.

    Examples
    --------
    >>> str(refusal("below 1", delta=1.5))
    'delta must be below 1, got delta=1.5.'
    """
    name, value = _only(labelled)
    return ArgumentError.must_be(name, requirement, got=f"{name}={quoted(value)}", hint=hint)


def _type_refusal(name: str, requirement: str, value: object, *, shown: bool) -> ArgumentTypeError:
    """Return the error about an argument of a wrong type, which is named; data are not shown."""
    kind, hint = _kind.described(value)
    if not shown:
        return ArgumentTypeError.must_be(name, requirement, got=kind, hint=hint)
    got = f"{name}={quoted(value)}" + (f", {kind}" if value is not None else "")
    return ArgumentTypeError.must_be(name, requirement, got=got)


def _as_float(name: str, value: object) -> float:
    _refuse_masked(name, value)
    number = _unwrapped(value)
    if not _is_number(type(number)):
        raise _type_refusal(name, "a real number", value, shown=True)
    try:
        double = _as_double(number)
        if name not in _PROMISES or isinstance(number, float) or not math.isfinite(double):
            return double
        return _exact.not_above(number, double)
    except Exception:  # it is too large, or a foreign object refuses
        raise refusal("a number that fits in a double", **{name: value}) from None


def _unwrapped(value: Any) -> Any:
    return value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value


def _is_number(kind: type) -> bool:
    return issubclass(kind, Real | Decimal) and not _kind.is_refused(kind)


def _as_double(number: Any) -> float:
    """Return the nearest double, so that a larger number never becomes a smaller double."""
    if isinstance(number, Decimal) and number.is_nan():
        return math.nan  # a signalling one, too
    double = float(number)
    if math.isinf(double) and isinstance(number, Decimal | np.longdouble) and number != double:
        raise OverflowError  # as float does for long integers
    return double


def _as_floats(name: str, value: object, *, shown: bool) -> Floats:
    with np.errstate(over="ignore"):  # long double to inf: refused as not finite
        return _as_numbers(name, value, shown=shown).astype(np.float64, copy=False)


def _as_numbers(name: str, value: object, *, shown: bool, exact: bool = False) -> NDArray[Any]:
    """Read numbers of any width; refuse everything else without guessing.

    Those of Python become doubles; if `exact`, only where all of them are doubles.
    """
    _refuse_masked(name, value)
    if _kind.is_real(type(value)) and not isinstance(value, float | np.generic):
        array = np.empty((), dtype=object)
        array[()] = value  # numpy would look for a type of its own
    else:
        try:
            array = np.asarray(None if isinstance(value, bytearray) else value)  # text, not codes
            if exact and array.dtype.kind in "fO" and not isinstance(value, np.ndarray):
                array = _exact.unrounded(value, array)
        except Exception:  # whatever a foreign object raises, the caller gets our error
            array = np.asarray(None)
    fits_in_memory(array.size, name)
    if array.dtype == object and not _kind.refused(array.flat):
        return _as_rationals(name, array) if exact else _as_doubles(name, array)
    if array.dtype.kind not in "iuf":
        raise _type_refusal(name, "a real number or an array of real numbers", value, shown=shown)
    return _as_rationals(name, array) if exact and array.dtype == np.longdouble else array


def _as_rationals(name: str, array: NDArray[Any]) -> NDArray[Any]:
    try:
        return _exact.rationals(array)
    except Exception:  # as above
        pass
    raise ArgumentError.must_be(name, "numbers that can be read")


def _as_doubles(name: str, array: NDArray[Any]) -> Floats:
    """Convert Python's numbers one by one, each to the nearest double."""
    try:
        return np.array([_as_double(number) for number in array.flat]).reshape(array.shape)
    except Exception:  # one has no double, or as above
        pass
    raise ArgumentError.must(name, "fit in a double")


def _refuse_masked(name: str, value: object) -> None:
    if isinstance(value, np.ma.MaskedArray):
        raise ArgumentTypeError.must(
            name,
            "not be masked",
            got="a masked array",
            hint="compressed() keeps what is not masked, filled(...) puts numbers in its place.",
        )


def fits_in_memory(count: int, name: str) -> None:
    """Refuse more numbers than the machine could hold, at once rather than after hours.

    Examples
    --------
    >>> fits_in_memory(10**6, "values")
    >>> fits_in_memory(10**15, "values")
    Traceback (most recent call last):
    inbounds.errors.ArgumentError: values must fit in memory: 1,000,000,000,000,000 ...
    """
    if 8 * count > _memory():
        raise ArgumentError.must(
            name,
            f"fit in memory: {count:,} numbers take {count >> 27:,} GiB",
            hint="work in parts, each small enough.",
        )


@lru_cache(maxsize=1)
def _memory() -> int:
    """Return the bytes of memory there are; 2⁴⁰ where the system does not say."""
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        size = 0
    return size if size > 0 else 1 << 40
