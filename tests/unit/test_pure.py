import math
from itertools import pairwise

import mpmath
import numpy as np
import pytest

from inbounds import profile
from inbounds.pure import (
    likely,
    pure_delta,
    pure_epsilon,
    pure_mu,
    pure_renyi,
    pure_rho,
    pure_variation,
    response_delta,
)

EPSILONS = [1e-300, 1e-20, 1e-9, 1e-3, 0.5, 0.999999, 1.0, 3.0, 40.0, 300.0, 699.0]
FRACTIONS = [1e-20, 1e-9, 1e-3, 0.1, 0.3, 0.3333, 0.34, 0.5, 0.9, 0.999999, 1 - 1e-12]
ORDERS = [1 + 1e-15, 1.0001, 1.5, 2.0, 10.0, 1e3, 1e8]


def true_delta(pure: float, epsilon: float) -> mpmath.mpf:
    with mpmath.workdps(60):
        excess = max(mpmath.mpf(0), mpmath.mpf(pure) - mpmath.mpf(epsilon))
        return -mpmath.expm1(-excess) / (1 + mpmath.exp(-mpmath.mpf(pure)))


def log_moment(epsilon: float, variation: float, order: mpmath.mpf) -> mpmath.mpf:
    """(order - 1) times the divergence, from the three probabilities themselves."""
    ratio = mpmath.exp(mpmath.mpf(epsilon))
    a = variation * ratio / (ratio - 1)
    p, q = (a, 1 - a - a / ratio, a / ratio), (a / ratio, 1 - a - a / ratio, a)
    terms = (x**order * y ** (1 - order) for x, y in zip(p, q, strict=True))
    return mpmath.log(sum(terms))


@pytest.mark.parametrize("pure", EPSILONS)
@pytest.mark.parametrize("fraction", [0.0, 1e-9, 0.3, 1 - 1e-12, 1.0, 1.5])
def test_delta_of_randomised_response_is_rounded_up_by_little(pure: float, fraction: float) -> None:
    exact, bound = true_delta(pure, pure * fraction), response_delta(pure, pure * fraction)
    assert exact <= bound <= exact * (1 + mpmath.mpf(1e-11))
    assert pure_delta(pure, pure_variation(pure), pure * fraction) == bound


@pytest.mark.parametrize("pure", EPSILONS)
@pytest.mark.parametrize("fraction", FRACTIONS)
def test_delta_is_on_the_chord_from_the_total_variation_to_zero(
    pure: float, fraction: float
) -> None:
    variation = math.tanh(pure / 2) * fraction
    for epsilon in (0.0, 0.3 * pure, pure * (1 - 1e-9)):
        with mpmath.workdps(60):
            left = -mpmath.expm1(mpmath.mpf(epsilon) - mpmath.mpf(pure))
            exact = variation * left / -mpmath.expm1(-mpmath.mpf(pure))
        assert exact <= pure_delta(pure, variation, epsilon) <= exact * (1 + 1e-11) + 1e-323
    assert pure_delta(pure, variation, pure) == 0


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_mu_of_a_pure_epsilon_is_rounded_up_by_little(epsilon: float) -> None:
    with mpmath.workdps(400):
        corner = 1 / (1 + mpmath.exp(mpmath.mpf(epsilon)))
        if epsilon < 100:
            exact = 2 * mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * corner)
            assert exact <= pure_mu(epsilon) <= exact * (1 + mpmath.mpf(1e-11)) + mpmath.mpf(2e-300)
        else:  # the Gaussian's curve at the corner is the corner or lower
            assert mpmath.ncdf(-mpmath.mpf(pure_mu(epsilon)) / 2) <= corner


@pytest.mark.parametrize("epsilon", [1e-200, 1e-6, 1e-3, 0.5, 0.999999, 1.0, 3.0, 40.0])
@pytest.mark.parametrize("fraction", FRACTIONS)
def test_the_curve_of_a_gaussian_with_that_mu_is_below_both_corners(
    epsilon: float, fraction: float
) -> None:
    variation = math.tanh(epsilon / 2) * fraction
    with mpmath.workdps(500 if epsilon < 1e-100 else 80):
        a = variation / -mpmath.expm1(-mpmath.mpf(epsilon))
        b = a * mpmath.exp(-mpmath.mpf(epsilon))
        start = mpmath.mpf(pure_mu(epsilon, variation))
        lower = quantile(b)
        assert mpmath.ncdf(lower + start) >= a
        assert mpmath.ncdf(lower + start * (1 - mpmath.mpf(1e-8))) < a


def quantile(probability: mpmath.mpf) -> mpmath.mpf:
    """By Newton's method, from a guess below it; Φ is convex there."""
    if probability > 0.5:
        return -quantile(1 - probability)
    x = -mpmath.sqrt(-2 * mpmath.log(probability))
    for _ in range(200):
        step = (mpmath.ncdf(x) - probability) / mpmath.npdf(x)
        x -= step
        if abs(step) < mpmath.mpf(10) ** (5 - mpmath.mp.dps) * abs(x):
            break
    return x


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
def test_rho_of_a_pure_epsilon_bounds_every_renyi_divergence_and_is_reached(epsilon: float) -> None:
    exact = epsilon * mpmath.tanh(mpmath.mpf(epsilon) / 2)
    assert exact <= pure_rho(epsilon) <= exact * (1 + mpmath.mpf(1e-11))
    with mpmath.workdps(60):
        p = 1 / (1 + mpmath.exp(-mpmath.mpf(epsilon)))
        for alpha in (1.0001, 1.5, 2, 10, 1000):
            a = mpmath.mpf(alpha)
            moment = p**a * (1 - p) ** (1 - a) + (1 - p) ** a * p ** (1 - a)
            assert mpmath.log(moment) / (a - 1) <= a * pure_rho(epsilon)


@pytest.mark.parametrize("epsilon", [1e-20, 1e-3, 0.5, 1.0, 5.0, 40.0, 300.0, 900.0])
@pytest.mark.parametrize("fraction", FRACTIONS)
def test_divergences_are_rounded_up_by_little(epsilon: float, fraction: float) -> None:
    variation = math.tanh(epsilon / 2) * fraction
    assert variation * epsilon <= pure_renyi(epsilon, variation, 1.0)
    for order in ORDERS:
        bound = pure_renyi(epsilon, variation, order)
        assert bound <= epsilon
        with mpmath.workdps(120):
            if (order - 1) * epsilon < 1e4:
                moment = log_moment(epsilon, variation, mpmath.mpf(order))
            else:  # the others are smaller by a factor of e^-10000
                a = variation / -mpmath.expm1(-mpmath.mpf(epsilon))
                moment = (mpmath.mpf(order) - 1) * epsilon + mpmath.log(a)
            exact = moment / (mpmath.mpf(order) - 1)
        assert min(exact, epsilon) <= bound <= exact * (1 + mpmath.mpf(1e-11)) + 1e-290
    assert pure_renyi(epsilon, variation, math.inf) == epsilon


@pytest.mark.parametrize("epsilon", [1e-20, 1e-3, 0.5, 1.0, 5.0, 40.0, 300.0, 900.0])
@pytest.mark.parametrize("fraction", FRACTIONS)
def test_rho_is_at_least_every_divergence_by_its_order_and_little_more(
    epsilon: float, fraction: float
) -> None:
    variation = math.tanh(epsilon / 2) * fraction
    rho = pure_rho(epsilon, variation)
    with mpmath.workdps(100):
        quotients = [
            log_moment(epsilon, variation, 1 + y / epsilon) * epsilon / y / (1 + y / epsilon)
            for y in map(mpmath.mpf, np.geomspace(1e-9, 4e3, 50).tolist())
        ]
        largest = max(*quotients, mpmath.mpf(variation) * epsilon)
    assert largest <= rho <= largest * (1 + mpmath.mpf(0.1)) + 1e-290  # as orders are apart
    assert rho <= pure_rho(epsilon) <= min(epsilon * epsilon / 2 * (1 + 1e-11) + 1e-299, epsilon)


def test_more_than_randomised_response_is_not_possible() -> None:
    for epsilon in (1e-9, 1.0, 50.0):
        most = pure_variation(epsilon)
        assert math.tanh(epsilon / 2) <= most <= 1
        for variation in (most, 1.0):
            assert pure_rho(epsilon, variation) == pure_rho(epsilon)
            assert pure_mu(epsilon, variation) == pure_mu(epsilon)
            assert pure_renyi(epsilon, variation, 3.0) == pure_renyi(epsilon, None, 3.0)
            assert likely(epsilon, variation) == likely(epsilon, None)


def test_equal_distributions_cost_nothing() -> None:
    for epsilon, variation in ((1.0, 0.0), (0.0, 0.5), (0.0, None)):
        costs = pure_rho(epsilon, variation), pure_mu(epsilon, variation)
        assert (*costs, pure_renyi(epsilon, variation, 2.0)) == (0, 0, 0)
        assert pure_delta(epsilon, variation, 0.0) == 0


def test_every_bound_increases_with_epsilon_and_with_the_total_variation() -> None:
    epsilons = np.geomspace(1e-6, 800.0, 60).tolist()
    for epsilon, larger in pairwise(epsilons):
        variations = (math.tanh(epsilon / 2) * np.geomspace(1e-12, 1.0, 40)).tolist()
        for variation, more in pairwise(variations):
            for bound in (pure_rho, pure_mu, lambda e, v: pure_renyi(e, v, 2.5)):
                cost = bound(epsilon, variation) * (1 - 1e-8)
                assert 0 < cost <= min(bound(epsilon, more), bound(larger, variation))


@pytest.mark.parametrize("epsilon", [5e-324, 1e-310, 1e-300, 1.0, 745.0, 1e10, 1e308, math.inf])
@pytest.mark.parametrize("variation", [None, 5e-324, 1e-300, 1e-10, 0.5, 1.0])
def test_extreme_arguments_have_bounds(epsilon: float, variation: float | None) -> None:
    costs = [pure_rho(epsilon, variation), *(pure_renyi(epsilon, variation, n) for n in (1.0, 9.0))]
    assert all(0 < cost <= max(epsilon, 1e-300) for cost in costs)
    assert pure_mu(epsilon, variation) > 0
    assert math.isfinite(pure_mu(min(epsilon, 1e10), variation))
    assert 0 < pure_delta(epsilon, variation, 0.0) <= 1


@pytest.mark.parametrize("rho", [1e-300, 1e-100, 1e-9, 0.1, 0.5, 2.0, 30.0, 1e6, 1e100])
def test_the_epsilon_of_a_rho_gives_that_rho_and_hardly_less(rho: float) -> None:
    epsilon = pure_epsilon(rho)
    assert pure_rho(epsilon) <= rho
    assert pure_rho(epsilon) >= rho * (1 - 1e-11) - 1e-299
    assert epsilon >= max(math.sqrt(2 * max(rho - 2e-300, 0.0)), rho) * (1 - 1e-11)


def test_the_module_of_profiles_still_offers_these_names() -> None:
    assert profile.pure_rho is pure_rho
    assert profile.pure_mu is pure_mu
    assert profile.response_delta is response_delta
