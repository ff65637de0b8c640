import itertools
from fractions import Fraction

import numpy as np
import pytest

from inbounds.calibration.weight import WeightTable
from inbounds.frames.central.rank import UNITS, Ranks, pick, within_group
from inbounds.sampling.choice import draw_by_weight
from inbounds.sampling.entropy import SYSTEM

LAST = 4
QS = [Fraction(1, 2), Fraction(1, 3), Fraction(9, 10), Fraction(29, 100)]


def ranks(rows: tuple[int, ...]) -> Ranks:
    points, counts = np.unique(np.array(rows, np.int64), return_counts=True)
    return Ranks.of(points, counts, 0, LAST)


def by_point(found: Ranks, losses: object) -> list[int]:
    return np.repeat(np.asarray(losses), found.length).astype(int).tolist()


def tables() -> list[tuple[int, ...]]:
    return [
        rows
        for n in range(5)
        for rows in itertools.combinations_with_replacement(range(LAST + 1), n)
    ]


def test_runs_hold_the_rows_below_and_at_every_point() -> None:
    for rows in tables():
        found = ranks(rows)
        assert by_point(found, found.below) == [sum(r < v for r in rows) for v in range(LAST + 1)]
        assert by_point(found, found.up_to) == [sum(r <= v for r in rows) for v in range(LAST + 1)]
        assert found.total == len(rows)


@pytest.mark.parametrize("q", QS, ids=str)
def test_a_point_has_a_loss_of_at_most_zero_where_it_is_a_quantile(q: Fraction) -> None:
    for rows in tables():
        found = ranks(rows)
        target = q * len(rows)
        is_quantile = [
            sum(r < v for r in rows) <= target <= sum(r <= v for r in rows) for v in range(LAST + 1)
        ]
        for losses in (found.public_losses(q), found.private_losses(q)):
            assert [loss <= 0 for loss in by_point(found, losses)] == is_quantile


@pytest.mark.parametrize("q", QS, ids=str)
def test_a_public_loss_is_how_many_rows_must_change_or_may(q: Fraction) -> None:
    """By brute force: all tables that are so many replaced rows away."""
    every = [rows for rows in tables() if len(rows) == 4]
    for rows in every:
        found = ranks(rows)
        for point, loss in enumerate(by_point(found, found.public_losses(q))):
            wanted = loss > 0
            distances = [
                changed(rows, other) for other in every if is_quantile(point, other, q) == wanted
            ]
            needed = min(distances, default=None)
            if loss > 0:
                assert needed == loss
            elif needed is not None:
                assert needed >= -loss + 1
    assert by_point(ranks((2, 2, 2, 2)), ranks((2, 2, 2, 2)).public_losses(Fraction(1, 2)))[2] == -2


def changed(rows: tuple[int, ...], other: tuple[int, ...]) -> int:
    mine, theirs = (np.bincount(r, minlength=LAST + 1) for r in (rows, other))
    return int(np.abs(mine - theirs).sum()) // 2


def is_quantile(point: int, rows: tuple[int, ...], q: Fraction) -> bool:
    target = q * len(rows)
    return sum(r < point for r in rows) <= target <= sum(r <= point for r in rows)


@pytest.mark.parametrize("q", QS, ids=str)
def test_one_row_moves_losses_by_what_is_stated(q: Fraction) -> None:
    largest = {"replaced": 0, "added": 0, "within": 0}
    for rows in tables():
        found = ranks(rows)
        before = by_point(found, found.public_losses(q)), by_point(found, found.private_losses(q))
        for new in range(LAST + 1):
            if len(rows) < 4:
                more = ranks(tuple(sorted((*rows, new))))
                after = by_point(more, more.private_losses(q))
                largest["added"] = max(largest["added"], *differences(before[1], after))
            for i in range(len(rows)):
                other = ranks(tuple(sorted((*rows[:i], new, *rows[i + 1 :]))))
                public = by_point(other, other.public_losses(q))
                private = by_point(other, other.private_losses(q))
                largest["replaced"] = max(largest["replaced"], *differences(before[0], public))
                largest["within"] = max(largest["within"], *differences(before[1], private))
    assert largest["replaced"] == 1
    assert largest["added"] == UNITS
    assert largest["within"] <= UNITS * within_group(q)


def differences(a: list[int], b: list[int]) -> list[int]:
    return [abs(x - y) for x, y in zip(a, b, strict=True)]


def test_a_target_rank_is_computed_in_fractions() -> None:
    """0.29·100 is 28.999999999999996 in doubles, and its ceiling and its floor are then wrong."""
    found = Ranks.of(np.arange(100), np.ones(100, np.int64), 0, 99)
    losses = found.public_losses(Fraction(29, 100))
    assert np.flatnonzero(losses == 0).tolist() == [28, 29]
    assert np.flatnonzero(found.private_losses(Fraction(29, 100)) <= 0).tolist() == [28, 29]


def test_losses_of_tables_too_large_for_64_bits_are_exact() -> None:
    many = 2**45
    found = Ranks.of(np.array([1, 3]), np.array([many, many + 1]), 0, 4)
    q = Fraction(499_999, 10**6)
    s = [m * 10**6 - 499_999 * (2 * many + 1) for m in (0, 0, many, many, 2 * many + 1)]
    r = [499_999 * (2 * many + 1) - m * 10**6 for m in (0, many, many, 2 * many + 1, 2 * many + 1)]
    expected = [-(-8 * max(a, b) // 500_001) for a, b in zip(s, r, strict=True)]
    assert found.private_losses(q).tolist() == expected


def test_points_far_beyond_the_reach_are_drawn_by_the_weight_of_the_reach() -> None:
    table = WeightTable(Fraction(100))
    losses = np.array([10**9, 3 * 10**9, -(10**12)], object)
    assert pick(losses, np.array([1, 1, 1]), table, draw_by_weight, SYSTEM) == (2, 0)


def test_without_rows_every_point_is_a_quantile() -> None:
    found = Ranks.of(np.empty(0, np.int64), np.empty(0, np.int64), 0, LAST)
    assert by_point(found, found.private_losses(Fraction(1, 3))) == [0] * (LAST + 1)
