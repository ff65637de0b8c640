"""The levels of a category: distinct texts, integers or booleans, and their codes 0..k-1.

Levels are compared as Python compares texts and integers: by their characters and digits. Nothing
that a value brings along, such as an equality of its own, is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from inbounds.errors import ArgumentError, ArgumentTypeError

Level = str | int | bool
Family = Literal["text", "integer", "boolean"]

_MOST = 1 << 16
_FEW = 16
_TYPES: dict[Family, tuple[type, ...]] = {
    "boolean": (bool, np.bool_),
    "integer": (int, *(np.dtype(f"{sign}{size}").type for sign in "iu" for size in (1, 2, 4, 8))),
    "text": (str, np.str_),
}
_KINDS: dict[str, Family] = {"b": "boolean", "i": "integer", "u": "integer", "U": "text"}


def check_levels(levels: object) -> tuple[Level, ...]:
    """Return the levels as a tuple of texts, integers or booleans of Python.

    Examples
    --------
    >>> check_levels(np.array(["no", "yes"]))
    ('no', 'yes')
    >>> check_levels([0, 0])
    Traceback (most recent call last):
    inbounds.errors.ArgumentError: levels must be distinct.
    """
    items = _as_list(levels)
    if items is None:
        raise ArgumentTypeError.must_be(
            "levels", "a list of texts, integers or booleans", got=type(levels).__name__
        )
    if not 2 <= len(items) <= _MOST:
        raise ArgumentError.must_be(
            "levels", f"2 to {_MOST} texts, integers or booleans", got=f"{len(items)} of them"
        )
    families = {_family(type(item)) for item in items}
    if len(families) > 1 or None in families:
        raise ArgumentTypeError.must_be("levels", "all texts, all integers or all booleans")
    plain = tuple(item.item() if isinstance(item, np.generic) else item for item in items)
    if len(set(plain)) < len(plain):
        raise ArgumentError.must_be("levels", "distinct")
    _refuse_unwritable(plain)
    return plain


def _as_list(levels: object) -> list[Any] | None:
    if isinstance(levels, str | bytes | dict | set | frozenset):
        return None
    if isinstance(levels, np.ndarray):
        return list(levels) if levels.ndim == 1 else None
    return list(levels) if isinstance(levels, Iterable) else None


def _refuse_unwritable(levels: Sequence[Level]) -> None:
    """Refuse what arrays and engines cannot hold: numpy drops zeros at the end of a text."""
    texts = [level for level in levels if isinstance(level, str)]
    if any("\0" in text or not _is_unicode(text) for text in texts):
        raise ArgumentError.must("levels", "contain no null characters and no surrogates")
    numbers = [int(level) for level in levels if not isinstance(level, str)] or [0]
    least, most = min(numbers), max(numbers)
    if not (least >= -(2**63) and most < (2**64 if least >= 0 else 2**63)):
        raise ArgumentError.must_be("levels", "integers that one type of 64 bits can hold")


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _family(kind: type) -> Family | None:
    return next((family for family, kinds in _TYPES.items() if kind in kinds), None)


def family_of(levels: Sequence[Level]) -> Family:
    """Return what checked levels are.

    Examples
    --------
    >>> family_of(("no", "yes")), family_of((False, True))
    ('text', 'boolean')
    """
    family = _family(type(levels[0]))
    assert family is not None  # for type checkers
    return family


def codes_of(values: Any, levels: Sequence[Level], name: str) -> NDArray[np.int64]:
    """Return the place of each value among the levels; `name` is the argument that errors name.

    Examples
    --------
    >>> codes_of(["yes", "no", "yes"], ("no", "yes"), "values").tolist()
    [1, 0, 1]
    """
    array = values if isinstance(values, np.ndarray) else _object_array(values)
    if array.dtype == object:
        flat = _codes_of_objects(array.reshape(-1).tolist(), levels)
    else:
        flat = _codes_of_array(array.reshape(-1), levels)
    if (flat < 0).any():
        raise foreign_value(name)
    return flat.reshape(array.shape)


def foreign_value(name: str) -> ArgumentError:
    """Return the error that a value is none of the levels; it does not show the value."""
    hint = "map all other values to a level of their own, such as 'other', first."
    return ArgumentError.must(name, "hold levels of the mechanism only", hint=hint)


def _object_array(values: Any) -> NDArray[Any]:
    """Return lists, of lists too, or one value as an array of objects, which keep their types."""
    if isinstance(values, list | tuple):
        return np.array(values, object)
    array = np.empty((), object)
    array[...] = values
    return array


def _codes_of_objects(values: list[Any], levels: Sequence[Level]) -> NDArray[np.int64]:
    known, kinds = {level: i for i, level in enumerate(levels)}, _TYPES[family_of(levels)]
    codes = (known.get(value, -1) if type(value) in kinds else -1 for value in values)
    return np.fromiter(codes, np.int64, len(values))


def _codes_of_array(values: NDArray[Any], levels: Sequence[Level]) -> NDArray[np.int64]:
    """Look up values of one type: few levels one by one, which is quicker, or many by sorting."""
    if _KINDS.get(values.dtype.kind) != family_of(levels):
        return np.full(values.size, -1)
    if values.dtype.kind in "iu":
        limits = np.iinfo(values.dtype)
        usable = [i for i, level in enumerate(levels) if limits.min <= level <= limits.max]  # type: ignore[operator]
        known = np.array([levels[i] for i in usable], values.dtype)
    else:
        usable, known = list(range(len(levels))), np.array(levels)
    if len(usable) <= _FEW:
        codes = np.full(values.size, -1)
        for place, level in zip(usable, known, strict=True):
            codes += (values == level) * (place + 1)
        return codes
    order = np.argsort(known)
    places = np.searchsorted(known, values, sorter=order).clip(max=len(usable) - 1)
    codes = np.array(usable)[order[places]]
    return np.where(known[order[places]] == values, codes, -1)
