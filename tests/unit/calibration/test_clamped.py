import itertools
import math
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy.special import ndtr

from inbounds import L1, L2, PerCoordinate
from inbounds.calibration.clamped import clamped_delta, clamped_epsilon, clamped_sigma
from inbounds.calibration.gaussian import gaussian_delta
from inbounds.reach import Reach

DIGITS = 50
WIDTHS = [1e-9, 1e-3, 0.3, 1.0, 3.0, 12.0]  # in units of sigma
FRACTIONS = [1e-6, 0.1, 0.5, 0.9, 1.0]


def above(x: Any) -> mpf:
    return mp.erfc(mpf(x) / mp.sqrt(2)) / 2


def true_pure(width: Any, change: Any, sigma: Any) -> mpf:
    """The logarithm of the ratio of the atoms, at the precision of the caller."""
    w, c, s = mpf(width), mpf(change), mpf(sigma)
    return mp.log(above((w - c) / s) / above(w / s))


def true_delta(width: Any, change: Any, sigma: Any, epsilon: Any) -> mpf:
    """By a search over thresholds at the worst pair: no formula for the best one."""
    w, c, s, e = mpf(width), mpf(change), mpf(sigma), mp.exp(mpf(epsilon))

    def gain(x: mpf) -> mpf:
        return above(x) - e * above(x + c / s)

    low, high = -w / s, (w - c) / s
    for _ in range(110):
        third = (high - low) / 3
        low, high = (
            (low + third, high) if gain(low + third) < gain(high - third) else (low, high - third)
        )
    return max(mpf(0), gain(high), gain(low), gain((w - c) / s))


def interval(change: float) -> Reach:
    return Reach(np.array([change]), None, np.inf)


@pytest.mark.parametrize("u", [*WIDTHS, 100.0, 3000.0])
@pytest.mark.parametrize("fraction", FRACTIONS)
def test_pure_epsilon_of_an_interval_is_right_and_never_below_the_truth(
    u: float, fraction: float
) -> None:
    sigma = 1 / u
    with mp.workdps(DIGITS):
        exact = true_pure(1.0, fraction, sigma)
    computed = clamped_epsilon(np.ones(1), interval(fraction), np.array([sigma]))
    assert exact <= computed <= exact * (1 + 1e-13)


@pytest.mark.parametrize("u", WIDTHS)
@pytest.mark.parametrize("fraction", FRACTIONS)
def test_delta_of_an_interval_is_right_and_never_below_the_truth(u: float, fraction: float) -> None:
    sigma = 1 / u
    with mp.workdps(DIGITS):
        top = true_pure(1.0, fraction, sigma)
        for part in (0.0, 0.2, 0.7, 0.999):
            epsilon = float(part * top)
            exact = true_delta(1.0, fraction, sigma, epsilon)
            computed = clamped_delta(1.0, fraction, sigma, epsilon)
            assert exact <= computed
            assert computed <= exact * (1 + 1e-9) or computed < 1e-320


@pytest.mark.parametrize("u", WIDTHS)
@pytest.mark.parametrize("fraction", FRACTIONS)
def test_delta_is_zero_exactly_from_the_pure_epsilon_on(u: float, fraction: float) -> None:
    top = clamped_epsilon(np.ones(1), interval(fraction), np.array([1 / u]))
    assert clamped_delta(1.0, fraction, 1 / u, top) == 0
    assert clamped_delta(1.0, fraction, 1 / u, 2 * top) == 0
    assert clamped_delta(1.0, fraction, 1 / u, top * (1 - 1e-9)) > 0


def brute_force(u: float, steps: int, epsilon: float, points: int = 121) -> float:
    """The largest δ of any pair of grid values up to `steps` apart and any threshold event."""
    place = np.linspace(0, u, points)
    below = ndtr(place[:, None] - place[None])  # below[t, s] = P(output at s is at most t)
    best = 0.0
    for events, d in itertools.product((below, 1 - below), range(1, steps + 1)):
        for first, second in ((events[:, d:], events[:, :-d]), (events[:, :-d], events[:, d:])):
            best = max(best, float((first - math.exp(epsilon) * second).max()))
    return best


@pytest.mark.parametrize("u", [0.3, 2.0, 6.0])
@pytest.mark.parametrize("steps", [12, 60, 120])
def test_no_pair_and_threshold_exceeds_delta_and_the_worst_comes_close(
    u: float, steps: int
) -> None:
    """The grid misses the best threshold by up to half a step, a second-order loss."""
    for epsilon in (0.0, 0.1, 0.5, 1.0, 3.0):
        computed = clamped_delta(u, u * steps / 120, 1.0, epsilon)
        reached = brute_force(u, steps, epsilon)
        assert reached <= computed + 1e-15
        bound_by_box = epsilon / (u * steps / 120) - u * steps / 240 >= u * (1 - steps / 120)
        assert reached >= computed - (1e-12 if bound_by_box else 1e-3 * computed + 1e-12)


def test_the_worst_threshold_is_met_when_the_grid_holds_it() -> None:
    """s - t = x·sigma exactly, found by scanning positions finely."""
    u, change = 4.0, 1.5
    for epsilon in (0.2, 0.9, 2.0):
        x = np.linspace(-u, u - change, 400_001)
        gain = ndtr(-x) - math.exp(epsilon) * ndtr(-x - change)
        computed = clamped_delta(u, change, 1.0, epsilon)
        assert float(gain.max()) == pytest.approx(computed, rel=1e-6, abs=1e-13)
        assert float(gain.max()) <= computed + 1e-15


def test_a_wide_box_leaves_the_plain_gaussian_and_a_narrow_one_gives_less() -> None:
    for epsilon in (0.6, 1.0, 3.0):
        wide = clamped_delta(1e6, 1.0, 1.0, epsilon)
        assert wide == pytest.approx(gaussian_delta(1.0, epsilon), rel=1e-12)
        assert clamped_delta(1.0, 1.0, 1.0, epsilon) < wide


def test_delta_rises_with_width_and_change_and_falls_with_sigma_and_epsilon() -> None:
    base = (3.0, 1.0, 1.5, 0.4)
    delta = clamped_delta(*base)
    assert 0 < delta < 1
    assert clamped_delta(3.3, 1.0, 1.5, 0.4) >= delta
    assert clamped_delta(3.0, 1.1, 1.5, 0.4) > delta
    assert clamped_delta(3.0, 1.0, 1.6, 0.4) < delta
    assert clamped_delta(3.0, 1.0, 1.5, 0.5) < delta


@pytest.mark.parametrize(("width", "change"), [(1.0, 1.0), (2.0, 1.0), (100.0, 1.0), (5e-7, 1e-8)])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 8.0])
@pytest.mark.parametrize("delta", [0.0, 1e-12, 1e-6, 0.1])
def test_the_smallest_sigma_gives_the_guarantee_and_a_billionth_less_does_not(
    width: float, change: float, epsilon: float, delta: float
) -> None:
    sigma = clamped_sigma(width, change, epsilon, delta)
    assert clamped_delta(width, change, sigma, epsilon) <= delta
    with mp.workdps(DIGITS):
        assert true_delta(width, change, sigma, epsilon) <= delta
        less = true_delta(width, change, sigma * (1 - 1e-9), epsilon)
        assert less > delta


@pytest.mark.parametrize("epsilon", [1e-30, 1e-9, 1e3, 1e20, 1e60])
@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.5])
def test_extreme_requests_are_met_at_once(epsilon: float, delta: float) -> None:
    sigma = clamped_sigma(2.0, 1.0, epsilon, delta)
    assert 0 < sigma < math.inf
    assert clamped_delta(2.0, 1.0, sigma, epsilon) <= delta
    assert clamped_delta(2.0, 1.0, sigma * (1 - 1e-6), epsilon) > delta


@pytest.mark.parametrize("epsilon", [0.0, 1.0, 1e9, 1e40, 1e90])
@pytest.mark.parametrize("sigma", [1e-60, 1e-9, 1.0, 1e9, 1e60])
def test_delta_is_a_probability_everywhere(epsilon: float, sigma: float) -> None:
    assert 0 <= clamped_delta(2.0, 1.0, sigma, epsilon) <= 1


def total(widths: np.ndarray, changes: np.ndarray, sigmas: np.ndarray) -> mpf:
    with mp.workdps(DIGITS):
        return sum(map(true_pure, widths.tolist(), changes.tolist(), sigmas.tolist()))


@pytest.mark.parametrize("kind", [L1, L2])
@pytest.mark.parametrize("seed", range(12))
def test_no_allowed_change_of_a_box_exceeds_the_pure_epsilon(kind: Any, seed: int) -> None:
    generator = np.random.default_rng(seed)
    size = int(generator.integers(2, 5))
    widths = 10 ** generator.uniform(-1, 1, size)
    sigmas = 10 ** generator.uniform(-0.5, 1, size)
    caps = PerCoordinate(widths * generator.uniform(0.1, 1.1, size))
    reach = (kind(float(widths.max() * generator.uniform(0.1, 1))) & caps).within(widths)
    epsilon = clamped_epsilon(widths, reach, sigmas)
    vertices = list(itertools.product((0.0, 1.0), repeat=size))[1:]
    parts = [generator.random(size) for _ in range(20)] + [np.array(v) for v in vertices]
    for part in parts:
        change = reach.caps * part
        if reach.order is not None:
            change *= min(1.0, reach.radius / float(np.linalg.norm(change, reach.order)))
        assert total(widths, change * (1 - 1e-15), sigmas) <= epsilon


def test_bounds_per_coordinate_add_up_exactly_and_a_norm_never_costs_more() -> None:
    widths, sigmas = np.array([1.0, 4.0, 0.2]), np.array([1.0, 1.5, 3.0])
    caps = np.array([0.4, 4.0, 0.1])
    most = clamped_epsilon(widths, PerCoordinate(caps).within(widths), sigmas)
    exact = total(widths, caps, sigmas)
    assert exact <= most <= exact * (1 + 1e-13)
    for kind in (L1, L2):
        for radius in (0.01, 0.5, 3.0, 4.02):
            joined = clamped_epsilon(
                widths, (kind(radius) & PerCoordinate(caps)).within(widths), sigmas
            )
            assert joined <= most


def test_equal_coordinates_under_a_norm_are_bounded_exactly() -> None:
    """The tangent at the even change is the worst case itself, by symmetry and concavity."""
    widths, sigmas = np.full(4, 2.0), np.full(4, 1.3)
    for kind, fraction in ((L1, 4.0), (L2, 2.0)):
        computed = clamped_epsilon(widths, kind(1.2).within(widths), sigmas)
        exact = total(widths, np.full(4, 1.2 / fraction), sigmas)
        assert exact <= computed <= exact * (1 + 1e-12)
