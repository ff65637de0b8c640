"""How far apart the sums of two neighbours are, and the box that holds the sums.

The numbers of each moment are multiplied by a public factor, so that one joint release gives each
moment its own amount of noise. Any factors are valid. The theorem is item 2 of
docs/proofs/statistics.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from inbounds._types import Floats
from inbounds.domain import Box
from inbounds.frames.central.moment import Moment
from inbounds.sensitivity import L1, L2, PerCoordinate, Sensitivity
from inbounds.unit import Adjacency

_ROUNDING = 2.0**-50  # per coordinate, of its factor: doubles stand for exact fractions
_UP = 1 + 2.0**-40  # relative: bounds are computed in doubles


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """Which tables are neighbours, and into how many groups their rows are split.

    Attributes
    ----------
    groups
        The number of groups.
    adjacency, sizes_public, rows
        How neighbours differ, whether they have equal numbers of rows in one group, and how many
        rows may differ.
    size
        The largest size of a group, by which sums are divided.

    Examples
    --------
    >>> how = dict(adjacency="replace", sizes_public=False, rows=1, size=4)
    >>> Neighbours(groups=3, **how).ways
    ((1, 1), (0, 2))
    """

    groups: int
    adjacency: Adjacency
    sizes_public: bool
    rows: int
    size: int

    @property
    def ways(self) -> tuple[tuple[int, int], ...]:
        """The ways in which one row may change the sums.

        Each is the place of the bounds in the pairs of `Limits` (0: a row that is added or removed,
        1: a row that becomes another of its group), and how many such changes there are at once.
        """
        if self.adjacency == "add-remove":
            return ((0, 1),)
        if self.sizes_public:
            return ((1, 1),)
        moves = min(self.groups, 2)
        return ((1, 1), (0, moves))  # and a row that leaves a group, or moves to another


def box(moments: Sequence[Moment], groups: int, factors: Sequence[float] | None = None) -> Box:
    """Return the box of the sums of all groups, each divided by the largest size of a group.

    Parameters
    ----------
    moments, groups
        The moments, and the number of groups.
    factors
        What the numbers of each moment are multiplied by; 1 by default.

    Examples
    --------
    >>> from inbounds.frames.central.moment import RowCount
    >>> box([RowCount()], 2), box([RowCount()], 1, [0.5])
    (Box([0, 0], [1, 1]), Box([0], [0.5]))
    """
    lower = np.array([low for moment in moments for low in moment.limits.lowers])
    each = per_number(moments, factors)
    return Box(np.tile(lower * each, groups), np.tile((lower + 1.0) * each, groups))


def per_number(moments: Sequence[Moment], factors: Sequence[float] | None) -> Floats:
    """Return the factor of each number of one group, given those of the moments.

    Examples
    --------
    >>> from inbounds.frames.central.moment import RowCount, SecondMoment
    >>> per_number([RowCount(), SecondMoment("age", (0.0, 120.0))], [1.0, 0.5])
    array([1. , 0.5, 0.5])
    """
    lengths = [len(moment.limits.lowers) for moment in moments]
    return np.repeat([1.0] * len(lengths) if factors is None else [*factors], lengths)


def sensitivities(
    moments: Sequence[Moment], neighbours: Neighbours, factors: Sequence[float] | None = None
) -> tuple[Sensitivity, Sensitivity]:
    """Return two bounds on how far apart the sums of neighbours are: with an l1 and an l2 norm.

    Both hold, so the one that needs less noise may be used. Sums are divided by the size of a
    group, multiplied by the factors of their moments, and moved into `box`.

    Parameters
    ----------
    moments, neighbours
        The moments, and the tables whose sums are compared.
    factors
        As for `box`, at most 1.

    Examples
    --------
    >>> from inbounds.frames.central.moment import RowCount
    >>> how = dict(groups=3, adjacency="replace", sizes_public=False, rows=1, size=4)
    >>> [round(s.limits(3).radius, 6) for s in sensitivities([RowCount()], Neighbours(**how))]
    [0.5, 0.353553]
    """
    limits, ways = [moment.limits for moment in moments], neighbours.ways
    weights = [1.0] * len(limits) if factors is None else [*factors]
    pairs = list(zip(weights, limits, strict=True))
    l1 = max(times * math.fsum(w * limit.l1[i] for w, limit in pairs) for i, times in ways)
    square = max(
        times * math.fsum(w**2 * limit.squares[i] for w, limit in pairs) for i, times in ways
    )
    each = per_number(moments, factors)
    caps = np.repeat(
        [max(limit.caps[i] for i, _ in ways) for limit in limits],
        [len(limit.lowers) for limit in limits],
    )
    fraction = neighbours.rows / neighbours.size
    slack = _ROUNDING * float(each.sum()) * neighbours.groups
    inside = np.minimum(caps * fraction, 1.0)  # sums are moved into a box whose sides have length 1
    each_bound = PerCoordinate(np.tile((inside * _UP + _ROUNDING) * each, neighbours.groups))
    return (
        L1(l1 * fraction * _UP + slack) & each_bound,
        L2(math.sqrt(square) * fraction * _UP + slack) & each_bound,
    )
