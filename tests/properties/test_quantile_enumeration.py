"""Every small table against every neighbour, in exact fractions, through the library's own code.

What is compared are the probabilities of all that is released, with the epsilon that the ledger is
charged. docs/proofs/quantiles.md, theorems 1 to 10.
"""

import math
from fractions import Fraction
from typing import Any

import pytest
from flint import fmpq

from inbounds.frames.central import recursion
from inbounds.frames.central.allowance import Allowance
from inbounds.frames.central.change import Neighbours
from inbounds.frames.central.ladder import MISS, LadderEnd, places
from inbounds.frames.central.plan import Plan, rows_beyond
from inbounds.frames.central.points import Grid
from inbounds.frames.central.quantile import Quantile, quantile
from inbounds.frames.central.recursion import Part

from .enumeration import (
    Law,
    Outcomes,
    Rows,
    added,
    counted,
    flipped,
    log_ratio,
    replaced,
    spread,
    tables,
    weighted,
)

PUBLIC = Neighbours("replace", 1, True, 1)
PRIVATE = Neighbours("replace", 1, False, 1)
GROUPS = Neighbours("replace", 1, False, 2)
ADDED = Neighbours("add-remove", 1, False, 1)


def plan(
    last: int, changes: Neighbours, amount: Fraction, *, rho: bool = False, **asked: Any
) -> Plan:
    statistic = quantile("x", asked.pop("q", 0.5), 0, last, **asked)
    assert isinstance(statistic, Quantile)
    return Plan(statistic, Grid(0.0, float(last), last, True), changes, Allowance(amount, rho))


def laws(outcomes: Outcomes, made: Plan, sizes: range) -> dict[Rows, Law]:
    return {
        rows: outcomes.law(lambda rows=rows: tuple(made.draw(counted(rows))))  # type: ignore[misc]
        for rows in tables(made.grid.steps, sizes)
    }


def worst(
    found: dict[Rows, Law], neighbours: Any, last: int, bound: Fraction
) -> tuple[float, float]:
    """The largest logarithm of a quotient, which must be within a bound, and the widest range."""
    largest, widest = 0.0, 0.0
    for rows, law in found.items():
        for other in neighbours(rows, last) & found.keys():
            low, high = spread(law, found[other], bound)
            largest, widest = max(largest, high, -low), max(widest, high - low)
    return largest, widest


@pytest.mark.parametrize("rho", [False, True], ids=["pure", "rho"])
@pytest.mark.parametrize("q", [0.5, 1 / 3, 0.81])
@pytest.mark.parametrize("changes", [PUBLIC, ADDED, PRIVATE], ids=["public", "added", "private"])
def test_one_quantile_costs_what_is_charged_and_hardly_less(
    changes: Neighbours, q: float, rho: bool, monkeypatch: Any
) -> None:
    neighbours = added if changes is ADDED else replaced
    tight = 0.5 if changes is PRIVATE else 0.9
    made = plan(3, changes, Fraction(2), q=q, rho=rho, interval=False)
    (cost,) = made.costs()
    found = laws(Outcomes(monkeypatch), made, range(0 if changes is ADDED else 4, 5))
    largest, widest = worst(found, neighbours, 3, cost.epsilon)
    assert largest > tight * float(cost.epsilon) / (2 if q != 0.5 else 1)
    if rho:  # the exponential mechanism has bounded range, and rho is its square over 8
        assert widest <= cost.epsilon + 1e-9
        assert cost.rho <= 2
        assert math.isclose(cost.rho, 2, rel_tol=1e-12)


@pytest.mark.parametrize(
    ("changes", "rho"), [(PUBLIC, False), (ADDED, False), (PRIVATE, True)], ids=str
)
def test_a_quantile_with_its_interval_costs_what_is_charged(
    changes: Neighbours, rho: bool, monkeypatch: Any
) -> None:
    made = plan(3, changes, Fraction(24), q=0.75, rho=rho)
    neighbours = added if changes is ADDED else replaced
    found = laws(Outcomes(monkeypatch), made, range(2 if changes is ADDED else 4, 5))
    total = sum((cost.epsilon for cost in made.costs()), Fraction(0))
    largest, _ = worst(found, neighbours, 3, total)
    assert largest > 0.3 * total
    for law in found.values():
        for (drawn,) in law:
            assert drawn.ends[0] <= drawn.point <= drawn.ends[1]


def test_two_rows_of_one_person_cost_what_is_charged(monkeypatch: Any) -> None:
    made = plan(2, Neighbours("add-remove", 2, False, 1), Fraction(2), interval=False)
    found = laws(Outcomes(monkeypatch), made, range(5))
    two_more = lambda rows, last: {b for a in added(rows, last) for b in added(a, last)}  # noqa: E731
    largest, _ = worst(found, two_more, 2, Fraction(2))
    assert largest > 1.8


def test_a_row_that_changes_its_group_is_paid_for_in_both(monkeypatch: Any) -> None:
    made = plan(3, GROUPS, Fraction(2), interval=False)
    found = laws(Outcomes(monkeypatch), made, range(5))
    leaves, _ = worst(found, added, 3, Fraction(1))
    stays, _ = worst(found, replaced, 3, Fraction(2))
    assert leaves > 0.9
    assert stays > 1.5


@pytest.mark.parametrize(
    ("changes", "amount"),
    [(PUBLIC, Fraction(12)), (ADDED, Fraction(300))],
    ids=str,
)
def test_the_recursion_costs_what_is_charged_and_is_in_order(
    changes: Neighbours, amount: Fraction, monkeypatch: Any
) -> None:
    monkeypatch.setattr(recursion, "CUTS", 2)  # with 256 there are too many outcomes
    made = plan(2, changes, amount, q=[0.2, 0.4, 0.6, 0.8])
    outcomes = Outcomes(monkeypatch)
    found = laws(outcomes, made, range(0 if changes is ADDED else 3, 4))
    largest, _ = worst(found, added if changes is ADDED else replaced, 2, amount)
    assert largest > 0.2 * amount
    for law in found.values():
        for drawn in law:
            points = [one.point for one in drawn]  # type: ignore[attr-defined]
            assert points == sorted(points)


@pytest.mark.parametrize("order", [1.5, 2, 8, 64])
def test_renyi_divergences_are_at_most_what_rho_allows(order: float, monkeypatch: Any) -> None:
    made = plan(3, ADDED, Fraction(1), q=0.75, rho=True, interval=False)
    found = laws(Outcomes(monkeypatch), made, range(5))
    largest = 0.0
    for rows, law in found.items():
        for other in added(rows, 3) & found.keys():
            for one, two in ((law, found[other]), (found[other], law)):
                moment = math.fsum(
                    math.exp(log_ratio(one[k], fmpq(1)) + (order - 1) * log_ratio(one[k], two[k]))
                    for k in one
                )
                largest = max(largest, math.log(moment) / (order - 1))
    assert largest <= order * (1 + 1e-12)
    assert order > 8 or largest > 0.2 * order


def test_permute_and_flip_has_no_bounded_range(monkeypatch: Any) -> None:
    """So rho = epsilon²/8 would be wrong for it."""
    made = plan(3, PUBLIC, Fraction(2), interval=False)
    _, widest = worst(laws(Outcomes(monkeypatch), made, range(4, 5)), replaced, 3, Fraction(2))
    assert widest > 2.5


def ends_of(
    end: LadderEnd, rows: Rows, centre: int, last: int, side: Any
) -> tuple[Law, list[bool]]:
    """The exact probabilities of places, and which of them are beyond every sample quantile."""
    ladder = places(centre, last, side)
    beyond, total = rows_beyond(Part(*counted(rows), 0, last), ladder, side)
    weights = end.weights(beyond, total, side)
    used = [i for i, weight in enumerate(weights) if weight]  # others are never drawn
    kind = flipped if end.willing else weighted
    law = kind([1] * len(used), [weights[i] for i in used])
    t = end.q * total
    least = max(1, math.floor(t)) if side < 0 else total + 1 - min(total, math.ceil(t) + 1)
    valid = [not rows or many <= least - 1 for many in beyond]
    return {used[i]: p for (i, _), p in law}, valid


@pytest.mark.parametrize(
    ("q", "willing"),
    [
        (Fraction(1, 2), False),
        (Fraction(4, 5), True),
        (Fraction(81, 100), False),
        (Fraction(81, 100), True),
    ],
    ids=str,
)
@pytest.mark.parametrize("public", [True, False], ids=["public", "private"])
def test_an_end_costs_what_it_may_and_misses_as_rarely_as_stated(
    public: bool, q: Fraction, willing: bool
) -> None:
    """With ranks rounded to units, and what one row moves not rounded up, 4 would be 4.375."""
    last, cost = (4, Fraction(8)) if public else (3, Fraction(4))
    end = LadderEnd(q, cost, public, willing)
    largest, miss = 0.0, fmpq(0)
    for centre in range(last + 1):
        for side in (-1, 1):
            found = {}
            for rows in tables(last, range(5, 6) if public else range(7)):
                found[rows], valid = ends_of(end, rows, centre, last, side)
                missed = [p for i, p in found[rows].items() if not valid[i]]  # type: ignore[call-overload]
                miss = max(miss, sum(missed, fmpq(0)))
            neighbours = replaced if public else added
            largest = max(largest, worst(found, neighbours, last, cost)[0])
    assert largest > 0.9 * cost
    assert 0 < miss <= fmpq(MISS.numerator, MISS.denominator)
    if not public:
        within = end.within_group()
        for side in (-1, 1):
            found = {
                rows: ends_of(end, rows, 1, last, side)[0] for rows in tables(last, range(5, 6))
            }
            worst(found, replaced, last, cost * within)


@pytest.mark.parametrize("public", [True, False], ids=["public", "private"])
def test_few_rows_have_the_whole_range_for_an_interval(public: bool) -> None:
    end = LadderEnd(Fraction(1, 2), Fraction(1), public, True)
    for rows in tables(3, range(1 if public else 0, 3)):
        law, _ = ends_of(end, rows, 2, 3, 1)
        assert law[1] > fmpq(19, 20)
