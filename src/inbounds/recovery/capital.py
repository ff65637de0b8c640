"""An interval of the mean of the true values whose coverage is proved for any number of people.

Whoever bets that readings are above a claimed mean wins nothing on average if the claim is true. So
a claim is refused if such bets multiply a capital by 2/(1 - level), and likewise for bets that
readings are below it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from inbounds._types import Floats

_CELLS = 64  # of readings
_MOST_BETS = 16
_HALVINGS = 48  # of the box, in the search for an end of the interval
_BOLDEST = 0.9  # of a capital that may be lost at one reading
_BELOW = 2.0**-40  # of a cell, by which its lower end is moved down
_UNIT = 2.0**-52
_ROUNDING = 2.0**-46  # of the size of a sum of logarithms, and of a threshold


@dataclass(frozen=True)
class Sample:
    """Readings that were counted in cells: what each cell with any readings holds.

    Attributes
    ----------
    counts
        The number of readings.
    least_means, most_means, variances
        Bounds of the mean of the readings, and an upper bound of their variance.
    floors, ceilings
        Bounds of the readings themselves, beyond their means.
    """

    counts: Floats
    least_means: Floats
    most_means: Floats
    variances: Floats
    floors: Floats
    ceilings: Floats

    @property
    def mirrored(self) -> Sample:
        """The negative readings."""
        means = -self.most_means, -self.least_means
        return Sample(self.counts, *means, self.variances, -self.ceilings, -self.floors)

    def log_capital(self, bets: Floats, claim: float) -> float:
        """Return a lower bound of the logarithm of the mean, over `bets`, of the capitals.

        A bet b turns 1 into the product of 1 + b·(reading - claim) over all readings. In each cell
        the readings are replaced by two numbers with the same mean and variance, one of which is
        the floor: of all readings above the floor, these give the smallest product. Proof:
        docs/proofs/deconvolution.md, theorem 14.
        """
        above = self.least_means - self.floors
        squares = self.variances + above**2
        weights = self.variances / squares, above**2 / squares  # their sum is 1
        other = self.least_means + self.variances / above
        growths = [
            weight * np.log1p(np.multiply.outer(bets, place - claim))
            for weight, place in zip(weights, (self.floors, other), strict=True)
        ]
        sums, sizes = sum(growths) @ self.counts, sum(map(np.abs, growths)) @ self.counts
        logs = sums - _ROUNDING * sizes
        top = float(np.max(logs))
        return top + math.log(float(np.mean(np.exp(logs - top)))) - _ROUNDING


class Tally:
    """Cells of equal width in which readings are counted, with their first two moments.

    Examples
    --------
    >>> tally = Tally(-1.0, 2.0)
    >>> tally.add(np.array([0.1, 0.1, 1.9]), None)
    >>> sample = tally.sample()
    >>> sample.counts.tolist(), [round(mean, 6) for mean in sample.least_means.tolist()]
    ([2.0, 1.0], [0.1, 1.9])
    """

    def __init__(self, lowest: float, highest: float) -> None:
        self._edges = np.linspace(lowest, highest, _CELLS + 1)
        self._middles = (self._edges[1:] + self._edges[:-1]) / 2
        self._moments = np.zeros((3, _CELLS))

    def add(self, readings: Floats, times: Floats | None) -> None:
        """Count readings, each as often as `times` says."""
        cell = np.searchsorted(self._edges[1:-1], readings)
        off = readings - self._middles[cell]
        weight = np.ones_like(off) if times is None else times
        for power in range(3):
            self._moments[power] += np.bincount(cell, weight * off**power, _CELLS)

    def sample(self) -> Sample:
        """Return bounds of what the cells hold, which allow for the rounding of sums.

        How much they allow: docs/proofs/deconvolution.md, theorem 14.
        """
        held = self._moments[0] > 0
        counts, first, second = self._moments[:, held]
        floors, ceilings = self._edges[:-1][held], self._edges[1:][held]
        width = float(np.max(np.diff(self._edges)))
        rounding = _UNIT * (float(counts.sum()) + _CELLS)
        off = first / counts
        means, slack = self._middles[held] + off, rounding * width
        variances = np.maximum(second / counts - off**2, 0.0) + slack * width
        least, most = np.maximum(means - slack, floors), np.minimum(means + slack, ceilings)
        return Sample(
            counts, least, most, variances, floors - _BELOW * width, ceilings + _BELOW * width
        )


@dataclass(frozen=True)
class ProvedMean:
    """A sample of readings, and what is publicly known about any reading.

    What it proves: docs/proofs/deconvolution.md, theorems 13 and 16.

    Attributes
    ----------
    sample
        The readings, less the centre.
    centre
        A number near the readings, from which they are measured.
    bounds
        The box, in which the mean is.
    reach
        The smallest and the largest reading that is possible, less the centre.
    error
        How far the expectation of a reading may be from the value, including all rounding.
    deviations
        The standard deviations of readings for which the bets are made. They matter for the length
        of the interval and not for its coverage.
    """

    sample: Sample
    centre: float
    bounds: tuple[float, float]
    reach: tuple[float, float]
    error: float
    deviations: tuple[float, float]

    def interval(self, level: float) -> tuple[float, float]:
        """Return an interval that holds the mean with a probability of at least `level`.

        Proof: docs/proofs/deconvolution.md, theorem 13.
        """
        lower, upper = self.bounds
        if not self.error < upper - lower:
            return self.bounds
        ends = lower - self.centre, upper - self.centre
        low = self._refused_up_to(self.sample, ends, self.reach[0], level)
        mirrored = self.sample.mirrored, (-ends[1], -ends[0]), -self.reach[1]
        high = -self._refused_up_to(*mirrored, level)
        slack = 2 * math.ulp(max(abs(lower), abs(upper)))
        low, high = self.centre + low - slack, self.centre + high + slack
        return max(lower, low), min(upper, high)

    def _refused_up_to(
        self, sample: Sample, ends: tuple[float, float], lowest: float, level: float
    ) -> float:
        """Return a claim that is refused as too small, nearly the largest, or the lower end."""
        low, high = ends
        count, typical = float(sample.counts.sum()), low / 2 + high / 2 - lowest
        bets = bets_for(count, level, *self.deviations, _BOLDEST / typical)
        needed = math.log(2 / (1 - level)) * (1 + _ROUNDING) + _ROUNDING

        def refused(claim: float) -> bool:
            most = _BOLDEST / (claim + self.error - lowest)
            return sample.log_capital(np.minimum(bets, most), claim + self.error) >= needed

        if refused(high):
            return high
        for _ in range(_HALVINGS):
            middle = low / 2 + high / 2
            low, high = (middle, high) if refused(middle) else (low, middle)
        return low


def bets_for(count: float, level: float, least: float, most: float, boldest: float) -> Floats:
    """Return bets of about up to `boldest` that are good for deviations from `least` to `most`.

    For the deviation s the best bet is √(2 ln(2k/(1 - level))/count)/s, if there are k bets. They
    are spaced evenly in their logarithms, and k makes the interval at the worst s short.
    Derivation: docs/proofs/deconvolution.md, theorem 15.

    Examples
    --------
    >>> bets_for(10_000, 0.95, 0.9, 1.1, 1.0).round(4)
    array([0.0273])
    >>> len(bets_for(10_000, 0.95, 0.01, 1.0, 1.0)), len(bets_for(10, 0.95, 0.01, 1.0, 1.0))
    (6, 1)
    """
    least = max(least, math.sqrt(2 * math.log(2 / (1 - level)) / count) / boldest)
    ratio = max(most / least, 1.0)

    def length(bets: int) -> float:
        off: float = ratio ** (0.5 / bets)
        return math.sqrt(math.log(2 * bets / (1 - level))) * (off + 1 / off)

    number = min(range(1, _MOST_BETS + 1), key=length)
    deviations = least * ratio ** ((np.arange(number) + 0.5) / number)
    return np.asarray(math.sqrt(2 * math.log(2 * number / (1 - level)) / count) / deviations)
