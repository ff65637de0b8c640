"""The mean by a moment equation: its bias is the bias, its moments are the moments."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm
from scipy.stats import t as student

import inbounds as ib
from inbounds.recovery.mean import Reader, _unskewed
from inbounds.sampling.entropy import SeededEntropy

KINDS = (ib.BoundedGaussian, ib.BoundedLaplace, ib.ClampedGaussian, ib.ClampedLaplace)
BOXES = (ib.Box(-3, 7), ib.Box(-3, 7, step=1), ib.Box(-3, 7, step=0.001), ib.Box(-3, 7, step=4))


def readings_of(mechanism, outputs, times=None):
    reader = Reader(mechanism)
    reader.add(np.asarray(outputs, float), times)
    return reader.read()


def as_read(readings, mechanism, outputs):
    """What each output is read as."""
    return outputs + readings.corrections[np.searchsorted(Reader(mechanism)._cells.cuts, outputs)]


@pytest.mark.parametrize("box", BOXES, ids=repr)
@pytest.mark.parametrize("kind", KINDS)
def test_mean_error_and_skewness_are_those_of_the_readings(kind, box):
    mechanism = kind(box, 10, 4.0)
    outputs = mechanism.release(np.linspace(-3, 1, 300), entropy=SeededEntropy(1))
    readings = readings_of(mechanism, outputs)
    each = as_read(readings, mechanism, outputs)
    assert readings.mean == pytest.approx(np.clip(each.mean(), -3, 7))
    assert readings.standard_error == pytest.approx(each.std(ddof=1) / math.sqrt(300))
    third = ((each - each.mean()) ** 3).mean() / each.std(ddof=1) ** 3
    assert readings._skewness == pytest.approx(third)


@pytest.mark.parametrize("box", BOXES, ids=repr)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", [0.002, 4.0])
@pytest.mark.parametrize("people", [30, 40_000])
def test_no_value_is_read_with_more_bias_than_is_said(kind, box, scale, people):
    """Outputs really drawn, at values that the correction was not chosen at; alarm below 1e-6.

    Chosen for few people, a correction has a bias well above the error of 40,000 outputs.
    """
    mechanism, size = kind(box, 10, scale), 40_000
    last = {None: 7.0, 1: 7.0, 0.001: 7.0, 4: 5.0}[box.steps[0]]
    step = box.steps[0] or 1e-3
    chosen = readings_of(mechanism, [5.0], np.array([float(people)]))
    for place in (0.0, 0.013, 0.251, 0.5, 1.0):
        value = -3 + step * round(place * (last + 3) / step)
        outputs = mechanism.release(np.full(size, value), entropy=SeededEntropy(2))
        reader = Reader(mechanism)
        reader.add(outputs, None)
        readings = replace(chosen, moments=reader._moments)
        error = 6 * readings.standard_error + 1e-5 * scale
        assert abs(readings._average - value) < readings.bias + error


@pytest.mark.parametrize("kind", KINDS)
def test_bias_vanishes_with_many_outputs(kind):
    mechanism = kind(ib.Box(0, 1), 1, 0.4)
    biases = [
        readings_of(mechanism, [0.0, 0.3, 1.0], np.full(3, people / 3)).bias
        for people in (10, 10**4, 10**8)
    ]
    assert biases == sorted(biases, reverse=True)
    assert biases[-1] < 4e-3  # as far as the cells are fine enough


def test_counts_and_repeated_outputs_are_the_same():
    mechanism = ib.BoundedGaussian(ib.Box(0, 1), 1, sigma=0.4)
    outputs, times = np.array([0.1, 0.2, 0.9]), np.array([5.0, 1.0, 4.0])
    counted = readings_of(mechanism, outputs, times)
    repeated = readings_of(mechanism, np.repeat(outputs, times.astype(int)))
    assert counted.interval(0.9) == pytest.approx(repeated.interval(0.9))


def test_one_output_tells_hardly_anything():
    mechanism = ib.BoundedGaussian(ib.Box(0, 1), 1, sigma=0.4)
    readings = readings_of(mechanism, [0.3])
    assert readings.interval(0.95) == (0.0, 1.0)
    assert readings.standard_error >= 0.5


def test_yes_or_no_is_read_without_bias():
    """On two steps a straight line is unbiased, so the interval shrinks to the truth."""
    mechanism = ib.BoundedLaplace(ib.Box(0, 1, step=1), 1, scale=1.0)
    readings = readings_of(mechanism, [0.0, 1.0], np.array([5e9, 5e9]))
    assert readings.bias < 1e-7
    low, high = readings.interval(0.95)
    assert high - low < 1e-4


def test_the_clamped_laplace_comes_down_to_its_unbiased_reading():
    mechanism = ib.ClampedLaplace(ib.Box(0, 1), 1, scale=0.5)
    readings = readings_of(mechanism, [0.0, 0.4, 1.0], np.full(3, 1e9))
    assert readings.corrections[[0, -1]] == pytest.approx([-0.5, 0.5], abs=0.02)
    assert np.abs(readings.corrections[20:-20]).max() < 0.02


@pytest.mark.parametrize("share", [1e-12, 1e-6, 1e-3, 1e3, 1e9])
@pytest.mark.parametrize("kind", KINDS)
def test_any_amount_of_noise_gives_an_interval_in_the_box(kind, share):
    mechanism = kind(ib.Box(5, 15), 10, 10 * share)
    readings = readings_of(mechanism, [5.0, 6.0, 6.5, 15.0])
    low, high = readings.interval(0.95)
    assert 5 <= low <= readings.mean <= high <= 15


def test_little_noise_gives_the_usual_interval():
    mechanism = ib.BoundedGaussian(ib.Box(0, 1), 1, sigma=1e-7)
    values = np.random.default_rng(0).uniform(0.4, 0.6, 10_000)
    readings = readings_of(mechanism, values)
    half = norm.isf(0.025) * values.std(ddof=1) / 100
    expected = values.mean() - half, values.mean() + half
    assert readings.interval(0.95) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("skewness", [-0.7, -1e-5, 1e-8, 0.05, 0.9])
def test_removing_skewness_inverts_the_polynomial(skewness):
    for quantile in (-3.0, -1.0, 0.0, 2.0, 5.0):
        x = _unskewed(quantile, skewness)
        again = x + skewness * x**2 / 3 + skewness**2 * x**3 / 27 + skewness / 6
        assert again == pytest.approx(quantile, abs=1e-6)


def test_skewed_readings_have_a_longer_side():
    mechanism = ib.ClampedLaplace(ib.Box(0, 1), 1, scale=0.01)
    readings = readings_of(mechanism, [0.1] * 27 + [0.9] * 3)
    low, high = readings.interval(0.95)
    assert high - readings.mean > 1.3 * (readings.mean - low)


@pytest.mark.parametrize("lump", [0.0, 0.3, 1.0])
def test_readings_that_are_all_alike_leave_room_for_what_was_not_seen(lump):
    """Values of which more than 9.5 % differ are seen among 30 of them, 95 % of the time."""
    mechanism = ib.ClampedLaplace(ib.Box(0, 1), 1, scale=1e-6)
    low, high = readings_of(mechanism, [lump] * 30).interval(0.95)
    unseen = 1 - 0.05 ** (1 / 30)
    assert (low, high) == pytest.approx(
        (lump - unseen * lump, lump + unseen * (1 - lump)), abs=1e-4
    )


def test_noise_leaves_that_room_by_itself():
    mechanism = ib.ClampedLaplace(ib.Box(0, 1), 1, scale=0.5)
    outputs = mechanism.release(np.linspace(0.2, 0.6, 100), entropy=SeededEntropy(3))
    readings = readings_of(mechanism, outputs)
    tail = student.isf(0.025, 99)
    low, high = readings.interval(0.95)
    assert high - low == pytest.approx(
        2 * (tail * readings.standard_error + readings.bias), rel=0.02
    )
