"""The cell of a value is the number of boundaries that are not above it, for all numbers."""

import math
from bisect import bisect_right
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from inbounds.calibration.levels import design
from inbounds.sampling.place import Places


def places_of(lower: float, upper: float, sensitivity: float, epsilon: float) -> Places:
    table = design(lower, upper, sensitivity, epsilon, "average").table
    return Places(table.lower, table.upper, table.boundaries[1:-1])


BOXES = [
    places_of(0.0, 1.0, 0.07, 2.0),
    places_of(0.1, 0.9, 0.05, 0.4),
    places_of(17.99, 41.565, 0.41, 0.5),
    places_of(1e9, 1e9 + 1e-3, 1e-4, 1.0),
    places_of(-3.0, 1e-3, 0.3, 1.0),
    places_of(0.0, 5e-324 * 2**20, 5e-324 * 2**16, 0.3),
    places_of(-1e300, 1e300, 1e299, 0.3),
    places_of(2.0**60, 2.0**60 + 2.0**20, 2.0**12, 0.3),
    Places(0.0, 1.0, (1e-9, 2e-9, 0.5)),  # too uneven for buckets
    Places(0.0, 1.0, ()),
]
each = pytest.mark.parametrize("places", BOXES, ids=range(len(BOXES)))


def hard_doubles(places: Places) -> list[float]:
    points = [places.lower, *places.inner, places.upper]
    near = [math.nextafter(p, side) for p in points for side in (-math.inf, math.inf)]
    middle = [a / 2 + b / 2 for a, b in pairwise(points)]
    outside = [-1.7e308, 1.7e308, 0.0, -0.0]
    return [*points, *near, *middle, *outside]


@each
def test_doubles_on_and_beside_every_boundary_are_placed_exactly(places: Places) -> None:
    values = [min(max(v, places.lower), places.upper) for v in hard_doubles(places)]
    expected = [bisect_right(places.inner, value) for value in values]
    assert places.clamped(np.array(hard_doubles(places))).tolist() == values
    assert places.of_doubles(np.array(values)).tolist() == expected
    assert [places.of_double(value) for value in values] == expected


@each
def test_random_doubles_are_placed_exactly(places: Places) -> None:
    share = np.random.default_rng(3).random(20_000)
    values = places.lower + share * (places.upper - places.lower)
    expected = np.searchsorted(np.array(places.inner), values, side="right")
    assert (places.of_doubles(values) == expected).all()


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.int8, ">i8"])
def test_integers_are_not_rounded(dtype: object) -> None:
    limits = np.iinfo(np.dtype(dtype))  # type: ignore[arg-type]
    inner = (-1e30, -0.5, 3.0, 100.5, 2.0**60, 2.0**60 + 256, 1e30)
    places = Places(-1e31, 1e31, inner)
    numbers = [
        int(n)
        for n in (limits.min, -1, 0, 2, 3, 4, 100, 101, 2**60 - 1, 2**60, 2**60 + 255, limits.max)
        if limits.min <= n <= limits.max
    ]
    found = places.of_integers(np.array(numbers, dtype))  # type: ignore[call-overload]
    assert found.tolist() == [bisect_right(inner, n) for n in numbers]
    assert [places.of_exact(n) for n in numbers] == found.tolist()


def test_fractions_and_long_integers_are_not_rounded() -> None:
    places = Places(0.0, 2.0**61, (0.1, 2.0**60))
    tenth = Fraction(1, 10)  # below the double 0.1
    numbers = [tenth, Fraction(0.1), 2**60 - 1, 2**60, 10**400, -(10**400), 0.1]
    assert places.of_objects(numbers).tolist() == [0, 1, 1, 2, 2, 0, 1]
    assert [places.of_exact(number) for number in numbers] == [0, 1, 1, 2, 2, 0, 1]
