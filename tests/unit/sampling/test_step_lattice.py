"""Steps as cells: how far apart the rounded values of neighbours are, by brute force."""

import math
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx
from scipy import stats

from inbounds.numerics.step_staircase import StepStaircase
from inbounds.sampling.entropy import SeededEntropy
from inbounds.sampling.lattice import Lattice
from inbounds.sampling.staircase import StaircaseSampler
from inbounds.sampling.step_lattice import StepLattice, lattice_for

FALSE_ALARM = 1e-6

# Bounds, step, sensitivity, and the period that it takes.
BOXES = [
    ("0", "1000", "1", "1", 1),
    ("0", "1000", "1", "3", 3),
    ("0", "1000", "1", "2.5", 3),
    ("0", "1", "0.1", "0.1", 1),
    ("0", "1", "0.1", "0.3", 3),
    ("0", "120", "0.1", "0.7", 7),
    ("-0.3", "0.7", "0.05", "0.15", 3),
    ("17.99", "41.57", "0.41", "0.82", 2),
    ("1000000", "1000010", "0.1", "0.1", 1),
    ("1000000000", "1000001000", "1", "1", 1),
    ("-7", "11.9", "3", "3", 1),
    ("0", "1", "1", "1", 1),
    ("0", "4000000", "1", "1", 1),
]
each_box = pytest.mark.parametrize(("lower", "upper", "step", "change", "period"), BOXES)


def fitted(lower: str, upper: str, step: str, change: str, epsilon: float = 1.0) -> StepLattice:
    numbers = (float(number) for number in (lower, upper, step, change))
    lattice = StepLattice.fit(*numbers, epsilon)
    assert lattice is not None
    return lattice


def decimal_pairs(
    lower: str, upper: str, step: str, change: str, count: int = 300
) -> Iterator[tuple[float, float]]:
    """Decimals that are exactly `change` apart, beside the middles between steps, as doubles."""
    first, apart, size = Decimal(lower), Decimal(change), Decimal(step)
    steps = int((Decimal(upper) - first) / size)
    generator = np.random.default_rng(5)
    for k in generator.integers(0, max(1, steps), count).tolist():
        middle = first + size * k + size / 2
        for exponent in (2, 9, 13, 15, 16, 17, 18, 19):
            off = Decimal(int(generator.integers(-20, 20))) * size * Decimal(10) ** -exponent
            for sign in (-1, 1):
                yield float(middle + off), float(middle + off + sign * apart)


def first_of(lattice: StepLattice, index: int) -> float:
    """The smallest double that is rounded to the step `index` or above."""
    low, high = lattice.lower, lattice.upper
    while (middle := low / 2 + high / 2) not in (low, high):
        reached = lattice.cells(np.array([middle]))[0] >= index
        low, high = (low, middle) if reached else (middle, high)
    return high


def threshold_pairs(lattice: StepLattice, change: float) -> Iterator[tuple[float, float]]:
    """Doubles on both sides of a threshold, and the doubles furthest from them."""
    exact = Fraction(math.nextafter(change, math.inf))
    exact += Fraction(math.ulp(max(abs(lattice.lower), abs(lattice.upper))))
    for index in np.random.default_rng(6).integers(1, lattice.count + 1, 40).tolist():
        near = first_of(lattice, index)
        for value in (math.nextafter(near, -math.inf), near):
            for target in (Fraction(value) + exact, Fraction(value) - exact):
                other = float(target)
                if abs(Fraction(other) - Fraction(value)) > exact:
                    other = math.nextafter(other, value)
                yield value, other


def furthest(lattice: StepLattice, pairs: Iterator[tuple[float, float]]) -> int:
    values = np.array(list(pairs))
    return int(np.abs(lattice.cells(values[:, 0]) - lattice.cells(values[:, 1])).max())


@each_box
def test_no_decimals_at_the_sensitivity_are_more_than_a_period_apart(
    lower: str, upper: str, step: str, change: str, period: int
) -> None:
    lattice = fitted(lower, upper, step, change)
    assert lattice.period == period
    assert lattice.covers(float(change))
    assert furthest(lattice, decimal_pairs(lower, upper, step, change)) <= period


@each_box
def test_no_doubles_beside_a_threshold_are_more_than_a_period_apart(
    lower: str, upper: str, step: str, change: str, period: int
) -> None:
    lattice = fitted(lower, upper, step, change)
    assert furthest(lattice, threshold_pairs(lattice, float(change))) <= period


@pytest.mark.parametrize("box", [BOXES[i] for i in (0, 1, 3, 4, 9)])
def test_the_middles_between_steps_would_lead_one_step_too_far(
    box: tuple[str, str, str, str, int],
) -> None:
    """The generators above find what they look for."""
    *numbers, period = box
    lattice = fitted(*numbers)
    spacing = lattice.spacing
    bare = replace(lattice, per_unit=1 / spacing, shift=spacing / 2)
    pairs = [*decimal_pairs(*numbers), *threshold_pairs(bare, float(numbers[3]))]
    assert furthest(bare, iter(pairs)) == period + 1
    assert not bare.covers(float(numbers[3]))


@each_box
def test_a_unit_more_per_length_is_not_covered_if_the_sensitivity_is_whole(
    lower: str, upper: str, step: str, change: str, period: int
) -> None:
    lattice = fitted(lower, upper, step, change)
    if float(Fraction(change) / Fraction(step)) == period:
        more = replace(lattice, per_unit=math.nextafter(lattice.per_unit, math.inf))
        assert not more.covers(float(change))


@each_box
def test_every_step_is_rounded_to_itself(
    lower: str, upper: str, step: str, change: str, period: int
) -> None:
    lattice = fitted(lower, upper, step, change)
    index = np.unique(np.linspace(0, lattice.count, 20_001).astype(np.int64))
    assert np.array_equal(lattice.cells(np.asarray(lattice.grid.points(index), float)), index)
    half = 0.499 * float(step)
    if lattice.count < 10**6:  # with many steps, thresholds move by up to a quarter of a step
        for off in (-half, half):
            near = lattice.cells(lattice.lower + index * float(step) + off)
            assert np.array_equal(near[1:-1], index[1:-1])


def test_a_box_that_is_nearly_a_whole_number_of_steps_wide_keeps_its_steps() -> None:
    for upper in (119.9999999, 120.0000001):
        lattice = StepLattice.fit(0.0, upper, 0.1, 0.1, 1.0)
        assert lattice is not None
        points = np.asarray(lattice.grid.points(np.arange(lattice.count + 1)), float)
        assert lattice.cells(points).tolist() == list(range(1201))
        assert lattice.period == 1


def test_steps_that_doubles_hardly_hold_are_left_to_cells() -> None:
    assert StepLattice.fit(2.0**53, 2.0**53 + 1000, 1.0, 1.0, 1.0) is None
    assert StepLattice.fit(0.0, 2.0**42, 1.0, 1.0, 1.0) is None
    assert isinstance(lattice_for(2.0**53, 2.0**53 + 1000, 1.0, 1.0, 1.0), Lattice)
    wide = StepLattice.fit(0.0, 2.0**39, 1.0, 1.0, 1.0)
    assert wide is not None
    assert wide.period == 2  # thresholds cannot be further apart than steps as often
    assert isinstance(lattice_for(0.0, 2.0**39, 1.0, 1.0, 1.0), Lattice)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 8.0])
def test_noise_is_in_whole_steps_if_that_has_the_lower_variance(epsilon: float) -> None:
    kinds = {
        change: type(lattice_for(0.0, 1000.0, 1.0, change, epsilon))
        for change in (0.01, 0.3, 1.0, 2.0, 10.0, 100.0)
    }
    assert kinds == {0.01: Lattice, 0.3: Lattice} | dict.fromkeys((1, 2, 10, 100), StepLattice)
    chosen, cells = (
        StaircaseSampler(lattice, epsilon, 1.0)
        for change in (2.4,)
        for lattice in (
            lattice_for(0.0, 1000.0, 1.0, change, epsilon),
            Lattice.fit(0.0, 1000.0, change, epsilon),
        )
    )
    squares = [
        ((sampler.draw(np.full(40_000, 500), SeededEntropy(1)) - 500.0) ** 2)
        for sampler in (chosen, cells)
    ]
    scatter = 6 * float(np.hypot(*(s.std() for s in squares))) / 200  # a false alarm in 10⁹
    assert squares[0].mean() <= squares[1].mean() + scatter


def rows_of(lattice: StepLattice, epsilon: float) -> list[list[arb]]:
    """The exact probability of every step as an output, for every step as a value."""
    noise, last = StaircaseSampler(lattice, epsilon).noise, lattice.count
    gone = -(-arb(epsilon)).expm1()

    def tail(steps: int) -> arb:
        start = max(steps, 1)
        upper = sum((noise.probability(start + i - 1) for i in range(lattice.period)), arb(0))
        return upper / gone + sum((noise.probability(n - 1) for n in range(steps, 1)), arb(0))

    return [
        [tail(k), *(noise.probability(j - k - 1) for j in range(1, last)), tail(last - k)]
        for k in range(last + 1)
    ]


@pytest.mark.parametrize("epsilon", [1e-6, 0.5, 2.0, 30.0])
@pytest.mark.parametrize("change", ["1", "2", "5", "12"])
def test_no_output_is_more_than_e_to_the_epsilon_times_as_likely_for_a_neighbour(
    epsilon: float, change: str
) -> None:
    lattice = fitted("0", "12", "1", change, epsilon)
    with ctx.workprec(300):
        rows = rows_of(lattice, epsilon)
        most, distance = arb(epsilon).exp() * (1 + arb(2) ** -200), arb(0)
        for k, row in enumerate(rows):
            assert sum(row, arb(0)).overlaps(arb(1))
            for other in rows[max(0, k - lattice.period) : k + lattice.period + 1]:
                assert all(p <= most * q for p, q in zip(row, other, strict=True))
                gain = sum(((p - q).max(0) for p, q in zip(row, other, strict=True)), arb(0))
                distance = distance.max(gain)
        stated = StepStaircase(epsilon, lattice.period, lattice.half).total_variation
        assert float(distance) == pytest.approx(stated, rel=1e-12)  # reached, and no more
        if lattice.period < lattice.count:
            far = rows[lattice.period + 1]
            assert any(q > most * p for p, q in zip(rows[0], far, strict=True))


@pytest.mark.parametrize("change", [1.0, 4.0, 9.0])
@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_frequencies_of_outputs_are_the_exact_probabilities(change: float, epsilon: float) -> None:
    lattice = StepLattice.fit(0.0, 15.0, 1.0, change, epsilon)
    assert lattice is not None
    sampler = StaircaseSampler(lattice, epsilon, 1.0)
    rows, wrong = rows_of(lattice, epsilon), rows_of(lattice, 1.15 * epsilon)
    for k in (0, 6, 15):
        drawn = sampler.draw(np.full(100_000, k), SeededEntropy(4))
        observed = np.bincount(drawn, minlength=16)
        right, other = (
            stats.chisquare(observed, np.array([float(p) for p in row[k]]) * drawn.size).pvalue
            for row in (rows, wrong)
        )
        assert right > FALSE_ALARM
        assert other < FALSE_ALARM


@pytest.mark.parametrize("kind", [np.int64, np.uint64, object, Fraction])
def test_numbers_that_no_double_holds_are_rounded_by_their_exact_distances(kind: Any) -> None:
    base, step = 2**56, 2.0**10
    lattice = StepLattice.fit(float(base), float(base + 2**20), step, step, 1.0)
    assert lattice is not None
    offsets = [0, 1, 511, 513, 1023, 1024, 2**20 - 511, 2**20]
    values = np.array([kind(base + i) if kind is Fraction else base + i for i in offsets], object)
    values = values if kind in (object, Fraction) else values.astype(kind)
    steps = StaircaseSampler(lattice, 1.0)._reader(values.dtype)(values)
    assert steps.tolist() == [0, 0, 0, 1, 1, 1, 1024, 1024]


@pytest.mark.parametrize("bound", [6e307, 6.1e307, 7e307, 8.5e307, 8.98e307])
@pytest.mark.parametrize("steps", [1, 2, 3, 4, 5, 7, 20, 1000])
def test_no_cell_of_the_widest_boxes_overflows(bound: float, steps: int) -> None:
    """The distance of the upper bound and half a step together may be beyond all doubles."""
    step = 2 * bound / steps
    lattice = lattice_for(-bound, bound, step, step, 1.0)
    assert lattice.covers(step)
    values = np.linspace(-1.0, 1.0, 4 * steps + 1) * bound
    cells = lattice.cells(np.append(values, [1.7e308])).tolist()
    assert cells == sorted(cells)
    assert cells[0] == 0
    assert cells[-1] == cells[-2] <= lattice.count
    if isinstance(lattice, StepLattice):
        assert cells[-1] == lattice.count
        assert not replace(lattice, shift=2e307 + bound).covers(step)
    sampler = StaircaseSampler(lattice, 60.0, step)  # hardly any noise
    outputs = sampler.draw(np.repeat(values, 20), SeededEntropy(1)).reshape(-1, 20)
    ones = [sampler.draw_one(value, SeededEntropy(i)) for i, value in enumerate(values.tolist())]
    for drawn in (outputs.min(axis=1), outputs.max(axis=1), np.array(ones)):
        assert np.abs(drawn / step - values / step).max() <= 1.01
