"""What can be asked of a table: counts, totals, means, variances and histograms of columns.

Bounds and edges are arguments because they must be public: reading them from the data would tell
something about it. Values outside are moved to the nearest bound before anything is added up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from inbounds import _check
from inbounds._check import format_numbers
from inbounds.errors import ArgumentError, ArgumentTypeError

Kind = Literal["count", "total", "mean", "variance", "histogram"]

_NARROWEST, _WIDEST = 2.0**-250, 2.0**250


@dataclass(frozen=True, slots=True, repr=False)
class Statistic:
    """One question about the rows of each group; made by the functions of this module.

    Attributes
    ----------
    kind
        Which question.
    column
        The column it is about; empty for a count.
    edges
        The public bounds of the column, and between them the inner edges of a histogram.

    Examples
    --------
    >>> mean("age", 0, 120).edges
    (0.0, 120.0)
    """

    kind: Kind
    column: str = ""
    edges: tuple[float, ...] = ()

    @property
    def lower(self) -> float:
        """What values of the column are not below."""
        return self.edges[0]

    @property
    def upper(self) -> float:
        """What values of the column are not above."""
        return self.edges[-1]

    def __repr__(self) -> str:
        if self.kind == "count":
            return "count()"
        edges = (
            format_numbers(self.edges)
            if self.kind == "histogram"
            else format_numbers(self.edges)[1:-1]
        )
        return f"{self.kind}({self.column!r}, {edges})"


def count() -> Statistic:
    """Ask for the number of rows.

    Examples
    --------
    >>> count()
    count()
    """
    return Statistic("count")


def total(column: str, lower: float, upper: float) -> Statistic:
    """Ask for the sum of a column whose values are in [`lower`, `upper`].

    Examples
    --------
    >>> total("income", 0, 1e6)
    total('income', 0, 1000000)
    """
    return _bounded("total", column, lower, upper)


def mean(column: str, lower: float, upper: float) -> Statistic:
    """Ask for the mean of a column whose values are in [`lower`, `upper`].

    Examples
    --------
    >>> mean("age", 0, 120)
    mean('age', 0, 120)
    """
    return _bounded("mean", column, lower, upper)


def variance(column: str, lower: float, upper: float) -> Statistic:
    """Ask for the variance (mean squared distance from the mean) of a column in [`lower`, `upper`].

    It is at most (`upper` - `lower`)²/4.

    Examples
    --------
    >>> variance("age", 0, 120)
    variance('age', 0, 120)
    """
    return _bounded("variance", column, lower, upper)


def histogram(column: str, edges: Sequence[float]) -> Statistic:
    """Ask how many rows are in each bin of a column.

    Bins hold their lower edge and not their upper one; the last holds both. Values beyond the
    outer edges belong to the outer bins.

    Examples
    --------
    >>> histogram("age", [0, 18, 65, 120])
    histogram('age', [0, 18, 65, 120])
    """
    given = np.atleast_1d(_check.finite_vector(edges=edges))
    if given.size < 2 or not (np.diff(given) > 0).all():
        raise ArgumentError.must_be("edges", "at least two numbers, each above the one before")
    _check_width(float(given[0]), float(given[-1]))
    return Statistic("histogram", _column(column), tuple(given.tolist()))


def _bounded(kind: Kind, column: str, lower: float, upper: float) -> Statistic:
    low, high = _check.finite(lower=lower), _check.finite(upper=upper)
    _check_width(low, high)
    return Statistic(kind, _column(column), (low, high))


def _check_width(lower: float, upper: float) -> None:
    if not lower < upper:
        raise ArgumentError.must_be(
            "upper",
            "above lower",
            got=f"lower={format_numbers(lower)}, upper={format_numbers(upper)}",
        )
    if not _NARROWEST < upper - lower < _WIDEST:
        raise ArgumentError("upper - lower must be between 2**-250 and 2**250.")


def _column(column: object) -> str:
    if not isinstance(column, str) or not column:
        raise ArgumentTypeError.must_be("column", "the name of a column", got=repr(column))
    return column
