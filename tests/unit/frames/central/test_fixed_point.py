from fractions import Fraction

import narwhals as nw
import numpy as np
import polars as pl
import pytest

from inbounds.frames.central.fixed_point import IntegerColumns
from inbounds.frames.central.moment import (
    BinCounts,
    FirstMoment,
    Moment,
    SecondMoment,
    ValueSum,
)


def summed(values: list[float], moment: Moment) -> list[Fraction]:
    table = nw.from_native(pl.DataFrame({"x0": values}, schema={"x0": pl.Float64}))
    columns = IntegerColumns(table)
    moment.write(columns, nw.col("x0"))
    table = columns.table.collect() if isinstance(columns.table, nw.LazyFrame) else columns.table
    assert all(table[name].dtype == nw.Int64 for name in columns.names)
    totals = {name: int(table[name].sum()) for name in columns.names}
    return moment.read(len(values), iter(columns.totals(totals)))


def test_whole_numbers_are_summed_without_any_error() -> None:
    ages = [0, 17, 41, 68, 120]
    (place,) = summed([*map(float, ages)], FirstMoment("age", (0.0, 120.0)))
    assert place == Fraction(sum(ages), 120) - Fraction(len(ages), 2)


def test_other_numbers_are_moved_by_half_a_step_at_most() -> None:
    values = np.random.default_rng(0).uniform(-1, 0.7, 200)
    (place,) = summed(values.tolist(), FirstMoment("x", (-1.0, 0.7)))
    truth = sum((Fraction(v) + 1) / Fraction(1.7) for v in values.tolist()) - 100
    assert abs(place - truth) <= 200 * Fraction(1, 2**40)


def test_values_outside_are_moved_to_the_bounds() -> None:
    (place,) = summed([-1e300, 1e300, 1e300], FirstMoment("x", (-0.1, 0.2)))
    assert place == Fraction(1, 2)


def test_squares_are_of_the_place_between_the_bounds() -> None:
    first, second = summed([0.0, 0.25, 1.0], SecondMoment("x", (0.0, 1.0)))
    assert first == Fraction(-1, 4)
    assert second == Fraction(1, 2) + (4 * Fraction(1, 16) - Fraction(1, 2)) + Fraction(1, 2)


@pytest.mark.parametrize(
    ("bounds", "width"), [((2.0, 8.0), 8), ((-8.0, -2.0), 8), ((-2.0, 6.0), 8)]
)
def test_sums_of_values_are_over_the_width_of_their_range_with_zero(
    bounds: tuple[float, float], width: int
) -> None:
    low, high = bounds
    (result,) = summed([low, high, high + 5.0], ValueSum("x", bounds))
    assert result == Fraction(low + 2 * high) / width


def test_bins_hold_their_lower_edge_and_the_last_both() -> None:
    edges = (0.0, 1.0, 2.0, 3.0)
    values = [-9.0, 0.0, 0.5, 1.0, 2.0, 2.5, 3.0, 9.0]
    assert summed(values, BinCounts("x", edges)) == [3, 1, 4]
    inside = [v for v in values if 0 <= v <= 3]
    assert np.histogram(inside, edges)[0].tolist() == [2, 1, 3]


def test_one_bin_holds_all_rows() -> None:
    assert summed([0.5, 7.0], BinCounts("x", (0.0, 1.0))) == [2]


@pytest.mark.parametrize(
    "moment",
    [SecondMoment("x", (2.0, 3.0)), ValueSum("x", (2.0, 3.0)), BinCounts("x", (0.0, 1.0, 2.0))],
)
def test_no_rows_sum_to_nothing(moment: Moment) -> None:
    assert summed([], moment) == [0] * len(moment.limits.lowers)


def test_several_moments_may_be_written_one_after_the_other() -> None:
    columns = IntegerColumns(nw.from_native(pl.DataFrame({"x0": [0.25, 1.0]})))
    for moment in (FirstMoment("x", (0.0, 1.0)), BinCounts("x", (0.0, 0.5, 1.0))):
        moment.write(columns, nw.col("x0"))
    assert columns.names == ["integer0_high", "integer0_low", "integer1"]
    assert columns.totals({"integer0_high": 3, "integer0_low": 5, "integer1": 1}) == [
        3 * 2**20 + 5,
        1,
    ]
