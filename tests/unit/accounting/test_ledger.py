import math
import pickle
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import event

import inbounds as ib
from inbounds.accounting import store
from inbounds.accounting.budget import Budget
from inbounds.accounting.chain import Charge, digest
from inbounds.accounting.cost import Cost
from inbounds.accounting.ledger import Ledger
from inbounds.accounting.user import system_user
from inbounds.errors import ArgumentError, ArgumentTypeError, BudgetExceededError, LedgerError
from inbounds.guarantee import Amount
from inbounds.loss import PrivacyLoss
from inbounds.sampling.entropy import SYSTEM, SeededEntropy
from inbounds.unit import Unit

TENTH = ib.BoundedLaplace.calibrated(ib.Box(0, 120), 2.5, epsilon=0.1)
PLANE = ib.BoundedLaplace.calibrated(ib.Box([0, 0], [1, 1]), ib.L1(1), epsilon=0.1)
SECRET = 41.3125


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "budget.db"


@pytest.fixture
def ledger(path: Path) -> Ledger:
    ledger = Ledger(path)
    ledger.open("survey", epsilon=3.0)
    return ledger


class Untouchable:
    """Entropy that nobody may ask for."""

    def bits(self, count: int) -> int:
        raise AssertionError("noise was drawn")

    words = bits


class Watching:
    """Entropy that notes what another reader of the ledger sees when noise is drawn."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.seen: list[int] = []

    def bits(self, count: int) -> int:
        copy = self.path.with_name("copy.db")  # what would be left after a loss of power
        for suffix in ("", "-wal", "-journal"):
            source = self.path.with_name(self.path.name + suffix)
            if source.exists():
                shutil.copy(source, copy.with_name(copy.name + suffix))
        self.seen.append(len(Ledger(copy).records("survey")))
        return SYSTEM.bits(count)

    words = None


@pytest.mark.parametrize("kind", [pd.Series, pl.Series])
def test_a_column_comes_back_as_one(ledger: Ledger, kind: type) -> None:
    column = kind([3.0, 41.0])
    released = ledger.release(TENTH, column, dataset="survey")
    assert type(released) is type(column)
    assert ledger.records("survey")[0]["releases"] == 2


def test_a_column_with_nulls_is_refused_by_the_name_of_the_argument(ledger: Ledger) -> None:
    with pytest.raises(ArgumentError, match=r"^value must have no nulls"):
        ledger.release(TENTH, pd.Series([3.0, None]), dataset="survey")
    assert ledger.remaining("survey") == Amount(epsilon=3.0)


def test_a_column_that_cannot_be_rebuilt_is_not_charged(ledger: Ledger) -> None:
    class Fragile(pd.Series):  # type: ignore[misc]
        made = 0

        def __init__(self, *given: object, **named: object) -> None:
            Fragile.made += 1
            if Fragile.made > 1:
                raise RuntimeError("cannot be made again")
            super().__init__(*given, **named)

    with pytest.raises(RuntimeError, match="made again"):
        ledger.release(TENTH, Fragile([3.0, 41.0]), dataset="survey")
    assert ledger.remaining("survey") == Amount(epsilon=3.0)


def test_thirty_releases_of_a_tenth_fit_in_three_and_a_31st_does_not(ledger: Ledger) -> None:
    for _ in range(30):
        assert 0 <= ledger.release(TENTH, SECRET, dataset="survey") <= 120
    with pytest.raises(BudgetExceededError) as caught:
        ledger.release(TENTH, SECRET, dataset="survey", entropy=Untouchable())
    error = caught.value
    assert error.dataset == "survey"
    assert error.asked == Amount(epsilon=0.1)
    assert error.cost == Amount(epsilon=TENTH.epsilon)
    assert isinstance(error.remaining, Amount)
    assert (error.remaining.epsilon or 0) < 1e-13
    assert "'survey'" in str(error)
    assert str(error).endswith("too little for epsilon=0.1.")
    assert len(ledger.records("survey")) == 30
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.asked, copy.dataset) == (str(error), error.asked, "survey")
    assert copy.cost == error.cost


def test_the_charge_is_on_disk_when_the_first_bit_is_drawn(ledger: Ledger, path: Path) -> None:
    entropy = Watching(path)
    ledger.release(TENTH, SECRET, dataset="survey", entropy=entropy)
    ledger.release(TENTH, SECRET, dataset="survey", entropy=entropy)
    assert set(entropy.seen) == {1, 2}
    assert entropy.seen == sorted(entropy.seen)


@pytest.mark.parametrize(
    ("value", "options", "error"),
    [
        (math.nan, {}, ArgumentError),
        ([1.0, math.inf], {}, ArgumentError),
        ("41.3125", {}, ArgumentTypeError),
        ([], {}, ArgumentError),
        (SECRET, {"entropy": 7}, ArgumentTypeError),
        (SECRET, {"equaltime": True}, TypeError),
        (SECRET, {"label": "a\0"}, ArgumentError),
        (SECRET, {"dataset": "unknown"}, LedgerError),
    ],
)
def test_mistakes_cost_nothing_and_tell_nothing(
    ledger: Ledger, value: object, options: dict[str, object], error: type[Exception]
) -> None:
    with pytest.raises(error) as caught:
        ledger.release(TENTH, value, **{"dataset": "survey", **options})  # type: ignore[arg-type]
    assert "41.3" not in str(caught.value)
    assert ledger.records("survey") == []


def test_a_wrong_shape_costs_nothing(ledger: Ledger) -> None:
    with pytest.raises(ArgumentError, match="value must have a last axis of length 2"):
        ledger.release(PLANE, [1.0, 2.0, 3.0], dataset="survey")
    with pytest.raises(
        ArgumentTypeError, match=r"mechanism must be an inbounds mechanism, got float"
    ):
        ledger.release(0.1, SECRET, dataset="survey")  # type: ignore[arg-type]
    assert ledger.remaining("survey") == Amount(epsilon=3.0)


@pytest.mark.parametrize(
    ("mechanism", "value", "releases"),
    [
        (TENTH, SECRET, 1),
        (TENTH, [SECRET], 1),
        (TENTH, np.full((2, 3), SECRET), 6),
        (PLANE, [0.5, 0.5], 1),
        (PLANE, np.zeros((3, 2)), 3),
        (PLANE, np.zeros((2, 3, 2)), 6),
    ],
)
def test_every_element_or_row_is_charged(
    ledger: Ledger, mechanism: ib.BoundedLaplace, value: object, releases: int
) -> None:
    output = ledger.release(mechanism, value, dataset="survey")
    assert np.shape(output) == np.shape(value)
    (record,) = ledger.records("survey")
    assert record["releases"] == releases
    assert record["epsilon"] == pytest.approx(0.1 * releases, rel=1e-12)
    again = ledger.release(mechanism, value, dataset="survey", parallel=True)
    assert np.shape(again) == np.shape(value)
    *_, record = ledger.records("survey")
    assert record["releases"] == 1
    assert (f"in parallel on {releases} parts" in record["mechanism"]) is (releases > 1)


def test_an_array_that_does_not_fit_is_not_released_in_part(ledger: Ledger) -> None:
    with pytest.raises(BudgetExceededError, match=r"has epsilon=3\.0 left of epsilon=3\.0"):
        ledger.release(TENTH, np.zeros(31), dataset="survey", entropy=Untouchable())
    ledger.release(TENTH, np.zeros(31), dataset="survey", parallel=True)


def test_options_reach_the_mechanism(ledger: Ledger) -> None:
    outputs = [
        ledger.release(TENTH, SECRET, dataset="survey", entropy=SeededEntropy(1)) for _ in range(2)
    ]
    assert outputs[0] == outputs[1] == TENTH.release(SECRET, entropy=SeededEntropy(1))


def test_the_same_mechanism_lasts_longer_under_a_delta_and_under_rho(path: Path) -> None:
    m = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 2.5, epsilon=0.1)
    ledger = Ledger(path)
    ledger.open("approximate", epsilon=1.0, delta=1e-6)
    ledger.open("concentrated", rho=30 * 0.001)
    for dataset in ledger.datasets():
        ledger.release(m, np.zeros(30), dataset=dataset)
        with pytest.raises(BudgetExceededError):
            ledger.release(m, np.zeros(30), dataset=dataset)
    left = ledger.remaining("approximate")
    assert 0 < (left.epsilon or 0) < 0.2
    assert left.delta == 1e-6
    assert ledger.remaining("concentrated").rho == pytest.approx(0.03 - 30 * m.rho)


def test_spending_is_stated_in_four_ways(path: Path) -> None:
    ledger = Ledger(path)
    ledger.open("d", epsilon=1.0, delta=1e-6)
    ledger.spend("d", epsilon=0.1, delta=1e-7)
    ledger.spend("d", epsilon=0.1)
    ledger.spend("d", loss=PrivacyLoss.pure(0.2))
    assert ledger.remaining("d").epsilon == 0.6
    assert [row["delta"] for row in ledger.records("d")] == [1e-7, 0.0, 0.0]
    ledger.open("r", rho=0.5)
    ledger.spend("r", rho=0.3)
    with pytest.raises(ArgumentError, match="loss must have a finite rho"):
        ledger.spend("r", epsilon=0.1, delta=1e-7)
    assert ledger.remaining("r") == Amount(rho=0.2)


def test_opening_again_is_an_error_unless_it_changes_nothing(ledger: Ledger) -> None:
    ledger.spend("survey", epsilon=1.0)
    for budget in ({"epsilon": 3.0}, {"epsilon": 4.0}, {"rho": 3.0}):
        with pytest.raises(LedgerError, match=r"open already, with a budget of epsilon=3\.0"):
            ledger.open("survey", **budget)
    for other in ({"epsilon": 4.0}, {"epsilon": 3.0, "delta": 1e-9}, {"rho": 3.0}):
        with pytest.raises(LedgerError, match="cannot be changed"):
            ledger.open("survey", **other, exist_ok=True)
    ledger.open("survey", epsilon=3, exist_ok=True)
    assert ledger.remaining("survey") == Amount(epsilon=2.0)


def test_an_unknown_dataset_is_named_beside_those_that_are_known(ledger: Ledger) -> None:
    ledger.open("census", rho=1.0)
    uses: list[Callable[[], object]] = [
        lambda: ledger.remaining("Survey"),
        lambda: ledger.history("Survey"),
        lambda: ledger.spend("Survey", epsilon=0.1),
        lambda: ledger.verify("Survey"),
        lambda: ledger.head("Survey"),
    ]
    for use in uses:
        with pytest.raises(LedgerError, match=r"'Survey' is unknown. Known: 'census', 'survey'\."):
            use()


@settings(max_examples=8)
@given(
    limit=st.integers(1, 60),
    charges=st.lists(st.tuples(st.booleans(), st.integers(1, 20)), max_size=12),
)
def test_a_ledger_agrees_with_a_plain_sum(
    limit: int, charges: list[tuple[bool, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("model") / "budget.db"
    ledgers = [Ledger(path), Ledger(path)]
    ledgers[0].open("d", epsilon=limit / 100)
    spent = 0
    for which, amount in charges:
        if spent + amount <= limit:
            ledgers[which].spend("d", epsilon=amount / 100)
            spent += amount
        else:
            with pytest.raises(BudgetExceededError) as caught:
                ledgers[which].spend("d", epsilon=amount / 100)
            assert caught.value.remaining == Amount(epsilon=(limit - spent) / 100)
        assert ledgers[not which].remaining("d") == Amount(epsilon=(limit - spent) / 100)
    assert Ledger(path).verify("d") == ledgers[0].head("d")


@pytest.mark.parametrize(
    "lock", ["BEGIN EXCLUSIVE", "BEGIN IMMEDIATE", "BEGIN; SELECT * FROM ledger_charges"]
)
def test_a_locked_file_is_an_error_and_nothing_is_charged_or_drawn(
    ledger: Ledger, path: Path, lock: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.release(TENTH, SECRET, dataset="survey")
    ledger.close()
    monkeypatch.setattr(store, "_PATIENCE", 0.1)
    other = sqlite3.connect(path, isolation_level=None)
    for statement in lock.split("; "):
        other.execute(statement).fetchone()  # a reader lets others write, but not commit
    for _ in range(2):
        with pytest.raises(LedgerError, match=r"budget\.db failed: database is locked\."):
            ledger.release(TENTH, SECRET, dataset="survey", entropy=Untouchable())
    other.close()
    assert len(Ledger(path).records("survey")) == 1
    ledger.release(TENTH, SECRET, dataset="survey")
    assert len(Ledger(path).records("survey")) == 2


def test_a_full_database_is_an_error_and_nothing_is_charged_or_drawn(
    ledger: Ledger, path: Path
) -> None:
    def limit(connection: sqlite3.Connection, _: object) -> None:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count={pages}")

    event.listen(ledger._book.store._engine(create=False), "connect", limit)
    outputs: list[float] = []

    def fill() -> None:
        while True:  # the budget ends in time
            outputs.append(ledger.release(TENTH, SECRET, dataset="survey", label="x" * 1000))

    with pytest.raises(LedgerError, match="database or disk is full"):
        fill()
    with pytest.raises(LedgerError, match="database or disk is full"):
        ledger.release(TENTH, SECRET, dataset="survey", label="x" * 5000, entropy=Untouchable())
    assert len(Ledger(path).records("survey")) == len(outputs)
    assert Ledger(path).verify("survey") == ledger.verify("survey")


def test_threads_never_overdraw(ledger: Ledger) -> None:
    outcomes: list[str] = []

    def work() -> None:
        for _ in range(10):
            try:
                ledger.spend("survey", epsilon=0.15)
                outcomes.append("charged")
            except BudgetExceededError:
                outcomes.append("refused")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (outcomes.count("charged"), outcomes.count("refused")) == (20, 20)
    assert ledger.remaining("survey") == Amount(epsilon=0.0)


def test_a_copy_is_the_same_ledger(ledger: Ledger, path: Path) -> None:
    copy = pickle.loads(pickle.dumps(ledger))
    copy.spend("survey", epsilon=1.0)
    assert ledger.remaining("survey") == Amount(epsilon=2.0)
    assert repr(copy) == repr(ledger) == f"Ledger({str(path)!r})"
    with copy as inside:
        assert inside.budget("survey") == Budget(epsilon=3.0)


def tamper(path: Path, *statements: str) -> None:
    """Do what triggers would refuse."""
    connection = sqlite3.connect(path, isolation_level=None)
    triggers = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
    for (name,) in triggers.fetchall():
        connection.execute(f"DROP TRIGGER {name}")
    for statement in statements:
        connection.execute(statement)
    connection.close()


def append(path: Path, entry: Charge, head: str, cost: str) -> None:
    """Append an entry with a correct hash, as anyone with write access can."""
    names = [*Charge.__slots__, "hash"]
    values = [*(getattr(entry, name) for name in Charge.__slots__), entry.hash_after(head)]
    places = ", ".join("?" * len(names))
    with sqlite3.connect(path) as connection:
        known = connection.execute("SELECT 1 FROM ledger_costs WHERE digest = ?", (entry.cost,))
        if not known.fetchall():
            connection.execute("INSERT INTO ledger_costs VALUES (?, ?)", (entry.cost, cost))
        insert = f"INSERT INTO ledger_charges ({', '.join(names)}) VALUES ({places})"
        connection.execute(insert, values)
    connection.close()


SWAP = [
    f"UPDATE ledger_charges SET number = {new} WHERE number = {old}"
    for old, new in ((2, 99), (3, 2), (99, 3))
]


@pytest.mark.parametrize(
    "statements",
    [
        ["UPDATE ledger_charges SET label = 'x' WHERE number = 2"],
        ["""UPDATE ledger_charges SET asked = '{"epsilon":0.1}' WHERE number = 2"""],
        ["UPDATE ledger_charges SET asked = NULL WHERE number = 2"],
        ["UPDATE ledger_charges SET asked_by = 'somebody else' WHERE number = 2"],
        ["UPDATE ledger_charges SET asked_by = NULL WHERE number = 2"],
        ["UPDATE ledger_charges SET asked = NULL, asked_by = NULL WHERE number = 3"],
        ["UPDATE ledger_charges SET asked = asked_by, asked_by = asked WHERE number = 3"],
        ["UPDATE ledger_charges SET count = 0 WHERE number = 1"],
        ["UPDATE ledger_charges SET hash = '00' WHERE number = 4"],
        ["DELETE FROM ledger_charges WHERE number = 3"],
        ["DELETE FROM ledger_charges WHERE number = 1"],
        [
            "DELETE FROM ledger_charges WHERE number = 2",
            "UPDATE ledger_charges SET number = number - 1 WHERE number > 2",
        ],
        SWAP,
        ["UPDATE ledger_datasets SET epsilon = '300.0'"],
        ["UPDATE ledger_costs SET text = replace(text, '0.2', '0.1')"],
        ["DELETE FROM ledger_costs"],
    ],
)
def test_tampering_is_noticed_by_whoever_comes_next(
    ledger: Ledger, path: Path, statements: list[str]
) -> None:
    for k in range(4):
        ledger.spend("survey", epsilon=0.2, label=f"charge {k}")
    ledger.verify("survey")
    tamper(path, *statements)
    for use in (
        lambda: ledger.verify("survey"),
        lambda: Ledger(path).verify("survey"),
        lambda: Ledger(path).records("survey"),
        lambda: Ledger(path).spend("survey", epsilon=0.1),
        lambda: Ledger(path).open("survey", epsilon=3.0, exist_ok=True),
        lambda: Ledger(path).remaining("survey"),
    ):
        with pytest.raises(LedgerError, match="tampered"):
            use()


def test_whoever_may_append_cannot_take_charges_back(ledger: Ledger, path: Path) -> None:
    ledger.spend("survey", epsilon=3.0)
    refund = Cost.of(PrivacyLoss.pure(1.0)).to_json().replace('"epsilon":1.0', '"epsilon":-1.0', 1)
    entry = Charge("survey", 2, "2026-01-01", "", "", digest(refund), 1)
    append(path, entry, ledger.head("survey"), refund)
    for each in (ledger, Ledger(path)):
        with pytest.raises(LedgerError, match="tampered with: a cost cannot be read"):
            each.spend("survey", epsilon=0.5)


def test_a_dataset_is_named_by_text_only(path: Path) -> None:
    ledger = Ledger(path)
    ledger.open("5", epsilon=3.0)
    for use in (
        lambda: ledger.spend(5, epsilon=0.1),  # type: ignore[arg-type]
        lambda: ledger.release(TENTH, SECRET, dataset=5),  # type: ignore[arg-type]
        lambda: ledger.remaining(5),  # type: ignore[arg-type]
    ):
        with pytest.raises(ArgumentTypeError, match="dataset must be a string, got int"):
            use()
    assert Ledger(path).records("5") == []


def test_an_edit_while_a_ledger_is_in_use_does_not_change_what_it_counts(
    ledger: Ledger, path: Path
) -> None:
    for _ in range(3):
        ledger.spend("survey", epsilon=0.5)
    assert ledger.remaining("survey") == Amount(epsilon=1.5)
    tamper(path, "UPDATE ledger_charges SET count = 0 WHERE number = 1")
    with pytest.raises(BudgetExceededError):
        ledger.spend("survey", epsilon=1.6)
    with pytest.raises(LedgerError, match="entry 1 was changed"):
        ledger.records("survey")


def test_tampering_without_effect_is_no_false_alarm(ledger: Ledger, path: Path) -> None:
    ledger.spend("survey", epsilon=0.2)
    tamper(path, "UPDATE ledger_charges SET label = label")
    assert Ledger(path).verify("survey") == ledger.verify("survey")


def test_a_cut_tail_is_noticed_by_who_kept_the_head(ledger: Ledger, path: Path) -> None:
    ledger.spend("survey", epsilon=0.1)
    early = ledger.head("survey")
    ledger.spend("survey", epsilon=0.1)
    late = ledger.head("survey")
    ledger.spend("survey", epsilon=0.1)
    for head in (early, late, None):
        assert Ledger(path).verify("survey", expected_head=head) == ledger.head("survey")
    tamper(path, "DELETE FROM ledger_charges WHERE number >= 2")
    assert Ledger(path).verify("survey", expected_head=early) == early
    with pytest.raises(LedgerError, match="expected head is not in its history"):
        Ledger(path).verify("survey", expected_head=late)
    for use in (lambda: ledger.verify("survey"), lambda: ledger.spend("survey", epsilon=0.1)):
        with pytest.raises(LedgerError, match="entry 3 differs from what was read"):
            use()  # this one has seen more


def test_a_ledger_made_anew_is_noticed_by_who_kept_the_head(ledger: Ledger, path: Path) -> None:
    ledger.spend("survey", epsilon=0.1)
    head = ledger.head("survey")
    path.unlink()
    fresh = Ledger(path)
    fresh.open("survey", epsilon=3.0)
    with pytest.raises(LedgerError, match="expected head"):
        fresh.verify("survey", expected_head=head)
    with pytest.raises(LedgerError, match="its opening was replaced"):
        ledger.spend("survey", epsilon=0.1)


@pytest.mark.parametrize(
    ("package", "use", "hint"),
    [
        ("sqlalchemy", "import inbounds.accounting.ledger", "inbounds[ledger]"),
        (
            "pandas",
            "from inbounds.accounting.ledger import Ledger; Ledger('x.db').history('d')",
            "inbounds[frames]",
        ),
        (
            "psycopg",
            "from inbounds import Ledger; Ledger('postgresql+psycopg://a@b/c').datasets()",
            "inbounds[ledger]",
        ),
    ],
)
def test_a_missing_package_is_named_with_a_remedy(
    package: str, use: str, hint: str, tmp_path: Path
) -> None:
    script = f"import sys; sys.modules[{package!r}] = None; {use}"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 1
    assert f"needs the package {package}," in done.stderr.replace("SQLAlchemy", "sqlalchemy")
    assert done.stderr.endswith(f"Hint: pip install '{hint}'\n")


ROW, ADDED, PERSON = Unit("replace"), Unit("add-remove"), Unit("replace", "person")


def test_the_unit_of_a_dataset_is_kept_for_good(path: Path) -> None:
    Ledger(path).open("people", epsilon=3.0, unit=PERSON)
    ledger = Ledger(path)
    assert ledger.budget("people") == Budget(epsilon=3.0, unit=PERSON)
    assert repr(ledger.budget("people")) == "Budget(epsilon=3.0, unit=Unit('replace', 'person'))"
    assert "replace one person" in ledger.budget("people")._repr_html_()
    ledger.open("people", epsilon=3.0, unit=PERSON, exist_ok=True)
    ledger.open("people", epsilon=3.0, exist_ok=True)
    for other in (ROW, Unit("replace", "person", 2)):
        with pytest.raises(LedgerError, match=r"epsilon=3\.0 for 'replace one person', which"):
            ledger.open("people", epsilon=3.0, unit=other, exist_ok=True)
    with pytest.raises(ArgumentTypeError, match=r"^unit must be a Unit"):
        ledger.open("rows", epsilon=3.0, unit="row")  # type: ignore[arg-type]
    assert ledger.datasets() == ["people"]


def test_charges_of_another_unit_are_converted(path: Path) -> None:
    ledger = Ledger(path)
    ledger.open("rows", epsilon=3.0, unit=Unit("replace", "row", 3))
    ledger.spend("rows", epsilon=0.1, unit=ROW)
    ledger.spend("rows", epsilon=0.1, unit=ADDED)
    ledger.spend("rows", loss=PrivacyLoss.pure(0.1).about(ADDED))
    ledger.spend("rows", epsilon=0.1)
    ledger.release(TENTH, SECRET, dataset="rows", unit=ADDED)
    records = ledger.records("rows")
    assert [row["epsilon"] for row in records[:4]] == [0.3, 0.6, 0.6, 0.1]
    assert records[4]["epsilon"] == pytest.approx(6 * TENTH.epsilon)
    three = "replace up to 3 rows"
    assert [row["unit"] for row in records] == [three, three, three, None, three]
    assert records[1]["mechanism"] == "converted from 'add or remove one row'"
    assert records[4]["mechanism"] == f"{TENTH!r} converted from 'add or remove one row'"
    assert ledger.history("rows")["unit"].tolist()[0] == three
    for _ in range(3):  # as decimals: three times 0.1 is 0.3
        ledger.open("exact", epsilon=0.9, unit=Unit("replace", "row", 3), exist_ok=True)
        ledger.spend("exact", epsilon=0.1, unit=ROW)
    assert ledger.remaining("exact") == Amount(epsilon=0.0)


def test_what_cannot_be_converted_costs_nothing_and_is_not_drawn(path: Path) -> None:
    ledger = Ledger(path)
    ledger.open("people", epsilon=3.0, unit=PERSON)
    ledger.open("added", rho=3.0, unit=ADDED)
    refused: list[tuple[str, Callable[[], object]]] = [
        ("people", lambda: ledger.spend("people", epsilon=0.1, unit=ROW)),
        ("people", lambda: ledger.spend("people", loss=PrivacyLoss.pure(0.1).about(ROW))),
        ("added", lambda: ledger.spend("added", rho=0.1, unit=ROW)),
        (
            "people",
            lambda: ledger.release(
                TENTH, SECRET, dataset="people", unit=ROW, entropy=Untouchable()
            ),
        ),
        (
            "people",
            lambda: ledger.spend("people", loss=PrivacyLoss.pure(0.1).about(ROW), unit=PERSON),
        ),
    ]
    for dataset, use in refused:
        with pytest.raises(ArgumentError, match=r"^unit must ") as caught:
            use()
        assert "replace one row" in str(caught.value)
        assert str(ledger.budget(dataset).unit) in str(caught.value)
        assert caught.value.hint
        assert ledger.records(dataset) == []


def test_the_first_charge_that_states_a_unit_decides_for_a_dataset_without_one(
    ledger: Ledger, path: Path
) -> None:
    waiting = Ledger(path)
    assert waiting.budget("survey").unit is None
    ledger.spend("survey", epsilon=0.1)
    with pytest.raises(BudgetExceededError):
        ledger.spend("survey", epsilon=4.0, unit=PERSON)
    assert ledger.budget("survey").unit is None  # what was not charged decides nothing
    ledger.spend("survey", epsilon=0.1, unit=ROW)
    assert ledger.budget("survey").unit == Ledger(path).budget("survey").unit == ROW
    waiting.release(TENTH, SECRET, dataset="survey", unit=ADDED)
    assert waiting.records("survey")[-1]["epsilon"] == pytest.approx(0.2)
    with pytest.raises(ArgumentError, match=r"^unit must be of one row"):
        waiting.spend("survey", epsilon=0.1, unit=PERSON)
    ledger.open("survey", epsilon=3.0, unit=ROW, exist_ok=True)
    with pytest.raises(LedgerError, match="open already"):
        ledger.open("survey", epsilon=3.0, unit=PERSON, exist_ok=True)
    assert [row["unit"] for row in ledger.records("survey")] == [None, *2 * ["replace one row"]]


def test_a_first_release_that_is_converted_counts_by_its_own_curve(path: Path) -> None:
    m = ib.BoundedGaussian.calibrated(ib.Box(0, 1e4), 2.5, epsilon=0.5, delta=1e-9)
    assert m.epsilon > 1
    ledger = Ledger(path)
    ledger.open("replaced", epsilon=1.0, delta=1e-8, unit=ROW)
    ledger.release(m, SECRET, dataset="replaced", unit=ADDED)
    (record,) = ledger.records("replaced")
    assert record["cumulative"] <= 1.0
    ledger.open("small", epsilon=1.0, delta=2e-9, unit=ROW)  # 1 + e^0.5 times 1e-9 is more
    with pytest.raises(BudgetExceededError):
        ledger.release(m, SECRET, dataset="small", unit=ADDED, entropy=Untouchable())


def test_charges_of_two_units_that_somebody_appended_are_noticed(
    ledger: Ledger, path: Path
) -> None:
    ledger.spend("survey", epsilon=0.1, unit=ROW)
    cost = Cost.of(PrivacyLoss.pure(0.1).about(PERSON)).to_json()
    entry = Charge("survey", 2, "2026-01-01", "", "", digest(cost), 1)
    append(path, entry, ledger.head("survey"), cost)
    with pytest.raises(LedgerError, match="its charges refer to different units"):
        Ledger(path).spend("survey", epsilon=0.1)


def test_threads_that_decide_at_once_agree_on_one_unit(ledger: Ledger, path: Path) -> None:
    def work(unit: Unit) -> None:
        try:
            Ledger(path).spend("survey", epsilon=0.1, unit=unit)
        except ArgumentError:
            refused.append(unit)

    refused: list[Unit] = []
    threads = [threading.Thread(target=work, args=(unit,)) for unit in 4 * [ROW, PERSON]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    decided = ledger.budget("survey").unit
    assert decided in (ROW, PERSON)
    assert len(ledger.records("survey")) == 4
    assert refused == 4 * [PERSON if decided == ROW else ROW]


WIDE = ib.Box(0, 1e4)
ASKED = ib.BoundedGaussian.calibrated(WIDE, 2.5, epsilon=0.9, delta=1e-7)


def test_a_refusal_speaks_of_what_was_asked(path: Path) -> None:
    ledger = Ledger(path)
    ledger.open("d", epsilon=1.0, delta=1e-6)
    ledger.spend("d", epsilon=0.6)
    with pytest.raises(
        BudgetExceededError, match=r"too little for epsilon=0\.9, delta=1e-07: the"
    ) as caught:
        ledger.release(ASKED, SECRET, dataset="d", entropy=Untouchable())
    error = caught.value
    assert ASKED.epsilon > 100
    assert repr(ASKED.epsilon)[:5] not in str(error)
    assert error.asked == Amount(epsilon=0.9, delta=1e-7)
    assert isinstance(error.cost, Amount)
    assert 0.4 < (error.cost.epsilon or 0) < 2.0
    assert error.cost.delta == 1e-6
    with pytest.raises(
        BudgetExceededError, match=r"too little for 31 releases at epsilon=0\.1: the"
    ):
        ledger.release(TENTH, np.zeros(31), dataset="d")


def test_who_asked_is_the_account_or_the_one_who_is_named(path: Path) -> None:
    ledger = Ledger(path, user="Ana")
    ledger.open("d", epsilon=3.0)
    ledger.spend("d", epsilon=0.1)
    ledger.spend("d", loss=PrivacyLoss.pure(0.1), user="Бен")
    ledger.release(TENTH, SECRET, dataset="d", user="Chloé")
    pickle.loads(pickle.dumps(ledger)).release(
        ib.BoundedLaplace(ib.Box(0, 1), 1, 9.0), 0.5, dataset="d"
    )
    Ledger(path).spend("d", epsilon=0.25)
    records = ledger.records("d")
    assert [row["user"] for row in records] == ["Ana", "Бен", "Chloé", "Ana", system_user()]
    assert [row["asked"] for row in records] == [
        *("epsilon=0.1", None, "epsilon=0.1", None, "epsilon=0.25")
    ]


@pytest.mark.parametrize("user", ["", "a\nb", "x" * 201, 7])
def test_a_name_that_cannot_be_recorded_costs_nothing(
    ledger: Ledger, path: Path, user: object
) -> None:
    uses: list[Callable[[], object]] = [
        lambda: ledger.spend("survey", epsilon=0.1, user=user),  # type: ignore[arg-type]
        lambda: ledger.release(
            TENTH,
            SECRET,
            dataset="survey",
            user=user,
            entropy=Untouchable(),  # type: ignore[call-overload]
        ),
        lambda: Ledger(path, user=user),  # type: ignore[arg-type]
    ]
    for use in uses:
        with pytest.raises((ArgumentError, ArgumentTypeError), match=r"^user must "):
            use()
    assert ledger.records("survey") == []


@pytest.mark.parametrize("asked", ['{"epsilon":-1}', "{", '{"user":"Ana"}'])
def test_a_request_that_somebody_made_up_is_noticed(ledger: Ledger, path: Path, asked: str) -> None:
    ledger.spend("survey", epsilon=0.1)
    cost = Cost.of(PrivacyLoss.pure(0.1)).to_json()
    entry = Charge("survey", 2, "2026-01-01", "", "", digest(cost), 1, asked, "Eve")
    append(path, entry, ledger.head("survey"), cost)
    with pytest.raises(LedgerError, match="what was asked with entry 2 cannot be read"):
        Ledger(path).records("survey")


@given(
    spent=st.lists(st.sampled_from([0.05, 0.3, 0.7]), max_size=4),
    noise=st.integers(0, 3),
    new=st.sampled_from([0.01, 0.2, 0.5, 0.9]),
)
@settings(max_examples=15)
def test_what_would_fit_is_charged_and_costs_what_was_said(
    spent: list[float], noise: int, new: float, tmp_path_factory: pytest.TempPathFactory
) -> None:
    ledger = Ledger(tmp_path_factory.mktemp("fit") / "budget.db")
    ledger.open("d", epsilon=1.0, delta=1e-6)
    small = ib.BoundedGaussian(WIDE, 2.5, 60.0)
    for _ in range(noise):
        ledger.release(small, SECRET, dataset="d")
    for epsilon in spent:
        if ledger.would_fit(dataset="d", epsilon=epsilon):
            ledger.spend("d", epsilon=epsilon)
    uses: list[tuple[dict[str, Any], Callable[[], object]]] = [
        ({"epsilon": new}, lambda: ledger.spend("d", epsilon=new)),
        ({"release": small}, lambda: ledger.release(small, SECRET, dataset="d")),
        (
            {"release": TENTH, "releases": 3},
            lambda: ledger.release(TENTH, np.zeros(3), dataset="d"),
        ),
    ]
    for arguments, use in uses:
        head, before = ledger.head("d"), ledger.remaining("d")
        fit = ledger.would_fit(dataset="d", **arguments)
        assert ledger.head("d") == head
        if fit:
            use()
            assert ledger.remaining("d") == fit.remaining
            assert ledger.records("d")[-1]["charged"] == pytest.approx(fit.cost.epsilon)
        else:
            assert fit.remaining == before
            with pytest.raises(BudgetExceededError) as caught:
                use()
            assert (str(caught.value), caught.value.cost) == (fit.reason, fit.cost)


def test_a_dry_run_takes_the_same_arguments_as_the_charge(path: Path) -> None:
    ledger = Ledger(path)
    ledger.open("rows", epsilon=1.0, unit=ROW)
    fit = ledger.would_fit(TENTH, dataset="rows", unit=ADDED)
    assert fit.cost.epsilon == pytest.approx(0.2)
    assert ledger.would_fit(PrivacyLoss.pure(0.1).about(ADDED), dataset="rows").cost.epsilon == 0.2
    refused: list[dict[str, Any]] = [
        {"unit": PERSON, "epsilon": 0.1},
        {"rho": 0.1},
        {"epsilon": 0.1, "delta": 1e-6},
        {"release": TENTH, "epsilon": 0.1},
        {"release": 0.1},
        {"release": TENTH, "releases": 0},
        {},
    ]
    for arguments in refused:
        with pytest.raises((ArgumentError, ArgumentTypeError)):
            ledger.would_fit(dataset="rows", **arguments)
    assert ledger.records("rows") == []


def test_levels_are_charged_like_numbers(tmp_path: Path) -> None:
    ledger = ib.Ledger(tmp_path / "budget.db", user="A")
    ledger.open("survey", epsilon=3.0)
    smoker = ib.RandomizedResponse(["no", "yes"], epsilon=0.5)
    assert ledger.would_fit(smoker, dataset="survey", releases=6)
    assert not ledger.would_fit(smoker, dataset="survey", releases=7)
    assert ledger.release(smoker, "no", dataset="survey") in ("no", "yes")
    assert ledger.remaining("survey") == Amount(epsilon=2.5)
    assert ledger.release(smoker, ["no", "yes"], dataset="survey").shape == (2,)
    outputs = ledger.release(smoker, ["no"] * 900, dataset="survey", parallel=True)
    assert set(outputs.tolist()) == {"no", "yes"}  # false alarm below 1e-180
    assert ledger.remaining("survey") == Amount(epsilon=1.0)
    with pytest.raises(ib.BudgetExceededError, match=r"3 releases at epsilon=0\.5"):
        ledger.release(smoker, ["no"] * 3, dataset="survey")
    with pytest.raises(ib.ArgumentError, match=r"^value must hold levels") as caught:
        ledger.release(smoker, "secret", dataset="survey")
    assert "secret" not in str(caught.value)
    assert ledger.remaining("survey") == Amount(epsilon=1.0)
    first = ledger.records("survey")[0]
    assert first["mechanism"] == "RandomizedResponse(['no', 'yes'], epsilon=0.5)"
    assert (first["asked"], first["charged"]) == ("epsilon=0.5", 0.5)
    assert 2.0 <= ib.compose([(smoker, 4)]).pure < 2.0 + 1e-9
    ledger.close()
