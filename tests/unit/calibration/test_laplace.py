import itertools
import math
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf

from inbounds import L1, L2, LInf, PerCoordinate
from inbounds.calibration import laplace
from inbounds.calibration.laplace import as_l1, laplace_loss, losses, slopes, smallest_scale
from inbounds.reach import Reach
from inbounds.sensitivity import Sensitivity

DIGITS = 50
WIDTHS = [1e-9, 1e-4, 0.3, 1.0, 5.0, 40.0, 1e3, 1e7]  # in units of the scale
FRACTIONS = [1e-12, 1e-3, 0.1, 0.5, 0.9, 1 - 1e-9, 1.0]


def true_loss(width: Any, change: Any, scale: Any) -> mpf:
    """c/b + ln Z(a+c)/Z(a), straight from the partition function; precision of the caller."""
    w, c, b = mpf(width), mpf(change), mpf(scale)

    def partition(s: mpf) -> mpf:
        return 2 - mp.exp(-s / b) - mp.exp(-(w - s) / b)

    return c / b + mp.log(partition(c) / partition(mpf(0)))


def total_loss(widths: Any, changes: Any, scales: Any) -> mpf:
    with mp.workdps(DIGITS):
        return sum(map(true_loss, widths, changes, scales))


def allowed(reach: Reach, change: np.ndarray) -> np.ndarray:
    """Shrink a change that rounding left outside, by what rounding can do."""
    change = np.minimum(change, reach.caps)
    total = math.fsum(change.tolist())
    return change * min(1.0, reach.radius / total * (1 - 1e-15)) if reach.order else change


def random_problem(seed: int) -> tuple[np.ndarray, Reach, np.ndarray]:
    """Widths over six decades, every kind of sensitivity, equal and unequal scales."""
    generator = np.random.default_rng(seed)
    size = int(generator.integers(1, 7))
    widths = 10 ** generator.uniform(-3, 3, size)
    bound = float(10 ** generator.uniform(-6, 0.3) * widths.max())
    caps = PerCoordinate(widths * generator.uniform(0.01, 1.2, size))
    kinds: list[Sensitivity] = [L1(bound), LInf(bound), caps, L1(bound) & caps, L2(bound)]
    shape = np.ones(size) if seed % 2 else 10 ** generator.uniform(-1, 1, size)
    return widths, as_l1(kinds[seed % 5].within(widths)), shape


@pytest.mark.parametrize("u", WIDTHS)
@pytest.mark.parametrize("fraction", FRACTIONS)
def test_losses_and_slopes_are_right_to_the_last_digits(u: float, fraction: float) -> None:
    width, change, scale = np.array([3.0]), np.array([3.0 * fraction]), np.array([3.0 / u])
    with mp.workdps(DIGITS):
        exact = true_loss(width[0], change[0], scale[0])
        slope = mp.diff(lambda c: true_loss(width[0], c, scale[0]), change[0], h=mpf(10) ** -30)
    assert float(losses(width, change, scale)[0]) == pytest.approx(float(exact), rel=3e-15, abs=0)
    assert float(slopes(width, change, scale)[0]) == pytest.approx(
        float(slope), rel=3e-15, abs=1e-14 / float(scale[0]) * (fraction == 1)
    )


@pytest.mark.parametrize("u", WIDTHS)
def test_the_loss_is_concave_rises_and_lies_between_one_and_two_changes(u: float) -> None:
    change = np.linspace(0, 1, 60)
    width, scale = np.ones(60), np.full(60, 1 / u)
    loss, slope = losses(width, change, scale), slopes(width, change, scale)
    assert (loss >= change * u * (1 - 1e-15)).all()
    assert (loss <= 2 * change * u * (1 + 1e-15)).all()
    assert (np.diff(loss) >= 0).all()
    assert (np.diff(slope) <= 1e-15 * u).all()
    assert slope[0] == pytest.approx(2 * u, rel=1e-15, abs=0)
    assert slope[-1] == 0


@pytest.mark.parametrize("u", [1e-3, 0.3, 2.0, 30.0])
@pytest.mark.parametrize("fraction", [0.01, 0.3, 0.7, 1.0])
def test_no_pair_and_output_on_a_dense_grid_exceeds_epsilon_and_the_worst_reaches_it(
    u: float, fraction: float
) -> None:
    """Straight from the density, on 101 values, all neighbours on the grid, and 101 outputs."""
    s = z = np.linspace(0, 1, 101)
    log_density = -np.abs(z[None] - s[:, None]) * u
    log_density -= np.log(-np.expm1(-s * u) - np.expm1(-(1 - s) * u))[:, None]
    worst = -math.inf
    for i, j in itertools.product(range(101), repeat=2):
        if abs(i - j) <= round(100 * fraction):
            worst = max(worst, float((log_density[i] - log_density[j]).max()))
    reach = L2(round(100 * fraction) / 100).within(np.ones(1))
    epsilon = laplace_loss(np.ones(1), reach, np.full(1, 1 / u)).epsilon
    assert worst <= epsilon + 1e-14
    assert worst == pytest.approx(epsilon, rel=1e-11, abs=1e-14)


@pytest.mark.parametrize("seed", range(15))
def test_epsilon_is_never_below_the_loss_of_an_allowed_change_and_hardly_above(seed: int) -> None:
    widths, reach, shape = random_problem(seed)
    for factor in (1e-4, 0.1, 1.0, 1e6):
        scale = factor * shape * float(widths.max())
        loss = laplace_loss(widths, reach, scale)
        reached = total_loss(widths, allowed(reach, best_change(widths, reach, scale)), scale)
        assert reached <= loss.epsilon <= reached * (1 + 1e-12)


def best_change(widths: np.ndarray, reach: Reach, scale: np.ndarray) -> np.ndarray:
    """The worst change by bisection on its slope; at a plateau, between the two sides of it."""
    if reach.order is None:
        return reach.caps

    def at(level: float) -> np.ndarray:
        low, high = np.zeros_like(widths), reach.caps
        for _ in range(64):
            middle = (low + high) / 2
            steep = slopes(widths, middle, scale) > level
            low, high = np.where(steep, middle, low), np.where(steep, high, middle)
        return low

    flat, steep = math.log(1e-30 / float(scale.max())), math.log(2.1 / float(scale.min()))
    for _ in range(64):
        middle = (flat + steep) / 2
        flat, steep = (
            (middle, steep) if at(math.exp(middle)).sum() > reach.radius else (flat, middle)
        )
    more, less = at(math.exp(flat)), at(math.exp(steep))
    gap = more.sum() - less.sum()
    return less + (more - less) * ((reach.radius - less.sum()) / gap if gap > 0 else 0.0)


@pytest.mark.parametrize("seed", range(30))
def test_no_random_or_extreme_change_loses_more_than_epsilon(seed: int) -> None:
    widths, reach, shape = random_problem(seed)
    scale = shape * float(np.median(widths))
    epsilon = laplace_loss(widths, reach, scale).epsilon
    generator = np.random.default_rng(seed)
    changes = [reach.caps * generator.uniform(0, 1, widths.size) ** 0.3 for _ in range(15)]
    vertices = itertools.islice(itertools.product((0.0, 1.0), repeat=widths.size), 1, 33)
    changes += [reach.caps * np.array(vertex) for vertex in vertices]
    for change in changes:
        assert total_loss(widths, allowed(reach, change), scale) <= epsilon


@pytest.mark.parametrize("seed", range(12))
def test_no_random_pair_of_points_and_output_exceeds_the_joint_epsilon(seed: int) -> None:
    """From the densities of all coordinates; corners, where the ratio is largest, included."""
    widths, reach, shape = random_problem(seed)
    scale = shape * float(np.median(widths))
    epsilon = laplace_loss(widths, reach, scale).epsilon
    generator = np.random.default_rng(seed)
    worst = -math.inf
    for trial in range(300):
        change = allowed(reach, reach.caps * generator.uniform(0, 1, widths.size) ** 0.3)
        place = generator.random(widths.size) if trial % 2 else np.zeros(widths.size)
        first = place * (widths - change)
        second = first + change
        z = generator.random(widths.size) * widths if trial % 3 == 0 else np.zeros(widths.size)
        ratio = (np.abs(z - second) - np.abs(z - first)) / scale
        mass = [-np.expm1(-s / scale) - np.expm1(-(widths - s) / scale) for s in (first, second)]
        worst = max(worst, float((ratio + np.log(mass[1] / mass[0])).sum()))
    assert 0 < worst <= epsilon * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_the_smallest_scale_gives_epsilon_and_a_billionth_less_does_not(seed: int) -> None:
    widths, reach, shape = random_problem(seed)
    for epsilon in (1e-6, 1.0, 40.0):
        scale, loss = smallest_scale(widths, reach, shape, epsilon)
        assert loss.epsilon <= epsilon
        np.testing.assert_allclose(scale / shape, scale[0] / shape[0], rtol=1e-15)
        change = allowed(reach, best_change(widths, reach, scale))
        assert total_loss(widths, change, scale) <= epsilon
        assert total_loss(widths, change, scale * (1 - 1e-9)) > epsilon


@pytest.mark.parametrize("u", [1e4, 1e6, 1e8])
def test_a_radius_that_nearly_reaches_all_caps_is_not_rounded_away(u: float) -> None:
    widths, scale = np.full(4, 1.0), np.full(4, 1 / u)
    for radius in 4 - 7.3e-10 * np.arange(1, 20):
        loss = laplace_loss(widths, L1(radius).within(widths), scale)
        with mp.workdps(100):
            even = 4 * true_loss(1, mpf(radius) / 4, mpf(scale[0]))
        assert even <= loss.epsilon <= even * (1 + 1e-12)


@pytest.mark.parametrize("u", [1e-9, 1e-3, 1.0, 30.0, 700.0, 1e4, 1e7])
def test_equal_coordinates_share_an_l1_norm_at_any_width(u: float) -> None:
    """By concavity the worst change is the even one."""
    widths, scale = np.full(4, 1.0), np.full(4, 1 / u)
    for radius in (1e-30, 1e-3, 0.9, 1.0, 2.0, 3.9, 4 - 1e-9):
        loss = laplace_loss(widths, L1(radius).within(widths), scale)
        with mp.workdps(100):
            even = 4 * true_loss(1, mpf(radius) / 4, mpf(scale[0]))
        assert even <= loss.epsilon <= even * (1 + 1e-12)


def test_coordinates_of_very_different_sizes_can_be_joined() -> None:
    widths = np.array([1e-30, 1.0, 2.0])
    scale = np.array([1e-30, 1.0, 30.0])
    reach = L1(1.0).within(widths)
    loss = laplace_loss(widths, reach, scale)
    reached = total_loss(widths, allowed(reach, best_change(widths, reach, scale)), scale)
    assert reached <= loss.epsilon <= reached * (1 + 1e-12)


def test_a_norm_that_nearly_holds_every_change_is_no_obstacle() -> None:
    for widths in (np.array([1.0, 2.0, 0.1, 0.3]), np.array([0.1, 0.2, 0.3])):
        for radius in (math.nextafter(float(widths.sum()), 0), float(widths.sum()) * (1 - 1e-12)):
            loss = laplace_loss(widths, L1(radius).within(widths), np.ones(widths.size))
            assert loss.epsilon == pytest.approx(float(widths.sum()), rel=1e-11)


def test_many_coordinates_do_not_add_up_rounding_errors() -> None:
    widths = np.random.default_rng(1).uniform(0.5, 3, 20_000)
    reach = L1(30.0).within(widths)
    loss = laplace_loss(widths, reach, np.ones(widths.size))
    change = allowed(reach, loss.change)
    reached = float(losses(widths, change, np.ones(widths.size)).sum())
    assert reached <= loss.epsilon <= reached * (1 + 1e-10)


def test_an_l2_norm_becomes_the_l1_norm_that_holds_it() -> None:
    widths = np.array([10.0, 8.0, 1.0])
    joined = as_l1(L2(2.0).within(widths))
    assert joined.order == 1
    level = math.sqrt((4 - 1) / 2)  # the third coordinate is capped by its width
    assert joined.radius == pytest.approx(1 + 2 * level, rel=1e-12)
    assert joined.caps.tolist() == [2.0, 2.0, 1.0]
    assert as_l1(L1(2.0).within(widths)).radius == 2.0
    assert as_l1(LInf(2.0).within(widths)).order is None


@pytest.mark.parametrize("seed", range(10))
def test_the_l1_reading_of_an_l2_norm_covers_every_change_in_it(seed: int) -> None:
    generator = np.random.default_rng(seed)
    widths = 10 ** generator.uniform(-1, 1, 4)
    inner = (L2(float(widths.max()) / 2) & PerCoordinate(widths * 0.6)).within(widths)
    epsilon = laplace_loss(widths, as_l1(inner), np.ones(4)).epsilon
    for _ in range(30):
        change = inner.caps * generator.random(4)
        change *= min(1.0, inner.radius / float(np.linalg.norm(change)))
        assert total_loss(widths, change, np.ones(4)) <= epsilon


def _pair_delta(width: float, change: float, scale: float, epsilon: float, s: float) -> float:
    """Integrate (p_s - e^ε p_s')₊ from the definition, piece by piece."""
    with mpmath.workdps(20):
        low, high = mpmath.mpf(s), mpmath.mpf(s) + mpmath.mpf(change)

        def density(x: mpmath.mpf, centre: mpmath.mpf) -> mpmath.mpf:
            mass = 2 - mpmath.exp(-centre / scale) - mpmath.exp(-(width - centre) / scale)
            return mpmath.exp(-abs(x - centre) / scale) / (scale * mass)

        def excess(x: mpmath.mpf) -> mpmath.mpf:
            return max(0, density(x, low) - mpmath.exp(epsilon) * density(x, high))

        ratio = mpmath.log(density(low, low) / density(low, high)) - epsilon
        crossing = min(max(low + ratio * scale / 2, low), high)
        return float(mpmath.quad(excess, [0, low, crossing, high, width]))


@pytest.mark.parametrize("u", [0.3, 2.0, 30.0])
@pytest.mark.parametrize("fraction", [0.02, 0.4, 1.0])
@pytest.mark.parametrize("part", [0.0, 0.4, 0.9])
def test_delta_is_at_least_that_of_every_pair_and_close_to_the_worst(
    u: float, fraction: float, part: float
) -> None:
    width, scale, change = 1.0, 1 / u, fraction
    pure = float(laplace.losses(np.array([1.0]), np.array([fraction]), np.array([scale]))[0])
    bound = laplace.laplace_delta(width, change, scale, part * pure)
    places = (0.0, 0.01, 0.3, 1.0)
    pairs = [
        _pair_delta(width, change, scale, part * pure, place * (1 - fraction)) for place in places
    ]
    assert bound >= max(pairs) * (1 - 1e-12)
    dense = np.linspace(0, (1 - fraction) * u, 20_001)
    shift = fraction * u
    best = float(laplace._delta_of_cells(u, shift, part * pure, dense, dense).max())
    assert best >= max(pairs) * (1 - 1e-9)
    assert bound <= best * 1.006


def test_delta_is_nothing_from_the_pure_epsilon_on() -> None:
    pure = float(laplace.losses(np.array([1.0]), np.array([0.3]), np.array([0.2]))[0])
    assert laplace.laplace_delta(1.0, 0.3, 0.2, pure * (1 + 1e-9)) == 0
    assert laplace.laplace_delta(1.0, 0.3, 0.2, pure * (1 - 1e-6)) > 0
