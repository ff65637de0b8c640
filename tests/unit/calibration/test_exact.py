import itertools
import math
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from inbounds import L1, L2, LInf, PerCoordinate
from inbounds.calibration import exact
from inbounds.calibration.concave import WorstChange
from inbounds.calibration.exact import interval_sigma, pure_loss, smallest_sigma, split_by_width
from inbounds.calibration.waterfill import worst_change
from inbounds.reach import Reach
from inbounds.sensitivity import Sensitivity

EXAMPLE = np.array([10.0, 8.0])
EPSILONS = [0.1, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0]
SIGMA_SQUARED_L2 = [  # of the published example, to 12 digits
    290.897390983,
    61.3946034624,
    32.3427195040,
    22.4623084110,
    17.4123306862,
    14.3146329203,
    12.2048943930,
]
SIGMA_SQUARED_BOX = [
    284.587842803,
    60.1515515936,
    31.7200564832,
    22.0412647283,
    17.0899387872,
    14.0504381960,
    11.9790250264,
]
MARGIN = 1e-13  # what `epsilon` may exceed the truth by, relative


def true_loss(widths: Any, changes: Any, sigmas: Any) -> mpf:
    """The summed losses at one change: a lower bound on epsilon if the change is allowed."""
    with mp.workdps(60):
        total = mpf(0)
        for width, change, sigma in zip(widths, changes, sigmas, strict=True):
            w, c, s = mpf(width), mpf(change), mpf(sigma)
            root = mp.sqrt(2) * s
            mass = mp.erf(c / root) + mp.erf((w - c) / root)
            total += c * (2 * w - c) / (2 * s * s) - mp.log(mass / mp.erf(w / root))
        return total


def allowed(reach: Reach, change: np.ndarray) -> np.ndarray:
    """Shrink a change that rounding left outside, by what rounding can do."""
    change = np.minimum(change, reach.caps)
    if reach.order is None:
        return change
    return change * min(
        1.0, reach.radius / float(np.linalg.norm(change, reach.order)) * (1 - 1e-15)
    )


def random_problem(seed: int) -> tuple[np.ndarray, Reach, np.ndarray]:
    """Widths over six decades, every kind of sensitivity, equal and unequal scales."""
    generator = np.random.default_rng(seed)
    size = int(generator.integers(1, 7))
    widths = 10 ** generator.uniform(-3, 3, size)
    bound = float(10 ** generator.uniform(-6, 0.3) * widths.max())
    caps = PerCoordinate(widths * generator.uniform(0.01, 1.2, size))
    kinds: list[Sensitivity] = [
        L2(bound),
        L1(bound),
        LInf(bound),
        caps,
        L2(bound) & caps,
        L1(bound) & caps,
    ]
    shape = np.ones(size) if seed % 2 else 10 ** generator.uniform(-1, 1, size)
    return widths, kinds[seed % 6].within(widths), shape


@pytest.mark.parametrize(
    ("sensitivity", "squares"),
    [(L2(math.hypot(4, 2)), SIGMA_SQUARED_L2), (PerCoordinate([4, 2]), SIGMA_SQUARED_BOX)],
)
def test_the_published_example_needs_this_much_noise(
    sensitivity: Sensitivity, squares: list[float]
) -> None:
    for epsilon, square in zip(EPSILONS, squares, strict=True):
        sigma, _ = smallest_sigma(EXAMPLE, sensitivity.within(EXAMPLE), np.ones(2), epsilon)
        assert sigma[0] == sigma[1]
        assert sigma[0] ** 2 == pytest.approx(square, rel=2e-11, abs=0)


@pytest.mark.parametrize("seed", range(48))
def test_the_smallest_scale_gives_epsilon_and_hardly_less(seed: int) -> None:
    widths, reach, shape = random_problem(seed)
    for epsilon in (1e-9, 0.03, 1.0, 40.0, 1e3):
        sigma, loss = smallest_sigma(widths, reach, shape, epsilon)
        assert loss.epsilon <= epsilon
        np.testing.assert_allclose(sigma / shape, sigma[0] / shape[0], rtol=1e-15)
        less = sigma * (1 - 1e-12)
        change = allowed(reach, pure_loss(widths, reach, less).change)
        assert true_loss(widths, change, less) > epsilon  # so no smaller scale would do


@pytest.mark.parametrize("seed", range(48))
def test_epsilon_is_never_below_the_loss_of_an_allowed_change_and_hardly_above(seed: int) -> None:
    widths, reach, shape = random_problem(seed)
    for factor in (1e-4, 0.1, 1.0, 1e6):
        sigma = factor * shape * float(widths.max())
        loss = pure_loss(widths, reach, sigma)
        reached = true_loss(widths, allowed(reach, loss.change), sigma)
        assert reached <= loss.epsilon <= reached * (1 + MARGIN)


@pytest.mark.parametrize("seed", range(30))
def test_no_random_change_loses_more_than_epsilon(seed: int) -> None:
    widths, reach, shape = random_problem(seed)
    sigma = shape * float(np.median(widths))
    epsilon = pure_loss(widths, reach, sigma).epsilon
    generator = np.random.default_rng(seed)
    for _ in range(20):
        change = reach.caps * generator.uniform(0, 1, widths.size) ** 0.3
        assert true_loss(widths, allowed(reach, change), sigma) <= epsilon


def least_limit(widths: np.ndarray, reach: Reach) -> float:
    """F∞, the largest c·w/2 over allowed changes: the limit of σ²ε at high noise."""
    if reach.order is None:
        return float(reach.caps @ widths) / 2
    if reach.order == 1:
        left, total = reach.radius, 0.0
        for width, cap in sorted(zip(widths, reach.caps, strict=True), reverse=True):
            total += width * min(cap, left)
            left -= min(cap, left)
        return total / 2
    return reach.radius * float(np.linalg.norm(widths)) / 2  # caps that are widths never bind


@pytest.mark.parametrize("kind", [L2, L1, LInf])
def test_noise_lies_between_its_two_limits(kind: Any) -> None:
    generator = np.random.default_rng(7)
    for size, reach_fraction in itertools.product((1, 2, 5), (1e-6, 0.1, 0.7)):
        widths = 10 ** generator.uniform(-1, 1, size)
        reach = kind(reach_fraction * float(widths.min())).within(widths)
        least = least_limit(widths, reach)
        assert least > 0
        for epsilon in (1e-6, 0.3, 1.0, 7.0, 1e3):
            square = float(smallest_sigma(widths, reach, np.ones(size), epsilon)[0][0]) ** 2
            assert least * (1 - 1e-12) <= square * epsilon <= 2 * least * (1 + 1e-12)


@pytest.mark.parametrize("kind", [L2, L1, LInf])
def test_squared_noise_times_epsilon_never_falls_as_epsilon_grows(kind: Any) -> None:
    widths = np.array([1.0, 2.0, 2.5])
    reach = kind(0.8).within(widths)
    epsilons = np.logspace(-4, 3, 40)
    products = [smallest_sigma(widths, reach, np.ones(3), e)[0][0] ** 2 * e for e in epsilons]
    assert (np.diff(products) > -1e-12).all()


@pytest.mark.parametrize("width", [1e-6, 1.0, 1e12])
@pytest.mark.parametrize("reach", [1.0, 1.5, 1e6])
def test_a_change_of_everything_has_a_closed_form(width: float, reach: float) -> None:
    within = L2(reach * width).within(np.array([width]))
    for epsilon in (1e-9, 0.5, 1e3):
        sigma, _ = smallest_sigma(np.array([width]), within, np.ones(1), epsilon)
        assert sigma[0] == pytest.approx(width / math.sqrt(2 * epsilon), rel=5e-14, abs=0)
        assert sigma[0] >= width / math.sqrt(2 * epsilon) * (1 - 1e-16)
    for sigma_fraction in (1e-4, 1.0, 1e9):
        loss = pure_loss(np.array([width]), within, np.array([sigma_fraction * width]))
        assert loss.epsilon == pytest.approx(0.5 / sigma_fraction**2, rel=MARGIN, abs=0)


def test_a_ball_that_holds_the_whole_box_has_a_closed_form() -> None:
    widths, sigmas = np.array([3.0, 4.0]), np.array([2.0, 0.5])
    loss = pure_loss(widths, L2(5.0).within(widths), sigmas)
    assert loss.epsilon == pytest.approx(
        float(((widths / sigmas) ** 2).sum()) / 2, rel=MARGIN, abs=0
    )


@pytest.mark.parametrize(("kind", "fraction"), [(L2, 3.0), (L1, 9.0), (LInf, 1.0)])
def test_equal_widths_are_one_interval_with_a_fraction_of_the_budget(
    kind: Any, fraction: float
) -> None:
    widths = np.full(9, 2.0)
    sigma, _ = smallest_sigma(widths, kind(1.2).within(widths), np.ones(9), 0.7)
    assert sigma[0] == pytest.approx(interval_sigma(2.0, 1.2 / fraction, 0.7 / 9), rel=5e-14, abs=0)


@pytest.mark.parametrize("change", [1e-18, 1e-12, 1e-6, 0.01, 0.3, 0.5, 0.9, 1 - 1e-12, 1.0])
def test_one_interval_is_solved_on_the_private_side_and_to_the_last_digits(change: float) -> None:
    for width, epsilon in itertools.product((1e-6, 1.0, 1e12), np.logspace(-9, 3, 13).tolist()):
        sigma = interval_sigma(width, width * change, epsilon)
        assert true_loss([width], [width * change], [sigma]) <= epsilon
        less = sigma * (1 - 1e-13)
        assert true_loss([width], [width * change], [less]) > epsilon


@pytest.mark.parametrize("sensitivity", [L2(30.0), L1(500.0), L2(30.0) & LInf(0.5), LInf(0.5)])
@pytest.mark.parametrize("shape", ["isotropic", "width"])
def test_a_sketch_speeds_the_search_up_but_never_moves_it(
    monkeypatch: pytest.MonkeyPatch, sensitivity: Sensitivity, shape: str
) -> None:
    widths = np.random.default_rng(3).uniform(0.5, 3.0, 10_000)
    reach = sensitivity.within(widths)
    scales = np.ones(widths.size) if shape == "isotropic" else widths
    sigma, loss = smallest_sigma(widths, reach, scales, 2.0)
    sketches = []
    original = exact._sketch

    def without_sketch(*arguments: Any) -> None:
        sketches.append(original(*arguments))

    monkeypatch.setattr(exact, "_sketch", without_sketch)
    full_sigma, full_loss = smallest_sigma(widths, reach, scales, 2.0)
    assert sketches[0] is not None  # the first solve did use one
    np.testing.assert_allclose(sigma, full_sigma, rtol=1e-13)
    np.testing.assert_allclose(loss.change, full_loss.change, rtol=1e-6, atol=1e-9)
    assert loss.epsilon <= 2.0


def test_repeated_coordinates_count_each_time() -> None:
    few, copies = np.array([1.0, 2.0, 5.0]), [0, 2, 1, 0, 2, 2]
    many = few[copies]
    nudged = many * (1 + 1e-13 * np.arange(6))  # no two alike: nothing can be grouped
    for kind in (L2(1.1), L1(1.1), LInf(0.4)):
        grouped, apart = (
            pure_loss(widths, kind.within(widths), np.full(6, 0.9)) for widths in (many, nudged)
        )
        assert grouped.epsilon == pytest.approx(apart.epsilon, rel=1e-11, abs=0)
        np.testing.assert_allclose(grouped.change, apart.change, rtol=1e-6)


def test_coordinates_differ_by_cap_or_scale_too() -> None:
    widths, caps = np.ones(4), PerCoordinate([0.1, 0.2, 0.1, 0.2])
    sigmas = np.array([1.0, 1.0, 2.0, 2.0])
    loss = pure_loss(widths, caps.within(widths), sigmas)
    parts = [
        pure_loss(np.ones(1), L2(cap).within(np.ones(1)), np.array([sigma])).epsilon
        for cap, sigma in zip((0.1, 0.2, 0.1, 0.2), sigmas, strict=True)
    ]
    assert loss.epsilon == pytest.approx(math.fsum(parts), rel=MARGIN, abs=0)
    assert loss.change.tolist() == [0.1, 0.2, 0.1, 0.2]


def test_the_order_of_coordinates_does_not_matter() -> None:
    widths, reach, shape = random_problem(4)
    turned = Reach(reach.caps[::-1], reach.order, reach.radius)
    forward, backward = (
        pure_loss(widths, reach, shape),
        pure_loss(widths[::-1], turned, shape[::-1]),
    )
    assert forward.epsilon == pytest.approx(backward.epsilon, rel=1e-14, abs=0)
    np.testing.assert_allclose(forward.change, backward.change[::-1], rtol=1e-7)


def test_one_huge_coordinate_among_tiny_ones_costs_no_accuracy() -> None:
    """The tiny ones change in full: they are far too small for the norm to hold them back."""
    widths = np.array([1e6, *np.linspace(1e-3, 2e-3, 50)])
    reach = L2(0.5 * float(np.linalg.norm(widths))).within(widths)
    sigma = 5.0 * widths
    loss = pure_loss(widths, reach, sigma)
    first = math.sqrt(reach.radius**2 - float((widths[1:] ** 2).sum()))
    reached = true_loss(widths, np.array([first, *widths[1:]]), sigma)
    assert reached <= loss.epsilon <= reached * (1 + 1e-10)


@pytest.mark.parametrize("fraction", [0.9, 0.99, 0.999])
def test_a_norm_that_nearly_holds_the_whole_box_costs_no_accuracy(fraction: float) -> None:
    widths = np.array([1.0, 2.0, 5.0, 9.0])
    reach = L2(fraction * float(np.linalg.norm(widths))).within(widths)
    for sigma in (np.ones(4), np.full(4, 20.0), widths):
        loss = pure_loss(widths, reach, sigma)
        reached = true_loss(widths, allowed(reach, loss.change), sigma)
        assert reached <= loss.epsilon <= reached * (1 + 1e-12)


def test_the_split_by_width_gives_each_coordinate_its_own_fraction() -> None:
    widths, caps = np.array([120.0, 1e6, 1.0]), np.array([30.0, 1e6, 1e-3])
    sigmas = split_by_width(widths, caps, 1.5)
    part = caps / widths
    root = np.sqrt(part * (1 - part / 2))
    fractions = 1.5 * root / root.sum()
    for width, cap, sigma, fraction in zip(widths, caps, sigmas, fractions, strict=True):
        loss = true_loss([width], [cap], [sigma])
        assert float(loss) == pytest.approx(fraction, rel=1e-12, abs=0)
    assert float(true_loss(widths, caps, sigmas)) == pytest.approx(1.5, rel=1e-12, abs=0)


def test_the_split_is_the_same_in_any_unit() -> None:
    widths, caps = np.array([120.0, 1e6]), np.array([30.0, 1e5])
    units = np.array([1024.0, 2.0**-20])
    plain, scaled = (split_by_width(widths * k, caps * k, 0.8) for k in (np.ones(2), units))
    np.testing.assert_allclose(scaled, plain * units, rtol=1e-14)


def test_the_split_keeps_the_summed_relative_noise_least_at_low_noise() -> None:
    widths, caps, epsilon = np.array([1.0, 1.0]), np.array([0.02, 0.5]), 400.0
    best = float((split_by_width(widths, caps, epsilon) ** 2).sum())
    for fraction in (0.05, 0.1, 0.3, 0.5, 0.7):
        pair = [
            interval_sigma(1.0, cap, epsilon * part)
            for cap, part in zip(caps, (fraction, 1 - fraction), strict=True)
        ]
        assert best <= sum(sigma**2 for sigma in pair) * 1.01


def test_a_loss_too_small_for_doubles_is_not_reported_as_zero() -> None:
    loss = pure_loss(np.ones(2), LInf(1e-60).within(np.ones(2)), np.full(2, 1e60))
    assert loss.epsilon > 0


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("fraction", [0.3, 0.9])
def test_a_search_that_ends_early_costs_accuracy_and_never_privacy(
    order: Any, fraction: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    widths, sigma = np.array([1.0, 2.0, 5.0]), np.full(3, 2.0)
    reach = Reach(np.minimum(widths, 1.5), order, 1.5)
    epsilon = pure_loss(widths, reach, sigma).epsilon

    def early(*given: Any) -> WorstChange:
        worst = worst_change(*given)
        return WorstChange(fraction * worst.change, worst.multiplier)

    monkeypatch.setattr(exact, "worst_change", early)
    assert pure_loss(widths, reach, sigma).epsilon > epsilon
