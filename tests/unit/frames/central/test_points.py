import math
from typing import Any

import numpy as np
import pytest

from inbounds.errors import ArgumentError
from inbounds.frames.central.points import Grid, checked_steps


@pytest.mark.parametrize(
    ("asked", "steps", "exact"),
    [
        ((0.0, 120.0, None, True), 120, True),
        ((0.0, 120.0, None, False), 2**16, False),
        ((0.5, 120.0, None, True), 2**16, False),
        ((0.0, 2.0**21, None, True), 2**16, False),
        ((0.0, 2.0**20, None, True), 2**20, True),
        ((2.0**60, 2.0**60 + 1024, None, True), 2**16, False),
        ((0.0, 120.0, 0.5, True), 240, True),
        ((0.0, 120.0, 5.0, True), 24, False),
        ((0.0, 120.0, 1.0, False), 120, False),
        ((-0.3, 0.3, 0.1, False), 6, False),
    ],
    ids=str,
)
def test_a_grid_has_the_step_of_its_column(asked: Any, steps: int, exact: bool) -> None:
    lower, upper, step, integral = asked
    grid = Grid.of(lower, upper, step, integral=integral)
    assert (grid.steps, grid.is_exact) == (steps, exact)


@pytest.mark.parametrize("step", [0.7, 240.0, 120 / 2**21, 1e-300])
def test_a_step_must_fit_between_the_bounds(step: float) -> None:
    with pytest.raises(ArgumentError, match="step must fit into upper - lower"):
        checked_steps(0.0, 120.0, step)


def test_points_are_decimals_and_stay_within_the_bounds() -> None:
    grid = Grid.of(0.0, 1.0, 0.1, integral=False)
    assert [grid.point(i) for i in range(11)] == [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]
    odd = Grid.of(0.1, 77.7, None, integral=False)
    assert (odd.point(0), odd.point(odd.steps)) == (0.1, 77.7)


@pytest.mark.parametrize(
    "bounds", [(0.1, 77.7), (1e15, 1e15 + 1), (-1e-200, 1e-200), (0.0, 1e75), (-7.0, 3.0)], ids=str
)
def test_the_interval_around_a_point_holds_every_row_that_is_rounded_to_it(
    bounds: tuple[float, float],
) -> None:
    rng = np.random.default_rng(1)
    grid = Grid(*bounds, 2**16, False)
    width = bounds[1] - bounds[0]
    near = bounds[0] + (rng.integers(0, 2**16, 200) + 0.5) * (width / 2**16)
    values = np.concatenate([rng.uniform(*bounds, 200), near, np.nextafter(near, np.inf)])
    for value in np.clip(values, *bounds).tolist():
        index = math.floor((value - bounds[0]) * (2**16 / width) + 0.5)
        point = min(max(index, 0), 2**16)
        low, high = grid.around(point, point)
        assert bounds[0] <= low <= value <= high <= bounds[1]
