"""Staircase noise in whole steps: closed forms against sums of fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest

from inbounds.calibration.lattice_staircase import lattice_variance
from inbounds.numerics.staircase import Staircase, best_plateau
from inbounds.numerics.step_staircase import StepStaircase, rounded_variance

SHAPES = [
    (Fraction(1, 2), 1, 0),
    (Fraction(1, 3), 5, 0),
    (Fraction(1, 3), 5, 2),
    (Fraction(9, 10), 7, 6),
    (Fraction(1, 10**6), 4, 1),
    (Fraction(1, 10**9), 1, 0),
    (Fraction(99, 100), 6, 3),
]
each_shape = pytest.mark.parametrize(("alpha", "period", "half"), SHAPES)


def chance(n: int, alpha: Fraction, period: int, half: int) -> Fraction:
    level = max(0, -(-(abs(n) - half) // period))
    weight = 2 * half + 1 + alpha * (2 * period - 2 * half - 1)
    return alpha**level * (1 - alpha) / weight


def tail(j: int, alpha: Fraction, period: int, half: int) -> Fraction:
    first = sum(chance(max(j, 1) + i, alpha, period, half) for i in range(period)) / (1 - alpha)
    return first + (chance(0, alpha, period, half) if j == 0 else 0)


def noise_of(alpha: Fraction, period: int, half: int) -> StepStaircase:
    return StepStaircase(-math.log(alpha), period, half)


@each_shape
def test_probabilities_and_tails_are_the_sums_of_fractions(
    alpha: Fraction, period: int, half: int
) -> None:
    noise, shape = noise_of(alpha, period, half), (alpha, period, half)
    assert 2 * tail(1, *shape) + chance(0, *shape) == 1
    steps = np.arange(-30.0, 31.0)
    exact = [float(chance(int(n), *shape)) for n in steps]
    assert noise.chance(steps) == pytest.approx(exact, rel=1e-12)
    tails = [tail(j, *shape) for j in range(31)]
    assert noise.tail(np.arange(31.0)) == pytest.approx([float(t) for t in tails], rel=1e-12)
    upto = [tails[-n] if n < 0 else 1 - tail(n + 1, *shape) for n in range(-30, 31)]
    assert noise.upto(steps) == pytest.approx([float(u) for u in upto], rel=1e-12)


@each_shape
def test_moments_of_clamped_noise_are_the_sums_of_fractions(
    alpha: Fraction, period: int, half: int
) -> None:
    noise = noise_of(alpha, period, half)
    once = twice = Fraction(0)
    for most in range(40):
        if most:
            once += tail(most, alpha, period, half)
            twice += (2 * most - 1) * tail(most, alpha, period, half)
        end = np.asarray(float(most))
        assert float(noise.half_mean(end)) == pytest.approx(float(once), rel=1e-12)
        assert float(noise.half_second_moment(end)) == pytest.approx(float(twice), rel=1e-12)


@each_shape
def test_the_variance_is_that_of_the_levels_and_of_unclamped_moments(
    alpha: Fraction, period: int, half: int
) -> None:
    noise = noise_of(alpha, period, half)
    expected = lattice_variance(period, 2 * half + 1, noise.epsilon)
    assert noise.variance == pytest.approx(expected, rel=1e-9)
    far = np.asarray(period * math.ceil(60 / noise.epsilon) + 10.0)
    assert noise.variance == pytest.approx(2 * float(noise.half_second_moment(far)), rel=1e-10)


@each_shape
def test_it_is_the_continuous_staircase_rounded(alpha: Fraction, period: int, half: int) -> None:
    noise = noise_of(alpha, period, half)
    continuous = Staircase(noise.epsilon, noise.gamma)
    steps = np.arange(1.0, 40.0)
    assert continuous.tail((steps - 0.5) / period) == pytest.approx(noise.tail(steps), rel=1e-10)
    wide = noise.epsilon < 0.1  # then the rounding itself is left out
    rounded = rounded_variance(continuous, 1 / period)
    assert rounded == pytest.approx(noise.variance, rel=1e-6 if wide else 1e-9)


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 3.0, 8.0, 30.0])
@pytest.mark.parametrize("period", [1, 2, 3, 10, 37])
def test_the_best_plateau_has_the_least_variance_of_all(epsilon: float, period: int) -> None:
    best = StepStaircase.best(epsilon, period)
    least = min(StepStaircase(epsilon, period, half).variance for half in range(period))
    assert best.variance == pytest.approx(least, rel=1e-12)


def test_rounding_hardly_matters_for_noise_that_is_much_wider_than_a_step() -> None:
    noise = Staircase(0.01, best_plateau(0.01))
    assert rounded_variance(noise, 0.5) == pytest.approx(noise.variance / 0.25, abs=1 / 6)
    assert rounded_variance(noise, 0.05) == noise.variance / 0.05**2 + 1 / 12


def test_extreme_epsilons_give_finite_numbers() -> None:
    for epsilon in (1e-100, 1e-9, 50.0, 700.0, 1e4):
        noise = StepStaircase.best(epsilon, 5)
        ends = np.array([0.0, 1.0, 7.0, 2.0**40])
        for moment in (noise.half_mean(ends), noise.half_second_moment(ends), noise.tail(ends)):
            assert np.isfinite(moment).all()
        assert math.isfinite(noise.variance) or epsilon < 1e-50


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99, 0.999999])
def test_plausible_steps_are_those_that_no_test_excludes(level: float) -> None:
    for alpha, period, half in SHAPES:
        noise, last = noise_of(alpha, period, half), 13
        first, end = noise.plausible(np.arange(last + 1.0), last, level)
        for j in range(last + 1):
            kept = []
            for k in range(last + 1):
                away = abs(j - k)
                sides = (k >= away) + (k + away <= last)
                if not away or sides * tail(away, alpha, period, half) >= 1 - Fraction(level):
                    kept.append(k)
            assert kept == list(range(int(first[j]), int(end[j]) + 1))
