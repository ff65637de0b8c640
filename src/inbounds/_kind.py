"""Descriptions of arguments that are not numbers: their types in words, never a value.

>>> described(["17", "41"])
('a list that holds strings', 'convert to numbers first, for example with pandas.to_numeric.')
"""

import re
from collections.abc import Iterable
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray

Kind = tuple[str, str, str]
"""The words for one object of a type, for several of them, and what to do about them."""

_MISSING = ("a missing value", "missing values", "fill or drop missing values first.")
_TEXT = ("a string", "strings", "convert to numbers first, for example with pandas.to_numeric.")
_BYTES = ("bytes", "bytes", "convert to numbers first, for example with numpy.frombuffer.")
_BOOLEAN = (
    "a boolean",
    "booleans",
    "convert to 0 and 1 first, as in astype(int), and use Box(0, 1).",
)
_DATE = ("a date", "dates", "convert to numbers first, in a unit you choose, such as days.")
_DURATION = (
    "a duration",
    "durations",
    "divide by a unit you choose, such as numpy.timedelta64(1, 's').",
)
_COMPLEX = ("a complex number", "complex numbers", "their real and imaginary parts are numbers.")
_SET = ("a set", "sets", "a set has no order and no repeats; pass a list or an array.")
_MAPPING = ("a dictionary", "dictionaries", "pass its values as a list or an array.")
_NESTED = ("a list", "lists", "pass rows that are all equally long.")
_RECORD = ("a record", "records", "pass one field at a time.")
_ITERATOR = ("an iterator", "iterators", "pass a list or an array of what it yields.")
_OF_TYPES: tuple[tuple[Any, Kind], ...] = (
    (NoneType, _MISSING),
    ((str,), _TEXT),
    ((bytes, bytearray, memoryview), _BYTES),
    ((bool, np.bool_), _BOOLEAN),
    ((date, np.datetime64), _DATE),
    ((timedelta, np.timedelta64), _DURATION),
    ((complex, np.complexfloating), _COMPLEX),
    ((set, frozenset), _SET),
    (dict, _MAPPING),
    ((list, tuple, np.ndarray), _NESTED),
    (np.void, _RECORD),
)
_OF_ARRAYS = {
    **dict.fromkeys("UT", _TEXT),
    **{"S": _BYTES, "b": _BOOLEAN, "M": _DATE, "m": _DURATION, "c": _COMPLEX, "V": _RECORD},
}
_REAL = (int, float, Decimal, Fraction, np.integer, np.floating)
_MOST = 4  # types that a message names


def described(value: object) -> tuple[str, str]:
    """Return the type of a refused argument in words, and a hint, which may be empty.

    Examples
    --------
    >>> described(None)
    ('None', 'fill or drop missing values first.')
    >>> described(np.array([1.0, None], dtype=object))
    ('an array that holds missing values', 'fill or drop missing values first.')
    >>> described(np.array([True]))
    ('an array of booleans', 'convert to 0 and 1 first, as in astype(int), and use Box(0, 1).')
    """
    if isinstance(value, np.ma.MaskedArray):
        return "a masked array", ""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if value is None:
        return "None", _MISSING[2]
    if isinstance(value, list | tuple):
        return _described_list(value)
    array = None if isinstance(value, bytes | bytearray) else _as_array(value)
    if array is None:
        words, _, hint = _words_for(type(value))
        return words, hint
    container = "array" if isinstance(value, np.ndarray) else _first_word(type(value))
    return _contents(_with_article(container), array)


def _described_list(value: list[Any] | tuple[Any, ...]) -> tuple[str, str]:
    container = f"a {_first_word(type(value))}"
    try:
        return _contents(container, np.asarray(value, dtype=object))
    except ValueError:  # its items differ in shape
        return f"{container} nested unevenly", _NESTED[2]
    except Exception:  # a foreign object may raise anything
        return container, ""


def _as_array(value: object) -> NDArray[Any] | None:
    """Return a value as an array, or None if it is a single object."""
    try:
        array = np.asarray(value)
    except Exception:  # as above
        return None
    return array if array.ndim else None


_LOOKED_AT = 1 << 24  # elements: the types in a larger array, which may be a view, are not listed


def _contents(container: str, array: NDArray[Any]) -> tuple[str, str]:
    if array.dtype.kind in _OF_ARRAYS:
        _, plural, hint = _OF_ARRAYS[array.dtype.kind]
        return f"{container} of {plural}", hint
    is_listed = array.dtype == object and array.size <= _LOOKED_AT
    types = refused(array.flat) if is_listed else set()
    words = sorted(set(map(_words_for, types)))
    if not words:
        return container, ""
    names = [plural for _, plural, _ in words[:_MOST]] + ["others"] * (len(words) > _MOST)
    joined = " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
    return f"{container} that holds {joined}", next(filter(None, (hint for *_, hint in words)), "")


def refused(items: Iterable[object]) -> set[type]:
    """Return the types of those items that are not real numbers."""
    return {kind for kind in set(map(type, items)) if not is_real(kind)}


def is_real(kind: type) -> bool:
    """Return whether objects of a type are real numbers that convert to the nearest double.

    Examples
    --------
    >>> from decimal import Decimal
    >>> is_real(Decimal), is_real(int), is_real(bool), is_real(np.timedelta64)
    (True, True, False, False)
    """
    return issubclass(kind, _REAL) and not is_refused(kind)


def is_refused(kind: type) -> bool:
    """Return whether Python or NumPy counts a type as numbers, but inbounds does not."""
    return issubclass(kind, bool | np.timedelta64)


def _words_for(kind: type) -> Kind:
    if kind.__name__ in ("NAType", "NaTType", "MaskedConstant"):  # from pandas and NumPy
        return _MISSING
    for types, words in _OF_TYPES:
        if issubclass(kind, types):
            return words
    if hasattr(kind, "__next__"):
        return _ITERATOR
    name = _first_word(kind)
    return _with_article(name), f"objects of type {name}", ""


def _first_word(kind: type) -> str:
    """Return the first word of a type's name: the rest may reveal what it holds."""
    return re.split(r"\W", kind.__name__, maxsplit=1)[0][:40] or "object"


def _with_article(name: str) -> str:
    return f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"


def type_name(data_type: object) -> str:
    """Return a data type's name without details, such as categories, which may be private.

    Examples
    --------
    >>> type_name("Enum(categories=['77'])")
    'Enum'
    """
    return re.split(r"[^\w ]", str(data_type), maxsplit=1)[0].strip() or type(data_type).__name__
