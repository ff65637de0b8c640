"""The fractions of people at each level, estimated from randomised responses."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from inbounds._table import Printed, Table
from inbounds._types import Floats, Number
from inbounds.errors import ArgumentError
from inbounds.mechanisms.distribution import check_level
from inbounds.mechanisms.level import Level


@dataclass(frozen=True, eq=False, repr=False)
class Fractions(Printed):
    """How many of the people behind private outputs have each level, as fractions of all.

    Everything is computed from published outputs, so it costs no privacy.

    Parameters
    ----------
    levels
        The levels, in the order of all arrays here.
    counts
        The number of outputs of each level.
    other
        The probability of an output if another level is the true one.
    contrast
        By how much it is more probable if it is the true level itself.

    Notes
    -----
    Let c be the fraction of outputs of a level. Its expectation is other + π·contrast, where π is
    the true fraction, so (c - other)/contrast is unbiased.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.RandomizedResponse(["no", "yes"], epsilon=2.0)
    >>> estimate = m.estimate_counts([700, 300])
    >>> estimate.fractions.round(3).tolist(), estimate.standard_errors.round(3).tolist()
    ([0.763, 0.237], [0.019, 0.019])
    >>> low, high = estimate.interval(0.95)
    >>> low.round(2).tolist(), high.round(2).tolist()
    ([0.72, 0.2], [0.8, 0.28])
    """

    levels: tuple[Level, ...]
    counts: NDArray[np.int64]
    other: float
    contrast: float

    def __post_init__(self) -> None:
        if not self.counts.sum():
            raise ArgumentError.must("outputs", "hold at least one output")

    @cached_property
    def unbiased(self) -> Floats:
        """Unbiased estimates, which sum to 1 and may be negative or above 1.

        Proof: docs/proofs/response.md, theorem 4.
        """
        observed = self.counts / self.counts.sum()
        return np.asarray((observed - self.other) / self.contrast, np.float64)

    @cached_property
    def fractions(self) -> Floats:
        """The fractions, none of them negative, that are nearest to `unbiased` and sum to 1.

        They are never further from the true fractions than `unbiased`, in the sum of squares.
        Proof: docs/proofs/response.md, theorem 6.
        """
        return onto_simplex(self.unbiased)

    @cached_property
    def standard_errors(self) -> Floats:
        """The standard error of each of `unbiased`, including that of drawing the people.

        A level that has no outputs, or all of them, has an error too: it is computed with the
        nearest fraction of outputs that people could have.
        """
        n = self.counts.sum()
        observed = np.clip(self.counts / n, self.other, self.other + self.contrast)
        deviations = np.sqrt(observed * (1 - observed) / n)
        return np.asarray(deviations / self.contrast, np.float64)

    def interval(self, level: Number) -> tuple[Floats, Floats]:
        """Return the ends of a confidence interval for each fraction by itself.

        Parameters
        ----------
        level
            The least probability that the interval of a level holds its true fraction.

        Returns
        -------
        tuple of two arrays
            The lower and the upper ends, between 0 and 1. Proof of the coverage:
            docs/proofs/response.md, theorem 5.

        Raises
        ------
        ArgumentError
            If `level` is not strictly between 0 and 1.
        """
        tail = (1 - check_level(level)) / 2
        n, counts = int(self.counts.sum()), self.counts
        low = np.where(counts > 0, betaincinv(np.maximum(counts, 1), n - counts + 1, tail), 0.0)
        high = np.where(
            counts < n, betaincinv(counts + 1, np.maximum(n - counts, 1), 1 - tail), 1.0
        )
        ends = ((end - self.other) / self.contrast for end in (low, high))
        lower, upper = (np.clip(end, 0.0, 1.0) for end in ends)
        return lower, upper

    def _table(self) -> Table:
        low, high = self.interval(0.95)
        columns = (self.fractions, self.standard_errors, low, high)
        cells = zip(*(column.tolist() for column in columns), strict=True)
        rows = tuple(
            (str(level), *(f"{number:.4f}" for number in row))
            for level, row in zip(self.levels, cells, strict=True)
        )
        headings = ("level", "fraction", "standard error", "95 % from", "to")
        return Table("Fractions", headings, rows, numbers=(1, 2, 3, 4))

    def __repr__(self) -> str:
        return f"Fractions({len(self.levels)} levels, {int(self.counts.sum())} outputs)"


def onto_simplex(point: Floats) -> Floats:
    """Return the nearest point whose coordinates are not negative and sum to 1.

    Proof: docs/proofs/response.md, theorem 6.

    Examples
    --------
    >>> onto_simplex(np.array([1.2, 0.1, -0.3])).round(3).tolist()
    [1.0, 0.0, 0.0]
    """
    falling = np.sort(point)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, point.size + 1)
    last = np.flatnonzero(falling > excess)[-1]
    return np.asarray(np.maximum(point - excess[last], 0.0), np.float64)
