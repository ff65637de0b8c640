"""How to read an output, so that the mean of all readings is close to the mean of the true values.

An output y in cell j is read as y + c_j. The corrections c minimise the squared bias of a reading
plus a multiple of its variance, averaged over true values. Both are quadratic in c, so one linear
system gives the best ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from inbounds._types import Floats
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.recovery.cells import Cells
from inbounds.recovery.response import solved, weighted_square

_AT_BOUNDS = 1 / 8  # weight of each bound among the true values
_LEAST_NOISE = 1e-13  # smallest weight of the variance: with less, doubles cannot solve the system


@dataclass(frozen=True)
class MomentEquation:
    """Bias and variance of a reading at given true values, for any corrections.

    Derivation: docs/proofs/deconvolution.md, theorem 9.

    Attributes
    ----------
    response
        One row for each true value: the probability of every cell of outputs.
    values, weights
        The true values, and how much the error at each of them counts.
    middles
        The output that each cell stands for.
    means, variances
        Of an output, for each true value.
    free
        Which cells are corrected; the others keep their outputs.

    Examples
    --------
    >>> exact = MomentEquation.of_cells(np.eye(2), np.array([-0.5, 0.5]), np.full(2, 0.5))
    >>> exact.rmse(exact.corrections(1.0), people=1)  # the output is the true value
    0.0
    """

    response: Floats
    values: Floats
    weights: Floats
    middles: Floats
    means: Floats
    variances: Floats
    free: NDArray[np.bool_]

    @classmethod
    def of(
        cls, mechanism: Mechanism, cells: Cells, values: Floats, middles: Floats, *, by_step: bool
    ) -> MomentEquation:
        """Weigh true values all over the box, and its bounds in particular.

        The weights are those of docs/proofs/deconvolution.md, theorem 9.
        """
        response = cells.probabilities(mechanism, values)
        if by_step:
            means = response @ middles
            variances = response @ middles**2 - means**2
        else:
            means, variances = mechanism.mean(values), mechanism.variance(values)
        weights = np.gradient(values) if len(values) > 1 else np.ones(1)
        weights = (1 - 2 * _AT_BOUNDS) * weights / weights.sum()
        weights[[0, -1]] += _AT_BOUNDS
        widths = np.diff(np.concatenate([cells.edges[:1], cells.cuts, cells.edges[1:]]))
        free = (weights @ response > 0) & (by_step | (widths <= 2 * np.median(widths)))
        return cls(response, values, weights, middles, means, np.maximum(variances, 0), free)

    @classmethod
    def of_cells(cls, response: Floats, values: Floats, weights: Floats) -> MomentEquation:
        """Read an output by its cell alone: its correction is the whole reading."""
        nothing, still = np.zeros(response.shape[1]), np.zeros(len(values))
        return cls(response, values, weights, nothing, still, still, weights @ response > 0)

    def corrections(self, noise: float) -> Floats:
        """Minimise Σ weights·(bias² + noise·variance): docs/proofs/deconvolution.md, theorem 7."""
        noise = max(noise, _LEAST_NOISE)
        weighted = self.response[:, self.free] * self.weights[:, None]
        seen = weighted.sum(axis=0)
        pull = weighted.T @ (self.values - self.means)
        pull -= noise * (seen * self.middles[self.free] - weighted.T @ self.means)
        corrections = np.zeros(len(self.middles))
        if noise == 1:  # one person: each cell by itself
            corrections[self.free] = pull / seen
            return corrections
        curvature = (1 - noise) * self._square + np.diag(seen * noise)
        corrections[self.free] = solved(curvature, pull[:, None])[:, 0]
        return corrections

    @cached_property
    def _square(self) -> Floats:
        return weighted_square(self.response[:, self.free].T, self.weights)

    def bias(self, corrections: Floats) -> float:
        """Return the largest bias at any of the values."""
        return float(np.abs(self._biases(corrections)).max())

    def deviation(self, corrections: Floats) -> float:
        """Return the largest standard deviation of a reading at any of the values."""
        return math.sqrt(float(self._variances(corrections).max()))

    def rmse(self, corrections: Floats, people: int) -> float:
        """Return the error of a mean over people who all have the same one of the values.

        Formula: docs/proofs/deconvolution.md, theorem 7.
        """
        squares = self._biases(corrections) ** 2 + self._variances(corrections) / people
        return math.sqrt(float(self.weights @ squares))

    def _biases(self, corrections: Floats) -> Floats:
        return self.means - self.values + self.response @ corrections

    def _variances(self, corrections: Floats) -> Floats:
        moved = self.response @ corrections
        alone = self.response @ corrections**2 - moved**2
        covariances = self.response @ (corrections * self.middles) - self.means * moved
        return np.maximum(self.variances + alone + 2 * covariances, 0.0)
