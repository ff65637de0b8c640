import math
import random
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution

from inbounds.accounting import lattice
from inbounds.accounting.lattice import Release, common_step, delta, nonnegative

MIXTURES: list[tuple[Release, ...]] = [
    ((0.5, 0.2, 3), (0.25, 0.1, 2)),
    ((1.0, 0.1, 2), (0.3, 0.14, 2), (0.7, 0.2, 1)),
    ((0.1, 1.0, 3), (3.0, 0.5, 2)),
    ((math.pi, 0.9, 2), (math.e, 0.3, 2)),
]


def every_outcome(releases: tuple[Release, ...], epsilon: float) -> mpmath.mpf:
    """Delta, from the list of all losses that the releases can have together."""
    losses = {mpmath.mpf(0): mpmath.mpf(1)}
    for pure, variation, count in releases:
        a = min(variation / -mpmath.expm1(-mpmath.mpf(pure)), 1 / (1 + mpmath.exp(-pure)))
        b = a * mpmath.exp(-mpmath.mpf(pure))
        for _ in range(count):
            longer: dict[mpmath.mpf, mpmath.mpf] = {}
            for loss, chance in losses.items():
                for step, probability in ((pure, a), (0, 1 - a - b), (-pure, b)):
                    longer[loss + step] = longer.get(loss + step, 0) + chance * probability
            losses = longer
    lost = (chance * -mpmath.expm1(epsilon - loss) for loss, chance in losses.items())
    return sum(lost_mass for lost_mass in lost if lost_mass > 0)


def test_equal_releases_cost_at_least_the_truth_and_hardly_more() -> None:
    draw = random.Random(14)
    for _ in range(150):
        pure, count = 10 ** draw.uniform(-3, 1.5), draw.randint(1, 7)
        fraction = draw.choice([1.0, draw.random(), 10 ** draw.uniform(-12, 0)])
        releases = ((pure, math.tanh(pure / 2) * fraction, count),)
        epsilon = draw.random() * count * pure * draw.choice([0, 0.9, 0.9])
        with mpmath.workdps(50):
            exact = every_outcome(releases, epsilon)
        assert exact <= delta(releases, epsilon) <= exact * (1 + 1e-9) + 1e-280


@pytest.mark.parametrize("gap", [1e-15, 1e-12, 1e-6])
def test_delta_just_below_the_pure_epsilon_is_not_rounded_to_less(gap: float) -> None:
    epsilon = 5 * (1 - gap)
    with mpmath.workdps(50):
        exact = every_outcome(((1.0, 0.3, 5),), epsilon)
    assert 0 < exact <= delta(((1.0, 0.3, 5),), epsilon)


def test_a_multiple_of_epsilon_that_is_rounded_down_counts_in_full() -> None:
    assert Fraction(3 * 0.7) < 3 * Fraction(0.7)
    with mpmath.workdps(50):
        exact = every_outcome(((0.7, 0.3, 3),), 3 * 0.7)
    assert 1e-18 < exact <= delta(((0.7, 0.3, 3),), 3 * 0.7)


@pytest.mark.parametrize("releases", MIXTURES, ids=range(len(MIXTURES)))
def test_different_releases_cost_at_least_the_truth_and_little_more(
    releases: tuple[Release, ...],
) -> None:
    total = math.fsum(pure * count for pure, _, count in releases)
    for fraction in (0.0, 0.1, 0.35, 0.6, 0.8):
        with mpmath.workdps(40):
            exact = every_outcome(releases, total * fraction)
        assert exact <= delta(releases, total * fraction) <= exact + 0.01


def test_a_common_step_is_exact_where_there_is_one_and_never_too_short() -> None:
    releases: tuple[Release, ...] = ((0.5, 0.2, 3), (0.75, 0.1, 2), (1.25, 0.1, 1))
    step, multiples = common_step(releases)
    assert multiples == [2, 3, 5]
    assert step == pytest.approx(0.25, rel=1e-12)
    for mixture in (
        *MIXTURES,
        ((1e-9, 1e-10, 1), (30.0, 0.5, 5)),
        ((0.1, 0.01, 9000), (1, 0.1, 9)),
    ):
        step, multiples = common_step(mixture)
        for (epsilon, _, _), multiple in zip(mixture, multiples, strict=True):
            assert epsilon <= multiple * step
            assert (multiple - 1) * step < epsilon


def test_many_releases_agree_with_powers_of_integers() -> None:
    """For e^ε = 2 and η = 1/5, steps +1, 0 and -1 have the probabilities 2/5, 2/5 and 1/5."""
    count, bits = 700, 4096
    packed = (2 + (2 << bits) + (1 << 2 * bits)) ** count
    ways = [(packed >> k * bits) & ((1 << bits) - 1) for k in range(count + 1)]
    exact = [Fraction(way, 5**count) for way in reversed(ways)]
    masses = nonnegative(math.log(2), 0.2, count)
    rounding = 1 + (32 * count + 256) * 2.0**-52
    for mass, probability in zip(masses.tolist(), exact, strict=True):
        if probability > Fraction(1e-290):
            assert Fraction(mass * rounding) >= probability
            assert mass <= probability * (1 + Fraction(1, 10**10))
    epsilon, ratio = 100 * math.log(2), Fraction(2) ** 100
    truth = sum(p * (1 - ratio / 2**s) for s, p in enumerate(exact) if s > 100)
    assert truth <= Fraction(delta(((math.log(2), 0.2, count),), epsilon)) * (1 + Fraction(1e-15))
    assert delta(((math.log(2), 0.2, count),), epsilon) <= truth * (1 + Fraction(1, 10**9))


@pytest.mark.parametrize("times", [1, 10, 100])
def test_it_agrees_with_the_distribution_of_dp_accounting(times: int) -> None:
    a, ratio = 0.4, math.exp(0.5)
    upper = {"first": math.log(a), "middle": math.log(1 - a - a / ratio), "last": math.log(a) - 0.5}
    lower = upper | {"first": upper["last"], "last": upper["first"]}
    theirs = privacy_loss_distribution.from_two_probability_mass_functions(
        lower, upper, value_discretization_interval=1e-4
    ).self_compose(times)
    variation = math.nextafter(a * (1 - 1 / ratio), 1)
    for fraction in (0.0, 0.1, 0.4, 0.9):
        epsilon = fraction * times * 0.5
        ours = delta(((0.5, variation, times),), epsilon)
        assert ours <= theirs.get_delta_for_epsilon(epsilon) + 1e-12
        assert ours >= theirs.get_delta_for_epsilon(epsilon + 2e-4 * times) - 1e-12


def test_ten_thousand_randomised_responses_follow_the_binomial_distribution() -> None:
    count, pure, epsilon = 10**4, 0.01, 1.5
    with mpmath.workdps(40):
        p = 1 / (1 + mpmath.exp(-mpmath.mpf(pure)))
        first = count // 2 + round(epsilon / pure / 2)
        chance = mpmath.binomial(count, first) * p**first * (1 - p) ** (count - first)
        exact = mpmath.mpf(0)
        for k in range(first, first + 1500):
            exact += chance * max(-mpmath.expm1(epsilon - (2 * k - count) * mpmath.mpf(pure)), 0)
            chance *= (count - k) * p / ((k + 1) * (1 - p))
    bound = delta(((pure, 1.0, count),), epsilon)
    assert exact <= bound <= exact * (1 + mpmath.mpf(1e-8))


def test_delta_decreases_and_ends_at_nothing() -> None:
    releases: tuple[Release, ...] = ((0.3, 0.1, 50),)
    deltas = [delta(releases, epsilon) for epsilon in np.linspace(0.0, 15.1, 200).tolist()]
    assert deltas == sorted(deltas, reverse=True)
    assert deltas[-1] <= 1e-280


def test_too_many_releases_are_not_counted() -> None:
    assert delta(((0.1, 0.01, 10**5 + 1),), 1.0) == 1.0
    assert delta(((0.1, 0.01, 10**5), (0.2, 0.01, 1)), 1.0) == 1.0
    assert lattice.composed(((0.1, 0.01, 10**15),)) is None


@pytest.mark.parametrize("pure", [1e-300, 1e-20, 1.0, 600.0, 800.0, 1e8])
@pytest.mark.parametrize("variation", [5e-324, 1e-300, 1e-9, 0.5, 1.0])
def test_extreme_releases_have_a_delta(pure: float, variation: float) -> None:
    for releases in (((pure, variation, 9),), ((pure, variation, 9), (1.0, 0.3, 2))):
        assert 0 <= delta(releases, 0.0) <= 1
        assert 0 <= delta(releases, pure) <= delta(releases, 0.0)
