"""Intervals of quantiles hold the truth, and outputs are as close to it as the noise allows.

A test of coverage fails by chance with probability 10⁻⁶ or less, whatever the true coverage of 0.95
or more is. That it would notice intervals that are too short is shown on such intervals.
"""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from inbounds.frames.central.allowance import Allowance
from inbounds.frames.central.change import Neighbours
from inbounds.frames.central.grid import Counts
from inbounds.frames.central.plan import Plan
from inbounds.frames.central.points import Grid
from inbounds.frames.central.quantile import quantile
from inbounds.sampling.entropy import SeededEntropy

DRAWS = 150
LIMIT = float(binom.isf(1e-6, DRAWS, 0.05))
CHANGES = {
    "public": Neighbours("replace", 1, True, 1),
    "private": Neighbours("add-remove", 1, False, 1),
    "people": Neighbours("replace", 3, False, 2),
}


def rows(name: str, n: int, rng: np.random.Generator) -> tuple[np.ndarray[Any, Any], Grid]:
    if name == "ages":
        return rng.integers(0, 100, n), Grid(0.0, 120.0, 120, True)
    if name == "incomes":
        return np.minimum(rng.lognormal(10, 1, n), 1e6), Grid(0.0, 1e6, 2**16, False)
    if name == "lumpy":
        return 10 * rng.integers(0, 100, n), Grid(0.0, 1000.0, 1000, True)
    return np.full(n, 37), Grid(0.0, 120.0, 120, True)


def counted(values: np.ndarray[Any, Any], grid: Grid) -> Counts:
    scaled = (values - grid.lower) * (grid.steps / (grid.upper - grid.lower)) + 0.5
    points, counts = np.unique(np.floor(scaled).astype(np.int64), return_counts=True)
    return Counts(points, counts.astype(np.int64))


def made(grid: Grid, qs: Any, changes: Neighbours, *, rho: bool) -> Plan:
    statistic: Any = quantile("x", qs, grid.lower, grid.upper, interval=True)
    return Plan(statistic, grid, changes, Allowance(Fraction(1, 20) if rho else Fraction(1), rho))


METHODS = (
    "inverted_cdf",
    "linear",
    "weibull",
    "hazen",
    "averaged_inverted_cdf",
    "closest_observation",
)


@pytest.mark.parametrize(
    ("name", "kind", "rho"),
    [
        ("ages", "public", True),
        ("ages", "people", False),
        ("incomes", "public", False),
        ("incomes", "private", True),
        ("incomes", "people", False),
        ("lumpy", "private", False),
        ("lumpy", "people", True),
        ("equal", "private", False),
    ],
)
def test_intervals_hold_every_sample_quantile(name: str, kind: str, rho: bool) -> None:
    rng, entropy = np.random.default_rng(15), SeededEntropy(15)
    values, grid = rows(name, 500, rng)
    counts, misses, short = counted(values, grid), 0, 0
    for q in (0.5, 0.9):
        truths: Any = [np.quantile(values, q, method=method) for method in METHODS]  # type: ignore[call-overload]
        plan = made(grid, q, CHANGES[kind], rho=rho)
        for _ in range(DRAWS // 2):
            ((point, ends),) = plan.draw(counts, entropy)
            assert ends is not None
            low, high = grid.around(*ends)
            misses += not low <= min(truths) <= max(truths) <= high
            low, high = grid.around(point, point)  # an interval without the two draws
            short += not low <= min(truths) <= max(truths) <= high
    assert misses <= LIMIT
    if name == "incomes":
        assert short > LIMIT, "the test would not notice intervals that are too short"


@pytest.mark.parametrize("rho", [False, True], ids=["pure", "rho"])
def test_each_of_several_intervals_holds_its_quantile_and_all_do_together_as_often_as_implied(
    rho: bool,
) -> None:
    """Each misses with probability 0.05 or less, so all nine hold with 0.55 or more."""
    rng, entropy = np.random.default_rng(1), SeededEntropy(1)
    values, grid = rows("incomes", 5000, rng)
    qs = np.arange(1, 10) / 10
    truths = np.quantile(values, qs)
    plan, counts = made(grid, qs, CHANGES["public"], rho=rho), counted(values, grid)
    missed = np.zeros(9, int)
    together, draws = 0, 25
    for _ in range(draws):
        drawn = plan.draw(counts, entropy)
        ends = [grid.around(*one.ends) for one in drawn if one.ends]
        out = np.array([not low <= t <= high for (low, high), t in zip(ends, truths, strict=True)])
        missed += out
        together += bool(out.any())
    assert missed.max() <= binom.isf(1e-6, draws, 0.05)
    assert together <= binom.isf(1e-6, draws, 0.45)


def test_a_median_that_many_rows_hold_is_found() -> None:
    """A rule that penalises a point for its own rows does not find it, for any number of rows."""
    rng, entropy = np.random.default_rng(3), SeededEntropy(3)
    statistic: Any = quantile("x", 0.5, 0, 1000, interval=False)
    wrong = []
    for _ in range(40):
        values, grid = rows("lumpy", 5000, rng)
        plan = Plan(statistic, grid, CHANGES["public"], Allowance(Fraction(1), False))
        counts = counted(values, grid)
        truth = np.quantile(values, 0.5, method="inverted_cdf")
        wrong += [abs(plan.draw(counts, entropy)[0].point - truth) for _ in range(5)]
    assert np.mean(wrong) < 1
