from fractions import Fraction

import numpy as np
import pytest

from inbounds.frames.central import recursion
from inbounds.frames.central.rank import UNITS, Ranks
from inbounds.frames.central.recursion import Part, cuts, draw_recursively, levels, relative
from inbounds.sampling.entropy import SeededEntropy

DECILES = [Fraction(i, 10) for i in range(1, 10)]


def part(rows: list[int], last: int) -> Part:
    points, counts = np.unique(np.array(rows, np.int64), return_counts=True)
    return Part(points, counts, 0, last)


def test_a_cut_loses_no_row_and_gives_a_new_one_to_exactly_one_part() -> None:
    for many in range(5):
        for left in range(many + 1):
            rows = [0, 1, *[2] * many, 3]
            low, high = part(rows, 3).cut(2, left)
            assert (int(low.counts.sum()), int(high.counts.sum())) == (2 + left, 1 + many - left)
            assert (low.low, low.high, high.low, high.high) == (0, 2, 2, 3)
            assert (low.points <= 2).all()
            assert (high.points >= 2).all()
            assert (low.counts > 0).all()


@pytest.mark.parametrize("last", [9, 1000])
def test_many_rows_give_the_quantiles_themselves(last: int) -> None:
    rows = [i * last // 9 for i in range(10) for _ in range(10**4)]
    drawn = draw_recursively(part(rows, last), DECILES, Fraction(1), SeededEntropy(1))
    for q, point in zip(DECILES, drawn, strict=True):
        below, up_to = (sum(r < point for r in rows), sum(r <= point for r in rows))
        assert below - 400 <= q * len(rows) <= up_to + 400


def test_points_are_in_order_and_on_the_grid_for_any_rows() -> None:
    entropy = SeededEntropy(2)
    for rows in ([], [0], [7] * 3, [0, 9], list(range(10)) * 3):
        drawn = draw_recursively(part(rows, 9), DECILES, Fraction(1, 2), entropy)
        assert drawn == sorted(drawn)
        assert 0 <= drawn[0] <= drawn[-1] <= 9


def test_rows_that_are_all_equal_are_divided_among_the_quantiles() -> None:
    """Without the division, either all rows are left of the first point, or none is."""
    rows = [4] * 5000
    drawn = draw_recursively(part(rows, 9), DECILES, Fraction(1), SeededEntropy(3))
    assert drawn == [4] * 9


def test_every_level_halves_the_quantiles_that_are_left() -> None:
    assert [levels(m) for m in (1, 2, 3, 4, 7, 8, 99)] == [1, 2, 2, 3, 3, 4, 7]


def test_a_relative_quantile_is_strictly_between_0_and_1() -> None:
    close = Fraction(1, 2) + Fraction(1, 10**6)
    for q in (
        relative(Fraction(1, 2), Fraction(0), close),
        relative(close, Fraction(1, 2), Fraction(1)),
    ):
        assert 0 < q < 1
        assert q.denominator <= 10**6


@pytest.mark.parametrize("reach", [3, 40, 10**6])
@pytest.mark.parametrize("q", [Fraction(1, 2), Fraction(1, 3), Fraction(81, 100)], ids=str)
def test_ranges_of_cuts_are_those_of_every_single_cut(
    q: Fraction, reach: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recursion, "CUTS", 16)
    p, m = q.numerator, q.denominator
    for here in (1, 2, 5, 16, 17, 40):
        for below in (0, 1, 30):
            rows = [0] * below + [1] * here + [2] * 12
            ranks = Ranks.of(*part(rows, 2))
            run = int(np.flatnonzero(ranks.first == 1)[0])
            loss = int(np.clip(ranks.private_losses(q)[run], -reach, reach))
            starts, losses = cuts(ranks, run, q, (loss, reach, 2))
            assert (starts[0], starts[-1]) == (0, 16)
            found = np.repeat(losses, np.diff(starts)).tolist()
            for i, listed in enumerate(found):
                away = abs(m * (below + i * here // 16) - p * len(rows))
                own = max(loss, -(-UNITS * away // max(p, m - p)) - 2)
                assert listed == min(max(own, -reach), reach)


def test_points_that_hold_a_million_rows_are_divided_evenly() -> None:
    """With 256 cuts, none would be within reach of the target, and all points equally likely."""
    many = Part(np.arange(101), np.full(101, 10**6), 0, 100)
    drawn = draw_recursively(many, DECILES, Fraction(1), SeededEntropy(5))
    assert drawn == list(range(10, 100, 10))


def test_rows_beyond_64_bits_are_divided_exactly() -> None:
    many = Part(np.array([3, 7]), np.array([2**40, 2**40 + 1]), 0, 9)
    drawn = draw_recursively(many, DECILES[::2], Fraction(1), SeededEntropy(6))
    assert (drawn[:2], drawn[3:]) == ([3, 3], [7, 7])
    assert 3 <= drawn[2] <= 7
