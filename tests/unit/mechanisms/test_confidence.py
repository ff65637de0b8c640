"""Confidence intervals hold the true value as often as they say, everywhere in the box."""

import numpy as np
import pytest
from scipy.stats import truncnorm

import inbounds as ib
from inbounds.errors import ArgumentError
from inbounds.sampling.entropy import SeededEntropy

KINDS = [
    ib.BoundedGaussian,
    ib.BoundedLaplace,
    ib.ClampedGaussian,
    ib.ClampedLaplace,
    ib.ClampedStaircase,  # the scale of others is its epsilon
]
BOXES = [ib.Box(-3, 7), ib.Box(-3, 7, step=4), ib.Box(-3, 7, step=1)]
PLACES = (-3.0, -2.9, 0.0, 2.0, 6.5, 7.0)
SIZE = 4000


@pytest.mark.parametrize("scale", [0.05, 4.0])
@pytest.mark.parametrize("box", BOXES, ids=repr)
@pytest.mark.parametrize("kind", KINDS)
def test_intervals_hold_the_true_value_as_often_as_they_say(kind, box, scale):
    """Below 0.9 - 0.024 is five standard errors: false alarm below 3e-7 each, 2e-4 in all."""
    mechanism = kind(box, 10, scale)
    for number, value in enumerate(PLACES):
        outputs = mechanism.release(np.full(SIZE, value), entropy=SeededEntropy(number))
        low, high = mechanism.confidence(outputs, 0.9)
        assert ((low <= value) & (value <= high)).mean() > 0.9 - 0.024
        assert (low <= outputs).all()
        assert (outputs <= high).all()


@pytest.mark.parametrize("kind", KINDS)
def test_intervals_are_no_longer_than_needed(kind):
    """Away from the bounds they are as long as those of the outputs around a known value."""
    mechanism = kind(ib.Box(0, 100), 1, 1.0)
    low, high = mechanism.confidence(50.0, 0.9)
    known = mechanism.output_interval(50.0, 0.9)
    assert (low, high) == pytest.approx(known, abs=1e-4)


def test_a_wrong_scale_is_noticed():
    """The control: intervals for 20 % less noise than there was miss the value too often."""
    told, real = (ib.BoundedGaussian(ib.Box(0, 1), 1, sigma) for sigma in (0.08, 0.1))
    outputs = real.release(np.full(SIZE, 0.5), entropy=SeededEntropy(1))
    low, high = told.confidence(outputs, 0.9)
    assert ((low <= 0.5) & (high >= 0.5)).mean() < 0.9 - 0.024


def test_every_coordinate_of_a_box_has_an_interval_of_its_own():
    mechanism = ib.BoundedGaussian(ib.Box([0, 0], [1, 100]), 1, [0.01, 1.0])
    low, high = mechanism.confidence(np.array([[0.5, 50.0], [0.0, 100.0]]), 0.95)
    assert low.shape == high.shape == (2, 2)
    assert low[0] == pytest.approx([0.5 - 0.0196, 50 - 1.96], abs=1e-3)
    assert (low[1, 0], high[1, 1]) == (0, 100)


def test_a_number_gives_numbers():
    low, high = ib.ClampedLaplace(ib.Box(0, 1), 1, 0.1).confidence(0.5, 0.95)
    assert type(low) is type(high) is float


def test_pure_noise_gives_the_whole_box():
    assert ib.BoundedLaplace(ib.Box(0, 1), 1, 1e6).confidence(0.3, 0.95) == (0.0, 1.0)


def test_a_level_that_doubles_cannot_resolve_gives_the_whole_box():
    mechanism = ib.BoundedGaussian(ib.Box(0, 1), 1, 0.01)
    assert mechanism.confidence(0.5, 1 - 2.0**-53) == (0.0, 1.0)


@pytest.mark.parametrize("level", [0, 1, -0.5, 95, [0.9]])
def test_the_level_is_a_probability(level):
    with pytest.raises(ArgumentError, match="level must be a number strictly between 0 and 1"):
        ib.BoundedGaussian(ib.Box(0, 1), 1, 1.0).confidence(0.5, level)


def test_what_no_release_can_be_is_refused():
    with pytest.raises(ArgumentError, match="outputs must lie in the box"):
        ib.BoundedGaussian(ib.Box(0, 1), 1, 1.0).confidence([0.5, 1.5], 0.9)


@pytest.mark.parametrize("sigma", [1e-7, 0.05, 0.6, 50.0])
@pytest.mark.parametrize("output", [0.0, 0.02, 0.5, 0.97, 1.0])
def test_an_interval_ends_where_outputs_are_as_far_with_one_minus_the_level(output, sigma):
    m = ib.BoundedGaussian(ib.Box([0.0], [1.0]), 1, sigma)
    ends = [float(end[0]) for end in m.confidence(np.array([output]), 0.95)]
    assert 0 <= ends[0] <= output <= ends[1] <= 1
    for end, bound in zip(ends, (0.0, 1.0), strict=True):
        distribution = truncnorm(-end / sigma, (1 - end) / sigma, end, sigma)
        nearer = distribution.cdf(end + abs(output - end)) - distribution.cdf(
            end - abs(output - end)
        )
        assert nearer == pytest.approx(0.95, abs=1e-5) or (end == bound and nearer < 0.95)


def test_intervals_of_a_box_are_those_of_its_coordinates():
    m = ib.BoundedGaussian(ib.Box([0.0, -0.5], [1.0, 0.5]), 1, 0.2)
    low, high = m.confidence(np.array([[0.3, -0.2], [0.9, 0.4]]), 0.95)
    assert low[:, 1] == pytest.approx(low[:, 0] - 0.5)
    assert high[:, 1] == pytest.approx(high[:, 0] - 0.5)


@pytest.mark.parametrize(
    ("box", "value"),
    [
        (ib.Box(0, 1e6 - 0.0009, step=1), 999990.4992),
        (ib.Box(0, 5e5 + 0.00045, step=0.5), 499999.7501),
    ],
    ids=["fewer", "more"],
)
def test_a_width_of_nearly_whole_steps_is_allowed_for(box, value):
    """Numbers are whole steps, though what is rounded to them is cut a little beside."""
    mechanism = ib.BoundedGaussian(box, 1.0, sigma=1e-5)
    outputs = np.array([mechanism.release(value) for _ in range(100)])
    low, high = mechanism.confidence(outputs, 0.95)
    assert ((low <= value) & (value <= high)).mean() > 0.8


def test_equal_outputs_have_equal_intervals_in_the_shape_of_the_outputs() -> None:
    m = ib.BoundedGaussian(ib.Box(0, 10, step=1), 1, 2.0)
    outputs = np.array([[3, 0, 3], [10, 3, 7]])
    low, high = m.confidence(outputs, 0.9)
    alone = [m.confidence(int(output), 0.9) for output in outputs.flat]
    assert list(zip(low.flat, high.flat, strict=True)) == alone
    assert low.shape == high.shape == outputs.shape
