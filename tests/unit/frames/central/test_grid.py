from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from inbounds.frames.central.grid import counts
from inbounds.frames.central.points import Grid

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
