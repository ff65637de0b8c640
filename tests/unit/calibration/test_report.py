from fractions import Fraction
from itertools import pairwise

import pytest
from mpmath import mp, mpf

from inbounds.calibration.report import MOST_ROWS, ReportTable, RowPrice
from inbounds.errors import ArgumentError

CASES = [
    (1.0, 0.125, 1, 1),
    (1.0, 1e-6, 1, 1),
    (1.0, 1e-6, 3, 2),
    (0.1, 1e-9, 2, 1),
    (7.0, 1e-12, 1, 2),
    (0.3, 0.2, 5, 2),
    (1e-9, 0.01, 1, 1),
    (64.0, 1e-30, 4, 1),
]


def exp_below(number: Fraction) -> Fraction:
    """A fraction below e to a positive number: terms of its series, all of which are positive."""
    term, total = Fraction(1), Fraction(1)
    for i in range(1, 80 + 4 * int(number)):
        term *= number / i
        total += term
    return total


@pytest.mark.parametrize(("epsilon", "delta", "rows", "sides"), CASES)
def test_each_row_changes_the_probabilities_by_its_price_and_no_more(
    epsilon: float, delta: float, rows: int, sides: int
) -> None:
    price = RowPrice.of(epsilon, delta, rows=rows, sides=sides)
    table = ReportTable.of(price)
    factor, excess = Fraction(2**192, price.ratio), Fraction(price.excess, 2**price.bits)
    parts = [Fraction(part, 2**table.bits) for part in table.parts]
    assert parts[0] == 0
    assert parts[-1] == 1
    for fewer, more in pairwise(parts):
        assert fewer < more
        assert more <= factor * fewer + excess
        assert 1 - fewer <= factor * (1 - more) + excess
        tighter = (factor * fewer + excess, 1 - (1 - fewer - excess) / factor, Fraction(1))
        assert min(tighter) - more <= Fraction(1, 2 ** (table.bits - 1))  # it uses all of its price


@pytest.mark.parametrize(("epsilon", "delta", "rows", "sides"), CASES)
def test_the_price_of_all_rows_adds_up_to_the_guarantee(
    epsilon: float, delta: float, rows: int, sides: int
) -> None:
    price = RowPrice.of(epsilon, delta, rows=rows, sides=sides)
    factor, excess = Fraction(2**192, price.ratio), Fraction(price.excess, 2**price.bits)
    above_one = factor ** (rows * sides)
    assert above_one <= exp_below(Fraction(epsilon)) * (1 + Fraction(1, 2**60))
    with mp.workdps(60):
        assert mpf(above_one.numerator) / above_one.denominator <= mp.exp(mpf(epsilon))
    used = sides * excess * sum(factor**i for i in range(rows))
    assert used <= Fraction(delta)
    assert used >= Fraction(delta) * (1 - Fraction(1, 10**9))


def test_probabilities_are_those_of_the_recursion() -> None:
    table = ReportTable.of(RowPrice.of(0.5, 1e-5, rows=1, sides=1))
    with mp.workdps(80):
        probability, e, d = mpf(0), mp.exp(mpf(0.5)), mpf(1e-5)
        for part in table.parts:
            assert abs(mpf(part) / mpf(2) ** table.bits - probability) < mpf(10) ** -40
            rising, falling = e * probability + d, 1 - (1 - probability - d) / e
            probability = min(rising, falling, mpf(1))


def test_the_numbers_of_the_docstring_are_right() -> None:
    for sides, half, whole in ((1, 14, 28), (2, 27, 54)):
        table = ReportTable.of(RowPrice.of(1.0, 1e-6, rows=1, sides=sides))
        assert table.chance(half) >= 2 ** (table.bits - 1) > table.chance(half - 1)
        assert table.chance(whole) == 2**table.bits > table.chance(whole - 1)


@pytest.mark.parametrize(
    ("epsilon", "delta", "rows"),
    [(1e100, 1e-9, 1), (700.0, 1e-9, 5), (1.0, 5e-324, 1), (1e-100, 0.25, 2), (20.0, 1e-9, 10**3)],
)
def test_extreme_guarantees_give_a_table_or_are_refused(
    epsilon: float, delta: float, rows: int
) -> None:
    table = ReportTable.of(RowPrice.of(epsilon, delta, rows=rows, sides=2))
    assert table.chance(1) > 0
    assert table.chance(rows) <= Fraction(delta) / 2 * 2**table.bits
    assert table.chance(10**18) == 2**table.bits


def test_a_guarantee_that_finds_no_groups_is_refused() -> None:
    with pytest.raises(ArgumentError, match="epsilon must be large enough"):
        ReportTable.of(RowPrice(2**192, 2**299, 320))  # 2**21 rows would be enough
    with pytest.raises(ArgumentError, match="epsilon must be large enough"):
        ReportTable.of(RowPrice.of(1e-100, 1e-9, rows=1, sides=2))
    with pytest.raises(ArgumentError, match="epsilon must be large enough"):
        ReportTable.of(RowPrice(2**192, 0, 320))
    assert len(ReportTable.of(RowPrice(2**192, 2**310, 320)).parts) <= MOST_ROWS
