"""Errors of built tables against certified limits on the unit interval (limit_brackets.json).

Each limit is the upper end of a bracket for the least error that any private mechanism has. All
rows take about half a minute; without INBOUNDS_ALL_LIMITS, those that are quick to build are tried.
"""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inbounds.calibration.levels import design
from inbounds.calibration.risk import Risk

LIMITS = json.loads(Path(__file__).with_name("limit_brackets.json").read_text())
ALL = "INBOUNDS_ALL_LIMITS" in os.environ


def rows(objective: str, quickest: float) -> Any:
    chosen = [row for row in LIMITS[objective] if ALL or row["sensitivity"] >= quickest]
    names = [f"{row['sensitivity']:.3g}-{row['epsilon']}" for row in chosen]
    return pytest.mark.parametrize("row", chosen, ids=names)


@rows("average", 0.14)
def test_the_average_error_is_within_one_and_a_half_percent_of_the_limit(row: Any) -> None:
    table = design(0.0, 1.0, row["sensitivity"], row["epsilon"], "average").table
    error = float(Risk(table).average)
    assert row["lower"] * 0.99 < error < row["upper"] * 1.015


@rows("worst", 0.5)
def test_the_worst_error_is_within_three_percent_of_the_limit(row: Any) -> None:
    found = design(0.0, 1.0, row["sensitivity"], row["epsilon"], "worst")
    error = float(Risk(found.table).worst)
    assert row["lower"] * 0.98 < error < row["upper"] * 1.03


@pytest.mark.parametrize("row", LIMITS["unbiased"], ids=lambda row: str(row["epsilon"]))
def test_the_variance_of_the_unbiased_reading_is_within_one_percent_of_the_limit(row: Any) -> None:
    found = design(0.0, 1.0, 1.0, row["epsilon"], "unbiased")
    assert found.slope is not None
    values = np.linspace(0.0, 1.0, 4001)
    _, variances = Risk(found.table).means_and_variances(values)
    variance = float(np.trapezoid(variances, values)) / found.slope**2
    assert row["lower"] < variance < row["upper"] * 1.01
