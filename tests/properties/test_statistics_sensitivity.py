"""Every small table against every neighbour: no sum moves further than its sensitivity says.

All tables are written into one frame, told apart by a column `table`, and the library sums them in
one call. Neighbours are compared in numpy.
"""

import math
from collections.abc import Sequence
from itertools import combinations_with_replacement, product
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from inbounds.frames.central.aggregate import sums
from inbounds.frames.central.change import Neighbours, box, per_number, sensitivities
from inbounds.frames.central.check import check_table
from inbounds.frames.central.level import categories, proportion
from inbounds.frames.central.moment import Moment, moments
from inbounds.frames.central.statistic import Statistic, count, histogram, mean, total, variance
from inbounds.reach import Reach
from inbounds.unit import Adjacency

Floats = NDArray[np.float64]
Row = tuple[float, float, str]

SIZE = 3
ALONE: list[list[Statistic]] = [
    [count()],
    [total("x", -3, 1)],
    [total("x", 0.5, 1)],
    [mean("x", 0, 1)],
    [variance("x", 0, 1)],
    [histogram("x", [0, 0.3, 0.6, 1])],
    [proportion("x")],
    [categories("level", ["low", "high"])],
]
TOGETHER = [
    count(),
    total("y", -2, 1),
    mean("x", 0, 1),
    variance("x", 0, 1),
    variance("y", 0, 2),
    histogram("x", [0, 0.3, 0.6, 1]),
    categories("level", ["high", "none"]),
]
ASKED = [*ALONE, TOGETHER]
# 0.375 and 1 are the places where the first two moments together move furthest in l1.
X, Y = (-5.0, 0.0, 0.25, 0.375, 1.0), (-2.0, 1.5)
GROUPED: list[Row] = list(product((-5.0, 0.375, 1.0), (-2.0, 1.5), ("a", "b", "other")))
UNGROUPED: list[Row] = list(product(X, Y, ("a",)))


def answers(
    tables: Sequence[Sequence[Row]], found: list[Moment], groups: Sequence[str], size: int = SIZE
) -> Floats:
    """What the library would release of each table, before noise: one row for each."""
    rows = [(i, *row) for i, table in enumerate(tables) for row in table]
    frame = pl.DataFrame(rows, schema=["table", "x", "y", "group"], orient="row")
    keys = [(i, group) for i in range(len(tables)) for group in groups]
    exact = sums(nw.from_native(levelled(frame)), found, by=["table", "group"], groups=keys)
    return np.array(exact, float).reshape(len(tables), -1) / size


def left(
    tables: Sequence[Sequence[Row]], asked: list[Statistic], found: list[Moment], groups: list[str]
) -> Floats:
    """What the library would release of each table without the rows that are out of bounds."""
    rows = [(i, *row) for i, table in enumerate(tables) for row in table]
    frame = pl.DataFrame(rows, schema=["table", "x", "y", "group"], orient="row")
    keys = [(i, group) for i in range(len(tables)) for group in groups]
    columns = [statistic.column for statistic in asked if statistic.column]
    bounds: Any = {"outside": "skip", "statistics": asked}
    _, used = check_table(nw.from_native(levelled(frame)), columns, None, "error", **bounds)
    exact = sums(used, found, by=["table", "group"], groups=keys)
    return np.array(exact, float).reshape(len(tables), -1) / SIZE


def levelled(frame: pl.DataFrame) -> pl.DataFrame:
    """Add a column of levels, which a row's own y decides."""
    return frame.with_columns(
        level=pl.when(pl.col("y") < 0).then(pl.lit("low")).otherwise(pl.lit("high"))
    )


def reach(
    found: list[Moment],
    groups: int,
    adjacency: Adjacency,
    *,
    public: bool,
    rows: int,
    factors: Sequence[float] | None = None,
) -> tuple[Reach, Reach]:
    neighbours = Neighbours(
        groups=groups, adjacency=adjacency, sizes_public=public, rows=rows, size=SIZE
    )
    bounds = sensitivities(found, neighbours, factors)
    dimension = box(found, groups).dimension
    first, second = (bound.limits(dimension) for bound in bounds)
    return first, second


def check_scaled(
    changes: Floats, found: list[Moment], groups: int, adjacency: Adjacency, **how: Any
) -> None:
    """Assert that changes are allowed if each moment is multiplied by a factor of its own."""
    for seed in range(6):
        factors = np.random.default_rng(seed).choice([1.0, 0.6, 0.2, 1e-3], len(found)).tolist()
        scaled = changes * np.tile(per_number(found, factors), groups)
        check_inside(scaled, reach(found, groups, adjacency, factors=factors, **how))


def check_inside(changes: Floats, limits: tuple[Reach, Reach]) -> tuple[float, float, float]:
    """Assert that all changes are allowed; return how much of each bound is used."""
    used = []
    for order, limit in zip((1, 2), limits, strict=True):
        if limit.order is None:  # one coordinate: the caps hold the norm
            norms, radius = np.abs(changes).max(axis=1), float(limit.caps.max())
        else:
            norms, radius = np.linalg.norm(changes, order, axis=1), limit.radius
        assert (norms <= radius).all()
        used.append(float(norms.max() / radius))
    share = np.abs(changes).max(axis=0) / limits[1].caps
    assert (share <= 1).all()
    return used[0], used[1], float(share.max())


def differences(tables: list[tuple[Row, ...]], values: Floats, most: int) -> Floats:
    """Changes between tables of as many rows that differ in at most `most` of them."""
    codes = {row: i for i, row in enumerate(sorted({row for table in tables for row in table}))}
    coded = np.array([[codes[row] for row in table] for table in tables])
    apart = (coded[:, None, :] != coded[None, :, :]).sum(axis=2)
    left, right = np.nonzero((apart > 0) & (apart <= most))
    return values[left] - values[right]


@pytest.mark.parametrize("asked", ASKED, ids=str)
@pytest.mark.parametrize("rows", [1, 2])
def test_replacing_rows_of_a_table_of_public_size_stays_within_the_bounds(
    asked: list[Statistic], rows: int
) -> None:
    found = moments(asked, sizes_public=True)
    if not found:
        assert asked == [count()]
        return
    tables = list(product(UNGROUPED, repeat=2))
    changes = differences(tables, answers(tables, found, ["a"]), rows)
    l1, l2, cap = check_inside(changes, reach(found, 1, "replace", public=True, rows=rows))
    check_scaled(changes, found, 1, "replace", public=True, rows=rows)
    assert cap > 0.9999
    assert len(asked) > 1 or max(l1, l2) > 0.99 or asked[0].kind == "variance"


@pytest.mark.parametrize("asked", ASKED, ids=str)
@pytest.mark.parametrize("groups", [["a"], ["a", "b"]], ids=str)
@pytest.mark.parametrize("rows", [1, 2])
def test_replacing_rows_that_may_change_their_group_stays_within_the_bounds(
    asked: list[Statistic], groups: list[str], rows: int
) -> None:
    found = moments(asked, sizes_public=False)
    tables = list(product(GROUPED, repeat=2))
    changes = differences(tables, answers(tables, found, groups), rows)
    limits = reach(found, len(groups), "replace", public=False, rows=rows)
    _, l2, cap = check_inside(changes, limits)
    check_scaled(changes, found, len(groups), "replace", public=False, rows=rows)
    assert cap > 0.9999
    if asked == [count()] and len(groups) == 2:
        assert l2 > 0.9999


@pytest.mark.parametrize("asked", ASKED, ids=str)
@pytest.mark.parametrize("groups", [["a"], ["a", "b"]], ids=str)
@pytest.mark.parametrize("rows", [1, 2])
def test_adding_or_removing_rows_stays_within_the_bounds(
    asked: list[Statistic], groups: list[str], rows: int
) -> None:
    found = moments(asked, sizes_public=False)
    small = list(product(GROUPED, repeat=1))
    extra = list(combinations_with_replacement(GROUPED, rows))
    pairs = [(table, (*table, *more)) for table in small for more in extra]
    smaller = answers([pair[0] for pair in pairs], found, groups)
    larger = answers([pair[1] for pair in pairs], found, groups)
    limits = reach(found, len(groups), "add-remove", public=False, rows=rows)
    l1, l2, cap = check_inside(larger - smaller, limits)
    check_scaled(larger - smaller, found, len(groups), "add-remove", public=False, rows=rows)
    assert cap > 0.9999
    assert min(l1, l2) > 0.9999 or len(asked) > 1


def test_the_bounds_of_two_moments_of_one_value_are_nearly_attained() -> None:
    found = moments([variance("x", 0, 1)], sizes_public=True)
    places = np.linspace(0, 1, 401)
    values = answers([[(x, 0.0, "a")] for x in places], found, ["a"])
    changes = (values[:, None, :] - values[None, :, :]).reshape(-1, 2)
    l1, l2, _ = check_inside(changes, reach(found, 1, "replace", public=True, rows=1))
    assert l1 > 0.999
    assert l2 > 0.999


def test_a_smaller_bound_than_ours_would_be_exceeded() -> None:
    """The check above can fail: at 99 % of the stated sensitivity it does."""
    found = moments([count()], sizes_public=False)
    tables = list(product(GROUPED, repeat=2))
    changes = differences(tables, answers(tables, found, ["a", "b"]), 1)
    limits = reach(found, 2, "replace", public=False, rows=1)
    shrunk = Reach(limits[0].caps * 0.99, limits[0].order, limits[0].radius * 0.99)
    with pytest.raises(AssertionError):
        check_inside(changes, (shrunk, limits[1]))


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("adjacency", ["replace", "add-remove"])
def test_whatever_one_person_reports_stays_within_the_bounds(
    rows: int, adjacency: Adjacency
) -> None:
    """A person has up to three rows; another person is always there, with two."""
    found = moments(TOGETHER, sizes_public=False)
    kinds: list[Row] = [(0.0, 1.5, "a"), (0.375, -2.0, "a"), (1.0, 1.5, "b"), (1.0, -2.0, "other")]
    persons = [p for many in range(4) for p in combinations_with_replacement(kinds, many)]
    other: list[Row] = [(0.25, 0.0, "a"), (1.0, 1.5, "b"), (0.0, 1.5, "b")]
    written = [
        (i, f"{i}-{who}", *row)
        for i, person in enumerate(persons)
        for who, theirs in (("her", person), ("him", other))
        for row in theirs
    ]
    frame = pl.DataFrame(written, schema=["table", "who", "x", "y", "group"], orient="row")
    keys = [(i, group) for i in range(len(persons)) for group in "ab"]
    exact = sums(
        nw.from_native(levelled(frame)),
        found,
        by=["table", "group"],
        groups=keys,
        person="who",
        rows=rows,
        secret=b"",
    )
    values = np.array(exact, float).reshape(len(persons), -1) / SIZE
    there, away = values[None, :, :], values[:, None, :]
    if adjacency == "add-remove":
        there = values[:1][None]  # she has no rows
    changes = (there - away).reshape(-1, values.shape[1])
    check_inside(changes, reach(found, 2, adjacency, public=False, rows=rows))
    check_scaled(changes, found, 2, adjacency, public=False, rows=rows)
    assert math.isclose(float(np.abs(changes).max()) * SIZE, rows)


# 999 and infinity are out of all bounds, and 0.375 is neither 0 nor 1.
OUTSIDE: list[Row] = list(product((math.inf, 0.375, 1.0), (999.0, 1.0), ("a", "b")))


@pytest.mark.parametrize("asked", ASKED, ids=str)
@pytest.mark.parametrize("groups", [["a"], ["a", "b"]], ids=str)
@pytest.mark.parametrize("rows", [1, 2])
def test_rows_out_of_bounds_that_are_left_out_stay_within_the_bounds(
    asked: list[Statistic], groups: list[str], rows: int
) -> None:
    found = moments(asked, sizes_public=False)
    tables = list(product(OUTSIDE, repeat=2))
    changes = differences(tables, left(tables, asked, found, groups), rows)
    check_inside(changes, reach(found, len(groups), "replace", public=False, rows=rows))
    check_scaled(changes, found, len(groups), "replace", public=False, rows=rows)
    extra = list(combinations_with_replacement(OUTSIDE, rows))
    pairs = [((row,), (row, *more)) for row in OUTSIDE for more in extra]
    fewer, more = (left([pair[i] for pair in pairs], asked, found, groups) for i in (0, 1))
    check_inside(more - fewer, reach(found, len(groups), "add-remove", public=False, rows=rows))
    check_scaled(more - fewer, found, len(groups), "add-remove", public=False, rows=rows)
    assert np.abs(more - fewer).max() > 0


def test_the_bounds_of_a_public_size_would_be_exceeded_by_rows_that_are_left_out() -> None:
    asked: list[Statistic] = [total("x", 0.5, 1)]
    found = moments(asked, sizes_public=False)
    tables = list(product(OUTSIDE, repeat=2))
    changes = differences(tables, left(tables, asked, found, ["a"]), 1)
    with pytest.raises(AssertionError):
        check_inside(changes, reach(found, 1, "replace", public=True, rows=1))
