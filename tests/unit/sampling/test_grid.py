import math
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq
from hypothesis import assume, example, given
from hypothesis import strategies as st

from inbounds.sampling.grid import Grid

SIZES = st.floats(min_value=5e-324, max_value=8e307)
BOUNDS = st.floats(min_value=-8e307, max_value=8e307)


@st.composite
def grids(draw: st.DrawFn) -> Grid:
    """Any box with a finite width, with or without a step that divides it into 2**52 at most."""
    lower = draw(BOUNDS | st.integers(-1000, 1000).map(float))
    upper = draw(BOUNDS | SIZES.map(lambda width: lower + width))
    assume(lower < upper)
    width = upper - lower
    parts = draw(st.none() | st.floats(1, 2.0**52) | st.integers(1, 10**6))
    step = None if parts is None else width / parts
    assume(step is None or (step > 0 and width / step <= 2**52))
    return Grid.fit(lower, upper, step, scale=draw(SIZES))


def some_indices(grid: Grid) -> np.ndarray:
    spread = np.linspace(0, grid.intervals, 50).astype(np.int64)
    near = [
        k for k in (1, 2, 3, grid.intervals - 2, grid.intervals - 1) if 0 <= k <= grid.intervals
    ]
    return np.unique(np.concatenate([spread, np.array(near, dtype=np.int64), [grid.intervals]]))


def exact(number: float) -> fmpq:
    return fmpq(*number.as_integer_ratio())


@given(grids())
@example(Grid.fit(0.0, 5e-324, None, 1.0))
@example(Grid.fit(-8.9e307, 8.9e307, None, 5e-324))
@example(Grid.fit(1e9, 1e9 + 1e-6, None, 1e-300))
@example(Grid.fit(-0.8811400412289709, 0.10105302667555535, 3.734171016046049e-16, 1.0))
def test_points_rise_within_the_bounds_and_start_at_lower(grid: Grid) -> None:
    points = grid.points(some_indices(grid))
    assert points[0] == grid.lower
    assert (np.diff(points) >= 0).all()
    assert points[-1] <= grid.upper
    if grid.reaches_upper and not grid.integral:
        assert points[-1] == grid.upper


@given(grids())
def test_cuts_lie_between_their_points(grid: Grid) -> None:
    """Up to rounding: points are doubles, and may follow a simple fraction near the step."""
    ulp = exact(math.ulp(max(abs(grid.lower), abs(grid.upper))))
    stray = 4 * ulp + grid.spacing / 1000
    for k in some_indices(grid)[:-1].tolist():
        low, high = grid.points(k), grid.points(k + 1)
        cut = grid.cut(k)
        assert exact(float(low)) - stray <= cut <= exact(float(high)) + stray
        assert exact(grid.lower) < cut < exact(grid.upper)


@given(grids())
def test_an_index_alone_gives_the_number_an_array_gives(grid: Grid) -> None:
    indices = some_indices(grid)
    singles = [grid.points(k) for k in indices.tolist()]
    assert singles == grid.points(indices).tolist()
    assert all(type(number) is (int if grid.integral else float) for number in singles)


@given(BOUNDS, SIZES, SIZES)
def test_without_a_step_the_grid_is_a_power_of_two_fine_enough_for_the_noise(
    lower: float, width: float, sigma: float
) -> None:
    upper = lower + width
    assume(lower < upper and math.isfinite(upper - lower))
    grid = Grid.fit(lower, upper, None, sigma)
    assert grid.intervals.bit_count() == 1
    assert 2**22 <= grid.intervals <= 2**40
    finest = min(Fraction(sigma), Fraction(upper - lower)) / 2**22
    spacing = Fraction(upper - lower) / grid.intervals
    assert spacing <= finest or grid.intervals == 2**40
    assert 2 * spacing > finest
    assert grid.spacing * grid.intervals == exact(upper) - exact(lower)


@pytest.mark.parametrize(
    ("width", "sigma", "bits"),
    [
        (120, 1000, 22),
        (120, 120, 22),
        (120, 119.9, 23),
        (120, 60, 23),
        (120, 7.5, 26),
        (1, 1e-9, 40),
    ],
)
def test_the_number_of_points_follows_the_width_in_units_of_sigma(
    width: float, sigma: float, bits: int
) -> None:
    assert Grid.fit(-3.0, width - 3.0, None, sigma).intervals == 2**bits


def test_a_step_that_does_not_divide_the_width_leaves_the_rest_to_the_last_point() -> None:
    grid = Grid.fit(0.0, 10.0, 3.0, 1.0)
    assert grid.points(np.arange(4)).tolist() == [0, 3, 6, 9]
    assert grid.intervals == 3
    assert not grid.reaches_upper
    assert [grid.cut(k) for k in range(3)] == [fmpq(3, 2), fmpq(9, 2), fmpq(15, 2)]


@pytest.mark.parametrize(
    ("lower", "upper", "step", "intervals"),
    [
        (0.0, 120.0, 0.1, 1200),
        (0.0, 7.0, 0.7, 10),
        (0.1, 0.7, 0.2, 3),
        (-1.0, 1.0, 1 / 3, 6),
        (1e9, 1e9 + 1, 0.1, 10),
        (0.0, 1.0, 1.0000000001, 1),
        (0.0, 1.0, 0.4, 2),
        (0.0, 10 - 1e-6, 1.0, 9),
        (0.0, 2e9 + 0.75, 1.0, 2 * 10**9),
        (0.0, 2.0**52, 1.0, 2**52),
        (0.0, 5e-323, 5e-324, 10),
        (-8e307, 8e307, 1e307, 16),
    ],
)
def test_whole_steps_are_counted_as_a_person_would(
    lower: float, upper: float, step: float, intervals: int
) -> None:
    assert Grid.fit(lower, upper, step, 1.0).intervals == intervals


def test_spacing_is_the_step_unless_the_points_would_overshoot() -> None:
    assert Grid.fit(0.0, 7.0, 0.7, 1.0).spacing == exact(0.7)
    assert Grid.fit(0.0, 120.0, 0.1, 1.0).spacing == fmpq(1, 10)  # the double 0.1 is larger


@pytest.mark.parametrize(
    ("lower", "upper", "step", "decimals"),
    [(0.0, 1.0, 0.1, 1), (-1.0, 1.0, 0.1, 1), (0.1, 2.0, 0.3, 1), (-7.5, 7.5, 0.25, 2)],
)
def test_points_print_as_the_decimals_they_stand_for(
    lower: float, upper: float, step: float, decimals: int
) -> None:
    grid = Grid.fit(lower, upper, step, 1.0)
    for k in range(grid.intervals + 1):
        assert grid.points(k) == round(lower + k * step, decimals)


def test_thirds_are_thirds() -> None:
    grid = Grid.fit(0.0, 2.0, 1 / 3, 1.0)
    assert grid.points(np.arange(7)).tolist() == [k / 3 for k in range(7)]


def test_integers_come_out_as_integers() -> None:
    grid = Grid.fit(-5.0, 120.0, 1.0, 1.0)
    points = grid.points(np.array([[0, 1], [5, 125]]))
    assert points.dtype == np.int64
    assert points.tolist() == [[-5, -4], [0, 120]]
    assert type(grid.points(7)) is int


@pytest.mark.parametrize(
    ("lower", "upper", "step"),
    [
        (0.0, 10.0, None),
        (0.5, 10.5, 1.0),
        (0.0, 10.0, 0.5),
        (0.0, 10 - 1e-10, 1.0),  # the integer 10 would be out of bounds
        (1e300, 1.1e300, 1e298),  # beyond the integers an int64 holds
    ],
)
def test_other_numbers_come_out_as_doubles(lower: float, upper: float, step: float | None) -> None:
    grid = Grid.fit(lower, upper, step, 1.0)
    points = grid.points(np.array([0, 1, grid.intervals]))
    assert points.dtype == np.float64
    assert points[-1] == upper


def test_indices_up_to_two_to_the_52_stay_exact() -> None:
    grid = Grid.fit(0.0, 2.0**52, 1.0, 1.0)
    indices = np.array([0, 1, 2**52 - 1, 2**52])
    assert grid.points(indices).tolist() == indices.tolist()
    fine = Grid.fit(0.0, 1.0, None, 1e-300)
    indices = np.array([0, 1, 2**40 - 1, 2**40])
    assert fine.intervals == 2**40
    assert (fine.points(indices) * 2.0**40).tolist() == indices.tolist()


def test_the_shape_of_the_indices_is_kept() -> None:
    grid = Grid.fit(0.0, 1.0, None, 1.0)
    for shape in ((), (0,), (3,), (2, 3)):
        assert grid.points(np.zeros(shape, dtype=np.int64)).shape == shape
