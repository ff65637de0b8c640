"""Draws from level tables: exact rows, random rounding, and the distribution as a whole."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from inbounds.calibration.levels import design
from inbounds.calibration.risk import Risk
from inbounds.calibration.table import LevelTable
from inbounds.sampling import point
from inbounds.sampling.entropy import SYSTEM, SeededEntropy, Words
from inbounds.sampling.table import TableSampler, is_below
from inbounds.sampling.uniform import Uniform

FALSE_ALARM = 1e-6
SURE = ((1 << 128) - 1, 1), (1, (1 << 128) - 1)


def sampler(table: LevelTable) -> TableSampler:
    knots = table.kind == "knots"
    bounds = table.lower, table.upper, table.boundaries
    return TableSampler(*bounds, knots, table.rows, table.outputs)


def two_knots(lower: float, upper: float) -> TableSampler:
    """Whose output is the knot, but for 2⁻¹²⁸."""
    return TableSampler(lower, upper, (lower, upper), True, SURE, (lower, upper))


@dataclass
class Planned:
    """A source of planned words, then of planned bits."""

    planned: list[Words]
    bits_planned: list[int] = field(default_factory=list)

    def bits(self, count: int) -> int:
        return self.bits_planned.pop(0)

    def words(self, count: int) -> Words:
        return self.planned.pop(0)


@pytest.fixture(params=[0, point.FEW], ids=["arrays", "one by one"])
def code(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw few values as arrays, or one by one."""
    monkeypatch.setattr(point, "FEW", request.param)


def p_value(counts: Any, expected: Any) -> float:
    return float(chi2.sf(((counts - expected) ** 2 / expected).sum(), len(expected) - 1))


def chances(table: LevelTable, value: float) -> np.ndarray[Any, np.dtype[np.float64]]:
    rows = np.array(table.rows, dtype=object)
    i = int(np.searchsorted(table.boundaries[1:-1], value, side="right"))
    mixed = rows[i]
    if table.kind == "knots":
        low, high = map(Fraction, table.boundaries[i : i + 2])
        upward = (Fraction(value) - low) / (high - low)
        mixed = rows[i] * (1 - upward) + rows[i + 1] * upward
    return (mixed / (1 << 128)).astype(float)


@pytest.mark.parametrize("objective", ["average", "worst", "unbiased"])
@pytest.mark.parametrize(
    ("value", "single"), [(0.0, False), (0.37, False), (0.81, False), (0.37, True)]
)
def test_draws_have_the_table_s_distribution_and_no_other(
    objective: Any, value: float, single: bool
) -> None:
    """False alarms: 12 tests of 10⁻⁶ each. Neighbours' distributions must be told apart."""
    table = design(0.0, 1.0, 0.25, 1.0, objective).table
    values = np.full(200_000, value)
    source, entropy = sampler(table), SeededEntropy(int(100 * value))
    drawn = (
        point.one_by_one(source.draw_one, values, SYSTEM)
        if single
        else source.draw(values, entropy)
    )
    outputs, which = np.unique(table.outputs, return_inverse=True)
    places = np.searchsorted(outputs, drawn)
    assert (outputs[places] == drawn).all()
    counts = np.bincount(places, minlength=outputs.size)
    verdicts = []
    for assumed in (value, value + 0.12):
        expected = np.bincount(which, chances(table, assumed)) * drawn.size
        common = expected >= 20
        merged = np.append(expected[common], max(expected[~common].sum(), 1e-9))
        seen = np.append(counts[common], counts[~common].sum())
        kept = merged >= 5
        verdicts.append(p_value(seen[kept], merged[kept]))
    assert verdicts[0] > FALSE_ALARM / 10
    assert verdicts[1] < FALSE_ALARM


@pytest.mark.usefixtures("code")
def test_values_of_all_types_have_the_same_rows() -> None:
    certain = np.full((4, 4), 1, dtype=object) + np.diag([(1 << 128) - 4] * 4)
    rows = tuple(map(tuple, certain.tolist()))
    cells = TableSampler(0.0, 10.0, (0.0, 2.5, 3.0, 8.5, 10.0), False, rows, (1.0, 2.0, 3.0, 4.0))
    for kind in (np.float64, np.float32, np.int8, np.int64, np.uint64, object):
        drawn = cells.draw(np.array([0, 2, 3, 7, 9, 10, 99]).astype(kind), SYSTEM)
        assert drawn.tolist() == [1.0, 1.0, 3.0, 3.0, 4.0, 4.0, 4.0]


@pytest.mark.usefixtures("code")
def test_long_integers_are_compared_before_anything_is_rounded() -> None:
    rows = SURE
    cells = TableSampler(
        2.0**60, 2.0**61, (2.0**60, 2.0**60 + 256, 2.0**61), False, rows, (0.0, 1.0)
    )
    below, at = 2**60 + 255, 2**60 + 256
    for numbers in (np.array([below, at]), np.array([below, at], object)):
        assert cells.draw(numbers, SYSTEM).tolist() == [0.0, 1.0]
    third = Fraction(2**60 + 256) - Fraction(1, 3)
    assert cells.draw(np.array([third], object), SYSTEM).tolist() == [0.0]


def test_random_rounding_is_exact_where_doubles_cannot_tell(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The word agrees with θ = 1/3 to 64 bits, so further bits decide."""
    monkeypatch.setattr(point, "FEW", 0)
    first, other = np.array([(1 << 64) // 3], np.uint64), np.array([(1 << 62) + 5], np.uint64)
    for value in (np.array([1], object), np.array([1], np.int64), np.array([1.0])):
        for further, output in ((0x5555555555555554, 3.0), (0x5555555555555556, 0.0)):
            source = Planned([first.copy(), other.copy()], [further])
            assert two_knots(0.0, 3.0).draw(value, source).tolist() == [output]
            assert source.bits_planned == []


def test_random_rounding_has_the_value_as_its_mean() -> None:
    """A false alarm has a probability below 10⁻⁶; a mean that is off by 0.01 is noticed."""
    count = 400_000
    drawn = two_knots(-1.0, 3.0).draw(np.full(count, 0.7), SeededEntropy(4))
    spread = 4 * np.sqrt(0.425 * 0.575 / count)
    assert abs(drawn.mean() - 0.7) < 5 * spread < 0.02


@pytest.mark.parametrize("number", [-7, 0, 1, 9, -(2**2000), Fraction(-1, 3), 0.0, 7.0])
def test_one_number_outside_the_box_is_moved_into_it_before_its_knots_are_found(
    number: Any,
) -> None:
    """One box holds integers as doubles, the other does not; some knots are beyond it."""
    rows = tuple(tuple((1 << 128) - 4 if i == j else 1 for j in range(5)) for i in range(5))
    for lower, upper in ((0.0, 1.0), (0.0, 2.0**60)):
        ends = (-1.0, lower, upper / 2, upper, 2 * upper)
        sampler = TableSampler(lower, upper, ends, True, rows, (0.0, 1.0, 2.0, 3.0, 4.0))
        drawn = sampler.draw_one(number if number <= 0 else 2**61, SYSTEM)
        assert drawn == (1.0 if number <= 0 else 3.0)


def test_knots_outside_the_box_are_served() -> None:
    knots = TableSampler(0.0, 1.0, (-0.5, 1.5), True, SURE, (0.0, 1.0))
    drawn = knots.draw(np.full(100_000, -7.0), SeededEntropy(5))
    assert abs(drawn.mean() - 0.25) < 0.01


def test_blocks_and_threads_cover_every_value() -> None:
    table = design(0.0, 1.0, 1.0, 9.0, "average").table
    values = np.random.default_rng(6).random(2**19 + 7)
    drawn = sampler(table).draw(values, SYSTEM)
    assert np.abs(drawn - values).mean() < 0.04
    error = float(Risk(table).average)
    assert ((drawn - values) ** 2).mean() == pytest.approx(error, rel=0.1)


def test_a_seeded_source_repeats_its_draws_and_keeps_shapes() -> None:
    table = design(0.0, 1.0, 1.0, 1.0, "unbiased").table
    values = np.full((3, 5), 0.3)
    first, second = (sampler(table).draw(values, SeededEntropy(8)) for _ in range(2))
    assert (first == second).all()
    assert first.shape == (3, 5)
    assert sampler(table).draw(np.zeros((0, 2)), SYSTEM).shape == (0, 2)


def test_a_uniform_number_is_compared_as_soon_as_its_bits_allow() -> None:
    assert is_below(Uniform(SYSTEM, 0b0101, 4), Fraction(6, 16))
    assert not is_below(Uniform(SYSTEM, 0b0110, 4), Fraction(6, 16))
    assert not is_below(Uniform(Planned([], [0]), 0b0101, 4), Fraction(5, 16))
