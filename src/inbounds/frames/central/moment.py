"""Moments: sums over the rows of a group, from which statistics are computed.

A row alone decides which numbers it adds to the sums of its group. They are made from integers on a
grid, and each of them has a range of width 1. A new moment is a new class in this module. How far
neighbours move the sums of all groups: `inbounds.frames.central.change`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from inbounds.frames.central.argument import AnyColumn

if TYPE_CHECKING:
    from inbounds.frames.central.fixed_point import IntegerColumns
    from inbounds.frames.central.statistic import Statistic

_FINEST = 2**40  # grid steps between two bounds


class Limits(NamedTuple):
    """Bounds on the numbers that one row adds to a moment.

    Each pair has a bound for one row that is added or removed, and a bound for one row that
    becomes another row of the same group. Proof: docs/proofs/statistics.md, theorem 1.

    Attributes
    ----------
    lowers
        The smallest value of each number; the largest value is 1 more.
    caps
        Bounds on the change of each number.
    l1, squares
        Bounds on the l1 norm of the change, and on the square of its l2 norm.
    """

    lowers: tuple[float, ...]
    caps: tuple[float, float]
    l1: tuple[float, float]
    squares: tuple[float, float]


@dataclass(frozen=True)
class Moment(ABC):
    """A sum over rows, or several sums that are made from the same value.

    A subclass of a moment adds its numbers after those of its parent, so it can stand in for it.

    Attributes
    ----------
    column, edges
        The column that is summed and its public bounds, with the inner edges of bins between them.
    """

    column: AnyColumn = ""
    edges: tuple[float, ...] = ()

    @property
    def levels(self) -> tuple[Any, ...]:
        """The public values with which the column is compared; empty if it holds numbers."""
        return ()

    @property
    @abstractmethod
    def limits(self) -> Limits:
        """How far one row can move the sums."""

    @property
    def expected(self) -> float:
        """The part of their range, from its lower end, in which the sums are expected."""
        return 1.0

    @abstractmethod
    def read(self, rows: int, totals: Iterator[int]) -> list[Fraction]:
        """Return the sums of a group, taking the totals of the integers in the order of `write`."""

    def write(self, columns: IntegerColumns, value: Any) -> Any:
        """Add the integers that a row contributes: its place on the grid, if nothing else is said.

        Returns the last integer, made from the row's value alone.
        """
        lower, upper = self.edges
        steps = grid_steps(lower, upper)
        place = (value.clip(lower, upper) - lower) * (steps / (upper - lower))
        return columns.add_rounded(place, steps)

    def covers(self, other: Moment) -> bool:
        """Whether the numbers of the other moment are the first ones of this moment."""
        same_value = (self.column, self.edges) == (other.column, other.edges)
        return same_value and isinstance(self, type(other))


class RowCount(Moment):
    """The number of rows: every row adds 1."""

    limits = Limits((0.0,), (1.0, 0.0), (1.0, 0.0), (1.0, 0.0))

    def write(self, columns: IntegerColumns, value: Any) -> None:
        """Add nothing: rows are counted in any case."""

    def read(self, rows: int, totals: Iterator[int]) -> list[Fraction]:
        """Return the number of rows."""
        return [Fraction(rows)]


class FirstMoment(Moment):
    """The sum of t, the place of the value between its bounds, in [-1/2, 1/2]."""

    limits = Limits((-0.5,), (0.5, 1.0), (0.5, 1.0), (0.25, 1.0))

    def read(self, rows: int, totals: Iterator[int]) -> list[Fraction]:
        """Return the sum of t."""
        return [Fraction(next(totals), grid_steps(*self.edges)) - Fraction(rows, 2)]


class SecondMoment(FirstMoment):
    """The sums of t and of 4t² - 1/2, where t is the place of the value in [-1/2, 1/2]."""

    # (1.0, 25/16) and (0.5, (71 + 8√2)/64), rounded up: docs/proofs/statistics.md, theorems 1 and 4
    limits = Limits((-0.5, -0.5), (0.5, 1.0), (1.0, 1.563), (0.5, 1.2862))

    def write(self, columns: IntegerColumns, value: Any) -> Any:
        """Add the place on the grid, and its squared distance from the middle."""
        steps = float(grid_steps(*self.edges))
        centred = (super().write(columns, value) * 2.0 - steps) / steps
        return columns.add_rounded(centred * centred * float(_FINEST), _FINEST)

    def read(self, rows: int, totals: Iterator[int]) -> list[Fraction]:
        """Return the sums of t and of 4t² - 1/2."""
        (first,) = super().read(rows, totals)
        return [first, Fraction(next(totals), _FINEST) - Fraction(rows, 2)]


class ValueSum(Moment):
    """The sum of the values, divided by the width of their `span`."""

    @property
    def span(self) -> tuple[float, float]:
        """The ends of the smallest interval that contains 0 and the bounds."""
        return min(0.0, self.edges[0]), max(0.0, self.edges[1])

    @property
    def limits(self) -> Limits:
        """How far one row can move the sum."""
        (lower, upper), (low, high) = self.edges, self.span
        reach = max(abs(lower), abs(upper)) / (high - low), (upper - lower) / (high - low)
        return Limits((low / (high - low),), reach, reach, (reach[0] ** 2, reach[1] ** 2))

    def read(self, rows: int, totals: Iterator[int]) -> list[Fraction]:
        """Return the sum of the values over the width."""
        (lower, upper), (low, high) = map(Fraction, self.edges), map(Fraction, self.span)
        place = Fraction(next(totals), grid_steps(*self.edges))
        return [(rows * lower + place * (upper - lower)) / (high - low)]


class BinCounts(Moment):
    """The number of rows in each bin: a row adds 1 to the bin of its value, and 0 to the others."""

    @property
    def limits(self) -> Limits:
        """How far one row can move the counts."""
        return Limits((0.0,) * (len(self.edges) - 1), (1.0, 1.0), (1.0, 2.0), (1.0, 2.0))

    @property
    def expected(self) -> float:
        """Twice the average bin, so that bins of this part have that size on average."""
        return min(1.0, 2.0 / (len(self.edges) - 1))

    def write(self, columns: IntegerColumns, value: Any) -> None:
        """Add, for each inner edge, whether the value is at the edge or above it."""
        columns.add_flags([value >= edge for edge in self.edges[1:-1]])

    def read(self, rows: int, totals: Iterator[int]) -> list[Fraction]:
        """Return the number of rows in each bin."""
        above = [rows, *islice(totals, len(self.edges) - 2), 0]
        return [Fraction(here - beyond) for here, beyond in pairwise(above)]


@dataclass(frozen=True)
class LevelCounts(Moment):
    """The number of rows with each level: a row adds 1 to the level of its value, or nothing."""

    levels: tuple[Any, ...] = ()

    @property
    def places(self) -> dict[Any, int]:
        """The places of the levels in sorted order; other values are at place 0."""
        return {level: place for place, level in enumerate(sorted(self.levels), 1)}

    @property
    def limits(self) -> Limits:
        """How far one row can move the counts."""
        return Limits((0.0,) * len(self.levels), (1.0, 1.0), (1.0, 2.0), (1.0, 2.0))

    @property
    def expected(self) -> float:
        """Twice the average level."""
        return min(1.0, 2.0 / len(self.levels))

    def write(self, columns: IntegerColumns, value: Any) -> None:
        """Add, for each level, whether the value is at its place."""
        columns.add_flags([value == self.places[level] for level in self.levels])

    def read(self, rows: int, totals: Iterator[int]) -> list[Fraction]:
        """Return the number of rows with each level."""
        return [Fraction(total) for total in islice(totals, len(self.levels))]

    def covers(self, other: Moment) -> bool:
        """Whether the other moment counts the same levels."""
        return self == other


def moments(statistics: Sequence[Statistic], *, sizes_public: bool) -> list[Moment]:
    """Return the moments to release, from which all of the statistics can be estimated.

    If the number of rows is among them, it comes first. It is not released where it is public.

    Examples
    --------
    >>> from inbounds.frames.central.statistic import mean, total
    >>> statistics = [mean("age", 0, 120), total("age", 0, 120)]
    >>> [type(moment).__name__ for moment in moments(statistics, sizes_public=False)]
    ['RowCount', 'FirstMoment']
    >>> [type(moment).__name__ for moment in moments(statistics[1:], sizes_public=False)]
    ['ValueSum']
    """
    counted = any(RowCount() in statistic.moments(counted=False) for statistic in statistics)
    wanted: list[Moment] = [RowCount()] if counted and not sizes_public else []
    for statistic in statistics:
        wanted += statistic.moments(counted=counted or sizes_public)
    needed = [m for m in wanted if not any(m != other and other.covers(m) for other in wanted)]
    return [m for m in dict.fromkeys(needed) if not (sizes_public and m == RowCount())]


def grid_steps(lower: float, upper: float) -> int:
    """Return how many steps of the grid are between two bounds, at most 2⁴⁰.

    If the width is an integer, the grid has all numbers that are an integer above `lower`.

    Examples
    --------
    >>> grid_steps(0.0, 120.0) == 120 * 2**33, grid_steps(0.0, 0.3) == 2**40
    (True, True)
    """
    width = upper - lower
    if not (width.is_integer() and width <= _FINEST):
        return _FINEST
    return int(width) << (40 - (int(width) - 1).bit_length())
