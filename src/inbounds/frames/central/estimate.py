"""From released sums to statistics: values, standard errors and intervals.

Everything here reads published numbers only, so it costs no privacy. Why the intervals hold what
they say: docs/proofs/statistics.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from inbounds._types import Floats
from inbounds.frames.central.moment import Moment, moment, span
from inbounds.frames.central.statistic import Statistic
from inbounds.mechanisms.bounded_gaussian import BoundedGaussian
from inbounds.mechanisms.confidence import confidence_interval

LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Estimate:
    """A statistic of every group: its value, standard error, and the ends of its interval."""

    value: Floats
    error: Floats
    lower: Floats
    upper: Floats

    def scaled(self, factor: float, offset: float = 0.0) -> Estimate:
        """Return the estimate of factor·x + offset, for a positive factor."""
        value, lower, upper = (offset + factor * a for a in (self.value, self.lower, self.upper))
        return Estimate(value, factor * self.error, lower, upper)

    def clipped(self, low: float, high: float) -> Estimate:
        """Return the estimate of something known to be in [low, high]."""
        value, lower, upper = (np.clip(a, low, high) for a in (self.value, self.lower, self.upper))
        return Estimate(value, np.minimum(self.error, high - low), lower, upper)


class Released:
    """The answers of one joint release, read moment by moment.

    Parameters
    ----------
    mechanism, answers
        What was released, one row for each group; no mechanism and empty rows where nothing was.
    found
        The moments, in the order of a row of the answers.
    size
        The size that sums were divided by.

    Examples
    --------
    >>> from inbounds.domain import Box
    >>> m = BoundedGaussian(Box([0.0], [1.0]), 0.1, 0.05)
    >>> counts = Released(m, np.array([[0.25]]), [moment("count", Statistic("count"))], 40)
    >>> counts.estimate(Statistic("count"))[0].value
    array([10.])
    """

    def __init__(
        self,
        mechanism: BoundedGaussian | None,
        answers: Floats,
        found: Sequence[Moment],
        size: int,
    ) -> None:
        self._mechanism, self._answers, self._found = mechanism, answers, list(found)
        self._size = size
        self._intervals: dict[int, tuple[Floats, Floats]] = {}
        if mechanism is not None:
            self._errors = np.sqrt(mechanism.mse(self._joint)).reshape(answers.shape)

    def estimate(self, statistic: Statistic) -> list[Estimate]:
        """Return the statistic of all groups; a histogram has one estimate for each bin."""
        if statistic.kind == "histogram":
            return [whole(bin_.scaled(self._size)) for bin_ in self._parts("bins", statistic, 1)]
        if statistic.kind == "count":
            return [whole(self._share(1).scaled(self._size))]
        if statistic.kind == "total":
            return [self._total(statistic)]
        width, private = statistic.upper - statistic.lower, "count" in self._kinds
        if statistic.kind == "mean":
            middle = statistic.lower / 2 + statistic.upper / 2
            parts = 1 + private
            place = ratio(self._places(statistic, parts)[0], self._share(parts))
            return [place.scaled(width, middle).clipped(statistic.lower, statistic.upper)]
        parts = 2 + private
        first, second = self._places(statistic, parts)
        spread = variance_of(first, second, self._share(parts))
        return [spread.scaled(width**2).clipped(0.0, width**2 / 4)]

    def _total(self, statistic: Statistic) -> Estimate:
        least, width = span(statistic)
        if "sum" in self._kinds:
            (found,) = self._parts("sum", statistic, 1)
            total = found.scaled(self._size * width)
            return total.clipped(self._size * least, self._size * (least + width))
        middle = statistic.lower / 2 + statistic.upper / 2
        private = "count" in self._kinds
        place = self._places(statistic, 1 + private)[0]
        place = place.scaled(self._size * (statistic.upper - statistic.lower))
        if not private:
            bounds = self._size * statistic.lower, self._size * statistic.upper
            return place.scaled(1.0, self._size * middle).clipped(*bounds)
        share = self._share(2)
        ends = np.sort([share.lower * middle, share.upper * middle], axis=0) * self._size
        total = Estimate(
            place.value + share.value * middle * self._size,
            np.hypot(place.error, share.error * middle * self._size),
            place.lower + ends[0],
            place.upper + ends[1],
        )
        return total.clipped(self._size * least, self._size * (least + width))

    @property
    def _joint(self) -> Floats:
        """The answers with all coordinates of the mechanism on the last axis."""
        assert self._mechanism is not None
        return self._answers.reshape(-1, self._mechanism.domain.dimension)

    @property
    def _kinds(self) -> set[str]:
        return {one.kind for one in self._found}

    def _share(self, parts: int) -> Estimate:
        """Return the number of rows over the size: private, or known to be 1."""
        if "count" in self._kinds:
            return self._parts("count", Statistic("count"), parts)[0]
        ones = np.ones(len(self._answers))
        return Estimate(ones, 0 * ones, ones, ones)

    def _places(self, statistic: Statistic, parts: int) -> list[Estimate]:
        """Return sums of the places of values between their bounds, and of squares if released."""
        asked = moment("second", statistic)
        return self._parts(asked.kind if asked in self._found else "first", statistic, parts)

    def _parts(self, kind: str, statistic: Statistic, parts: int) -> list[Estimate]:
        """Estimate the sums of a moment, so that `parts` of them hold at once at the level."""
        index = self._found.index(moment(kind, statistic))
        start = sum(len(one.lowers) for one in self._found[:index])
        lower, upper = self._interval(parts)
        return [
            Estimate(self._answers[:, j], self._errors[:, j], lower[:, j], upper[:, j])
            for j in range(start, start + len(self._found[index].lowers))
        ]

    def _interval(self, parts: int) -> tuple[Floats, Floats]:
        if parts not in self._intervals and self._mechanism is not None:
            ends = confidence_interval(self._mechanism, self._joint, 1 - (1 - LEVEL) / parts)
            lower, upper = (end.reshape(self._answers.shape) for end in ends)
            self._intervals[parts] = lower, upper
        return self._intervals[parts]


def ratio(top: Estimate, share: Estimate) -> Estimate:
    """Return the estimate of a mean place in [-1/2, 1/2]: a sum over a number of rows.

    Examples
    --------
    >>> one, half = (Estimate(*(np.full(1, a) for a in (b, 0.01, b, b))) for b in (0.5, 0.25))
    >>> ratio(half, one).value
    array([0.5])
    """
    value = _divided(top.value, share.value)
    error = np.hypot(top.error, value * share.error) / np.maximum(share.value, 1e-300)
    tops, shares = (top.lower, top.upper), (share.lower, share.upper)
    ends = [_divided(end, part) for end in tops for part in shares]
    return Estimate(value, np.minimum(error, 1.0), np.min(ends, axis=0), np.max(ends, axis=0))


def variance_of(first: Estimate, second: Estimate, share: Estimate) -> Estimate:
    """Return the estimate of the variance of a place in [-1/2, 1/2], from sums of t and 4t² - 1/2.

    Examples
    --------
    >>> one, none = (Estimate(*(np.full(1, a) for a in (b, 0.0, b, b))) for b in (1.0, 0.0))
    >>> variance_of(none, none, one).value
    array([0.125])
    """
    t, s = ratio(first, share), ratio(second, share)
    nearest = np.where((t.lower <= 0) & (t.upper >= 0), 0.0, np.minimum(t.lower**2, t.upper**2))
    farthest = np.maximum(t.lower**2, t.upper**2)
    parts = [second.error / 4, 2 * t.value * first.error]
    parts.append((s.value / 4 - 2 * t.value**2) * share.error)
    error = np.sqrt(sum(part**2 for part in parts)) / np.maximum(share.value, 1e-300)
    return Estimate(
        (s.value + 0.5) / 4 - t.value**2,
        np.minimum(error, 0.25),
        (s.lower + 0.5) / 4 - farthest,
        (s.upper + 0.5) / 4 - nearest,
    )


def whole(estimate: Estimate) -> Estimate:
    """Return the estimate of a whole number; its interval grows to the next ones.

    Examples
    --------
    >>> whole(Estimate(*(np.array([a]) for a in (3.2, 1.0, 1.5, 4.9)))).upper
    array([5.])
    """
    return Estimate(
        np.rint(estimate.value), estimate.error, np.floor(estimate.lower), np.ceil(estimate.upper)
    )


def _divided(top: Floats, share: Floats) -> Floats:
    """Divide, and move the result to [-1/2, 1/2]; a number over nothing is as large as can be."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.clip(np.nan_to_num(top / share, nan=0.0), -0.5, 0.5)
