"""Rows on the points of a public grid, and how far each point is from being a quantile.

A loss is a whole number, and smaller is better. It is at most zero where a point is a quantile;
then it says how many rows may change while the point stays one. The sign doubles the gap between a
quantile and its neighbours where many rows are equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from inbounds.calibration.weight import WeightTable
from inbounds.sampling.choice import Draw
from inbounds.sampling.entropy import Entropy

UNITS = 8
"""Units of the loss per row where the number of rows is private."""

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Ranks:
    """Points of a grid in runs that have the same number of rows below, and at or below them.

    Attributes
    ----------
    first, length
        The first point of each run, and the number of its points.
    below, up_to
        The number of rows below a point of the run, and of those at or below it.
    total
        The number of rows.

    Examples
    --------
    >>> ranks = Ranks.of(np.array([2, 5]), np.array([4, 1]), 0, 6)
    >>> ranks.first.tolist(), ranks.length.tolist()
    ([0, 2, 3, 5, 6], [2, 1, 2, 1, 1])
    >>> ranks.below.tolist(), ranks.up_to.tolist()
    ([0, 0, 4, 4, 5], [0, 4, 4, 5, 5])
    """

    first: Integers
    length: Integers
    below: Integers
    up_to: Integers
    total: int

    @classmethod
    def of(cls, points: Integers, counts: Integers, low: int, high: int) -> Self:
        """Return the ranks of the points from `low` to `high`, given those that hold rows."""
        up_to = np.cumsum(counts, dtype=np.int64)
        first, length, before, after = np.empty((4, 2 * points.size + 1), np.int64)
        ends = np.concatenate([points, [high + 1]])
        first[0::2], first[1::2] = np.concatenate([[low], points + 1]), points
        length[0::2], length[1::2] = ends - first[0::2], 1
        before[0::2] = after[0::2] = np.concatenate([[0], up_to])
        before[1::2], after[1::2] = up_to - counts, up_to
        some = length > 0
        total = int(up_to[-1]) if points.size else 0
        return cls(first[some], length[some], before[some], after[some], total)

    def public_losses(self, q: Fraction) -> NDArray[Any]:
        """Return losses in rows, for a number of rows that is public.

        How far one row moves them: docs/proofs/quantiles.md, theorem 5.
        """
        target = q * self.total
        floor, ceiling = target.__floor__(), target.__ceil__()
        return np.maximum(self.below - floor, ceiling - self.up_to)

    def private_losses(self, q: Fraction) -> NDArray[Any]:
        """Return losses in `UNITS` of a row that comes or goes, for a private number of rows.

        How far one row moves them: docs/proofs/quantiles.md, theorem 5.
        """
        p, m = q.numerator, q.denominator
        below, up_to = self._exact(self.below, m), self._exact(self.up_to, m)
        excess = np.maximum(m * below - p * self.total, p * self.total - m * up_to)
        losses: NDArray[Any] = -(-UNITS * excess // max(p, m - p))
        return losses

    def _exact(self, rows: Integers, m: int) -> NDArray[Any]:
        """Return rows as integers of unlimited length where 64 bits might not hold a loss."""
        return rows if self.total * m * UNITS < 2**61 else rows.astype(object)


def within_group(q: Fraction) -> Fraction:
    """Return how many times as far a replaced row moves losses as one that comes or goes.

    It is for a private number of rows, and between 1 and 2. Proof:
    docs/proofs/quantiles.md, theorem 5.

    Examples
    --------
    >>> within_group(Fraction(1, 2)), within_group(Fraction(9, 10))
    (Fraction(2, 1), Fraction(9, 8))
    """
    p, m = q.numerator, q.denominator
    return Fraction(-(-UNITS * m // max(p, m - p)), UNITS)


def pick(
    losses: NDArray[Any], sizes: Integers, table: WeightTable, draw: Draw, entropy: Entropy
) -> tuple[int, int]:
    """Draw a candidate by its loss.

    Parameters
    ----------
    losses, sizes
        For each entry, the loss of its candidates and their number.

    Returns
    -------
    The entry, and the place of the candidate in it.

    Examples
    --------
    >>> from inbounds.sampling.choice import draw_by_weight
    >>> from inbounds.sampling.entropy import SYSTEM
    >>> steep = WeightTable(Fraction(100))
    >>> pick(np.array([5, -5, 5]), np.array([9, 1, 9]), steep, draw_by_weight, SYSTEM)
    (1, 0)
    """
    levels = np.clip(losses, -table.reach, table.reach).astype(np.int64)
    distinct, place = np.unique(levels, return_inverse=True)
    totals = np.zeros(distinct.size, np.int64)
    np.add.at(totals, place, sizes)
    weights = [table.weight(level) for level in distinct.tolist()]
    chosen, index = draw(totals.tolist(), weights, entropy)
    entries = np.flatnonzero(place == chosen)
    ends = np.cumsum(sizes[entries])
    i = int(np.searchsorted(ends, index, side="right"))
    return int(entries[i]), int(index - (ends[i] - sizes[entries[i]]))
