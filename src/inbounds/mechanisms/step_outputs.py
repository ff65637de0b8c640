"""The distribution of clamped staircase noise in whole steps, as it is drawn."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from inbounds._types import Floats
from inbounds.numerics.step_staircase import StepStaircase
from inbounds.sampling.step_lattice import StepLattice

_WIDER = 2.0**-20  # of a step: covers the rounding of a value on its way to a step


@dataclass(frozen=True, slots=True, eq=False)
class StepOutputs:
    """Outputs of noise in whole steps, which is added to the step that a value is rounded to.

    Formulas: docs/proofs/staircase.md, theorem 7.

    Examples
    --------
    >>> lattice = StepLattice.fit(0.0, 10.0, 1.0, 1.0, math.log(2))
    >>> outputs = StepOutputs(lattice, math.log(2))
    >>> outputs.mass_at_bounds(np.array(0.0))[0].round(6).tolist()  # 1/(1 + e^-epsilon)
    0.666667
    """

    lattice: StepLattice
    epsilon: float

    @property
    def noise(self) -> StepStaircase:
        """The noise, in steps."""
        return StepStaircase(self.epsilon, self.lattice.period, self.lattice.half)

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise before clamping."""
        return float(self.lattice.spacing * self.noise.variance**0.5)

    # Moments: those of noise between the bounds, moved by the rounding of the value.

    def bias(self, inside: Floats) -> Floats:
        """Return the mean difference of outputs and clamped values."""
        index = self._index(inside)
        return self._points(index) - inside + self.lattice.spacing * self._shift(index)

    def variance(self, inside: Floats) -> Floats:
        """Return the variances of outputs."""
        index, spacing = self._index(inside), self.lattice.spacing
        square = self._square(index) - self._shift(index) ** 2
        return spacing * (spacing * np.maximum(square, 0.0))

    def mse(self, inside: Floats) -> Floats:
        """Return the mean squared difference of outputs and clamped values."""
        index, spacing = self._index(inside), self.lattice.spacing
        rounding = self._points(index) - inside
        noise = spacing * (spacing * self._square(index))
        moved = rounding * (rounding + 2 * spacing * self._shift(index))
        return np.asarray(np.maximum(noise + moved, 0.0))

    def _shift(self, index: Floats) -> Floats:
        """Return the mean of clamped noise, in steps."""
        return self.noise.half_mean(self.lattice.count - index) - self.noise.half_mean(index)

    def _square(self, index: Floats) -> Floats:
        """Return the mean square of clamped noise, in steps."""
        sides = index, self.lattice.count - index
        below, above = map(self.noise.half_second_moment, sides)
        return below + above

    # The distribution: probabilities of steps.

    def mass_at_bounds(self, inside: Floats) -> tuple[Floats, Floats]:
        """Return the probabilities of the lower bound, and of the upper one if it is a step."""
        index, reached = self._index(inside), float(self.lattice.grid.reaches_upper)
        last = self.lattice.count - index
        return self.noise.tail(index), reached * self.noise.tail(last)

    def pdf(self, x: Floats, inside: Floats) -> Floats:
        """Return the probability of the nearest step over the length of a step, but at no bound."""
        step, index, last = self._nearest(x), self._index(inside), self.lattice.count
        chance = np.where(step < last, self.noise.chance(step - index), self._last(index))
        is_bound = (step == 0) | ((step == last) & self.lattice.grid.reaches_upper)
        return np.where(is_bound, 0.0, chance / self.lattice.spacing)

    def cdf(self, x: Floats, inside: Floats) -> Floats:
        """Return the probability of the steps up to x."""
        step = self._nearest(x)
        step = step - (self._points(step) > x)
        upto = self.noise.upto(step - self._index(inside))
        return np.where(step < self.lattice.count, upto, 1.0)

    def quantile(self, q: Floats, inside: Floats) -> Floats:
        """Return the first step up to which the probability is at least q."""
        index = self._index(inside)
        shape = np.broadcast_shapes(np.shape(q), index.shape)
        low, high = np.full(shape, -1.0), np.full(shape, float(self.lattice.count))
        for _ in range(self.lattice.count.bit_length() + 1):
            middle = np.ceil((low + high) / 2)
            enough = (middle >= high) | self.noise.reaches(q, middle - index)
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return self._points(np.maximum(high, 0.0))

    def _last(self, index: Floats) -> Floats:
        return self.noise.tail(self.lattice.count - index)

    # Readings.

    def denoise(self, outputs: Floats) -> Floats:
        """Return the posterior means, if values are equally likely to be each step.

        Proof: docs/proofs/staircase.md, theorem 8.
        """
        step, last = self._nearest(outputs), self.lattice.count
        if last < step.size:
            mean = self._mean_steps(np.arange(last + 1.0))[step.astype(np.intp)]
        else:
            mean = self._mean_steps(step)
        return self.lattice.lower + self.lattice.spacing * mean

    def _mean_steps(self, step: Floats) -> Floats:
        """Return the posterior mean of the index of a value, given that of its output."""
        last, noise = self.lattice.count, self.noise
        sides = step, last - step
        below, above = (noise.half_mean(t) - t * noise.tail(t + 1) for t in sides)
        beyond = sum(noise.tail(t + 1) for t in sides)
        inside = step + (above - below) / (1 - beyond)
        end = np.asarray(float(last))
        once, twice = float(noise.half_mean(end)), float(noise.half_second_moment(end))
        from_bound = (once + twice) / 2 / (float(noise.tail(np.zeros(()))) + once)
        return np.where(step == 0, from_bound, np.where(step == last, last - from_bound, inside))

    @property
    def beyond(self) -> float | None:
        """How far beyond a bound an unbiased reading of it is, or None if that is not known."""
        if self.lattice.period > 1:
            return None
        return self.lattice.spacing * self.noise.fall / -math.expm1(-self.epsilon)

    def unbiased(self, outputs: Floats, beyond: float) -> Floats:
        """Return outputs with both bounds read as numbers beyond them.

        Proof: docs/proofs/staircase.md, theorem 8.
        """
        step = self._nearest(outputs)
        points = self._points(step)
        above = np.where(step == self.lattice.count, points + beyond, points)
        return np.where(step == 0, points - beyond, above)

    def reading_variance(self, inside: Floats) -> Floats:
        """Return the variances of unbiased readings (docs/proofs/staircase.md, theorem 8)."""
        fall, gone = self.noise.fall, -math.expm1(-self.epsilon)
        index = self._index(inside)
        sides = index, self.lattice.count - index
        ends = sum(np.exp(-self.epsilon * side) for side in sides) / (1 + fall)
        return np.asarray(self.lattice.spacing**2 * fall * (2 - ends) / gone**2)

    @property
    def least_reading_deviation(self) -> float:
        """The standard deviation of an unbiased reading at a bound, where it is smallest.

        Proof: docs/proofs/staircase.md, theorem 8.
        """
        return math.sqrt(float(self.reading_variance(np.asarray(self.lattice.lower))))

    @property
    def rounding(self) -> float:
        """How far a value may be from the step that it is rounded to."""
        return max(self._half, self.lattice.grid.upper - self.lattice.upper)

    @property
    def _half(self) -> float:
        """How far a value up to the last step may be from its step: about half a step."""
        lattice = self.lattice
        half = max(lattice.shift, 1 / lattice.per_unit - lattice.shift)
        drift = lattice.count * abs(1 / lattice.per_unit - lattice.spacing)
        ulps = 2 * math.ulp(max(abs(lattice.lower), abs(lattice.upper)))
        return half + drift + lattice.spacing * _WIDER + ulps

    def confidence(self, outputs: Floats, level: float) -> tuple[Floats, Floats]:
        """Return the ends of the values that are rounded to steps which outputs do not exclude.

        Proof: docs/proofs/staircase.md, theorem 9.
        """
        lattice = self.lattice
        first, last = self.noise.plausible(self._nearest(outputs), lattice.count, level)
        margin = self._half
        low, high = self._points(first) - margin, self._points(last) + margin
        return (
            np.where(first == 0, lattice.lower, np.maximum(low, lattice.lower)),
            np.where(
                last == lattice.count, lattice.grid.upper, np.minimum(high, lattice.grid.upper)
            ),
        )

    # Steps as indices, which are doubles.

    def _index(self, inside: Floats) -> Floats:
        """Return the steps that values are rounded to, as the sampler does."""
        flat = self.lattice.cells(np.ravel(inside).astype(np.float64))
        return flat.astype(np.float64).reshape(np.shape(inside))

    def _nearest(self, x: Floats) -> Floats:
        """Return the nearest steps."""
        place = np.rint((x - self.lattice.lower) / self.lattice.spacing)
        return np.clip(place, 0.0, float(self.lattice.count))

    def _points(self, index: Floats) -> Floats:
        """Return the numbers at indices; those below zero count as the first."""
        whole = np.maximum(np.asarray(index), 0.0).astype(np.int64)
        return np.asarray(self.lattice.grid.points(whole), np.float64)
