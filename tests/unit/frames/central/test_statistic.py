from typing import Any

import pytest

from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.frames.central.statistic import count, histogram, mean, total, variance


@pytest.mark.parametrize("make", [total, mean, variance])
def test_a_statistic_knows_its_column_and_bounds_and_shows_them(make: Any) -> None:
    one = make("age", 0, 120)
    assert (one.kind, one.column) == (make.__name__, "age")
    assert (one.lower, one.upper) == (0, 120)
    assert repr(one) == f"{make.__name__}('age', 0, 120)"
    assert one == make("age", 0.0, 120.0)
    assert one != make("age", 0, 121)


def test_a_histogram_has_edges_and_the_outer_ones_are_its_bounds() -> None:
    one = histogram("age", [0, 18, 65, 120])
    assert one.edges == (0, 18, 65, 120)
    assert (one.lower, one.upper) == (0, 120)
    assert repr(one) == "histogram('age', [0, 18, 65, 120])"


def test_a_count_needs_no_column() -> None:
    assert repr(count()) == "count()"
    assert count() == count()


@pytest.mark.parametrize("make", [total, mean, variance])
@pytest.mark.parametrize("bounds", [(1, 1), (2, 1), (0, float("inf")), (float("nan"), 1)])
def test_bounds_must_be_finite_and_in_order(make: Any, bounds: tuple[float, float]) -> None:
    with pytest.raises(ArgumentError, match=r"upper|lower"):
        make("age", *bounds)


@pytest.mark.parametrize("bounds", [(0, 1e-80), (-1e300, 1e300)])
def test_bounds_must_be_of_a_width_that_doubles_can_scale(bounds: tuple[float, float]) -> None:
    with pytest.raises(ArgumentError, match="upper - lower"):
        mean("age", *bounds)


@pytest.mark.parametrize("edges", [[1], 1, [0, 0], [0, 2, 1]])
def test_edges_must_rise(edges: Any) -> None:
    with pytest.raises(ArgumentError, match="edges"):
        histogram("age", edges)


@pytest.mark.parametrize("column", ["", None, 3])
def test_a_column_is_named_by_a_string(column: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="column"):
        mean(column, 0, 1)
