"""Numbers of any type, read as doubles or exactly.

Python, NumPy and other packages have many types of numbers. This module reads them; `_check`
decides which values an argument may have.
"""

import math
import os
from decimal import Decimal
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inbounds import _exact, _kind
from inbounds._types import Floats
from inbounds.errors import ArgumentError, ArgumentTypeError, quoted


def type_refusal(name: str, requirement: str, value: object, *, shown: bool) -> ArgumentTypeError:
    """Return the error which names the type of an argument, and shows its value if `shown`."""
    kind, hint = _kind.described(value)
    if not shown:
        return ArgumentTypeError.must_be(name, requirement, got=kind, hint=hint)
    text = quoted(value)
    if text.startswith("<"):  # it cannot be shown
        return ArgumentTypeError.must_be(name, requirement, got=kind)
    got = f"{name}={text}" + (f", {kind}" if value is not None else "")
    return ArgumentTypeError.must_be(name, requirement, got=got)


def unwrapped(value: Any) -> Any:
    """Return the only element of an array without dimensions, and anything else unchanged."""
    return value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value


def as_double(number: Any) -> float:
    """Return the nearest double; larger numbers never become smaller doubles."""
    if isinstance(number, Decimal) and number.is_nan():
        return math.nan  # float() would refuse a signalling NaN
    double = float(number)
    if math.isinf(double) and isinstance(number, Decimal | np.longdouble) and number != double:
        raise OverflowError  # as float does for long integers
    return double


def as_floats(name: str, value: object, *, shown: bool) -> Floats:
    """Return numbers as an array of doubles; errors show the value if `shown`."""
    with np.errstate(over="ignore"):  # a huge long double becomes inf, which callers check
        return as_numbers(name, value, shown=shown).astype(np.float64, copy=False)


def as_numbers(name: str, value: object, *, shown: bool, exact: bool = False) -> NDArray[Any]:
    """Return numbers of any type as an array; refuse everything else without guessing.

    Python's numbers become doubles. If `exact`, they do so only if that rounds none of them.
    """
    refuse_masked(name, value)
    if _kind.is_real(type(value)) and not isinstance(value, float | np.generic):
        array = np.empty((), dtype=object)
        array[()] = value  # np.asarray would convert it
    else:
        try:
            array = np.asarray(None if isinstance(value, bytearray) else value)  # not its bytes
            if exact and array.dtype.kind in "fO" and not isinstance(value, np.ndarray | bytearray):
                array = _exact.unrounded(value, array)
        except Exception:  # a foreign object may raise anything; the caller gets our error
            array = np.asarray(None)
    fits_in_memory(array.size, name)
    if array.dtype == object and not _kind.refused(array.flat):
        return _as_rationals(name, array) if exact else _as_doubles(name, array)
    if array.dtype.kind not in "iuf":
        raise type_refusal(name, "a real number or an array of real numbers", value, shown=shown)
    return _as_rationals(name, array) if exact and array.dtype == np.longdouble else array


def _as_rationals(name: str, array: NDArray[Any]) -> NDArray[Any]:
    try:
        return _exact.rationals(array)
    except Exception:  # as above
        pass
    raise ArgumentError.must_be(name, "numbers that can be read")


def _as_doubles(name: str, array: NDArray[Any]) -> Floats:
    """Return Python's numbers as doubles, each one the nearest."""
    try:
        return np.array([as_double(number) for number in array.flat]).reshape(array.shape)
    except Exception:  # a number is too large, or as above
        pass
    raise ArgumentError.must(name, "fit in a double")


def refuse_masked(name: str, value: object) -> None:
    """Refuse a masked array, whose masked numbers must not be read."""
    if isinstance(value, np.ma.MaskedArray):
        raise ArgumentTypeError.must(
            name,
            "not be masked",
            got="a masked array",
            hint="compressed() drops the masked values, and filled(...) replaces them by numbers.",
        )


def fits_in_memory(count: int, name: str) -> None:
    """Refuse more numbers than the machine can hold, before any work is done.

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
            hint="work on smaller parts.",
        )


@lru_cache(maxsize=1)
def _memory() -> int:
    """Return the bytes of memory of this machine, or 2⁴⁰ if the system does not say."""
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        size = 0
    return size if size > 0 else 1 << 40
