"""Staircase noise in whole steps: the discrete staircase of Geng and Viswanath.

Noise of up to `half` steps is the most likely, and the probability falls by the factor e^-epsilon
after `half`, `half + period`, `half + 2·period` steps and so on. With a period of one step this is
the two-sided geometric distribution. All sums over periods are in closed form, and every difference
keeps its accuracy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from inbounds._types import Floats
from inbounds.numerics.staircase import Staircase, arithmetic_sum, best_plateau

_MOST_TERMS = 1 << 14  # of a sum over steps; with more, the noise is much wider than a step
_NEGLIGIBLE = 45.0  # e^-45 is below the rounding error of any sum
_ROUNDING = 2.0**-48  # covers the rounding of a probability


@dataclass(frozen=True, slots=True)
class StepStaircase:
    """Symmetric noise in whole steps; the same within `half` steps, and lower every `period` steps.

    Formulas: docs/proofs/staircase.md, theorem 7.

    Examples
    --------
    >>> noise = StepStaircase(math.log(2), 1, 0)  # the two-sided geometric distribution
    >>> noise.chance(np.array([0, 1, -2])).round(6).tolist()  # 1/3, 1/6, 1/12
    [0.333333, 0.166667, 0.083333]
    >>> round(noise.variance, 6)
    4.0
    """

    epsilon: float
    period: int
    half: int

    @classmethod
    def best(cls, epsilon: float, period: int) -> Self:
        """Return the noise with the least variance: it is convex in `half`.

        Proof: docs/proofs/staircase.md, theorem 7.

        Examples
        --------
        >>> StepStaircase.best(1.0, 16)
        StepStaircase(epsilon=1.0, period=16, half=6)
        """
        near = math.floor(max(period * best_plateau(epsilon) - 0.5, 0.0))
        halves = {min(max(near + i, 0), period - 1) for i in (-1, 0, 1)}
        return min((cls(epsilon, period, half) for half in sorted(halves)), key=_variance)

    @property
    def fall(self) -> float:
        """The factor from one period to the next, e^-epsilon."""
        return math.exp(-self.epsilon)

    @property
    def gamma(self) -> float:
        """The fraction of a period that half the plateau covers."""
        return (2 * self.half + 1) / (2 * self.period)

    @property
    def variance(self) -> float:
        """The variance of the noise."""
        alpha, gone = self.fall, -math.expm1(-self.epsilon)
        end = np.asarray(float(self.period))
        once, twice = float(self._first_sum(end)), float(self._first_odd_sum(end))
        return 2 * (twice + 2 * self.period * once * alpha / gone) / gone

    @property
    def total_variation(self) -> float:
        """The total variation distance between the noise and the noise moved by one period.

        Proof: docs/proofs/staircase.md, theorem 6.
        """
        return Staircase(self.epsilon, self.gamma).total_variation

    def chance(self, steps: Floats) -> Floats:
        """Return the probability of a whole number of steps."""
        level = np.ceil(np.maximum(np.abs(steps) - self.half, 0.0) / self.period)
        return np.asarray(self._top * np.exp(-self.epsilon * level))

    def tail(self, steps: Floats) -> Floats:
        """Return the probability of at least some number of steps, zero or more."""
        before = np.maximum(steps - 1, 0)
        whole = np.floor(before / self.period)
        tail = np.exp(-self.epsilon * whole) * self._first_tail(before - whole * self.period)
        return np.asarray(tail + np.where(steps < 1, self._top, 0.0))

    def upto(self, steps: Floats) -> Floats:
        """Return the probability of at most some number of steps, of either sign."""
        return np.where(
            steps < 0, self.tail(np.abs(steps)), 1 - self.tail(np.maximum(steps, 0) + 1)
        )

    def reaches(self, q: Floats, steps: Floats) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        """Tell whether noise of at most some number of steps has a probability of at least q."""
        beyond = self.tail(np.maximum(steps, 0) + 1)
        upper = (beyond <= 1 - q) | ((1 - beyond >= q) & (q < 1))  # the latter as `upto` is rounded
        return np.where(steps < 0, self.tail(np.abs(steps)) >= q, upper)

    def half_mean(self, most: Floats) -> Floats:
        """Return the mean of min(N, most) where N is positive: the sum of `tail` from 1 to most."""
        whole, part = self._split(most)
        periods = np.expm1(-self.epsilon * whole) / math.expm1(-self.epsilon)
        end = np.asarray(float(self.period))
        ended = np.exp(-self.epsilon * whole)
        return np.asarray(periods * self._first_sum(end) + ended * self._first_sum(part))

    def half_second_moment(self, most: Floats) -> Floats:
        """Return the mean of min(N, most)² where N is positive: a sum of (2j - 1)·tail(j)."""
        whole, part = self._split(most)
        periods = np.expm1(-self.epsilon * whole) / math.expm1(-self.epsilon)
        end, ended = np.asarray(float(self.period)), np.exp(-self.epsilon * whole)
        past = periods * self._first_odd_sum(end)
        past = past + 2 * self.period * arithmetic_sum(whole, self.epsilon) * self._first_sum(end)
        here = 2 * self.period * whole * self._first_sum(part) + self._first_odd_sum(part)
        return np.asarray(past + ended * here)

    def plausible(self, output: Floats, last: int, level: float) -> tuple[Floats, Floats]:
        """Return the first and the last step that an output of clamped noise does not exclude.

        Steps are numbered from 0 to `last`. A step is excluded if an output at least as far from it
        has a probability below 1 - level; those that remain are next to each other. Proof:
        docs/proofs/staircase.md, theorem 9.
        """

        def excluded(step: Floats) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
            away = np.abs(output - step)
            sides = (step >= away) * 1.0 + (step + away <= last)
            return (away > 0) & (sides * self.tail(away) < 1 - level - _ROUNDING)

        ends = []
        for bound in (0.0, float(last)):
            outside, inside = np.full(np.shape(output), bound), np.asarray(output, np.float64)
            inside = np.where(excluded(outside), inside, outside)
            for _ in range(max(1, last.bit_length())):
                middle = np.trunc((outside + inside) / 2)
                middle = np.where(middle == outside, inside, middle)
                out = excluded(middle)
                outside = np.where(out, middle, outside)
                inside = np.where(out, inside, middle)
            ends.append(inside)
        return ends[0], ends[1]

    # In the first period, for whole numbers of steps from 0 to the period.

    @property
    def _top(self) -> float:
        """The probability of no noise."""
        return -math.expm1(-self.epsilon) / self._weight

    @property
    def _weight(self) -> float:
        wide = 2 * self.half + 1
        return wide + self.fall * (2 * self.period - wide)

    @property
    def _positive(self) -> float:
        """The probability of noise of one step or more."""
        return (self.half + self.fall * (self.period - self.half)) / self._weight

    def _first_tail(self, before: Floats) -> Floats:
        """Return the tail from `before` + 1 steps on, a sum of positive terms."""
        on = np.maximum(self.half - before, 0.0)
        off = self.fall * (self.period - np.maximum(before, self.half))
        return np.asarray(self._top * (on + off) + self.fall * self._positive)

    def _first_sum(self, count: Floats) -> Floats:
        """Return the sum of tail(j) over j from 1 to `count`."""
        on, off = self._parts(count)
        start, corner = self._positive, float(self._first_tail(np.asarray(float(self.half))))
        plateau = on * (start - self._top * (on - 1) / 2)
        return np.asarray(plateau + off * (corner - self.fall * self._top * (off + 1) / 2))

    def _first_odd_sum(self, count: Floats) -> Floats:
        """Return the sum of (2j - 1)·tail(j) over j from 1 to `count`."""
        on, off = self._parts(count)
        start, corner = self._positive, float(self._first_tail(np.asarray(float(self.half))))
        slope = self.fall * self._top
        plateau = on * (on * start - self._top * (on - 1) * (4 * on + 1) / 6)
        return np.asarray(
            plateau
            + 2 * (self.half + 1) * off * (corner - slope * (off + 1) / 2)
            + off * (off * corner - slope * (off + 1) * (4 * off - 1) / 6)
        )

    def _parts(self, count: Floats) -> tuple[Floats, Floats]:
        """Return how many of `count` tails are on the plateau and on the first of the rest."""
        return np.minimum(count, self.half + 1), np.maximum(count - self.half - 1, 0.0)

    def _split(self, steps: Floats) -> tuple[Floats, Floats]:
        """Return the whole periods in a number of steps, and the steps that are left."""
        whole = np.floor(steps / self.period)
        return whole, steps - whole * self.period


def _variance(noise: StepStaircase) -> float:
    return noise.variance


def rounded_variance(noise: Staircase, step: float) -> float:
    """Return the mean square, in steps, of staircase noise that is rounded to whole steps.

    Parameters
    ----------
    noise
        Staircase noise with a period of length 1.
    step
        The length of a step, in periods.

    Examples
    --------
    >>> wide = rounded_variance(Staircase(1.0, 0.4), 0.01)
    >>> math.isclose(wide, Staircase(1.0, 0.4).variance / 0.01**2 + 1 / 12, rel_tol=1e-4)
    True
    """
    terms = (_NEGLIGIBLE / noise.epsilon + 2) / step
    if not terms < _MOST_TERMS:
        return noise.variance / step**2 + 1 / 12
    index = np.arange(1.0, math.ceil(terms) + 1)
    return float(2 * ((2 * index - 1) * noise.tail((index - 0.5) * step)).sum())
