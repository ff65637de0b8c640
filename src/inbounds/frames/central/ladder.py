"""One end of an interval: a place on a ladder of points, beyond every quantile of the rows.

The ladder starts at a released point and is a function of it alone, so the probability of a miss
has no factor for the number of points of the grid.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Literal

from inbounds.calibration.weight import WeightTable, weight_table

MISS = Fraction(1, 40)
"""The largest probability with which one end of an interval is on the wrong side."""

Side = Literal[-1, 1]
"""Whether a bound is below or above."""

_FINE = 2**20  # slopes are rounded to multiples of 1/2²⁰ of each other
_MOST_UNITS = 64


def places(centre: int, last: int, side: Side) -> list[int]:
    """Return points from a centre to an end of the grid, about √2 times as far each time.

    Examples
    --------
    >>> places(10, 40, 1)
    [10, 11, 12, 13, 14, 15, 16, 18, 21, 26, 32, 40]
    >>> places(2, 40, -1)
    [2, 1, 0]
    """
    far = last - centre if side > 0 else centre
    distances, length = [0], 1.0
    while distances[-1] < far:
        distances.append(min(far, max(distances[-1] + 1, int(length))))
        length *= math.sqrt(2)
    return [centre + side * distance for distance in distances]


def units_per_row(q: Fraction) -> int:
    """Return how many units of a rank are counted, so that ranks are whole numbers of them.

    For a denominator above 64 they are not, and what one row moves is rounded up.

    Examples
    --------
    >>> units_per_row(Fraction(1, 2)), units_per_row(Fraction(1, 3)), units_per_row(Fraction(1, 97))
    (8, 9, 64)
    """
    m = q.denominator
    return m * -(-8 // m) if m <= _MOST_UNITS else _MOST_UNITS


@dataclass(frozen=True, slots=True)
class LadderEnd:
    """How one end of an interval is drawn.

    Attributes
    ----------
    q
        The quantile.
    row_cost
        What one row costs: one that comes or goes, or one that is replaced if the size is public.
    sizes_public
        Whether the number of rows is public.
    willing
        Whether a uniform one of the willing places is drawn, which halves the probability of a
        miss.
    """

    q: Fraction
    row_cost: Fraction
    sizes_public: bool
    willing: bool

    def weights(self, beyond: Sequence[int], total: int, side: Side) -> list[int]:
        """Return the weight of each place, given the number of rows beyond it.

        These numbers do not rise, and the last of them is zero. Proof:
        docs/proofs/quantiles.md, theorems 9 and 10.

        Examples
        --------
        >>> end = LadderEnd(Fraction(1, 2), Fraction(1), True, False)
        >>> weights = end.weights([50, 40, 30, 0], 100, -1)
        >>> weights.index(max(weights))
        1
        """
        count = len(beyond)
        per_row = 1 if self.sizes_public else units_per_row(self.q)
        wide, narrow = self._slopes(count)
        too_wide, too_narrow = weight_table(wide / per_row), weight_table(narrow / per_row)
        margin = too_narrow.margin(count - 1, MISS * (2 if self.willing else 1))
        if margin is None:  # nothing but the end of the grid is safe
            return [0] * (count - 1) + [1]
        target = self._target(total, side, per_row)
        offset = margin if self.sizes_public else margin + per_row
        if self.sizes_public and target < offset:
            return [0] * (count - 1) + [1]
        return self._both(beyond, total, per_row, target - offset, (too_wide, too_narrow))

    def within_group(self) -> Fraction:
        """Return what a replaced row costs, in units of one that comes or goes.

        Proof: docs/proofs/quantiles.md, theorem 9.
        """
        return Fraction(units_per_row(self.q), max(self._moved()))

    def _both(
        self,
        beyond: Sequence[int],
        total: int,
        per_row: int,
        aim: Fraction | int,
        tables: tuple[WeightTable, WeightTable],
    ) -> list[int]:
        """Return the smaller weight of each place: as too wide, and as too narrow."""
        too_wide, too_narrow = tables
        top, bottom = aim.as_integer_ratio()  # integers are faster than fractions
        excess = [-((top - per_row * rows * bottom) // bottom) for rows in (total, *beyond)]
        weights = [
            min(too_narrow.weight(here), too_wide.weight(-before))
            for before, here in pairwise(excess)
        ]
        if not self.sizes_public:  # the end of the grid is safe, however few rows there are
            weights[-1] = too_wide.weight(-excess[-2])
        return weights

    def _target(self, total: int, side: Side, per_row: int) -> Fraction | int:
        """Return how many rows may be beyond a bound and one more, in units of a row."""
        target = self.q * total
        if not self.sizes_public:
            return per_row * (target if side < 0 else total - target)
        if side < 0:
            return max(1, math.floor(target))
        return total + 1 - min(total, math.ceil(target) + 1)

    def _moved(self) -> tuple[int, int]:
        """Return by how many units one row that comes or goes moves a rank at most, each way."""
        per_row = units_per_row(self.q)
        return math.ceil(per_row * self.q), math.ceil(per_row * (1 - self.q))

    def _slopes(self, count: int) -> tuple[Fraction, Fraction]:
        """Return the slopes per rank of places that are too wide and too narrow.

        What they must satisfy: docs/proofs/quantiles.md, theorem 9.
        """
        root = math.sqrt(max(1.0, math.log(count / MISS)))
        ratio = Fraction(int(_FINE / root), _FINE)  # of the first to the second, at most 1
        if self.sizes_public:
            narrow = self.row_cost / (1 + ratio)
            return self.row_cost - narrow, narrow
        small, large = sorted(self._moved())
        ratio = max(ratio, Fraction(small, large))
        narrow = self.row_cost * units_per_row(self.q) / (large * (1 + ratio))
        return ratio * narrow, narrow
