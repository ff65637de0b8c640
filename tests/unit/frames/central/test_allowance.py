from fractions import Fraction

import pytest

from inbounds.frames.central.allowance import Allowance, root_below
from inbounds.frames.central.change import Neighbours


@pytest.mark.parametrize(
    ("changes", "total", "squares"),
    [
        (Neighbours("replace", 3, True, 1), 3, 9),
        (Neighbours("add-remove", 3, False, 7), 3, 9),
        (Neighbours("replace", 3, False, 1), Fraction(27, 8), Fraction(9 * 81, 64)),
        (Neighbours("replace", 3, False, 7), 6, 18),
    ],
    ids=str,
)
def test_what_neighbours_cost_is_that_of_their_rows_and_groups(
    changes: Neighbours, total: Fraction, squares: Fraction
) -> None:
    assert changes.total(Fraction(9, 8)) == total
    assert changes.squares(Fraction(9, 8)) == squares


def test_a_row_that_is_replaced_in_its_group_can_cost_more_than_one_that_leaves() -> None:
    assert Neighbours("replace", 1, False, 2).squares(Fraction(2)) == 4
    assert Neighbours("replace", 1, False, 1).total(Fraction(2)) == 2


def test_parts_of_a_group_are_at_least_two_and_of_private_size() -> None:
    parts = Neighbours("replace", 2, True, 1).of_parts()
    assert (parts.total(Fraction(2)), parts.squares(Fraction(2))) == (4, 16)
    assert Neighbours("add-remove", 2, False, 1).of_parts().total(Fraction(2)) == 2


@pytest.mark.parametrize("concentrated", [True, False])
@pytest.mark.parametrize("rows", [1, 4])
def test_a_draw_uses_what_it_is_allowed_and_never_more(rows: int, concentrated: bool) -> None:
    changes, amount = Neighbours("replace", rows, False, 3), Fraction(1, 7)
    cost = Allowance(amount, concentrated).row_cost(changes, Fraction(9, 8))
    used = (
        cost**2 * changes.squares(Fraction(9, 8)) / 8
        if concentrated
        else cost * changes.total(Fraction(9, 8))
    )
    assert amount * (1 - Fraction(1, 10**30)) < used <= amount


@pytest.mark.parametrize(
    "number",
    [Fraction(2), Fraction(1, 3), Fraction(10**40), Fraction(1, 10**200), Fraction(7, 10**90)],
    ids=str,
)
def test_a_root_is_below_and_close(number: Fraction) -> None:
    root = root_below(number)
    assert root**2 <= number < (root * (1 + Fraction(1, 2**60))) ** 2
