"""Pairs of values: where they are, and that none leaves what the guarantee allows."""

import numpy as np
import pytest

from inbounds import L1, L2, Box, LInf, PerCoordinate
from inbounds.auditing.neighbour import (
    AXES,
    RANDOM,
    axis_pairs,
    candidates,
    check_pair,
    random_pairs,
)
from inbounds.errors import ArgumentError, ArgumentTypeError


def plain(pairs):
    return [tuple(np.asarray(value).tolist() for value in pair) for pair in pairs]


def test_pairs_are_at_both_ends_and_in_the_middle():
    assert plain(candidates(Box(-2, 8), np.array([4.0]))) == [(-2, 2), (4, 8), (1, 5)]


def test_where_everything_may_change_there_is_one_pair():
    assert plain(candidates(Box(0, 10), np.array([10.0]))) == [(0, 10)]


def test_pairs_of_a_box_change_every_coordinate_together():
    found = plain(candidates(Box([0, 1], [10, 9]), np.array([4.0, 2.0])))
    assert found == [([0, 1], [4, 3]), ([6, 7], [10, 9]), ([3, 4], [7, 6])]


@pytest.mark.parametrize(
    "sensitivity", [L1(3), L2(3), LInf(2), PerCoordinate([1, 9]), L2(3) & PerCoordinate([1, 9])]
)
def test_the_change_is_allowed_and_no_larger_one_along_the_diagonal_is(sensitivity):
    widths = np.array([10.0, 5.0])
    reach = sensitivity.within(widths)
    change = reach.along(widths)
    assert (change <= reach.caps).all()
    if reach.order is None:
        assert change.tolist() == reach.caps.tolist()
    else:
        size = np.linalg.norm(change, reach.order)
        assert reach.radius * (1 - 1e-9) < size <= reach.radius
    free = change < reach.caps
    assert np.ptp((change / widths)[free]) == 0 if free.any() else True


@pytest.mark.parametrize(
    "sensitivity",
    [L1(3), L2(3), LInf(2), PerCoordinate([1, 9, 2]), L2(3) & PerCoordinate([1, 9, 2])],
)
def test_random_pairs_are_allowed_and_go_in_several_directions(sensitivity):
    box = Box([0, -5, 2], [10, 0, 4])
    reach = sensitivity.within(box.widths)
    pairs = random_pairs(box, reach)
    assert len(pairs) == RANDOM
    for pair in pairs:
        check_pair(pair, box, sensitivity)
    signs = {tuple(np.sign(second - first)) for first, second in pairs}
    assert len(signs) >= 3
    assert not signs & {(1, 1, 1), (-1, -1, -1)}
    for axis, pair in enumerate(axis_pairs(box, reach)):
        first, second = check_pair(pair, box, sensitivity)
        changed = np.abs(second - first)
        assert np.flatnonzero(changed).tolist() == [axis]
        assert changed[axis] == pytest.approx(min(reach.caps[axis], reach.radius))


def test_of_many_coordinates_some_are_changed_alone():
    box = Box([0] * 100, [1] * 100)
    pairs = axis_pairs(box, L2(1).within(box.widths))
    assert len({int(np.flatnonzero(s - t)[0]) for s, t in pairs}) == len(pairs) == AXES


def test_a_given_pair_is_read():
    first, second = check_pair([(1, 2), (3, 4)], Box([0, 0], [9, 9]), PerCoordinate([2, 2]))
    assert (first.tolist(), second.tolist()) == ([1, 2], [3, 4])


@pytest.mark.parametrize("end", [0.3, 1.1, 1e-3])
def test_rounding_of_the_ends_of_a_box_is_forgiven(end):
    box = Box(0, end + 0.1)
    check_pair((box.upper - end, box.upper), box, L2(end))


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        ((0, 0), "two different values"),
        (((0, 1), 2), "two different values of the same shape"),
        ((0, 11), "must lie in Box"),
        ((0, 3), "must differ by at most L2"),
        ((0, np.nan), "must be finite"),
        (((0, 1), (1, 1)), "must lie in Box"),
    ],
)
def test_a_pair_that_the_guarantee_does_not_speak_of_is_refused(pair, message):
    with pytest.raises(ArgumentError, match=message):
        check_pair(pair, Box(0, 10), L2(2))


def test_a_pair_too_far_apart_by_its_norm_alone_is_refused():
    box = Box([0, 0], [9, 9])
    check_pair(((0, 0), (2, 2)), box, L2(3))
    with pytest.raises(ArgumentError, match="differ by at most L1"):
        check_pair(((0, 0), (2, 2)), box, L1(3))


@pytest.mark.parametrize("pair", [3, (1,), (1, 2, 3), "ab"])
def test_what_is_no_pair_is_refused(pair):
    with pytest.raises(ArgumentTypeError, match="pair must be two values"):
        check_pair(pair, None, None)
