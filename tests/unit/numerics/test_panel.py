import numpy as np
import pytest

from inbounds.numerics.laplace import LAPLACE
from inbounds.numerics.noise import Noise
from inbounds.numerics.normal import NORMAL
from inbounds.numerics.panel import odd_about_the_middle

WIDTHS = [1e-6, 1e-2, 0.3, 0.999, 1.0, 1.7, 3.0, 7.0, 20.0, 31.9, 32.1, 90.1, 1e4]


def places(width: float) -> np.ndarray:
    """Everywhere, near both bounds, and at them."""
    rng = np.random.default_rng(16)
    near = np.minimum(width, 10 ** rng.uniform(-9, 2, 500))
    return np.concatenate([rng.uniform(0, width, 1500), near, width - near, [0, width / 2, width]])


@pytest.mark.parametrize("noise", [NORMAL, LAPLACE], ids=repr)
@pytest.mark.parametrize("width", WIDTHS)
def test_posterior_means_by_polynomials_are_those_by_quadrature(noise: Noise, width: float) -> None:
    def shift(x: np.ndarray) -> np.ndarray:
        return noise.posterior_mean(x, np.full_like(x, width)) - x

    x = places(width)
    by_panels = odd_about_the_middle(shift, x, width, noise.reach)
    np.testing.assert_allclose(by_panels, shift(x), rtol=0, atol=1e-13 * width)


@pytest.mark.parametrize("noise", [NORMAL, LAPLACE], ids=repr)
@pytest.mark.parametrize("width", WIDTHS)
def test_biases_by_polynomials_are_those_of_the_formula(noise: Noise, width: float) -> None:
    x = places(width)
    by_panels = odd_about_the_middle(lambda x: noise.bias(x, width - x), x, width, noise.reach)
    np.testing.assert_allclose(by_panels, noise.bias(x, width - x), rtol=0, atol=1e-13 * width)


def test_the_function_is_asked_for_places_in_the_lower_half_only() -> None:
    asked = []

    def function(x: np.ndarray) -> np.ndarray:
        asked.append(x)
        return 0.5 - x

    values = odd_about_the_middle(function, np.array([[0.0, 0.25], [0.5, 1.0]]), 1.0, 9.0)
    np.testing.assert_allclose(values, [[0.5, 0.25], [0.0, -0.5]], atol=1e-15)
    assert 0 < np.concatenate(asked).min() < np.concatenate(asked).max() < 0.5


def test_beyond_its_reach_the_function_is_nought() -> None:
    values = odd_about_the_middle(np.ones_like, np.array([2.9, 3.1, 6.9, 7.1]), 10.0, 3.0)
    np.testing.assert_allclose(values, [1, 0, 0, -1], atol=1e-14)
