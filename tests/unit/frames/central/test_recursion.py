from fractions import Fraction

import numpy as np
import pytest

from inbounds.frames.central.recursion import Part, draw_recursively, levels, relative
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
