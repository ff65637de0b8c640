"""Moments fit together and are those of the distribution, for every mechanism."""

from typing import Any

import numpy as np
import pytest

from inbounds import BoundedGaussian, BoundedLaplace, Box, ClampedGaussian, ClampedLaplace

CLAMPED = (ClampedGaussian, ClampedLaplace)
each_kind = pytest.mark.parametrize("kind", [BoundedGaussian, BoundedLaplace, *CLAMPED])


@each_kind
@pytest.mark.parametrize("scale", [1e-6, 0.3, 2.0, 40.0, 1e9])
def test_moments_fit_together_and_stay_in_the_box(kind: Any, scale: float) -> None:
    mechanism = kind(Box(0, 10), 1.0, scale)
    values = np.linspace(0, 10, 9)
    bias, variance = mechanism.bias(values), mechanism.variance(values)
    np.testing.assert_allclose(mechanism.mean(values), values + bias, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(mechanism.mse(values), variance + bias**2, rtol=1e-13)
    assert (variance > 0).all()
    assert ((mechanism.mean(values) >= 0) & (mechanism.mean(values) <= 10)).all()
    low, high = mechanism.mass_at_bounds(values)
    assert (low == high[::-1]).all()
    assert ((low + high > 0) == (kind in CLAMPED)).all() or scale < 1


@each_kind
@pytest.mark.parametrize("value", [0.0, 0.01, 3.0, 10.0])
@pytest.mark.parametrize("scale", [0.3, 2.0, 40.0])
def test_moments_are_those_of_the_cdf(kind: Any, value: float, scale: float) -> None:
    """E f(X) = f(10) - ∫f'(x)F(x)dx, by the midpoint rule."""
    mechanism = kind(Box(0, 10), 1.0, scale)
    x = (np.arange(200_000) + 0.5) / 20_000
    below = mechanism.cdf(x, value)
    mean = 10 - below.sum() / 20_000
    square = (10 - value) ** 2 - (2 * (x - value) * below).sum() / 20_000
    assert mechanism.mean(value) == pytest.approx(mean, rel=1e-7)
    assert mechanism.mse(value) == pytest.approx(square, rel=1e-6)
