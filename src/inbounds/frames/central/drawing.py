"""All quantiles of a request: planned from what is public, and drawn from what was counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from inbounds.frames.central.change import Neighbours
from inbounds.frames.central.estimate import Estimate
from inbounds.frames.central.grid import Counts
from inbounds.frames.central.moment import moments
from inbounds.frames.central.plan import Drawn, Plan
from inbounds.frames.central.points import Grid
from inbounds.frames.central.quantile import Quantile
from inbounds.frames.central.request import Opened, Request
from inbounds.frames.central.share import divide, of_one_number
from inbounds.guarantee import Guarantee

ColumnGrid = tuple[str, Grid]


def fractions(request: Request, weights: Sequence[float] | None = None) -> list[Fraction]:
    """Return which fraction of the guarantee each statistic has if there are quantiles.

    Statistics that need no noise have none of it, and all others the same unless there are weights.

    Examples
    --------
    >>> from inbounds.frames.central.quantile import median
    >>> from inbounds.frames.central.request import check_request
    >>> from inbounds.frames.central.statistic import count, mean
    >>> plain = {"adjacency": "replace", "rows": 1, "person": None, "size": None, "nulls": "error"}
    >>> asked = [count(), mean("age", 0, 120), median("age", 0, 120)]
    >>> fractions(check_request(statistics=asked, by=None, groups=None, **plain))
    [Fraction(0, 1), Fraction(1, 2), Fraction(1, 2)]
    """
    parts = []
    for i, statistic in enumerate(request.statistics):
        needed = moments([statistic], sizes_public=request.sizes_public)
        is_noisy = bool(needed) or isinstance(statistic, Quantile)
        weight = Fraction(1) if weights is None else Fraction(weights[i])
        parts.append(weight if is_noisy else Fraction(0))
    total = sum(parts) or Fraction(1)
    return [part / total for part in parts]


def grids(opened: Opened) -> list[ColumnGrid]:
    """Return the column and the public grid of each statistic that is a quantile.

    Examples
    --------
    >>> import pandas as pd
    >>> from inbounds.frames.central.quantile import median
    >>> from inbounds.frames.central.request import check_request, open_table
    >>> plain = {"adjacency": "replace", "rows": 1, "person": None, "size": None, "nulls": "error"}
    >>> request = check_request(statistics=median("age", 0, 9), by=None, groups=None, **plain)
    >>> grids(open_table(pd.DataFrame({"age": [7]}), request))
    [('c0', Grid(lower=0.0, upper=9.0, steps=9, is_exact=True))]
    """
    schema = opened.table.collect_schema()
    return [
        (s.column, Grid.of(s.lower, s.upper, s.step, integral=schema[s.column].is_integer()))
        for s in opened.request.statistics
        if isinstance(s, Quantile)
    ]


@dataclass(frozen=True, slots=True)
class Drawing:
    """The quantiles of a request.

    Attributes
    ----------
    plans
        How they are drawn, in the order of the statistics.
    """

    plans: tuple[Plan, ...]

    @classmethod
    def planned(
        cls,
        opened: Opened,
        neighbours: Neighbours,
        guarantee: Guarantee,
        weights: Sequence[float] | None = None,
        deviation: Callable[[Guarantee], float] = of_one_number,
    ) -> tuple[Guarantee | None, Drawing]:
        """Plan the quantiles of a request, and return the guarantee that they leave for sums.

        `deviation` is the error of the sums at a guarantee, as for `divide`.
        """
        parts = fractions(opened.request, weights)
        statistics = opened.request.statistics
        asked = [(s, p) for s, p in zip(statistics, parts, strict=True) if isinstance(s, Quantile)]
        total = sum((part for _, part in asked), Fraction(0))
        draws = sum(len(s.qs) * (3 if s.interval else 1) for s, _ in asked)
        shares = divide(guarantee, total, draws, deviation)
        allowance = shares.quantiles
        if allowance is None:
            return shares.sums, cls(())
        plans = [
            Plan(statistic, grid, neighbours, allowance.part(part / total))
            for (statistic, part), (_, grid) in zip(asked, grids(opened), strict=True)
        ]
        return shares.sums, cls(tuple(plans))

    def trial(self, groups: int) -> list[list[Estimate]]:
        """Return estimates of the right shape, without data."""
        return [
            plan.estimates([[Drawn(0, (0, 0))] * len(plan.statistic.qs)] * groups)
            for plan in self.plans
        ]

    def draw(self, counts: Mapping[ColumnGrid, Sequence[Counts]]) -> list[list[Estimate]]:
        """Draw all quantiles from the rows of each group, and return the estimates of each."""
        return [
            plan.estimates([plan.draw(group) for group in counts[plan.statistic.column, plan.grid]])
            for plan in self.plans
        ]
