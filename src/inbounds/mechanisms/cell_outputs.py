"""The distribution of clamped staircase noise in cells, so small that it has a density."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inbounds._types import Floats
from inbounds.mechanisms.readings import read_on_steps
from inbounds.numerics.staircase import Staircase
from inbounds.numerics.steps import MOST_STEPS, clamped_posterior
from inbounds.sampling.grid import Grid
from inbounds.sampling.lattice import Lattice


@dataclass(frozen=True, slots=True, eq=False)
class CellOutputs:
    """Outputs of noise that is added to values anywhere in the interval.

    Formulas: docs/proofs/staircase.md, theorem 4.

    Examples
    --------
    >>> outputs = CellOutputs(Lattice.fit(0.0, 10.0, 1.0, 1.0), 1.0)
    >>> outputs.bias(np.array([0.0, 5.0])).round(3).tolist()
    [0.48, 0.0]
    """

    lattice: Lattice
    epsilon: float

    @property
    def noise(self) -> Staircase:
        """The noise, in periods."""
        return Staircase(self.epsilon, self.lattice.gamma)

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise before clamping."""
        return float(self.lattice.length * self.noise.variance**0.5)

    def bias(self, inside: Floats) -> Floats:
        """Return the mean difference of outputs and clamped values."""
        left, right = map(self.noise.half_mean, self._sides(inside))
        return self.lattice.length * (right - left)

    def mse(self, inside: Floats) -> Floats:
        """Return the mean squared difference of outputs and clamped values."""
        left, right = map(self.noise.half_second_moment, self._sides(inside))
        length = self.lattice.length
        return length * (length * (left + right))

    def variance(self, inside: Floats) -> Floats:
        """Return the variances of outputs."""
        sides, length = self._sides(inside), self.lattice.length
        left, right = map(self.noise.half_mean, sides)
        second = sum(map(self.noise.half_second_moment, sides))
        return length * (length * np.maximum(second - (right - left) ** 2, 0.0))

    def mass_at_bounds(self, inside: Floats) -> tuple[Floats, Floats]:
        """Return the probabilities of the lower and of the upper bound."""
        left, right = map(self.noise.tail, self._sides(inside))
        return left, right

    def pdf(self, x: Floats, inside: Floats) -> Floats:
        """Return the density at x, without that of the bounds."""
        length = self.lattice.length
        density = self.noise.density((x - inside) / length) / length
        return np.where((x > self.lattice.lower) & (x < self.lattice.upper), density, 0.0)

    def cdf(self, x: Floats, inside: Floats) -> Floats:
        """Return the probability of outputs up to x."""
        inner = self.noise.cumulative((x - inside) / self.lattice.length)
        return np.where(x < self.lattice.upper, inner, 1.0)

    def quantile(self, q: Floats, inside: Floats) -> Floats:
        """Return the quantiles before clamping."""
        return inside + self.lattice.length * self.noise.quantile(q)

    def denoise(self, outputs: Floats, grid: Grid) -> Floats:
        """Return the posterior means, on the steps of the grid if it has steps."""
        if grid.step is None or grid.intervals > MOST_STEPS:
            return self._denoise_evenly(outputs)
        apart = float(grid.spacing) / self.lattice.length
        return read_on_steps(outputs, grid, clamped_posterior(self.noise, grid.intervals, apart))

    def _denoise_evenly(self, outputs: Floats) -> Floats:
        """Return the posterior means under a prior on all numbers of the box."""
        (left, right), noise, length = self._sides(outputs), self.noise, self.lattice.length
        tails = noise.tail(left), noise.tail(right)
        mass = 1 - tails[0] - tails[1]
        below = noise.half_mean(left) - left * tails[0]
        above = noise.half_mean(right) - right * tails[1]
        width = np.asarray((self.lattice.upper - self.lattice.lower) / length)
        from_bound = length * noise.half_second_moment(width) / (2 * noise.half_mean(width))
        with np.errstate(invalid="ignore"):  # at both bounds of an interval far below a step
            inside = outputs + length * (above - below) / mass
        at_upper = np.where(right == 0, self.lattice.upper - from_bound, inside)
        return np.where(left == 0, self.lattice.lower + from_bound, at_upper)

    def _sides(self, inside: Floats) -> tuple[Floats, Floats]:
        """Return the distances of clamped values to both bounds, in steps of the staircase."""
        length = self.lattice.length
        return (inside - self.lattice.lower) / length, (self.lattice.upper - inside) / length
