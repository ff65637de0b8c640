"""Quantiles and medians of columns, which are drawn from the points of a public grid.

They are statistics that need no sums. How they are drawn: `inbounds.frames.central.plan`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from inbounds import _check
from inbounds._check import format_numbers
from inbounds._entry import called
from inbounds.errors import ArgumentError
from inbounds.frames.central import moment
from inbounds.frames.central.argument import Column, check_bounded
from inbounds.frames.central.estimate import Estimate, Released
from inbounds.frames.central.points import checked_steps
from inbounds.frames.central.statistic_type import Statistic

DENOMINATOR = 10**6
"""The largest denominator of a quantile."""

LABEL = "q"
"""The column of a summary that says which quantile a row is."""


@dataclass(frozen=True, slots=True, repr=False)
class Quantile(Statistic):
    """One or more quantiles of a column.

    Attributes
    ----------
    qs
        Which quantiles, in the order of the summary.
    step
        The distance of points of the grid, or None for the default.
    interval
        Whether intervals are drawn.
    is_median
        Whether it was asked for as a median.
    """

    qs: tuple[float, ...] = ()
    step: float | None = None
    interval: bool = True
    is_median: bool = False

    @property
    def kind(self) -> str:
        """The name of the statistic in a summary."""
        return "median" if self.is_median else "quantile"

    @property
    def labels(self) -> list[dict[str, Any]]:
        """Which quantile each row is."""
        return [{}] if self.is_median else [{LABEL: q} for q in self.qs]

    @property
    def fractions(self) -> list[Fraction]:
        """The quantiles as fractions with small denominators, in order."""
        return sorted(map(as_fraction, self.qs))

    def moments(self, *, counted: bool) -> list[moment.Moment]:
        """Return nothing: a quantile is not computed from sums."""
        return []

    def estimate(self, released: Released) -> list[Estimate]:
        """Return nothing: a quantile is not computed from sums."""
        return []

    def influences(self, released: Sequence[moment.Moment]) -> dict[moment.Moment, float]:
        """Return nothing: a quantile is not computed from sums."""
        return {}

    def __repr__(self) -> str:
        several = format_numbers(self.qs[0] if len(self.qs) == 1 else self.qs)
        shown = [repr(self.column), *([] if self.is_median else [several])]
        shown += map(format_numbers, self.edges)
        shown += [] if self.step is None else [f"step={format_numbers(self.step)}"]
        if self.interval != (len(self.qs) == 1):
            shown.append(f"interval={self.interval}")
        return f"{self.kind}({', '.join(shown)})"


def as_fraction(q: float) -> Fraction:
    """Return the shortest decimal of a double, or a fraction close to it if that is shorter.

    Examples
    --------
    >>> as_fraction(0.29) * 100, as_fraction(1 / 3)
    (Fraction(29, 1), Fraction(1, 3))
    """
    return Fraction(repr(float(q))).limit_denominator(DENOMINATOR)


@called()
def quantile(
    column: Column,
    q: float | Sequence[float],
    lower: float,
    upper: float,
    *,
    step: float | None = None,
    interval: bool | None = None,
) -> Statistic:
    """Ask for one or more quantiles of a column whose values are in [`lower`, `upper`].

    Parameters
    ----------
    column
        The name of a column of numbers, or its index in an array.
    q
        Which quantile, from 0.000001 to 0.999999, or a list of them. 0.5 is the median.
    lower, upper
        Public bounds. Values outside are moved to the nearest bound. Bounds that fit the column
        well matter more than anything else: the empty part of a wide range competes with the rows.
    step
        The distance of the points of the public grid to which values are rounded, such as 1 for
        ages or 0.01 for prices; it must divide `upper` - `lower`. By default it is 1 for a column
        of integers between integer bounds, and (`upper` - `lower`)/2¹⁶ otherwise. Give it where
        a column of floats holds whole numbers: outputs are then right much more often.
    interval
        Whether to release an interval for each quantile, which uses two thirds of the budget of
        this statistic. By default only if a single quantile is asked for.

    Returns
    -------
    statistic
        To pass to `summarize`, which writes one row for each quantile, with its `q`. Values are
        points of the grid, and those of several quantiles are in order.

    Raises
    ------
    ArgumentError
        If a bound is not finite, bounds are not in order, `q` is out of range or has an entry
        twice, or the step does not fit.
    ArgumentTypeError
        If `column` is not a name, or another argument is not a number.

    See Also
    --------
    summarize, median, mean

    Notes
    -----
    A point v is a q-quantile of n rows if at most qn rows are below it and at least qn rows are at
    or below it. Outputs are points that are few rows away from that. If n is even, every point
    between the two rows in the middle is a median, and may be the output. How it is drawn, and what
    one row changes: docs/proofs/quantiles.md, theorems 1 to 9.

    Without rows, every point is equally likely, and the interval is the whole range. The interval
    contains, with probability 0.95 or more, all of the usual sample quantiles of the rows that are
    used (docs/proofs/quantiles.md, theorem 10). It describes the noise alone; it does not treat the
    rows as a sample of a population.

    Examples
    --------
    >>> from inbounds.frames import quantile
    >>> quantile("age", 0.9, 0, 120)
    quantile('age', 0.9, 0, 120)
    >>> quantile("price", [0.25, 0.5, 0.75], 0, 10, step=0.01)
    quantile('price', [0.25, 0.5, 0.75], 0, 10, step=0.01)
    """
    return _quantile(column, q, lower, upper, step=step, interval=interval)


@called()
def median(
    column: Column,
    lower: float,
    upper: float,
    *,
    step: float | None = None,
    interval: bool | None = None,
) -> Statistic:
    """Ask for the median of a column whose values are in [`lower`, `upper`].

    Parameters
    ----------
    column, lower, upper, step, interval
        As in `quantile`. By default there is an interval.

    Returns
    -------
    A statistic to pass to `summarize`, whose outputs are points of a grid in [`lower`, `upper`].

    Raises
    ------
    ArgumentError
        If a bound is not finite, bounds are not in order, or the step does not fit.
    ArgumentTypeError
        If `column` is not a name, or another argument is not a number.

    See Also
    --------
    summarize, quantile, mean

    Notes
    -----
    It is a `quantile`: docs/proofs/quantiles.md, theorems 1 to 10.

    Examples
    --------
    >>> from inbounds.frames import median
    >>> median("age", 0, 120)
    median('age', 0, 120)
    """
    return _quantile(column, 0.5, lower, upper, step=step, interval=interval, is_median=True)


def _quantile(
    column: Column,
    q: float | Sequence[float],
    lower: float,
    upper: float,
    *,
    step: float | None,
    interval: bool | None,
    is_median: bool = False,
) -> Quantile:
    name, edges = check_bounded(column, lower, upper)
    qs = tuple(np.atleast_1d(_check.finite_vector(q=q)).tolist())
    least = 1 / DENOMINATOR
    if not all(least <= number <= 1 - least for number in qs):
        requirement = f"between {least:f} and {1 - least:f}"
        raise ArgumentError.must_be("q", requirement, got=f"q={format_numbers(q)}")
    if len(set(map(as_fraction, qs))) < len(qs):
        raise ArgumentError.must("q", "hold no quantile twice", got=f"q={format_numbers(q)}")
    if step is not None:
        step = _check.positive(step=step)
        checked_steps(edges[0], edges[1], step)
    shown = len(qs) == 1 if interval is None else _check.yes_or_no(interval=interval)
    return Quantile(name, edges, qs, step, shown, is_median)
