import itertools
import math

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy.special import ndtr

from inbounds.numerics import partition

DIGITS = 130  # 40 are left where the smallest losses, of order 1e-30, are differences of order 1
ACCURACY = 2.0**-48

Point = tuple[float, float, float]  # width, change, sigma


def true_log_ratio(width: float, change: float, sigma: float) -> mpf:
    with mp.workdps(DIGITS):
        root = mp.sqrt(2) * mpf(sigma)
        both = mp.erf(mpf(change) / root) + mp.erf((mpf(width) - mpf(change)) / root)
        return mp.log(both / mp.erf(mpf(width) / root))


def true_loss(width: float, change: float, sigma: float) -> mpf:
    with mp.workdps(DIGITS):
        w, c, s = mpf(width), mpf(change), mpf(sigma)
        return c * (2 * w - c) / (2 * s * s) - true_log_ratio(width, change, sigma)


def true_mean_and_variance(u: float, gamma: float) -> tuple[mpf, mpf]:
    """The mean and variance on [0, u] of the unit normal distribution centred at u - gamma."""
    with mp.workdps(DIGITS):
        gamma_, r = mpf(gamma), mpf(u) - mpf(gamma)
        mass = (mp.erf(gamma_ / mp.sqrt(2)) + mp.erf(r / mp.sqrt(2))) / 2
        tilt = (mp.npdf(r) - mp.npdf(gamma_)) / mass
        return r + tilt, 1 - (r * mp.npdf(r) + gamma_ * mp.npdf(gamma_)) / mass - tilt * tilt


def true_elasticity(width: float, change: float, sigma: float) -> mpf:
    """The derivative of ln loss in ln sigma, by the product rule on the definition."""
    with mp.workdps(DIGITS):
        step = mpf(10) ** -40
        up, down = (
            mp.log(true_loss(width, change, mpf(sigma) * mp.exp(sign * step))) for sign in (1, -1)
        )
        return (up - down) / (2 * step)


def random_points(count: int, seed: int) -> list[Point]:
    """Widths from 1e-9 to 1e7 sigma, changes from 1e-12 to all of the width; sigma anything."""
    generator = np.random.default_rng(seed)
    points = []
    for i in range(count):
        sigma = float(10 ** generator.uniform(-6, 6))
        width = float(10 ** generator.uniform(-9, 7)) * sigma
        fraction = float(10 ** generator.uniform(-12, 0))
        change = (
            width * fraction if i % 3 else width - width * fraction
        )  # a third close to the width
        points.append((width, change, sigma))
    return points


def wide_enough(u: float) -> float:
    """The smallest change from which a difference of error functions is used at a width."""
    low, high = 0.0, u / 2
    for _ in range(60):
        middle = (low + high) / 2
        is_used = math.erfc((u - middle) / math.sqrt(2)) * (u * u + 1) <= 2 * middle
        low, high = (low, middle) if is_used else (middle, high)
    return high


def boundary_points() -> list[Point]:
    """Both sides of every place where the formula changes, with sigma = 1."""
    points = []
    for nudge in (1 - 2e-16, 1.0, 1 + 3e-16, 1 - 1e-3, 1 + 1e-3):
        points += [(u, 0.5 * nudge, 1.0) for u in (1.01, 1.5, 2.0, 2.0001, 6.0, 40.0, 1e7)]
        points += [(u, nudge / u, 1.0) for u in (2.0, 2.5, 9.0, 1e3, 1e7)]
        points += [(2.5 * nudge, k, 1.0) for k in (1e-9, 1e-3, 0.05, 0.2, 0.5)]
        points += [(u, nudge * wide_enough(u), 1.0) for u in (2.6, 3.0, 4.0, 6.0, 8.0)]
        points += [(u, nudge * 2**-7, 1.0) for u in (0.016, 0.1, 1.0, 2.4, 3.0, 9.0)]
        points += [(u, nudge * 0.125, 1.0) for u in (0.251, 1.0, 2.4, 3.0, 9.0)]
        points += [
            (0.3 * nudge, fraction * 0.3 * nudge, 1.0) for fraction in (1e-12, 0.1, 0.5, 0.9, 1)
        ]
        points += [
            (0.01 * nudge, fraction * 0.01 * nudge, 1.0) for fraction in (1e-12, 0.1, 0.5, 1)
        ]
        points += [(u, u / 2 * nudge, 1.0) for u in (1e-9, 0.5, 0.99, 1.0, 3.0, 50.0)]
    points += [(u, u, 1.0) for u in (1e-9, 1e-3, 1.0, 30.0, 1e7)]
    return points


POINTS = random_points(300, seed=1) + boundary_points()


def in_sigmas(point: Point) -> Point:
    width, change, sigma = point
    return width / sigma, change / sigma, (width - change) / sigma


def columns(points: list[Point]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    u, gamma, r = np.array([in_sigmas(point) for point in points]).T
    return u, gamma, r


@pytest.fixture(scope="module")
def truth() -> list[mpf]:
    return [true_loss(*point) for point in POINTS]


def test_the_loss_is_right_to_48_bits(truth: list[mpf]) -> None:
    for point, exact in zip(POINTS, truth, strict=True):
        assert abs(partition.loss(*in_sigmas(point)) / exact - 1) < ACCURACY, point


def test_losses_of_arrays_are_right_to_48_bits(truth: list[mpf]) -> None:
    computed = partition.losses(*columns(POINTS))[0]
    for point, value, exact in zip(POINTS, computed.tolist(), truth, strict=True):
        assert abs(value / exact - 1) < ACCURACY, point


def test_the_margin_covers_the_truth_four_times_over(truth: list[mpf]) -> None:
    assert partition.ROUNDING < 1e-13
    computed = partition.losses(*columns(POINTS))[0]
    for point, one, exact in zip(POINTS, computed.tolist(), truth, strict=True):
        for value in (one, partition.loss(*in_sigmas(point))):
            assert exact <= value * (1 + partition.ROUNDING / 4)


def test_a_number_and_an_array_of_it_give_the_same_loss() -> None:
    computed, steepness = partition.losses(*columns(POINTS))
    for i, point in enumerate(POINTS):
        loss, steep = partition.loss_and_steepness(*in_sigmas(point))
        assert abs(computed[i] - loss) <= 9e-16 * loss, point
        assert loss == partition.loss(*in_sigmas(point))
        assert abs(steepness[i] - steep) <= 1e-15 + 1e-5 * steep, point


def half(point: Point) -> tuple[float, float]:
    u, gamma, r = in_sigmas(point)
    return u, min(gamma, r)


def test_the_log_ratio_is_right_where_it_is_used() -> None:
    for point in POINTS:
        u, k = half(point)
        exact = true_log_ratio(u, k, 1.0)
        assert 0 <= partition.log_ratio(u, k) <= math.log(2) * (1 + 1e-15)
        assert abs(partition.log_ratio(u, k) - exact) <= 2e-15 * exact, point


def test_log_ratios_of_arrays_are_those_of_numbers() -> None:
    u, k = np.array([half(point) for point in POINTS]).T
    single = np.array([partition.log_ratio(a, b) for a, b in zip(u, k, strict=True)])
    assert (np.abs(partition.log_ratios(u, k) - single) <= 2e-15 * single).all()


@pytest.mark.parametrize("k", [0.1, 0.7, 3.0])  # one for each way of computing it
def test_an_array_of_one_branch_only_works(k: float) -> None:
    computed = partition.log_ratios(np.array([8.0]), np.array([k]))
    assert computed[0] == pytest.approx(float(true_log_ratio(8.0, k, 1.0)), rel=1e-15, abs=0)


def test_changing_everything_costs_half_the_squared_width() -> None:
    for u in (1e-9, 0.25, 1.0, 3.0, 1e7):
        assert partition.loss(u, u, 0.0) == pytest.approx(u * u / 2, rel=2e-16, abs=0)
        assert partition.loss_and_steepness(u, u, 0.0)[1] == pytest.approx(0, abs=4e-16)


def test_changing_nothing_costs_nothing() -> None:
    u = np.array([1e-9, 0.2, 1.0, 50.0])
    for array in partition.losses(u, np.zeros(4), u):
        assert array.tolist() == [0, 0, 0, 0]


def test_the_loss_lies_between_its_two_limits() -> None:
    for point in POINTS:
        u, gamma, _ = in_sigmas(point)
        loss = partition.loss(*in_sigmas(point))
        assert u * gamma / 2 * (1 - 4e-16) <= loss <= gamma * (u - gamma / 2) * (1 + 4e-16)


def test_steepness_gives_the_elasticity_to_a_few_digits() -> None:
    for point in POINTS[::4]:
        loss, steepness = partition.loss_and_steepness(*in_sigmas(point))
        assert steepness >= 0
        assert abs(-2 - steepness / loss - true_elasticity(*point)) < 1e-2, point


def test_steepness_of_a_tiny_change_is_not_lost_in_rounding_errors() -> None:
    for u in (0.31, 1.0, 3.0, 9.0, 40.0, 1e4):
        for change in (1e-7, 1e-15, 1e-40, 1e-70):
            loss, steepness = partition.loss_and_steepness(u, change, u - change)
            with mp.workdps(DIGITS):
                mass = mp.sqrt(mp.pi / 2) * mp.erf(u / mp.sqrt(2))
                mean = u - (1 - mp.exp(-(mpf(u) ** 2) / 2)) / mass
                slope = -1 - u / mean + u * mp.exp(-(mpf(u) ** 2) / 2) / mass
            assert abs(-2 - steepness / loss - slope) < 1e-4, (u, change)


def test_slopes_are_the_mean_and_the_variance_of_the_shifted_distribution() -> None:
    u, gamma, _ = columns(POINTS)
    mean, variance = partition.loss_slopes(u, gamma)
    for i in range(u.size):
        exact_mean, exact_variance = true_mean_and_variance(u[i], gamma[i])
        assert abs(mean[i] / exact_mean - 1) < 1e-14, POINTS[i]
        assert abs(variance[i] / exact_variance - 1) < 1e-4, POINTS[i]


def test_ratio_slopes_are_the_derivatives_of_the_log_ratio() -> None:
    u, k = np.array([half(point) for point in POINTS]).T
    slope, curvature = partition.ratio_slopes(u, k)
    for i in range(u.size):
        exact_mean, exact_variance = true_mean_and_variance(u[i], k[i])
        with mp.workdps(DIGITS):
            exact = mpf(u[i]) - mpf(k[i]) - exact_mean
            bend = 1 - exact_variance
        assert abs(slope[i] - exact) <= 4e-15 * exact + 1e-16 * u[i], POINTS[i]
        assert abs(curvature[i] - bend) <= 1e-4 * bend + 1e-15, POINTS[i]


def test_slopes_agree_with_differences_of_the_functions_they_belong_to() -> None:
    """An independent look at the signs: a numerical derivative of the functions themselves."""
    u, gamma, step = np.full(4, 5.0), np.array([0.3, 1.1, 2.2, 2.4]), 1e-5
    rise = partition.losses(u, gamma + step, u - gamma - step)[0]
    fall = partition.losses(u, gamma - step, u - gamma + step)[0]
    mean, variance = partition.loss_slopes(u, gamma)
    np.testing.assert_allclose((rise - fall) / (2 * step), mean, rtol=1e-9)
    up, down = (partition.loss_slopes(u, gamma + shift)[0] for shift in (step, -step))
    np.testing.assert_allclose((down - up) / (2 * step), variance, rtol=1e-7)
    slope, curvature = partition.ratio_slopes(u, gamma)
    above, below = (partition.log_ratios(u, gamma + shift) for shift in (step, -step))
    np.testing.assert_allclose((above - below) / (2 * step), slope, rtol=1e-7, atol=1e-10)
    up, down = (partition.ratio_slopes(u, gamma + shift)[0] for shift in (step, -step))
    np.testing.assert_allclose((down - up) / (2 * step), curvature, rtol=1e-7)


def test_the_textbook_difference_of_normal_cdfs_is_useless_at_small_widths() -> None:
    """Why the excess is integrated: at u = 1e-6 the textbook form is off by more than a half."""
    u, gamma = 1e-6, 1e-7
    centred_at_top, centred_below = ndtr(0.0) - ndtr(-u), ndtr(gamma) - ndtr(gamma - u)
    textbook = gamma * (2 * u - gamma) / 2 - np.log(centred_below / centred_at_top)
    exact = float(true_loss(u, gamma, 1.0))
    assert abs(textbook / exact - 1) > 0.5
    assert partition.loss(u, gamma, u - gamma) == pytest.approx(exact, rel=1e-15, abs=0)


def test_the_rest_must_come_from_the_widths_themselves() -> None:
    """Why r is an argument: the difference of rounded quotients loses the last digits."""
    width, sigma = 1.0, 3e-7
    change = width * (1 - 1e-15)
    u, gamma, r = in_sigmas((width, change, sigma))
    assert abs((u - gamma) / r - 1) > 1e-3
    assert partition.loss(u, gamma, r) == pytest.approx(
        float(true_loss(width, change, sigma)), rel=1e-15, abs=0
    )


def test_more_change_always_costs_more() -> None:
    for u in (1e-9, 0.2, 0.3, 1.0, 1.7, 10.0, 1e4):
        fractions = np.linspace(1e-3, 1, 400)
        loss = [partition.loss(u, u * fraction, u * (1 - fraction)) for fraction in fractions]
        assert all(low < high for low, high in itertools.pairwise(loss))
