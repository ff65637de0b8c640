"""Which tables are neighbours, how far apart their sums are, and the box that holds the sums.

The numbers of each moment are multiplied by a public factor, so that one joint release gives each
moment its own amount of noise. Any factors are valid.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self

import numpy as np

from inbounds._types import Floats
from inbounds.domain import Box
from inbounds.frames.central.moment import Moment
from inbounds.sensitivity import L1, L2, PerCoordinate, Sensitivity
from inbounds.unit import Adjacency

_ROUNDING = 2.0**-50  # per coordinate, of its factor: doubles stand for exact fractions
_UP = 1 + 2.0**-40  # relative: bounds are computed in doubles


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Which tables are neighbours, and into how many groups their rows are split.

    Attributes
    ----------
    adjacency, rows
        How many rows are replaced, or are added or removed.
    sizes_public
        Whether all rows are one group, whose size is the same for all neighbours.
    groups
        The number of groups.
    size
        The largest size of a group, by which sums are divided. Ranks do without.

    Examples
    --------
    >>> Neighbours("replace", rows=1, sizes_public=False, groups=3).ways
    ((1, 1), (0, 2))
    """

    adjacency: Adjacency
    rows: int
    sizes_public: bool
    groups: int
    size: int = 1

    @property
    def ways(self) -> tuple[tuple[int, int], ...]:
        """The ways in which one row may change the sums.

        Each is the place of the bounds in the pairs of `Limits` (0: a row that is added or removed,
        1: a row that becomes another of its group), and how many such changes there are at once.
        Proof: docs/proofs/statistics.md, theorem 2.
        """
        if self.adjacency == "add-remove":
            return ((0, 1),)
        if self.sizes_public:
            return ((1, 1),)
        return ((1, 1), (0, self._touched))  # and a row that leaves a group, or moves to another

    def total(self, within: Fraction) -> Fraction:
        """Return the pure epsilon of draws from all groups, in units of the cost of one row.

        That row comes or goes, or is replaced if sizes are public; `within` is what a row costs
        that is replaced in its group, if sizes are private. Proof:
        docs/proofs/quantiles.md, theorem 6.

        Examples
        --------
        >>> Neighbours("replace", 1, False, 5).total(Fraction(9, 8))
        Fraction(2, 1)
        """
        return self.rows * (max(within, Fraction(self._touched)) if self._moves else Fraction(1))

    def squares(self, within: Fraction) -> Fraction:
        """Return the sum of squares of the costs of all groups, in units of one row's square.

        Proof: docs/proofs/quantiles.md, theorem 6.

        Examples
        --------
        >>> Neighbours("replace", 1, False, 5).squares(Fraction(9, 8))
        Fraction(2, 1)
        """
        one = max(within**2, Fraction(self._touched)) if self._moves else Fraction(1)
        return self.rows**2 * one

    def of_parts(self) -> Self:
        """Return the same neighbours for groups that are divided in parts of private sizes."""
        return replace(self, sizes_public=False, groups=max(self.groups, 2))

    @property
    def _moves(self) -> bool:
        """Whether a row can leave its group."""
        return self.adjacency == "replace" and not self.sizes_public

    @property
    def _touched(self) -> int:
        """How many groups a row that moves changes."""
        return min(self.groups, 2)


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
    group, multiplied by the factors of their moments, and moved into `box`. Proof:
    docs/proofs/statistics.md, theorems 2 and 5.

    Parameters
    ----------
    moments, neighbours
        The moments, and the tables whose sums are compared.
    factors
        As for `box`, at most 1.

    Examples
    --------
    >>> from inbounds.frames.central.moment import RowCount
    >>> how = Neighbours("replace", rows=1, sizes_public=False, groups=3, size=4)
    >>> [round(s.limits(3).radius, 6) for s in sensitivities([RowCount()], how)]
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
