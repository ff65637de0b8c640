"""Statistics of a table: counts, totals, means, variances and histograms of columns.

Each statistic is a class that says which moments it needs, how it is estimated from them, and what
tells its rows apart. Adding a statistic means adding a class and a function to this module, or to
`inbounds.frames.central.level`. The formulas: docs/proofs/statistics.md, theorems 13 and 14.

Bounds and edges are arguments because they must be public: reading them from the data would reveal
something about it. Values outside are moved to the nearest bound before anything is added up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from inbounds._check import format_numbers
from inbounds._entry import called
from inbounds.frames.central import moment
from inbounds.frames.central.argument import Column, check_binned, check_bounded
from inbounds.frames.central.estimate import Estimate, Released, mean_of, variance_of
from inbounds.frames.central.statistic_type import LABELS
from inbounds.frames.central.statistic_type import Statistic as Statistic  # noqa: PLC0414
from inbounds.frames.central.tally import add_up


@dataclass(frozen=True, slots=True, repr=False)
class _Count(Statistic):
    def moments(self, *, counted: bool) -> list[moment.Moment]:
        return [moment.RowCount()]

    def estimate(self, released: Released) -> list[Estimate]:
        (fraction,) = released.sums(*self.moments(counted=True), jointly=False)
        rows = fraction.scaled(released.size).clipped(0.0, released.size)
        return [released.rounded(rows)]

    def influences(self, released: Sequence[moment.Moment]) -> dict[moment.Moment, float]:
        return {moment.RowCount(): 1.0}


@dataclass(frozen=True, slots=True, repr=False)
class _Total(Statistic):
    def moments(self, *, counted: bool) -> list[moment.Moment]:
        return [(moment.FirstMoment if counted else moment.ValueSum)(self.column, self.edges)]

    def estimate(self, released: Released) -> list[Estimate]:
        size, values = released.size, moment.ValueSum(self.column, self.edges)
        low, high = values.span
        if released.holds(values):
            (total,) = released.sums(values)
            total = total.scaled(size * (high - low))
        else:
            if not released.holds(moment.RowCount()):  # exactly `size` rows are added up
                low, high = self.edges
            fraction, place = released.sums(
                moment.RowCount(), moment.FirstMoment(self.column, self.edges)
            )
            middle = fraction.scaled(self.lower / 2 + self.upper / 2).scaled(size)
            total = place.scaled(size * (self.upper - self.lower)).plus(middle)
        return [total.clipped(size * low, size * high)]

    def influences(self, released: Sequence[moment.Moment]) -> dict[moment.Moment, float]:
        largest, values = max(abs(self.lower), abs(self.upper)), self.moments(counted=False)[0]
        if values in released:
            assert isinstance(values, moment.ValueSum)
            low, high = values.span
            return {values: (high / largest - low / largest) ** 2}
        (place,) = self.moments(counted=True)
        ends = self.lower / largest, self.upper / largest
        return {moment.RowCount(): (sum(ends) / 2) ** 2, place: (ends[1] - ends[0]) ** 2}


@dataclass(frozen=True, slots=True, repr=False)
class _Mean(Statistic):
    def moments(self, *, counted: bool) -> list[moment.Moment]:
        return [moment.RowCount(), moment.FirstMoment(self.column, self.edges)]

    def estimate(self, released: Released) -> list[Estimate]:
        fraction, place = released.sums(*self.moments(counted=True))
        middle, width = self.lower / 2 + self.upper / 2, self.upper - self.lower
        return [mean_of(place, fraction).scaled(width, middle).clipped(self.lower, self.upper)]

    def influences(self, released: Sequence[moment.Moment]) -> dict[moment.Moment, float]:
        fraction, place = self.moments(counted=True)
        return {fraction: 1 / 12, place: 1.0}


@dataclass(frozen=True, slots=True, repr=False)
class _Variance(Statistic):
    def moments(self, *, counted: bool) -> list[moment.Moment]:
        return [moment.RowCount(), moment.SecondMoment(self.column, self.edges)]

    def estimate(self, released: Released) -> list[Estimate]:
        fraction, first, second = released.sums(*self.moments(counted=True))
        square = (self.upper - self.lower) ** 2
        return [variance_of(first, second, fraction).scaled(square).clipped(0.0, square / 4)]

    def influences(self, released: Sequence[moment.Moment]) -> dict[moment.Moment, float]:
        fraction, places = self.moments(counted=True)
        return {fraction: 47 / 60, places: 16 / 3 + 1.0}


@dataclass(frozen=True, slots=True, repr=False)
class _Histogram(Statistic):
    @property
    def labels(self) -> list[dict[str, Any]]:
        return [dict(zip(LABELS, edges, strict=False)) for edges in pairwise(self.edges)]

    def moments(self, *, counted: bool) -> list[moment.Moment]:
        return [moment.BinCounts(self.column, self.edges)]

    def estimate(self, released: Released) -> list[Estimate]:
        return add_up(released, self.moments(counted=True)[0])

    def influences(self, released: Sequence[moment.Moment]) -> dict[moment.Moment, float]:
        (bins,) = self.moments(counted=True)
        return {bins: len(self.edges) - 1.0}  # the l2 error of all bins

    def __repr__(self) -> str:
        return f"{self.kind}({self.column!r}, {format_numbers(self.edges)})"


@called()
def count() -> Statistic:
    """Ask for the number of rows n.

    Returns
    -------
    A statistic to pass to `summarize`.

    See Also
    --------
    summarize, histogram

    Notes
    -----
    How it follows from released sums: docs/proofs/statistics.md, theorems 12 and 13.

    Examples
    --------
    >>> from inbounds.frames import count
    >>> count()
    count()
    """
    return _Count()


@called()
def total(column: Column, lower: float, upper: float) -> Statistic:
    """Ask for the sum Σx of a column whose values are in [`lower`, `upper`].

    Parameters
    ----------
    column
        The name of a column of numbers, or its index in an array.
    lower, upper
        Public bounds. Values outside are moved to the nearest bound, unless `summarize` is told
        otherwise by `outside`.

    Returns
    -------
    A statistic to pass to `summarize`.

    Raises
    ------
    ArgumentError
        If a bound is not finite, or the bounds are not in order.
    ArgumentTypeError
        If `column` is not a name, or a bound is not a number.

    See Also
    --------
    summarize, mean

    Notes
    -----
    How it follows from released sums: docs/proofs/statistics.md, theorem 13.

    Examples
    --------
    >>> from inbounds.frames import total
    >>> total("income", 0, 1e6)
    total('income', 0, 1000000)
    """
    return _Total(*check_bounded(column, lower, upper))


@called()
def mean(column: Column, lower: float, upper: float) -> Statistic:
    """Ask for the mean Σx/n of a column whose values are in [`lower`, `upper`].

    Parameters
    ----------
    column
        The name of a column of numbers, or its index in an array.
    lower, upper
        Public bounds. Values outside are moved to the nearest bound, unless `summarize` is told
        otherwise by `outside`.

    Returns
    -------
    A statistic to pass to `summarize`, whose estimates stay in [`lower`, `upper`].

    Raises
    ------
    ArgumentError
        If a bound is not finite, or the bounds are not in order.
    ArgumentTypeError
        If `column` is not a name, or a bound is not a number.

    See Also
    --------
    summarize, total, variance

    Notes
    -----
    How it follows from released sums: docs/proofs/statistics.md, theorem 13.

    Examples
    --------
    >>> from inbounds.frames import mean
    >>> mean("age", 0, 120)
    mean('age', 0, 120)
    """
    return _Mean(*check_bounded(column, lower, upper))


@called()
def variance(column: Column, lower: float, upper: float) -> Statistic:
    """Ask for the variance Σ(x - Σx/n)²/n of a column whose values are in [`lower`, `upper`].

    Parameters
    ----------
    column
        The name of a column of numbers, or its index in an array.
    lower, upper
        Public bounds. Values outside are moved to the nearest bound, unless `summarize` is told
        otherwise by `outside`.

    Returns
    -------
    A statistic to pass to `summarize`, whose estimates are at most (`upper` - `lower`)²/4.

    Raises
    ------
    ArgumentError
        If a bound is not finite, or the bounds are not in order.
    ArgumentTypeError
        If `column` is not a name, or a bound is not a number.

    See Also
    --------
    summarize, mean

    Notes
    -----
    How it follows from released sums: docs/proofs/statistics.md, theorem 13.

    Examples
    --------
    >>> from inbounds.frames import variance
    >>> variance("age", 0, 120)
    variance('age', 0, 120)
    """
    return _Variance(*check_bounded(column, lower, upper))


@called()
def histogram(column: Column, edges: Sequence[float]) -> Statistic:
    """Ask for the number of rows in each bin of a column.

    Parameters
    ----------
    column
        The name of a column of numbers, or its index in an array.
    edges
        At least two public numbers, each above the one before. A bin contains its lower edge and
        not its upper edge, except for the last bin, which contains both. Values beyond the outer
        edges belong to the outer bins.

    Returns
    -------
    statistic
        To pass to `summarize`, which writes one row for each bin. The counts of the bins of a group
        are whole numbers of at least 0, which add up to the number of rows if it is public.

    Raises
    ------
    ArgumentError
        If `edges` are not finite, fewer than two, or not in order.
    ArgumentTypeError
        If `column` is not a name, or an edge is not a number.

    See Also
    --------
    summarize, count

    Notes
    -----
    How it follows from released sums: docs/proofs/statistics.md, theorems 10 and 13.

    Examples
    --------
    >>> from inbounds.frames import histogram
    >>> histogram("age", [0, 18, 65, 120])
    histogram('age', [0, 18, 65, 120])
    """
    return _Histogram(*check_binned(column, edges))
