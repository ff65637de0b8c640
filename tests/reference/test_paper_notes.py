"""What Chen and Hale's paper prints, against what is true: the tests behind docs/paper-notes.md.

The paper's formulas are written out here as printed, with mpmath where a number must be exact and
with doubles where the point is floating point. The library only says what is right.
"""

import ast
import itertools
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy.special import erf

import inbounds as ib
from inbounds.calibration import paper

PAGE = Path(__file__).parents[2] / "docs" / "paper-notes.md"
BOX, WIDTHS, CHANGES = ib.Box([0, 1], [10, 9]), np.array([10.0, 8.0]), np.array([4.0, 2.0])
RADIUS = math.hypot(4, 2)
BALL, CAPS = ib.L2(RADIUS), ib.PerCoordinate(CHANGES)
PRINTED = {0.1: 857.5, 0.5: 170.3, 1.0: 84.3, 1.5: 55.8, 2.0: 41.5, 2.5: 32.9, 3.0: 27.2}
PRINTED_LIU = {0.1: 1320.0, 0.5: 264.0, 1.0: 132.0, 1.5: 88.0, 2.0: 66.0, 2.5: 52.8, 3.0: 44.0}
PRINTED_REDUCTION = {0.1: 35.0, 0.5: 35.5, 1.0: 36.1, 1.5: 36.6, 2.0: 37.2, 2.5: 37.7, 3.0: 38.2}
Number = float | mpf


@pytest.fixture(autouse=True)
def _fifty_digits() -> Iterator[None]:
    with mp.workdps(50):
        yield


# The paper's formulas, exact.


def normaliser(s: Number, width: Number, sigma: Number) -> mpf:
    """1/C(s, σ) on [0, w]: Φ((w - s)/σ) - Φ(-s/σ)."""
    root = mp.sqrt(2) * mpf(sigma)
    return (mp.erf((mpf(width) - s) / root) + mp.erf(mpf(s) / root)) / 2


def ratio(c: Number, width: Number, sigma: Number) -> mpf:
    """C(0, σ)/C(c, σ)."""
    return normaliser(c, width, sigma) / normaliser(0, width, sigma)


def delta_c(width: Number, change: Number, sigma: Number) -> mpf:
    return ratio(min(mpf(change), mpf(width) / 2), width, sigma)


def numerator(width: Number, change: Number) -> mpf:
    return (mpf(width) + mpf(change) / 2) * mpf(change)


def right_side(width: Number, change: Number, epsilon: Number, square: Number) -> mpf:
    """The right side of Theorem 1 at σ² = `square`."""
    room = mpf(epsilon) - mp.log(delta_c(width, change, mp.sqrt(square)))
    return numerator(width, change) / room


def true_epsilon(width: Number, change: Number, sigma: Number) -> mpf:
    """The log-ratio of the densities at z = 0 for s = w - ΔQ and s' = w: the worst case."""
    w, d = mpf(width), mpf(change)
    exponent = (w**2 - (w - d) ** 2) / (2 * mpf(sigma) ** 2)
    return exponent + mp.log(normaliser(w, w, sigma) / normaliser(w - d, w, sigma))


def gaussian_delta(epsilon: Number, mu: Number) -> mpf:
    """δ of the unbounded Gaussian mechanism with ΔQ/σ = μ (Balle and Wang)."""
    e, m = mpf(epsilon), mpf(mu)
    return mp.ncdf(m / 2 - e / m) - mp.exp(e) * mp.ncdf(-m / 2 - e / m)


# Algorithm 1 as printed, for any arithmetic.


def algorithm_1(
    left: Number, side: Callable[[Number], Number], first: float = 0.5
) -> tuple[Number | None, int]:
    """Return the answer, or None if it was never set, and the number of passes."""
    right, answer, passes = side(left), None, 0
    size = (left + right) * first
    while size > right - left:
        size, passes = right - left, passes + 1
        answer = (left + right) / 2
        value = side(answer)
        if value >= answer:
            left = answer
        if value <= answer:
            right = answer
    return answer, passes


def textbook(width: float, change: float, epsilon: float) -> tuple[float, Callable[[float], float]]:
    """σ₀² and the right side in doubles, with Φ(x) = (1 + erf(x/√2))/2 as the paper defines it."""

    def phi(x: float) -> np.float64:
        return np.float64(0.5) * (1 + math.erf(x / math.sqrt(2)))

    def side(square: float) -> float:
        sigma, c = np.sqrt(square), min(change, width / 2)
        with np.errstate(divide="ignore", invalid="ignore"):
            whole = phi(width / sigma) - phi(0.0)
            log_ratio = np.log((phi((width - c) / sigma) - phi(-c / sigma)) / whole)
        return (width + change / 2) * change / (epsilon - log_ratio)

    return np.float64((width + change / 2) * change / epsilon), side


def log_delta_c_of_the_example(square: float) -> float:
    """ln ΔC₂ of the paper's example: the largest Σ ln R_i(c_i) on the arc ‖c‖ = √20."""
    angle = np.linspace(0, math.pi / 2, 20001)
    arc = np.minimum(RADIUS * np.stack([np.cos(angle), np.sin(angle)]), WIDTHS[:, None] / 2)
    root = math.sqrt(2 * square)
    mass = erf(arc / root) + erf((WIDTHS[:, None] - arc) / root)
    return float(np.log(mass / erf(WIDTHS / root)[:, None]).sum(axis=0).max())


def example_bound(square: float) -> float:
    """What the paper's proof bounds ε by in its example, K/σ² + ln ΔC₂."""
    k = (math.hypot(10, 8) + RADIUS / 2) * RADIUS
    return k / square + log_delta_c_of_the_example(square)


def calibrated(epsilon: float, sensitivity: ib.L2 | ib.PerCoordinate, method: str) -> float:
    """σ² for the paper's example."""
    mechanism = ib.BoundedGaussian.calibrated(BOX, sensitivity, epsilon=epsilon, method=method)
    return float(mechanism.sigma) ** 2


# The two main theorems.


@pytest.mark.parametrize(("sigma", "true"), [(0.3, 3.573), (0.01, 3749.307)])
def test_theorem_1_without_its_side_condition_admits_any_small_sigma(
    sigma: float, true: float
) -> None:
    printed = right_side(1, 0.5, 0.1, sigma**2)
    assert sigma**2 >= printed  # the hypothesis, as printed, holds
    assert printed < 0  # because ln ΔC > ε
    assert float(true_epsilon(1, 0.5, sigma)) == pytest.approx(true, abs=5e-4)  # not 0.1
    mechanism = ib.BoundedGaussian(ib.Box(0, 1), ib.L2(0.5), sigma)
    assert mechanism.epsilon == pytest.approx(true, abs=5e-4)
    if sigma == 0.3:
        assert float(mp.log(delta_c(1, 0.5, sigma))) == pytest.approx(0.5935, abs=5e-5)
        assert float(printed) == pytest.approx(-1.266, abs=5e-4)


@pytest.mark.parametrize(("sigma", "true"), [(3.0, 4.251), (0.1, 4725.7)])
def test_theorem_2_without_its_side_condition_admits_any_small_sigma(
    sigma: float, true: float
) -> None:
    k = (math.hypot(10, 8) + RADIUS / 2) * RADIUS
    printed = k / (0.1 - log_delta_c_of_the_example(sigma**2))
    assert printed < 0 <= sigma**2
    assert ib.BoundedGaussian(BOX, BALL, sigma).epsilon == pytest.approx(true, rel=2e-4, abs=0)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 10.0, 100.0])
@pytest.mark.parametrize("change", [0.01, 0.3, 0.5, 0.8, 1.0])
def test_theorem_1_with_its_side_condition_is_right(epsilon: float, change: float) -> None:
    first = mp.sqrt(numerator(1, change) / epsilon)
    for factor in (0.3, 0.7, 0.999, 1.0, 1.1, 1.5, 3.0):
        sigma = first * factor
        side = mp.log(delta_c(1, change, sigma)) < epsilon
        condition = sigma**2 >= right_side(1, change, epsilon, sigma**2)
        if factor >= 1:
            assert side  # σ >= σ₀ is enough for the side condition
        else:
            assert not (side and condition)
        if side and condition:
            assert true_epsilon(1, change, sigma) < epsilon


def test_theorem_2_with_its_side_condition_is_right() -> None:
    for epsilon, change in itertools.product((0.01, 1.0, 30.0), (0.1, RADIUS, 12.0)):
        sigma = paper.sigma(WIDTHS, change, epsilon)
        assert paper.log_delta_c(WIDTHS, change, sigma) < epsilon
        assert ib.BoundedGaussian(BOX, ib.L2(change), sigma).epsilon < epsilon


def test_the_zero_of_f_is_not_the_smallest_sigma_that_meets_the_printed_inequality() -> None:
    """f(σ) = σ² - right side is positive at 0.3 and at 3, negative at σ₀ = 2.5."""
    f = [mpf(s) ** 2 - right_side(1, 0.5, 0.1, mpf(s) ** 2) for s in (0.3, 2.5, 3.0)]
    assert f[0] > 0
    assert f[1] < 0
    assert f[2] > 0
    assert mp.almosteq(numerator(1, 0.5) / mpf("0.1"), mpf("2.5") ** 2)
    assert paper.sigma(np.ones(1), 0.5, 0.1) == pytest.approx(2.7361, abs=5e-5)


# The background section.


@pytest.mark.parametrize(("change", "epsilon", "delta"), [(10.0, 0.5, 0.245), (1.0, 0.9, 0.00443)])
def test_the_standard_gaussian_statement_needs_sigma_where_it_prints_sigma_squared(
    change: float, epsilon: float, delta: float
) -> None:
    c = math.sqrt(2 * math.log(1.25 / 1e-5))
    square = c * change / epsilon
    assert float(gaussian_delta(epsilon, change / math.sqrt(square))) == pytest.approx(
        delta, rel=3e-3
    )  # printed: σ² = cΔQ/ε, and δ = 1e-5 was asked for
    assert gaussian_delta(epsilon, change / square) < 1e-5  # meant: σ = cΔQ/ε


def test_delta_is_not_the_probability_that_epsilon_fails() -> None:
    """For ΔQ = σ the loss is N(1/2, 1); it exceeds 1 more than twice as often as δ(1) says."""
    assert float(gaussian_delta(1, 1)) == pytest.approx(0.1269, abs=5e-5)
    assert float(mp.ncdf(-0.5)) == pytest.approx(0.3085, abs=5e-5)


def test_adjacency_by_exactly_k_rows_can_miss_a_change_of_one() -> None:
    """The parity of two bits never changes when both do."""
    rows = list(itertools.product((0, 1), repeat=2))

    def sensitivity(adjacent: Callable[[int], bool]) -> int:
        pairs = itertools.product(rows, rows)
        return max(
            abs(sum(d) % 2 - sum(e) % 2)
            for d, e in pairs
            if adjacent(sum(x != y for x, y in zip(d, e, strict=True)))
        )

    assert sensitivity(lambda changed: changed == 2) == 0
    assert sensitivity(lambda changed: changed <= 2) == 1


# The remark on the maximisation of ΔC_m.


def test_delta_c_is_not_concave_in_two_dimensions_but_its_logarithm_is() -> None:
    def product(c: tuple[float, float]) -> mpf:
        return ratio(c[0], 6, 1) * ratio(c[1], 6, 1)

    middle, ends = product((0.2, 0.2)), (product((0.0, 0.0)) + product((0.4, 0.4))) / 2
    assert float(middle) == pytest.approx(1.3422, abs=5e-5)
    assert float(ends) == pytest.approx(1.3592, abs=5e-5)
    assert middle < ends
    rng = np.random.default_rng(0)
    for _ in range(200):
        one, two = rng.uniform(0, 6, (2, 2))
        half = mp.log(product(tuple((one + two) / 2)))
        assert half >= (mp.log(product(tuple(one))) + mp.log(product(tuple(two)))) / 2
        assert ratio((one[0] + two[0]) / 2, 6, 1) >= (ratio(one[0], 6, 1) + ratio(two[0], 6, 1)) / 2


# Algorithm 1.


def test_algorithm_1_in_doubles_returns_nothing_at_a_tiny_budget() -> None:
    first, side = textbook(1, 0.1, 1e-33)
    assert math.isnan(side(first))  # 0/0
    assert algorithm_1(first, side) == (None, 0)
    assert paper.sigma(np.ones(1), 0.1, 1e-33) ** 2 == pytest.approx(1.5e32, rel=1e-9, abs=0)


def test_algorithm_1_in_doubles_returns_a_third_of_its_own_answer() -> None:
    answer, passes = algorithm_1(*textbook(1, 1e-3, 1e-15))
    assert answer == pytest.approx(5.002e11, rel=1e-3, abs=0)
    assert passes == 1
    assert paper.sigma(np.ones(1), 1e-3, 1e-15) ** 2 == pytest.approx(1.5e12, rel=1e-9, abs=0)


@pytest.mark.parametrize(
    ("change", "epsilon", "times"), [(0.15, 9e-12, 14.3), (0.05, 6e-12, 7.78), (1e-3, 1.5e-12, 3.5)]
)
def test_algorithm_1_in_doubles_returns_a_scale_that_is_not_private(
    change: float, epsilon: float, times: float
) -> None:
    answer, passes = algorithm_1(*textbook(1, change, epsilon))
    assert answer is not None
    assert passes == 1
    given = true_epsilon(1, change, mp.sqrt(mpf(float(answer))))
    assert float(given) / epsilon == pytest.approx(times, rel=0.01)
    should = paper.sigma(np.ones(1), change, epsilon) ** 2
    assert should == pytest.approx(1.5 * change / epsilon, rel=1e-9, abs=0)
    ours = ib.BoundedGaussian.calibrated(ib.Box(0, 1), change, epsilon=epsilon)
    assert true_epsilon(1, change, ours.sigma) <= epsilon


def test_algorithm_1_stops_only_when_the_digits_run_out() -> None:
    """An interval that is halved is always smaller than before; only rounding ends the loop."""
    for digits in (30, 60, 120):
        with mp.workdps(digits):
            _, passes = algorithm_1(
                numerator(1, 0.5) / mpf("0.1"), lambda square: right_side(1, 0.5, 0.1, square)
            )
            assert 0.85 * mp.prec < passes < 1.1 * mp.prec


def test_algorithm_1_returns_the_infeasible_side_about_as_often_as_not() -> None:
    rng, bad, worst = np.random.default_rng(0), 0, 0.0
    for _ in range(400):
        change, epsilon = float(rng.uniform(0.01, 1)), float(10 ** rng.uniform(-2, 1))
        answer, _ = algorithm_1(*textbook(1, change, epsilon))
        excess = right_side(1, change, epsilon, mpf(float(answer))) / mpf(float(answer)) - 1
        bad, worst = bad + (excess > 0), max(worst, float(excess))
        sigma = mpf(paper.sigma(np.ones(1), change, epsilon))
        assert right_side(1, change, epsilon, sigma**2) <= sigma**2
    assert 100 < bad < 300
    assert worst < 1e-12  # harmless: the theorem has more slack than that


def test_the_first_interval_size_of_algorithm_1_is_a_slip_without_effect() -> None:
    """With /2 the loop starts if right < 3 left; in exact arithmetic right < 2 left."""
    for change, epsilon in itertools.product((0.001, 0.1, 0.5, 1.0), (1e-6, 0.1, 1.0, 30.0, 1e3)):
        left = numerator(1, change) / epsilon
        right = right_side(1, change, epsilon, left)
        assert left < right < 2 * left
        ways = [algorithm_1(*textbook(1, change, max(epsilon, 0.01)), first) for first in (0.5, 2)]
        assert ways[0] == ways[1]


# Tightness, and where the proof gives it away.


@pytest.mark.parametrize(
    ("change", "small", "at_one", "large"),
    [
        (0.001, 3, 1.05, 1.001),
        (0.1, 3, 1.71, 1.105),
        (0.3, 3, 2.30, 1.353),
        (0.5, 3, 2.61, 1.667),
        (1.0, 3.25, 3.24, 3.0),
    ],
)
def test_the_published_scale_is_up_to_three_and_a_quarter_times_the_minimum_squared(
    change: float, small: float, at_one: float, large: float
) -> None:
    def excess(epsilon: float) -> float:
        exact = ib.BoundedGaussian.calibrated(ib.Box(0, 1), change, epsilon=epsilon).sigma
        assert float(true_epsilon(1, change, exact)) == pytest.approx(epsilon, rel=1e-12, abs=0)
        return (paper.sigma(np.ones(1), change, epsilon) / float(exact)) ** 2

    assert excess(1e-8) == pytest.approx(small, rel=1e-5)
    assert all(excess(10.0**power) <= small for power in range(-8, 8))
    assert excess(1.0) == pytest.approx(at_one, abs=5e-3)
    assert excess(1e7) == pytest.approx(large, abs=5e-4)
    if change < 1:
        assert large == pytest.approx((1 + change / 2) / (1 - change / 2), abs=5e-4)


@pytest.mark.parametrize("change", [0.1, 0.5, 0.7, 0.9])
@pytest.mark.parametrize("sigma", [0.1, 0.5, 3.0])
def test_the_slack_is_a_square_and_two_logarithms(change: float, sigma: float) -> None:
    log_delta_c = mp.log(delta_c(1, change, sigma))
    bound = numerator(1, change) / mpf(sigma) ** 2 + log_delta_c
    slack = bound - true_epsilon(1, change, sigma)
    square = (mpf(change) / sigma) ** 2
    assert mp.almosteq(slack, square + log_delta_c + mp.log(ratio(change, 1, sigma)))
    shorter = mp.almosteq(slack, square + 2 * log_delta_c)
    assert shorter is (change <= 0.5)  # two equal logarithms only up to half the width


def test_the_proof_combines_extremes_that_no_two_neighbours_attain() -> None:
    w, change, sigma = 1.0, 0.25, 0.5
    s, z = np.meshgrid(np.linspace(0, w - change, 301), np.linspace(0, w, 401))
    exponent = (2 * (s - z) * change + change**2) / 2
    assert exponent.max() == pytest.approx((w - change / 2) * change)  # both values in [0, w]
    assert exponent.max() < (w + change / 2) * change  # the paper's: s = w, so s' = w + ΔQ
    best = np.unravel_index(exponent.argmax(), s.shape)
    assert (s[best], z[best]) == (w - change, 0)
    at_best = normaliser(w, w, sigma) / normaliser(w - change, w, sigma)
    assert mp.almosteq(at_best, 1 / delta_c(w, change, sigma))  # where the proof uses ΔC itself


def test_the_step_from_c_to_delta_q_fails_when_the_output_lies_above_the_value() -> None:
    x, c, change = -1.0, 0.1, 0.5  # x = s - z ranges over [-w, w], not [0, w]
    assert 2 * x * c + c**2 == pytest.approx(-0.19)
    assert 2 * x * change + change**2 == pytest.approx(-0.75)
    w = 1.0
    x_all, c_all = np.meshgrid(np.linspace(-w, w, 201), np.linspace(0, change, 101))
    worst = (2 * x_all * c_all + c_all**2).max()
    assert worst <= 2 * w * change + change**2 + 1e-12  # the bound at x = w covers them all


# Table 1 and section 4.


@pytest.mark.parametrize("epsilon", PRINTED)
def test_table_1_is_right_except_for_one_digit(epsilon: float) -> None:
    low, high = 10.0, 2000.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if example_bound(middle) > epsilon else (low, middle)
    assert high == pytest.approx(calibrated(epsilon, BALL, "paper"), rel=1e-7, abs=0)
    should = {1.0: 84.4}.get(epsilon, PRINTED[epsilon])
    assert round(high, 1) == should
    reduction = 100 * (1 - high / PRINTED_LIU[epsilon])
    assert round(reduction, 1) == PRINTED_REDUCTION[epsilon]


def test_the_entry_84_3_misses_the_paper_s_own_inequality() -> None:
    assert example_bound(84.3) == pytest.approx(1.00098, abs=5e-6)
    assert example_bound(84.4) < 1
    assert ib.BoundedGaussian(BOX, BALL, math.sqrt(84.3)).epsilon == pytest.approx(0.358, abs=5e-4)


def test_table_1_lists_squared_scales_though_its_caption_says_sigma() -> None:
    for epsilon, printed in PRINTED.items():
        sigma = paper.sigma(WIDTHS, RADIUS, epsilon)
        assert sigma**2 == pytest.approx(printed, rel=2e-3)
        assert sigma < printed / 5


@pytest.mark.parametrize(
    ("epsilon", "same_ball", "factor", "ball"),
    [(0.1, 57.3, 4.64, 290.9), (1.0, 58.0, 4.16, 32.3), (3.0, 59.4, 3.67, 12.2)],
)
def test_table_1_compares_two_sensitivity_sets(
    epsilon: float, same_ball: float, factor: float, ball: float
) -> None:
    liu = float(((2 * WIDTHS + CHANGES) * CHANGES).sum()) / epsilon
    assert liu == pytest.approx(PRINTED_LIU[epsilon])  # |c| <= (4, 2), a part of the l2 ball
    assert liu == pytest.approx(calibrated(epsilon, CAPS, "liu"))
    everywhere = np.minimum(RADIUS, WIDTHS)  # what Liu's bound needs for the ball itself
    fair = float(((2 * WIDTHS + everywhere) * everywhere).sum()) / epsilon
    reduction = 100 * (1 - calibrated(epsilon, BALL, "paper") / fair)
    assert reduction == pytest.approx(same_ball, abs=0.05)
    assert liu / calibrated(epsilon, CAPS, "exact") == pytest.approx(factor, abs=5e-3)
    assert calibrated(epsilon, BALL, "exact") == pytest.approx(ball, abs=0.05)


@pytest.mark.parametrize(
    ("epsilon", "in_variance", "at_corner"), [(0.1, 0.12, 0.47), (3.0, 4.0, 15.0)]
)
def test_the_variance_of_the_paper_is_the_squared_scale_and_not_that_of_the_output(
    epsilon: float, in_variance: float, at_corner: float
) -> None:
    ours, theirs = (
        ib.BoundedGaussian(BOX, BALL, math.sqrt(square))
        for square in (calibrated(epsilon, BALL, "paper"), PRINTED_LIU[epsilon])
    )
    assert np.all(ours.variance([5, 5]) < WIDTHS**2 / 12)  # uniform noise has w²/12
    assert float(ours.sigma) ** 2 > (WIDTHS**2 / 4).max()  # no law on the box has more than w²/4
    less = 1 - np.sum(ours.variance([5, 5])) / np.sum(theirs.variance([5, 5]))
    assert 100 * less == pytest.approx(in_variance, abs=0.05)
    less = 1 - np.sum(ours.mse([0, 1])) / np.sum(theirs.mse([0, 1]))
    assert 100 * less == pytest.approx(at_corner, abs=0.05)


def laplacian(edges: set[tuple[int, int]], nodes: int = 10) -> np.ndarray:
    matrix = np.zeros((nodes, nodes))
    for i, j in edges:
        matrix[[i, j], [i, j]] += 1
        matrix[[i, j], [j, i]] -= 1
    return matrix


def test_the_average_degree_is_not_the_degree_of_a_node() -> None:
    """Two edges at node 0 change its degree by k = 2, and the average by 2k/n = 0.4."""
    full = set(itertools.combinations(range(10), 2))
    before, after = laplacian(full), laplacian(full - {(0, 1), (0, 2)})
    change = np.diag(before) - np.diag(after)
    assert change[0] == 2
    assert change.mean() == pytest.approx(0.4)


def test_one_edge_changes_the_fiedler_value_by_at_most_two() -> None:
    """As the paper uses; the complete graph on ten nodes attains it."""
    rng, full = np.random.default_rng(0), list(itertools.combinations(range(10), 2))

    def fiedler(edges: set[tuple[int, int]]) -> float:
        return float(np.linalg.eigvalsh(laplacian(edges))[1])

    assert fiedler(set(full)) - fiedler(set(full) - {full[0]}) == pytest.approx(2)
    for _ in range(200):
        edges = {edge for edge in full if rng.random() < 0.6} - {full[7]}
        assert -1e-12 <= fiedler(edges | {full[7]}) - fiedler(edges) <= 2 + 1e-12


# The lemmas, which are right, and two displays of their proofs, which are not.


@pytest.mark.parametrize("sigma", [0.05, 0.4, 2.0, 30.0])
def test_the_lemmas_on_the_normaliser_are_right(sigma: float) -> None:
    for c in (0.1, 0.5, 0.8):
        places = [mpf(k) / 20 * (1 - mpf(c)) for k in range(21)]
        ratios = [normaliser(s + c, 1, sigma) / normaliser(s, 1, sigma) for s in places]
        assert ratios == sorted(ratios, reverse=True)  # largest at s = a
    for change in (0.1, 0.5, 0.8, 1.0):
        shifts = [mpf(k) / 40 * mpf(change) for k in range(41)]
        assert delta_c(1, change, sigma) >= max(ratio(c, 1, sigma) for c in shifts)
        assert delta_c(1, change, sigma) > 1


@pytest.mark.parametrize("change", [0.001, 0.3, 0.5, 0.7, 1.0])
@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 50.0])
def test_the_lemmas_on_f_are_right(change: float, epsilon: float) -> None:
    first = mp.sqrt(numerator(1, change) / epsilon)
    assert 0 < mp.log(delta_c(1, change, first)) < epsilon / 2  # the paper: < epsilon

    def f(sigma: mpf) -> mpf:
        return sigma**2 - right_side(1, change, epsilon, sigma**2)

    values = [f(first * (1 + mpf(k) / 10)) for k in range(31)]
    assert values[0] < 0 < values[-1]
    assert all(low < high for low, high in itertools.pairwise(values))


def test_the_lemmas_on_f_are_right_in_many_dimensions() -> None:
    for widths, share in itertools.product(([10.0, 8.0], [1.0, 2.0, 30.0]), (0.05, 0.5, 1.0)):
        box, norm = np.array(widths), float(np.linalg.norm(widths))
        k = (norm + share * norm / 2) * share * norm
        for epsilon in (0.01, 1.0, 20.0):
            squares = k / epsilon * np.linspace(1, 4, 25)
            logs = np.array([paper.log_delta_c(box, share * norm, s) for s in np.sqrt(squares)])
            assert 0 < logs[0] < epsilon / 2
            f = squares - k / (epsilon - logs)
            assert f[0] < 0 < f[-1]
            assert np.all(np.diff(f) > 0)


def test_the_derivative_in_the_proof_of_monotonicity_lacks_a_factor_sigma() -> None:
    w, c, sigma = mpf(1), mpf("0.3"), mpf("0.4")
    bell = lambda x: mp.exp(-(x**2) / (2 * sigma**2))  # noqa: E731
    whole, shifted = mp.quad(bell, [0, w]), mp.quad(lambda x: bell(x - c), [0, w])
    first = (-bell(w - c) * (w - c) - bell(c) * c) / sigma**2 / whole
    second = bell(w) * w / sigma**2 * shifted / whole**2
    slope = mp.diff(lambda s: ratio(c, w, s), sigma)
    assert mp.almosteq((first + second) * sigma, slope, rel_eps=mpf(10) ** -15)
    assert slope < 0  # all the proof needs


def test_one_display_in_the_proof_of_the_denominator_lemma_has_a_wrong_sign() -> None:
    """Printed: ΔC = exp(-(c·c + c·(δ - a))/2σ²) for some δ in the box. That is below 1."""
    w, c, sigma = mpf(1), mpf("0.3"), mpf("0.4")
    value = delta_c(w, c, sigma)
    assert value > 1
    assert all(mp.exp(-(c * c + c * w * k / 10) / (2 * sigma**2)) < 1 for k in range(11))
    place = (2 * sigma**2 * mp.log(value) + c * c) / (2 * c)  # of exp((2c·(δ - a) - c·c)/2σ²)
    assert 0 <= place <= w


# The page.


def test_the_page_names_every_test_of_this_file_and_no_other() -> None:
    tree = ast.parse(Path(__file__).read_text(encoding="utf-8"))
    here = {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }
    named = re.findall(r"test_paper_notes\.py::(test_\w+)", PAGE.read_text(encoding="utf-8"))
    assert set(named) == here
