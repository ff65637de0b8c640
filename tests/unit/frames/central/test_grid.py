from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from inbounds.errors import ArgumentError
from inbounds.frames.central.grid import Grid, checked_steps, counts

RNG = np.random.default_rng(8)
VALUES = np.concatenate(
    [
        RNG.normal(50, 40, 300),
        np.arange(-3, 104) / 1.0,
        (np.arange(0, 100) + 0.5),  # halfway between two points
        np.nextafter(np.arange(0, 100) + 0.5, 0),
        [0.0, -0.0, 1e300, -1e300, 5e-324, 99.99999999999999],
    ]
)
KEYS = np.array([["a", "b", "c"][i % 3] for i in range(VALUES.size)])


def frames() -> dict[str, Any]:
    data = pd.DataFrame({"c0": VALUES, "c1": KEYS})
    return {
        "pandas": data,
        "polars": pl.from_pandas(data),
        "polars lazy": pl.from_pandas(data).lazy(),
        "arrow": pa.Table.from_pandas(data),
        "duckdb": duckdb.from_arrow(pa.Table.from_pandas(data)),
    }


def expected(grid: Grid, values: np.ndarray) -> dict[int, int]:
    """In NumPy, operation by operation."""
    inside = np.clip(values, grid.lower, grid.upper) - grid.lower
    index = np.floor(inside * (grid.steps / (grid.upper - grid.lower)) + 0.5)
    points, many = np.unique(np.clip(index, 0, grid.steps).astype(int), return_counts=True)
    return dict(zip(points.tolist(), many.tolist(), strict=True))


@pytest.mark.parametrize("engine", ["pandas", "polars", "polars lazy", "arrow", "duckdb"])
@pytest.mark.parametrize(
    "grid",
    [Grid(0.0, 100.0, 100, True), Grid(0.1, 77.7, 2**16, False), Grid(-1.0, 3.0, 7, False)],
    ids=str,
)
def test_every_engine_puts_every_row_at_the_same_point(engine: str, grid: Grid) -> None:
    table: Any = nw.from_native(frames()[engine])
    groups = (("b",), ("z",), ("a",))
    asked = [("c0", grid), ("c0", Grid(0.0, 1.0, 1, False))]
    found, others = counts(table, asked, ["c0"], by=("c1",), groups=groups)
    for (key,), group in zip(groups, found, strict=True):
        assert group.points.tolist() == sorted(group.points.tolist())
        held = dict(zip(group.points.tolist(), group.rows.tolist(), strict=True))
        assert held == expected(grid, VALUES[key == KEYS])
    assert [int(group.rows.sum()) for group in others] == [int(g.rows.sum()) for g in found]


def test_combinations_of_values_that_are_not_asked_for_are_left_out() -> None:
    table = nw.from_native(
        pd.DataFrame({"c0": [1, 1, 2, 2], "c1": [1, 2, 1, 2], "c2": [5, 6, 7, 8]})
    )
    grid = Grid(0.0, 9.0, 9, True)
    (found,) = counts(table, [("c2", grid)], ["c2"], by=("c0", "c1"), groups=((2, 1), (1, 2)))
    assert [group.points.tolist() for group in found] == [[7], [6]]


def test_only_so_many_rows_of_a_person_are_counted() -> None:
    table = nw.from_native(pd.DataFrame({"c0": [3, 1, 2, 9], "c1": ["a", "a", "a", "b"]}))
    grid = Grid(0.0, 9.0, 9, True)
    for rows, points in ((1, [2, 9]), (2, [1, 3, 9]), (3, [1, 2, 3, 9])):
        ((found,),) = counts(table, [("c0", grid)], ["c0"], person="c1", rows=rows, secret=b"")
        assert found.points.tolist() == points


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
        (point,) = expected(grid, np.array([value]))
        low, high = grid.around(point, point)
        assert bounds[0] <= low <= value <= high <= bounds[1]
