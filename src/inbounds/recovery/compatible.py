"""Distributions that the outputs do not speak against, whatever decides which these are."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from inbounds._types import Floats

Interval = tuple[float, float]


class Compatible(Protocol):
    """All distributions of true values that fit the outputs; it bounds what they say."""

    def quantile(self, q: float, level: float) -> Interval:
        """Return a confidence interval of the q-quantile."""

    def fraction(self, low: float, high: float, level: float, *, closed: bool = False) -> Interval:
        """Return a confidence interval of the fraction in [low, high), or [low, high]."""

    def variance(self, mean: float, level: float) -> Interval:
        """Return a confidence interval of the variance, given an estimate of the mean."""


def fraction_intervals(
    compatible: Compatible, edges: Floats, level: float
) -> tuple[Floats, Floats]:
    """Return the lower and the upper ends of intervals for the fractions in bins.

    Examples
    --------
    >>> import inbounds as ib
    >>> from inbounds.recovery.cells import Cells
    >>> from inbounds.recovery.plausible import Plausible
    >>> m = ib.Window(ib.Box(0, 1, step=1), 1, epsilon=4.0)
    >>> cells = Cells.of(m, 64)
    >>> found = Plausible.of(m, cells, cells.count(m.release([0] * 500 + [1] * 500)))
    >>> lower, upper = fraction_intervals(found, np.array([0.0, 0.5, 1.0]), 0.999999)
    >>> bool((lower < 0.5).all() and (upper > 0.5).all())
    True
    """
    last = len(edges) - 2
    ends = [
        compatible.fraction(float(edges[i]), float(edges[i + 1]), level, closed=i == last)
        for i in range(last + 1)
    ]
    lower, upper = np.array(ends).reshape(-1, 2).T
    return lower, upper
