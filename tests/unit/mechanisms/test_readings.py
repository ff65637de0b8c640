"""Readings against integrals of the densities."""

import itertools
import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.integrate import quad

import inbounds as ib
from inbounds._types import Floats
from inbounds.errors import ArgumentError, InBoundsError
from inbounds.sampling.grid import Grid

BOX = ib.Box(-1, 2)
SCALES = (0.01, 0.3, 2.0, 500.0)
KINDS = (ib.BoundedGaussian, ib.BoundedLaplace, ib.ClampedGaussian, ib.ClampedLaplace)
STAIRS = [ib.ClampedStaircase(BOX, change, epsilon) for change, epsilon in ((3, 1.0), (0.4, 2.0))]


def likelihood(m: Any, output: float, value: float) -> float:
    low, high = m.mass_at_bounds(value)
    if low and output == m.domain.lower:
        return float(low)
    if high and output == m.domain.upper:
        return float(high)
    return float(m.pdf(output, value))


def integral(function: Any, output: float, scale: float) -> float:
    steps = [output + side * scale * k for side in (-1, 1) for k in (0, 1, 4, 12, 40)]
    points = sorted({min(max(step, -1.0), 2.0) for step in (-1, 2, *steps)})
    return math.fsum(
        quad(function, a, b, epsabs=0, epsrel=1e-11)[0] for a, b in itertools.pairwise(points)
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("output", [-1.0, -0.7, 0.5, 1.99, 2.0])
def test_the_denoised_output_is_the_posterior_mean(kind: Any, scale: float, output: float) -> None:
    m = kind(BOX, 3, scale)
    mass = integral(lambda x: likelihood(m, output, x), output, scale)
    moment = integral(lambda x: (x + 1) * likelihood(m, output, x), output, scale)
    assert m.denoise(output) == pytest.approx(moment / mass - 1, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("m", STAIRS, ids=repr)
@pytest.mark.parametrize("output", [-1.0, -0.7, 0.5, 1.99, 2.0])
def test_the_denoised_output_of_a_staircase_is_the_posterior_mean(m: Any, output: float) -> None:
    values = np.linspace(-1, 2, 300_001)
    values = (values[1:] + values[:-1]) / 2
    if output in (-1.0, 2.0):
        weights = m.mass_at_bounds(values)[int(output > 0)]
    else:
        weights = m.pdf(output, values)
    assert m.denoise(output) == pytest.approx(float(weights @ values / weights.sum()), abs=3e-5)
    with pytest.raises(InBoundsError, match="none is known"):
        m.unbiased(output)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("value", [-1.0, -0.995, 0.3, 2.0])
def test_the_unbiased_reading_of_clamped_laplace_noise_has_the_value_as_its_mean(
    scale: float, value: float
) -> None:
    m = ib.ClampedLaplace(BOX, 3, scale=scale)
    low, high = m.mass_at_bounds(value)
    ends = low * m.unbiased(-1.0) + high * m.unbiased(2.0)
    inside = integral(lambda y: y * m.pdf(y, value), value, scale)
    assert ends + inside == pytest.approx(value, abs=1e-8 * max(1, scale))
    square = low * m.unbiased(-1.0) ** 2 + high * m.unbiased(2.0) ** 2
    square += integral(lambda y: y * y * m.pdf(y, value), value, scale)
    left, right = math.exp(-(value + 1) / scale), math.exp(-(2 - value) / scale)
    expected = 2 * scale**2 - scale**2 / 2 * (left + right)
    assert square - value**2 == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("upper", [2.97, 3.0, 3.5, 9.99, 10.0])
@pytest.mark.parametrize("scale", [0.1, 1.0, 50.0])
def test_with_any_step_the_reading_is_as_biased_as_stated_at_most(
    upper: float, scale: float
) -> None:
    m = ib.ClampedLaplace(ib.Box(0, upper, step=1), upper, scale=scale)
    grid = m.sampler().grid(0)
    outputs = np.asarray(grid.points(np.arange(grid.intervals + 1)), float)
    cuts = np.arange(grid.intervals) * float(grid.spacing) + float(grid.spacing) / 2
    for value in np.linspace(0, upper, 15):
        chances = np.diff([0.0, *m.cdf(cuts, value), 1.0])
        assert abs(float(chances @ m.unbiased(outputs)) - value) <= m.reading_bias


@pytest.mark.parametrize("kind", [ib.BoundedGaussian, ib.BoundedLaplace, ib.ClampedGaussian])
def test_where_no_reading_is_unbiased_an_error_says_so(kind: Any) -> None:
    m = kind(BOX, 3, 1.0)
    assert not m.has_unbiased
    with pytest.raises(InBoundsError, match=f"^{kind.__name__} has no unbiased reading"):
        m.unbiased(0.5)
    assert ib.ClampedLaplace(BOX, 3, 1.0).has_unbiased
    assert ib.Window(BOX, 3, 1.0).has_unbiased


@pytest.mark.parametrize("kind", KINDS)
def test_noise_far_wider_than_the_box_leaves_the_middle(kind: Any) -> None:
    np.testing.assert_allclose(kind(BOX, 3, 3e9).denoise([-1.0, 0.1, 2.0]), 0.5, rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_readings_on_a_box_are_those_of_each_coordinate(kind: Any) -> None:
    joint = kind(ib.Box([-1, 0], [2, 10]), 1, [0.5, 3.0])
    alone = [kind(ib.Box(-1, 2), 1, 0.5), kind(ib.Box(0, 10), 1, 3.0)]
    outputs = np.array([[-1.0, 10.0], [0.3, 4.0]])
    for reading in ("denoise", "unbiased")[: 1 + joint.has_unbiased]:
        together = getattr(joint, reading)(outputs)
        apart = [getattr(m, reading)(outputs[:, j]) for j, m in enumerate(alone)]
        np.testing.assert_allclose(together, np.transpose(apart), rtol=1e-12)


def test_the_mean_of_unbiased_readings_is_close_and_that_of_denoised_outputs_is_not() -> None:
    """The limits are seven standard errors, a false alarm of 3e-12; the other mean is far off."""
    ages = np.random.default_rng(7).beta(2, 6, 100_000)
    for m in (ib.Window(ib.Box(0, 1), 1, 1.0), ib.ClampedLaplace(ib.Box(0, 1), 1, 1.0)):
        outputs = m.release(ages)
        readings = m.unbiased(outputs)
        error = readings.std() / math.sqrt(readings.size)
        assert abs(readings.mean() - ages.mean()) < 7 * error
        assert abs(m.denoise(outputs).mean() - ages.mean()) > 20 * error


STEPPED = [
    ib.Box(0, 1, step=1),
    ib.Box(0, 120, step=1),
    ib.Box(10, 13.9, step=1),  # the last step is 13
    ib.Box(-1, 2.3, step=0.25),
    ib.Box(0, 1, step=0.7),
]


def step_mechanisms(box: ib.Box, epsilon: float) -> list[Any]:
    width = float(box.widths[0])
    kinds = (ib.Window, ib.ClampedLaplace, ib.BoundedLaplace, ib.ClampedStaircase)
    return [
        *(kind.calibrated(box, width, epsilon=epsilon) for kind in kinds),
        ib.ClampedStaircase(box, width / 3, epsilon),
        *(kind(box, width, width / epsilon) for kind in (ib.ClampedGaussian, ib.BoundedGaussian)),
        *(ib.Optimal(box, width, epsilon, how) for how in ("average", "worst", "unbiased")),
    ]


def on_steps(m: Any) -> tuple[Floats, Floats]:
    """The steps, and the probability of each as the output for each as the value."""
    lower, upper = float(m.domain.lower), float(m.domain.upper)
    grid = Grid.fit(lower, upper, m.domain.steps[0], 1.0)
    steps = np.asarray(grid.points(np.arange(grid.intervals + 1)), float)
    cuts = lower + float(grid.spacing) * (np.arange(grid.intervals) + 0.5)
    chances = [np.diff([0.0, *m.cdf(cuts, value), 1.0]) for value in steps]
    return steps, np.array(chances)


@pytest.mark.parametrize("box", STEPPED, ids=repr)
@pytest.mark.parametrize("epsilon", [0.1, 4.0])
def test_on_steps_the_denoised_output_is_the_posterior_mean_over_the_steps(
    box: ib.Box, epsilon: float
) -> None:
    for m in step_mechanisms(box, epsilon):
        steps, chances = on_steps(m)
        total = chances.sum(axis=0)
        likely = total > 1e-6  # others are differences of rounded probabilities
        means = (steps @ chances)[likely] / total[likely]
        np.testing.assert_allclose(
            m.denoise(steps)[likely], means, rtol=0, atol=1e-8 * box.widths[0], err_msg=repr(m)
        )


def test_no_reading_of_a_step_has_a_lower_error_on_steps() -> None:
    """Against the continuous prior, which was used before and is worse here."""
    m = ib.ClampedLaplace(ib.Box(0, 3, step=1), 3, scale=1.0)
    steps, chances = on_steps(m)
    errors = [
        float(np.mean(np.sum(chances * (reading - steps[:, None]) ** 2, axis=1)))
        for reading in (m.denoise(steps), m._denoise_evenly(steps))
    ]
    assert errors[0] < errors[1]
    rng = np.random.default_rng(0)
    for _ in range(100):
        other = m.denoise(steps) + rng.normal(0, 0.01, 4)
        assert np.mean(np.sum(chances * (other - steps[:, None]) ** 2, axis=1)) > errors[0]


def test_only_the_coordinates_with_a_step_are_read_on_steps() -> None:
    joint = ib.BoundedGaussian(ib.Box([0, 0], [5, 5], step=[1, None]), 1, [2.0, 2.0])
    alone = [ib.BoundedGaussian(ib.Box(0, 5, step=s), 1, 2.0) for s in (1, None)]
    outputs = np.array([[0.0, 0.0], [4.0, 4.0]])
    apart = [m.denoise(outputs[:, j]) for j, m in enumerate(alone)]
    np.testing.assert_allclose(joint.denoise(outputs), np.transpose(apart), rtol=1e-12)
    assert apart[0][0] != pytest.approx(apart[1][0], rel=1e-3)


def test_more_steps_than_can_be_summed_are_read_within_a_step() -> None:
    few, many = (ib.ClampedLaplace(ib.Box(0, n, step=1), 1, 5.0) for n in (1 << 20, 1 << 21))
    outputs = np.array([0.0, 1.0, 7.0, 500.0])
    assert np.abs(few.denoise(outputs) - many.denoise(outputs)).max() < 1


@pytest.mark.parametrize("reading", ["denoise", "unbiased"])
def test_a_column_of_outputs_is_read_as_such_a_column(reading: str) -> None:
    m = ib.Window(ib.Box(0, 120), 120, epsilon=1.0)
    read, outputs = getattr(m, reading), np.array([0.0, 41.5, 120.0])
    series = pd.Series(outputs, index=["a", "b", "c"], name="age")
    pd.testing.assert_series_equal(read(series), pd.Series(read(outputs), series.index, name="age"))
    assert read(pl.Series("age", outputs)).equals(pl.Series("age", read(outputs)))
    assert read(pl.Series("age", outputs)).name == "age"
    assert read(pa.array(outputs)).equals(pa.array(read(outputs)))
    assert isinstance(read(pa.chunked_array([outputs])), pa.ChunkedArray)
    with pytest.raises(ArgumentError, match="output must have no nulls"):
        read(pl.Series([1.0, None]))


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_no_reading_has_a_smaller_deviation_than_stated(epsilon: float) -> None:
    box, values = ib.Box(-1, 2), np.linspace(-1, 2, 4001)
    laplace = ib.ClampedLaplace.calibrated(box, 3, epsilon=epsilon)
    lines = [ib.Window(box, 3, epsilon), ib.Optimal(box, 3, epsilon, "unbiased")]
    for m in lines:
        slope = (m.unbiased(2.0) - m.unbiased(-1.0)) / 3
        least = slope * float(np.sqrt(m.variance(values).min()))
        assert 0.999 * least <= m.least_reading_deviation <= 1.3 * least
    b = laplace.scale
    at = 2 * b**2 - b**2 / 2 * (np.exp(-(values + 1) / b) + np.exp(-(2 - values) / b))
    assert laplace.least_reading_deviation == pytest.approx(np.sqrt(at.min()), rel=1e-9)


MANY = 5000  # more than are read one by one


@pytest.mark.parametrize("step", [None, 0.25, 1e-7])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", SCALES)
def test_many_outputs_are_read_as_few_are(kind: Any, scale: float, step: float | None) -> None:
    m = kind(ib.Box(-1, 2, step=step), 3, scale)
    outputs = np.concatenate([[-1.0, 2.0, 0.5], np.linspace(-1, 2, MANY)])
    few = np.concatenate([m.denoise(part) for part in np.array_split(outputs, 5)])
    np.testing.assert_allclose(m.denoise(outputs), few, rtol=0, atol=3e-13)


@pytest.mark.parametrize(
    "m", [STAIRS[0], ib.ClampedStaircase(ib.Box(-1, 2, step=0.25), 1, 1.0)], ids=repr
)
def test_many_outputs_of_a_staircase_are_read_as_few_are(m: Any) -> None:
    outputs = np.linspace(-1, 2, MANY)
    few = [m.denoise(part) for part in np.array_split(outputs, MANY // 2)]
    np.testing.assert_array_equal(m.denoise(outputs), np.concatenate(few))


@pytest.mark.parametrize("kind", KINDS)
def test_many_outputs_of_a_box_are_read_coordinate_by_coordinate(kind: Any) -> None:
    box = ib.Box([-1, 0, 5], [2, 1, 9], step=[None, 0.1, None])
    m = kind(box, 1, 0.7)
    outputs = np.random.default_rng(16).uniform([-1, 0, 5], [2, 1, 9], (MANY, 3))
    outputs[:2] = box.lower, box.upper
    few = np.concatenate([m.denoise(part) for part in np.array_split(outputs, 5)])
    np.testing.assert_allclose(m.denoise(outputs), few, rtol=0, atol=4e-13)
