"""In which cell a value lies, by exact comparisons with the boundaries alone.

A multiplication in doubles only says which boundary is worth a comparison. Since it is monotone, a
boundary that falls into another bucket lies on the same side of all values of this bucket. Where
there are no buckets, every value takes as many steps of a binary search.
"""

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inbounds._types import Floats
from inbounds.sampling.grid import Exact, clamp
from inbounds.sampling.offset import nudge
from inbounds.sampling.point import EXACT, PAD, floor_double, offset_from, padded_array

_MOST_BUCKETS = 1 << 16


@dataclass(frozen=True, eq=False)
class Places:
    """The boundaries between cells, inside a box.

    Proof that cells are found exactly: docs/proofs/optimal.md, theorem 9.

    Examples
    --------
    >>> places = Places(0.0, 1.0, (0.25, 0.5))
    >>> places.of_doubles(places.clamped(np.array([-3.0, 0.2, 0.25, 0.5, 7.0]))).tolist()
    [0, 0, 1, 2, 2]
    """

    lower: float
    upper: float
    inner: tuple[float, ...]

    def clamped(self, values: Floats) -> Floats:
        """Return doubles moved into the box, in a new array."""
        inside: Floats = np.maximum(values, self.lower)
        np.minimum(inside, self.upper, out=inside)
        return inside

    def of_doubles(self, inside: Floats) -> NDArray[np.intp]:
        """Return the number of boundaries that are not above each of some doubles in the box."""
        if self.buckets is None:
            return _not_above(np.array(self.inner), inside, np.inf)
        factor, before, boundary = self.buckets
        bucket = _bucket(inside, self.lower, self.nudge, factor)
        cells = before.take(bucket, mode="clip")
        cells += inside >= boundary.take(bucket, mode="clip")
        return cells

    def of_integers(self, values: NDArray[Any]) -> NDArray[np.intp]:
        """Return the same for an array of integers of any type, without rounding them."""
        limits = np.iinfo(values.dtype)
        ceilings = [math.ceil(boundary) for boundary in self.inner]
        always = bisect_right(ceilings, limits.min)
        never = bisect_right(ceilings, limits.max)
        native = values.astype(values.dtype.newbyteorder("="), copy=False)
        reached = np.array(ceilings[always:never], native.dtype)
        return _not_above(reached, native, limits.max) + always

    def of_objects(self, values: list[Any]) -> NDArray[np.intp]:
        """Return the same for integers, fractions and doubles, by exact comparisons."""
        inside = (clamp(number, self.lower, self.upper) for number in values)
        return np.array([bisect_right(self.inner, number) for number in inside], np.intp)

    @cached_property
    def of_double(self) -> Callable[[float], float]:
        """A function that returns what `of_doubles` does, for one double, in equal time.

        It computes with floats, and with integers that Python does not keep.
        """
        if self.buckets is None:
            return _count_not_above(self.inner)
        lower, nudged, factor = self.lower, self.nudge, self.buckets[0]
        before, boundary = (padded_array("d", side) for side in self.buckets[1:])

        def cell(inside: float) -> float:
            place = (inside - lower + nudged) * factor
            bucket = int(floor_double(place) + PAD)
            count: float = before[bucket] + (inside >= boundary[bucket])
            return count

        return cell

    def of_exact(self, number: Exact) -> float:
        """Return the same for one number of any type, which need not be in the box."""
        if type(number) is int:
            return self._of_integer(number)
        return bisect_right(self.inner, clamp(number, self.lower, self.upper))

    @cached_property
    def _of_integer(self) -> Callable[[int], float]:
        ceilings = [math.ceil(boundary) for boundary in self.inner]
        width = int(self.upper) - int(self.lower)
        if self.lower.is_integer() and self.upper.is_integer() and width <= EXACT:
            # Distances are doubles, which are found in more equal time than integers.
            offset, first = offset_from(self.lower, self.upper), int(self.lower)
            inner = tuple(float(ceiling - first) for ceiling in ceilings)
            find = Places(0.0, float(width), inner).of_double
            return lambda number: find(offset(number))
        count = _count_not_above(ceilings)
        first, last = (bisect_right(self.inner, bound) for bound in (self.lower, self.upper))
        return lambda number: min(max(count(number), first), last)

    @property
    def nudge(self) -> float:
        """What is added to distances from the lower bound."""
        return nudge(self.lower, self.upper)

    @cached_property
    def buckets(self) -> tuple[float, NDArray[np.intp], Floats] | None:
        """How to find a bucket, the boundaries before each, and the one in it or infinity."""
        inner, width = np.array(self.inner), self.upper - self.lower
        count = 2 * (inner.size + 1)
        while count <= _MOST_BUCKETS:
            factor = count / width
            if not math.isfinite(factor * width):
                return None
            of_inner = _bucket(inner, self.lower, self.nudge, factor)
            if (np.diff(of_inner) > 0).all():
                last = int(_bucket(np.array([self.upper]), self.lower, self.nudge, factor)[0])
                before = np.searchsorted(of_inner, np.arange(last + 1))
                boundary = np.full(last + 1, np.inf)
                boundary[of_inner] = inner
                return factor, before, boundary
            count *= 2
        return None


def _bucket(values: Floats, lower: float, nudged: float, factor: float) -> NDArray[np.intp]:
    """Return a number that does not decrease as the value grows, without subnormal numbers."""
    offsets = values - lower
    offsets += nudged
    offsets *= factor
    return offsets.astype(np.intp)


def _not_above(ends: NDArray[Any], values: NDArray[Any], largest: float) -> NDArray[np.intp]:
    """Return how many of the sorted `ends` are not above each value; no value exceeds `largest`.

    `numpy.searchsorted` takes fewer steps for small values; this takes as many for all.
    """
    steps = ends.size.bit_length()
    padded = np.full((1 << steps) - 1, largest, ends.dtype)
    padded[: ends.size] = ends
    counts = np.zeros(values.shape, np.intp)
    for step in range(steps - 1, -1, -1):
        middle = padded.take(counts + ((1 << step) - 1))
        counts += (middle <= values).astype(np.intp) << step
    return np.minimum(counts, ends.size)


def _count_not_above(ends: Sequence[float]) -> Callable[[float], float]:
    """Return a function that does the same for one number.

    A list of 2ⁿ - 1 numbers is bisected in n steps, whatever the number is.
    """
    size = len(ends)
    padding = (1 << size.bit_length()) - 1 - size
    padded = [*ends, *[*ends[-1:]] * padding]
    return lambda number: min(bisect_right(padded, number), size)
