import math

import numpy as np
import pytest
from mpmath import mp, mpf

from inbounds import L1, L2, PerCoordinate
from inbounds.calibration.concentrated import (
    interval_renyi,
    mu_upper_bound,
    renyi_upper_bound,
    rho_upper_bound,
    sigma_for_rho,
)
from inbounds.calibration.exact import pure_loss
from inbounds.reach import Reach
from inbounds.sensitivity import Sensitivity

ONE = np.ones(1)


def interval(width: float, change: float) -> tuple[np.ndarray, Reach]:
    return np.array([width]), Reach(np.array([change]), None, np.inf)


def log_partition(u: mpf, t: mpf) -> mpf:
    """h(t) = ln ∫exp(vt - v²/2)dv over [0, u]."""
    whole = mp.erf((u - t) / mp.sqrt(2)) + mp.erf(t / mp.sqrt(2))
    return mp.log(whole) + t * t / 2


def true_renyi(u: float, gamma: float, alpha: float, s: float) -> mpf:
    first, second = mpf(s), mpf(s) + mpf(gamma)
    tilt = alpha * first + (1 - mpf(alpha)) * second
    if alpha == 1:
        step = mpf(10) ** -100
        slope = (log_partition(u, first + step) - log_partition(u, first - step)) / (2 * step)
        return log_partition(u, second) - log_partition(u, first) - gamma * slope
    total = log_partition(u, tilt) - alpha * log_partition(u, first)
    return (total + (mpf(alpha) - 1) * log_partition(u, second)) / (mpf(alpha) - 1)


def best_renyi(u: float, gamma: float, alpha: float, points: int = 33) -> mpf:
    with mp.workdps(320):
        u_, places = mpf(u), np.linspace(0, u - gamma, points).tolist()
        return max(true_renyi(u_, gamma, alpha, s) for s in places)


@pytest.mark.parametrize("alpha", [1.0, 1.001, 2.0, 8.0, 60.0])
@pytest.mark.parametrize(
    ("u", "gamma"), [(1e-5, 3e-6), (0.01, 1e-8), (0.3, 0.3), (2.0, 0.5), (6.0, 0.01), (12.0, 0.4)]
)
def test_the_renyi_bound_is_at_least_every_pair_and_close_to_the_best(
    u: float, gamma: float, alpha: float
) -> None:
    bound, best = interval_renyi(u, gamma, 1.0, alpha), best_renyi(u, gamma, alpha)
    assert best <= bound <= best * mpf("1.005")


@pytest.mark.parametrize("alpha", [1.5, 10.0, 1e3, 1e6, 1e14, 1e300, math.inf])
@pytest.mark.parametrize("u", [1e-6, 0.01, 1.0, 30.0, 150.0, 1e6])
@pytest.mark.parametrize("fraction", [2.0**-240, 1e-6, 0.3, 1.0])
def test_the_renyi_bound_is_at_most_the_gaussian_and_the_pure_one(
    u: float, fraction: float, alpha: float
) -> None:
    widths, reach = interval(u, u * fraction)
    bound = renyi_upper_bound(widths, reach, ONE, alpha)
    pure = pure_loss(widths, reach, ONE).epsilon
    assert 0 < bound <= pure
    gaussian = alpha * (u * fraction) ** 2 / 2
    assert bound <= gaussian * (1 + 1e-12) + 1e-280 * alpha


def test_large_orders_approach_the_pure_epsilon() -> None:
    widths, reach = interval(5.0, 1.0)
    pure = pure_loss(widths, reach, ONE).epsilon
    bounds = [renyi_upper_bound(widths, reach, ONE, alpha) for alpha in (1e2, 1e4, 1e7)]
    assert bounds == sorted(bounds)
    assert 0.9 * pure < bounds[0] < 0.99 * pure
    assert bounds[2] > pure * (1 - 1e-5)
    assert renyi_upper_bound(widths, reach, ONE, math.inf) == pure


def test_on_a_box_without_a_norm_the_divergences_add_up() -> None:
    widths = np.array([2.0, 2.0, 5.0])
    caps = np.array([1.0, 1.0, 0.5])
    reach = PerCoordinate(caps).within(widths)
    sigma = np.array([1.0, 1.0, 0.7])
    parts = [interval_renyi(*each, 6.0) for each in zip(widths, caps, sigma, strict=True)]
    assert renyi_upper_bound(widths, reach, sigma, 6.0) == pytest.approx(sum(parts), rel=1e-12)


def test_many_kinds_of_coordinates_fall_back_on_rho() -> None:
    widths = np.linspace(1, 2, 100)
    reach = PerCoordinate(widths / 10).within(widths)
    sigma = np.ones(100)
    simple = 3 * rho_upper_bound(widths, reach, sigma)
    assert renyi_upper_bound(widths, reach, sigma, 3.0) == pytest.approx(simple, rel=1e-12)


@pytest.mark.parametrize("seed", range(9))
def test_no_pair_on_a_box_exceeds_the_bounds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    widths = 10 ** rng.uniform(-0.5, 0.8, 3)
    caps = widths * rng.uniform(0.2, 1, 3)
    norm = float(np.linalg.norm(caps)) / 2
    kinds: list[Sensitivity] = [PerCoordinate(caps), L2(norm) & PerCoordinate(caps), L1(norm)]
    reach = kinds[seed % 3].within(widths)
    sigma = rng.uniform(0.5, 2, 3)
    alpha = float(1 + 10 ** rng.uniform(-1, 1.3))
    bound = renyi_upper_bound(widths, reach, sigma, alpha)
    rho = rho_upper_bound(widths, reach, sigma)
    assert bound <= alpha * rho * (1 + 1e-12)
    for _ in range(30):
        change = reach.caps * rng.uniform(0, 1, 3)
        if reach.order is not None:
            change *= min(1.0, reach.radius / float(np.linalg.norm(change, reach.order)))
        s = (widths - change) * rng.uniform(0, 1, 3)
        with mp.workdps(250):
            rows = zip(widths / sigma, change / sigma, s / sigma, strict=True)
            total = sum(true_renyi(mpf(u), g, alpha, at) for u, g, at in rows)
        assert total <= bound


def largest_square_by_vertices(caps: np.ndarray, weight: np.ndarray, radius: float) -> float:
    """max Σ weight c² over an l1 ball and caps, at its vertices: all but one at a bound."""
    best = 0.0
    for order in np.array(np.meshgrid(*[[0, 1]] * caps.size)).T.reshape(-1, caps.size):
        used = float((order * caps).sum())
        if used > radius:
            continue
        base = float((order * caps**2 * weight).sum())
        left = np.minimum(caps, radius - used) * (1 - order)
        best = max(best, base + float((left**2 * weight).max()))
    return best


@pytest.mark.parametrize("seed", range(30))
def test_mu_bounds_the_l1_vertices(seed: int) -> None:
    rng = np.random.default_rng(seed)
    caps, sigma = rng.uniform(0.1, 1, 5), rng.uniform(0.5, 2, 5)
    radius = float(rng.uniform(0.3, 0.9)) * float(caps.sum())
    reach = Reach(np.minimum(caps, radius), 1, radius)
    exact = math.sqrt(largest_square_by_vertices(reach.caps, sigma**-2, radius))
    assert exact <= mu_upper_bound(np.full(5, 2.0), reach, sigma) <= 1.2 * exact


def test_mu_is_exact_for_caps_and_for_an_l2_norm() -> None:
    widths, sigma = np.array([10.0, 10.0]), np.array([1.0, 2.0])
    caps = PerCoordinate([3.0, 4.0]).within(widths)
    assert mu_upper_bound(widths, caps, sigma) == pytest.approx(math.hypot(3, 2), rel=1e-12)
    ball = L2(4.0).within(widths)
    assert mu_upper_bound(widths, ball, sigma) == pytest.approx(4.0, rel=1e-12)
    both = (L2(4.0) & PerCoordinate([3.0, 4.0])).within(widths)
    assert mu_upper_bound(widths, both, sigma) == pytest.approx(
        math.sqrt(9 + (16 - 9) / 4), rel=1e-12
    )
    one = L1(4.0).within(widths)
    assert mu_upper_bound(widths, one, sigma) == pytest.approx(4.0, rel=1e-12)


@pytest.mark.parametrize("u", [1e-6, 0.01, 1.0, 7.9, 8.1, 40.0, 1e6])
def test_rho_is_half_the_variance_left_in_the_middle(u: float) -> None:
    computed = rho_upper_bound(*interval(u, u / 10), ONE)
    with mp.workdps(60):
        half = mpf(u) / 2
        left = 1 - 2 * half * mp.npdf(half) / mp.erf(half / mp.sqrt(2))
        truth = (mpf(u / 10)) ** 2 * left / 2
        assert truth <= computed <= truth * (1 + mpf(10) ** -11)


def test_rho_is_reached_by_small_orders_in_the_middle_of_the_interval() -> None:
    """D_α/α tends to ρ for small changes in the middle: ρ cannot be lowered by more than this."""
    rho = rho_upper_bound(*interval(3.0, 0.01), ONE)
    assert interval_renyi(3.0, 0.01, 1.0, 1.5) / 1.5 == pytest.approx(rho, rel=1e-4)


@pytest.mark.parametrize("rho", [1e-12, 1e-3, 0.1, 5.0, 1e4])
@pytest.mark.parametrize("sensitivity", [L2(2.0), L1(2.0), PerCoordinate([1, 1, 2])])
@pytest.mark.parametrize("scaled", [False, True])
def test_sigma_is_the_smallest_that_keeps_rho(
    sensitivity: Sensitivity, rho: float, scaled: bool
) -> None:
    widths = np.array([3.0, 8.0, 20.0])
    reach = sensitivity.within(widths)
    sigma = sigma_for_rho(widths, reach, widths if scaled else np.ones(3), rho)
    assert rho * (1 - 1e-10) <= rho_upper_bound(widths, reach, sigma) <= rho


def test_sigma_for_rho_is_at_most_the_plain_gaussian_s() -> None:
    widths, reach = interval(1.0, 0.5)
    assert sigma_for_rho(widths, reach, ONE, 0.01)[0] < 0.3 * 0.5 / math.sqrt(2 * 0.01)
