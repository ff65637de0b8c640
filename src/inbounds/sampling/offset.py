"""Distances of exact numbers from the lower bounds: subtracted first, then rounded to doubles.

The kernel needs to know a value's distance from the bound within 2 units in the last place, and
the oracle and `refine` read the exact number. So a value is never rounded before it is compared
with its neighbour: an integer near 2⁶⁰ has a double next to it that may be 128 away.

Proof: docs/proofs/sampler.md, "Numbers that are no doubles".
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from inbounds._types import Floats
from inbounds.sampling.grid import clamp

_EXACT = 2.0**53  # every integer up to here is a double


def doubles_hold(kind: np.dtype[Any], lower: Floats, upper: Floats) -> bool:
    """Whether all numbers of a type that lie in a box are doubles, whatever they are.

    Integers that do not lie in the box become doubles that do not, so clamping is exact, too.

    Examples
    --------
    >>> box = np.array([0.0]), np.array([2.0**60])
    >>> doubles_hold(np.dtype(np.float32), *box), doubles_hold(np.dtype(np.int64), *box)
    (True, False)
    """
    if kind.kind == "f":
        return kind.itemsize <= 8
    if kind.kind not in "iu":
        return False
    return kind.itemsize < 8 or bool(max(abs(lower).max(), abs(upper).max()) <= _EXACT)


@dataclass(frozen=True, slots=True, eq=False)
class Integers:
    """What is needed to subtract the lower bounds of a box from integers of one type.

    `first` and `last` are the ends of the integers of this type in the box, as near as they come;
    both are the one below where there are none.

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
    def of(cls, kind: np.dtype[Any], lower: Floats, upper: Floats) -> Self:
        """Prepare the coordinates of a box."""
        limits, native = np.iinfo(kind), kind.newbyteorder("=")
        smallest, largest = int(limits.min), int(limits.max)
        last = [min(max(math.floor(high), smallest), largest) for high in upper.tolist()]
        first = [min(max(math.ceil(low), smallest), largest) for low in lower.tolist()]
        first = [min(ends) for ends in zip(first, last, strict=True)]
        before = [
            max(0.0, float(i - Fraction(low))) for i, low in zip(first, lower.tolist(), strict=True)
        ]
        return cls(np.array(first, native), np.array(last, native), np.array(before), upper - lower)

    def offsets(self, values: NDArray[Any], where: NDArray[np.intp]) -> Floats:
        """Return the distances of values, moved into the box, at these coordinates.

        Differences are computed modulo 2⁶⁴, where they are exact, whatever the signs.
        """
        first, last, width = self.first[where], self.last[where], self.width[where]
        inside = np.clip(values.astype(first.dtype, copy=False), first, last)
        whole = inside.astype(np.uint64) - first.astype(np.uint64)
        offsets = whole.astype(np.float64) + self.before[where] * (values >= first)
        offsets = np.maximum(offsets, width * (values > last))  # no branch: time tells nothing
        inside_box: Floats = np.minimum(offsets, width)
        return inside_box


def rational_offsets(values: NDArray[Any], lower: Floats, upper: Floats) -> Floats:
    """Return the same for integers, fractions and doubles held as objects.

    Examples
    --------
    >>> rational_offsets(np.array([2**60 + 1], object), np.array([2.0**60]), np.array([2.0**61]))
    array([1.])
    """
    bounds = zip(values.tolist(), lower.tolist(), upper.tolist(), strict=True)
    return np.array(
        [float(Fraction(clamp(number, low, high)) - Fraction(low)) for number, low, high in bounds]
    )
