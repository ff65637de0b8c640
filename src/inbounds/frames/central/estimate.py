"""Estimates of statistics from released sums: values, standard errors and intervals.

Everything here reads published numbers only, so it costs no privacy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from inbounds._types import Floats
from inbounds.frames.central.moment import BinCounts, Moment, RowCount
from inbounds.frames.central.pooled import half_length, inverse_variance
from inbounds.frames.native import NUMBERS

if TYPE_CHECKING:  # estimates read noise, and statistics do without
    from inbounds.frames.central.noise import Noise

LEVEL = 0.95
"""The probability with which an interval holds the truth."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A statistic of every group: its value, its standard error, and the ends of its interval."""

    value: Floats
    error: Floats
    lower: Floats
    upper: Floats

    def numbers(self, group: int) -> dict[str, float | None]:
        """Return the numbers of one group, under the names that they have in a summary.

        A number that there is none of is NaN here, and None there.
        """
        columns = (self.value, self.error, self.lower, self.upper)
        numbers = [float(column[group]) for column in columns]
        known = [None if math.isnan(number) else number for number in numbers]
        return dict(zip(NUMBERS, known, strict=True))

    def scaled(self, factor: float, offset: float = 0.0) -> Estimate:
        """Return the estimate of factor·x + offset."""
        value, *ends = (offset + factor * a for a in (self.value, self.lower, self.upper))
        return Estimate(value, abs(factor) * self.error, *np.sort(ends, axis=0))

    def plus(self, other: Estimate) -> Estimate:
        """Return the estimate of the sum of two numbers whose intervals hold jointly."""
        error = np.hypot(self.error, other.error)
        lower, upper = self.lower + other.lower, self.upper + other.upper
        return Estimate(self.value + other.value, error, lower, upper)

    def clipped(self, low: float, high: float) -> Estimate:
        """Return the estimate of a number that is known to be in [low, high].

        The value is moved into its interval.
        """
        lower, upper = (np.clip(end, low, high) for end in (self.lower, self.upper))
        value = np.clip(self.value, lower, upper)
        return Estimate(value, np.minimum(self.error, high - low), lower, upper)


class Released:
    """The outputs of one joint release, read moment by moment.

    Parameters
    ----------
    noise, outputs
        What was released, one row for each group; None and empty rows if nothing was released.
    moments
        The moments, in the order of a row of the outputs.
    size
        The size of a group, by which the sums were divided.
    sizes_public
        Whether there is one group, with exactly that many rows.

    Examples
    --------
    >>> from inbounds.domain import Box
    >>> from inbounds.frames.central.noise import Noise
    >>> from inbounds.mechanisms.bounded_gaussian import BoundedGaussian
    >>> unit = Box([0.0], [1.0])
    >>> noise = Noise(BoundedGaussian(unit, 0.1, 0.05), unit, np.ones(1))
    >>> (fraction,) = Released(noise, np.array([[0.25]]), [RowCount()], 40).sums(RowCount())
    >>> fraction.value
    array([0.25])
    """

    def __init__(
        self,
        noise: Noise | None,
        outputs: Floats,
        moments: Sequence[Moment],
        size: int,
        *,
        sizes_public: bool = False,
    ) -> None:
        self.size, self.sizes_public = size, sizes_public
        self._noise, self._outputs, self._moments = noise, outputs, moments
        self._intervals: dict[int, tuple[Floats, Floats]] = {}
        if noise is not None:
            self._values, self._errors = noise.estimates(outputs), noise.errors(outputs)
        self._pool = self._weights_of_rows()

    def holds(self, moment: Moment) -> bool:
        """Whether the sums of a moment were released."""
        return any(released.covers(moment) for released in self._moments)

    def pools(self, moment: Moment) -> bool:
        """Whether the number of rows is estimated from the sums of a moment, among others."""
        return self._pool is not None and isinstance(moment, BinCounts)

    def sums(self, *moments: Moment, jointly: bool = True) -> list[Estimate]:
        """Estimate the sums of moments, divided by the size.

        The intervals hold at the level for all of these sums at once, or for each by itself
        (docs/proofs/statistics.md, theorem 7). If the number of rows was not released, it is
        public, and equal to the size.
        """
        numbers = {moment: len(moment.limits.lowers) for moment in moments if self.holds(moment)}
        estimates: list[Estimate] = []
        for moment in moments:
            if moment not in numbers:
                assert isinstance(moment, RowCount)
                ones = np.ones(len(self._outputs))
                estimates.append(Estimate(ones, 0 * ones, ones, ones))
                continue
            parts = sum(numbers.values()) if jointly else 1
            if isinstance(moment, RowCount) and self._pool is not None:
                estimates.append(self._pooled(self._pool, parts))
                continue
            lower, upper = self._interval(parts)
            start = self._start(moment)
            estimates += [
                Estimate(self._values[:, j], self._errors[:, j], lower[:, j], upper[:, j])
                for j in range(start, start + numbers[moment])
            ]
        return estimates

    def rounded(self, number: Estimate) -> Estimate:
        """Return the estimate of an integer; the interval grows to the next integers."""
        error = number.error if self._noise is None else self._noise.rounded_error(number.error)
        return Estimate(np.rint(number.value), error, np.floor(number.lower), np.ceil(number.upper))

    def _weights_of_rows(self) -> Floats | None:
        """Return how sums are averaged to the number of rows, if bins were released beside it."""
        bins = [moment for moment in self._moments if isinstance(moment, BinCounts)]
        noise = self._noise
        if noise is None or not noise.is_plain or not (bins and self.holds(RowCount())):
            return None
        starts = [
            (self._start(moment), len(moment.limits.lowers)) for moment in (RowCount(), *bins)
        ]
        parts = [slice(start, start + length) for start, length in starts]
        return inverse_variance(noise.deviations, parts)

    def _pooled(self, weights: Floats, parts: int) -> Estimate:
        """Return the number of rows, divided by the size, from all sums that say it."""
        assert self._noise is not None
        errors = weights * self._noise.deviations
        kind, level = self._noise.mechanism.noise, 1 - (1 - LEVEL) / parts
        reach = half_length(kind, errors, level) + float(weights @ self._noise.rounding_errors)
        value = self._values @ weights
        error = np.full_like(value, math.sqrt(float(errors @ errors)))
        return Estimate(
            value, error, np.clip(value - reach, 0.0, 1.0), np.clip(value + reach, 0.0, 1.0)
        )

    def _start(self, moment: Moment) -> int:
        """Return the place of the first sum of a moment in a row of the outputs."""
        index = next(i for i, released in enumerate(self._moments) if released.covers(moment))
        return sum(len(earlier.limits.lowers) for earlier in self._moments[:index])

    def _interval(self, parts: int) -> tuple[Floats, Floats]:
        """Return intervals of all sums, of which any `parts` hold jointly at the level."""
        if parts not in self._intervals and self._noise is not None:
            ends = self._noise.confidence(self._outputs, 1 - (1 - LEVEL) / parts)
            self._intervals[parts] = ends
        return self._intervals[parts]


def mean_of(top: Estimate, fraction: Estimate) -> Estimate:
    """Return the estimate of a mean in [-1/2, 1/2]: a sum divided by a number of rows.

    Proof: docs/proofs/statistics.md, theorem 13.

    Parameters
    ----------
    top, fraction
        The sum and the number of rows, both divided by the size of a group. If the number of rows
        is below its standard error, the sum is divided by that instead: the value is then nearer to
        the middle of the range, and less at the mercy of the noise.

    Examples
    --------
    >>> one, half = (Estimate(*(np.full(1, a) for a in (b, 0.01, b, b))) for b in (0.5, 0.25))
    >>> mean_of(half, one).value
    array([0.5])
    """
    rows = np.maximum(fraction.value, np.maximum(fraction.error, 1e-300))
    value = _divided(top.value, rows)
    error = np.hypot(top.error, value * fraction.error) / rows
    tops, fractions = (top.lower, top.upper), (fraction.lower, fraction.upper)
    ends = [_divided(top_end, end) for top_end in tops for end in fractions]
    return Estimate(value, np.minimum(error, 1.0), np.min(ends, axis=0), np.max(ends, axis=0))


def variance_of(first: Estimate, second: Estimate, fraction: Estimate) -> Estimate:
    """Return the estimate of the variance of t in [-1/2, 1/2].

    Proof: docs/proofs/statistics.md, theorem 13.

    Parameters
    ----------
    first, second, fraction
        The sums of t and of 4t² - 1/2, and the number of rows, all divided by the size of a group.

    Examples
    --------
    >>> one, none = (Estimate(*(np.full(1, a) for a in (b, 0.0, b, b))) for b in (1.0, 0.0))
    >>> variance_of(none, none, one).value
    array([0.125])
    """
    t, s = mean_of(first, fraction), mean_of(second, fraction)
    nearest = np.where((t.lower <= 0) & (t.upper >= 0), 0.0, np.minimum(t.lower**2, t.upper**2))
    farthest = np.maximum(t.lower**2, t.upper**2)
    parts = [second.error / 4, 2 * t.value * first.error]
    parts.append((s.value / 4 - 2 * t.value**2) * fraction.error)
    rows = np.maximum(fraction.value, np.maximum(fraction.error, 1e-300))
    error = np.sqrt(sum(part**2 for part in parts)) / rows
    return Estimate(
        (s.value + 0.5) / 4 - t.value**2,
        np.minimum(error, 0.25),
        (s.lower + 0.5) / 4 - farthest,
        (s.upper + 0.5) / 4 - nearest,
    )


def _divided(top: Floats, bottom: Floats) -> Floats:
    """Divide and move the quotient to [-1/2, 1/2], where it becomes an end if the divisor is 0."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.clip(np.nan_to_num(top / bottom, nan=0.0), -0.5, 0.5)
