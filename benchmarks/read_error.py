"""The squared error of one output on [0, 1], as it is and after a reading of it.

Outputs are counted in fine cells, whose probabilities come from the mechanism's cdf. Outputs with a
probability of their own are cells by themselves.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inbounds.analysis.error import ErrorSummary
from inbounds.mechanisms.mechanism import Mechanism

Floats = NDArray[np.float64]
_FEWEST, _MOST = 500, 2500  # cells
_PER_SPREAD = 10.0


@dataclass(frozen=True)
class Errors:
    """Squared errors, averaged over values spread evenly, and at the worst value."""

    average: float
    worst: float

    @classmethod
    def of(cls, mechanism: Mechanism) -> "Errors":
        """Of the outputs themselves."""
        error = ErrorSummary.of(mechanism)
        return cls(error.average_rmse**2, error.worst_rmse**2)


@dataclass(frozen=True)
class Outcomes:
    """Values, and the probabilities of outputs for each of them."""

    values: Floats  # in the middles of cells, then the ends and both sides of each jump
    widths: Floats  # of the cells
    outputs: Floats
    probabilities: Floats

    @classmethod
    def of(cls, mechanism: Mechanism) -> "Outcomes":
        size = int(np.clip(_PER_SPREAD / float(mechanism.spread[0]), _FEWEST, _MOST))
        even, jumps = np.linspace(0, 1, size + 1), mechanism.breaks
        cells = np.union1d(even, jumps)
        inside = (cells[1:] + cells[:-1]) / 2
        values = np.concatenate([inside, [0.0, 1.0], jumps, np.nextafter(jumps, 0)])
        alone = np.concatenate([[0.0, 1.0], np.asarray(getattr(mechanism, "outputs", np.empty(0)))])
        below = np.nextafter(alone, -1)
        ends = np.unique(np.concatenate([even, alone, below[below > 0]]))
        upto = np.asarray(mechanism.cdf(ends[None, :], values[:, None]))
        upto[:, -2] = 1 - mechanism.mass_at_bounds(values)[1]  # the cdf of a rounded bound is 1
        outputs = np.where(np.isin(ends, alone), ends, np.append(0.0, (ends[1:] + ends[:-1]) / 2))
        return cls(values, np.diff(cells), outputs, np.diff(upto, prepend=0.0, axis=1))

    def error(self, readings: Floats) -> Errors:
        """Of a reading of each output: E[(reading − value)²]."""
        squares = self.squares(readings)
        average = self.widths @ (squares[: self.widths.size] + self.widths**2 / 12)
        return Errors(float(average), float(squares.max()))

    def squares(self, readings: Floats) -> Floats:
        """Return the squared error at each of the values."""
        first, second = self.probabilities @ readings, self.probabilities @ readings**2
        return np.asarray(second - 2 * self.values * first + self.values**2)

    def posterior_means(self) -> Floats:
        """Return the best reading on average, without the mechanism's help."""
        weighted = self.widths[:, None] * self.probabilities[: self.widths.size]
        seen, total = weighted.sum(axis=0), self.values[: self.widths.size] @ weighted
        return np.asarray(np.divide(total, seen, out=np.full(seen.shape, 0.5), where=seen > 0))


def read_error(mechanism: Mechanism, reading: Callable[[Floats], Floats] | None = None) -> Errors:
    """Return the error after a reading; by default, after the posterior mean."""
    outcomes = Outcomes.of(mechanism)
    chosen = outcomes.posterior_means() if reading is None else reading(outcomes.outputs)
    return outcomes.error(chosen)
