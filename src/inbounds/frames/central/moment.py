"""The sums behind the statistics: what a row adds to them, and how far a neighbour moves them.

Every statistic is worked out from sums over the rows of a group of numbers that a row alone
decides, scaled so that their range has width 1. Proofs: docs/proofs/statistics.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from inbounds._types import Floats
from inbounds.domain import Box
from inbounds.frames.central.statistic import Statistic
from inbounds.sensitivity import L1, L2, PerCoordinate, Sensitivity

Adjacency = Literal["replace", "add-remove"]

_ROUNDING = 2.0**-50  # absolute, per coordinate: answers are doubles of exact fractions
_UP = 1 + 2.0**-40  # relative: bounds are computed in doubles


@dataclass(frozen=True, slots=True)
class Moment:
    """Numbers that one row adds to the sums of its group, and how far they can be apart.

    Each pair of bounds is for one row that comes or goes, and for one row that becomes another in
    the same group.

    Attributes
    ----------
    kind
        ``"count"``: 1. ``"first"``: the place t of the value between its bounds, in [-1/2, 1/2].
        ``"second"``: t and 4t² - 1/2. ``"sum"``: the value over the width of [0, bounds].
        ``"bins"``: 1 for the bin of the value, 0 for the others.
    column, edges
        Of the statistics it is for.
    lowers
        Least value of each number; the largest is 1 more.
    each
        Bounds on each of the numbers.
    l1, squares
        Bounds on their l1 norm, and on the square of their l2 norm.

    Examples
    --------
    >>> moment("second", Statistic("variance", "age", (0.0, 120.0))).l1
    (1.0, 1.563)
    """

    kind: Literal["count", "first", "second", "sum", "bins"]
    column: str
    edges: tuple[float, ...]
    lowers: tuple[float, ...]
    each: tuple[float, float]
    l1: tuple[float, float]
    squares: tuple[float, float]


def moment(kind: str, statistic: Statistic) -> Moment:
    """Return the numbers of one kind that a statistic needs.

    Examples
    --------
    >>> moment("count", Statistic("count")).each
    (1.0, 0.0)
    """
    column, edges = statistic.column, statistic.edges
    if kind == "count":
        return Moment("count", "", (), (0.0,), (1.0, 0.0), (1.0, 0.0), (1.0, 0.0))
    if kind == "first":
        return Moment("first", column, edges, (-0.5,), (0.5, 1.0), (0.5, 1.0), (0.25, 1.0))
    if kind == "second":
        low, each, squares = (-0.5, -0.5), (0.5, 1.0), (0.5, 1.2862)  # (71 + 8√2)/64, and 25/16
        return Moment("second", column, edges, low, each, (1.0, 1.563), squares)
    if kind == "sum":
        least, width = span(statistic)
        reach = max(abs(edges[0]), abs(edges[-1])) / width, (edges[-1] - edges[0]) / width
        squares = reach[0] ** 2, reach[1] ** 2
        return Moment("sum", column, edges, (least / width,), reach, reach, squares)
    lows = (0.0,) * (len(edges) - 1)
    return Moment("bins", column, edges, lows, (1.0, 1.0), (1.0, 2.0), (1.0, 2.0))


def span(statistic: Statistic) -> tuple[float, float]:
    """Return the lower end and the width of the smallest interval with 0 and the bounds in it.

    Examples
    --------
    >>> span(Statistic("total", "age", (20.0, 120.0)))
    (0.0, 120.0)
    """
    least = min(0.0, statistic.lower)
    return least, max(0.0, statistic.upper) - least


def moments(statistics: Sequence[Statistic], *, sizes_public: bool) -> list[Moment]:
    """Return what must be released to work out all statistics.

    Where sizes of groups are private, a mean is a sum over a count. A total is worked out from the
    same two if the count is released anyway, and is a sum of its own otherwise.

    Examples
    --------
    >>> asked = [Statistic("mean", "age", (0.0, 120.0)), Statistic("total", "age", (0.0, 120.0))]
    >>> [one.kind for one in moments(asked, sizes_public=False)]
    ['count', 'first']
    >>> [one.kind for one in moments(asked[1:], sizes_public=False)]
    ['sum']
    """
    counted = not sizes_public and any(s.kind in ("count", "mean", "variance") for s in statistics)
    squared = {(s.column, s.edges) for s in statistics if s.kind == "variance"}
    found = [moment("count", Statistic("count"))] if counted else []
    for statistic in statistics:
        if statistic.kind == "count":
            continue
        kind = "second" if (statistic.column, statistic.edges) in squared else "first"
        if statistic.kind == "histogram":
            kind = "bins"
        elif statistic.kind == "total" and not (counted or sizes_public):
            kind = "sum"
        one = moment(kind, statistic)
        if one not in found:
            found.append(one)
    return found


def box(found: Sequence[Moment], groups: int) -> Box:
    """Return where the sums of all groups live, each over the largest size of a group.

    Examples
    --------
    >>> box([moment("count", Statistic("count"))], 2)
    Box([0, 0], [1, 1])
    """
    lower = np.tile([low for one in found for low in one.lowers], groups)
    return Box(lower, lower + 1.0)


def sensitivities(
    found: Sequence[Moment],
    groups: int,
    *,
    adjacency: Adjacency,
    sizes_public: bool,
    rows: int,
    size: int,
) -> tuple[Sensitivity, Sensitivity]:
    """Return two descriptions of how far neighbours' sums are apart: with an l1 and an l2 norm.

    Both are true, so the one that needs less noise may be used. Sums are over the `size` of a
    group, as in `box`. The theorem is in docs/proofs/statistics.md.

    Examples
    --------
    >>> counts = [moment("count", Statistic("count"))]
    >>> how = dict(adjacency="replace", sizes_public=False, rows=1, size=4)
    >>> [round(s.limits(3).radius, 6) for s in sensitivities(counts, 3, **how)]
    [0.5, 0.353553]
    """
    l1_one, l1_two = (math.fsum(one.l1[i] for one in found) for i in (0, 1))
    square_one, square_two = (math.fsum(one.squares[i] for one in found) for i in (0, 1))
    each = np.array([one.each for one in found for _ in one.lowers])
    if adjacency == "add-remove":
        caps, l1, square = each[:, 0], l1_one, square_one
    elif sizes_public:
        caps, l1, square = each[:, 1], l1_two, square_two
    else:  # a row becomes another in its group, leaves it, or moves to another group
        moves = min(groups, 2)
        caps = each.max(axis=1)
        l1, square = max(l1_two, moves * l1_one), max(square_two, moves * square_one)
    share, slack = rows / size, _ROUNDING * caps.size * groups
    bounds: Floats = np.tile(caps, groups) * share * _UP + _ROUNDING
    each_bound = PerCoordinate(bounds)
    return (
        L1(l1 * share * _UP + slack) & each_bound,
        L2(math.sqrt(square) * share * _UP + slack) & each_bound,
    )
