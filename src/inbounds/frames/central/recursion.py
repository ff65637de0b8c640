"""Several quantiles of the same rows, one within the parts that the others leave.

The middle one is drawn first and divides the rows in two parts; rows at the drawn point are divided
too, deterministically. The others are drawn from these parts, so outputs are in order, and one row
affects only one part of each level.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from inbounds.calibration.weight import WeightTable, weight_table
from inbounds.frames.central.quantile import DENOMINATOR
from inbounds.frames.central.rank import UNITS, Integers, Ranks, pick
from inbounds.sampling.choice import draw_by_weight
from inbounds.sampling.entropy import Entropy

CUTS = 2**40
"""In how many ways the rows at one point are divided: with few, no cut of many rows is even."""

_SLACK = 4  # nats by which an uneven division may be likelier than a point that is no quantile


class Part(NamedTuple):
    """Rows at points of a grid from `low` to `high`."""

    points: Integers
    counts: Integers
    low: int
    high: int

    def cut(self, point: int, left: int) -> tuple[Part, Part]:
        """Return the part up to a point with `left` of its rows, and the part with the others.

        Examples
        --------
        >>> part = Part(np.array([2, 5]), np.array([4, 3]), 0, 9)
        >>> low, high = part.cut(5, 1)
        >>> low.counts.tolist(), high.points.tolist(), high.counts.tolist()
        ([4, 1], [5], [2])
        """
        points, counts = self.points, self.counts
        here = counts[points == point]
        right = int(here.sum()) - left
        before, after = points < point, points > point
        first = _joined(points[before], counts[before], [point][: left > 0], [left][: left > 0])
        last = _joined([point][: right > 0], [right][: right > 0], points[after], counts[after])
        return Part(*first, self.low, point), Part(*last, point, self.high)


def _joined(
    points: Sequence[int] | Integers,
    counts: Sequence[int] | Integers,
    more_points: Sequence[int] | Integers,
    more_counts: Sequence[int] | Integers,
) -> tuple[Integers, Integers]:
    return (
        np.concatenate([points, more_points]).astype(np.int64),
        np.concatenate([counts, more_counts]).astype(np.int64),
    )


def levels(count: int) -> int:
    """Return how many draws one row takes part in, for a number of quantiles.

    Examples
    --------
    >>> [levels(count) for count in (1, 2, 3, 4, 9)]
    [1, 2, 2, 3, 4]
    """
    return count.bit_length()


def draw_recursively(
    part: Part, qs: Sequence[Fraction], row_cost: Fraction, entropy: Entropy
) -> list[int]:
    """Draw a point for each quantile, in order.

    Proof: docs/proofs/quantiles.md, theorem 8.

    Parameters
    ----------
    part
        All rows.
    qs
        Quantiles in order.
    row_cost
        What one row that comes or goes costs at each level.

    Examples
    --------
    >>> from inbounds.sampling.entropy import SYSTEM
    >>> part = Part(np.array([2, 5, 7]), np.array([500, 500, 500]), 0, 9)
    >>> qs = [Fraction(1, 6), Fraction(1, 2), Fraction(5, 6)]
    >>> draw_recursively(part, qs, Fraction(4), SYSTEM)
    [2, 5, 7]
    """
    eta = row_cost / (2 * UNITS)
    table, slack = weight_table(eta), math.ceil(_SLACK / eta)

    def descend(rows: Part, inner: Sequence[Fraction], low: Fraction, high: Fraction) -> list[int]:
        if not inner:
            return []
        middle = len(inner) // 2
        q = relative(inner[middle], low, high)
        if len(inner) == 1:
            return [_leaf(rows, q, table, entropy)]
        point, left = _node(rows, q, table, slack, entropy)
        before, after = rows.cut(point, left)
        return [
            *descend(before, inner[:middle], low, inner[middle]),
            point,
            *descend(after, inner[middle + 1 :], inner[middle], high),
        ]

    return descend(part, qs, Fraction(0), Fraction(1))


def relative(q: Fraction, low: Fraction, high: Fraction) -> Fraction:
    """Return which quantile of the rows between two others a quantile is.

    Its denominator is at most `DENOMINATOR`.

    Examples
    --------
    >>> relative(Fraction(1, 4), Fraction(0), Fraction(1, 2))
    Fraction(1, 2)
    """
    least = Fraction(1, DENOMINATOR)
    nearest = ((q - low) / (high - low)).limit_denominator(DENOMINATOR)
    return min(max(nearest, least), 1 - least)


def _leaf(part: Part, q: Fraction, table: WeightTable, entropy: Entropy) -> int:
    """Draw a point."""
    ranks = Ranks.of(*part)
    run, place = pick(ranks.private_losses(q), ranks.length, table, draw_by_weight, entropy)
    return int(ranks.first[run]) + place


def _node(
    part: Part, q: Fraction, table: WeightTable, slack: int, entropy: Entropy
) -> tuple[int, int]:
    """Draw a point and a cut, and return the point and how many of its rows are in the left part.

    A cut that divides the rows too unevenly raises the loss of its point. That matters only for
    points within reach that hold many rows; at all others, all cuts have the same loss.
    """
    ranks = Ranks.of(*part)
    losses = np.clip(ranks.private_losses(q), -table.reach, table.reach).astype(np.int64)
    here = ranks.up_to - ranks.below
    p, m = q.numerator, q.denominator
    is_heavy = (here > slack * max(p, m - p) // (UNITS * m)) & (losses < table.reach)
    plain, heavy = np.flatnonzero(~is_heavy), np.flatnonzero(is_heavy).tolist()
    lists = [cuts(ranks, run, q, (int(losses[run]), table.reach, slack)) for run in heavy]
    every = np.concatenate([losses[plain], *(found.losses for found in lists)])
    sizes = np.concatenate([CUTS * ranks.length[plain], *(np.diff(f.starts) for f in lists)])
    entry, place = pick(every, sizes, table, draw_by_weight, entropy)
    if entry < plain.size:
        run = int(plain[entry])
        offset, cut = divmod(place, CUTS)
        return int(ranks.first[run]) + offset, cut * int(here[run]) // CUTS
    entry -= plain.size
    for run, found in zip(heavy, lists, strict=True):
        if entry < found.losses.size:
            cut = int(found.starts[entry]) + place
            return int(ranks.first[run]), cut * int(here[run]) // CUTS
        entry -= found.losses.size
    raise AssertionError  # every entry is in one of the lists


class Cuts(NamedTuple):
    """The cuts of a point in ranges that have the same loss: where each starts, and the end."""

    starts: Integers
    losses: Integers


def cuts(ranks: Ranks, run: int, q: Fraction, limits: tuple[int, int, int]) -> Cuts:
    """Return the losses of the cuts of a point; cut i has ⌊i·rows/CUTS⌋ of the rows on its left.

    Only cuts that are nearly even have a loss within reach. They are listed by the number of rows
    on the left; all others are in two more ranges. Proof: docs/proofs/quantiles.md, theorem 8.

    Parameters
    ----------
    ranks, run
        The rows, and the point.
    q
        The quantile.
    limits
        The loss of the point itself, the largest loss, and by how much the loss of an uneven cut is
        lowered.

    Examples
    --------
    >>> ranks = Ranks.of(np.array([2]), np.array([4]), 0, 9)
    >>> starts, losses = cuts(ranks, 1, Fraction(1, 2), (-16, 50, 1))
    >>> [4 * int(start) // CUTS for start in starts], losses.tolist()
    ([0, 0, 1, 2, 3, 4, 4], [50, 31, 15, -1, 15, 50])
    """
    (p, m), (loss, reach, slack) = (q.numerator, q.denominator), limits
    most, below = max(p, m - p), int(ranks.below[run])
    rows = int(ranks.up_to[run]) - below
    even, away = p * ranks.total - m * below, (reach + slack) * most // UNITS
    first = min(max(0, (even - away) // m), rows)
    last = min(max(first, (even + away) // m + 2), rows)
    lefts = np.arange(first, last)
    if rows * max(CUTS, UNITS * m) >= 2**61:
        lefts = lefts.astype(object)
    starts = np.concatenate([[0], -(-lefts * CUTS // rows), [-(-last * CUTS // rows), CUTS]])
    uneven = -(-UNITS * abs(m * lefts - even) // most) - slack
    every = np.concatenate([[reach], np.maximum(uneven, loss), [reach]])
    return Cuts(starts.astype(np.int64), np.clip(every, -reach, reach).astype(np.int64))
