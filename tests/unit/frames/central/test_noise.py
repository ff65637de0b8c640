"""Outputs beyond the range are read as if the noise had been clamped to it."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from inbounds.domain import Box
from inbounds.frames.central.noise import Noise
from inbounds.mechanisms.bounded_gaussian import BoundedGaussian
from inbounds.mechanisms.clamped_gaussian import ClampedGaussian
from inbounds.mechanisms.clamped_laplace import ClampedLaplace

RANGES = Box([0.0, -0.25], [1.0, 0.25])
FACTORS = np.array([1.0, 0.5])


def wide(kind: Any, scale: float, beyond: float, groups: int = 1) -> Noise:
    lower, upper = (np.tile(np.asarray(side), groups) for side in (RANGES.lower, RANGES.upper))
    return Noise(kind(Box(lower - beyond, upper + beyond), 0.1, scale), RANGES, FACTORS)


def test_sums_are_rounded_once_and_stay_in_their_range() -> None:
    size, noise = 6000, wide(ClampedLaplace, 0.01, 1.0, groups=2)
    sums = [[Fraction(1, 3), Fraction(-1, 7)], [Fraction(9 * size), Fraction(-size)]]
    values = noise.values(sums, size).reshape(2, 2)
    assert values[0].tolist() == [float(Fraction(1, 3) / size), float(Fraction(-1, 14) / size)]
    assert values[1].tolist() == [1.0, -0.25]


@pytest.mark.parametrize("kind", [ClampedLaplace, ClampedGaussian])
@pytest.mark.parametrize("scale", [0.01, 0.4, 5.0])
def test_outputs_moved_into_the_range_are_those_of_noise_clamped_to_it(
    kind: Any, scale: float
) -> None:
    """Both have the same probabilities below every number of the range."""
    value = np.array([0.3, -0.25])
    places = np.linspace(0, 1, 101)[:-1, None] * RANGES.widths + np.asarray(RANGES.lower)
    clamped = kind(RANGES, 0.1, scale)
    assert np.allclose(
        wide(kind, scale, 40 * scale).mechanism.cdf(places, value),
        clamped.cdf(places, value),
        rtol=0,
        atol=1e-15,
    )
    assert (clamped.cdf(np.asarray(RANGES.upper), value) == 1).all()


def test_intervals_are_those_of_clamped_noise_and_hold_its_outputs() -> None:
    noise = wide(ClampedLaplace, 0.01, 0.4)
    outputs = np.array([[-0.3, 0.1], [0.5, 0.6], [1.3, -0.26]])
    low, high = noise.confidence(outputs, 0.95)
    inside = np.clip(outputs, RANGES.lower, RANGES.upper)
    ends = ClampedLaplace(RANGES, 0.1, 0.01).confidence(inside, 0.95)
    assert np.allclose(low, ends[0] / FACTORS, atol=1e-8)
    assert np.allclose(high, ends[1] / FACTORS, atol=1e-8)
    assert (low <= inside / FACTORS).all()
    assert (inside / FACTORS <= high).all()
    assert (high - low > 0.02).all()  # even beyond the range


def test_intervals_know_the_grid_of_the_outputs() -> None:
    """A box of 2⁴⁵ has outputs 32 apart, which tell nothing of a range of 1."""
    noise = wide(ClampedLaplace, 0.01, 2.0**44)
    outputs = noise.mechanism.release(np.array([0.4, 0.1]))[None]
    low, high = noise.confidence(outputs, 0.95)
    assert low.tolist() == [[0, -0.5]]
    assert high.tolist() == [[1, 0.5]]


def test_estimates_are_not_moved_and_have_the_error_of_plain_noise() -> None:
    noise = wide(ClampedGaussian, 0.1, 4.0)
    outputs = np.array([[-0.3, 0.9]])
    assert noise.estimates(outputs).tolist() == [[-0.3, 1.8]]
    assert noise.errors(outputs) == pytest.approx(np.array([[0.1, 0.2]]))
    assert noise.widest == pytest.approx(0.2)


def test_errors_are_averaged_over_a_part_of_the_range() -> None:
    noise = Noise(BoundedGaussian(RANGES, 0.1, 0.3), RANGES, FACTORS)
    for part in (1.0, 0.2):
        places = np.linspace(0, part, 20_001)[:, None] * RANGES.widths + np.asarray(RANGES.lower)
        expected = noise.mechanism.mse(places).mean(axis=0) / FACTORS**2
        assert noise.average_errors(part) == pytest.approx(expected, rel=1e-3)
