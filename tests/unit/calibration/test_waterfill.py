import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from inbounds.calibration.concave import LOSS, RATIO, Coordinates, WorstChange
from inbounds.calibration.waterfill import gap, with_best_multiplier, worst_change
from inbounds.numerics import partition

CLOSE = 1e-12  # relative: how near the maximum a finished search comes


def value(of: Any, at: Coordinates, sigma: np.ndarray, change: np.ndarray) -> float:
    u, gamma = at.width / sigma, change / sigma
    if of is RATIO:
        each = partition.log_ratios(u, gamma)
    else:
        each = partition.losses(u, gamma, (at.width - change) / sigma)[0]
    return float(at.count @ each)


def slopes(of: Any, at: Coordinates, sigma: np.ndarray, change: np.ndarray) -> np.ndarray:
    return of.slopes(at.width / sigma, change / sigma)[0] / sigma


def bound(at: Coordinates, sigma: np.ndarray, worst: WorstChange, of: Any = LOSS) -> float:
    """What the library proves from `worst`: value and gap."""
    return value(of, at, sigma, worst.change) + gap(at, worst, slopes(of, at, sigma, worst.change))


def norm(at: Coordinates, change: np.ndarray) -> float:
    assert at.order is not None
    return float((at.count @ change**at.order) ** (1 / at.order))


def is_allowed(at: Coordinates, change: np.ndarray) -> bool:
    inside = (change >= 0).all() and (change <= at.cap * (1 + 1e-15)).all()
    return bool(inside and (at.order is None or norm(at, change) <= at.radius * (1 + 1e-13)))


def by_slsqp(of: Any, at: Coordinates, sigma: np.ndarray) -> float:
    """The maximum by a general solver, every copy of a coordinate a variable of its own."""
    copies = np.repeat(np.arange(at.width.size), at.count.astype(int))
    flat = Coordinates(at.width[copies], at.cap[copies], np.ones(copies.size), at.order, at.radius)
    scale, noise = flat.cap, sigma[copies]
    best = 0.0
    for fraction in (1.0, 0.3):
        start = flat.cap * fraction
        start = start * min(1.0, at.radius / norm(flat, start))
        size = value(of, flat, noise, start)

        def cost(x: np.ndarray, size: float = size) -> float:
            return -value(of, flat, noise, np.clip(x, 0, 1) * scale) / size

        def slope(x: np.ndarray, size: float = size) -> np.ndarray:
            return -slopes(of, flat, noise, np.clip(x, 0, 1) * scale) * scale / size

        def room(x: np.ndarray) -> float:
            return 1 - float(((np.clip(x, 0, 1) * scale / at.radius) ** at.order).sum())

        optimum = minimize(
            cost,
            start / scale,
            jac=slope,
            bounds=[(0, 1)] * copies.size,
            constraints=[{"type": "ineq", "fun": room}],
            method="SLSQP",
            options={"ftol": 1e-15, "maxiter": 500},
        )
        change = np.clip(optimum.x, 0, 1) * scale
        change = change * min(1.0, at.radius / norm(flat, change))  # never count what is forbidden
        best = max(best, value(of, flat, noise, change))
    return best


def random_problem(seed: int) -> tuple[Coordinates, np.ndarray, Any]:
    """Mixed widths, scales, caps and multiplicities; the norm binds; both objectives."""
    generator = np.random.default_rng(seed)
    of = (LOSS, RATIO)[seed % 2]
    order: Any = (2, 1, 2)[seed % 3]
    size = int(generator.integers(2, 6))
    width = 10 ** generator.uniform(-1, 1, size)
    sigma = 10 ** generator.uniform(-1, 1) * (
        np.ones(size) if seed % 4 < 2 else 10 ** generator.uniform(-0.5, 0.5, size)
    )
    cap = width / 2 if of is RATIO else width
    if seed % 5 < 3:
        cap = cap * generator.uniform(0.05, 1, size)
    count = generator.integers(1, 4, size).astype(float)
    whole = float((count @ cap**order) ** (1 / order))
    radius = whole * float(generator.uniform(0.02, 0.98))
    return Coordinates(width, np.minimum(cap, radius), count, order, radius), sigma, of


def norm_binds(seed: int) -> bool:
    at, _, _ = random_problem(seed)
    return norm(at, at.cap) > at.radius


@pytest.mark.parametrize("seed", [seed for seed in range(36) if norm_binds(seed)])
def test_no_general_solver_finds_a_worse_change(seed: int) -> None:
    at, sigma, of = random_problem(seed)
    worst = worst_change(at, sigma, of=of)
    reached = value(of, at, sigma, worst.change)
    best = by_slsqp(of, at, sigma)
    assert is_allowed(at, worst.change)
    assert best <= reached * (1 + CLOSE)
    assert reached == pytest.approx(best, rel=1e-6, abs=0)  # the solver did work
    best_worst = with_best_multiplier(at, worst, slopes(of, at, sigma, worst.change))
    assert bound(at, sigma, best_worst, of) <= reached * (1 + CLOSE)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("sigma", [0.2, 1.0, 5.0])
@pytest.mark.parametrize("cap", [(3.0, 7.0), (0.9, 7.0), (3.0, 0.4)])
def test_in_the_plane_no_point_of_a_fine_grid_is_worse(
    order: Any, sigma: float, cap: tuple[float, float]
) -> None:
    at = Coordinates(np.array([3.0, 7.0]), np.array(cap), np.ones(2), order, 1.2)
    noise = np.full(2, sigma)
    corner = max(0.0, 1.2**order - cap[1] ** order) ** (1 / order)
    first = np.minimum(np.append(np.linspace(0, min(cap[0], 1.2), 4001), corner), cap[0])
    second = np.minimum((1.2**order - first**order) ** (1 / order), cap[1])
    u = np.array([[3.0], [7.0]]) / sigma
    gamma = np.stack([first, second]) / sigma
    wide = np.broadcast_to(u, gamma.shape)
    grid = partition.losses(wide, gamma, wide - gamma)[0].sum(axis=0)
    worst = worst_change(at, noise)
    reached = value(LOSS, at, noise, worst.change)
    assert grid.max() <= reached * (1 + 1e-14)
    assert reached <= grid.max() * (1 + 1e-6)


@pytest.mark.parametrize("seed", range(200))
def test_any_change_and_any_multiplier_give_a_valid_bound(seed: int) -> None:
    """Also a change far from the worst, or beyond the norm, and a multiplier off by 1e±3."""
    at, sigma, _ = random_problem(seed)
    generator = np.random.default_rng(1000 + seed)
    good = worst_change(at, sigma)
    highest = value(LOSS, at, sigma, good.change)
    anywhere = at.cap * generator.uniform(0, 1, at.cap.size) ** float(generator.choice([0.2, 1, 9]))
    multiplier = good.multiplier * float(10 ** generator.uniform(-3, 3))
    scaled = anywhere * min(1.0, at.radius / norm(at, anywhere))
    for change in (anywhere, scaled, good.change, at.cap, np.zeros_like(at.cap)):
        worst = WorstChange(change, multiplier)
        extra = gap(at, worst, slopes(LOSS, at, sigma, change))
        assert extra >= 0
        assert highest <= (value(LOSS, at, sigma, change) + extra) * (1 + 1e-14)


@pytest.mark.parametrize("seed", range(50))
def test_every_allowed_change_stays_below_the_bound(seed: int) -> None:
    at, sigma, _ = random_problem(seed)
    proved = bound(at, sigma, worst_change(at, sigma))
    generator = np.random.default_rng(seed)
    for _ in range(50):
        change = at.cap * generator.uniform(0, 1, at.cap.size) ** 0.3
        change *= min(1.0, at.radius / norm(at, change))
        assert value(LOSS, at, sigma, change) <= proved * (1 + 1e-15)


def gap_fraction(at: Coordinates, sigma: np.ndarray, of: Any = LOSS) -> float:
    worst = worst_change(at, sigma, of=of)
    slope = slopes(of, at, sigma, worst.change)
    assert is_allowed(at, worst.change)
    reached = value(of, at, sigma, worst.change)
    return gap(at, with_best_multiplier(at, worst, slope), slope) / reached


SHAPES = {
    "distinct": np.array([1.0, 2.0, 5.0, 9.0]),
    "one huge among many tiny": np.array([1e6, *np.linspace(1e-3, 2e-3, 50)]),
    "one tiny among many huge": np.array([1e-6, *np.linspace(1e3, 2e3, 50)]),
    "nearly equal": 1 + np.arange(20) * 1e-14,
    "twelve decades": np.logspace(-6, 6, 40),
}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("reach", [1e-12, 1e-3, 0.5, 0.999])
@pytest.mark.parametrize("noise", [1e-3, 1.0, 1e6])
def test_the_gap_closes_for_every_shape_of_box(
    name: str, order: Any, reach: float, noise: float
) -> None:
    width = SHAPES[name]
    radius = reach * float(np.linalg.norm(width, order))
    at = Coordinates(width, np.minimum(width, radius), np.ones(width.size), order, radius)
    for sigma in (np.full(width.size, noise * float(np.median(width))), noise * width):
        assert gap_fraction(at, sigma) <= CLOSE


@pytest.mark.parametrize("order", [1, 2])
def test_the_gap_closes_when_nearly_every_coordinate_is_at_its_cap(order: Any) -> None:
    width = np.linspace(1, 3, 12)
    cap = width * np.linspace(0.1, 0.3, 12)
    for shortfall in (1e-3, 1e-9, 1e-13):
        radius = float(np.linalg.norm(cap, order)) * (1 - shortfall)
        at = Coordinates(width, np.minimum(cap, radius), np.ones(12), order, radius)
        worst = worst_change(at, np.ones(12))
        assert norm(at, worst.change) == pytest.approx(radius, rel=1e-13, abs=0)
        assert gap_fraction(at, np.ones(12)) <= CLOSE


@pytest.mark.parametrize("order", [1, 2])
def test_caps_bind_on_some_coordinates_only(order: Any) -> None:
    width = np.array([3.0, 4.0, 3.1, 4.2])
    at = Coordinates(width, np.array([1.2, 0.01, 1.2, 0.02]), np.ones(4), order, 1.2)
    worst = worst_change(at, np.full(4, 0.7))
    assert worst.change[[1, 3]] == pytest.approx([0.01, 0.02], rel=1e-14, abs=0)
    assert (worst.change[[0, 2]] < at.cap[[0, 2]]).all()
    assert gap_fraction(at, np.full(4, 0.7)) <= CLOSE


def test_l1_in_the_rounding_regime_still_has_a_small_gap() -> None:
    """At u = 1e-6 slopes of one coordinate differ by 1e-12 from end to end: ties are everywhere."""
    for spread in (0.0, 1e-15, 1e-12, 1e-9, 1e-3):
        width = 1e-6 * (1 + spread * np.arange(1, 7))
        for reach in (0.01, 0.5, 0.9):
            radius = reach * float(width.sum())
            at = Coordinates(width, np.minimum(width, radius), np.ones(6), 1, radius)
            assert gap_fraction(at, np.ones(6)) <= CLOSE


def test_l1_at_high_noise_goes_to_the_widest_coordinates_first() -> None:
    at = Coordinates(np.array([1.0, 2.0, 5.0]), np.array([1.0, 2.0, 3.0]), np.ones(3), 1, 4.0)
    assert worst_change(at, np.full(3, 1e4)).change == pytest.approx([0, 1, 3], abs=1e-6)


def test_l1_at_low_noise_levels_what_is_left() -> None:
    at = Coordinates(np.array([1.0, 4.0, 5.0]), np.array([1.0, 3.0, 3.0]), np.ones(3), 1, 3.0)
    assert worst_change(at, np.full(3, 1e-3)).change == pytest.approx([0, 1, 2], abs=1e-4)


@pytest.mark.parametrize("sigma", [1e-4, 1e4])
def test_l2_follows_the_widths_in_both_limits(sigma: float) -> None:
    width = np.array([3.0, 4.0])
    at = Coordinates(width, np.array([1.0, 1.0]), np.ones(2), 2, 1.0)
    assert worst_change(at, np.full(2, sigma)).change == pytest.approx([0.6, 0.8], rel=1e-3, abs=0)


@pytest.mark.parametrize(("order", "fraction"), [(1, 4.0), (2, 2.0)])
@pytest.mark.parametrize("of", [LOSS, RATIO])
def test_equal_widths_share_equally(order: Any, fraction: float, of: Any) -> None:
    alike = Coordinates(np.array([2.0]), np.array([1.0]), np.array([4.0]), order, 1.0)
    worst = worst_change(alike, np.array([0.7]), of=of)
    assert worst.change.tolist() == [1.0 / fraction]
    apart = Coordinates(np.full(4, 2.0), np.ones(4), np.ones(4), order, 1.0)
    assert worst_change(apart, np.full(4, 0.7), of=of).change == pytest.approx([1.0 / fraction] * 4)
    assert gap(alike, worst, slopes(of, alike, np.array([0.7]), worst.change)) <= 1e-15


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("of", [LOSS, RATIO])
def test_a_multiplicity_is_worth_that_many_coordinates(order: Any, of: Any) -> None:
    width, cap, count = np.array([2.0, 3.0]), np.array([0.4, 0.9]), np.array([3.0, 2.0])
    few = Coordinates(width, cap, count, order, 1.1)
    copies = [0, 0, 0, 1, 1]
    many = Coordinates(width[copies], cap[copies], np.ones(5), order, 1.1)
    grouped = worst_change(few, np.array([0.8, 1.1]), of=of)
    spread = worst_change(many, np.array([0.8, 1.1])[copies], of=of)
    np.testing.assert_allclose(grouped.change[copies], spread.change, rtol=1e-7)


def test_without_a_norm_every_change_is_its_cap_and_nothing_is_missing() -> None:
    at = Coordinates(np.array([2.0, 3.0]), np.array([0.4, 0.9]), np.ones(2), None, math.inf)
    worst = worst_change(at, np.ones(2))
    assert worst.change.tolist() == [0.4, 0.9]
    assert gap(at, worst, np.ones(2)) == 0


@pytest.mark.parametrize("factor", [1e-6, 0.1, 1.0, 10.0, 1e6])
def test_the_first_guess_of_the_multiplier_does_not_change_the_result(factor: float) -> None:
    at, sigma, _ = random_problem(6)
    assert at.order == 2
    plain = worst_change(at, sigma)
    guessed = worst_change(at, sigma, plain.multiplier * factor)
    np.testing.assert_allclose(guessed.change, plain.change, rtol=1e-7)
    assert bound(at, sigma, guessed) == pytest.approx(bound(at, sigma, plain), rel=1e-14, abs=0)


def test_the_best_multiplier_is_never_beaten_by_another() -> None:
    for seed in itertools.islice(itertools.count(1, 3), 30):  # seeds with an l1 norm
        at, sigma, _ = random_problem(seed)
        assert at.order == 1
        generator = np.random.default_rng(seed)
        change = at.cap * generator.uniform(0, 1, at.cap.size)
        change *= min(1.0, at.radius / norm(at, change))
        slope = slopes(LOSS, at, sigma, change)
        best = with_best_multiplier(at, WorstChange(change, 1.0), slope)
        least = gap(at, best, slope)
        for factor in (0.5, 0.9, 0.999, 1.001, 1.1, 2.0):
            other = WorstChange(change, best.multiplier * factor)
            assert least <= gap(at, other, slope) * (1 + 1e-12)


def test_more_coordinates_than_one_block_are_solved_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    width = np.linspace(1, 2, 40)
    at = Coordinates(width, np.minimum(width, 0.9), np.ones(40), 2, 3.0)
    whole = worst_change(at, np.ones(40))
    monkeypatch.setattr("inbounds.calibration.concave._BLOCK", 7)
    parts = worst_change(at, np.ones(40))
    np.testing.assert_allclose(parts.change, whole.change, rtol=1e-8)


def test_a_change_of_coordinates_order_changes_nothing() -> None:
    at, sigma, _ = random_problem(12)
    turned = Coordinates(at.width[::-1], at.cap[::-1], at.count[::-1], at.order, at.radius)
    forward, backward = worst_change(at, sigma), worst_change(turned, sigma[::-1])
    np.testing.assert_allclose(backward.change[::-1], forward.change, rtol=1e-7)
