"""The public grid of a column, and how many rows of each group are at each of its points.

A row's point is computed from its own value by IEEE operations alone, so every engine finds the
same one. Only the points that hold rows leave the engine. See docs/proofs/quantiles.md, item 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from operator import getitem
from typing import Any, NamedTuple

import numpy as np

from inbounds._extra import optional
from inbounds.errors import ArgumentError
from inbounds.frames.binding import BoundTable
from inbounds.frames.central.aggregate import Key, used_rows
from inbounds.frames.central.rank import Integers

with optional():
    import narwhals as nw

MOST_STEPS = 2**20
"""The largest number of steps between two bounds."""

_DEFAULT_STEPS = 2**16
_LARGEST_EXACT = 2.0**53  # up to here, doubles hold every integer
_ROUNDING = Fraction(1, 2**30)  # of a step: a row may be this much further away from its point


class Counts(NamedTuple):
    """The points that hold rows of a group, in order, and how many rows each of them holds."""

    points: Integers
    rows: Integers


@dataclass(frozen=True, slots=True)
class Grid:
    """Points at equal distances from one bound to the other.

    Attributes
    ----------
    lower, upper
        The bounds.
    steps
        The number of steps between them.
    is_exact
        Whether every value that a row can have is a point, once it is moved to the bounds.
    """

    lower: float
    upper: float
    steps: int
    is_exact: bool

    @classmethod
    def of(cls, lower: float, upper: float, step: float | None, *, integral: bool) -> Grid:
        """Return the grid of a column, which holds integers or not.

        Without a step, integers have the step 1, and other numbers 2¹⁶ steps between the bounds.

        Examples
        --------
        >>> Grid.of(0.0, 120.0, None, integral=True).steps, Grid.of(0.0, 1.0, 0.1, integral=False)
        (120, Grid(lower=0.0, upper=1.0, steps=10, is_exact=False))
        """
        whole = integral and lower.is_integer() and upper.is_integer()
        whole = whole and max(abs(lower), abs(upper)) <= _LARGEST_EXACT
        if step is None:
            width = upper - lower
            if whole and width <= MOST_STEPS:
                return cls(lower, upper, int(width), True)
            return cls(lower, upper, _DEFAULT_STEPS, False)
        is_exact = whole and (1 / _decimal(step)).denominator == 1
        return cls(lower, upper, checked_steps(lower, upper, step), is_exact)

    def point(self, index: int) -> float:
        """Return a point.

        Examples
        --------
        >>> Grid(0.0, 1.0, 10, False).point(3)
        0.3
        """
        return self._inside(self._exact(index))

    def around(self, low: int, high: int) -> tuple[float, float]:
        """Return an interval that holds every value whose point is between two others.

        Examples
        --------
        >>> Grid(0.0, 100.0, 100, True).around(3, 5), Grid(0.0, 100.0, 100, False).around(0, 100)
        ((3.0, 5.0), (0.0, 100.0))
        """
        if self.is_exact:
            return self.point(low), self.point(high)
        half = (Fraction(1, 2) + _ROUNDING) * self._exact(1, 0)
        return self._inside(self._exact(low) - half), self._inside(self._exact(high) + half)

    def _exact(self, index: int, start: int = 1) -> Fraction:
        lower, upper = _decimal(self.lower), _decimal(self.upper)
        return start * lower + (upper - lower) * index / self.steps

    def _inside(self, number: Fraction) -> float:
        return min(max(float(number), self.lower), self.upper)


def checked_steps(lower: float, upper: float, step: float) -> int:
    """Return the number of steps between two bounds, or refuse the step.

    Examples
    --------
    >>> checked_steps(0.0, 0.3, 0.1)
    3
    """
    steps = (_decimal(upper) - _decimal(lower)) / _decimal(step)
    if steps.denominator != 1 or steps > MOST_STEPS:
        requirement = f"fit into upper - lower a whole number of times, at most {MOST_STEPS}"
        raise ArgumentError.must("step", requirement, got=f"step={step!r}")
    return int(steps)


def counts(
    table: BoundTable,
    asked: list[tuple[str, Grid]],
    columns: list[str],
    *,
    by: tuple[str, ...] = (),
    groups: tuple[Key, ...] = ((),),
    person: str | None = None,
    rows: int = 1,
    secret: bytes | None = None,
) -> list[list[Counts]]:
    """Count rows at the points of grids.

    Parameters
    ----------
    table, columns, by, groups, person, rows
        As in `inbounds.frames.central.aggregate.used_rows`.
    asked
        Columns and their grids.

    Returns
    -------
    The counts of each group, for each of the columns that are asked for.

    Examples
    --------
    >>> import pandas as pd
    >>> table = nw.from_native(pd.DataFrame({"c0": [7, 3, 7, 900]}))
    >>> [[found]] = counts(table, [("c0", Grid(0.0, 9.0, 9, True))], ["c0"])
    >>> found.points.tolist(), found.rows.tolist()
    ([3, 7, 9], [1, 2, 1])
    """
    who: dict[str, Any] = {"person": person, "rows": rows, "secret": secret}
    used = used_rows(table, columns, by=by, groups=groups, **who)
    keys = [tuple(map(getitem, used.listed.values(), group)) for group in groups]
    place = {key: i for i, key in enumerate(keys)}
    return [
        _by_group(_counted(used.table, used.names[column], grid, list(used.listed)), place)
        for column, grid in asked
    ]


def _counted(table: BoundTable, column: str, grid: Grid, keys: list[str]) -> list[Integers]:
    """Return keys, points and numbers of rows, one column each; the engine counts."""
    value = nw.col(column).clip(grid.lower, grid.upper) - grid.lower
    index = value * (grid.steps / (grid.upper - grid.lower)) + 0.5
    point = index.floor().clip(0.0, float(grid.steps)).cast(nw.Int64()).alias("point")
    grouped = table.select(*(nw.col(key) for key in keys), point).group_by(*keys, "point")
    found = grouped.agg(nw.len().alias("rows"))
    eager = found.collect() if isinstance(found, nw.LazyFrame) else found
    return [eager[name].to_numpy().astype(np.int64) for name in (*keys, "point", "rows")]


def _by_group(columns: list[Integers], place: dict[tuple[int, ...], int]) -> list[Counts]:
    """Split counted points by group, and sort them; groups without rows have no points."""
    *keys, points, rows = columns
    empty = np.empty(0, np.int64)
    result = [Counts(empty, empty) for _ in place]
    order = np.lexsort((points, *keys[::-1]))
    points, rows, keys = points[order], rows[order], [key[order] for key in keys]
    changed = np.zeros(points.size, bool)
    for key in keys:
        changed[1:] |= key[1:] != key[:-1]
    starts = [0, *np.flatnonzero(changed).tolist(), points.size] if points.size else []
    for start, end in pairwise(starts):
        group = place.get(tuple(int(key[start]) for key in keys))
        if group is not None:  # a combination of listed values that is not itself listed
            result[group] = Counts(points[start:end], rows[start:end])
    return result


def _decimal(number: float) -> Fraction:
    """Return the shortest decimal that rounds to a double."""
    return Fraction(repr(float(number)))
