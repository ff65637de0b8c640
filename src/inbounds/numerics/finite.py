"""The distribution of finitely many outputs, for values in cells or between knots, in doubles."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from inbounds._types import Floats

_BLOCK = 1 << 16  # values whose probabilities of all outputs are computed at once
_ROUNDING = 2.0**-44  # of a sum of probabilities


@dataclass(frozen=True, eq=False)
class FiniteOutputs:
    """Probabilities of outputs, one row for each cell or knot.

    They are constant or affine on each piece of the box: docs/proofs/optimal.md, theorem 7.

    Parameters
    ----------
    ends
        The ends of the cells, or the knots, in increasing order.
    rounds_between
        Whether `ends` are knots, to one of which a value is rounded at random.
    outputs
        The outputs, in increasing order.
    chances
        One row per cell or knot, and one column per output.

    Examples
    --------
    >>> coin = FiniteOutputs(np.array([0.0, 1.0]), True, np.array([0.0, 1.0]), np.eye(2))
    >>> float(coin.below(np.array(0.5), np.array(0.25)))
    0.75
    >>> coin.posterior_means(0.0, 1.0).round(6).tolist()
    [0.333333, 0.666667]
    """

    ends: Floats
    rounds_between: bool
    outputs: Floats
    chances: Floats

    @classmethod
    def of(
        cls, ends: Floats, outputs: Floats, chances: Floats, *, rounds_between: bool
    ) -> FiniteOutputs:
        """Sort the outputs, and add up the probabilities of equal ones."""
        distinct, place = np.unique(outputs, return_inverse=True)
        merged = np.zeros((len(chances), distinct.size))
        if distinct.size == outputs.size:
            merged[:, place] = chances
        else:
            np.add.at(merged.T, place, chances.T)
        return cls(ends, rounds_between, distinct, merged)

    def below(self, x: Floats, values: Floats) -> Floats:
        """Return the probability of an output of at most x."""
        column = np.searchsorted(self.outputs, x, side="right")
        row, upward = self._rows(values)
        low, high = self._sums[row, column], self._sums[row + self.rounds_between, column]
        return np.asarray(low + upward * (high - low))

    def quantile(self, q: Floats, values: Floats) -> Floats:
        """Return the smallest output with a probability of at least q up to it."""
        level, value = (np.ravel(side) for side in np.broadcast_arrays(q, values))
        result = np.empty(level.size)
        for first in range(0, level.size, _BLOCK):
            block = slice(first, first + _BLOCK)
            row, upward = self._rows(value[block])
            low, high = self._sums[row], self._sums[row + self.rounds_between]
            sums = low + upward[:, None] * (high - low)
            column = (sums[:, 1:] < level[block, None] - _ROUNDING).sum(axis=1)
            result[block] = self.outputs[np.minimum(column, self.outputs.size - 1)]
        return result.reshape(np.broadcast_shapes(np.shape(q), np.shape(values)))

    def posterior_means(self, lower: float, upper: float) -> Floats:
        """Return the mean of a uniform value in [lower, upper], given each output."""
        ends = np.clip(self.ends, lower, upper)
        left, right = ends[:-1, None] - lower, ends[1:, None] - lower
        at_left, at_right = (self._at(side) for side in (ends[:-1], ends[1:]))
        width = right - left
        mass = width * (at_left + at_right) / 2
        moment = left * mass + width**2 * (at_left / 6 + at_right / 3)
        return np.asarray(lower + moment.sum(axis=0) / mass.sum(axis=0))

    def posterior_means_on(self, values: Floats) -> Floats:
        """Return the mean of a value that is equally likely to be any of `values`.

        Examples
        --------
        >>> coin = FiniteOutputs(np.array([0.0, 1.0]), True, np.array([0.0, 1.0]), np.eye(2))
        >>> coin.posterior_means_on(np.array([0.0, 0.5, 1.0])).round(6).tolist()
        [0.166667, 0.833333]
        """
        row, upward = self._rows(values)
        low, high = self.chances[row], self.chances[row + self.rounds_between]
        likelihood = low + upward[:, None] * (high - low)
        first = values[0]
        return np.asarray(first + (values - first) @ likelihood / likelihood.sum(axis=0))

    def plausible(self, level: float) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return, for each output, the first and the last piece of the box it is likely for.

        An output is likely for a piece if it is among the nearest ones that together have a
        probability of `level` for every value of the piece. If there is no such piece, the first
        and the last are all.
        """
        middles = (self.ends[:-1] + self.ends[1:]) / 2
        order = np.argsort(np.abs(self.outputs - middles[:, None]), axis=1, kind="stable")
        rows = [self.chances[:-1], self.chances[1:]] if self.rounds_between else [self.chances]
        sums = np.min(
            [np.cumsum(np.take_along_axis(row, order, axis=1), axis=1) for row in rows], axis=0
        )
        needed = np.pad(sums[:, :-1] < level + _ROUNDING, ((0, 0), (1, 0)), constant_values=True)
        likely = np.zeros_like(needed)
        np.put_along_axis(likely, order, needed, axis=1)
        pieces = len(middles)
        first = np.where(likely.any(axis=0), likely.argmax(axis=0), 0)
        last = pieces - 1 - likely[::-1].argmax(axis=0)
        return first, np.where(likely.any(axis=0), last, pieces - 1)

    def column_of(self, outputs: Floats) -> NDArray[np.intp]:
        """Return the column of the nearest possible output."""
        above = np.minimum(np.searchsorted(self.outputs, outputs), self.outputs.size - 1)
        below = np.maximum(above - 1, 0)
        is_above = self.outputs[above] - outputs < outputs - self.outputs[below]
        return np.where(is_above | (self.outputs[above] == outputs), above, below)

    @cached_property
    def _sums(self) -> Floats:
        """The probability of the first 0, 1, 2… outputs."""
        sums = np.pad(np.cumsum(self.chances, axis=1), ((0, 0), (1, 0)))
        sums[:, -1] = 1.0
        return np.minimum(sums, 1.0)

    def _rows(self, values: Floats) -> tuple[NDArray[np.intp], Floats]:
        """Return the row of each value, and how far it is on the way to the next knot."""
        row = np.searchsorted(self.ends[1:-1], values, side="right")
        if not self.rounds_between:
            return row, np.zeros(np.shape(values))
        low, high = self.ends[row], self.ends[row + 1]
        return row, np.asarray((values - low) / (high - low))

    def _at(self, ends: Floats) -> Floats:
        """Return the probabilities at one end of each piece, seen from inside of it."""
        if not self.rounds_between:
            return self.chances
        low, high = self.ends[:-1], self.ends[1:]
        upward = ((ends - low) / (high - low))[:, None]
        return np.asarray(self.chances[:-1] + upward * (self.chances[1:] - self.chances[:-1]))
