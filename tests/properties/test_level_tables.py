"""Brute force: no two neighbours, decimals included, are told apart by more than ε."""

import math
from bisect import bisect_right
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from inbounds.calibration.levels import design
from inbounds.calibration.table import LevelTable


def chances(table: LevelTable, value: Fraction) -> list[Fraction]:
    """The probabilities of all outputs at an exact value, from the definition."""
    inside = min(max(value, Fraction(table.lower)), Fraction(table.upper))
    i = bisect_right(table.boundaries[1:-1], inside)
    if table.kind == "cells":
        return [Fraction(entry) for entry in table.rows[i]]
    low, high = (Fraction(knot) for knot in table.boundaries[i : i + 2])
    upward = (inside - low) / (high - low)
    pairs = zip(table.rows[i], table.rows[i + 1], strict=True)
    return [a * (1 - upward) + b * upward for a, b in pairs]


def loss(table: LevelTable, first: Fraction, second: Fraction) -> float:
    pairs = list(zip(chances(table, first), chances(table, second), strict=True))
    return math.log(max(max(a / b, b / a) for a, b in pairs))


def assert_private(table: LevelTable, a: Fraction, b: Fraction, epsilon: float) -> None:
    """Exact, and rounded to doubles as a program would pass them on."""
    assert loss(table, a, b) <= epsilon * (1 + 1e-12)
    assert loss(table, Fraction(float(a)), Fraction(float(b))) <= epsilon * (1 + 1e-12)


@pytest.mark.parametrize("objective", ["average", "worst", "unbiased"])
@pytest.mark.parametrize(
    ("box", "epsilon", "pair"),
    [
        (("17.99", "41.565", "0.41"), 0.5, ("31.93", "32.34")),
        (("-1.32", "8.91", "0.22"), 0.2, ("3.8225", "4.0425")),
        (("0", "1", "0.3"), 1.0, ("0.1", "0.4")),
    ],
)
def test_decimals_that_are_a_unit_further_apart_as_doubles_lose_epsilon_once(
    objective: Any, box: Any, epsilon: float, pair: Any
) -> None:
    """With cells for the exact sensitivity these pairs lose 2ε."""
    lower, upper, sensitivity = map(float, box)
    assert Decimal(pair[1]) - Decimal(pair[0]) == Decimal(box[2])
    doubles = [Fraction(float(text)) for text in pair]
    if box[0] != "0":
        assert doubles[1] - doubles[0] > Fraction(sensitivity)
    table = design(lower, upper, sensitivity, epsilon, objective).table
    assert_private(table, *(Fraction(text) for text in pair), epsilon)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_no_pair_of_decimals_at_the_sensitivity_loses_more(data: st.DataObject) -> None:
    """Boxes with offsets, across powers of two; values beside boundaries above all."""
    places = data.draw(st.integers(0, 4))
    unit = Fraction(1, 10**places)
    steps = data.draw(st.integers(1, 400))
    lower = unit * data.draw(st.integers(-3000, 3000)) + data.draw(
        st.sampled_from([0, 0, 0, 10**6, -(2**20), 10**9])
    )
    sensitivity = unit * steps
    upper = lower + unit * data.draw(st.integers(steps // 3 + 1, 20 * steps + 5))
    epsilon = data.draw(st.sampled_from([0.1, 0.4, 0.7, 2.0]))
    objective: Any = data.draw(st.sampled_from(["average", "average", "average", "unbiased"]))
    assume(float(lower) < float(upper))
    table = design(float(lower), float(upper), float(sensitivity), epsilon, objective).table
    inner = table.boundaries[1:-1]
    for _ in range(8):
        near = Fraction(data.draw(st.sampled_from([*inner, table.lower, table.upper])))
        value = unit * (round((near - data.draw(st.sampled_from([0, sensitivity]))) / unit))
        value += unit * Fraction(data.draw(st.integers(-2, 2)), data.draw(st.sampled_from([1, 4])))
        assert_private(table, value, value + sensitivity, epsilon)


@pytest.mark.parametrize("objective", ["worst", "unbiased"])
def test_random_rounding_loses_epsilon_and_never_more(objective: Any) -> None:
    """Values on a fine lattice, all pairs at the sensitivity; ε is reached."""
    table = design(0.0, 1.0, 0.3, 1.0, objective).table
    starts = [Fraction(i, 997) for i in range(0, 698, 3)]
    losses = [loss(table, start, start + Fraction(3, 10)) for start in starts]
    assert max(losses) <= 1 + 1e-12
    assert max(losses) > 0.9


def test_a_table_with_cells_one_unit_too_narrow_would_be_caught() -> None:
    """The brute force has power: with the last unit taken off the spacing it finds 2ε."""
    lower, upper, sensitivity, epsilon = 17.99, 41.565, 0.41, 0.5
    table = design(lower, upper, sensitivity, epsilon, "average").table
    step, middle = Fraction(0.41), Fraction(32.34)
    count = int((middle - Fraction(lower)) / step)
    first = middle - step * count
    inner = [float(first + step * i) for i in range(len(table.boundaries) - 2)]
    narrow = LevelTable(
        "cells",
        lower,
        upper,
        (lower, *inner, max(upper, inner[-1] + 1)),
        1,
        table.rows,
        table.outputs,
        table.numerator,
        table.denominator,
    )
    doubles = [Fraction(31.93), Fraction(32.34)]
    assert loss(narrow, *doubles) > 1.5 * epsilon
    assert np.isfinite(loss(table, *doubles))
    assert loss(table, *doubles) <= epsilon


@pytest.mark.parametrize(
    ("objective", "box", "epsilon"),
    [
        ("average", ("17.99", "41.565", "0.41"), 8.0),
        ("worst", ("-1.32", "8.91", "0.22"), 4.0),
        ("unbiased", ("17.99", "41.565", "0.41"), 3.0),
        ("worst", ("1000000", "1000003", "0.07"), 5.0),
        ("unbiased", ("0.1", "1.3", "0.03"), 4.0),
    ],
)
def test_staircases_lose_epsilon_and_never_more(objective: Any, box: Any, epsilon: float) -> None:
    """Large tables without a program; decimals at the sensitivity, beside boundaries above all."""
    lower, upper, sensitivity = map(Fraction, box)
    table = design(*map(float, box), epsilon, objective).table
    assert len(table.rows) > 120
    unit = Fraction(1, 1000)
    largest = 0.0
    for boundary in table.boundaries[1 : -1 : len(table.rows) // 5]:
        start = unit * round(Fraction(boundary) / unit)
        if lower <= start <= upper - sensitivity:
            largest = max(largest, loss(table, start, start + sensitivity))
            doubles = [Fraction(float(value)) for value in (start, start + sensitivity)]
            largest = max(largest, loss(table, *doubles))
    assert 0.9 * epsilon < largest <= epsilon * (1 + 1e-12)


@settings(max_examples=10, deadline=None)
@given(st.data())
def test_points_of_a_grid_and_values_between_them_lose_no_more(data: st.DataObject) -> None:
    """Boxes with a step and offsets, unbiased; neighbours are any decimals at the sensitivity."""
    step = Fraction(data.draw(st.sampled_from(["1", "0.5", "0.1", "3", "0.07"])))
    points = data.draw(st.integers(2, 12))
    lower = step * data.draw(st.integers(-40, 40)) + data.draw(st.sampled_from([0, 0, 10**6]))
    upper = lower + step * (points - 1)
    sensitivity = step * data.draw(st.integers(1, points))
    epsilon = data.draw(st.sampled_from([0.1, 1.0, 4.0]))
    grid = np.array([float(lower + step * i) for i in range(points)])
    found = design(float(lower), float(upper), float(sensitivity), epsilon, "unbiased", grid=grid)
    assert set(found.table.outputs) <= set(grid.tolist())
    for _ in range(8):
        start = lower + step * Fraction(data.draw(st.integers(0, 8 * points)), 8)
        assert_private(found.table, start, start + sensitivity, epsilon)
