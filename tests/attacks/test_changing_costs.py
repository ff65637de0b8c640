"""Objects that change what they cost, and names that look like others."""

import math
import pickle
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import inbounds as ib
from inbounds import Ledger, Unit
from inbounds.accounting import name
from inbounds.errors import ArgumentError, BudgetExceededError, InBoundsError, LedgerError
from inbounds.loss import PrivacyLoss


class Changing:
    """A mechanism of another library, which can be turned up; equal to all of its kind."""

    def __init__(self, epsilon: float) -> None:
        self.epsilon = epsilon

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Changing)

    def __hash__(self) -> int:
        return 1

    def loss(self) -> PrivacyLoss:
        return PrivacyLoss.pure(self.epsilon)


class Disguised(PrivacyLoss):
    """A loss that says it equals every other."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 1


def test_a_mechanism_whose_loss_changed_costs_what_it_costs_now() -> None:
    mechanism = Changing(0.1)
    assert ib.compose([mechanism]).pure == pytest.approx(0.1)
    mechanism.epsilon = 10.0
    assert ib.compose([mechanism]).pure == pytest.approx(10)
    assert ib.compose([Changing(0.1), Changing(10.0)]).pure == pytest.approx(10.1)


def test_a_mechanism_that_changes_while_it_is_counted_is_asked_each_time() -> None:
    mechanism = Changing(0.1)

    def turned_up() -> Any:
        yield mechanism
        mechanism.epsilon = 10.0
        yield mechanism

    assert ib.compose(turned_up()).pure == pytest.approx(10.1)


class Passing(tuple):  # type: ignore[type-arg]
    """A pair whose mechanism is made when it is asked for, and forgotten then."""

    def __iter__(self) -> Any:
        yield Changing(self[0])
        yield self[1]


class Counting:
    """A mechanism that costs more each time it is asked."""

    epsilon = 0.0

    def loss(self) -> PrivacyLoss:
        self.epsilon += 0.5
        return PrivacyLoss.pure(self.epsilon)


@pytest.mark.parametrize("kind", [list, tuple, iter])
def test_mechanisms_that_live_one_after_the_other_in_one_place_are_told_apart(kind: Any) -> None:
    epsilons = [0.1, 0.1, 10.0, 10.0] * 5
    pairs = kind([Passing((epsilon, 1)) for epsilon in epsilons])
    assert ib.compose(pairs).pure == pytest.approx(sum(epsilons))


@pytest.mark.parametrize("kind", [list, tuple, iter])
def test_a_mechanism_that_costs_more_each_time_is_asked_each_time(kind: Any) -> None:
    mechanism = Counting()
    assert ib.compose(kind([mechanism, (mechanism, 2), mechanism])).pure == pytest.approx(4.0)


@settings(max_examples=100, deadline=None)
@given(
    mus=st.lists(
        st.tuples(st.floats(5e-324, 1e308) | st.just(5e-324), st.integers(1, 10**15)), min_size=1
    )
)
@example(mus=[(1e-170, 1)])
@example(mus=[(1e200, 1)])
@example(mus=[(5e-324, 2)])
def test_gaussian_costs_are_never_added_up_to_less(mus: list[tuple[float, int]]) -> None:
    total = ib.compose([(PrivacyLoss(math.inf, mu, math.inf, ()), n) for mu, n in mus]).gdp
    squares = sum(n * Fraction(mu) ** 2 for mu, n in mus)
    assert total == math.inf or Fraction(total) ** 2 >= squares
    least = max(Fraction(0), Fraction(min(total, 1.7e308)) - 3 * Fraction(5e-324))
    assert least**2 <= squares * (1 + Fraction(1, 10**9))


@pytest.mark.parametrize(
    "numbers",
    [
        (10**400, 1.0, 1.0, ()),
        ("1", 1.0, 1.0, ()),
        (1.0, None, 1.0, ()),
        (1.0, 1.0, True, ()),
        (1.0, 1.0, 1.0, ((0.0, "0.5"),)),
        (1.0, 1.0, 1.0, ((0.0, 1.0), (math.nan, 0.0), (2.0, 0.0))),
        (1.0, 1.0, 1.0, ((0.0,),)),
        (1.0, 1.0, 1.0, 7),
    ],
    ids=str,
)
def test_a_loss_that_is_none_is_refused_in_our_words(numbers: Any) -> None:
    with pytest.raises(InBoundsError, match="must be"):
        PrivacyLoss(*numbers)


def test_costs_beyond_all_doubles_are_infinite() -> None:
    together = ib.compose([PrivacyLoss.pure(1e308), PrivacyLoss.pure(1.1e308)])
    assert together.pure == together.rho == math.inf


def test_losses_that_claim_to_be_equal_are_counted_by_their_numbers() -> None:
    one, other = (
        Disguised(loss.epsilon, loss.mu, loss.rho, loss.profile)
        for loss in (PrivacyLoss.pure(0.1), PrivacyLoss.pure(10.0))
    )
    together = ib.compose([one, other])
    assert together.pure == pytest.approx(10.1)
    assert together.epsilons(1e-6)["PLD"] > 9


NAMES = [("\u00e9", "e\u0301"), ("s", "s "), ("a b", " a  b"), ("\u00c5", "\u212b")]


@pytest.mark.parametrize(("kept", "twin"), NAMES)
def test_one_name_however_written_has_one_budget(tmp_path: Path, kept: str, twin: str) -> None:
    ledger = ib.Ledger(tmp_path / "budget.db")
    ledger.open(kept, epsilon=1.0)
    with pytest.raises(LedgerError, match="open already"):
        ledger.open(twin, epsilon=1.0)
    ledger.spend(twin, epsilon=0.75)
    assert ledger.remaining(kept).epsilon == 0.25
    assert ledger.datasets() == [kept]
    with pytest.raises(ib.BudgetExceededError):
        ledger.spend(kept, epsilon=0.5)
    assert ledger.verify(twin) == ledger.head(kept)


@pytest.mark.parametrize("twin", ["Survey", "ѕurvey", "ｓurvey", "sur\u200bvey", "sur\ufe0fvey"])
def test_a_name_that_looks_like_another_opens_no_budget(tmp_path: Path, twin: str) -> None:
    ledger = ib.Ledger(tmp_path / "budget.db")
    ledger.open("survey", epsilon=1.0)
    with pytest.raises(InBoundsError, match="dataset"):
        ledger.open(twin, epsilon=1.0, exist_ok=True)
    assert ledger.datasets() == ["survey"]


def test_names_of_an_old_ledger_stay_reachable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both 's' and 's ' were opened before names were put in one form."""
    old, new = ib.Ledger(tmp_path / "budget.db"), ib.Ledger(tmp_path / "budget.db")
    with monkeypatch.context() as patch:
        patch.setattr(name, "canonical", lambda text: text)
        patch.setattr(name, "check_new", lambda *_: None)
        old.open("s", epsilon=1.0)
        old.open("s ", epsilon=2.0)
        old.open("e\u0301", epsilon=3.0)
    assert [new.budget(text).epsilon for text in ("s", "s ", "e\u0301")] == [1, 2, 3]
    new.spend("s ", epsilon=0.5)
    assert (new.remaining("s").epsilon, new.remaining("s ").epsilon) == (1.0, 1.5)


class Cheap(PrivacyLoss):
    """A loss that says other things of itself than its numbers."""

    def to_json(self) -> str:
        return PrivacyLoss.pure(1e-9).to_json()

    def converted(self, to: Unit) -> PrivacyLoss:
        return PrivacyLoss.pure(1e-9).about(to)


@pytest.mark.parametrize("unit", [None, Unit("add-remove")])
def test_a_ledger_charges_a_loss_by_its_numbers(tmp_path: Path, unit: Unit | None) -> None:
    ledger = Ledger(tmp_path / "budget.db")
    ledger.open("survey", rho=1.0, unit=unit and Unit("replace"))
    loss = Cheap(0.6, 0.6, 0.2 if unit else 0.6, (), unit)  # ρ of a group of two is 4 times ρ
    ledger.spend("survey", loss=loss)
    with pytest.raises(BudgetExceededError):
        ledger.spend("survey", loss=loss)


def test_a_pickled_loss_is_checked(tmp_path: Path) -> None:
    loss = PrivacyLoss.pure(0.5)
    forged = pickle.dumps(loss).replace(struct.pack(">d", loss.rho), struct.pack(">d", -3.0))
    with pytest.raises(ArgumentError):
        pickle.loads(forged)
    assert pickle.loads(pickle.dumps(loss.about(Unit("replace")))) == loss.about(Unit("replace"))


def test_a_unit_is_what_its_text_says() -> None:
    class Sly(str):
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            return True

        def __str__(self) -> str:
            return self

    with pytest.raises(ArgumentError):
        Unit(Sly("zzz"), "row")  # type: ignore[arg-type]
    person = PrivacyLoss.pure(0.1).about(Unit("replace", Sly("person")))
    with pytest.raises(ArgumentError):
        person.converted(Unit("replace", "row"))


def test_the_largest_units_are_converted() -> None:
    loss = PrivacyLoss.pure(1.0).about(Unit("replace", "row", 6 * 10**14))
    assert loss.converted(Unit("replace", "row", 10**15)).epsilon == 2.0


@dataclass(frozen=True)
class FrozenAround:
    """Frozen itself, but not what it holds."""

    state: list[float]

    def loss(self) -> PrivacyLoss:
        return PrivacyLoss.pure(self.state[0])


def test_what_a_frozen_object_holds_may_change_between_two_releases() -> None:
    def session() -> Iterator[FrozenAround]:
        mechanism = FrozenAround([0.1])
        yield mechanism
        mechanism.state[0] = 10.0
        yield mechanism

    assert ib.compose(session()).pure >= 10.1
