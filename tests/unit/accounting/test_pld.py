import math

import mpmath
import numpy as np
import pytest

from inbounds.accounting import pld
from inbounds.calibration.approximate import gaussian_delta
from inbounds.loss import PrivacyLoss
from inbounds.profile import response_delta


def responses(epsilon: float, times: int, at: float, *, then: float = 0.0) -> mpmath.mpf:
    """Delta at `at` of `times` randomised responses, and one more at `then`: a binomial sum."""
    with mpmath.workdps(40 + int(max(epsilon, then))):
        step, last, goal = mpmath.mpf(epsilon), mpmath.mpf(then), mpmath.mpf(at)
        p, q = 1 / (1 + mpmath.exp(-step)), 1 / (1 + mpmath.exp(-last))
        total, weight = mpmath.mpf(0), (1 - p) ** times
        for k in range(times + 1):
            for sign, fraction in ((1, q), (-1, 1 - q)):
                excess = (2 * k - times) * step + sign * last - goal
                if excess > 0:
                    total -= weight * fraction * mpmath.expm1(-excess)
            weight *= p / (1 - p) * (times - k) / (k + 1)
        return total


def gaussian(mu: float, top: float, points: int = 64) -> PrivacyLoss:
    steps = [top * k / points for k in range(points + 1)]
    return PrivacyLoss(
        math.inf, math.inf, math.inf, tuple((x, gaussian_delta(mu, x)) for x in steps)
    )


@pytest.mark.parametrize(
    ("epsilon", "times"),
    [(1e-9, 1000), (1e-3, 1000), (0.1, 10), (0.1, 100), (0.1, 1000), (0.01, 1500), (1.0, 1),
     (1.0, 30), (1.0, 1000), (10.0, 3), (200.0, 2)],
)  # fmt: skip
def test_randomised_responses_cost_what_the_binomial_sum_says(epsilon: float, times: int) -> None:
    losses = ((PrivacyLoss.pure(epsilon), times),)
    mean, deviation = times * epsilon * math.tanh(epsilon / 2), epsilon * math.sqrt(times)
    for far in (0.0, 2.1, 4.7, 6.1, 8.2):
        at = min(mean + far * deviation, 0.999 * times * epsilon)
        exact, computed = responses(epsilon, times, at), pld.delta(losses, at)
        assert exact <= computed <= exact * mpmath.mpf(1 + 1e-6) + 1e-14 * (10 + times)


@pytest.mark.parametrize("times", [1, 10, 200])
def test_cells_that_miss_the_points_only_raise_delta(times: int) -> None:
    losses = ((PrivacyLoss.pure(0.1), times), (PrivacyLoss.pure(0.3141592), 1))
    for at in (0.0, 0.05, 0.21, 0.4, 1.0):
        exact, computed = responses(0.1, times, at, then=0.3141592), pld.delta(losses, at)
        assert exact <= computed <= exact * mpmath.mpf(1.01) + 1e-12


def test_one_large_and_many_small_losses_stay_tight() -> None:
    losses = ((PrivacyLoss.pure(10.0), 1), (PrivacyLoss.pure(1e-3), 1000))
    for at in (10.0, 10.05, 10.1):
        exact, computed = responses(1e-3, 1000, at, then=10.0), pld.delta(losses, at)
        assert exact <= computed <= exact * mpmath.mpf(1.5) + 1e-11


@pytest.mark.parametrize("times", [1, 10, 100, 1000, 5000])
def test_gaussian_profiles_compose_to_a_gaussian(times: int) -> None:
    mu = 0.1
    losses = ((gaussian(mu, 1.1), times),)
    together = mu * math.sqrt(times)
    for far in (0.0, 1.0, 2.0, 3.0, 4.0):
        epsilon = together * (together / 2 + far)
        exact, computed = gaussian_delta(together, epsilon), pld.delta(losses, epsilon)
        assert exact <= computed <= 1.15 * exact


@pytest.mark.parametrize("times", [1, 3, 1024, 1025, 10**6])
def test_mass_is_kept_or_added_never_lost(times: int) -> None:
    many = pld.composed(((PrivacyLoss.pure(1e-3), times), (gaussian(0.01, 0.1), 2)))
    mass = many._pmf_remove._probs.sum() + many._pmf_remove._infinity_mass
    assert 1 - 2e-15 * (10 + times) <= mass <= 1 + 1e-6 + 1e-10 * times


def test_a_million_releases_stay_tight() -> None:
    mu = 1e-3
    losses = ((gaussian(mu, 0.011), 10**6),)
    for epsilon in (0.5, 2.0, 4.0):
        exact, computed = gaussian_delta(1.0, epsilon), pld.delta(losses, epsilon)
        assert exact <= computed <= 1.2 * exact + 1e-8


def test_the_last_delta_of_a_profile_may_be_lost_for_good() -> None:
    losses = ((PrivacyLoss.approximate(0.0, 0.01), 3), (PrivacyLoss.approximate(0.1, 0.001), 1))
    everything = 1 - 0.99**3 * 0.999
    assert everything <= pld.delta(losses, 50.0) <= everything + 1e-10
    assert pld.delta(((PrivacyLoss.pure(1e3), 2),), 10.0) == 1.0


def test_many_distinct_losses_are_composed_in_pairs() -> None:
    distinct = tuple((PrivacyLoss.pure(0.1 + 1e-4 * k), 1) for k in range(101))
    less, more = (((PrivacyLoss.pure(x), 101),) for x in (0.1, 0.11))
    for epsilon in (0.5, 2.0, 4.0):
        lower, upper = pld.delta(less, epsilon), pld.delta(more, epsilon)
        assert lower * 0.999 < pld.delta(distinct, epsilon) < upper * 1.01


def test_the_convex_curve_of_convex_points_goes_through_them() -> None:
    points = PrivacyLoss.pure(1.0).profile
    epsilons, deltas = np.array(points).T
    assert pld.convex(points, epsilons) == pytest.approx(deltas, rel=1e-12, abs=1e-15)
    mirrored = 1 - np.exp(-epsilons) * (1 - deltas)
    assert pld.convex(points, -epsilons) == pytest.approx(mirrored, rel=1e-12)


def test_a_point_that_is_too_high_is_passed_under() -> None:
    raised = tuple(
        (x, y * (1.5 if 0 < k % 7 < 6 else 1.0))
        for k, (x, y) in enumerate(PrivacyLoss.pure(1.0).profile)
    )
    truth = np.array([response_delta(1.0, x) for x, _ in raised])
    computed = pld.convex(raised, np.array([x for x, _ in raised]))
    assert (computed >= truth * (1 - 1e-12)).all()
    assert (computed <= 1.02 * truth + 0.03).all()


def test_the_curve_is_convex_across_zero_and_covers_both_directions() -> None:
    noisy = tuple((x, y * (1.001 if k == 0 else 1.0)) for k, (x, y) in
                  enumerate(gaussian(0.05, 0.5, 512).profile))  # fmt: skip
    x = np.linspace(-0.5, 0.5, 2001)
    slopes = np.diff(pld.convex(noisy, x)) / np.diff(np.exp(x))
    assert (np.diff(slopes) >= -1e-9).all()
    assert (slopes <= 0).all()
    assert (slopes >= -1 - 1e-9).all()
    truth = np.array([gaussian_delta(0.05, abs(e)) for e in x])
    truth = np.where(x < 0, 1 - np.exp(-np.abs(x)) * (1 - truth), truth)
    assert (pld.convex(noisy, x) >= truth - 1e-15).all()


@pytest.mark.parametrize("step", [0.3, 0.1, 1 / 64, 1e-3])
def test_a_distribution_is_above_its_profile_whatever_the_cells(step: float) -> None:
    one = pld.single(PrivacyLoss.pure(1.0).profile, step)
    assert one._pmf_remove.to_dense_pmf()._probs.sum() == pytest.approx(1.0, abs=1e-9)
    for epsilon in np.linspace(0, 1.2, 49):
        computed = float(one.get_delta_for_epsilon(epsilon))
        assert computed >= response_delta(1.0, epsilon) * (1 - 1e-11) - 1e-15
        assert computed <= response_delta(1.0, max(0.0, epsilon - step)) + 1e-10
