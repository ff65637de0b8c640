import math

import numpy as np
import pytest

from inbounds.frames.central.moment import (
    FirstMoment,
    RowCount,
    SecondMoment,
    ValueSum,
    grid_steps,
    moments,
)
from inbounds.frames.central.statistic import Statistic, count, histogram, mean, total, variance

AGE = (0, 120)


def kinds(asked: list[Statistic], *, public: bool) -> list[str]:
    return [type(moment).__name__ for moment in moments(asked, sizes_public=public)]


def test_a_public_size_needs_no_count() -> None:
    assert kinds([count()], public=True) == []
    assert kinds([count(), mean("age", *AGE)], public=True) == ["FirstMoment"]


def test_statistics_share_what_they_can() -> None:
    asked = [count(), mean("age", *AGE), variance("age", *AGE), total("age", *AGE)]
    assert kinds(asked, public=False) == ["RowCount", "SecondMoment"]
    assert kinds(asked, public=True) == ["SecondMoment"]
    assert kinds([*asked, mean("age", 0, 100)], public=False) == [
        "RowCount",
        "SecondMoment",
        "FirstMoment",
    ]


def test_a_total_alone_is_a_sum_of_its_own_where_sizes_are_private() -> None:
    assert kinds([total("age", *AGE)], public=False) == ["ValueSum"]
    assert kinds([total("age", *AGE), histogram("age", [0, 50, 120])], public=False) == [
        "ValueSum",
        "BinCounts",
    ]
    assert kinds([total("age", *AGE), count()], public=False) == ["RowCount", "FirstMoment"]


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


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [((2, 8), (0, 8)), ((-8, -2), (-8, 0)), ((-2, 6), (-2, 6))],
)
def test_a_total_ranges_from_nobody_to_everybody(
    bounds: tuple[int, int], expected: tuple[int, int]
) -> None:
    assert ValueSum("x", bounds).span == expected


def test_a_moment_stands_in_for_one_whose_numbers_it_begins_with() -> None:
    first, second = FirstMoment("x", (0.0, 1.0)), SecondMoment("x", (0.0, 1.0))
    assert second.covers(first)
    assert not first.covers(second)
    assert not second.covers(FirstMoment("x", (0.0, 2.0)))
    assert not second.covers(RowCount())


def test_the_constants_of_two_moments_are_just_above_their_suprema() -> None:
    d = np.linspace(0, 1, 100_001)
    second = SecondMoment("age", AGE).limits
    l1, square = float((5 * d - 4 * d**2).max()), float((d**2 * (1 + 16 * (1 - d) ** 2)).max())
    assert second.l1[1] - 1e-3 < l1 < second.l1[1]
    assert second.squares[1] - 1e-4 < square < second.squares[1]
    assert square == pytest.approx((71 + 8 * math.sqrt(2)) / 64)
