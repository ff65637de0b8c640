"""Intervals for what a distribution of true values says, from all distributions that are plausible.

A distribution is plausible if no other one explains the outputs much better: the log-likelihood is
at most c below its maximum, with c from the chi-square distribution. No smoothness is assumed. The
interval of a statistic holds its values at all plausible distributions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.stats import chi2

from inbounds._types import Floats
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.recovery.cells import Cells
from inbounds.recovery.places import Places
from inbounds.recovery.response import fit

_MOST_FITS = 40
_GROWTH = 4.0  # of a price, until both sides of the right one are known
_NEAR = 1.005  # ratio of two prices that are as good as equal
_CLOSE = 1e-4  # of the range: a bound that is near enough
_UNUSED = 1e-3  # of an even weight: less is the solver's
_OF_A_FRACTION = 2  # degrees of freedom: with one, coverage was as low as 0.86
_ENOUGH = 1e-9  # a difference of fractions that is rounding


@dataclass(frozen=True)
class Plausible:
    """The plausible distributions, given how many outputs are in each cell.

    Derivation and measured coverage: docs/proofs/deconvolution.md, theorem 17.

    Parameters
    ----------
    places
        The true values that distributions are made of, and the probabilities of cells of outputs.
    counts
        The number of outputs in each of these cells.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.Window(ib.Box(0, 1), 1, epsilon=4.0)
    >>> cells = Cells.of(m, 64)
    >>> outputs = m.release(np.linspace(0, 1, 5000) ** 2)
    >>> found = Plausible.of(m, cells, cells.count(outputs))
    >>> low, high = found.quantile(0.5, 0.999999)
    >>> low < 0.25 < high, high - low < 0.5
    (True, True)
    """

    places: Places
    counts: Floats

    @classmethod
    def of(cls, mechanism: Mechanism, cells: Cells, counts: Floats) -> Plausible:
        """Return the plausible distributions for outputs counted in `cells`."""
        places = Places.of(mechanism, cells)
        return cls(places, places.merged(counts))

    def quantile(self, q: float, level: float) -> tuple[float, float]:
        """Return the ends of a confidence interval of the q-quantile.

        They are found by bisection: up to the lower end, no plausible distribution has a fraction
        of q, and from the upper end on, none has less. Why this needs no union over points:
        docs/proofs/deconvolution.md, theorem 17.
        """
        points, drop, rare = self.places.points, _drop(level), self._rare(level)
        last = len(points) - 1
        first, reached = -1, last
        while reached - first > 1:
            middle = (first + reached) // 2
            if self._reaches(_upto(points, middle), q - rare, drop):
                reached = middle
            else:
                first = middle
        lower = reached
        kept, beyond = 0, last + 1
        while beyond - kept > 1:
            middle = (kept + beyond) // 2
            if self._reaches(1 - _upto(points, middle - 1), 1 - q - rare, drop):
                kept = middle
            else:
                beyond = middle
        if not self.places.complete:  # a value between two points is a mixture of these
            lower, kept = max(lower - 1, 0), min(kept + 1, last)
        return float(points[lower]), float(points[kept])

    def fraction(
        self, low: float, high: float, level: float, *, closed: bool = False
    ) -> tuple[float, float]:
        """Return a confidence interval of the fraction of values in [low, high), or [low, high].

        If the bin is empty, the likeliest distribution may have weight on several of its points by
        chance. So an end is 0 (or 1) if that is plausible where each such point is a degree of
        freedom.
        """
        points = self.places.points
        below = points <= high if closed else points < high
        inside = (points >= low) & below
        if self.places.complete:
            outer = inner = inside.astype(float)
        else:
            spread = np.concatenate([points[:1], points, points[-1:]])
            before, after = spread[:-2], spread[2:]
            touches = (after > low) & (before < high) | inside
            outer = touches.astype(float)
            inner = ((before >= low) & (after <= high) & inside).astype(float)
        if not outer.any():
            return 0.0, 0.0
        return self._least(inner, level), 1 - self._least(1 - outer, level)

    def _least(self, part: Floats, level: float) -> float:
        """Return a lower bound of the fraction of values that belong to a part of the points."""
        rare = self._rare(level)
        least = 1 - self._sup(1 - part, _drop(level, _OF_A_FRACTION)) - rare
        freedom = max(_OF_A_FRACTION, self._support(part))
        if least <= 0 or self._reaches(1 - part, 1 - rare, _drop(level, freedom)):
            return 0.0
        return least

    def variance(self, mean: float, level: float) -> tuple[float, float]:
        """Return a confidence interval of the variance, given an estimate of the mean.

        The variance is E(X − mean)² less the square of how far the true mean is from the estimate.
        The estimate comes from the same outputs and the variance may be 0, so the bounds are for as
        many degrees of freedom as the likeliest distribution has points.
        """
        points = self.places.points
        drop = _drop(level, max(2, self._support(np.ones(len(points)))))
        square = (points - mean) ** 2
        most = float(square.max())
        upper = most * self._sup(square / most, drop)
        least = most * (1 - self._sup(1 - square / most, drop))
        width = float(points[-1] - points[0])
        share = (points - points[0]) / width
        ends = 1 - self._sup(1 - share, drop), self._sup(share, drop)
        off = max(abs(points[0] + width * end - mean) for end in ends)
        between = 0.0 if self.places.complete else float(np.diff(points).max()) ** 2 / 4
        return max(0.0, least - off**2 - between), upper

    def _rare(self, level: float) -> float:
        """Return a fraction of values of which, with probability 1 - level, there is none.

        Formula: docs/proofs/deconvolution.md, theorem 10.
        """
        return -math.expm1(math.log1p(-level) / float(self.counts.sum()))

    def _support(self, part: Floats) -> int:
        """Return how many points of a part the likeliest distribution has weight on, or one."""
        used = self._likeliest > _UNUSED / len(self._likeliest)
        return max(1, int((used & (part > 0)).sum()))

    @cached_property
    def _likeliest(self) -> Floats:
        return self._fit(np.zeros(len(self.places.points)))[0]

    @cached_property
    def _highest(self) -> float:
        """The highest log-likelihood, less at most the gap of the fit."""
        return self._likelihood(self._likeliest)

    def _likelihood(self, weights: Floats) -> float:
        seen = self.counts > 0
        return float(self.counts[seen] @ np.log(weights @ self.places.response[:, seen]))

    def _fit(self, reward: Floats) -> tuple[Floats, float]:
        """Return the weights with the highest log-likelihood + reward, and the gap of that."""
        best = fit(self.places.response, self.counts, None, -reward)
        return best.weights, best.gap

    def _sup(self, gain: Floats, drop: float) -> float:
        """Return an upper bound of gain·w over plausible w, near the maximum; gain is in [0, 1]."""
        bound = self._search(gain, drop)[1]
        return min(1.0, bound + _ENOUGH) if bound else 0.0

    def _reaches(self, gain: Floats, target: float, drop: float) -> bool:
        """Return whether gain·w is `target` or more for some plausible w; if in doubt, true."""
        if target <= 0:
            return True
        attained, bound = self._search(gain, drop, target - _ENOUGH)
        return attained >= target - _ENOUGH or bound >= target - _ENOUGH

    def _search(self, gain: Floats, drop: float, target: float = 2.0) -> tuple[float, float]:
        """Return gain·w of a plausible w, and a bound for all of them; stop if `target` is settled.

        For any price p > 0, a plausible w has p·gain·w ≤ max(p·gain·v + L(v)) − (L* − drop), where
        the maximum is over all distributions v and L* is the highest log-likelihood L. Proof:
        docs/proofs/deconvolution.md, theorem 17.
        """
        if not gain.any():
            return 0.0, 0.0
        needed = self._highest - drop
        price = math.sqrt(self.counts.sum())
        attained, bound = 0.0, 1.0
        low, high = 0.0, math.inf
        for _ in range(_MOST_FITS):
            weights, gap = self._fit(price * gain)
            likelihood, value = self._likelihood(weights), float(gain @ weights)
            bound = min(bound, value + (likelihood + gap - needed) / price)
            if likelihood >= needed:
                attained, low = max(attained, value), price
            else:
                high = price
            settled = attained >= target or bound < target <= 1
            if settled or bound - attained < _CLOSE or high < low * _NEAR:
                break
            price = price * _GROWTH if high == math.inf else math.sqrt(low * high)
            if low == 0:
                price = high / _GROWTH
        return attained, min(1.0, bound)


def _drop(level: float, freedom: int = 1) -> float:
    """Return how far below its maximum the log-likelihood of a plausible distribution may be."""
    return float(chi2.ppf(level, freedom)) / 2


def _upto(points: Floats, last: int) -> Floats:
    return (np.arange(len(points)) <= last).astype(float)
