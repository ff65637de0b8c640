"""Moments and denoised values outside the table, from w/σ = 1e-9 to 1e7."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy.special import erf

import inbounds as ib


def mass(low: mpf, high: mpf) -> mpf:
    """∫exp(-z²/2) over [low, high] for low <= 0 <= high."""
    root = mp.sqrt(2)
    return mp.sqrt(mp.pi / 2) * (mp.erf(high / root) - mp.erf(low / root))


def exact_moments(lower: mpf, upper: mpf, sigma: mpf, value: mpf) -> tuple[mpf, mpf, mpf]:
    """Bias, variance and mean squared error by their closed forms."""
    low, high = (lower - value) / sigma, (upper - value) / sigma
    at_low, at_high = mp.exp(-low * low / 2), mp.exp(-high * high / 2)
    whole = mass(low, high)
    bias = sigma * (at_low - at_high) / whole
    mse = sigma**2 * (1 + (low * at_low - high * at_high) / whole)
    return bias, mse - bias**2, mse


def posterior_mean(width: float, sigma: float, position: float) -> float:
    """E[s | x] under a uniform prior, from the lower bound: two integrals over s, on 64 panels."""
    low, high = max(0.0, position - 14 * sigma), min(width, position + 14 * sigma)
    nodes, weights = np.polynomial.legendre.leggauss(20)
    panels = low + (high - low) * np.arange(64)[:, None] / 64
    s = (panels + (high - low) / 64 * (nodes + 1) / 2).ravel()
    inside = erf(s / sigma / math.sqrt(2)) + erf((width - s) / sigma / math.sqrt(2))
    likelihood = np.tile(weights, 64) * np.exp(-(((position - s) / sigma) ** 2) / 2) / inside
    return math.fsum(s * likelihood) / math.fsum(likelihood)


BOXES = [(0.0, 1.0), (-3.0, 7.0), (1e9, 1e9 + 1), (-1e-6, 0.0), (-2e11, 8e11)]
RATIOS = [10.0**k for k in range(-9, 8, 2)] + [0.3, 2.0, 5.0, 9.0, 30.0]


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize(("lower", "upper"), BOXES)
def test_moments_hold_to_1e_9_anywhere_in_the_box(lower: float, upper: float, ratio: float) -> None:
    width, sigma = upper - lower, (upper - lower) / ratio
    mechanism = ib.BoundedGaussian(ib.Box(lower, upper), width, sigma)
    values = lower + width * np.array([0.0, 1e-6, 0.03, 0.25, 0.6, 0.875, 1.0])
    found = np.stack([mechanism.bias(values), mechanism.variance(values), mechanism.mse(values)])
    with mp.workdps(100):
        numbers = [(mpf(lower), mpf(upper), mpf(sigma), mpf(value)) for value in values.tolist()]
        expected = np.array([list(map(float, exact_moments(*each))) for each in numbers]).T
    tiny = np.finfo(float).tiny  # a bias that underflows is nought
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=tiny)


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize(("lower", "upper"), BOXES)
def test_denoised_values_hold_to_1e_7_anywhere_in_the_box(
    lower: float, upper: float, ratio: float
) -> None:
    width, sigma = upper - lower, (upper - lower) / ratio
    mechanism = ib.BoundedGaussian(ib.Box(lower, upper), width, sigma)
    outputs = lower + width * np.array([0.0, 1e-6, 0.03, 0.25, 0.6, 0.875, 1.0])
    expected = [posterior_mean(width, sigma, output - lower) for output in outputs.tolist()]
    tolerance = 4 * math.ulp(max(abs(lower), abs(upper)))  # what a double near the box can hold
    np.testing.assert_allclose(
        mechanism.denoise(outputs) - lower, expected, rtol=1e-7, atol=tolerance
    )
