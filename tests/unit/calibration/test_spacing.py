import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbounds.calibration.spacing import Interval, distance_bound


def interval(lower: float, upper: float, sensitivity: float) -> Interval:
    return Interval(lower, upper, distance_bound(lower, upper, sensitivity))


@given(
    st.decimals(-1000, 1000, places=3),
    st.decimals("0.001", 500, places=3),
    st.decimals(0, 1, places=4),
)
def test_decimals_at_the_stated_distance_are_within_the_bound_as_doubles(
    lower: object, sensitivity: object, part: object
) -> None:
    low, step = Fraction(str(lower)), Fraction(str(sensitivity))
    upper = low + 3 * step
    value = low + 2 * step * Fraction(str(part))
    gap = Fraction(float(value + step)) - Fraction(float(value))
    assert gap <= distance_bound(float(low), float(upper), float(step))


BOXES = [
    (0.0, 1.0, 0.25),
    (17.99, 41.565, 0.41),
    (-1.32, 8.91, 0.22),
    (1e9, 1e9 + 1e-3, 1e-4),
    (-1e-3, 1e5, 7e3),
    (0.1, 0.3, 0.07),
]


@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("reach", [1, 3, 12])
def test_boundaries_are_spaced_by_the_bound(box: tuple[float, float, float], reach: int) -> None:
    space = interval(*box)
    count = math.ceil(reach / space.ratio) + 1
    cells = space.cells(reach, count)
    knots = space.knots(reach)
    assert cells is not None
    assert knots is not None
    assert cells[0] == box[0]
    assert cells[-1] == box[1]
    assert knots[0] <= box[0] < knots[1]
    assert knots[-2] < box[1] <= knots[-1]
    for points in (cells[1:-1], knots):
        pairs = list(zip(points, points[reach:], strict=False))
        assert pairs
        gaps = [Fraction(high) - Fraction(low) for low, high in pairs]
        assert min(gaps) >= space.distance
        assert max(gaps) <= space.distance + 2 * Fraction(math.ulp(max(map(abs, knots))))


def test_knots_lose_nothing_if_the_sensitivity_divides_the_width() -> None:
    assert len(interval(0.0, 1.0, 0.25).knots(10) or ()) == 41


def test_doubles_that_are_too_coarse_for_the_cells_are_noticed() -> None:
    assert interval(2.0**53, 2.0**53 + 8, 2.0).cells(16, 40) is None
    assert interval(2.0**53, 2.0**53 + 8, 2.0).cells(1, 3) is not None


def test_a_sensitivity_beyond_the_width_makes_all_values_neighbours() -> None:
    assert interval(0.0, 1.0, 1.0).all_are_neighbours
    assert interval(0.0, 1.0, math.nextafter(1.0, 0.0)).all_are_neighbours
    assert not interval(0.0, 1.0, 0.999999).all_are_neighbours
    assert interval(0.0, 1.0, 5.0).fine_knots(4) == ((0.0, 0.25, 0.5, 0.75, 1.0), 5)
