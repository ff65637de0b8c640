import math
from typing import Any

import numpy as np
import pytest

from inbounds.frames.central.change import Neighbours, box, per_number, sensitivities
from inbounds.frames.central.moment import moments
from inbounds.frames.central.statistic import Statistic, count, histogram, mean, variance

AGE = (0, 120)


def radii(asked: list[Statistic], groups: int = 1, **how: Any) -> list[float]:
    """The l1 and l2 bounds before dividing by the size."""
    how = {"adjacency": "replace", "sizes_public": False, "rows": 1, "size": 1} | how
    factors = how.pop("factors", None)
    needed = moments(asked, sizes_public=how["sizes_public"])
    dimension = box(needed, groups).dimension
    neighbours = Neighbours(groups=groups, **how)
    bounds = sensitivities(needed, neighbours, factors)
    return [bound.limits(dimension).radius for bound in bounds]


def test_every_side_of_the_box_has_length_one() -> None:
    asked = [count(), variance("age", *AGE), histogram("age", [0, 50, 80, 120])]
    domain = box(moments(asked, sizes_public=False), 3)
    assert domain.dimension == 18
    assert np.array_equal(domain.widths, np.ones(18))


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


def test_factors_multiply_the_box_and_the_bounds_of_their_moments() -> None:
    asked, how = [count(), variance("age", *AGE)], {"adjacency": "add-remove"}
    needed = moments(asked, sizes_public=False)
    assert per_number(needed, [1.0, 0.25]).tolist() == [1, 0.25, 0.25]
    domain = box(needed, 2, [1.0, 0.25])
    assert domain.widths.tolist() == [1, 0.25, 0.25] * 2
    assert list(domain.lower)[:3] == [0, -0.125, -0.125]
    l1, l2 = radii(asked, 2, factors=[1.0, 0.25], **how)
    assert l1 == pytest.approx(1 + 0.25)
    assert l2 == pytest.approx(math.sqrt(1 + 0.5 / 16))
    assert radii(asked, 2, factors=[0.5, 0.5], **how) == pytest.approx(
        [bound / 2 for bound in radii(asked, 2, **how)]
    )


def test_the_larger_of_two_ways_decides() -> None:
    """One group, whose size is private: a row becomes another one of it, or leaves it."""
    asked = [count(), histogram("age", [0, 50, 120])]
    assert radii(asked, factors=[1.0, 0.25])[0] == pytest.approx(1.25)
    assert radii(asked, factors=[0.25, 1.0])[0] == pytest.approx(2)


def test_no_sum_is_said_to_move_further_than_its_range_is_wide() -> None:
    needed = moments([count(), mean("age", *AGE)], sizes_public=False)
    how = Neighbours(groups=1, adjacency="add-remove", sizes_public=False, rows=9, size=3)
    for bound in sensitivities(needed, how, [1.0, 0.5]):
        assert bound.limits(2).caps == pytest.approx([1.0, 0.5])
        assert (bound.limits(2).caps > [1.0, 0.5]).all()
