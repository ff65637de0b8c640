"""Programs with generated columns, and one with all probabilities and pairs of neighbours."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog

from inbounds._types import Floats
from inbounds.calibration.unbiased_program import UnbiasedProgram
from inbounds.errors import CertificateError


def least_variance_of(places: Floats, readings: Floats, reach: int, epsilon: float) -> float:
    """The least average variance if the readings are these: all ratios written out."""
    rows, columns = places.size, readings.size
    one_per_row = np.kron(np.eye(rows), np.ones(columns))
    means = np.kron(np.eye(rows), readings)
    pairs = [(i, j) for i in range(rows) for j in range(rows) if 0 < abs(i - j) <= reach]
    ratios = np.zeros((len(pairs) * columns, rows * columns))
    for pair, (i, j) in enumerate(pairs):
        for column in range(columns):
            ratios[pair * columns + column, i * columns + column] = 1
            ratios[pair * columns + column, j * columns + column] = -math.exp(epsilon)
    solution = linprog(
        ((readings - places[:, None]) ** 2).ravel() / rows,
        A_ub=ratios,
        b_ub=np.zeros(len(ratios)),
        A_eq=np.concatenate([one_per_row, means]),
        b_eq=np.concatenate([np.ones(rows), places]),
        method="highs",
    )
    return float(solution.fun) if solution.status == 0 else math.inf


def program(points: int, reach: int, epsilon: float) -> UnbiasedProgram:
    places = np.linspace(-0.5, 0.5, points)
    return UnbiasedProgram(places, np.full(points, 1 / points), reach, epsilon, 0.1)


@pytest.mark.parametrize(
    ("points", "reach", "epsilon", "slope"),
    [(2, 2, 1.0, 0.4), (3, 1, 1.0, 0.5), (4, 2, 0.5, 0.2), (6, 6, 2.0, 0.6), (7, 3, 3.0, 0.8)],
)
def test_outputs_on_the_points_have_the_least_variance_of_all(
    points: int, reach: int, epsilon: float, slope: float
) -> None:
    small = program(points, reach, epsilon)
    allowed = small.knots / slope
    mixture, variance = small.solve(allowed)
    expected = least_variance_of(small.knots, allowed, reach, epsilon)
    assert variance == pytest.approx(expected, rel=1e-3)
    assert small.variance(mixture) == pytest.approx(variance, rel=1e-6)
    assert np.abs(mixture.outputs[:, None] - allowed).min(axis=1).max() < 1e-15


@pytest.mark.parametrize(("points", "reach", "epsilon"), [(3, 1, 1.0), (5, 2, 2.0), (4, 4, 0.7)])
def test_free_readings_are_as_good_as_any_of_a_fine_grid(
    points: int, reach: int, epsilon: float
) -> None:
    small = program(points, reach, epsilon)
    mixture, variance = small.solve()
    end = float(np.abs(mixture.outputs).max()) * 1.2
    many = np.concatenate([np.linspace(-end, end, 121), mixture.outputs])
    assert variance == pytest.approx(least_variance_of(small.knots, many, reach, epsilon), rel=2e-4)


@pytest.mark.parametrize("reach", [1, 2, 5])
def test_sums_are_one_and_readings_are_unbiased(reach: int) -> None:
    small = program(6, reach, 1.3)
    for allowed in (None, small.knots / 0.3):
        mixture, _ = small.solve(allowed)
        assert mixture.residual(1.3) < 1e-8
        means = np.exp(-1.3 * mixture.levels).T @ (mixture.weights * mixture.outputs)
        assert np.abs(means - small.knots).max() < 1e-8


def test_a_slope_that_is_too_steep_is_refused() -> None:
    """Readings up to 0.5/0.9 cannot be unbiased: the largest slope is tanh(ε/2) = 0.46."""
    local = program(3, 3, 1.0)
    with pytest.raises(CertificateError, match="no solution"):
        local.solve(local.knots / 0.9)
