"""How the quantiles of one statistic are drawn, and what that costs.

The plan is public: it is made from the request alone, before anything is charged or drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import starmap
from typing import NamedTuple

import numpy as np

from inbounds.calibration.weight import weight_table
from inbounds.frames.central.allowance import Allowance
from inbounds.frames.central.change import Neighbours
from inbounds.frames.central.estimate import Estimate
from inbounds.frames.central.grid import Counts
from inbounds.frames.central.ladder import LadderEnd, Side, places
from inbounds.frames.central.points import Grid
from inbounds.frames.central.quantile import Quantile, as_fraction
from inbounds.frames.central.rank import UNITS, Ranks, pick, within_group
from inbounds.frames.central.recursion import Part, draw_recursively, levels
from inbounds.pure import pure_rho
from inbounds.sampling.choice import Draw, draw_by_weight, draw_willing
from inbounds.sampling.entropy import SYSTEM, Entropy

_FEW_POINTS = 2**12  # on more points, the willing ones take long to find and gain nothing
_APART, _APART_CONCENTRATED = 3, 9  # up to so many quantiles are drawn independently
_IN_A_PART = Fraction(2)  # at most what a row costs that is replaced within a part
_VALUE = Fraction(1, 3)  # of the budget, if there are intervals

_SIDES: tuple[Side, Side] = (-1, 1)


class Cost(NamedTuple):
    """What a draw from all groups costs: pure epsilon, and rho."""

    epsilon: Fraction
    rho: Fraction


class Drawn(NamedTuple):
    """Points of the grid: a quantile, and the ends of its interval; None if there is none."""

    point: int
    ends: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Plan:
    """Draws one statistic of each group within an allowance.

    Proof: docs/proofs/quantiles.md, theorems 6 to 10.

    Parameters
    ----------
    statistic, grid
        What is asked for, and the points it is drawn from.
    neighbours, allowance
        Which rows may differ between neighbours, and what all draws together may cost.

    Examples
    --------
    >>> from inbounds.frames.central.quantile import median
    >>> grid = Grid(0.0, 9.0, 9, True)
    >>> neighbours = Neighbours("replace", 1, True, 1)
    >>> plan = Plan(median("age", 0, 9), grid, neighbours, Allowance(Fraction(50), False))
    >>> [drawn] = plan.draw(Counts(np.array([2, 7]), np.array([10, 90])))
    >>> drawn
    Drawn(point=7, ends=(7, 7))
    """

    statistic: Quantile
    grid: Grid
    neighbours: Neighbours
    allowance: Allowance

    @property
    def mechanism(self) -> str:
        """The name of the mechanism that draws the values."""
        return "permute-and-flip" if self._value_draw is draw_willing else "exponential"

    def costs(self) -> list[Cost]:
        """Return what each draw costs; together this is at most the allowance."""
        if self._is_recursive:
            neighbours, row_cost = self.neighbours.of_parts(), self._value_cost(None)
            found = [_cost(row_cost, neighbours, _IN_A_PART, draw_by_weight)] * levels(
                len(self._qs)
            )
        else:
            draw = self._value_draw
            found = [
                _cost(self._value_cost(q), self.neighbours, within_group(q), draw) for q in self._qs
            ]
        if self.statistic.interval:
            for end in map(self._end, self._qs):
                cost = _cost(end.row_cost, self.neighbours, end.within_group(), self._end_draw)
                found += [cost] * len(_SIDES)
        return found

    def draw(self, counts: Counts, entropy: Entropy = SYSTEM) -> list[Drawn]:
        """Draw the quantiles of one group, in the order of the statistic."""
        part = Part(*counts, 0, self.grid.steps)
        if self._is_recursive:
            points = draw_recursively(part, self._qs, self._value_cost(None), entropy)
        else:
            points = sorted(self._draw_value(part, q, entropy) for q in self._qs)
        pairs = zip(self._qs, points, strict=True)
        drawn = {q: self._with_ends(part, q, point, entropy) for q, point in pairs}
        return [drawn[as_fraction(q)] for q in self.statistic.qs]

    def estimates(self, groups: Sequence[Sequence[Drawn]]) -> list[Estimate]:
        """Return the estimates of each quantile, for all groups."""
        return list(starmap(self._estimate, zip(*groups, strict=True)))

    def _estimate(self, *drawn: Drawn) -> Estimate:
        none = float("nan")
        rows = [
            (self.grid.point(point), none, *(self.grid.around(*ends) if ends else (none, none)))
            for point, ends in drawn
        ]
        return Estimate(*np.array(rows, np.float64).T)

    @property
    def _qs(self) -> list[Fraction]:
        return self.statistic.fractions

    @property
    def _is_recursive(self) -> bool:
        most = _APART_CONCENTRATED if self.allowance.concentrated else _APART
        return len(self._qs) > most

    @property
    def _value_draw(self) -> Draw:
        few = self.grid.steps <= _FEW_POINTS and not self._is_recursive
        return draw_willing if few and not self.allowance.concentrated else draw_by_weight

    @property
    def _end_draw(self) -> Draw:
        return draw_by_weight if self.allowance.concentrated else draw_willing

    def _value_cost(self, q: Fraction | None) -> Fraction:
        """Return what one row may cost in the draw of a quantile, or at one level of several."""
        values = self.allowance.part(_VALUE if self.statistic.interval else Fraction(1))
        if q is None:
            each = values.part(Fraction(1, levels(len(self._qs))))
            return each.row_cost(self.neighbours.of_parts(), _IN_A_PART)
        return values.part(Fraction(1, len(self._qs))).row_cost(self.neighbours, within_group(q))

    def _end(self, q: Fraction) -> LadderEnd:
        """Return how the ends of an interval are drawn."""
        each = self.allowance.part((1 - _VALUE) / (len(_SIDES) * len(self._qs)))
        public, willing = self.neighbours.sizes_public, self._end_draw is draw_willing
        whole = LadderEnd(q, Fraction(1), public, willing)
        row_cost = each.row_cost(self.neighbours, whole.within_group())
        return LadderEnd(q, row_cost, public, willing)

    def _draw_value(self, part: Part, q: Fraction, entropy: Entropy) -> int:
        ranks, row_cost = Ranks.of(*part), self._value_cost(q)
        if self.neighbours.sizes_public:
            losses, table = ranks.public_losses(q), weight_table(row_cost / 2)
        else:
            losses, table = ranks.private_losses(q), weight_table(row_cost / (2 * UNITS))
        run, place = pick(losses, ranks.length, table, self._value_draw, entropy)
        return int(ranks.first[run]) + place

    def _with_ends(self, part: Part, q: Fraction, point: int, entropy: Entropy) -> Drawn:
        if not self.statistic.interval:
            return Drawn(point, None)
        low, high = (self._draw_end(part, q, point, side, entropy) for side in _SIDES)
        return Drawn(point, (low, high))

    def _draw_end(self, part: Part, q: Fraction, point: int, side: Side, entropy: Entropy) -> int:
        ladder = places(point, self.grid.steps, side)
        beyond, total = rows_beyond(part, ladder, side)
        weights = self._end(q).weights(beyond, total, side)
        chosen, _ = self._end_draw([1] * len(ladder), weights, entropy)
        return ladder[chosen]


def _cost(row_cost: Fraction, neighbours: Neighbours, within: Fraction, draw: Draw) -> Cost:
    """Return what one draw costs (docs/proofs/quantiles.md, theorems 3 and 4)."""
    epsilon = row_cost * neighbours.total(within)
    if draw is draw_willing:  # it has no bounded range
        return Cost(epsilon, Fraction(pure_rho(float(epsilon) * (1 + 2.0**-50))))
    return Cost(epsilon, row_cost**2 * neighbours.squares(within) / 8)


def rows_beyond(part: Part, ladder: Sequence[int], side: Side) -> tuple[list[int], int]:
    """Return how many rows are beyond each place of a ladder, and how many there are.

    Examples
    --------
    >>> part = Part(np.array([2, 5]), np.array([4, 3]), 0, 9)
    >>> rows_beyond(part, [5, 2, 0], -1), rows_beyond(part, [2, 9], 1)
    (([4, 0, 0], 7), ([3, 0], 7))
    """
    up_to = np.concatenate([[0], np.cumsum(part.counts, dtype=np.int64)])
    total = int(up_to[-1])
    if side < 0:
        found = up_to[np.searchsorted(part.points, ladder, side="left")]
    else:
        found = total - up_to[np.searchsorted(part.points, ladder, side="right")]
    return found.tolist(), total
