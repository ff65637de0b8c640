"""A distribution on cells of an interval that may have points of positive probability.

Mass in a cell is spread uniformly, except for what lies exactly on a bound of the interval. With
few enough steps, every cell is the one step in it. The recovered distribution of a private column
needs this: half of a column may be zeros.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from inbounds._types import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Stairs:
    """Fractions of a population in cells.

    Parameters
    ----------
    edges
        Edges of the cells, increasing.
    weights
        Fraction in each cell, including what lies on the bounds; they sum to one.
    atoms
        Fractions that lie exactly on the first and on the last edge.
    points
        The value of each cell, if cells are points.

    Examples
    --------
    >>> zeros = Stairs(np.array([0.0, 1.0, 2.0]), np.array([0.75, 0.25]), np.array([0.5, 0.0]))
    >>> zeros.mean, float(zeros.quantile(np.array(0.4))), float(zeros.quantile(np.array(0.75)))
    (0.5, 0.0, 1.0)
    >>> zeros.upto(np.array([0.0, 0.5, 2.0])).tolist(), zeros.below(np.array([0.0, 0.5])).tolist()
    ([0.5, 0.625, 1.0], [0.0, 0.625])
    """

    edges: Floats
    weights: Floats
    atoms: Floats
    points: Floats | None = None

    @property
    def middles(self) -> Floats:
        """The middle of each cell, or its value if cells are points."""
        if self.points is not None:
            return self.points
        middles: Floats = (self.edges[1:] + self.edges[:-1]) / 2
        return middles

    @property
    def mean(self) -> float:
        """The mean."""
        return float(self._even @ self.middles + self._loose @ self.edges[[0, -1]])

    @property
    def variance(self) -> float:
        """The variance, including that within cells."""
        mean = self.mean
        within = 0.0 if self.points is not None else np.diff(self.edges) ** 2 / 12
        even = self._even @ ((self.middles - mean) ** 2 + within)
        return float(even + self._loose @ (self.edges[[0, -1]] - mean) ** 2)

    def upto(self, x: Floats) -> Floats:
        """Return the fractions that are at most `x`."""
        if self.points is not None:
            return self._cumulative[np.searchsorted(self.points, x, side="right")]
        inner = np.interp(x, self.edges, self._inner, left=0.0)
        return np.where(x >= self.edges[-1], 1.0, inner)

    def below(self, x: Floats) -> Floats:
        """Return the fractions that are below `x`."""
        if self.points is not None:
            return self._cumulative[np.searchsorted(self.points, x, side="left")]
        inner = np.interp(x, self.edges, self._inner, right=1.0)
        return np.where(x <= self.edges[0], 0.0, inner)

    def quantile(self, level: Floats) -> Any:
        """Return the values that fractions `level` do not exceed."""
        if self.points is not None:
            place = np.searchsorted(self._cumulative[1:], level)
            return self.points[np.minimum(place, len(self.points) - 1)]
        upto = np.concatenate([[0.0], self._inner, [1.0]])
        return np.interp(level, upto, self.edges[[0, *range(len(self.edges)), -1]])

    @property
    def _loose(self) -> Floats:
        """The fractions on the bounds that are not spread; zero if cells are points."""
        return np.zeros(2) if self.points is not None else self.atoms

    @property
    def _even(self) -> Floats:
        even = self.weights.copy()
        even[0] -= self._loose[0]
        even[-1] -= self._loose[1]
        return np.maximum(even, 0.0)

    @property
    def _inner(self) -> Floats:
        """The fractions that are at most each edge, but below the last edge."""
        upto: Floats = np.append(0.0, np.cumsum(self._even)) + self._loose[0]
        return np.minimum(upto, 1.0)

    @property
    def _cumulative(self) -> Floats:
        return np.append(0.0, np.minimum(np.cumsum(self.weights), 1.0))
