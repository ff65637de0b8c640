"""Outputs in whole steps: every number against a table of all probabilities."""

import math

import numpy as np
import pytest

import inbounds as ib
from inbounds.mechanisms.step_outputs import StepOutputs
from inbounds.sampling.entropy import SeededEntropy

MECHANISMS = [
    ib.ClampedStaircase(ib.Box(0, 30, step=1), 1, 1.0),
    ib.ClampedStaircase(ib.Box(0, 30, step=1), 4, 0.5),
    ib.ClampedStaircase(ib.Box(0, 30, step=1), 30, 3.0),
    ib.ClampedStaircase(ib.Box(0, 1, step=0.1), 0.1, 2.0),
    ib.ClampedStaircase(ib.Box(0, 1, step=0.1), 0.3, 5.0),
    ib.ClampedStaircase(ib.Box(-7, 11.9, step=3), 3, 1.0),  # the last step is 11
    ib.ClampedStaircase(ib.Box(1e6, 1e6 + 20, step=0.5), 1, 0.1),
    ib.ClampedStaircase(ib.Box(0, 1, step=1), 1, 1.0),  # randomised response
]
each = pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)


def steps_of(mechanism: ib.ClampedStaircase) -> np.ndarray:
    assert isinstance(mechanism._outputs, StepOutputs)
    grid = mechanism._outputs.lattice.grid
    return np.asarray(grid.points(np.arange(grid.intervals + 1)), float)


def table_of(mechanism: ib.ClampedStaircase) -> np.ndarray:
    """The probability of each step as an output, for each step as a value, by direct sums."""
    lattice, last = mechanism._outputs.lattice, steps_of(mechanism).size - 1
    far = last + lattice.period * math.ceil(40 / mechanism.epsilon)
    n = np.arange(-far, far + 1)
    levels = np.ceil(np.maximum(np.abs(n) - lattice.half, 0) / lattice.period)
    chances = np.exp(-mechanism.epsilon * levels)
    chances /= chances.sum()
    table = np.zeros((last + 1, last + 1))
    for k in range(last + 1):
        np.add.at(table[k], np.clip(k + n, 0, last), chances)
    return table


@each
def test_moments_are_those_of_the_table(mechanism: ib.ClampedStaircase) -> None:
    steps, table = steps_of(mechanism), table_of(mechanism)
    half = 0.4 * (steps[1] - steps[0])
    for off in (0.0, -half, half):  # between steps, the rounding of the value is part of the error
        values = np.clip(steps + off, mechanism.domain.lower, steps[-1])
        errors = steps - values[:, None]
        scale = float(np.abs(errors).max())
        assert mechanism.bias(values) == pytest.approx((table * errors).sum(1), abs=1e-9 * scale)
        assert mechanism.mse(values) == pytest.approx(
            (table * errors**2).sum(1), rel=1e-8, abs=1e-9 * half**2
        )
        spread = (table * (steps - (table @ steps)[:, None]) ** 2).sum(1)
        assert mechanism.variance(values) == pytest.approx(spread, rel=1e-8)


@each
def test_probabilities_are_those_of_the_table(mechanism: ib.ClampedStaircase) -> None:
    steps, table = steps_of(mechanism), table_of(mechanism)
    upto = mechanism.cdf(steps[None, :], steps[:, None])
    assert upto == pytest.approx(np.cumsum(table, axis=1), abs=1e-12)
    below = np.nextafter(steps, -np.inf)
    before = np.hstack([np.zeros((steps.size, 1)), np.cumsum(table, axis=1)[:, :-1]])
    assert mechanism.cdf(below[None, :], steps[:, None]) == pytest.approx(before, abs=1e-12)
    low, high = mechanism.mass_at_bounds(steps)
    assert low == pytest.approx(table[:, 0], rel=1e-12)
    reached = steps[-1] == mechanism.domain.upper
    assert high == pytest.approx(table[:, -1] * reached, rel=1e-12)
    density = mechanism.pdf(steps[None, :], steps[:, None]) * (steps[1] - steps[0])
    inner = table.copy()
    inner[:, 0] = 0
    inner[:, -1] *= not reached
    assert density == pytest.approx(inner, rel=1e-9, abs=1e-15)


@each
def test_quantiles_are_the_first_steps_that_reach_a_probability(
    mechanism: ib.ClampedStaircase,
) -> None:
    steps, table = steps_of(mechanism), table_of(mechanism)
    upto = np.cumsum(table, axis=1)
    levels = np.array([0.0, 1e-9, 0.013, 0.37, 0.5001, 0.77, 1 - 1e-9])
    for k in (0, steps.size // 3, steps.size - 1):
        expected = [steps[np.argmax(upto[k] >= q)] for q in levels]
        assert mechanism.quantile(levels, steps[k]).tolist() == expected
        assert mechanism.quantile(1.0, steps[k]) == steps[-1]
        inverse = mechanism.quantile(mechanism.cdf(steps, steps[k]), steps[k])
        possible = table[k] > 1e-13
        assert np.array_equal(inverse[possible], steps[possible])


@each
def test_the_posterior_mean_is_that_of_bayes_rule(mechanism: ib.ClampedStaircase) -> None:
    steps, table = steps_of(mechanism), table_of(mechanism)
    expected = steps @ table / table.sum(axis=0)
    width = steps[-1] - steps[0]
    assert mechanism.denoise(steps) == pytest.approx(expected, abs=1e-9 * width)


@each
def test_intervals_hold_every_value_as_often_as_they_say(mechanism: ib.ClampedStaircase) -> None:
    steps, table = steps_of(mechanism), table_of(mechanism)
    half = 0.49 * (steps[1] - steps[0])
    for level in (0.5, 0.9, 0.999):
        low, high = mechanism.confidence(steps, level)
        for off in (0.0, -half, half):
            values = np.clip(steps + off, mechanism.domain.lower, mechanism.domain.upper)
            held = (low <= values[:, None]) & (values[:, None] <= high)
            assert ((table * held).sum(axis=1) >= level - 1e-12).all()


@each
def test_outputs_have_the_stated_moments(mechanism: ib.ClampedStaircase) -> None:
    """Six standard errors: a false alarm has a probability of 2e-9."""
    steps, count = steps_of(mechanism), 40_000
    for value in (steps[0], steps[steps.size // 3], steps[-1]):
        errors = mechanism.release(np.full(count, value), entropy=SeededEntropy(9)) - value
        unit = math.sqrt(mechanism.mse(value))
        scatter = 6 / math.sqrt(count)
        assert errors.mean() == pytest.approx(mechanism.bias(value), abs=scatter * unit)
        second = (errors / unit) ** 2
        assert second.mean() == pytest.approx(1.0, abs=scatter * second.std() + 1e-9)


@pytest.mark.parametrize("mechanism", [m for m in MECHANISMS if m.has_unbiased], ids=repr)
def test_the_unbiased_reading_has_each_step_as_its_mean(mechanism: ib.ClampedStaircase) -> None:
    steps, table = steps_of(mechanism), table_of(mechanism)
    readings = mechanism.unbiased(steps)
    assert table @ readings == pytest.approx(steps, abs=1e-9 * (steps[-1] - steps[0]))
    spread = (table * (readings - steps[:, None]) ** 2).sum(axis=1)
    assert mechanism.least_reading_deviation**2 == pytest.approx(spread.min(), rel=1e-9)
    assert mechanism.reading_variance(steps) == pytest.approx(spread, rel=1e-9)
    values = np.linspace(steps[0], float(mechanism.domain.upper), 101)
    nearest = np.abs(values[:, None] - steps).min(axis=1)
    assert (nearest <= mechanism.reading_bias).all()


def test_only_noise_of_one_step_is_read_without_bias() -> None:
    assert [m.has_unbiased for m in MECHANISMS] == [
        m._outputs.lattice.period == 1 for m in MECHANISMS
    ]
    with pytest.raises(ib.errors.InBoundsError, match="except for whole steps"):
        MECHANISMS[1].unbiased(3)


@pytest.mark.parametrize("epsilon", [1.0, 2.0, 3.0, 5.0])
def test_counts_have_the_error_of_the_clamped_geometric(epsilon: float) -> None:
    mechanism, k = ib.ClampedStaircase(ib.Box(0, 1000, step=1), 1, epsilon), np.arange(1001)
    alpha, away = math.exp(-epsilon), np.subtract.outer(k, k)
    table = (1 - alpha) / (1 + alpha) * alpha ** np.abs(away)
    table[:, 0], table[:, -1] = alpha**k / (1 + alpha), alpha ** (1000 - k) / (1 + alpha)
    assert mechanism.mse(k) == pytest.approx((table * away**2).sum(axis=1), rel=1e-10)


def test_counts_are_given_noise_in_whole_steps() -> None:
    box = ib.Box(0, 1000, step=1)
    assert ib.calibrate(box, 1, epsilon=3.0) == ib.ClampedStaircase(box, 1, 3.0)
