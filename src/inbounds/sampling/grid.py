"""The output grid: the numbers that an output can be, and the boundaries of rounding to them.

A sampler works with indices 0..intervals and the exact boundaries between them (`cut`). Turning
an index into a number (`points`) is post-processing, so its rounding costs no privacy.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Self, overload

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray

from inbounds._types import Floats
from inbounds.numerics.ball import exact as _exact
from inbounds.numerics.doubles import simple_fraction

Points = NDArray[np.float64] | NDArray[np.int64]

Exact = float | Fraction
"""An exact value: a double, an integer of any length or a fraction."""

REFUSED = -1.0
"""Stands for the index of a trial that gives none."""

_FINENESS = 22  # bits of resolution below the scale (or below the width, if that is smaller)
_FINEST = 40  # most bits of resolution below the width, fewer than a double has
_EXACT_IN_A_DOUBLE = 2**53
_FEW = 1 << 14  # points whose numbers are kept in a table


@dataclass(frozen=True, slots=True)
class Grid:
    """Points ``lower + k * spacing`` for k in 0..intervals, on the interval [lower, upper].

    A real number is rounded to the nearest point, and to the last point if it lies above that. The
    grid depends on public parameters alone. If it depended on the private value, the set of
    possible outputs would reveal that value.

    Parameters
    ----------
    lower, upper
        Bounds of the interval.
    step
        The requested distance between outputs, or None.
    intervals
        The largest index.

    Examples
    --------
    >>> grid = Grid.fit(0.0, 10.0, 3.0, scale=2.0)
    >>> [grid.points(k) for k in range(grid.intervals + 1)]
    [0, 3, 6, 9]
    >>> grid.cut(0)  # halfway between 0 and 3
    3/2
    """

    lower: float
    upper: float
    step: float | None
    intervals: int

    @classmethod
    def fit(cls, lower: float, upper: float, step: float | None, scale: float) -> Self:
        """Return the grid with a `step`, or without one, a grid that is much finer than the noise.

        Parameters
        ----------
        lower, upper
            Bounds of the interval, with a finite and positive difference.
        step
            Distance between outputs, at most ``upper - lower``. A width within a relative 1e-9 (and
            a thousandth of a step) of a whole number of steps counts as that number: a width of 120
            has 1200 steps of 0.1, although the double nearest 0.1 is slightly larger.
        scale
            Scale of the noise. Without `step` there are 2**22 points per scale or per width,
            whichever is smaller, but never more than 2**40 in all.

        Examples
        --------
        >>> Grid.fit(0.0, 120.0, None, scale=30.0).intervals == 2**24
        True
        >>> Grid.fit(0.0, 120.0, 0.1, scale=30.0).intervals
        1200
        """
        if step is not None:
            return cls(lower, upper, step, _whole_steps(_ratio(lower, upper, step)))
        return cls(
            lower, upper, None, int(even_intervals(np.array(upper - lower), np.array(scale)))
        )

    @property
    def spacing(self) -> fmpq:
        """The exact distance between neighbouring points, reduced if they would exceed `upper`."""
        return _spacing(self.lower, self.upper, self.step, self.intervals)

    @property
    def reaches_upper(self) -> bool:
        """Whether the last point is `upper` itself."""
        if self.step is None:
            return True
        ratio = _ratio(self.lower, self.upper, self.step)
        return ratio <= self.intervals + _slack(self.intervals)

    @property
    def integral(self) -> bool:
        """Whether outputs are integers: `lower` and `step` are, and no point is out of bounds."""
        fractions = _common_fractions(self.lower, self.step, self.intervals)
        if fractions is None:
            return False
        first, stride, denominator = fractions
        return denominator == 1 and first + stride * self.intervals <= self.upper

    def cut(self, k: int) -> fmpq:
        """Return the exact boundary between outputs k and k + 1, for k in 0..intervals-1."""
        return _exact(self.lower) + self.spacing * fmpq(2 * k + 1, 2)

    def clamp(self, number: Exact) -> Exact:
        """Move a number into the interval, by exact comparisons."""
        return clamp(number, self.lower, self.upper)

    def nearest(self, position: arb) -> int | None:
        """Return the index that every number in a ball rounds to, or None if that is not certain.

        Positions are distances from `lower` in units of the spacing.
        """
        index = (position + 0.5).max(0).min(self.intervals).floor().unique_fmpz()
        return None if index is None else int(index)

    @overload
    def points(self, indices: int) -> float | int: ...
    @overload
    def points(self, indices: NDArray[np.integer[Any]]) -> Points: ...

    def points(self, indices: int | NDArray[np.integer[Any]]) -> float | int | Points:
        """Return the numbers at `indices`: integers if `integral`, or else doubles.

        They stay in [lower, upper] and do not decrease as the index grows. If `lower` and `step`
        are simple fractions, each point is the double nearest to the exact fraction.

        Examples
        --------
        >>> grid = Grid.fit(-1.0, 1.0, 0.1, scale=1.0)
        >>> grid.points(np.array([0, 7, 13, 20])).tolist()
        [-1.0, -0.3, 0.3, 1.0]
        """
        if isinstance(indices, int) and self.step is None:
            return even_number(indices, self.lower, self.upper, self.intervals)
        k = np.asarray(indices, dtype=np.int64)
        numbers = self._numbers(k.ravel()).reshape(k.shape)
        return numbers if isinstance(indices, np.ndarray) else numbers.item()

    def finder(self) -> Callable[[NDArray[np.integer[Any]]], Points]:
        """Return `points` for many calls with arrays, which looks numbers up if there are few.

        Examples
        --------
        >>> Grid.fit(0.0, 1.0, 0.1, scale=1.0).finder()(np.array([3, 0, 3])).tolist()
        [0.3, 0.0, 0.3]
        """
        if self.step is None:
            return self._multiplied_numbers
        if self.intervals >= _FEW:
            return self.points
        return self.points(np.arange(self.intervals + 1)).take

    def _numbers(self, k: NDArray[np.int64]) -> Points:
        fractions = _common_fractions(self.lower, self.step, self.intervals)
        if fractions is None:
            numbers = self._multiplied_numbers(k)
        else:
            first, stride, denominator = fractions
            numerators = first + stride * k
            if self.integral:
                return numerators
            numbers = numerators / denominator
        numbers = np.minimum(numbers, self.upper)
        if not self.reaches_upper:
            return numbers
        # A table lookup, because the time of a branch would depend on the output.
        least = np.array([-np.inf, self.upper])
        return np.asarray(np.maximum(numbers, least[(k == self.intervals).astype(np.intp)]))

    def _multiplied_numbers(self, k: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        if self.step is not None and self.spacing == _exact(self.step):
            return self.lower + self.step * k.astype(np.float64)
        return even_points(k.astype(np.float64), self.lower, self.upper, float(self.intervals))


def clamp(number: Exact, lower: float, upper: float) -> Exact:
    """Move a number into [lower, upper], by exact comparisons.

    Examples
    --------
    >>> clamp(2**60 + 1, 0.0, 2.0**61) == 2**60 + 1, clamp(-1, 0.0, 1.0)
    (True, 0.0)
    """
    return min(max(number, lower), upper)


def even_intervals(width: Floats, scale: Floats) -> Floats:
    """Return the number of intervals of a grid much finer than the noise, a power of two."""
    (top, top_exponent), (bottom, bottom_exponent) = np.frexp(width), np.frexp(scale)
    doublings = top_exponent - bottom_exponent + (top > bottom)  # log2(width / scale), rounded up
    result: Floats = np.ldexp(1.0, np.clip(_FINENESS + doublings, _FINENESS, _FINEST))
    return result


def even_number(index: float, lower: float, upper: float, intervals: float) -> float:
    """Return a point of a grid that divides its box evenly; the kernel compiles this function."""
    fraction = index / intervals
    number = min(fraction * (upper - lower) + lower, upper)
    return upper if fraction == 1.0 else number


def even_points(
    indices: Floats, lower: float | Floats, upper: float | Floats, intervals: float | Floats
) -> Floats:
    """Return `even_number` for arrays, without compiled code; overwrites `indices`.

    Examples
    --------
    >>> even_points(np.array([0.0, 3.0, 4.0]), 0.0, 1.0, 4.0).tolist()
    [0.0, 0.75, 1.0]
    """
    width = upper - lower
    rounds = lower + width != upper
    indices /= intervals
    last = indices == 1 if (rounds if isinstance(rounds, bool) else rounds.any()) else None
    indices *= width
    indices += lower
    if last is not None:  # otherwise no index gives more, because rounding keeps the order
        np.minimum(indices, upper, out=indices)
        np.copyto(indices, upper, where=last)
    return indices


@lru_cache(maxsize=1024)
def _spacing(lower: float, upper: float, step: float | None, intervals: int) -> fmpq:
    width = _exact(upper) - _exact(lower)
    if step is not None and _exact(step) * intervals <= width:
        return _exact(step)
    return width / intervals


def _ratio(lower: float, upper: float, step: float) -> fmpq:
    return (_exact(upper) - _exact(lower)) / _exact(step)


def _slack(whole: int) -> fmpq:
    """Return how far from `whole` a ratio may be and still count as that number."""
    return min(fmpq(whole, 10**9), fmpq(1, 1000))


def _whole_steps(ratio: fmpq) -> int:
    nearest = int((ratio + fmpq(1, 2)).floor())
    if abs(ratio - nearest) <= _slack(nearest):
        return nearest
    return max(1, int(ratio.floor()))


@lru_cache(maxsize=1024)
def _common_fractions(
    lower: float, step: float | None, intervals: int
) -> tuple[int, int, int] | None:
    """Return integers first, stride and d with lower = first/d and step = stride/d, or None.

    They must be small enough that every numerator on the grid is exact in a double. Then a division
    gives the double nearest to the fraction: 3/10 is 0.3, but 3 * 0.1 is 0.30000000000000004.
    """
    if step is None:
        return None
    start, apart = simple_fraction(lower), simple_fraction(step)
    if start is None or apart is None:
        return None
    denominator = math.lcm(start.denominator, apart.denominator)
    first, stride = int(start * denominator), int(apart * denominator)
    largest = max(denominator, abs(first), abs(first + intervals * stride))
    return (first, stride, denominator) if largest <= _EXACT_IN_A_DOUBLE else None
