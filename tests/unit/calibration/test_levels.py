import math
from typing import Any

import numpy as np
import pytest

from inbounds.calibration import column
from inbounds.calibration.levels import design
from inbounds.calibration.risk import Risk
from inbounds.errors import ArgumentError
from inbounds.numerics.staircase import least_variance

OBJECTIVES: Any = ("average", "worst", "unbiased")


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("epsilon", [1e-17, 1e-7, 0.03, 6.0, 1000.0])
def test_a_table_is_built_and_checked_at_every_epsilon(objective: Any, epsilon: float) -> None:
    found = design(0.0, 1.0, 0.7, epsilon, objective)
    assert found.table.check(0.7, epsilon)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_box_far_from_zero_is_served(objective: Any) -> None:
    lower, upper = 1e9, 1e9 + 1e-3
    found = design(lower, upper, 1e-4, 1.0, objective)
    near = design(0.0, 1.0, 0.1, 1.0, objective)
    assert found.table.check(1e-4, 1.0)
    far_error = float(Risk(found.table).average) / (upper - lower) ** 2
    assert far_error < 1.02 * float(Risk(near.table).average)


def test_the_problem_that_an_early_design_refused_is_solved() -> None:
    table = design(0.0, 1.0, 0.1243, 4.664, "average").table
    assert table.check(0.1243, 4.664)
    assert float(Risk(table).average) < 0.00055


def test_a_problem_at_which_the_solver_s_tolerances_fail_is_solved() -> None:
    box = -440.8489367511877, -440.848479716058, 0.00017757570900888016
    table = design(*box, 0.0014455852411785982, "worst").table
    assert float(Risk(table).worst) < 0.25 * (box[1] - box[0]) ** 2


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_sensitivity_beyond_the_width_is_the_width(objective: Any) -> None:
    wide = design(0.0, 1.0, 7.0, 1.0, objective).table
    assert wide.check(7.0, 1.0)
    assert wide == design(0.0, 1.0, 1.0, 1.0, objective).table


def test_a_box_that_would_need_too_large_a_table_is_refused_with_a_way_out() -> None:
    with pytest.raises(ArgumentError, match=r"ClampedStaircase") as caught:
        design(0.0, 1.0, 1e-4, 1.0, "average")
    assert caught.value.argument == "sensitivity"
    with pytest.raises(ArgumentError, match=r"at least 0\.0078125, which is \(upper - lower\)/128"):
        design(0.0, 1.0, 1e-3, 1.0, "worst")
    assert design(0.0, 1.0, 4e-3, 5.0, "unbiased").limited


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("sensitivity", [4.0, 40.0])
def test_outputs_are_on_the_grid(objective: Any, sensitivity: float) -> None:
    grid = np.arange(0.0, 31.0)
    found = design(0.0, 30.0, sensitivity, 1.0, objective, grid=grid)
    assert set(found.table.outputs) <= set(grid.tolist())
    assert found.table.check(sensitivity, 1.0)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_every_output_has_one_column(objective: Any) -> None:
    for grid in (None, np.arange(0.0, 31.0)):
        table = design(0.0, 30.0, 2.5, 5.0, objective, grid=grid).table
        assert len(set(table.outputs)) == len(table.outputs) == len(table.rows[0])
        assert table.check(2.5, 5.0)


def test_an_epsilon_beyond_all_tables_is_marked() -> None:
    assert all(design(0.0, 1.0, 0.5, 40.0, objective).limited for objective in OBJECTIVES)
    counts = design(0.0, 9.0, 1.0, 40.0, "unbiased", grid=np.arange(10.0))
    assert not counts.limited


def test_counts_get_one_cell_each() -> None:
    table = design(0.0, 20.0, 1.0, 1.0, "average", grid=np.arange(21.0)).table
    assert np.searchsorted(table.boundaries[1:-1], np.arange(21.0), side="right").tolist() == [
        *range(21)
    ]


def test_on_counts_the_table_for_the_grid_beats_a_rounded_one() -> None:
    """Values and outputs are the integers 0..6, and any two are neighbours."""
    values = np.arange(7.0)

    def error(table: Any, outputs: Any) -> float:
        cells = np.searchsorted(table.boundaries[1:-1], values, side="right")
        chances = np.array(table.rows, dtype=object)[cells].astype(float) / 2.0**128
        return float((chances * (values[:, None] - outputs) ** 2).sum() / values.size)

    planned = design(0.0, 6.0, 6.0, 3.0, "average", grid=values).table
    rounded = design(0.0, 6.0, 6.0, 3.0, "average").table
    assert error(planned, planned.outputs) <= error(rounded, np.round(rounded.outputs)) + 1e-9


@pytest.mark.parametrize(
    ("objective", "sensitivity", "epsilon", "most"),
    [
        ("unbiased", 0.25, 10.0, 1.02),  # 197 before, after 20 seconds of the solver
        ("unbiased", 0.25, 8.0, 1.0),  # 9.9
        ("unbiased", 0.02, 3.0, 1.02),  # 2.0
        ("worst", 0.1, 5.0, 1.02),  # 1.10
        ("worst", 0.02, 3.0, 1.02),  # 1.32
        ("average", 0.02, 8.0, 0.995),  # 1.90
        ("average", 0.1, 10.0, 0.95),  # 1.13
    ],
)
def test_large_epsilons_come_close_to_the_staircase(
    objective: Any, sensitivity: float, epsilon: float, most: float
) -> None:
    """Errors relative to the variance of the staircase; the comments say what they once were."""
    found = design(0.0, 1.0, sensitivity, epsilon, objective)
    risk = Risk(found.table)
    if objective == "unbiased":
        assert found.slope is not None
        values = np.linspace(0, 1, 4001)
        error = float(np.mean(risk.means_and_variances(values)[1])) / found.slope**2
    else:
        error = float(risk.average if objective == "average" else risk.worst)
    assert error < most * sensitivity**2 * least_variance(epsilon)
    assert not found.limited or objective == "unbiased"


@pytest.mark.parametrize("objective", ["worst", "unbiased"])
def test_a_solver_that_gives_up_is_asked_for_less(
    objective: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    best = design(0.0, 1.0, 0.25, 2.0, objective)
    monkeypatch.setattr(column, "_MOST_STEPS", 12)
    found = design(0.0, 1.0, 0.25, 2.0, objective)
    assert found.table.check(0.25, 2.0)
    assert len(found.table.rows) < len(best.table.rows)
    few, many = (float(Risk(one.table).worst) / (one.slope or 1) ** 2 for one in (found, best))
    assert few < 2 * many


def test_the_same_arguments_give_the_same_table() -> None:
    for objective in OBJECTIVES:
        first, second = (design(0.0, 7.0, 1.5, 2.5, objective).table for _ in range(2))
        assert first == second


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("box", [(0.0, 120.0, 30.0), (-1.0, 1.0, 0.3), (17.99, 41.565, 4.1)])
def test_outputs_are_bounds_or_clearly_inside(objective: Any, box: Any) -> None:
    lower, upper, _ = box
    outputs = np.array(design(*box, 3.0, objective).table.outputs)
    inside = outputs[(outputs != lower) & (outputs != upper)]
    assert np.minimum(inside - lower, upper - inside).min() > 1e-9 * (upper - lower)
    if objective != "unbiased":
        assert max(len(repr(output)) for output in outputs.tolist()) <= 17


def test_a_tiny_epsilon_gives_the_constant_table() -> None:
    table = design(0.0, 1.0, 0.25, 1e-12, "average").table
    assert len(table.rows) == 1
    assert set(table.outputs) == {0.5}


def test_two_ends_give_the_best_possible_bit() -> None:
    """Theorem: the least worst error for Δ = w is e^ε/(1 + e^ε)², attained by one bit."""
    error = float(Risk(design(0.0, 1.0, 1.0, 1.0, "worst").table).worst)
    assert error == pytest.approx(math.e / (1 + math.e) ** 2, rel=1e-6)


def test_the_bias_on_a_box_far_from_zero_is_that_of_outputs_as_doubles() -> None:
    found = design(1e9, 1e9 + 1e-3, 1e-4, 1.0, "unbiased")
    assert found.slope is not None
    assert found.bias is not None
    assert found.bias * found.slope < math.ulp(1e9)


def test_readings_are_unbiased_on_a_grid_that_does_not_reach_the_upper_bound() -> None:
    found = design(0.0, 10.0, 2.0, 1.0, "unbiased", grid=np.array([0.0, 3.0, 6.0, 9.0]))
    assert set(found.table.outputs) == {0.0, 3.0, 6.0, 9.0}
    assert found.bias is not None
    assert found.bias < 1e-11


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize(
    "box", [(-8.9e307, 8.9e307, 1e307), (0.0, 1.7e308, 1.6e308), (0.0, 5e-320, 1e-320)]
)
def test_boxes_at_the_ends_of_the_doubles_are_served(objective: Any, box: Any) -> None:
    assert design(*box, 1.0, objective).table.check(box[2], 1.0)
