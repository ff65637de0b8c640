"""The noise of one joint release, and how its outputs are read.

A clamped mechanism may have a box that is wider than the range of the sums. Its noise is then plain
noise, and outputs are moved into the range only where that is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from inbounds._types import Floats
from inbounds.domain import Box
from inbounds.mechanisms.confidence import confidence_interval, rounding
from inbounds.mechanisms.noise_mechanism import NoiseMechanism

_PLACES = (np.polynomial.legendre.leggauss(32)[0] + 1) / 2  # where errors are averaged
_PLAIN = 35.0  # scales beyond the range: noise goes there with a probability below 1e-15
_FAR = 60.0  # of the scale of any noise: as good as without bounds
_SMALL, _STEPS = 2.0, 64  # a deviation below which rounding matters, and integers that it reaches
_SHARES = np.polynomial.legendre.leggauss(32)[1] / 2


@dataclass(frozen=True, slots=True)
class Noise:
    """A calibrated mechanism for the sums of all groups, and how to read its outputs.

    Attributes
    ----------
    mechanism
        Releases the sums of all groups jointly, divided by the size and multiplied by `factors`.
    ranges
        The box of these numbers, of one group.
    factors
        The factor of each number of one group.

    Examples
    --------
    >>> import inbounds as ib
    >>> wide, ranges = ib.Box([-9.0], [10.0]), Box([0.0], [1.0])
    >>> noise = Noise(ib.ClampedLaplace(wide, 0.1, scale=0.1), ranges, np.ones(1))
    >>> noise.errors(np.array([[1.2]])).round(3).tolist()
    [[0.141]]
    >>> [end.round(2).tolist() for end in noise.confidence(np.array([[1.2]]), 0.95)]
    [[[0.7]], [[1.0]]]
    """

    mechanism: NoiseMechanism
    ranges: Box
    factors: Floats

    def values(self, sums: Sequence[Sequence[Fraction]], size: int) -> Floats:
        """Return the numbers to release: exact sums, divided, multiplied and moved into the range.

        They are rounded once; a group with more rows than `size` stays in its range. Proof:
        docs/proofs/statistics.md, theorems 5 and 6.
        """
        factors = [Fraction(factor) for factor in self.factors.tolist()]
        scaled = [
            [float(number * factor / size) for number, factor in zip(group, factors, strict=True)]
            for group in sums
        ]
        return np.clip(scaled, self.ranges.lower, self.ranges.upper).ravel()

    def middle(self, groups: int) -> Floats:
        """Return outputs in the middle of the range, one row for each group."""
        middle = np.asarray(self.ranges.lower) / 2 + np.asarray(self.ranges.upper) / 2
        return np.tile(middle, (groups, 1))

    def estimates(self, outputs: Floats) -> Floats:
        """Return unbiased estimates of the sums, divided by the size, which may be out of range.

        They are biased if the mechanism is a bounded one.
        """
        return outputs / self.factors

    def errors(self, outputs: Floats) -> Floats:
        """Return the root mean squared error of each estimate."""
        return np.sqrt(self._drawn.mse(outputs)) / self.factors

    def confidence(self, outputs: Floats, level: float) -> tuple[Floats, Floats]:
        """Return the ends of intervals for the sums, divided by the size, inside their range.

        Proof: docs/proofs/statistics.md, theorem 9.
        """
        inside = np.clip(outputs, self.ranges.lower, self.ranges.upper)
        reading = self._kind(self.ranges)
        before = 0.0 if reading == self._drawn else rounding(self._drawn, outputs)
        ends = confidence_interval(reading, inside, level, before)
        low, high = (end / self.factors for end in ends)
        return low, high

    def average_errors(self, part: float | Floats = 1.0) -> Floats:
        """Return the mean squared error of each number, if outputs are moved into the range.

        It is averaged over a part of the range, from its lower end, which is all of it by default.
        """
        lower, width = np.asarray(self.ranges.lower), self.ranges.widths * part
        places = lower + width * _PLACES[:, None]
        return np.asarray(_SHARES @ self._kind(self.ranges).mse(places)) / self.factors**2

    def rounded_error(self, error: Floats) -> Floats:
        """Return the standard error of an integer, if its estimate is rounded.

        It is the root of E rint(Z)² for noise Z without bounds, whose deviation is `error`.

        Examples
        --------
        >>> import inbounds as ib
        >>> unit = Box([0.0], [1.0])
        >>> for kind in (ib.ClampedGaussian, ib.ClampedLaplace):
        ...     noise = Noise(kind(unit, 1.0, [1.0]), unit, np.ones(1))
        ...     print(noise.rounded_error(np.array([0.0, 0.2, 10.0])).round(3).tolist())
        [0.0, 0.111, 10.004]
        [0.0, 0.171, 10.004]
        """
        plain, half = self.mechanism.noise, np.arange(_STEPS) + 0.5
        deviation = math.sqrt(float(plain.second_moment(np.asarray(_FAR), np.asarray(_FAR))))
        small = np.clip(error, 1e-300, _SMALL)[..., None]
        # An integer is k or more away if noise is more than k - 1/2 away.
        square = 2 * plain.tail(half * deviation / small) @ (2 * half)
        return np.where(error < _SMALL, np.sqrt(square), np.hypot(error, 12**-0.5))

    @property
    def is_plain(self) -> bool:
        """Whether the box is so wide that outputs are sums plus noise without bounds."""
        size, domain = self.factors.size, self.mechanism.domain
        below = np.asarray(self.ranges.lower) - np.asarray(domain.lower)[:size]
        above = np.asarray(domain.upper)[:size] - np.asarray(self.ranges.upper)
        return bool((np.minimum(below, above) >= _PLAIN * self._scales).all())

    @property
    def deviations(self) -> Floats:
        """The standard deviation of each estimate of a sum in the middle of its range."""
        return np.asarray(self.errors(self.middle(1))[0])

    @property
    def rounding_errors(self) -> Floats:
        """How far each estimate is from the ideal one at most, because outputs are on a grid."""
        return np.asarray(rounding(self._drawn, self.middle(1)[0]) / self.factors)

    @property
    def widest(self) -> float:
        """The largest scale of the noise, in units of the range."""
        return float(np.max(self._scales / self.ranges.widths))

    @property
    def _scales(self) -> Floats:
        return self.mechanism.scales[: self.factors.size]

    @property
    def _drawn(self) -> NoiseMechanism:
        """The mechanism of one group."""
        size, domain = self.factors.size, self.mechanism.domain
        return self._kind(Box(np.asarray(domain.lower)[:size], np.asarray(domain.upper)[:size]))

    def _kind(self, domain: Box) -> NoiseMechanism:
        """Return the same noise on a box of one group; its privacy is not asked for."""
        kind: Any = type(self.mechanism)
        same: NoiseMechanism = kind(domain, 1.0, self._scales)
        return same
