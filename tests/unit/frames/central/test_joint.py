from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from inbounds.domain import Box
from inbounds.frames.central.allowance import Allowance
from inbounds.frames.central.change import Neighbours
from inbounds.frames.central.joint import JointRelease
from inbounds.frames.central.plan import Plan
from inbounds.frames.central.points import Grid
from inbounds.frames.central.quantile import median
from inbounds.mechanisms.bounded_gaussian import BoundedGaussian
from inbounds.pure import response_delta

SUMS = BoundedGaussian.calibrated(Box([0.0, 0.0], [1.0, 1.0]), 0.01, epsilon=0.7, delta=1e-6)


def joint(sums: Any, amount: Fraction, *, rho: bool = False) -> JointRelease:
    changes = Neighbours("add-remove", 1, False, 1)
    grid = Grid(0.0, 9.0, 9, True)
    plan = Plan(median("x", 0, 9), grid, changes, Allowance(amount, rho))  # type: ignore[arg-type]
    return JointRelease(sums, [plan], [median("age", 0, 9)])


def test_the_price_is_that_of_both_parts() -> None:
    both = joint(SUMS, Fraction(3, 10))
    assert Fraction(both.epsilon) >= Fraction(SUMS.epsilon) + Fraction(3, 10)
    assert both.epsilon <= (SUMS.epsilon + 0.3) * (1 + 1e-12)
    assert both.rho > SUMS.rho
    assert both.gdp > SUMS.gdp
    assert both.delta(1.0) <= SUMS.delta(0.7) * (1 + 1e-9) <= 1.1e-6


def test_delta_is_at_least_that_of_each_part_and_falls() -> None:
    both = joint(SUMS, Fraction(3, 10))
    epsilons = np.linspace(0, 2, 21).tolist()
    deltas = [both.delta(epsilon) for epsilon in epsilons]
    assert deltas == sorted(deltas, reverse=True)
    for epsilon, delta in zip(epsilons, deltas, strict=True):
        assert delta >= SUMS.delta(epsilon)
    alone = joint(None, Fraction(3, 10))
    assert alone.delta(0.1) <= response_delta(0.3, 0.1) * (1 + 1e-9)
    assert alone.delta(0.3) < 1e-15
    assert alone.delta(alone.epsilon) == 0


def test_in_rho_the_parts_add_up_exactly() -> None:
    both = joint(SUMS, Fraction(1, 100), rho=True)
    assert both.rho <= SUMS.rho + 0.01 + 1e-15
    loss = both.loss()
    assert (loss.epsilon, loss.rho) == (both.epsilon, both.rho)
    assert loss.profile[0][1] <= 1


def test_quantiles_alone_release_no_sums() -> None:
    alone = joint(None, Fraction(1))
    assert alone.release(np.zeros(1)).tolist() == [0]
    assert alone.release(np.empty((0, 1))).size == 0
    assert alone.domain == Box(0.0, 1.0)
    assert repr(alone) == "JointRelease(median('age', 0, 9))"


@pytest.mark.parametrize("amount", [Fraction(1, 3), Fraction(1, 10)])
def test_a_release_fits_in_a_budget_of_its_own_size(amount: Fraction) -> None:
    assert joint(None, amount).epsilon <= float(amount) * (1 + 1e-15)
