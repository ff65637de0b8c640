import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from inbounds.frames.central.allowance import Allowance
from inbounds.frames.central.change import Neighbours
from inbounds.frames.central.grid import Counts
from inbounds.frames.central.plan import Plan
from inbounds.frames.central.points import Grid
from inbounds.frames.central.quantile import median, quantile
from inbounds.sampling.entropy import SeededEntropy

PUBLIC = Neighbours("replace", 1, True, 1)
CHANGES = [
    PUBLIC,
    Neighbours("replace", 3, True, 1),
    Neighbours("add-remove", 2, False, 4),
    Neighbours("replace", 2, False, 4),
    Neighbours("replace", 1, False, 1),
]
ASKED = [
    median("x", 0, 100),
    median("x", 0, 100, interval=False),
    quantile("x", [0.25, 0.5, 0.75], 0, 100),
    quantile("x", [0.1, 0.29, 0.81], 0, 100, interval=True),
    quantile("x", np.arange(1, 10) / 10, 0, 100),
    quantile("x", np.arange(1, 13) / 13, 0, 100, interval=True),
]


def plan(statistic: Any, changes: Neighbours = PUBLIC, amount: Any = 1, **how: Any) -> Plan:
    grid = Grid(0.0, 100.0, how.pop("steps", 100), True)
    return Plan(statistic, grid, changes, Allowance(Fraction(amount), how.pop("rho", False)))


@pytest.mark.parametrize("changes", CHANGES, ids=str)
@pytest.mark.parametrize("statistic", ASKED, ids=repr)
def test_all_draws_together_use_the_allowance_and_no_more(
    statistic: Any, changes: Neighbours
) -> None:
    pure = plan(statistic, changes).costs()
    assert sum(cost.epsilon for cost in pure) == 1
    concentrated = plan(statistic, changes, rho=True).costs()
    assert 1 - Fraction(1, 10**30) < sum(cost.rho for cost in concentrated) <= 1


@pytest.mark.parametrize("statistic", ASKED, ids=repr)
def test_rho_is_never_more_than_what_pure_epsilon_implies(statistic: Any) -> None:
    for rho in (True, False):
        for cost in plan(statistic, rho=rho).costs():
            assert 0 < cost.rho <= cost.epsilon**2 / 2


def test_permute_and_flip_is_used_for_pure_epsilon_on_few_points_alone() -> None:
    assert plan(median("x", 0, 100)).mechanism == "permute-and-flip"
    assert plan(median("x", 0, 100), rho=True).mechanism == "exponential"
    assert plan(median("x", 0, 100), steps=2**16).mechanism == "exponential"
    (cost,) = plan(median("x", 0, 100, interval=False), steps=2**16).costs()
    assert cost.rho == Fraction(1, 8)
    (willing,) = plan(median("x", 0, 100, interval=False)).costs()
    assert willing.rho > Fraction(1, 3)  # a bounded range would be claimed without proof


@pytest.mark.parametrize("rho", [True, False])
@pytest.mark.parametrize("changes", CHANGES, ids=str)
@pytest.mark.parametrize("statistic", ASKED, ids=repr)
def test_many_rows_give_the_quantiles_themselves(
    statistic: Any, changes: Neighbours, rho: bool
) -> None:
    counts = Counts(np.arange(101), np.full(101, 10**6))
    drawn = plan(statistic, changes, rho=rho).draw(counts, SeededEntropy(1))
    for q, (point, ends) in zip(statistic.qs, drawn, strict=True):
        assert abs(point - 101 * q) <= 1
        assert (ends is not None) == statistic.interval
        if ends:
            assert ends[0] <= point <= ends[1] <= ends[0] + 4


def test_quantiles_are_returned_in_the_order_they_were_asked_for() -> None:
    counts = Counts(np.arange(101), np.full(101, 10**6))
    for qs in ([0.9, 0.1, 0.5], [0.9, 0.1, 0.5, 0.7, 0.3]):
        drawn = plan(quantile("x", qs, 0, 100)).draw(counts)
        assert [abs(one.point - 101 * q) <= 1 for one, q in zip(drawn, qs, strict=True)] == [
            True
        ] * len(qs)


@pytest.mark.parametrize("statistic", ASKED, ids=repr)
def test_without_rows_any_point_may_be_drawn_and_the_interval_is_everything(
    statistic: Any,
) -> None:
    empty = Counts(np.empty(0, np.int64), np.empty(0, np.int64))
    made = plan(statistic, Neighbours("add-remove", 1, False, 1))
    entropy = SeededEntropy(4)
    seen = set()
    for _ in range(5):
        for point, ends in made.draw(empty, entropy):
            seen.add(point)
            assert ends in (None, (0, 100))
    assert len(seen) > 2


def test_estimates_are_on_the_grid_and_empty_where_there_is_nothing() -> None:
    made = plan(median("x", 0, 100, interval=False))
    counts = Counts(np.array([7]), np.array([10**6]))
    (estimate,) = made.estimates([made.draw(counts), made.draw(counts)])
    assert estimate.value.tolist() == [7, 7]
    assert estimate.numbers(1) == {
        "value": 7,
        "standard_error": None,
        "lower": None,
        "upper": None,
    }
    assert math.isnan(estimate.error[0])
