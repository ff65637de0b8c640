"""Distances from the lower bound are those of the exact numbers, within two units."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from inbounds.sampling.offset import Integers, doubles_hold, rational_offsets

BOXES = [
    (0.0, 2.0**60),
    (2.0**60, 2.0**60 + 2.0**20),
    (-(2.0**62), 2.0**62),
    (-(2.0**70), 2.0**70),
    (2.0**70, 2.0**71),
    (-(2.0**71), -(2.0**70)),
    (0.5, 2.0**58),
    (-(2.0**58), 0.25),
    (-1e-310, 2.0**60),
    (1e17, 3e17),
    (-(2.0**63), 2.0**63),
    (0.0, 2.0**64),
]
KINDS = [np.int64, np.uint64, ">i8", ">u8"]


def values_of(kind: Any, lower: float, upper: float) -> list[int]:
    """Integers of a type at its ends, at those of the box, and between."""
    limits = np.iinfo(kind)
    rng = np.random.default_rng(1)
    places = [int(limits.min), int(limits.max), 0, *(int(end) for end in (lower, upper))]
    places += [int(lower + (upper - lower) * fraction) for fraction in rng.random(20)]
    near = {place + move for place in places for move in (-257, -128, -1, 0, 1, 127, 300)}
    return sorted(n for n in near if int(limits.min) <= n <= int(limits.max))


def check(offsets: Any, numbers: list[Any], lower: float, upper: float) -> None:
    for offset, number in zip(offsets.tolist(), numbers, strict=True):
        inside = min(max(Fraction(number), Fraction(lower)), Fraction(upper))
        exact = inside - Fraction(lower)
        assert abs(Fraction(offset) - exact) <= 2 * exact / 2**53


@pytest.mark.parametrize("box", BOXES, ids=repr)
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_distances_of_integers_are_within_two_units(kind: Any, box: tuple[float, float]) -> None:
    numbers = values_of(kind, *box)
    values, bounds = np.array(numbers, kind), (np.array([box[0]]), np.array([box[1]]))
    integers = Integers.of(values.dtype, *bounds)
    check(integers.offsets(values, np.zeros(1, np.intp)), numbers, *box)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_every_coordinate_has_its_own_bounds(kind: Any) -> None:
    lower, upper = (np.array(ends) for ends in zip(*BOXES, strict=True))
    values = np.array(values_of(kind, 0.0, 2.0**62), kind)
    integers = Integers.of(values.dtype, lower, upper)
    for j, box in enumerate(BOXES):
        check(integers.offsets(values, np.full(values.size, j)), values.tolist(), *box)


@pytest.mark.parametrize("box", [*BOXES, (0.1, 0.7), (-1e300, 1e300)], ids=repr)
def test_distances_of_fractions_are_within_one_unit(box: tuple[float, float]) -> None:
    lower, upper = box
    numbers: list[Any] = [*values_of(np.int64, *box), Fraction(1, 3), 10**400, -(10**400), 0.3]
    numbers += [Fraction(lower) + Fraction(1, 7**k) for k in range(20)]
    values = np.array(numbers, dtype=object)
    bounds = np.full(values.size, lower), np.full(values.size, upper)
    check(rational_offsets(values, *bounds), numbers, *box)


@pytest.mark.parametrize(
    ("kind", "box", "held"),
    [
        (np.int64, (0.0, 2.0**53), True),
        (np.int64, (-(2.0**53), 0.0), True),
        (np.int64, (0.0, 2.0**53 + 2), False),
        (np.uint64, (-(2.0**53) - 2, 0.0), False),
        (np.int32, (0.0, 2.0**60), True),
        (np.float16, (0.0, 2.0**60), True),
        (np.float64, (0.0, 2.0**60), True),
        (object, (0.0, 1.0), False),
    ],
)
def test_type_and_box_alone_say_whether_doubles_hold_the_values(
    kind: Any, box: tuple[float, float], held: bool
) -> None:
    sides = np.array([0.0, box[0]]), np.array([1.0, box[1]])
    assert doubles_hold(np.dtype(kind), *sides) == held
