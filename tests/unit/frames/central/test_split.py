"""The factors are best: against a general solver, and against nearby factors."""

import math
from typing import Any, Literal

import numpy as np
import pytest
from scipy.optimize import minimize

from inbounds.frames.central.change import Neighbours
from inbounds.frames.central.moment import Moment, moments
from inbounds.frames.central.split import best_factors, importances
from inbounds.frames.central.statistic import Statistic, count, histogram, mean, total, variance

AGE = ("age", 0, 120)
ASKED: list[list[Statistic]] = [
    [count(), mean(*AGE)],
    [mean(*AGE), variance("income", -1, 2), histogram("age", list(range(0, 130, 10)))],
    [count(), total(*AGE), variance("height", 0, 3)],
    [histogram("age", [0, 60, 120]), total("income", 5, 7)],
]
WAYS: list[dict[str, Any]] = [
    {"groups": 1, "adjacency": "add-remove", "sizes_public": False},
    {"groups": 1, "adjacency": "replace", "sizes_public": True},
    {"groups": 1, "adjacency": "replace", "sizes_public": False},
    {"groups": 5, "adjacency": "replace", "sizes_public": False},
]


def neighbours(**how: Any) -> Neighbours:
    return Neighbours(**{"rows": 1, "size": 1} | how)


def error(
    factors: Any, importance: Any, needed: list[Moment], how: Neighbours, norm: Literal[1, 2]
) -> float:
    """The error Σ w (Δ/f)², where Δ is the largest change of the numbers times their factors."""
    changes = []
    for way, times in how.ways:
        sides = [(m.limits.l1, m.limits.squares)[norm - 1][way] for m in needed]
        changes.append((times * float(np.array(sides) @ np.asarray(factors) ** norm)) ** (1 / norm))
    return float(np.sum(importance * (max(changes) / np.asarray(factors)) ** 2))


@pytest.mark.parametrize("asked", ASKED, ids=str)
@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("norm", [1, 2])
def test_no_solver_finds_better_factors(
    asked: list[Statistic], way: dict[str, Any], norm: Literal[1, 2]
) -> None:
    needed, how = moments(asked, sizes_public=way["sizes_public"]), neighbours(**way)
    importance = importances(needed, asked, [1.0, 3.0, 0.2][: len(asked)])
    factors = best_factors(importance, needed, how, norm)
    assert max(factors) == 1
    ours = error(factors, importance, needed, how, norm)
    start = np.zeros(len(needed))
    theirs = minimize(
        lambda logs: math.log(error(np.exp(logs), importance, needed, how, norm)),
        start,
        method="Nelder-Mead",
        options={"xatol": 1e-6, "fatol": 1e-9, "maxiter": 4000},
    )
    assert ours <= math.exp(theirs.fun) * (1 + 1e-4)
    assert ours <= error(np.exp(start), importance, needed, how, norm)


def test_two_moments_under_one_way_have_the_closed_form() -> None:
    """Laplace: b in proportion to (c/w)^(1/3). Gaussian: σ⁴ in proportion to c²/w."""
    needed, how = moments([count(), mean(*AGE)], sizes_public=False), neighbours(**WAYS[0])
    importance = np.array([2.0, 5.0])
    for norm, costs, root in ((1, [1.0, 0.5], 3), (2, [1.0, 0.25], 4)):
        first, second = best_factors(importance, needed, how, norm)
        ratio = (costs[0] / importance[0] / (costs[1] / importance[1])) ** (1 / root)
        assert second / first == pytest.approx(ratio)


def test_an_importance_is_the_slope_of_the_relative_error() -> None:
    """Against the derivatives of the formulas, averaged over groups of equal values."""
    step, places = 1e-6, np.linspace(-0.5, 0.5, 20_001)

    def mean_(c: Any, t: Any) -> Any:
        return t / c

    def variance_(c: Any, t: Any, s: Any) -> Any:
        return ((s / c + 0.5) / 4 - (t / c) ** 2) * 4

    sums: list[Any] = [np.ones_like(places), places, 4 * places**2 - 0.5]
    for formula, asked, size in ((mean_, mean(*AGE), 2), (variance_, variance(*AGE), 3)):
        slopes = []
        for i in range(size):
            up, down = ([*sums[:size]] for _ in range(2))
            up[i], down[i] = sums[i] + step, sums[i] - step
            slope = (formula(*up) - formula(*down)) / (2 * step)
            slopes.append(float(np.mean(slope**2)))
        found = importances(moments([asked], sizes_public=False), [asked], [1.0])
        assert found == pytest.approx([slopes[0], sum(slopes[1:])], rel=1e-3)


def test_totals_and_counts_are_relative_to_the_whole() -> None:
    for low, high in ((0, 10), (5, 7), (-3, 1), (-9, -8)):
        largest = max(abs(low), abs(high))
        alone, both = [total("x", low, high)], [count(), total("x", low, high)]
        (found,) = importances(moments(alone, sizes_public=False), alone, [1.0])
        span = max(0, high) - min(0, low)
        assert found == pytest.approx((span / largest) ** 2)
        found = importances(moments(both, sizes_public=False), both, [0.0, 1.0])
        middle, width = (low + high) / 2 / largest, (high - low) / largest
        assert found == pytest.approx([middle**2, width**2])


def test_bins_count_by_their_l2_error() -> None:
    bins = histogram("age", [0, 30, 60, 120])
    assert importances(moments([bins], sizes_public=False), [bins], [2.0]) == pytest.approx([6.0])
