import numpy as np
import pytest

from inbounds.calibration.spacing import Interval, distance_bound
from inbounds.calibration.worst import worst_plan


@pytest.mark.parametrize(("sensitivity", "epsilon"), [(1.0, 1.0), (0.4, 0.7), (0.25, 2.0)])
def test_knots_contain_the_box_and_rows_sum_to_one(sensitivity: float, epsilon: float) -> None:
    interval = Interval(0.0, 1.0, distance_bound(0.0, 1.0, sensitivity))
    plan = worst_plan(interval, epsilon, None)
    assert plan.kind == "knots"
    assert plan.boundaries[0] <= 0.0
    assert plan.boundaries[-1] >= 1.0
    assert plan.mixture.residual(epsilon) < 1e-8
    assert np.abs(plan.mixture.outputs).max() <= 0.5
