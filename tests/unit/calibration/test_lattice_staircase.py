import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inbounds.calibration.lattice_staircase import (
    best_length,
    best_reach,
    lattice_variance,
    relative_error,
    staircase,
)
from inbounds.numerics.staircase import least_variance


def brute_force_variance(reach: int, length: int, epsilon: float) -> float:
    """The variance of the middle of a plateau, added up over plateaus near and far."""
    far = math.ceil(45 / epsilon) * reach
    first = np.arange(-far - length + 1, far + 1)
    apart = np.maximum(np.maximum(first, -(first + length - 1)), 0)
    chances = np.exp(-epsilon * np.ceil(apart / reach))
    middles = first + (length - 1) / 2
    return float(chances @ middles**2 / chances.sum())


@pytest.mark.parametrize(
    ("reach", "length", "epsilon"), [(1, 1, 1.0), (1, 2, 0.6), (7, 2, 5.0), (9, 8, 0.7), (16, 5, 3)]
)
def test_the_variance_is_that_of_all_plateaus(reach: int, length: int, epsilon: float) -> None:
    expected = brute_force_variance(reach, length, epsilon)
    assert lattice_variance(reach, length, epsilon) == pytest.approx(expected, rel=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 40), st.integers(1, 60), st.floats(0.5, 15))
def test_rows_sum_to_one_and_every_row_has_its_place_as_mean(
    rows: int, reach: int, epsilon: float
) -> None:
    noise = staircase(rows, reach, epsilon)
    assert noise.residual(epsilon) < 1e-13
    means = np.exp(-epsilon * noise.levels).T @ (noise.weights * noise.outputs)
    far = np.abs(noise.outputs).max()
    assert np.abs(means - (np.arange(rows) - (rows - 1) / 2)).max() < 1e-13 * max(1, far)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 40), st.integers(1, 60), st.floats(0.5, 15))
def test_levels_of_rows_within_reach_differ_by_at_most_one(
    rows: int, reach: int, epsilon: float
) -> None:
    levels = staircase(rows, reach, epsilon).levels
    assert levels.min() == 0
    for distance in range(1, min(reach, rows - 1) + 1):
        assert np.abs(levels[:, distance:] - levels[:, :-distance]).max() <= 1


@pytest.mark.parametrize("reach", [1, 2, 7, 30])
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 6.0, 12.0])
def test_no_other_length_is_better(reach: int, epsilon: float) -> None:
    chosen = best_length(reach, epsilon)
    least = min(lattice_variance(reach, length, epsilon) for length in range(1, 3 * reach + 3))
    assert lattice_variance(reach, chosen, epsilon) == least


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0, 8.0])
def test_fine_lattices_approach_the_continuous_staircase(epsilon: float) -> None:
    assert relative_error(2000, epsilon, 0.25) == pytest.approx(least_variance(epsilon), rel=1e-3)


def test_the_smallest_reach_that_is_close_is_chosen() -> None:
    errors = {reach: relative_error(reach, 5.0, 1 / 12) for reach in range(1, 31)}
    chosen = best_reach(30, 5.0, 1 / 12)
    close = 1.003 * least_variance(5.0)
    assert errors[chosen] <= close
    assert all(errors[reach] > close for reach in range(1, chosen))
    largest = best_reach(30, 5.0, 1 / 12, largest=True)
    assert errors[largest] <= close
    assert all(errors[reach] > close for reach in range(largest + 1, 31))


def test_if_no_reach_is_close_the_best_one_is_chosen() -> None:
    assert best_reach(5, 12.0, 0.25) == 5
