"""Staircase noise in cells: the factor of a step, and exact frequencies by every route."""

import numpy as np
import pytest
from flint import arb, ctx
from scipy import stats

from inbounds.sampling import staircase_noise
from inbounds.sampling.entropy import SYSTEM, SeededEntropy
from inbounds.sampling.lattice import Lattice, Part
from inbounds.sampling.staircase_noise import StaircaseNoise

FALSE_ALARM = 1e-6
DRAWS = 200_000


def tiny(plateau: Part, lower_step: Part, cells: int) -> Lattice:
    """A lattice of so few cells that each can be counted."""
    return Lattice(0.0, 1.0, float(cells) - 0.5, plateau, lower_step)


SMALL = tiny(Part(3, 1), Part(5, 2), 200)


def p_value(noise: StaircaseNoise, cells: np.ndarray, epsilon: float, reach: int) -> float:
    """The chi-square p-value of noise between -reach and reach, and beyond on either side."""
    ideal = StaircaseNoise(noise.lattice, epsilon)
    inner = [float(ideal.probability(n)) for n in range(-reach, reach)]
    beyond = (1 - sum(inner)) / 2
    expected = np.array([beyond, *inner, beyond]) * cells.size
    observed = np.bincount(np.clip(cells, -reach - 1, reach) + reach + 1, minlength=2 * reach + 2)
    return float(stats.chisquare(observed, expected).pvalue)


@pytest.mark.parametrize("epsilon", [1e-6, 0.3, 1.0, 7.0, 50.0])
def test_noise_up_to_a_period_apart_differs_by_the_factor_or_not_at_all(epsilon: float) -> None:
    noise, period = StaircaseNoise(SMALL, epsilon), SMALL.period
    with ctx.workprec(300):
        chances = [noise.probability(n) for n in range(-2 * period, 2 * period)]
        most = arb(epsilon).exp()
        ratios = [
            (one / other)
            for i, one in enumerate(chances)
            for other in chances[max(0, i - period) : i + period + 1]
        ]
        assert all(any(r.overlaps(x) for x in (most, arb(1), 1 / most)) for r in ratios)
        assert chances[0] < chances[period] * most * (1 + arb(2) ** -200)


def test_one_cell_more_than_a_period_costs_twice_the_epsilon() -> None:
    """The check above would notice a period that is too short."""
    noise = StaircaseNoise(SMALL, 1.0)
    edge = SMALL.plateau.cells - 1
    ratio = noise.probability(edge) / noise.probability(edge + SMALL.period + 1)
    assert float(ratio.log()) == pytest.approx(2.0, rel=1e-12)


def test_probabilities_add_up_to_one() -> None:
    for epsilon in (0.5, 3.0):
        noise = StaircaseNoise(SMALL, epsilon)
        periods = int(60 / epsilon) * SMALL.period
        total = sum(float(noise.probability(n)) for n in range(-periods, periods))
        assert total == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0])
def test_frequencies_are_the_probabilities(epsilon: float) -> None:
    noise = StaircaseNoise(SMALL, epsilon)
    cells = noise.draw(DRAWS, SeededEntropy(11))
    assert p_value(noise, cells, epsilon, 30) > FALSE_ALARM
    assert p_value(noise, cells, epsilon * 1.1, 30) < FALSE_ALARM


def test_frequencies_are_the_same_if_most_draws_are_left_over() -> None:
    noise = StaircaseNoise(SMALL, 1.0, kept=3)
    cells = noise.draw(3000, SeededEntropy(12))
    assert noise.blocks.table.integers[-1] > 2**31
    assert p_value(noise, cells, 1.0, 12) > FALSE_ALARM
    assert p_value(noise, cells, 1.6, 12) < FALSE_ALARM


@pytest.mark.parametrize(("base", "rare", "digits"), [(3, 1e9, 4), (3, 0.0, 1), (5, 2.0, 2)])
def test_frequencies_are_the_same_for_any_number_of_digits(
    monkeypatch: pytest.MonkeyPatch, base: int, rare: float, digits: int
) -> None:
    """Many small digits, one digit that is drawn again and again, and something of both."""
    monkeypatch.setattr(staircase_noise, "_BASE", base)
    monkeypatch.setattr(staircase_noise, "_RARE", rare)
    lattice = tiny(Part(1, 0), Part(1, 1), 80)
    noise = StaircaseNoise(lattice, 0.2)
    assert len(noise.digits) == digits
    cells = noise.draw(20_000, SeededEntropy(13))
    assert p_value(noise, cells, 0.2, 40) > FALSE_ALARM
    assert p_value(noise, cells, 0.25, 40) < FALSE_ALARM


def test_a_tiny_epsilon_takes_several_digits_and_a_box_of_few_periods_one() -> None:
    wide, narrow = Lattice.fit(0.0, 1.0, 1e-9, 1e-6), Lattice.fit(0.0, 1.0, 1.0, 1e-6)
    assert len(StaircaseNoise(wide, 1e-6).digits) == 3
    assert len(StaircaseNoise(narrow, 1e-6).digits) == 1
    assert len(StaircaseNoise(wide, 1.0).digits) == 1


def test_the_periods_of_a_tiny_epsilon_are_geometric() -> None:
    epsilon = 1e-4
    lattice = Lattice.fit(0.0, 1.0, 1e-7, epsilon)
    cells = StaircaseNoise(lattice, epsilon).draw(DRAWS, SeededEntropy(14))
    scaled = np.abs(cells + 0.5) / lattice.period * epsilon
    assert stats.kstest(scaled, "expon").pvalue > FALSE_ALARM
    assert stats.kstest(scaled * 1.02, "expon").pvalue < FALSE_ALARM


def test_noise_beyond_the_box_stays_far_from_overflow() -> None:
    for change in (1e-18, 1e-9, 1.0):
        for epsilon in (1e-100, 1e-6, 1.0, 1e100):
            lattice = Lattice.fit(0.0, 1.0, change, epsilon)
            cells = StaircaseNoise(lattice, epsilon).draw(2000, SYSTEM)
            assert np.abs(cells).max() < 2**61
