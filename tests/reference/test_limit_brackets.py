"""Brackets on the least error against brackets that were computed independently.

By default the fast rows are compared; INBOUNDS_ALL_LIMITS=1 compares all of them, in two minutes.
"""

import json
import math
import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import inbounds as ib
from inbounds.analysis.limit_reached import upper_end
from inbounds.calibration.limit_problem import Problem, bound
from inbounds.numerics.staircase import least_variance

ROWS: dict[str, list[dict[str, Any]]] = json.loads(
    Path(__file__).with_name("limit_brackets.json").read_text(encoding="utf-8")
)
ALL = os.environ.get("INBOUNDS_ALL_LIMITS") == "1"
ROUNDING = 1e-9  # a bracket of the table may be inverted by its rounding


def chosen(objective: str) -> list[dict[str, Any]]:
    rows = ROWS[objective]
    if ALL:
        return rows
    return [row for row in rows if row["sensitivity"] >= 0.1 and row["epsilon"] <= 2][::2]


def overlap(row: dict[str, Any], objective: Any) -> ib.Limit:
    result = ib.limit(ib.Box(0, 1), row["sensitivity"], epsilon=row["epsilon"], objective=objective)
    assert result.lower <= row["upper"] * (1 + ROUNDING)
    assert result.upper >= row["lower"] * (1 - ROUNDING)
    return result


@pytest.mark.parametrize("row", chosen("average"), ids=str)
def test_average_brackets_overlap_and_are_as_tight(row: dict[str, Any]) -> None:
    result = overlap(row, "average")
    assert result.lower >= 0.99 * row["lower"]
    assert result.gap < 0.06


@pytest.mark.parametrize("row", chosen("worst"), ids=str)
def test_worst_brackets_overlap(row: dict[str, Any]) -> None:
    assert overlap(row, "worst").lower >= 0.97 * row["lower"]


@pytest.mark.parametrize("row", chosen("unbiased"), ids=str)
def test_unbiased_brackets_overlap(row: dict[str, Any]) -> None:
    assert overlap(row, "unbiased").lower >= row["lower"]  # theirs leaves out the ends


@pytest.mark.parametrize("row", ROWS["two_ends"], ids=str)
def test_the_bound_from_two_ends_is_that_of_the_table(row: dict[str, Any]) -> None:
    problem = Problem(Fraction(1), Fraction(1, row["steps"]))
    proved = bound(problem, "two_ends", row["epsilon"], group=1, stride=1, proofs=())
    assert float(proved) == pytest.approx(row["value"], rel=1e-14)


@pytest.mark.parametrize("row", ROWS["local_average"], ids=str)
def test_bins_reach_the_least_average_error_if_all_values_are_neighbours(
    row: dict[str, Any],
) -> None:
    reached = upper_end(Problem(Fraction(1), Fraction(1)), row["epsilon"], "average")
    assert reached == pytest.approx(row["value"], rel=1e-8)


@pytest.mark.parametrize("row", ROWS["staircase"], ids=str)
def test_the_variance_of_staircase_noise_is_that_of_the_table(row: dict[str, Any]) -> None:
    assert math.isclose(least_variance(row["epsilon"]), row["variance"], rel_tol=1e-12)
