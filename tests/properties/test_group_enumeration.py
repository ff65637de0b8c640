"""All neighbours, all outputs: which groups are found is as private as it says, in whole numbers.

A table is no more than the number of rows of each group. Replaced rows may come from no group and
go to none, so as many rows may leave groups as enter others, or fewer.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import chain, combinations, product
from math import exp

import pytest

from inbounds.calibration.report import ReportTable, RowPrice

Table = tuple[int, ...]
SIDES = {"add-remove": 1, "replace": 2}


def exp_below(number: float) -> Fraction:
    """A fraction below e to a positive number: terms of its series, all of which are positive."""
    term, total = Fraction(1), Fraction(1)
    for i in range(1, 200):
        term *= Fraction(number) / i
        total += term
    assert abs(float(total) / exp(number) - 1) < 1e-12
    return total


def neighbours(table: Table, adjacency: str, rows: int) -> Iterator[Table]:
    for change in product(range(-rows, rows + 1), repeat=len(table)):
        enter = sum(c for c in change if c > 0)
        leave = -sum(c for c in change if c < 0)
        far = enter + leave if adjacency == "add-remove" else max(enter, leave)
        other = tuple(a + b for a, b in zip(table, change, strict=True))
        if 0 < far <= rows and min(other) >= 0:
            yield other


def outputs(table: Table, report: ReportTable) -> list[int]:
    """The probability of each set of groups, in parts of 2 to the bits for each group."""
    whole, found = 2**report.bits, [1]
    for rows in table:
        part = report.chance(rows)
        found = [p * q for p in found for q in (part, whole - part)]
    return found


def worst_delta(
    report: ReportTable, groups: int, adjacency: str, rows: int, epsilon: float
) -> Fraction:
    """The largest delta at epsilon of any two neighbours: that of the worst set of outputs."""
    below = exp_below(epsilon)
    numerator, denominator = below.numerator, below.denominator
    known: dict[Table, list[int]] = {}
    worst = 0
    for table in product(range(len(report.parts) + 1), repeat=groups):
        for other in neighbours(table, adjacency, rows):
            one, two = (known.setdefault(t, outputs(t, report)) for t in (table, other))
            excess = sum(
                max(0, denominator * p - numerator * q) for p, q in zip(one, two, strict=True)
            )
            worst = max(worst, excess)
    return Fraction(worst, denominator * 2 ** (report.bits * groups))


CASES = [
    (2, "add-remove", 1, 1.0, 0.05),
    (2, "add-remove", 2, 1.0, 0.1),
    (2, "add-remove", 3, 2.0, 0.1),
    (3, "add-remove", 2, 3.0, 0.25),
    (2, "replace", 1, 1.0, 0.05),
    (2, "replace", 2, 2.0, 0.1),
    (2, "replace", 3, 4.0, 0.2),
    (3, "replace", 1, 3.0, 0.25),
    (3, "add-remove", 3, 20.0, 0.5),
    (4, "replace", 1, 8.0, 0.5),
]


@pytest.mark.parametrize(("groups", "adjacency", "rows", "epsilon", "delta"), CASES)
def test_no_neighbours_are_told_apart_by_more_than_was_asked(
    groups: int, adjacency: str, rows: int, epsilon: float, delta: float
) -> None:
    price = RowPrice.of(epsilon, delta, rows=rows, sides=SIDES[adjacency])
    worst = worst_delta(ReportTable.of(price), groups, adjacency, rows, epsilon)
    assert worst <= Fraction(delta)
    if adjacency == "add-remove":  # all rows in one group that did not exist use all of delta
        assert worst > Fraction(delta) * (1 - Fraction(1, 10**9))
    else:
        assert worst > Fraction(delta) * Fraction(4, 10)


def test_the_worst_set_of_outputs_is_the_worst_of_all_sets() -> None:
    """The check above takes the outputs that one neighbour makes likelier; here are all sets."""
    report = ReportTable.of(RowPrice.of(1.0, 0.1, rows=1, sides=2))
    below, whole = exp_below(1.0), 2 ** (2 * report.bits)
    worst = Fraction(0)
    for table in product(range(len(report.parts)), repeat=2):
        for other in neighbours(table, "replace", 1):
            one, two = outputs(table, report), outputs(other, report)
            sets = chain.from_iterable(combinations(range(4), many) for many in range(5))
            for chosen in sets:
                p, q = (Fraction(sum(t[i] for i in chosen), whole) for t in (one, two))
                worst = max(worst, p - below * q)
    # `worst_delta` tries tables with one row more, too, whose groups are all reported for sure
    assert worst == worst_delta(report, 2, "replace", 1, 1.0) <= Fraction(0.1)


def _replaced_once(epsilon: float, delta: float, rows: int) -> RowPrice:
    return RowPrice.of(epsilon, delta, rows=rows, sides=1)


def _rows_as_one(epsilon: float, delta: float, rows: int) -> RowPrice:
    return RowPrice.of(epsilon, delta, rows=1, sides=1)


def _divided(epsilon: float, delta: float, rows: int) -> RowPrice:
    right = RowPrice.of(epsilon, delta, rows=rows, sides=1)
    return RowPrice(right.ratio, int(Fraction(delta) * 2**right.bits / rows), right.bits)


def _undivided(epsilon: float, delta: float, rows: int) -> RowPrice:
    right = RowPrice.of(epsilon, delta, rows=rows, sides=1)
    return RowPrice(RowPrice.of(epsilon, delta, rows=1, sides=1).ratio, right.excess, right.bits)


WRONG = {
    "a replaced row counts once": ("replace", 1, _replaced_once),
    "delta is divided by the rows": ("add-remove", 3, _divided),
    "several rows count as one": ("add-remove", 2, _rows_as_one),
    "epsilon is not divided": ("add-remove", 3, _undivided),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_price_is_caught(what: str) -> None:
    adjacency, rows, price = WRONG[what]
    epsilon, delta = 1.0, 0.1
    worst = worst_delta(ReportTable.of(price(epsilon, delta, rows)), 2, adjacency, rows, epsilon)
    assert worst > Fraction(delta) * Fraction(11, 10)


def test_no_rule_by_the_number_of_rows_finds_more() -> None:
    """One step more at any place of the table exceeds the guarantee."""
    epsilon, delta = 1.0, 0.05
    report = ReportTable.of(RowPrice.of(epsilon, delta, rows=1, sides=1))
    for place in range(1, len(report.parts) - 1):
        parts = list(report.parts)
        parts[place] += (2**report.bits - parts[place]) // 1000
        more = ReportTable(tuple(parts), report.bits)
        assert worst_delta(more, 1, "add-remove", 1, epsilon) > Fraction(delta)
