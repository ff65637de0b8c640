"""Density and quantiles fit together, for every mechanism."""

from typing import Any

import numpy as np
import pytest

from inbounds import BoundedGaussian, BoundedLaplace, Box, ClampedGaussian, ClampedLaplace

CLAMPED = (ClampedGaussian, ClampedLaplace)
each_kind = pytest.mark.parametrize("kind", [BoundedGaussian, BoundedLaplace, *CLAMPED])


def interval(kind: Any) -> Any:
    return kind(Box(0, 10), 1.0, 2.0)


@each_kind
def test_the_density_is_the_slope_of_the_cdf(kind: Any) -> None:
    mechanism = interval(kind)
    x = np.linspace(0.1, 9.9, 50)
    slope = (mechanism.cdf(x + 1e-5, 3.0) - mechanism.cdf(x - 1e-5, 3.0)) / 2e-5
    np.testing.assert_allclose(mechanism.pdf(x, 3.0), slope, rtol=1e-5)
    assert mechanism.pdf([-1.0, 11.0], 3.0).tolist() == [0, 0]
    assert mechanism.cdf([-1e300, -1e-9, 10.0, 1e300], 3.0).tolist() == [0, 0, 1, 1]


@each_kind
def test_quantiles_and_intervals_hold_their_probability(kind: Any) -> None:
    mechanism = interval(kind)
    values = np.array([0.0, 2.0, 10.0])
    q = np.linspace(0.01, 0.99, 15)[:, None]
    x = mechanism.quantile(q, values)
    below = mechanism.cdf(x, values)
    inside = (x > 0) & (x < 10)
    np.testing.assert_allclose(below[inside], np.broadcast_to(q, x.shape)[inside], rtol=1e-12)
    assert (below >= q - 1e-15).all()
    low, high = mechanism.output_interval(values, 0.9)
    assert ((low >= 0) & (low < high) & (high <= 10)).all()


@each_kind
def test_reflecting_the_box_reflects_the_law(kind: Any) -> None:
    mirror, plain = kind(Box(-10, 0), 1.0, 2.0), interval(kind)
    values = np.array([0.0, 2.0, 7.0, 10.0])
    assert mirror.epsilon == plain.epsilon
    np.testing.assert_allclose(mirror.mean(-values), -plain.mean(values), rtol=1e-13)
    np.testing.assert_allclose(mirror.variance(-values), plain.variance(values), rtol=1e-13)
    low, high = plain.mass_at_bounds(values)
    mirrored = mirror.mass_at_bounds(-values)
    assert mirrored[0].tolist() == high.tolist()
    assert mirrored[1].tolist() == low.tolist()


def test_the_old_name_of_output_interval_works_and_says_so():
    mechanism = BoundedGaussian(Box(0, 1), 0.1, sigma=0.1)
    with pytest.warns(DeprecationWarning, match="output_interval"):
        old = mechanism.interval(0.5, 0.95)
    assert old == mechanism.output_interval(0.5, 0.95)
