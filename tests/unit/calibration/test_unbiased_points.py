import math

import numpy as np
import pytest

from inbounds.calibration.levels import design
from inbounds.calibration.risk import Risk
from inbounds.calibration.spacing import Interval, distance_bound
from inbounds.calibration.unbiased_points import points_plan


def variance(points: int, sensitivity: float, epsilon: float, *, free: bool = False) -> float:
    """The average variance of the reading over the points."""
    values = np.arange(float(points))
    found = design(0.0, points - 1.0, sensitivity, epsilon, "unbiased", grid=values, free=free)
    assert found.slope is not None
    assert found.bias is not None
    assert found.bias < 1e-9
    assert free or set(found.table.outputs) <= set(values.tolist())
    return float(Risk(found.table).means_and_variances(values)[1].mean()) / found.slope**2


@pytest.mark.parametrize("epsilon", [0.02, 0.3, 1.0, 3.0, 8.0])
def test_yes_and_no_get_randomised_response(epsilon: float) -> None:
    best = 0.25 / math.tanh(epsilon / 2) ** 2 - 0.25
    assert variance(2, 1.0, epsilon) == pytest.approx(best, rel=1e-4)


@pytest.mark.parametrize(("points", "sensitivity"), [(3, 2.0), (5, 1.0), (8, 3.0), (21, 20.0)])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_outputs_on_the_points_cost_little(points: int, sensitivity: float, epsilon: float) -> None:
    free = variance(points, sensitivity, epsilon, free=True)
    assert 0.9999 * free < variance(points, sensitivity, epsilon) < 1.13 * free


@pytest.mark.parametrize(
    ("points", "sensitivity"),
    [
        (9, 2.5),  # not a whole number of steps
        (9, 0.5),  # less than a step
        (65, 3.0),  # too many points
    ],
)
def test_other_points_have_another_plan(points: int, sensitivity: float) -> None:
    width = points - 1.0
    interval = Interval(0.0, width, distance_bound(0.0, width, sensitivity))
    grid = np.linspace(-0.5, 0.5, points)
    assert points_plan(interval, 1.0, grid, free=False) is None
    assert 0 < variance(points, sensitivity, 1.0) < math.inf


def test_points_that_do_not_reach_the_upper_bound_have_another_plan() -> None:
    interval = Interval(0.0, 10.0, distance_bound(0.0, 10.0, 3.0))
    grid = np.array([-0.5, -0.2, 0.1, 0.4])
    assert points_plan(interval, 1.0, grid, free=False) is None
