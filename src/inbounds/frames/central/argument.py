"""Checks of the public arguments of statistics: a column's name, its bounds, edges of bins."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from inbounds import _check
from inbounds._check import format_numbers
from inbounds.errors import ArgumentError, ArgumentTypeError, quoted

_NARROWEST, _WIDEST = 2.0**-250, 2.0**250


def check_bounded(column: object, lower: float, upper: float) -> tuple[str, tuple[float, ...]]:
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


def check_binned(column: object, edges: Sequence[float]) -> tuple[str, tuple[float, ...]]:
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


def _checked(
    column: object, argument: str, edges: tuple[float, ...]
) -> tuple[str, tuple[float, ...]]:
    if not isinstance(column, str) or not column:
        raise ArgumentTypeError.must_be("column", "the name of a column", got=quoted(column))
    if not _NARROWEST < edges[-1] - edges[0] < _WIDEST:
        requirement = "give a range whose width is between 2**-250 and 2**250"
        got = f"{format_numbers(edges[0])} to {format_numbers(edges[-1])}"
        raise ArgumentError.must(argument, requirement, got=got)
    return column, edges
