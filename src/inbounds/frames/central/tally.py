"""Counts of the bins or levels of a group, which are not negative and add up.

A negative count that is set to 0 makes the sum of many small counts too large. Counts are instead
moved to the nearest point (in the l2 norm) of {x : x >= 0, Σx = total}, where the total is public
or the sum of the unbiased counts, and rounded so that the sum remains. All of it reads published
numbers only.
"""

from __future__ import annotations

import numpy as np

from inbounds._types import Floats
from inbounds.frames.central.estimate import Estimate, Released
from inbounds.frames.central.moment import Moment, RowCount


def add_up(released: Released, counts: Moment, *, complete: bool = True) -> list[Estimate]:
    """Return whole numbers of rows, one estimate for each bin or level.

    `complete` says that every row belongs to one of them. Intervals are those of the noise, and
    contain the values. Proof: docs/proofs/statistics.md, theorem 10.
    """
    size = released.size
    noisy = [number.scaled(size) for number in released.sums(counts, jointly=False)]
    values = np.stack([estimate.value for estimate in noisy], axis=-1)
    totals, left = np.clip(values.sum(axis=-1), 0.0, size), np.ones(len(values))
    if rows := _rows(released, counts, complete=complete):
        totals = np.clip(rows.value * size, 0.0, size)
        known = (rows.error * size / (len(noisy) * noisy[0].error)) ** 2
        left = 1 - 1 / len(noisy) + known  # of the variance: the total has another one
    adding_up = whole(nearest(values, totals))
    estimates = []
    for j, estimate in enumerate(noisy):
        ends = released.rounded(estimate.clipped(0.0, size))
        value = adding_up[:, j]
        lower, upper = np.minimum(ends.lower, value), np.maximum(ends.upper, value)
        estimates.append(Estimate(value, np.sqrt(left) * ends.error, lower, upper))
    return estimates


def _rows(released: Released, counts: Moment, *, complete: bool) -> Estimate | None:
    """Return the number of rows, divided by the size, if it says more than the sum of the counts.

    That is so if it is public, or was released together with bins, which then belong to its pool.
    """
    if complete and (released.sizes_public or released.pools(counts)):
        return released.sums(RowCount(), jointly=False)[0]
    return None


def nearest(values: Floats, totals: Floats) -> Floats:
    """Return the nearest points, in the last axis, that are not negative and have these sums.

    Proof: docs/proofs/statistics.md, theorem 10.

    Examples
    --------
    >>> nearest(np.array([[7.0, 2.0, -1.0]]), np.array([8.0]))
    array([[6.5, 1.5, 0. ]])
    """
    ordered = -np.sort(-values, axis=-1)
    excess = np.cumsum(ordered, axis=-1) - totals[..., None]
    levels = excess / np.arange(1, values.shape[-1] + 1)
    kept = np.maximum(np.sum(ordered > levels, axis=-1, keepdims=True), 1)
    level = np.take_along_axis(levels, kept - 1, axis=-1)
    return np.maximum(values - level, 0.0)


def whole(values: Floats) -> Floats:
    """Round numbers so that their sums, in the last axis, become the nearest whole numbers.

    All are rounded down; what is missing goes to those with the largest remainders.

    Examples
    --------
    >>> whole(np.array([[6.5, 1.3, 0.2]]))
    array([[7., 1., 0.]])
    """
    down = np.floor(values)
    missing = np.rint(values.sum(axis=-1)) - down.sum(axis=-1)
    places = np.argsort(np.argsort(down - values, axis=-1, kind="stable"), axis=-1, kind="stable")
    return np.asarray(down + (places < missing[..., None]))
