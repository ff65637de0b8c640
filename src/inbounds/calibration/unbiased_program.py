"""The least average variance of unbiased readings on some knots: a program with generated columns.

A column f with reading r costs Σ πᵢfᵢ(r - xᵢ)², where πᵢ is the fraction of values that are rounded
to knot xᵢ. Rows must sum to one, and Σ fᵢ(r - xᵢ) over all columns must be zero at every knot. With
prices νᵢ and ρᵢ of these sums, a column is worth adding if

    Σ fᵢ(πᵢ(r - xᵢ)² - ρᵢ(r - xᵢ) - νᵢ) < 0,

which is a parabola in r. Everything is symmetric about the middle, so half of the columns suffice.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from inbounds._types import Floats
from inbounds.calibration.column import (
    Levels,
    Mixture,
    folded,
    left_half,
    minimise,
    plateaus,
    unfolded,
)
from inbounds.calibration.lattice_staircase import staircase
from inbounds.errors import CertificateError

_ROUNDS = 40
_ADDED = 2  # columns per knot and round
_CLOSE = 1e-3  # relative: how far from the best mixture the search may stop
_CLOSER = 1e-6  # the same for a few knots
_FEW = 16


@dataclass(frozen=True, eq=False)
class UnbiasedProgram:
    """Knots with an average over them.

    Means that are right at the knots are right everywhere: docs/proofs/optimal.md, theorem 6.

    Attributes
    ----------
    knots
        Positions that are symmetric about zero.
    masses
        The fraction of values that are rounded to each knot.
    reach, epsilon
        Of neighbours, as in `LevelTable`.
    scale
        About the variance that is to be expected.
    """

    knots: Floats
    masses: Floats
    reach: int
    epsilon: float
    scale: float

    def solve(self, allowed: Floats | None = None) -> tuple[Mixture, float]:
        """Return the best mixture, whose outputs are the readings, and its average variance.

        Parameters
        ----------
        allowed
            All possible readings, sorted and symmetric about zero, or None for any.

        Raises
        ------
        CertificateError
            If the solver finds no unbiased readings.
        """
        which, readings = self._first() if allowed is None else self._first_allowed(allowed)
        close = _CLOSER if self.knots.size <= _FEW else _CLOSE
        plain = len(self._candidates) - len(self._noise.levels) * (allowed is None)
        best, least = None, np.inf
        for _ in range(_ROUNDS):
            try:
                weights, least, prices, slopes = self._program(which, readings)
            except CertificateError:
                if best is None:
                    raise
                break  # the columns before will do
            used = weights > 0
            best = Mixture(self._candidates[which[used]], weights[used], readings[used])
            kept = used | (which >= plain)
            which, readings = which[kept], readings[kept]
            gains, proposed = self._priced(prices, slopes, allowed)
            added = np.argsort(-gains)[: _ADDED * self.knots.size]
            added = added[gains[added] > close * least]
            if not added.size:
                break
            which = np.concatenate([which, added])
            readings = np.concatenate([readings, proposed[added]])
        assert best is not None
        return best.positive().mirrored(), least * self.scale

    def variance(self, mixture: Mixture) -> float:
        """Return the average variance of a mixture whose outputs are readings."""
        chances = np.exp(-self.epsilon * mixture.levels).T * mixture.weights
        squares = (chances * (mixture.outputs - self.knots[:, None]) ** 2).sum(axis=1)
        return float(self.masses @ squares)

    @cached_property
    def _noise(self) -> Mixture:
        """The left half of the staircase, which is a solution if readings may be any numbers.

        Proof: docs/proofs/optimal.md, theorem 11.
        """
        noise = staircase(self.knots.size, self.reach, self.epsilon)
        left = noise.outputs < 1e-9
        spacing = float(self.knots[-1] - self.knots[0]) / (self.knots.size - 1)
        return Mixture(noise.levels[left], noise.weights[left], noise.outputs[left] * spacing)

    @cached_property
    def _candidates(self) -> Levels:
        levels = plateaus(self.knots.size, self.reach)
        return np.concatenate([levels[left_half(levels)], self._noise.levels])

    @cached_property
    def _shapes(self) -> Floats:
        return np.asarray(np.exp(-self.epsilon * self._candidates))

    @cached_property
    def _sums(self) -> tuple[Floats, Floats, Floats]:
        """The sums of π, πx and πx² over each column and its mirror image."""
        masses = 2 * self.masses / self.scale
        mass, first, second = (self._shapes @ (masses * self.knots**n) for n in range(3))
        return mass, first, second

    def _middles(self) -> Floats:
        """Return the middle of each plateau."""
        top = self._candidates == 0
        return np.asarray(top @ self.knots / np.maximum(top.sum(axis=1), 1))

    def _first(self) -> tuple[Levels, Floats]:
        """Return the first columns with their readings: all of them, some with far readings too."""
        noise = self._noise
        plain = np.arange(len(self._candidates) - len(noise.levels))
        edge = np.flatnonzero(self._candidates[plain, 0] == 0)
        far = float(np.abs(noise.outputs).max())
        which = np.concatenate([np.arange(len(self._candidates)), edge, edge])
        middles = np.concatenate([self._middles()[plain], noise.outputs])
        return which, np.concatenate([middles, np.repeat([-far, far], edge.size)])

    def _first_allowed(self, allowed: Floats) -> tuple[Levels, Floats]:
        middles = allowed[np.abs(allowed - self._middles()[:, None]).argmin(axis=1)]
        which = np.arange(len(self._candidates))
        ends = np.repeat(allowed[[0, -1]], which.size)
        return np.tile(which, 3), np.concatenate([middles, ends])

    def _program(self, which: Levels, readings: Floats) -> tuple[Floats, float, Floats, Floats]:
        """Return the best weights, the variance, and the prices of the sums and of the means."""
        size, half = self.knots.size, self.knots.size // 2
        far = float(np.abs(readings).max())
        columns = self._shapes[which].T
        apart = columns * (readings - self.knots[:, None]) / far
        rows = np.concatenate([folded(columns), (apart - apart[::-1])[:half]])
        to = np.concatenate([np.ones(len(rows) - half), np.zeros(half)])
        costs = np.maximum(self._costs(which, readings), 0.0)
        weights, least, prices, _ = minimise(costs, rows, to)
        slopes = np.zeros(size)
        slopes[:half] += prices[len(rows) - half :] / far
        slopes[::-1][:half] -= prices[len(rows) - half :] / far
        return weights, least, unfolded(prices[: len(rows) - half], size), slopes

    def _costs(self, which: Levels, readings: Floats) -> Floats:
        mass, first, second = (part[which] for part in self._sums)
        return np.asarray(mass * readings**2 - 2 * first * readings + second)

    def _priced(
        self, prices: Floats, slopes: Floats, allowed: Floats | None
    ) -> tuple[Floats, Floats]:
        """Return what each column gains with its best reading, relative to its size."""
        mass, first, _ = self._sums
        tilt = self._shapes @ slopes
        best = (2 * first + tilt) / (2 * mass)
        if allowed is None:
            far = np.abs(self._noise.outputs).max()
            best = np.clip(best, -far, far)
            return self._gains(best, prices, slopes, tilt), best
        right = np.clip(np.searchsorted(allowed, best), 1, allowed.size - 1)
        low, high = allowed[right - 1], allowed[right]
        below, above = (self._gains(side, prices, slopes, tilt) for side in (low, high))
        return np.maximum(below, above), np.where(below >= above, low, high)

    def _gains(self, readings: Floats, prices: Floats, slopes: Floats, tilt: Floats) -> Floats:
        worth = self._shapes @ (prices - slopes * self.knots) + tilt * readings
        gains = worth - self._costs(np.arange(len(self._candidates)), readings)
        return np.asarray(gains * self.knots.size / self._shapes.sum(axis=1))
