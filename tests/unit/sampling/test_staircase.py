"""The staircase sampler: exact probabilities of the outputs of neighbours, and what it reads."""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx
from scipy import stats

from inbounds.sampling import blocks
from inbounds.sampling.entropy import SYSTEM, SeededEntropy
from inbounds.sampling.lattice import Lattice, Part
from inbounds.sampling.staircase import StaircaseSampler

FALSE_ALARM = 1e-6

TINY = Lattice(0.0, 1.0, 39.5, Part(3, 0), Part(3, 1))  # 40 cells, 9 of them in a period
PAIRS = [
    (0.0, 1.0, "0.25"),
    (0.1, 0.9, "0.05"),
    (17.99, 41.565, "0.41"),
    (1e9, 1e9 + 1e-3, "0.0001"),
    (-3.0, 4.0, "7"),
]


def tail(sampler: StaircaseSampler, first: int) -> arb:
    """The probability of noise of `first` cells or more, by whole periods and single cells."""
    period, gone = sampler.lattice.period, -(-arb(sampler.epsilon)).expm1()
    start = max(first, 0)
    upper = sum((sampler.noise.probability(start + i) for i in range(period)), arb(0)) / gone
    return upper + sum((sampler.noise.probability(n) for n in range(first, 0)), arb(0))


def outputs_of(sampler: StaircaseSampler, cell: int) -> list[arb]:
    """The exact probability of every index, for values in a cell."""
    count = sampler.lattice.count
    inner = [sampler.noise.probability(j - 1 - cell) for j in range(1, count)]
    return [tail(sampler, cell), *inner, tail(sampler, count - 1 - cell)]


@pytest.mark.parametrize("epsilon", [1e-6, 0.5, 2.0, 30.0])
def test_no_output_is_more_than_e_to_the_epsilon_times_as_likely_for_a_neighbour(
    epsilon: float,
) -> None:
    """All pairs of cells up to a period apart, and all indices, in ball arithmetic."""
    sampler = StaircaseSampler(TINY, epsilon)
    with ctx.workprec(400):
        rows = [outputs_of(sampler, cell) for cell in range(TINY.count)]
        most = arb(epsilon).exp() * (1 + arb(2) ** -300)
        for cell, row in enumerate(rows):
            assert sum(row, arb(0)).overlaps(arb(1))
            for other in rows[max(0, cell - TINY.period) : cell + TINY.period + 1]:
                assert all(p <= most * q for p, q in zip(row, other, strict=True))
        far = rows[TINY.period + 1]
        assert any(q > most * p for p, q in zip(rows[0], far, strict=True))


@pytest.mark.parametrize(("lower", "upper", "decimal"), PAIRS)
def test_decimals_at_the_sensitivity_are_hidden_in_every_output(
    lower: float, upper: float, decimal: str
) -> None:
    """The worst of all indices near the steps of both staircases, for pairs that were rounded."""
    change = Decimal(decimal)
    sampler = StaircaseSampler(Lattice.fit(lower, upper, float(change), 1.0), 1.0)
    lattice, noise = sampler.lattice, sampler.noise
    corners = [k * lattice.period + part for k in (0, 1) for part in (0, lattice.plateau.cells)]
    steps = [s * corner + i for corner in corners for s in (-1, 1) for i in (-2, -1, 0, 1, 2)]
    generator = np.random.default_rng(1)
    with ctx.workprec(200):
        most = arb(1).exp() * (1 + arb(2) ** -150)
        for fraction in generator.random(25).tolist():
            first = Decimal(lower) + (Decimal(upper) - Decimal(lower) - change) * Decimal(fraction)
            first = first.quantize(change / 100)
            one, other = (
                int(c) for c in lattice.cells(np.array([float(first), float(first + change)]))
            )
            for index in {cell + step for cell in (one, other) for step in steps}:
                p, q = noise.probability(index - one), noise.probability(index - other)
                assert p <= most * q
                assert q <= most * p


def test_frequencies_of_indices_are_the_exact_probabilities() -> None:
    sampler = StaircaseSampler(TINY, 1.0)
    for value in (0.0, 0.3, 1.0):
        drawn = sampler.draw(np.full(100_000, value), SeededEntropy(21))
        index = np.rint(np.minimum(drawn / sampler._spacing, TINY.count)).astype(int)
        cell = int(TINY.cells(np.array([value]))[0])
        expected = np.array([float(p) for p in outputs_of(sampler, cell)]) * drawn.size
        observed = np.bincount(index, minlength=TINY.count + 1)
        assert stats.chisquare(observed, expected).pvalue > FALSE_ALARM
        wrong = [float(p) for p in outputs_of(StaircaseSampler(TINY, 1.1), cell)]
        assert stats.chisquare(observed, np.array(wrong) * drawn.size).pvalue < FALSE_ALARM


@pytest.mark.parametrize("value", [0.0, 0.3, 1])
def test_frequencies_of_single_numbers_are_the_exact_probabilities(value: float) -> None:
    sampler, cell = StaircaseSampler(TINY, 1.0), int(TINY.cells(np.array([float(value)]))[0])
    drawn = np.array([sampler.draw_one(value, SYSTEM) for _ in range(50_000)])
    index = np.rint(np.minimum(drawn / sampler._spacing, TINY.count)).astype(int)
    observed = np.bincount(index, minlength=TINY.count + 1)
    for epsilon, is_right in ((1.0, True), (1.2, False)):
        ideal = outputs_of(StaircaseSampler(TINY, epsilon), cell)
        expected = np.array([float(p) for p in ideal]) * drawn.size
        assert (stats.chisquare(observed, expected).pvalue > FALSE_ALARM) == is_right


def test_outputs_are_in_the_box_and_both_bounds_are_reached() -> None:
    for lower, upper in ((0.0, 1.0), (-0.3, 0.7), (1e9, 1e9 + 1e-3), (0.1, 0.9), (-1e308, 7e307)):
        sampler = StaircaseSampler(Lattice.fit(lower, upper, upper - lower, 0.1), 0.1)
        drawn = sampler.draw(np.linspace(lower, upper, 5000), SYSTEM)
        assert drawn.min() == lower
        assert drawn.max() == upper


INTEGERS = np.array([2**60 + i for i in (-5, 0, 1, 700, 2**20 - 1, 2**20, 2**21)])


@pytest.mark.parametrize(
    "values",
    [
        INTEGERS,
        INTEGERS.astype(np.uint64),
        INTEGERS.astype(object),
        np.array([Fraction(int(i)) for i in INTEGERS]),
    ],
    ids=["int64", "uint64", "int", "Fraction"],
)
def test_numbers_that_no_double_holds_are_in_the_cells_of_their_distances(values: Any) -> None:
    lattice = Lattice.fit(2.0**60, 2.0**60 + 2.0**20, 4096.0, 1.0)
    cells = StaircaseSampler(lattice, 1.0)._reader(values.dtype)(values)
    distances = np.clip(INTEGERS - 2**60, 0, 2**20).astype(float)
    ideal = distances * lattice.per_unit
    assert np.abs(cells - ideal).max() <= 1 + 2.0**-50 * lattice.count
    assert cells.max() <= lattice.count - 1


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8, np.uint16, np.int64, bool])
def test_numbers_that_doubles_hold_are_in_the_cells_of_those_doubles(dtype: Any) -> None:
    lattice = Lattice.fit(0.0, 100.0, 3.0, 1.0)
    values = np.array([0, 1, 7, 99], dtype)
    cells = StaircaseSampler(lattice, 1.0)._reader(values.dtype)(values)
    assert np.array_equal(cells, lattice.cells(values.astype(float)))


@pytest.mark.parametrize(
    ("lower", "upper", "step"),
    [(0.0, 120.0, 1.0), (0.0, 1.0, 0.1), (0.0, 10.0, 3.0), (-1.0, 1.0, 0.7)],
)
def test_outputs_with_a_step_are_points_of_its_grid(
    lower: float, upper: float, step: float
) -> None:
    sampler = StaircaseSampler(Lattice.fit(lower, upper, step, 0.5), 0.5, step)
    grid = sampler.grid(0)
    points = grid.points(np.arange(grid.intervals + 1))
    drawn = sampler.draw(np.linspace(lower, upper, 2000), SYSTEM)
    assert np.isin(drawn, points).all()
    assert drawn.min() == points[0]
    assert drawn.max() == points[-1]
    assert drawn.dtype.kind == ("i" if grid.integral else "f")


def test_with_little_noise_values_on_steps_are_returned_as_they_are() -> None:
    sampler = StaircaseSampler(Lattice.fit(0.0, 120.0, 1.0, 25.0), 25.0, 1.0)
    values = np.arange(121)
    assert np.array_equal(sampler.draw(values, SeededEntropy(2)), values)


def test_a_seed_repeats_and_the_shape_is_kept() -> None:
    sampler = StaircaseSampler(Lattice.fit(0.0, 1.0, 0.1, 1.0), 1.0)
    values = np.random.default_rng(0).random((3, 5, 7))
    first, second = (sampler.draw(values, SeededEntropy(8)) for _ in range(2))
    assert first.shape == values.shape
    assert np.array_equal(first, second)
    assert sampler.draw(values[:0], SYSTEM).shape == (0, 5, 7)
    assert sampler.draw(np.array(0.5), SYSTEM).shape == ()


def test_large_jobs_in_threads_are_complete_and_not_repeated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(blocks, "_PER_THREAD", 1 << 12)
    monkeypatch.setattr(blocks, "cores", lambda: 3)
    sampler = StaircaseSampler(Lattice.fit(0.0, 1.0, 1e-3, 1.0), 1.0)
    drawn = sampler.draw(np.full(1 << 14, 0.5), SYSTEM)
    assert np.all((drawn > 0.4) & (drawn < 0.6))
    assert np.unique(drawn).size > drawn.size - 60  # 5 are expected


def test_the_words_drawn_do_not_depend_on_the_values() -> None:
    class Counting:
        def __init__(self) -> None:
            self.source, self.asked = SeededEntropy(5), [0]

        def bits(self, count: int) -> int:
            self.asked.append(count)
            return self.source.bits(count)

        def words(self, count: int) -> Any:
            self.asked.append(count)
            return self.source.words(count)

    sampler = StaircaseSampler(Lattice.fit(0.0, 1.0, 1.0, 1.0), 1.0)
    asked = []
    for value in (0.0, 5e-324, 0.5, 1.0, 1e300, -math.inf):
        entropy = Counting()
        sampler.draw(np.full(100_000, value), entropy)
        asked.append(entropy.asked)
    assert all(words == asked[0] for words in asked)
