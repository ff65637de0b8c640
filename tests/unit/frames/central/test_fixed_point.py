from fractions import Fraction

import narwhals as nw
import numpy as np
import polars as pl
import pytest

from inbounds.frames.central.fixed_point import exact_sums, grid_steps, with_integers
from inbounds.frames.central.moment import Moment, moment
from inbounds.frames.central.statistic import Statistic, histogram, mean, total, variance


def summed(values: list[float], one: Moment) -> list[Fraction]:
    table = nw.from_native(pl.DataFrame({"x0": values}, schema={"x0": pl.Float64}))
    table, names = with_integers(table, one, "x0", "0")
    assert all(table[name].dtype == nw.Int64 for name in names)
    totals = {name: int(table[name].sum()) for name in names}
    return exact_sums([one], {"rows": len(values), **totals})


@pytest.mark.parametrize("width", [1, 2, 3, 120, 2**20 - 1, 2**40])
def test_whole_widths_divide_the_grid(width: int) -> None:
    steps = grid_steps(0.0, float(width))
    assert 2**39 < steps <= 2**40
    assert steps % width == 0
    ratio = steps // width
    assert ratio & (ratio - 1) == 0


@pytest.mark.parametrize("upper", [0.3, 2.0**41, 1e-30, 1e200])
def test_other_widths_have_two_to_the_forty_steps(upper: float) -> None:
    assert grid_steps(0.0, upper) == 2**40


def test_whole_numbers_are_summed_without_any_error() -> None:
    ages = [0, 17, 41, 68, 120]
    (place,) = summed([*map(float, ages)], moment("first", mean("age", 0, 120)))
    assert place == Fraction(sum(ages), 120) - Fraction(len(ages), 2)


def test_other_numbers_are_moved_by_half_a_step_at_most() -> None:
    values = np.random.default_rng(0).uniform(-1, 0.7, 200)
    (place,) = summed(values.tolist(), moment("first", mean("x", -1, 0.7)))
    truth = sum((Fraction(v) + 1) / Fraction(1.7) for v in values.tolist()) - 100
    assert abs(place - truth) <= 200 * Fraction(1, 2**40)


def test_values_outside_are_moved_to_the_bounds() -> None:
    (place,) = summed([-1e300, 1e300, 1e300], moment("first", mean("x", -0.1, 0.2)))
    assert place == Fraction(1, 2)


def test_squares_are_of_the_place_between_the_bounds() -> None:
    first, second = summed([0.0, 0.25, 1.0], moment("second", variance("x", 0, 1)))
    assert first == Fraction(-1, 4)
    assert second == Fraction(1, 2) + (4 * Fraction(1, 16) - Fraction(1, 2)) + Fraction(1, 2)


@pytest.mark.parametrize(("bounds", "width"), [((2, 8), 8), ((-8, -2), 8), ((-2, 6), 8)])
def test_sums_of_values_are_over_the_width_of_their_range_with_zero(
    bounds: tuple[float, float], width: int
) -> None:
    low, high = bounds
    (found,) = summed([low, high, high + 5.0], moment("sum", total("x", low, high)))
    assert found == Fraction(low + 2 * high) / width


def test_bins_hold_their_lower_edge_and_the_last_both() -> None:
    edges = histogram("x", [0, 1, 2, 3])
    values = [-9.0, 0.0, 0.5, 1.0, 2.0, 2.5, 3.0, 9.0]
    assert summed(values, moment("bins", edges)) == [3, 1, 4]
    inside = [v for v in values if 0 <= v <= 3]
    assert np.histogram(inside, edges.edges)[0].tolist() == [2, 1, 3]


def test_one_bin_holds_all_rows() -> None:
    assert summed([0.5, 7.0], moment("bins", histogram("x", [0, 1]))) == [2]


def test_no_rows_sum_to_nothing() -> None:
    asked = [Statistic("count"), variance("x", 2, 3), total("x", 2, 3), histogram("x", [0, 1, 2])]
    found = [moment(k, s) for k, s in zip(("count", "second", "sum", "bins"), asked, strict=True)]
    assert exact_sums(found, {}) == [0] * 6
