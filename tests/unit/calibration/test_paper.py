import itertools
import math

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy.optimize import minimize
from scipy.special import ndtr

from inbounds import L2
from inbounds.calibration import paper
from inbounds.calibration.exact import pure_loss
from inbounds.numerics import partition

EXAMPLE, CHANGE = np.array([10.0, 8.0]), math.hypot(4, 2)
INTERVALS = list(
    itertools.product(
        (1e-6, 1.0, 3e12), (1e-9, 1e-3, 0.1, 0.5, 0.6, 1.0), (1e-9, 0.1, 1.0, 30.0, 1e3)
    )
)


def true_log_ratio(width: float, diameter: float, sigma: float) -> mpf:
    """ln ΔC(σ) of one interval: the best shift is the sensitivity, or half the width."""
    with mp.workdps(80):
        w, s = mpf(width), mpf(sigma) * mp.sqrt(2)
        c = min(mpf(diameter), w / 2)
        return mp.log((mp.erf(c / s) + mp.erf((w - c) / s)) / mp.erf(w / s))


def meets_the_theorem(width: float, diameter: float, epsilon: float, sigma: float) -> bool:
    """Theorem 1 with its side condition, at 80 digits."""
    with mp.workdps(80):
        room = mpf(epsilon) - true_log_ratio(width, diameter, sigma)
        numerator = (mpf(width) + mpf(diameter) / 2) * mpf(diameter)
        return bool(room > 0 and mpf(sigma) ** 2 >= numerator / room)


@pytest.mark.parametrize(("width", "fraction", "epsilon"), INTERVALS)
def test_sigma_is_the_smallest_the_theorem_allows(
    width: float, fraction: float, epsilon: float
) -> None:
    sigma = paper.sigma(np.array([width]), fraction * width, epsilon)
    assert meets_the_theorem(width, fraction * width, epsilon, sigma)
    assert not meets_the_theorem(width, fraction * width, epsilon, sigma * (1 - 1e-12))


@pytest.mark.parametrize(("width", "fraction", "epsilon"), INTERVALS)
def test_the_side_condition_holds_at_every_result(
    width: float, fraction: float, epsilon: float
) -> None:
    sigma = paper.sigma(np.array([width]), fraction * width, epsilon)
    assert paper.log_delta_c(np.array([width]), fraction * width, sigma) < epsilon
    assert true_log_ratio(width, fraction * width, sigma) < epsilon / 2  # so the root is unique


def test_without_its_side_condition_the_theorem_is_false() -> None:
    """On [0, 1] with ΔQ = 0.5 the printed inequality holds at σ = 0.3, which gives ε = 3.57."""
    width, diameter, epsilon, sigma = 1.0, 0.5, 0.1, 0.3
    room = epsilon - paper.log_delta_c(np.array([width]), diameter, sigma)
    assert sigma**2 >= (width + diameter / 2) * diameter / room  # as printed, satisfied
    assert room < 0  # but the right side is negative
    widths = np.array([width])
    given = pure_loss(widths, L2(diameter).within(widths), np.array([sigma])).epsilon
    assert given == pytest.approx(3.57, abs=0.005)
    ours = paper.sigma(widths, diameter, epsilon)
    assert pure_loss(widths, L2(diameter).within(widths), np.array([ours])).epsilon <= epsilon


@pytest.mark.parametrize(("epsilon", "change"), [(1e-33, 0.1), (1e-15, 1e-3)])
def test_budgets_where_the_textbook_ratio_breaks_down_are_solved(
    epsilon: float, change: float
) -> None:
    sigma = paper.sigma(np.ones(1), change, epsilon)
    assert sigma == pytest.approx(
        math.sqrt(1.5 * change / epsilon), rel=1e-9, abs=0
    )  # the limit ε → 0
    assert meets_the_theorem(1.0, change, epsilon, sigma)
    first = math.sqrt((1 + change / 2) * change / epsilon)
    with np.errstate(divide="ignore", invalid="ignore"):
        whole = ndtr(1 / first) - ndtr(0.0)
        textbook = (ndtr((1 - change) / first) - ndtr(-change / first)) / whole
    assert not 0 < np.log(textbook) < epsilon  # so Algorithm 1 as printed has no bracket


def test_the_published_table_is_reproduced() -> None:
    printed = {0.1: 857.5, 0.5: 170.3, 1.0: 84.4, 1.5: 55.8, 2.0: 41.5, 2.5: 32.9, 3.0: 27.2}
    for epsilon, square in printed.items():
        assert round(paper.sigma(EXAMPLE, CHANGE, epsilon) ** 2, 1) == square


def by_slsqp(widths: np.ndarray, diameter: float, sigma: float) -> float:
    """The c* problem of Theorem 2 by a general solver."""

    def log_ratio(c: np.ndarray) -> float:
        root = math.sqrt(2) * sigma
        return math.fsum(
            math.log((math.erf(x / root) + math.erf((w - x) / root)) / math.erf(w / root))
            for w, x in zip(widths, c, strict=True)
        )

    best = 0.0
    for fraction in (0.1, 0.9):
        start = fraction * np.minimum(widths / 2, diameter / math.sqrt(widths.size))
        optimum = minimize(
            lambda c: -log_ratio(c),
            start,
            bounds=[(0, w) for w in widths],  # wider than needed: half the width is a theorem
            constraints=[{"type": "ineq", "fun": lambda c: 1 - (c @ c) / diameter**2}],
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 300},
        )
        c = np.clip(optimum.x, 0, widths)
        best = max(best, log_ratio(c * min(1.0, diameter / float(np.linalg.norm(c)))))
    return best


@pytest.mark.parametrize("widths", [(1.0, 2.0, 3.0), (5.0, 5.0, 1.0), (0.2, 4.0, 4.1)])
@pytest.mark.parametrize("fraction", [0.05, 0.3, 0.7, 1.0])
def test_no_general_solver_finds_a_larger_ratio_in_three_dimensions(
    widths: tuple[float, ...], fraction: float
) -> None:
    box = np.array(widths)
    diameter = fraction * float(np.linalg.norm(box))
    for sigma in (0.5, 1.5, 8.0):
        computed = paper.log_delta_c(box, diameter, sigma)
        assert computed == pytest.approx(by_slsqp(box, diameter, sigma), rel=1e-6, abs=0)
        assert computed >= by_slsqp(box, diameter, sigma) * (1 - 1e-12)


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 30.0])
@pytest.mark.parametrize(
    "widths", [(10.0, 8.0), (1.0, 2.0, 3.0), (5.0, 5.0, 5.0), (1e-3, 1.0, 1e3)]
)
def test_in_many_dimensions_too_sigma_is_the_smallest_the_theorem_allows(
    widths: tuple[float, ...], epsilon: float
) -> None:
    box = np.array(widths)
    for fraction in (1e-6, 0.2, 0.5, 1.0):
        diameter = fraction * float(np.linalg.norm(box))
        numerator = (float(np.linalg.norm(box)) + diameter / 2) * diameter
        sigma = paper.sigma(box, diameter, epsilon)
        room = epsilon - paper.log_delta_c(box, diameter, sigma)
        assert room > 0
        assert sigma**2 * room >= numerator * (1 - 1e-14)
        less = sigma * (1 - 1e-12)
        assert less**2 * (epsilon - paper.log_delta_c(box, diameter, less)) < numerator


def test_a_box_of_one_coordinate_repeated_shares_the_change() -> None:
    box = np.full(4, 3.0)
    single = partition.log_ratio(3.0, 0.5)
    assert paper.log_delta_c(box, 1.0, 1.0) == pytest.approx(4 * single, rel=1e-14, abs=0)


def test_no_coordinate_gains_beyond_its_middle() -> None:
    for box in (np.array([2.0]), np.array([2.0, 3.0])):
        most = sum(partition.log_ratio(width, width / 2) for width in box)
        for diameter in (2.5, 100.0):
            assert paper.log_delta_c(box, diameter, 1.0) == pytest.approx(most, rel=1e-14, abs=0)


def test_the_published_variance_exceeds_the_exact_one_threefold_at_high_noise() -> None:
    for change, ratio in ((0.1, 3.0), (0.5, 3.0), (1.0, 3.25)):
        square = paper.sigma(np.ones(1), change, 1e-6) ** 2
        assert square * 1e-6 / (change / 2) == pytest.approx(ratio, rel=1e-5, abs=0)


def test_sigma_scales_with_the_box() -> None:
    plain = paper.sigma(EXAMPLE, CHANGE, 0.7)
    assert paper.sigma(EXAMPLE * 1024, CHANGE * 1024, 0.7) == pytest.approx(
        1024 * plain, rel=1e-14, abs=0
    )
