"""Moments against direct sums and dense grids, and against draws."""

from fractions import Fraction

import numpy as np
import pytest

from inbounds.calibration.levels import design
from inbounds.calibration.risk import Risk
from inbounds.calibration.table import LevelTable

TABLES = [
    design(-3.0, 7.0, 2.5, 1.0, "average").table,
    design(-3.0, 7.0, 2.5, 1.0, "worst").table,
    design(0.0, 1.0, 1.0, 2.0, "unbiased").table,
]
each = pytest.mark.parametrize("table", TABLES, ids=["average", "worst", "unbiased"])


def direct(table: LevelTable, value: Fraction) -> tuple[Fraction, Fraction]:
    """The mean and the squared error from the definition."""
    knots = [Fraction(point) for point in table.boundaries]
    i = max(i for i in range(len(knots) - 1) if knots[i] <= value)
    upward = Fraction(0)
    if table.kind == "knots":
        upward = (value - knots[i]) / (knots[i + 1] - knots[i])
    above = table.rows[min(i + 1, len(table.rows) - 1)]
    chances = [
        (Fraction(a) * (1 - upward) + Fraction(b) * upward) / (1 << 128)
        for a, b in zip(table.rows[i], above, strict=True)
    ]
    outputs = [Fraction(output) for output in table.outputs]
    pairs = list(zip(chances, outputs, strict=True))
    return sum(p * y for p, y in pairs), sum(p * (y - value) ** 2 for p, y in pairs)


@each
def test_moments_at_a_value_are_the_direct_sums(table: LevelTable) -> None:
    risk = Risk(table)
    low, width = Fraction(table.lower), Fraction(table.upper) - Fraction(table.lower)
    for part in (0, Fraction(1, 7), Fraction(1, 2), Fraction(9, 10)):
        value = low + width * part
        assert (risk.mean(value), risk.squared_error(value)) == direct(table, value)
    assert risk.mean(low - 5) == risk.mean(low)


@each
def test_the_average_and_the_worst_error_are_those_of_a_dense_grid(table: LevelTable) -> None:
    risk = Risk(table)
    values = np.linspace(table.lower, table.upper, 200_001)
    means, variances = risk.means_and_variances(values)
    errors = variances + (means - values) ** 2
    assert float(risk.average) == pytest.approx(
        float(np.trapezoid(errors, values)) / np.ptp(values), rel=1e-4
    )
    assert errors.max() <= float(risk.worst) * (1 + 1e-12)
    assert errors.max() >= float(risk.worst) * (1 - 1e-3)


def test_the_worst_error_between_two_knots_is_at_the_vertex() -> None:
    low, high = ((1 << 128) - 1, 1), (1, (1 << 128) - 1)
    table = LevelTable("knots", 0.0, 1.0, (0.0, 1.0), 2, (low, high), (0.0, 1.0), 1 << 128, 1)
    assert float(Risk(table).worst) == pytest.approx(0.25)


@pytest.mark.parametrize("epsilon", [1e-17, 0.005, 0.3, 3.0])
@pytest.mark.parametrize("ratio", [1.0, 0.3])
def test_the_mean_of_an_unbiased_table_is_affine(epsilon: float, ratio: float) -> None:
    found = design(2.0, 5.0, 3 * ratio, epsilon, "unbiased")
    assert found.slope is not None
    assert found.slope > 0
    risk, middle = Risk(found.table), Fraction(7, 2)
    for value in (Fraction(2), Fraction(3), Fraction(17, 4), Fraction(5)):
        reading = middle + (risk.mean(value) - middle) / Fraction(found.slope)
        assert found.bias is not None
        assert abs(reading - value) <= found.bias < 1e-12
