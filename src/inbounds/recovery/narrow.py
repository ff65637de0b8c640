"""Intervals where there is so little noise that outputs are close to their true values.

If no output is further than r from its value, but for a probability of t on each side, then
P(Y ≤ x − r) − t ≤ P(X ≤ x) ≤ P(Y ≤ x + r) + t, and the fractions of outputs Y have exact intervals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import beta, norm

from inbounds._types import Floats
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.recovery.cells import Cells

_TAIL = 1e-3  # most probability on each side that an output is further away
_VALUES = 65  # of the box, at which the reach of the noise is computed


@dataclass(frozen=True, eq=False)
class Near:
    """Outputs counted up to each of `ends`, and how far they may be from their values.

    Proof: docs/proofs/deconvolution.md, theorem 18.

    Attributes
    ----------
    ends
        The bounds of the box, and between them the ends of the cells.
    upto
        The number of outputs that are at most each end; none at the first, which is the bound.
    reach, tail
        How far outputs are from their values, but for a probability of `tail` on each side.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.ClampedLaplace(ib.Box(0, 1), 1, scale=0.001)
    >>> cells = Cells.of(m, 64)
    >>> near = Near.of(m, cells, cells.count(m.release(np.linspace(0, 1, 5000) ** 2)))
    >>> low, high = near.quantile(0.5, 0.999999)
    >>> low < 0.25 < high, high - low < 0.2
    (True, True)
    """

    ends: Floats
    upto: Floats
    reach: float
    tail: float

    @classmethod
    def of(cls, mechanism: Mechanism, cells: Cells, counts: Floats) -> Near:
        """Return what outputs in cells say about their values.

        What the reach is: docs/proofs/deconvolution.md, theorem 18.
        """
        lower, upper = cells.edges[0], cells.edges[-1]
        tail = min(_TAIL, 0.1 / math.sqrt(counts.sum()))
        values = np.linspace(lower, upper, _VALUES)
        below, above = (mechanism.quantile(q, values) for q in (tail / 2, 1 - tail / 2))
        step = mechanism.domain.steps[0] or 0.0
        reach = float(max((above - values).max(), (values - below).max())) + step
        ends = np.concatenate([[lower], cells.cuts, [upper]])
        return cls(ends, np.append(0.0, np.cumsum(counts)), reach, tail)

    def quantile(self, q: float, level: float) -> tuple[float, float]:
        """Return the ends of a confidence interval of the q-quantile.

        Proof: docs/proofs/deconvolution.md, theorem 18.
        """
        low, high = self._fractions(self.upto, level)
        first = int(np.searchsorted(np.maximum.accumulate(high), q - self.tail))
        last = int(np.searchsorted(np.maximum.accumulate(low), q + self.tail, side="right"))
        lower = self.ends[max(first - 1, 0)] - self.reach
        upper = self.ends[min(last, len(self.ends) - 1)] + self.reach
        return float(max(lower, self.ends[0])), float(min(upper, self.ends[-1]))

    def fraction(
        self, low: float, high: float, level: float, *, closed: bool = False
    ) -> tuple[float, float]:
        """Return a confidence interval of the fraction of values in [low, high), or [low, high].

        Proof: docs/proofs/deconvolution.md, theorem 18.
        """
        outer = self._between(low - self.reach, high + self.reach, outward=True)
        inner = self._between(low + self.reach, high - self.reach, outward=False)
        if high + self.reach >= self.ends[-1] and closed:
            inner = max(inner, self._between(low + self.reach, self.ends[-1], outward=False))
        least = self._fractions(np.array([inner]), level)[0][0] - 2 * self.tail
        most = self._fractions(np.array([outer]), level)[1][0] + 2 * self.tail
        return float(max(0.0, least)), float(min(1.0, most))

    def variance(self, mean: float, level: float) -> tuple[float, float]:
        """Return a confidence interval of the variance; `mean` need not be exact.

        Standard deviations of X and Y differ by at most the root of E(Y − X)².
        """
        cells, count = np.diff(self.upto), self.upto[-1]
        middles = (self.ends[1:] + self.ends[:-1]) / 2
        square = (middles - mean) ** 2
        second = float(cells @ square / count)
        error = math.sqrt(max(0.0, float(cells @ square**2 / count) - second**2) / count)
        spread = float(cells @ square / count) - float(cells @ (middles - mean) / count) ** 2
        width = self.ends[-1] - self.ends[0]
        moved = math.sqrt(self.reach**2 + 2 * self.tail * width**2) + np.diff(self.ends).max() / 2
        chance = float(norm.isf((1 - level) / 2)) * error
        low, high = (math.sqrt(max(0.0, spread + side * chance)) for side in (-1, 1))
        return max(0.0, low - moved) ** 2, (high + moved) ** 2

    def _between(self, low: float, high: float, *, outward: bool) -> float:
        """Return the number of outputs in the cells that meet (or are inside of) an interval."""
        starts, stops = self.ends[:-1], self.ends[1:]
        part = (stops >= low) & (starts <= high)
        if not outward:
            part = (starts >= low) & (stops <= high)
        return float(np.diff(self.upto)[part].sum())

    def _fractions(self, successes: Floats, level: float) -> tuple[Floats, Floats]:
        """Return Clopper's and Pearson's intervals of probabilities."""
        count, side = self.upto[-1], (1 - level) / 2
        low = beta.ppf(side, successes, count - successes + 1)
        high = beta.isf(side, successes + 1, count - successes)
        return np.where(successes > 0, low, 0.0), np.where(successes < count, high, 1.0)
