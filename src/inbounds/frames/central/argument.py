"""Checks of the public arguments of statistics: a column's name, its bounds, edges, levels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

import numpy as np

from inbounds import _check
from inbounds._check import format_numbers
from inbounds.errors import ArgumentError, ArgumentTypeError, quoted

Column = str | int
"""The name of a column, or its index in an array; in tables of ours it is always a name."""

AnyColumn = Any
"""The same, where type checkers cannot know which of them it is."""

_LIST = "a list of values of the column"
_NARROWEST, _WIDEST = 2.0**-250, 2.0**250


def check_bounded(column: object, lower: float, upper: float) -> tuple[Column, tuple[float, ...]]:
    """Return the name of a column and its bounds, which must be finite and in order.

    Examples
    --------
    >>> check_bounded("age", 0, 120)
    ('age', (0.0, 120.0))
    """
    low, high = _check.finite(lower=lower), _check.finite(upper=upper)
    if not low < high:
        got = f"lower={format_numbers(low)}, upper={format_numbers(high)}"
        raise ArgumentError.must_be("upper", "above lower", got=got)
    return _checked(column, "upper", (low, high))


def check_binned(column: object, edges: Sequence[float]) -> tuple[Column, tuple[float, ...]]:
    """Return the name of a column and the edges of its bins, which must increase.

    Examples
    --------
    >>> check_binned("age", [0, 18, 65])
    ('age', (0.0, 18.0, 65.0))
    """
    numbers = np.atleast_1d(_check.finite_vector(edges=edges))
    if numbers.size < 2 or not (np.diff(numbers) > 0).all():
        raise ArgumentError.must_be("edges", "at least two numbers, each above the one before")
    return _checked(column, "edges", tuple(numbers.tolist()))


def check_column(column: object) -> Column:
    """Return the name of a column, or its index.

    Examples
    --------
    >>> check_column("smoker"), check_column(np.int64(0))
    ('smoker', 0)
    """
    if not is_column(column) or column == "":  # which stands for no column
        requirement = "the name of a column, or its index in an array"
        raise ArgumentTypeError.must_be("column", requirement, got=quoted(column))
    return plain_column(column)


def is_column(column: object) -> bool:
    """Whether this is a name, or an index, which is a whole number of 0 or more.

    Examples
    --------
    >>> is_column("age"), is_column(0), is_column(-1), is_column(False)
    (True, True, False, False)
    """
    if isinstance(column, str):
        return True
    is_index = isinstance(column, int | np.integer) and not isinstance(column, bool)
    return is_index and column >= 0  # type: ignore[operator]


def plain_column(column: Any) -> Column:
    """Return a name as it is, and an index of any type as an integer of Python."""
    return column if isinstance(column, str) else int(column)


def check_levels(levels: object) -> tuple[Any, ...]:
    """Return public values of a column as plain Python values, which must be of one type.

    Examples
    --------
    >>> check_levels(np.array([3, 1]))
    (3, 1)
    """
    values = tuple(
        plain_value(value.item() if isinstance(value, np.generic) else value)
        for value in listed("levels", levels, _LIST)
    )
    kinds = {type(value) for value in values}
    if len(kinds) > 1 or not kinds <= {str, int, bool, date}:
        requirement = "values of one type: strings, integers, booleans or dates"
        raise ArgumentTypeError.must_be("levels", requirement)
    if not values or len(set(values)) < len(values):
        raise ArgumentError.must("levels", "hold at least one value, and none twice")
    return values


def listed(name: str, values: object, requirement: str) -> list[Any]:
    """Return the values of a list, an array, an index, a column, a range or the keys of a dict.

    Examples
    --------
    >>> listed("levels", range(2), "a list")
    [0, 1]
    """
    if isinstance(values, set | frozenset):
        requirement = f"{requirement}, not a set, which has no order"
        raise ArgumentTypeError.must_be(name, requirement, hint=f"sorted({name})")
    if hasattr(values, "to_pylist"):  # of Arrow, whose scalars are not Python values
        return list(values.to_pylist())
    is_other = isinstance(values, str | bytes | Mapping) or hasattr(values, "columns")
    if is_other or not isinstance(values, Iterable):
        raise ArgumentTypeError.must_be(name, requirement)
    return list(values)


def plain_value(value: Any) -> Any:
    """Return strings, bytes and integers as values of Python's own types, and others as they are.

    A subclass may define its own equality, which must not be trusted.

    Examples
    --------
    >>> class Id(str):
    ...     __eq__, __hash__ = object.__eq__, object.__hash__
    >>> Id("ann") == Id("ann"), plain_value(Id("ann")) == plain_value(Id("ann"))
    (False, True)
    """
    if isinstance(value, np.bool_ | np.integer | np.str_ | np.bytes_):
        return value.item()
    if type(value) in (str, bytes, int, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bytes):
        return b"".join([value])
    return int.__int__(value) if isinstance(value, int) else value


def _checked(
    column: object, argument: str, edges: tuple[float, ...]
) -> tuple[Column, tuple[float, ...]]:
    name = check_column(column)
    if not _NARROWEST < edges[-1] - edges[0] < _WIDEST:
        requirement = "give a range whose width is between 2**-250 and 2**250"
        got = f"{format_numbers(edges[0])} to {format_numbers(edges[-1])}"
        raise ArgumentError.must(argument, requirement, got=got)
    return name, edges
