"""Argument checks: the keyword is the label, as in ``positive(sigma=sigma)``.

Each takes exactly one keyword argument and returns its value in clean form.
`private_values` is the one for data: its messages never show what was passed.
"""

import math
from collections.abc import Iterable
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inbounds._types import Floats
from inbounds.errors import ArgumentError, ArgumentTypeError

_BLOCK = 1 << 16  # numbers looked at together, so that a check needs little memory


def finite(**labelled: object) -> float:
    """Return the argument as a finite float."""
    name, value = _only(labelled)
    number = _as_float(name, value)
    if not math.isfinite(number):
        raise ArgumentError(_message(name, "finite", value))
    return number


def positive(**labelled: object) -> float:
    """Return the argument as a finite float above zero."""
    name, value = _only(labelled)
    number = finite(**{name: value})
    if number <= 0:
        raise ArgumentError(_message(name, "positive", value))
    return number


def not_negative(**labelled: object) -> float:
    """Return the argument as a finite float of zero or more."""
    name, value = _only(labelled)
    number = finite(**{name: value})
    if number < 0:
        raise ArgumentError(_message(name, "zero or more", value))
    return number


def within(low: float, high: float, **labelled: object) -> float:
    """Return the argument as a float strictly between `low` and `high`."""
    name, value = _only(labelled)
    number = finite(**{name: value})
    if not low < number < high:
        raise ArgumentError(_message(name, f"strictly between {low:g} and {high:g}", value))
    return number


def finite_vector(**labelled: object) -> float | Floats:
    """Return a finite float, or a read-only one-dimensional array of at least one of them."""
    name, value = _only(labelled)
    array = _as_floats(name, value, shown=True)
    if array.ndim == 0:
        return finite(**{name: array.item()})
    if array.ndim != 1 or array.size == 0:
        raise ArgumentError(
            f"{name} must be a number or a one-dimensional sequence of at least one number, "
            f"got shape {array.shape}."
        )
    if not np.isfinite(array).all():
        raise ArgumentError(_message(name, "finite in every coordinate", value))
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
        raise ArgumentError(_message(name, "positive", value))
    return vector


def one_of(options: Iterable[str], **labelled: object) -> str:
    """Return the argument, which must be one of the named options."""
    name, value = _only(labelled)
    allowed = tuple(options)
    if not isinstance(value, str) or value not in allowed:
        raise ArgumentError(_message(name, "one of " + ", ".join(map(repr, allowed)), value))
    return value


def private_array(**labelled: object) -> NDArray[Any]:
    """Return data as an array of finite numbers of any width, never showing any in an error."""
    name, value = _only(labelled)
    array = _as_numbers(name, value, shown=False)
    if array.dtype == np.longdouble:
        array = _as_floats(name, array, shown=False)
    flat = array.reshape(-1)
    for start in range(0, flat.size if array.dtype.kind == "f" else 0, _BLOCK):
        if not np.isfinite(flat[start : start + _BLOCK]).all():
            raise ArgumentError(f"{name} must be finite: NaN and infinities have no answer.")
    return array


def private_values(**labelled: object) -> Floats:
    """Return data as an array of finite float64, never showing any of it in an error."""
    name, value = _only(labelled)
    return private_array(**{name: value}).astype(np.float64, copy=False)


def public_values(**labelled: object) -> Floats:
    """Return published numbers (outputs, probabilities) as an array of float64 without NaN."""
    name, value = _only(labelled)
    array = _as_floats(name, value, shown=False)
    if np.isnan(array).any():
        raise ArgumentError(f"{name} must not contain NaN.")
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
    return text if len(text) <= 80 else text[:77] + "..."


def _message(name: str, requirement: str, value: object) -> str:
    return f"{name} must be {requirement}, got {name}={quoted(value)}."


def _as_float(name: str, value: object) -> float:
    if isinstance(value, np.ma.MaskedArray):
        raise ArgumentTypeError(f"{name} must not be masked.")
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise ArgumentTypeError(_message(name, "a real number", value))
    try:
        return float(value)
    except (OverflowError, ValueError):
        raise ArgumentError(_message(name, "a number that fits in a double", value)) from None


def _as_floats(name: str, value: object, *, shown: bool) -> Floats:
    with np.errstate(over="ignore"):  # long double to inf: refused as not finite
        return _as_numbers(name, value, shown=shown).astype(np.float64, copy=False)


def _as_numbers(name: str, value: object, *, shown: bool) -> NDArray[Any]:
    """Read integers and floats of any width; refuse everything else without guessing."""
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        try:
            return np.asarray(float(value))
        except OverflowError:
            raise ArgumentError(f"{name} must fit in a double.") from None
    if isinstance(value, np.ma.MaskedArray):
        raise ArgumentTypeError(f"{name} must not be masked.")
    try:
        array = np.asarray(value)
    except Exception:  # whatever a foreign object raises, the caller gets our error
        array = np.asarray(None)
    if array.dtype == object and isinstance(value, list | tuple):
        array = _with_long_integers(array)
    if array.dtype.kind not in "iuf":
        requirement = "a real number or an array of real numbers"
        if shown:
            raise ArgumentTypeError(_message(name, requirement, value))
        raise ArgumentTypeError(f"{name} must be {requirement}.")
    return array


def _with_long_integers(array: NDArray[Any]) -> NDArray[Any]:
    """Read integers beyond 64 bits as doubles: being out of bounds must not be an error."""
    if not all(type(item) in (int, float) for item in array.flat):
        return array
    try:
        return array.astype(np.float64)
    except OverflowError:  # as little a number as infinity
        return array
