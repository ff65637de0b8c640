import math

import numpy as np
import pytest

from inbounds._types import Floats
from inbounds.calibration.spacing import Interval, distance_bound
from inbounds.calibration.unbiased import unbiased_plan


def means(epsilon: float, sensitivity: float) -> tuple[Floats, Floats]:
    interval = Interval(0.0, 1.0, distance_bound(0.0, 1.0, sensitivity))
    plan = unbiased_plan(interval, epsilon, None)
    chances = np.exp(-epsilon * plan.mixture.levels).T * plan.mixture.weights
    return np.array(plan.boundaries) - 0.5, chances @ plan.mixture.outputs


@pytest.mark.parametrize("epsilon", [0.004, 0.2, 4.0])
@pytest.mark.parametrize("sensitivity", [1.0, 0.5, 0.01])
def test_the_mean_is_a_multiple_of_the_knot(epsilon: float, sensitivity: float) -> None:
    knots, found = means(epsilon, sensitivity)
    slope = float(found @ knots / (knots @ knots))
    assert 0 < slope < 1
    assert np.abs(found - slope * knots).max() < 1e-9 * slope


def test_the_slope_of_one_bit_is_the_known_one() -> None:
    knots, found = means(0.005, 1.0)
    assert found[-1] / knots[-1] == pytest.approx(math.tanh(0.0025), rel=1e-9)
