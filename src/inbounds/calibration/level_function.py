"""The least weighted sum of level functions, by dynamic programming.

On values 0..n-1, where values at most `reach` apart are neighbours, the vectors that an ε-private
mechanism is made of are sums of level functions f = Eᴸ, E = exp(ε), with whole numbers L that
differ by at most 1 between neighbours. `least_sum` finds the smallest Σ fᵢcᵢ over all of them with
f₀ = 1, for many vectors c at once, in a time that does not depend on the reach.

After a step from one level to the next, the way back is open at once, and the way on only `reach`
places later. So five numbers for each place suffice: the least sum over the rest

- `free`, if the last step is `reach` or more places ago, so that any step is allowed;
- `up_back` and `down_back`, after a step up or down, if the only step allowed next is the way back;
- `up` and `down`, at the place of a step up or down: go back at some time, or wait until all is
  free.
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from inbounds._types import Floats

Levels = NDArray[np.int64]


class _Sums(NamedTuple):
    """The least sums from each place on, relative to f at that place; one column per problem."""

    free: Floats
    up_back: Floats
    down_back: Floats
    up: Floats
    down: Floats
    waiting: Floats


def least_sum(costs: Floats, reach: int, ratio: float) -> Floats:
    """Return the least Σ fᵢcᵢ over level functions f with f₀ = 1, for each column c of `costs`.

    Rounding is that of doubles: with u = 2⁻⁵³, the result is at most Σ fᵢcᵢ(1 + θᵢ) for every level
    function f of `ratio`, with |θᵢ| ≤ (4n + 32)u that depend on f, if nothing overflows. Proof:
    docs/proofs/limit.md, theorems 3 and 4.

    Examples
    --------
    >>> least_sum(np.array([[3.0], [-2.0], [1.0]]), 1, 2.0)  # f = (1, 2, 1)
    array([0.])
    >>> least_sum(np.array([[1.0], [1.0], [-1.0]]), 1, 2.0)  # f = (1, 2, 4)
    array([-1.])
    >>> least_sum(np.array([[1.0], [1.0], [-1.0]]), 2, 2.0)  # all are neighbours: f = (1, 1, 2)
    array([0.])
    """
    least: Floats = _sums(costs, reach, ratio).free[0]
    return least


def least_sum_below(costs: list[int], reach: int, ratio: Fraction) -> int:
    """Return a whole number that is at most Σ fᵢcᵢ for every level function f with f₀ = 1.

    The costs are whole numbers of any length, and every product is rounded down. Proof:
    docs/proofs/limit.md, theorems 3 and 4.

    Examples
    --------
    >>> least_sum_below([6, -4, 2], 1, Fraction(2))
    0
    >>> least_sum_below([100, 100, -100], 1, Fraction(3, 2))  # 100 + 150 - 225
    25
    """
    size, up, down = len(costs), ratio.numerator, ratio.denominator
    total = [0, *itertools.accumulate(costs)]
    free, up_back, down_back, ups, downs = ([0] * (size + 1) for _ in range(5))
    for i in reversed(range(size)):
        free[i] = up_back[i] = down_back[i] = costs[i]
        if i + 1 < size:
            rise, fall = ups[i + 1] * up // down, downs[i + 1] * down // up
            up_back[i] += min(up_back[i + 1], fall)
            down_back[i] += min(down_back[i + 1], rise)
            free[i] += min(free[i + 1], rise, fall)
        ups[i], downs[i] = up_back[i], down_back[i]
        if (last := i + reach - 1) < size:
            waiting = total[last] - total[i] + free[last]
            ups[i], downs[i] = min(ups[i], waiting), min(downs[i], waiting)
    return free[0]


def least_levels(costs: Floats, reach: int, ratio: float) -> Levels:
    """Return levels L with the least Σ ratioᴸcᵢ, one row per problem, at most zero each.

    Proof: docs/proofs/limit.md, theorem 3.

    Examples
    --------
    >>> least_levels(np.array([[3.0], [-2.0], [1.0]]), 1, 2.0)
    array([[-1,  0, -1]])
    """
    sums = _sums(costs, reach, ratio)
    inverse = 1.0 / ratio
    size, count = costs.shape
    levels = np.zeros((size, count), dtype=np.int64)
    back = np.zeros(count, dtype=np.int64)  # the only step allowed: 1 up, -1 down, 0 for any
    wait = np.zeros(count, dtype=np.int64)  # places before the next step
    for i in range(1, size):
        stay = np.where(back == 0, sums.free[i], sums.up_back[i])
        stay = np.where(back > 0, sums.down_back[i], stay)
        rise = np.where(back < 0, np.inf, ratio * sums.up[i])
        fall = np.where(back > 0, np.inf, inverse * sums.down[i])
        ups = (wait == 0) & (rise < stay) & (rise <= fall)
        downs = (wait == 0) & (fall < stay) & ~ups
        levels[i] = levels[i - 1] + ups - downs
        stepped = ups | downs
        waits = stepped & (sums.waiting[i] < np.where(ups, sums.up_back[i], sums.down_back[i]))
        back = np.where(stepped, np.where(waits, 0, np.where(ups, -1, 1)), back)
        wait = np.where(stepped, np.where(waits, reach - 1, 0), np.maximum(wait - 1, 0))
    below: Levels = (levels - levels.max(axis=0)).T
    return below


def _sums(costs: Floats, reach: int, ratio: float) -> _Sums:
    """Return the least sums from each place on: docs/proofs/limit.md, theorem 3."""
    size = costs.shape[0]
    inverse = 1.0 / ratio
    waiting = _windows(costs, reach - 1)
    free, up_back, down_back, up, down = (np.empty_like(costs) for _ in range(5))
    sums = _Sums(free, up_back, down_back, up, down, waiting)
    for i in reversed(range(size)):
        if i + 1 < size:
            rise, fall = ratio * sums.up[i + 1], inverse * sums.down[i + 1]
            np.minimum(sums.up_back[i + 1], fall, out=sums.up_back[i])
            np.minimum(sums.down_back[i + 1], rise, out=sums.down_back[i])
            np.minimum(np.minimum(sums.free[i + 1], rise), fall, out=sums.free[i])
            for best in (sums.free, sums.up_back, sums.down_back):
                best[i] += costs[i]
        else:
            sums.free[i] = sums.up_back[i] = sums.down_back[i] = costs[i]
        if i + reach - 1 < size:  # after the wait, which is `reach` places long with this one
            sums.waiting[i] += sums.free[i + reach - 1]
        np.minimum(sums.up_back[i], sums.waiting[i], out=sums.up[i])
        np.minimum(sums.down_back[i], sums.waiting[i], out=sums.down[i])
    return sums


def _windows(costs: Floats, length: int) -> Floats:
    """Return the sums of `length` costs from each place on, infinite where they do not fit.

    Blocks are summed from both ends, so that nothing is subtracted and every error is relative to
    the costs in the window: docs/proofs/limit.md, theorem 4.
    """
    size = costs.shape[0]
    windows = np.full_like(costs, np.inf)
    if length == 0:
        windows[:] = 0.0
    if length == 0 or length >= size:  # a wait that ends beyond the last place is no wait
        return windows
    to_end, from_start = costs.copy(), costs.copy()
    for i in range(1, size):
        if i % length:
            from_start[i] += from_start[i - 1]
    for i in reversed(range(size - 1)):
        if (i + 1) % length:
            to_end[i] += to_end[i + 1]
    for i in range(size - length + 1):
        windows[i] = to_end[i] if i % length == 0 else to_end[i] + from_start[i + length - 1]
    return windows
