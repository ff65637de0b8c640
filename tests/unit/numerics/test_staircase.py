"""Staircase noise, against formulas in 40 digits and sums over its periods."""

import mpmath
import numpy as np
import pytest

from inbounds.numerics.staircase import Staircase, best_plateau

EPSILONS = (1e-6, 1e-3, 0.1, 1.0, 3.0, 5.0, 20.0, 50.0)
each_epsilon = pytest.mark.parametrize("epsilon", EPSILONS)
DISTANCES = (0.0, 1e-9, 0.02, 0.3, 0.5, 0.77, 1.0, 1.2, 2.0, 2.9, 11.0, 57.3)


def steps(noise: Staircase, end: float) -> list[tuple[mpmath.mpf, mpmath.mpf, mpmath.mpf]]:
    """The pieces [low, high] of constant density from 0 up to `end`, with their densities."""
    epsilon, gamma, stop = (mpmath.mpf(number) for number in (noise.epsilon, noise.gamma, end))
    alpha = mpmath.exp(-epsilon)
    height = (1 - alpha) / (2 * (gamma + alpha * (1 - gamma)))
    pieces = []
    for k in range(int(mpmath.ceil(stop))):
        pieces.append((mpmath.mpf(k), min(k + gamma, stop), height * alpha**k))
        pieces.append(
            (min(k + gamma, stop), min(mpmath.mpf(k + 1), stop), height * alpha ** (k + 1))
        )
    return pieces


def clamped_moments(noise: Staircase, end: float) -> list[float]:
    """The tail, and the first two moments of noise clamped at `end`, by a sum over all pieces."""
    with mpmath.workdps(80):
        pieces = steps(noise, end)
        tail = mpmath.mpf(1) / 2 - sum(d * (high - low) for low, high, d in pieces)
        first = sum(d * (high**2 - low**2) / 2 for low, high, d in pieces) + end * tail
        second = sum(d * (high**3 - low**3) / 3 for low, high, d in pieces) + end**2 * tail
        return [float(tail), float(first), float(second)]


@each_epsilon
def test_the_best_plateau_and_its_variance_are_those_of_geng_and_viswanath(epsilon: float) -> None:
    with mpmath.workdps(60):
        a = mpmath.exp(-mpmath.mpf(epsilon))
        root = mpmath.cbrt(a - 2 * a**2 + 2 * a**4 - a**5)
        gamma = -a / (1 - a) + root / (mpmath.cbrt(2) * (1 - a) ** 2)
        variance = (mpmath.cbrt(a * (1 + a) / 2) ** 2 + a) / (1 - a) ** 2
    assert best_plateau(epsilon) == pytest.approx(float(gamma), rel=4e-15)
    noise = Staircase(epsilon, float(gamma))
    assert noise.variance == pytest.approx(float(variance), rel=1e-14)


@pytest.mark.parametrize("epsilon", EPSILONS[1:])
def test_no_other_plateau_has_less_variance(epsilon: float) -> None:
    best = Staircase(epsilon, best_plateau(epsilon)).variance
    for factor in (0.9, 0.99, 1.01, 1.1):
        assert Staircase(epsilon, factor * best_plateau(epsilon)).variance > best


def test_a_plateau_within_four_thousandths_costs_less_than_a_ten_thousandth() -> None:
    for epsilon in EPSILONS:
        gamma = best_plateau(epsilon)
        best = Staircase(epsilon, gamma).variance
        assert Staircase(epsilon, gamma * 1.004).variance < best * 1.0001


@each_epsilon
@pytest.mark.parametrize("distance", DISTANCES)
def test_moments_of_clamped_noise_are_sums_over_periods(epsilon: float, distance: float) -> None:
    for gamma in (best_plateau(epsilon), 0.2):
        noise, end = Staircase(epsilon, gamma), np.asarray(distance)
        tail, first, second = clamped_moments(noise, distance)
        assert float(noise.tail(end)) == pytest.approx(tail, rel=2e-13, abs=1e-70)
        assert float(noise.half_mean(end)) == pytest.approx(first, rel=2e-14, abs=1e-70)
        assert float(noise.half_second_moment(end)) == pytest.approx(second, rel=4e-14, abs=1e-70)


@each_epsilon
def test_moments_far_out_are_those_without_a_bound(epsilon: float) -> None:
    noise, far = Staircase(epsilon, best_plateau(epsilon)), np.asarray(60 / epsilon + 60)
    assert 2 * float(noise.half_second_moment(far)) == pytest.approx(noise.variance, rel=1e-13)


@each_epsilon
def test_the_density_is_the_slope_of_the_distribution_and_falls_by_one_factor(
    epsilon: float,
) -> None:
    noise = Staircase(epsilon, best_plateau(epsilon))
    inner, outer = noise.gamma * 0.25, noise.gamma * 0.75
    mass = float(np.diff(noise.cumulative(np.array([inner, outer])))[0])
    assert mass == pytest.approx(
        float(noise.density(np.asarray(inner))) * (outer - inner), rel=1e-6
    )
    before, after = noise.density(np.array([noise.gamma * 0.999, noise.gamma + 0.5]))
    assert before / after == pytest.approx(np.exp(epsilon), rel=1e-12)


@each_epsilon
def test_the_quantile_inverts_the_distribution(epsilon: float) -> None:
    noise = Staircase(epsilon, best_plateau(epsilon))
    q = np.array([1e-12, 1e-3, 0.1, 0.3, 0.499, 0.5, 0.6, 0.95, 0.999])
    assert noise.cumulative(noise.quantile(q)) == pytest.approx(q, rel=1e-11)
    ends = noise.quantile(np.array([0.0, 0.5, 1.0]))
    assert ends.tolist() == [-np.inf, 0.0, np.inf]


def test_the_total_variation_is_half_the_integral_of_the_difference() -> None:
    places = (np.arange(-4 * 10**5, 4 * 10**5) + 0.5) / 10**4
    for epsilon, gamma in ((0.5, 0.46), (1.0, 0.41), (3.0, 0.26), (3.0, 0.7)):
        noise = Staircase(epsilon, gamma)
        difference = np.abs(noise.density(places) - noise.density(places - 1))
        assert noise.total_variation == pytest.approx(difference.sum() / 2e4, rel=1e-7)
    assert Staircase(1.0, best_plateau(1.0)).total_variation == pytest.approx(0.447944, abs=5e-7)


@pytest.mark.parametrize("epsilon", [1e-100, 800.0, 1e100])
def test_extreme_epsilons_give_finite_numbers(epsilon: float) -> None:
    noise, ends = Staircase(epsilon, max(best_plateau(epsilon), 1e-12)), np.array([0.0, 0.5, 1e15])
    for numbers in (noise.tail(ends), noise.half_mean(ends), noise.half_second_moment(ends)):
        assert np.isfinite(numbers).all()
        assert (numbers >= 0).all()
