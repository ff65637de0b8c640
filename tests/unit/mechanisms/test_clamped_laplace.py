import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from inbounds import L1, L2, BoundedLaplace, Box, ClampedLaplace, LInf, PerCoordinate

PLANE = Box([0, 1], [10, 9])


@pytest.mark.parametrize("change", [1e-9, 0.5, 9.99, 10.0, 50.0])
@pytest.mark.parametrize("scale", [0.1, 2.0, 1e6])
def test_epsilon_is_the_ratio_of_the_atoms_of_the_worst_pair(change: float, scale: float) -> None:
    """{output = 0} is the most telling event: e^(c/b) times likelier at 0 than at c."""
    mechanism = ClampedLaplace(Box(0, 10), change, scale)
    exact = Fraction(min(change, 10.0)) / Fraction(scale)
    assert exact <= Fraction(mechanism.epsilon) <= exact * (1 + Fraction(1, 10**14))
    near, far = mechanism.mass_at_bounds([0.0, min(change, 10.0)])[0]
    assert math.log(near / far) == pytest.approx(mechanism.epsilon, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("change", [0.7, 3.0, 10.0])
def test_no_event_of_any_pair_is_more_telling(change: float) -> None:
    mechanism = ClampedLaplace(Box(0, 10), change, 2.0)
    values = np.linspace(0, 10, 101)
    x = np.linspace(0.01, 9.99, 301)
    log_density = np.log(mechanism.pdf(x[:, None], values))
    atoms = np.log(np.array(mechanism.mass_at_bounds(values)))
    log_law = np.vstack([atoms, log_density])
    worst = max(
        float((log_law[:, i] - log_law[:, j]).max())
        for i in range(101)
        for j in range(101)
        if abs(values[i] - values[j]) <= change + 1e-9
    )
    assert worst <= mechanism.epsilon + 1e-12
    assert worst == pytest.approx(mechanism.epsilon, rel=1e-12)


@pytest.mark.parametrize(
    ("sensitivity", "total"),
    [
        (L1(4), 4),
        (L2(4), 4 * math.sqrt(2)),
        (LInf(4), 8),
        (PerCoordinate([4, 2]), 6),
        (L1(5) & PerCoordinate([4, 2]), 5),
        (L1(100), 18),
    ],
)
@pytest.mark.parametrize("epsilon", [1e-9, 0.3, 1.0, 1e6])
def test_the_smallest_scale_is_the_l1_sensitivity_over_epsilon(
    sensitivity: Any, total: float, epsilon: float
) -> None:
    mechanism = ClampedLaplace.calibrated(PLANE, sensitivity, epsilon=epsilon)
    assert mechanism.scale == pytest.approx(total / epsilon, rel=1e-12)
    assert mechanism.scale >= total / epsilon
    assert mechanism.epsilon <= epsilon


def test_scales_of_their_own_count_by_the_smallest() -> None:
    mechanism = ClampedLaplace(PLANE, L1(4), [5.0, 0.5])
    assert mechanism.epsilon == pytest.approx(8.0, rel=1e-14)


def test_epsilon_of_very_many_coordinates_is_not_below_the_truth() -> None:
    box = Box(np.zeros(100_001), np.full(100_001, 7.0))
    mechanism = ClampedLaplace(box, LInf(0.1), 1.0)
    exact = Fraction(0.1) * 100_001
    assert exact <= Fraction(mechanism.epsilon) <= exact * (1 + Fraction(1, 10**14))


def test_half_of_all_outputs_for_a_bound_are_the_bound() -> None:
    mechanism = ClampedLaplace(Box(0, 10), 1.0, 2.0)
    assert mechanism.mass_at_bounds(0.0) == (0.5, math.exp(-5) / 2)
    assert mechanism.cdf(0.0, 0.0) == 0.5
    assert mechanism.quantile(0.3, 0.0) == 0


def test_clamping_takes_less_noise_than_truncating() -> None:
    for change in (0.1, 3.0):
        clamped = ClampedLaplace.calibrated(Box(0, 10), change, epsilon=1.0)
        bounded = BoundedLaplace.calibrated(Box(0, 10), change, epsilon=1.0)
        assert clamped.scale < bounded.scale
