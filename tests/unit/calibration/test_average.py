import math

import numpy as np
import pytest

from inbounds.calibration.average import average_plan
from inbounds.calibration.spacing import Interval, distance_bound


def unit(sensitivity: float) -> Interval:
    return Interval(0.0, 1.0, distance_bound(0.0, 1.0, sensitivity))


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 2.0])
def test_two_bins_have_the_outputs_of_the_closed_form(epsilon: float) -> None:
    outputs = average_plan(unit(1.0), epsilon, None).mixture.outputs
    assert np.allclose(np.sort(outputs), [-math.tanh(epsilon / 2) / 4, math.tanh(epsilon / 2) / 4])


@pytest.mark.parametrize(("epsilon", "bins"), [(2.2, 2), (2.21, 3), (5.0, 6)])
def test_the_number_of_bins_is_the_best_one(epsilon: float, bins: int) -> None:
    """Two bins are best up to ε = 2.20218."""
    assert len(average_plan(unit(1.0), epsilon, None).mixture.outputs) == bins


def test_weights_sum_to_one_in_every_row() -> None:
    for sensitivity, epsilon in ((0.3, 0.4), (0.3, 3.0), (0.04, 1.0), (1.0, 4.0)):
        plan = average_plan(unit(sensitivity), epsilon, None)
        assert plan.mixture.residual(epsilon) < 1e-8


def test_a_large_epsilon_on_a_wide_box_is_marked() -> None:
    assert average_plan(unit(0.01), 9.0, None).limited
    assert not average_plan(unit(0.01), 6.0, None).limited
    assert not average_plan(unit(0.25), 4.0, None).limited


def test_cells_fit_the_plateau_of_the_staircase() -> None:
    """At ε = 8 the best plateau is a ninth of Δ long: 8 or 12 cells per Δ have a larger error."""
    assert average_plan(unit(0.02), 8.0, None).reach == 9
