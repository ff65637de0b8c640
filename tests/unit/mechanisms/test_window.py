import math
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

import inbounds as ib
from inbounds import Box, Window
from inbounds.errors import ArgumentError, ArgumentTypeError

from ..sampling.test_window import probabilities

UNIT = Window(Box(0, 1), 1, epsilon=1.5)
STEPPED = [
    Window(Box(0, 10, step=1), 10, epsilon=2.0),
    Window(Box(-1, 1, step=2), 2, epsilon=0.5),
    Window(Box(0, 10, step=3), 10, epsilon=1.0),
    Window(Box(5, 6, step=0.1), 1, epsilon=4.0),
]


def exact_table(m: Window, value: float) -> tuple[np.ndarray, np.ndarray]:
    """Return all outputs of a box with a step, and their exact probabilities as doubles."""
    window = m.sampler()
    outputs = np.asarray(window.grid.points(np.arange(window.places)), float)
    z = min(Fraction(value - float(m.domain.lower)) / Fraction(outputs[-1] - outputs[0]), 1)
    start = z * (window.places - window.length)
    low = math.floor(start)
    part = start - low
    table = [(1 - part) * p for p in probabilities(window, low)]
    if part:
        upper = probabilities(window, low + 1)
        table = [p + part * q for p, q in zip(table, upper, strict=True)]
    return outputs, np.array([float(p) for p in table])


@pytest.mark.parametrize("m", STEPPED, ids=repr)
@pytest.mark.parametrize("where", [0.0, 0.13, 0.5, 0.9, 1.0])
def test_moments_are_those_of_the_outputs_as_drawn(m: Window, where: float) -> None:
    value = float(m.domain.lower) + where * float(m.domain.widths[0])
    outputs, chances = exact_table(m, value)
    mean = float(chances @ outputs)
    assert m.mean(value) == pytest.approx(mean, rel=1e-9, abs=1e-9)
    assert m.bias(value) == pytest.approx(mean - value, rel=1e-8, abs=1e-9)
    assert m.variance(value) == pytest.approx(float(chances @ (outputs - mean) ** 2), rel=1e-9)
    assert m.mse(value) == pytest.approx(float(chances @ (outputs - value) ** 2), rel=1e-9)


@pytest.mark.parametrize("m", STEPPED, ids=repr)
def test_the_mean_of_unbiased_readings_is_the_value(m: Window) -> None:
    outputs, _ = exact_table(m, float(m.domain.lower))
    for value in outputs:
        _, chances = exact_table(m, value)
        assert float(chances @ m.unbiased(outputs)) == pytest.approx(value, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("m", STEPPED, ids=repr)
def test_cdf_at_half_steps_adds_up_the_probabilities(m: Window) -> None:
    window = m.sampler()
    half = float(m.domain.lower) + float(window.grid.spacing) * (np.arange(window.places - 1) + 0.5)
    for value in np.linspace(m.domain.lower, window.grid.points(window.grid.intervals), 7):
        _, chances = exact_table(m, value)
        np.testing.assert_allclose(m.cdf(half, value), np.cumsum(chances)[:-1], atol=1e-9)


@pytest.mark.parametrize("m", STEPPED, ids=repr)
def test_the_distribution_on_steps_is_that_of_the_outputs_as_drawn(m: Window) -> None:
    for value in np.linspace(m.domain.lower, m.domain.upper, 7):
        outputs, chances = exact_table(m, value)
        np.testing.assert_allclose(m.cdf(outputs, value), np.cumsum(chances), atol=1e-9)
        low, high = m.mass_at_bounds(value)
        assert low == pytest.approx(chances[0], abs=1e-9)
        assert high == pytest.approx(chances[-1] if outputs[-1] == m.domain.upper else 0, abs=1e-9)
        for q in (1e-6, 0.2, 0.5, 0.99, 1.0):
            expected = outputs[np.argmax(np.cumsum(chances) >= q - 1e-12)]
            assert m.quantile(q, value) == expected


@pytest.mark.parametrize("m", STEPPED, ids=repr)
def test_the_denoised_output_is_the_posterior_mean_of_steps(m: Window) -> None:
    outputs, _ = exact_table(m, float(m.domain.lower))
    table = np.array([exact_table(m, value)[1] for value in outputs])
    expected = outputs @ table / table.sum(axis=0)
    np.testing.assert_allclose(m.denoise(outputs), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("value", [0.0, 0.3, 0.5, 0.99, 1.0])
def test_density_distribution_quantiles_and_moments_agree(value: float) -> None:
    start = value * (1 - 1 / (1 + math.exp(0.75)))
    breaks = [start, start + 1 / (1 + math.exp(0.75))]

    def integral(function: Any) -> float:
        return float(quad(function, 0, 1, points=breaks, limit=200)[0])

    assert integral(lambda y: UNIT.pdf(y, value)) == pytest.approx(1.0, abs=1e-7)
    assert integral(lambda y: y * UNIT.pdf(y, value)) == pytest.approx(UNIT.mean(value), abs=1e-7)
    square = integral(lambda y: (y - value) ** 2 * UNIT.pdf(y, value))
    assert square == pytest.approx(UNIT.mse(value), abs=1e-7)
    for q in (0.0, 1e-6, 0.2, 0.5, 0.8, 1.0):
        assert UNIT.cdf(UNIT.quantile(q, value), value) == pytest.approx(q, abs=1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 5.0])
def test_the_unbiased_reading_has_the_variance_of_the_formula(epsilon: float) -> None:
    m, h = Window(Box(0, 1), 1, epsilon=epsilon), math.exp(epsilon / 2)
    for z in (0.0, 0.3, 1.0):
        expected = ((2 * z - 1) ** 2 / (h - 1) + (h + 3) / (3 * (h - 1) ** 2)) / 4
        slope = math.tanh(epsilon / 4)
        assert m.variance(z) / slope**2 == pytest.approx(expected, rel=1e-7)


def coverage(m: Window, value: float, level: float) -> float:
    outputs, chances = exact_table(m, value)
    low, high = m.confidence(outputs, level)
    return float(chances @ ((low <= value) & (value <= high)))


@pytest.mark.parametrize("m", STEPPED, ids=repr)
@pytest.mark.parametrize("level", [0.1, 0.5, 0.8, 0.95, 0.999])
def test_intervals_hold_every_value_with_their_probability(m: Window, level: float) -> None:
    for value in np.linspace(m.domain.lower, m.domain.upper, 41):
        assert coverage(m, value, level) >= level


@pytest.mark.parametrize("level", [0.3, 0.9, 0.99])
def test_intervals_of_a_fine_grid_are_not_wider_than_they_need_be(level: float) -> None:
    """An exact integral over outputs: 20,000 midpoints, each with its probability."""
    edges = np.linspace(0, 1, 20_001)
    middles = (edges[1:] + edges[:-1]) / 2
    low, high = UNIT.confidence(middles, level)
    covered = []
    for value in np.linspace(0, 1, 21):
        chances = np.diff(UNIT.cdf(edges, value))
        covered.append(float(chances @ ((low <= value) & (value <= high))))
    assert level - 2e-4 <= min(covered) <= level + 2e-4


def test_total_variation_bounds_the_difference_of_any_two_tables() -> None:
    for m in STEPPED:
        top = 0.0
        for value in np.linspace(m.domain.lower, m.domain.upper, 13):
            ends = exact_table(m, float(m.domain.lower))[1], exact_table(m, value)[1]
            top = max(top, float(np.abs(ends[0] - ends[1]).sum()) / 2)
        assert top <= m.total_variation <= 1
    near = Window(Box(0, 1), 0.02, epsilon=3.0)
    assert near.total_variation == pytest.approx(0.0696338, rel=1e-5)
    whole = Window(Box(0, 1), 1, epsilon=1.0)
    assert whole.total_variation == pytest.approx(1 - math.exp(-0.5), rel=1e-7)


@pytest.mark.parametrize("epsilon", [1e-15, 1e-12, 1e-6, 0.1, 5.0])
def test_readings_are_as_unbiased_as_stated_even_if_outputs_say_hardly_anything(
    epsilon: float,
) -> None:
    m = Window(Box(0, 1, step=1), 1, epsilon)
    for value in (0.0, 1.0):
        window = m.sampler()
        chances = probabilities(window, int(value))
        readings = [Fraction(reading) for reading in m.unbiased(np.array([0.0, 1.0])).tolist()]
        mean = sum(p * g for p, g in zip(chances, readings, strict=True))
        assert abs(mean - Fraction(value)) <= Fraction(m.reading_bias) + Fraction(1, 10**9)


def test_two_steps_are_randomised_response() -> None:
    m = Window.calibrated(Box(0, 1, step=1), 1, epsilon=math.log(3))
    assert m.mean(1) == pytest.approx(0.75, rel=1e-12)
    assert set(m.release([0.0, 1.0] * 100).tolist()) == {0, 1}


def test_a_copy_is_equal_and_releases_alike() -> None:
    for m in (UNIT, *STEPPED):
        copy = pickle.loads(pickle.dumps(m))
        assert copy == m
        assert hash(copy) == hash(m)
        assert copy.sampler() == m.sampler()
    assert Window(Box(0, 1), 1, epsilon=1.0) != UNIT


@pytest.mark.parametrize(
    ("call", "start"),
    [
        (lambda: Window(Box([0, 0], [1, 1]), 1, 1.0), "domain must be an interval for Window"),
        (lambda: Window((0, 1), 1, 1.0), "domain must be a Box"),  # type: ignore[arg-type]
        (lambda: Window(Box(0, 1), 1, 0.0), "epsilon must be"),
        (lambda: Window(Box(0, 1), -1, 1.0), "sensitivity must be"),
        (
            lambda: Window.calibrated(Box(0, 1), 1, epsilon=1.0, delta=1e-6),
            "delta must be 0 for Window",
        ),
        (lambda: Window(Box(0, 1e-300), 1e-300, 1.0), "domain must have a width"),
        (lambda: UNIT.unbiased(1.5), "output must lie in the box"),
        (lambda: Window(Box(0, 1), 1), "epsilon must be given: "),  # type: ignore[call-arg]
        (lambda: Window(Box(0, 1), 1, 1e-30).unbiased(0.5), "epsilon must be large enough"),
        (lambda: UNIT.release(math.nan), "values must be finite"),
    ],
)
def test_wrong_arguments_are_named(call: Any, start: str) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError)) as caught:
        call()
    assert str(caught.value).startswith(start)


def test_it_is_deconvolved_audited_and_privatizes() -> None:
    ages = np.random.default_rng(5).beta(2, 6, 20_000)
    outputs = UNIT.release(ages)
    low, high = ib.deconvolve(outputs, UNIT, bootstrap=2).interval("mean", 0.999999)
    assert low < ages.mean() < high
    assert ib.audit(UNIT, releases=200_000).epsilon_lower > 1.4
