"""Distances of exact numbers from the lower bounds: subtracted first, then rounded to doubles.

The kernel needs a value's distance from the bound within 2 units in the last place, and `reference`
and `refine` read the exact number. So a value is never rounded before the bound is subtracted: an
integer near 2⁶⁰ may be 128 away from the nearest double.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from inbounds._types import Floats
from inbounds.sampling.grid import clamp

_EXACT = 2.0**53  # a double represents every integer up to this one exactly


def nudge(lower: float, upper: float) -> float:
    """Return what is added to distances from a bound before they are multiplied.

    So neither they nor the products are subnormal numbers, on which processors are slower, and for
    which NumPy may warn of underflow: that would tell which values are at the bound.

    Examples
    --------
    >>> nudge(0.0, 1.0) == 2.0**-940, nudge(0.0, 2.0**1000) == 2.0**40
    (True, True)
    """
    return max(2.0**-940, (upper - lower) * 2.0**-960)


def doubles_hold(dtype: np.dtype[Any], lower: Floats, upper: Floats) -> bool:
    """Tell whether doubles represent all numbers of a type that lie in a box exactly.

    Integers outside the box become doubles outside the box, so clamping is exact as well.
    Proof: docs/proofs/sampler.md, theorem 2.

    Examples
    --------
    >>> box = np.array([0.0]), np.array([2.0**60])
    >>> doubles_hold(np.dtype(np.float32), *box), doubles_hold(np.dtype(np.int64), *box)
    (True, False)
    """
    if dtype.kind == "f":
        return dtype.itemsize <= 8
    if dtype.kind not in "iu":
        return False
    return dtype.itemsize < 8 or bool(max(abs(lower).max(), abs(upper).max()) <= _EXACT)


@dataclass(frozen=True, slots=True, eq=False)
class Integers:
    """Subtracts the lower bounds of a box from integers of one type.

    `first` and `last` are the smallest and largest integer of the type in the box. If there is
    none, both are the nearest one below the upper bound. Distances are within 2 units of the exact
    ones. Proof: docs/proofs/sampler.md, theorem 2.

    Examples
    --------
    >>> box = np.array([2.0**60]), np.array([2.0**60 + 2.0**20])
    >>> integers = Integers.of(np.dtype(np.int64), *box)
    >>> integers.offsets(np.array([5, 2**60 + 1, 2**62]), np.zeros(3, int)).tolist()
    [0.0, 1.0, 1048576.0]
    """

    first: NDArray[Any]
    last: NDArray[Any]
    before: Floats
    width: Floats

    @classmethod
    def of(cls, dtype: np.dtype[Any], lower: Floats, upper: Floats) -> Self:
        """Prepare the coordinates of a box."""
        limits, native = np.iinfo(dtype), dtype.newbyteorder("=")
        smallest, largest = int(limits.min), int(limits.max)
        last = [min(max(math.floor(high), smallest), largest) for high in upper.tolist()]
        first = [min(max(math.ceil(low), smallest), largest) for low in lower.tolist()]
        first = [min(ends) for ends in zip(first, last, strict=True)]
        before = [
            max(0.0, float(i - Fraction(low))) for i, low in zip(first, lower.tolist(), strict=True)
        ]
        return cls(np.array(first, native), np.array(last, native), np.array(before), upper - lower)

    def offsets(self, values: NDArray[Any], where: NDArray[np.intp]) -> Floats:
        """Return the distances of values, clamped to the box, at the given coordinates.

        Differences are computed modulo 2⁶⁴, where they are exact for all signs.
        """
        first, last, width = self.first[where], self.last[where], self.width[where]
        inside = np.clip(values.astype(first.dtype, copy=False), first, last)
        whole = inside.astype(np.uint64) - first.astype(np.uint64)
        offsets = whole.astype(np.float64) + self.before[where] * (values >= first)
        offsets = np.maximum(offsets, width * (values > last))  # no branch, so time is constant
        inside_box: Floats = np.minimum(offsets, width)
        return inside_box


def interval_doubles(
    dtype: np.dtype[Any], lower: float, upper: float
) -> tuple[Callable[[NDArray[Any]], Floats], float, float]:
    """Return a function that reads values of a type as doubles, and the bounds of these.

    They are the values themselves, not yet moved into [lower, upper], if doubles represent them
    exactly. Otherwise they are distances from `lower`, and the bounds are 0 and the width.

    Examples
    --------
    >>> read, low, high = interval_doubles(np.dtype(np.int64), 2.0**60, 2.0**61)
    >>> read(np.array([2**60 + 1])).tolist(), low
    ([1.0], 0.0)
    """
    bounds = np.array([lower]), np.array([upper])
    if doubles_hold(dtype, *bounds):
        return as_doubles, lower, upper
    if dtype.kind in "iu":
        integers, first = Integers.of(dtype, *bounds), np.zeros(1, np.intp)
        return lambda values: integers.offsets(values, first), 0.0, upper - lower

    def read(values: NDArray[Any]) -> Floats:
        return rational_offsets(values, *(np.repeat(bound, values.size) for bound in bounds))

    return read, 0.0, upper - lower


def as_doubles(values: NDArray[Any]) -> Floats:
    """Return values as a writable C-contiguous array of doubles, which compiled code needs."""
    if values.dtype == np.float64 and values.flags.carray:
        return values
    return np.require(values, np.float64, ["C", "W"])


def rational_offsets(values: NDArray[Any], lower: Floats, upper: Floats) -> Floats:
    """Return the distances of integers, fractions and doubles in an array of objects.

    Each is rounded once. Proof: docs/proofs/sampler.md, theorem 2.

    Examples
    --------
    >>> rational_offsets(np.array([2**60 + 1], object), np.array([2.0**60]), np.array([2.0**61]))
    array([1.])
    """
    bounds = zip(values.tolist(), lower.tolist(), upper.tolist(), strict=True)
    return np.array(
        [float(Fraction(clamp(number, low, high)) - Fraction(low)) for number, low, high in bounds]
    )
