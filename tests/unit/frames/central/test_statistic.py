import pickle
from typing import Any

import pytest

from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.frames.central.statistic import Statistic, count, histogram, mean, total, variance


@pytest.mark.parametrize("make", [total, mean, variance])
def test_a_statistic_knows_its_column_and_bounds_and_shows_them(make: Any) -> None:
    statistic = make("age", 0, 120)
    assert (statistic.kind, statistic.column) == (make.__name__, "age")
    assert (statistic.lower, statistic.upper) == (0, 120)
    assert repr(statistic) == f"{make.__name__}('age', 0, 120)"
    assert statistic == make("age", 0.0, 120.0)
    assert statistic != make("age", 0, 121)


def test_a_histogram_has_edges_and_the_outer_ones_are_its_bounds() -> None:
    statistic = histogram("age", [0, 18, 65, 120])
    assert statistic.edges == (0, 18, 65, 120)
    assert (statistic.lower, statistic.upper) == (0, 120)
    assert repr(statistic) == "histogram('age', [0, 18, 65, 120])"


@pytest.mark.parametrize(
    "statistic",
    [count(), total("x", 0, 1), mean("x", 0, 1), variance("x", 0, 1), histogram("x", [0, 1])],
    ids=repr,
)
def test_a_statistic_is_plain_data(statistic: Statistic) -> None:
    copy = pickle.loads(pickle.dumps(statistic))
    assert copy == statistic
    assert hash(copy) == hash(statistic)
    assert repr(copy) == repr(statistic)
    for name in ("column", "kind", "other"):
        with pytest.raises((AttributeError, TypeError)):
            setattr(statistic, name, "y")


def test_statistics_with_the_same_bounds_differ() -> None:
    assert (
        len({total("x", 0, 1), mean("x", 0, 1), variance("x", 0, 1), histogram("x", [0, 1])}) == 4
    )


def test_each_bin_has_its_edges_for_a_label() -> None:
    labels = histogram("age", [0, 18, 65]).labels
    assert labels == [{"bin_lower": 0, "bin_upper": 18}, {"bin_lower": 18, "bin_upper": 65}]
    assert mean("age", 0, 18).labels == count().labels == [{}]


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
    with pytest.raises(ArgumentError, match="upper must give a range"):
        mean("age", *bounds)
    with pytest.raises(ArgumentError, match="edges must give a range"):
        histogram("age", bounds)


@pytest.mark.parametrize("edges", [[1], 1, [0, 0], [0, 2, 1]])
def test_edges_must_rise(edges: Any) -> None:
    with pytest.raises(ArgumentError, match="edges"):
        histogram("age", edges)


def test_the_first_column_of_an_array_is_a_column() -> None:
    assert repr(mean(0, 0, 1)) == "mean(0, 0, 1)"
    assert mean(0, 0, 1).has_column
    assert not count().has_column


@pytest.mark.parametrize("column", ["", None, -1, 3.0, True, b"age"])
def test_a_column_is_named_by_a_string_or_an_index(column: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="column"):
        mean(column, 0, 1)
