"""The error of a mean read back from many outputs, against closed forms and brute force."""

import math

import numpy as np
import pytest

import inbounds as ib
from inbounds.recovery.mean_error import mean_rmse

KINDS = (ib.BoundedGaussian, ib.BoundedLaplace, ib.ClampedGaussian, ib.ClampedLaplace)


def exact_variance(mechanism: ib.ClampedLaplace) -> float:
    """Noise of the one unbiased reading of a clamped Laplace output, averaged over values.

    It reads an output as itself inside, and as a scale beyond the bound at either bound.
    """
    width, b = float(mechanism.domain.widths[0]), mechanism.scale
    values = (np.arange(20_000) + 0.5) / 20_000 * width
    low, high = np.exp(-values / b) / 2, np.exp(-(width - values) / b) / 2
    second = mechanism.mse(mechanism.domain.lower + values)  # of the output as itself
    second += low * ((values + b) ** 2 - values**2)
    second += high * ((width - values + b) ** 2 - (width - values) ** 2)
    return float(second.mean())


@pytest.mark.parametrize("scale", [0.05, 0.3, 1.0, 3.0])
def test_many_people_come_down_to_the_unbiased_reading_of_clamped_laplace(scale):
    mechanism = ib.ClampedLaplace(ib.Box(-1, 3), 1, scale=4 * scale)
    expected = math.sqrt(exact_variance(mechanism))
    for people in (10**4, 10**6, 10**8):
        error = mean_rmse(mechanism, people) * math.sqrt(people)
        assert error < expected * 1.002  # the best is no worse than one that is known
    assert error == pytest.approx(expected, rel=7e-3)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", [0.002, 0.1, 1.0])
def test_one_person_is_read_by_the_posterior_mean(kind, scale):
    """Whose error is that of the mean value in each small cell of outputs."""
    mechanism = kind(ib.Box(0, 1), 1, scale)
    values = (np.arange(2000) + 0.5) / 2000
    cuts = np.linspace(0, 1, 1501)[:-1]
    upto = mechanism.cdf(cuts[None, :], values[:, None])
    probability = np.diff(np.column_stack([np.zeros(2000), upto, np.ones(2000)]), axis=1)
    seen = probability.sum(axis=0)
    keep = seen > 1e-12
    posterior = (values @ probability)[keep] / seen[keep]
    mse = 1 / 3 - float(seen[keep] @ posterior**2) / 2000
    assert mean_rmse(mechanism, 1) == pytest.approx(math.sqrt(mse), rel=0.03, abs=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_it_falls_with_people_and_scales_with_the_box(kind):
    small, large = (kind(ib.Box(0, w), w, 0.4 * w) for w in (1, 1000))
    errors = [mean_rmse(small, people) for people in (1, 10, 100, 10**4, 10**6, 10**10)]
    assert errors == sorted(errors, reverse=True)
    assert mean_rmse(large, 100) == pytest.approx(1000 * errors[2], rel=1e-9)
    assert errors[0] <= 1 / math.sqrt(12) * (1 + 1e-9)  # the middle of the box


@pytest.mark.parametrize("kind", KINDS)
def test_it_has_no_jump_where_the_box_gets_a_middle_of_its_own(kind):
    below, above = (kind(ib.Box(0, 1), 1, scale) for scale in (1 / 128.5, 1 / 127.5))
    for people in (1, 10**3, 10**6):
        near, far = mean_rmse(below, people) * 128.5, mean_rmse(above, people) * 127.5
        assert near == pytest.approx(far, rel=0.02)


def test_on_steps_values_are_the_steps():
    """Yes or no: two outputs, two values, and the only unbiased reading is a straight line."""
    mechanism = ib.BoundedLaplace(ib.Box(0, 1, step=1), 1, scale=1.0)
    yes = 1 - mechanism.cdf(0.5, np.array([0.0, 1.0]))
    variance = float((yes * (1 - yes)).mean()) / (yes[1] - yes[0]) ** 2
    assert mean_rmse(mechanism, 10**6) == pytest.approx(math.sqrt(variance / 10**6), rel=1e-3)


@pytest.mark.parametrize("step", [0.001, 0.05, 0.5])
def test_fine_and_coarse_steps_are_both_read(step):
    plain = mean_rmse(ib.ClampedLaplace(ib.Box(0, 1), 1, scale=0.3), 1000)
    stepped = mean_rmse(ib.ClampedLaplace(ib.Box(0, 1, step=step), 1, scale=0.3), 1000)
    assert stepped == pytest.approx(plain, rel=0.02)


def test_noise_far_below_a_step_is_rounded_away():
    mechanism = ib.ClampedLaplace.calibrated(ib.Box(0, 1000, step=1), 0.02, epsilon=1.0)
    outputs = mechanism.release(np.arange(1001.0))
    assert (outputs == np.arange(1001)).all()
    half_a_step_away = math.exp(-0.5 / 0.02)
    assert mean_rmse(mechanism, 1) == pytest.approx(math.sqrt(half_a_step_away), rel=0.01)


@pytest.mark.parametrize("step", [None, 1e-5])
def test_a_narrow_staircase_in_a_wide_box_has_its_own_variance(step: float | None) -> None:
    """Cells of the whole box would be wider than the noise, which would count as none."""
    mechanism = ib.ClampedStaircase(ib.Box(0, 1, step=step), 1e-4, 1.0)
    plain = math.sqrt(mechanism.variance(0.5) / 1000)
    assert mean_rmse(mechanism, 1000) == pytest.approx(plain, rel=0.02)
