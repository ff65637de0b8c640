import math
from typing import Any

import numpy as np
import pytest

from inbounds.frames.central.moment import (
    FirstMoment,
    RowCount,
    SecondMoment,
    ValueSum,
    box,
    grid_steps,
    moments,
    sensitivities,
)
from inbounds.frames.central.statistic import Statistic, count, histogram, mean, total, variance

AGE = (0, 120)


def kinds(asked: list[Statistic], *, public: bool) -> list[str]:
    return [type(moment).__name__ for moment in moments(asked, sizes_public=public)]


def radii(asked: list[Statistic], groups: int = 1, **how: Any) -> list[float]:
    """The l1 and l2 bounds before dividing by the size."""
    how = {"adjacency": "replace", "sizes_public": False, "rows": 1, "size": 1} | how
    needed = moments(asked, sizes_public=how["sizes_public"])
    dimension = box(needed, groups).dimension
    return [bound.limits(dimension).radius for bound in sensitivities(needed, groups, **how)]


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


def test_every_side_of_the_box_has_length_one() -> None:
    asked = [count(), variance("age", *AGE), histogram("age", [0, 50, 80, 120])]
    domain = box(moments(asked, sizes_public=False), 3)
    assert domain.dimension == 18
    assert np.array_equal(domain.widths, np.ones(18))


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


def test_counts_of_groups_move_by_two_ones_when_a_row_is_replaced() -> None:
    l1, l2 = radii([count()], groups=5, rows=3)
    assert l1 == pytest.approx(6)
    assert l2 == pytest.approx(3 * math.sqrt(2))


def test_one_row_more_moves_one_group() -> None:
    l1, l2 = radii([count(), mean("age", *AGE)], groups=5, adjacency="add-remove")
    assert l1 == pytest.approx(1.5)
    assert l2 == pytest.approx(math.sqrt(1.25))


def test_sensitivities_are_never_below_the_theorem_and_shrink_with_the_size() -> None:
    asked = [count(), variance("age", *AGE), histogram("age", [0, 50, 120])]
    one, many = radii(asked, 2), radii(asked, 2, size=1000)
    assert one[0] >= 2 * (1 + 1 + 1)
    assert one[1] >= math.sqrt(2 * 2.5)
    assert many == pytest.approx([bound / 1000 for bound in one])
    assert all(m > o / 1000 for m, o in zip(many, one, strict=True))


def test_the_constants_of_two_moments_are_just_above_their_suprema() -> None:
    d = np.linspace(0, 1, 100_001)
    second = SecondMoment("age", AGE).limits
    l1, square = float((5 * d - 4 * d**2).max()), float((d**2 * (1 + 16 * (1 - d) ** 2)).max())
    assert second.l1[1] - 1e-3 < l1 < second.l1[1]
    assert second.squares[1] - 1e-4 < square < second.squares[1]
    assert square == pytest.approx((71 + 8 * math.sqrt(2)) / 64)
