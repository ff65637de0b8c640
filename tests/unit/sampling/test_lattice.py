"""Cells of neighbours are at most one period apart, whatever is rounded on the way."""

import math
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from inbounds.numerics.staircase import best_plateau
from inbounds.sampling.lattice import Lattice, Part, reach, shifted_offsets

BOXES = [
    (0.0, 1.0, "0.02"),
    (0.1, 0.9, "0.05"),
    (17.99, 41.565, "0.41"),
    (-1.0, 3.0, "0.3"),
    (1e9, 1e9 + 1e-3, "0.0001"),
    (-7.0, 1e6, "0.7"),
    (0.0, 1.0, "1e-9"),
    (1e-200, 1e-199, "1e-201"),
    (-1e300, 1e300, "1e298"),
]
each_box = pytest.mark.parametrize(("lower", "upper", "decimal"), BOXES)
EPSILONS = (0.1, 3.0, 30.0)


def cell(lattice: Lattice, value: float) -> int:
    return int(lattice.cells(np.array([value]))[0])


def first_of(lattice: Lattice, index: int) -> float:
    """The smallest double in cell `index` or above, by bisection over doubles."""
    low, high = lattice.lower, lattice.upper
    while (middle := low / 2 + high / 2) not in (low, high):
        low, high = (low, middle) if cell(lattice, middle) >= index else (middle, high)
    return high


def decimal_pairs(
    lower: float, upper: float, change: Decimal, count: int
) -> Iterator[tuple[float, float]]:
    """Decimals that are exactly `change` apart, rounded to doubles, all over the box."""
    first, width = Decimal(lower), Decimal(upper) - Decimal(lower)
    quantum = change / 1000
    generator = np.random.default_rng(5)
    for fraction in generator.random(count):
        decimal = ((first + width * Decimal(fraction)) / quantum).to_integral_value() * quantum
        yield float(decimal), float(decimal + change)


def threshold_pairs(lattice: Lattice, change: float, count: int) -> Iterator[tuple[float, float]]:
    """Doubles on both sides of the first number of a cell, and the doubles furthest from them."""
    generator = np.random.default_rng(6)
    exact = Fraction(math.nextafter(change, math.inf))
    exact += Fraction(math.ulp(max(abs(lattice.lower), abs(lattice.upper))))
    for index in generator.integers(1, max(2, lattice.count), count).tolist():
        near = first_of(lattice, index)
        for value in (math.nextafter(near, -math.inf), near):
            for target in (Fraction(value) + exact, Fraction(value) - exact):
                other = float(target)
                if abs(Fraction(other) - Fraction(value)) > exact:
                    other = math.nextafter(other, value)
                yield value, other


def furthest(lattice: Lattice, pairs: Iterator[tuple[float, float]]) -> int:
    """The largest difference of cells of any pair."""
    values = np.array(list(pairs))
    return int(np.abs(lattice.cells(values[:, 0]) - lattice.cells(values[:, 1])).max())


@each_box
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_no_decimals_at_the_sensitivity_are_more_than_a_period_apart(
    lower: float, upper: float, decimal: str, epsilon: float
) -> None:
    lattice = Lattice.fit(lower, upper, float(decimal), epsilon)
    pairs = decimal_pairs(lower, upper, Decimal(decimal), 2000)
    assert furthest(lattice, pairs) <= lattice.period


@each_box
def test_no_doubles_beside_a_threshold_are_more_than_a_period_apart(
    lower: float, upper: float, decimal: str
) -> None:
    lattice = Lattice.fit(lower, upper, float(decimal), 1.0)
    assert furthest(lattice, threshold_pairs(lattice, float(decimal), 60)) <= lattice.period


@pytest.mark.parametrize(("lower", "upper", "decimal"), BOXES[:5])
def test_without_the_margin_such_pairs_are_found(lower: float, upper: float, decimal: str) -> None:
    lattice = Lattice.fit(lower, upper, float(decimal), 1.0)
    bare = replace(lattice, per_unit=lattice.period / float(decimal))
    pairs = [*decimal_pairs(lower, upper, Decimal(decimal), 2000)]
    pairs += threshold_pairs(bare, float(decimal), 60)
    assert furthest(bare, iter(pairs)) > bare.period
    assert not bare.covers(float(decimal))


def test_arithmetic_cells_of_one_period_each_go_wrong_where_ours_do_not() -> None:
    values = np.array([0.45, 0.5])
    assert np.diff(np.floor((values - 0.1) / 0.05)).tolist() == [2.0]
    lattice = Lattice.fit(0.1, 0.9, 0.05, 1.0)
    assert int(np.diff(lattice.cells(values))[0]) <= lattice.period


def test_pairs_across_a_power_of_two_are_at_most_a_period_apart() -> None:
    for exponent in range(-3, 4):
        corner = 2.0**exponent
        lattice = Lattice.fit(0.0, 10.0, 0.1, 2.0)
        pairs = [
            (
                float(Decimal(corner) - Decimal(i) / 1000),
                float(Decimal(corner) + Decimal(100 - i) / 1000),
            )
            for i in range(101)
        ]
        assert furthest(lattice, iter(pairs)) <= lattice.period


@each_box
def test_the_cover_is_checked_in_integers_and_one_unit_more_is_refused(
    lower: float, upper: float, decimal: str
) -> None:
    for epsilon in EPSILONS:
        lattice = Lattice.fit(lower, upper, float(decimal), epsilon)
        assert lattice.covers(float(decimal))
        more = replace(lattice, per_unit=math.nextafter(lattice.per_unit, math.inf))
        assert not more.covers(float(decimal))
        assert lattice.length == pytest.approx(
            float(reach(lower, upper, float(decimal))), rel=1e-14
        )


@pytest.mark.parametrize("change", [1.0, 1.5, 1e300])
def test_a_sensitivity_of_the_width_or_more_makes_all_values_neighbours(change: float) -> None:
    lattice = Lattice.fit(-0.3, 0.7, change, 1.0)
    assert lattice.count - 1 <= lattice.period
    assert lattice.length == pytest.approx(1.0, rel=1e-14)


def test_cells_do_not_decrease_and_values_outside_count_as_bounds() -> None:
    lattice = Lattice.fit(-2.0, 5.0, 0.25, 1.0)
    values = np.sort(np.random.default_rng(0).uniform(-4, 7, 10_000))
    cells = lattice.cells(values)
    assert (np.diff(cells) >= 0).all()
    assert cells[0] == cell(lattice, -2.0) == 0
    assert cells[-1] == cell(lattice, 5.0) == lattice.count - 1


def test_no_subnormal_number_is_multiplied() -> None:
    lattice = Lattice.fit(0.0, 1.0, 0.1, 1.0)
    tiny = np.array([0.0, 5e-324, 1e-310, 2.0**-1022])
    assert lattice.cells(tiny).tolist() == [0] * 4
    for lower in (0.0, -5e-324, 1e-310, -1e-308):
        moved = Lattice.fit(lower, 1.0, 0.1, 1.0)
        assert (shifted_offsets(tiny, lower, 1.0, moved.shift) >= np.finfo(float).tiny).all()


@pytest.mark.parametrize("epsilon", [1e-6, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0])
def test_the_plateau_is_near_the_best_and_has_many_cells(epsilon: float) -> None:
    lattice = Lattice.fit(0.0, 1.0, 0.02, epsilon)
    assert lattice.gamma == pytest.approx(best_plateau(epsilon), rel=4e-3)
    assert lattice.plateau.cells >= 2**21
    assert lattice.plateau.cells <= lattice.lower_step.cells
    assert lattice.plateau.count + lattice.lower_step.count <= 1023


def test_a_box_of_any_size_has_at_most_two_to_the_57_cells() -> None:
    for change in (1e-18, 1e-15, 1e-9, 1.0):
        for epsilon in (1e-100, 1.0, 200.0, 1e100):
            lattice = Lattice.fit(0.0, 1.0, change, epsilon)
            assert lattice.count <= 2**57
            assert lattice.period < 2**58
            assert lattice.covers(change)


def test_a_part_is_a_whole_number_of_blocks() -> None:
    for cells in (1.0, 2.5, 100.0, 1e6, 3e15):
        part = Part.near(cells)
        assert part.cells == part.count << part.bits
        assert abs(part.cells - cells) <= max(0.5, cells / 250)
    assert Part.near(3.0, least=1000).cells >= 1000
