import math

import mpmath
import numpy as np
import pytest

from inbounds.profile import LARGEST, pure_mu, pure_rho, response_delta, tabulated

EPSILONS = [1e-300, 1e-20, 1e-9, 1e-3, 0.5, 0.999999, 1.0, 3.0, 40.0, 300.0, 699.0]


def true_delta(pure: float, epsilon: float) -> mpmath.mpf:
    with mpmath.workdps(60):
        excess = max(mpmath.mpf(0), mpmath.mpf(pure) - mpmath.mpf(epsilon))
        return -mpmath.expm1(-excess) / (1 + mpmath.exp(-mpmath.mpf(pure)))


@pytest.mark.parametrize("pure", EPSILONS)
@pytest.mark.parametrize("fraction", [0.0, 1e-9, 0.3, 1 - 1e-12, 1.0, 1.5])
def test_delta_of_randomised_response_is_rounded_up_by_little(pure: float, fraction: float) -> None:
    exact, bound = true_delta(pure, pure * fraction), response_delta(pure, pure * fraction)
    assert exact <= bound <= exact * (1 + mpmath.mpf(1e-11))


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_mu_of_a_pure_epsilon_is_rounded_up_by_little(epsilon: float) -> None:
    with mpmath.workdps(400):
        corner = 1 / (1 + mpmath.exp(mpmath.mpf(epsilon)))
        if epsilon < 100:
            exact = 2 * mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * corner)
            assert exact <= pure_mu(epsilon) <= exact * (1 + mpmath.mpf(1e-11)) + mpmath.mpf(2e-300)
        else:  # the Gaussian's curve at the corner is the corner or lower
            assert mpmath.ncdf(-mpmath.mpf(pure_mu(epsilon)) / 2) <= corner


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 5.0])
def test_the_gaussian_with_that_mu_is_no_more_private_than_randomised_response(
    epsilon: float,
) -> None:
    mu = mpmath.mpf(pure_mu(epsilon))
    for fraction in np.linspace(0, 1, 21):
        x = mpmath.mpf(epsilon * fraction)
        near, far = mpmath.ncdf(mu / 2 - x / mu), mpmath.ncdf(-mu / 2 - x / mu)
        assert near - mpmath.exp(x) * far >= true_delta(epsilon, float(x))


@pytest.mark.parametrize("epsilon", [1e-9, 0.1, 1.0, 2.0, 5.0, 30.0])
def test_rho_of_a_pure_epsilon_bounds_every_renyi_divergence(epsilon: float) -> None:
    with mpmath.workdps(60):
        p = 1 / (1 + mpmath.exp(-mpmath.mpf(epsilon)))
        for alpha in (1.0001, 1.5, 2, 10, 1000):
            a = mpmath.mpf(alpha)
            moment = p**a * (1 - p) ** (1 - a) + (1 - p) ** a * p ** (1 - a)
            assert mpmath.log(moment) / (a - 1) <= a * pure_rho(epsilon)


def test_a_profile_ends_where_delta_is_negligible_and_stays_above_it() -> None:
    def delta(epsilon: float) -> float:
        return math.exp(-60 * epsilon)

    points = tabulated(delta, 1e6)
    top, last = points[-1]
    assert 0 < last <= 1e-24 < delta(top / 2)
    assert all(y == delta(x) for x, y in points)


def test_a_profile_of_an_infinite_epsilon_ends_at_the_largest() -> None:
    points = tabulated(lambda epsilon: 0.5 / (1 + epsilon), math.inf)
    assert points[-1] == (LARGEST, 0.5 / (1 + LARGEST))
