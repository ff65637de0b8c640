import math

import numpy as np
import pytest
from mpmath import mp, mpf

from inbounds import L1, L2, PerCoordinate
from inbounds.calibration import approximate, concentrated
from inbounds.calibration.approximate import (
    delta_upper_bound,
    gaussian_delta,
    gaussian_mu,
    rho_delta,
    sigma_for_delta,
)
from inbounds.calibration.cover import TIGHT
from inbounds.calibration.exact import pure_loss, smallest_sigma
from inbounds.errors import ArgumentError
from inbounds.numerics import divergence
from inbounds.reach import Reach

ONE = np.ones(1)


def interval(width: float, change: float) -> tuple[np.ndarray, Reach]:
    return np.array([width]), Reach(np.array([change]), None, np.inf)


def best_pair(u: float, gamma: float, epsilon: float, points: int = 3001) -> tuple[float, float]:
    """The largest δ among many pairs, by the library's formula, and where it is."""
    s = np.linspace(0, u - gamma, points)
    slope = divergence.mean_slope(u, gamma, s)
    delta = divergence.delta_of_cells(u, gamma, epsilon, s, slope)
    return float(delta.max()), float(s[delta.argmax()])


def true_delta(u: float, gamma: float, epsilon: float, s: float) -> mpf:
    """By quadrature of (p_s - e^ε p_{s+γ})₊ from the definition."""
    first, second = (
        lambda v, centre=centre: mp.exp(-((v - centre) ** 2) / 2)
        for centre in (mpf(s), mpf(s) + mpf(gamma))
    )
    masses = [mp.quad(distribution, mp.linspace(0, u, 9)) for distribution in (first, second)]
    ratio = mp.log(masses[1] / masses[0]) + mpf(gamma) * (s + mpf(gamma) / 2)
    z = min(mpf(u), (ratio - mpf(epsilon)) / gamma)
    if z <= 0:
        return mpf(0)

    def excess(v: mpf) -> mpf:
        return first(v) / masses[0] - mp.exp(epsilon) * second(v) / masses[1]

    return mp.quad(excess, mp.linspace(0, z, 9))


def random_intervals(count: int) -> list[tuple[float, float, float]]:
    rng = np.random.default_rng(7)
    intervals = []
    for index in range(count):
        u = float(10 ** rng.uniform(-3, 1.3))
        gamma = u * float((rng.uniform(), 10 ** rng.uniform(-9, 0), 1.0)[index % 3])
        fraction = float((rng.uniform(), 1 - 10 ** rng.uniform(-4, 0), 0.0)[index // 3 % 3])
        intervals.append((u, gamma, fraction))
    return intervals


@pytest.mark.parametrize(("u", "gamma", "fraction"), random_intervals(36))
def test_the_bound_is_at_most_one_percent_above_a_pair_that_exists(
    u: float, gamma: float, fraction: float
) -> None:
    widths, reach = interval(u, gamma)
    epsilon = fraction * pure_loss(widths, reach, ONE).epsilon
    bound = delta_upper_bound(widths, reach, ONE, epsilon)
    best, place = best_pair(u, gamma, epsilon)
    assert best <= bound * (1 + 1e-9)
    with mp.workdps(50):
        truth = true_delta(u, gamma, epsilon, place)
    assert truth <= bound
    if truth > 1e-12:
        assert bound <= truth * mpf("1.01")


@pytest.mark.parametrize("epsilon", [706.5, 1051.0, 2845.0])
def test_the_bound_holds_where_exp_of_epsilon_overflows(epsilon: float) -> None:
    u, gamma = 60.0, 45.0
    bound = delta_upper_bound(*interval(u, gamma), ONE, epsilon)
    with mp.workdps(30):
        assert true_delta(u, gamma, epsilon, 7.5) <= bound


def test_neither_the_middle_nor_the_end_alone_is_the_worst_place() -> None:
    widths, reach = interval(5.0, 0.5)
    pure = pure_loss(widths, reach, ONE).epsilon
    places = [best_pair(5.0, 0.5, fraction * pure)[1] for fraction in (0.0, 0.5, 0.99)]
    assert places[0] == pytest.approx(2.25, abs=2e-3)
    assert 2.3 < places[1] < 4.4
    assert places[2] == 4.5


def test_from_the_pure_epsilon_on_delta_is_nought() -> None:
    widths, reach = interval(3.0, 1.0)
    pure = pure_loss(widths, reach, ONE).epsilon
    assert delta_upper_bound(widths, reach, ONE, pure) == 0
    assert 0 < delta_upper_bound(widths, reach, ONE, 0.99 * pure) < 1e-3


@pytest.mark.parametrize("epsilon", [0.05, 0.3, 1.0, 4.0, 30.0])
@pytest.mark.parametrize("rho", [1e-4, 0.01, 0.2, 2.0])
def test_zcdp_gives_at_least_the_delta_of_the_gaussian_that_has_it(
    rho: float, epsilon: float
) -> None:
    """√(2ρ)-GDP is ρ-zCDP, so no valid conversion is below its δ; ours is within a factor 30."""
    computed, exact = rho_delta(rho, epsilon), gaussian_delta(math.sqrt(2 * rho), epsilon)
    assert exact <= computed <= min(1.0, 30 * exact + 1e-300)


def pair_delta(u: np.ndarray, s: np.ndarray, other: np.ndarray, epsilon: float) -> float:
    """∫(p - e^ε q)₊ of two coordinates by a grid of midpoints."""
    distributions = []
    for centre in (s, other):
        sides = []
        for width, at in zip(u, centre, strict=True):
            v = (np.arange(600) + 0.5) * width / 600
            side = np.exp(-((v - at) ** 2) / 2)
            sides.append(side / side.sum())
        distributions.append(np.outer(*sides))
    return float(np.maximum(distributions[0] - math.exp(epsilon) * distributions[1], 0).sum())


@pytest.mark.parametrize("seed", range(12))
def test_no_pair_on_a_rectangle_exceeds_the_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    widths = 10 ** rng.uniform(-0.3, 1, 2)
    caps = widths * rng.uniform(0.1, 1, 2)
    sensitivity = (PerCoordinate(caps), L2(float(caps.max())), L1(float(caps.max())))[seed % 3]
    reach = sensitivity.within(widths)
    sigma = np.ones(2)
    epsilon = float(rng.uniform(0, 0.8)) * pure_loss(widths, reach, sigma).epsilon
    bound = delta_upper_bound(widths, reach, sigma, epsilon)
    for _ in range(20):
        change = reach.caps * rng.uniform(0.5, 1, 2)
        if reach.order is not None:
            change *= min(1.0, reach.radius / float(np.linalg.norm(change, reach.order)))
        s = (widths - change) * rng.uniform(0, 1, 2)
        assert pair_delta(widths, s, s + change, epsilon) <= bound * 1.01


def test_on_a_box_the_least_of_three_bounds_counts() -> None:
    reach = PerCoordinate([1.0, 1.0]).within(np.array([2.0, 2.0]))
    narrow, wide = np.array([2.0, 2.0]), np.array([100.0, 100.0])
    sigma = np.ones(2)
    gaussian = gaussian_delta(math.sqrt(2) * (1 + 1e-13), 1.0)
    assert delta_upper_bound(wide, reach, sigma, 1.0) == pytest.approx(gaussian, rel=1e-9)
    by_rho = rho_delta(concentrated.rho_upper_bound(narrow, reach, sigma), 1.5)
    assert delta_upper_bound(narrow, reach, sigma, 1.5) == by_rho < gaussian_delta(1.4, 1.5)
    assert delta_upper_bound(narrow, reach, sigma, 3.0) == 0


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize(
    "sensitivity", [L2(2.0), L1(2.0), PerCoordinate([1, 1, 2]), L2(2.0) & PerCoordinate([1, 1, 2])]
)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_sigma_on_a_box_is_at_most_the_gaussian_and_the_pure_one(
    sensitivity: L2, epsilon: float, scaled: bool
) -> None:
    widths = np.array([3.0, 8.0, 20.0])
    reach = sensitivity.within(widths)
    shape = widths if scaled else np.ones(3)
    sigma = sigma_for_delta(widths, reach, shape, epsilon, 1e-6)
    assert delta_upper_bound(widths, reach, sigma, epsilon) <= 1e-6
    scale = float(sigma[0] / shape[0])
    np.testing.assert_allclose(sigma, scale * shape, rtol=1e-15)
    pure = smallest_sigma(widths, reach, shape, epsilon)[0][0] / shape[0]
    gaussian = concentrated.mu_upper_bound(widths, reach, shape) / gaussian_mu(epsilon, 1e-6)
    assert scale <= min(pure, gaussian) * (1 + 1e-12)
    assert delta_upper_bound(widths, reach, sigma * (1 - 1e-5), epsilon) > 1e-6


def test_zcdp_beats_both_others_on_many_narrow_coordinates() -> None:
    """With 400 coordinates pure ε adds up; the plain Gaussian ignores that little is left."""
    widths, shape = np.full(400, 1.0), np.ones(400)
    reach = PerCoordinate(np.full(400, 0.5)).within(widths)
    sigma = float(sigma_for_delta(widths, reach, shape, 1.0, 1e-6)[0])
    pure = float(smallest_sigma(widths, reach, shape, 1.0)[0][0])
    gaussian = concentrated.mu_upper_bound(widths, reach, shape) / gaussian_mu(1.0, 1e-6)
    assert sigma < 0.6 * min(pure, gaussian)


def test_epsilon_nought_can_be_asked_for() -> None:
    widths, reach = interval(10.0, 1.0)
    sigma = sigma_for_delta(widths, reach, ONE, 0.0, 0.01)
    assert delta_upper_bound(widths, reach, sigma, 0.0) <= 0.01
    assert sigma[0] < 1 / gaussian_mu(0.0, 0.01)


@pytest.mark.parametrize("u", [1e-6, 1e-3, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("fraction", [2.0**-240, 1e-9, 0.5, 1.0])
@pytest.mark.parametrize("epsilon", [0.0, 1e-12, 1.0, 750.0])
def test_extreme_intervals_give_valid_bounds(u: float, fraction: float, epsilon: float) -> None:
    widths, reach = interval(1e9 * u, 1e9 * u * fraction)
    bound = delta_upper_bound(widths, reach, np.array([1e9]), epsilon)
    assert 0 <= bound <= gaussian_delta(u * fraction * (1 + 1e-13), epsilon)


@pytest.mark.parametrize("delta", [1e-290, 1e-30, 0.5, 1 - 1e-9])
@pytest.mark.parametrize("epsilon", [1e-9, 1.0, 900.0])
@pytest.mark.parametrize("fraction", [1e-12, 1.0])
def test_extreme_requests_are_met(fraction: float, epsilon: float, delta: float) -> None:
    widths, reach = interval(1e-3, 1e-3 * fraction)
    sigma = sigma_for_delta(widths, reach, ONE, epsilon, delta)
    assert 0 < sigma[0] < math.inf
    assert delta_upper_bound(widths, reach, sigma, epsilon) <= delta


def test_a_delta_below_what_doubles_can_tell_is_refused() -> None:
    widths = np.array([1.0, 1.0])
    with pytest.raises(ArgumentError, match="delta is too small"):
        sigma_for_delta(widths, L2(0.5).within(widths), np.ones(2), 0.0, 1e-250)


def test_a_delta_that_exceeds_the_request_by_one_rounding_is_refused() -> None:
    """The search compares δ itself: two neighbouring doubles can have the same square root."""
    delta = 1e-6
    above = math.nextafter(delta, 1.0)
    assert math.sqrt(above) == math.sqrt(delta)
    for threshold in (0.7, 1.0):
        scale = approximate._smallest_scale(
            lambda scale, least=threshold: delta if scale >= least else above, delta, 1.0
        )
        assert threshold <= scale <= threshold * (1 + 1e-6)


FIRST_ORDER = [  # sensitivity over width, ε, δ, and σ on a width of 120 by the bound 3 (a) alone
    (1e-05, 0.001, 1e-12, 6.494762632612948),
    (1e-05, 0.4216965034285822, 1e-06, 0.011337715791558987),
    (2.1544346900318823e-05, 0.0023713737056616554, 0.1, 0.010178114095632207),
    (2.1544346900318823e-05, 2.371373705661655, 1e-09, 0.006263842370461204),
    (4.641588833612782e-05, 0.01333521432163324, 0.001, 0.4338101394683855),
    (4.641588833612782e-05, 13.33521432163324, 1e-12, 0.0032051684406135808),
    (0.0001, 0.07498942093324558, 1e-06, 0.5698911618861143),
    (0.0001, 31.622776601683793, 0.1, 0.0017425946355535769),
    (0.00021544346900318823, 0.4216965034285822, 1e-09, 0.3250036927433519),
    (0.00046415888336127773, 0.0023713737056616554, 0.001, 11.333719540004148),
    (0.00046415888336127773, 2.371373705661655, 1e-12, 0.15911721126582284),
    (0.001, 0.01333521432163324, 1e-06, 25.387496699553978),
    (0.001, 5.623413251903491, 0.1, 0.04755594894654998),
    (0.002154434690031882, 0.07498942093324558, 1e-09, 16.689696275100886),
    (0.002154434690031882, 31.622776601683793, 0.001, 0.0467168466486891),
    (0.004641588833612777, 0.4216965034285822, 1e-12, 8.44218496517608),
    (0.01, 0.0023713737056616554, 1e-06, 173.7618628776539),
    (0.01, 1.0, 0.1, 1.3030533182303619),
    (0.021544346900318822, 0.01333521432163324, 1e-09, 112.50763451103698),
    (0.021544346900318822, 5.623413251903491, 0.001, 1.6268784125504405),
    (0.046415888336127774, 0.07498942093324558, 1e-12, 72.88834028155901),
    (0.046415888336127774, 31.622776601683793, 1e-06, 1.2147764635524634),
    (0.1, 0.1778279410038923, 0.1, 26.996384118125093),
    (0.21544346900318823, 0.0023713737056616554, 1e-09, 808.839753321001),
    (0.21544346900318823, 1.0, 0.001, 42.90052500475141),
    (0.46415888336127725, 0.01333521432163324, 1e-12, 501.24469850986117),
    (0.46415888336127725, 5.623413251903491, 1e-06, 28.56831694595591),
    (1.0, 0.03162277660168379, 0.1, 124.34962443602114),
    (1.0, 31.622776601683793, 1e-09, 15.089167477423066),
    (0.001, 0.03162277660168379, 1e-06, 12.719849975943546),
    (0.21544346900318823, 0.001, 1e-06, 1207.0699506185415),
    (0.46415888336127725, 0.001, 0.001, 757.290977819118),
    (0.1, 5.623413251903491, 1e-12, 14.432545243644709),
    (1.0, 0.001, 0.1, 132.49985469227988),
    (0.46415888336127725, 31.622776601683793, 1e-06, 11.968639449511013),
]


@pytest.mark.parametrize(("fraction", "epsilon", "delta", "earlier"), FIRST_ORDER)
def test_sigma_is_proved_tight_and_never_above_that_of_the_simpler_bound(
    fraction: float, epsilon: float, delta: float, earlier: float
) -> None:
    widths, reach = interval(120.0, 120 * fraction)
    sigma = sigma_for_delta(widths, reach, ONE, epsilon, delta)
    assert delta_upper_bound(widths, reach, sigma, epsilon) <= delta
    assert (1 - 1e-3) * earlier <= sigma[0] <= (1 + 1e-6) * earlier
    scale = float(sigma[0]) * (1 - 1e-6)
    least = best_pair(120 / scale, 120 * fraction / scale, epsilon)[0]
    assert least > delta * (1 - 3 * TIGHT)  # so a sigma smaller by more is not private
