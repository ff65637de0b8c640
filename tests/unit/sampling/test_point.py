import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbounds.sampling.grid import Exact, Grid, clamp
from inbounds.sampling.offset import rational_offsets
from inbounds.sampling.point import clamp_double, number_at, offset_from

numbers = st.one_of(
    st.floats(-1e300, 1e300),
    st.integers(-(10**6), 10**6).map(float),
    st.decimals(-9, 9, places=2).map(float),
)


@st.composite
def grids(draw: st.DrawFn) -> Grid:
    """Grids with a step that is a simple fraction, or none, of boxes that are whole or not."""
    lower, upper = sorted((draw(numbers), draw(numbers)))
    if not lower < upper:
        upper = math.nextafter(lower, math.inf)
    width = upper - lower
    kinds = (None, width / 7, width / draw(st.integers(1, 2**40)), 1.0, 0.1, 0.3, 1e-3)
    step = draw(st.sampled_from(kinds))
    if not step or not width / 2**40 <= step <= width:
        step = None
    return Grid.fit(lower, upper, step, scale=width * 2.0 ** draw(st.integers(-30, 3)))


@given(grids(), st.data())
def test_numbers_are_those_of_arrays_bit_for_bit(grid: Grid, data: st.DataObject) -> None:
    some = st.integers(0, grid.intervals)
    indices = [
        0,
        grid.intervals // 2,
        grid.intervals - 1,
        grid.intervals,
        *data.draw(st.lists(some)),
    ]
    number, expected = number_at(grid), grid.points(np.array(indices))
    found = [number(index) for index in indices]
    if grid.step is None:
        assert grid.finder()(np.array(indices)).tolist() == found
    assert found == expected.tolist() == [grid.points(index) for index in indices]
    assert {type(point) for point in found} == {int if expected.dtype.kind == "i" else float}


@pytest.mark.parametrize(
    "grid",
    [
        Grid.fit(0.0, 120.0, 1.0, 1.0),
        Grid.fit(0.0, 10.0, 3.0, 1.0),
        Grid.fit(-1.0, 1.0, 0.1, 1.0),
        Grid.fit(0.0, 1.0, 1 / 3, 1.0),
        Grid.fit(0.0, 0.3, 0.1, 1.0),  # the last point would be above the upper bound
        Grid.fit(1.1, 1.7, 0.2, 1.0),
        Grid.fit(math.pi, 10 * math.pi, math.pi, 1.0),
        Grid.fit(-1e308, 7e307, 1e305, 1.0),
        Grid.fit(1e-310, 3e-310, 1e-311, 1.0),
        Grid.fit(2.0**60, 2.0**61, 2.0**50, 1.0),
        Grid.fit(-5.0, -1.0, None, 1e-300),
    ],
    ids=repr,
)
def test_all_numbers_of_a_grid_are_those_of_arrays(grid: Grid) -> None:
    last = grid.intervals
    indices = range(last + 1) if last < 5000 else [*range(1000), *range(last - 1000, last + 1)]
    assert [number_at(grid)(k) for k in indices] == grid.points(np.array(indices)).tolist()


def exact_numbers(lower: float, upper: float) -> st.SearchStrategy[Exact]:
    """Numbers of every kind, of which many are in the box or beside its bounds."""
    near = [math.nextafter(end, side) for end in (lower, upper) for side in (-math.inf, math.inf)]
    return st.one_of(
        st.floats(allow_nan=False, allow_infinity=False),
        st.floats(lower, upper),
        st.sampled_from([lower, upper, *near, 0.0, -0.0, 5e-324, 2.0**-1022]),
        st.integers(math.floor(lower), math.ceil(upper)),
        st.integers(-(2**2000), 2**2000),
        st.fractions(),
        st.fractions(Fraction(lower), Fraction(upper)),
    )


@given(grids(), st.data())
def test_offsets_are_exact_distances_that_are_rounded_once(grid: Grid, data: st.DataObject) -> None:
    lower, upper = grid.lower, grid.upper
    number = data.draw(exact_numbers(lower, upper))
    distance = Fraction(clamp(number, lower, upper)) - Fraction(lower)
    found = offset_from(lower, upper)(number)
    assert found == float(distance)
    array = np.empty(1, object)
    array[0] = number
    assert rational_offsets(array, np.array([lower]), np.array([upper])).tolist() == [found]


@given(grids(), st.data())
def test_a_double_is_clamped_as_exact_numbers_are(grid: Grid, data: st.DataObject) -> None:
    number = data.draw(exact_numbers(grid.lower, grid.upper))
    double = clamp_double(grid.lower, grid.upper)(number)
    far = max(-grid.lower, grid.upper) > 2.0**53
    if isinstance(number, Fraction) or (isinstance(number, int) and far):
        assert double is None
    else:
        assert type(double) is float
        assert double == clamp(number, grid.lower, grid.upper)
