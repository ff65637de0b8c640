"""Readings against integrals of the densities."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

import inbounds as ib
from inbounds.errors import InBoundsError

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
