"""Ledgers of schema versions 1 and 2 go on: read as they are, and migrated by a charge."""

import secrets
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

import inbounds as ib
from inbounds.accounting.ledger import Ledger
from inbounds.accounting.user import system_user
from inbounds.errors import LedgerError
from inbounds.guarantee import Amount
from inbounds.loss import PrivacyLoss

from . import postgresql, version_1, workers

PERSON, ROW, ADDED = ib.Unit("replace", "person"), ib.Unit("replace"), ib.Unit("add-remove")


@pytest.fixture(scope="module")
def server() -> Iterator[postgresql.Server]:
    with postgresql.server() as running:
        yield running


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A ledger that an older inbounds wrote."""
    if request.param == "sqlite":
        path = str(tmp_path / "budget.db")
        run(path, *version_1.sqlite())
        return path
    server: postgresql.Server = request.getfixturevalue("server")
    name = f"test_{secrets.token_hex(4)}"
    run(server.url, f"CREATE SCHEMA {name}")
    url = f"{server.url}&options=-csearch_path%3D{name}"
    run(url, *version_1.postgresql())
    return url


def run(place: str, *statements: str) -> list[Any]:
    """Run statements without inbounds, and return the rows of the last one."""
    if "://" not in place:
        with closing(sqlite3.connect(place, isolation_level=None)) as file:
            return [file.execute(statement).fetchall() for statement in statements][-1]
    url = place.replace("postgresql+psycopg://", "postgresql://")
    with psycopg.connect(url, autocommit=True) as connection:
        done = [connection.execute(statement) for statement in statements][-1]  # type: ignore[arg-type]
        return done.fetchall() if done.description else []


def version(place: str) -> int:
    ((newest,),) = run(place, "SELECT max(version) FROM ledger_schema_version")
    return int(newest)


def test_an_old_ledger_is_read_as_it_is(place: str) -> None:
    ledger = Ledger(place)
    assert ledger.verify("survey") == version_1.HEAD
    assert ledger.budget("survey").unit is None
    assert [record["unit"] for record in ledger.records("survey")] == [None, None]
    assert [record["user"] for record in ledger.records("survey")] == [None, None]
    assert [record["asked"] for record in ledger.records("survey")] == [None, None]
    assert ledger.would_fit(dataset="survey", rho=0.3)
    ledger.open("second", epsilon=1.0)
    assert version(place) == 1
    assert Ledger(place).verify("survey") == version_1.HEAD


def test_a_charge_migrates_and_says_who_asked_for_what(place: str) -> None:
    before = run(place, "SELECT * FROM ledger_charges ORDER BY number")
    other = Ledger(place)  # which goes on with its connection, and what it prepared
    assert other.verify("survey") == version_1.HEAD
    ledger = Ledger(place)
    ledger.spend("survey", rho=0.1)
    ledger.open("second", epsilon=1.0)
    ledger.release(workers.TENTH, 41.0, dataset="second", user="Ana")
    assert version(place) == 3
    assert ledger.remaining("survey") == Amount(rho=0.2)
    kept = run(place, "SELECT * FROM ledger_charges WHERE dataset = 'survey' ORDER BY number")
    assert [row[:8] for row in kept[:2]] == before
    assert [row[8:] for row in kept[:2]] == [(None, None), (None, None)]
    assert [record["user"] for record in other.records("survey")] == [None, None, system_user()]
    assert [record["asked"] for record in other.records("survey")] == [None, None, "rho=0.1"]
    (record,) = other.records("second")
    assert (record["user"], record["asked"]) == ("Ana", "epsilon=0.1")
    assert Ledger(place).verify("survey", expected_head=version_1.HEAD) == ledger.head("survey")


def test_a_ledger_of_version_2_is_migrated_by_its_next_charge(place: str) -> None:
    unit = "ALTER TABLE ledger_datasets ADD COLUMN unit TEXT"
    run(place, unit, "INSERT INTO ledger_schema_version VALUES (2)")
    ledger = Ledger(place)
    assert ledger.verify("survey") == version_1.HEAD
    ledger.open("people", epsilon=3.0)
    assert version(place) == 2
    ledger.spend("people", epsilon=0.5, unit=PERSON)
    assert version(place) == 3
    assert ledger.verify("survey") == version_1.HEAD
    assert Ledger(place).records("people")[0]["asked"] == "epsilon=0.5"


def test_a_dataset_that_was_charged_before_keeps_its_one_order(place: str) -> None:
    """Several orders divide delta, and what was released before may have used all of it."""
    ledger = Ledger(place)
    ledger.spend("survey", rho=0.1)
    assert ledger.budget("survey").one_order
    ledger.open("new", epsilon=1.0, delta=1e-6)
    ledger.spend("new", rho=0.001)
    assert not ledger.budget("new").one_order
    assert Ledger(place).budget("survey").one_order


def test_an_opening_with_a_unit_migrates_and_leaves_old_entries_as_they_are(place: str) -> None:
    before = run(place, "SELECT * FROM ledger_charges ORDER BY number")
    other = Ledger(place)  # which goes on with its connection, and what it prepared
    for _ in range(3):
        other.remaining("survey")
    Ledger(place).open("people", epsilon=3.0, unit=PERSON)
    assert version(place) == 3
    kept = run(place, "SELECT * FROM ledger_charges ORDER BY number")
    assert kept == [(*row, None, None) for row in before]
    assert other.budget("people").unit == PERSON
    assert other.budget("survey").unit is None
    other.spend("survey", rho=0.01)
    other.verify("survey", expected_head=version_1.HEAD)
    other.open("more", rho=1.0)
    assert Ledger(place).datasets() == ["more", "people", "survey"]
    assert Ledger(place).verify("people") == other.head("people")


def test_a_charge_with_a_unit_migrates_so_that_older_versions_refuse(place: str) -> None:
    ledger = Ledger(place)
    ledger.spend("survey", rho=0.01, unit=ADDED)
    assert version(place) == 3
    assert Ledger(place).budget("survey").unit == ADDED
    ledger.spend("survey", rho=0.01, unit=ADDED)
    assert version(place) == 3
    assert ledger.remaining("survey") == Amount(rho=0.28)


def test_a_charge_that_is_refused_migrates_nothing(place: str) -> None:
    with pytest.raises(ib.ArgumentError):
        Ledger(place).spend("survey", loss=PrivacyLoss.approximate(1.0, 0.1).about(ADDED))
    assert version(place) == 1
    assert Ledger(place).verify("survey") == version_1.HEAD


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE ledger_datasets SET unit = NULL",
        "UPDATE ledger_datasets SET unit = '{}' WHERE dataset = 'survey'",
        "DELETE FROM ledger_datasets",
        "UPDATE ledger_charges SET label = 'x'",
        "UPDATE ledger_charges SET asked_by = 'x'",
        "DELETE FROM ledger_schema_version WHERE version = 3",
        "UPDATE ledger_schema_version SET version = 2 WHERE version = 3",
    ],
)
def test_migrated_tables_refuse_to_change(place: str, statement: str) -> None:
    ledger = Ledger(place)
    ledger.open("people", epsilon=3.0, unit=PERSON)
    with pytest.raises(
        (sqlite3.IntegrityError, psycopg.errors.RaiseException), match="append-only"
    ):
        run(place, statement)
    ledger.verify("people")


@pytest.mark.parametrize(
    ("dataset", "unit"),
    [("people", "NULL"), ("people", "'" + ROW.to_json() + "'"), ("survey", "'{}'")],
)
def test_a_unit_that_was_changed_is_noticed(place: str, dataset: str, unit: str) -> None:
    Ledger(place).open("people", epsilon=3.0, unit=PERSON)
    change = f"UPDATE ledger_datasets SET unit = {unit} WHERE dataset = '{dataset}'"
    if "://" in place:
        run(place, "SET session_replication_role = replica", change)
    else:
        run(place, "DROP TRIGGER ledger_datasets_update", change)
    with pytest.raises(LedgerError, match="tampered with: its budget was changed"):
        Ledger(place).remaining(dataset)


def test_many_that_migrate_at_once_migrate_once(place: str) -> None:
    """Each by itself, on as many datasets and on the same one, while others only read."""

    def work(k: int) -> None:
        ledger = Ledger(place)
        if k % 3 == 0:
            ledger.open(f"opened by {k}", epsilon=3.0, unit=PERSON)
        elif k % 3 == 1:
            ledger.spend("survey", rho=0.001, unit=ROW)
        else:
            ledger.verify("survey")
            ledger.spend("survey", rho=0.001)

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(work, range(12)))
    assert run(place, "SELECT version FROM ledger_schema_version ORDER BY version") == [(1,), (3,)]
    ledger = Ledger(place)
    assert len(ledger.datasets()) == 5
    assert len(ledger.records("survey")) == 10
    assert ledger.budget("survey").unit == ROW
    ledger.verify("survey", expected_head=version_1.HEAD)


def test_whoever_may_not_migrate_is_told_who_may(server: postgresql.Server) -> None:
    name = f"test_{secrets.token_hex(4)}"
    url = f"{server.url}&options=-csearch_path%3D{name}"
    run(server.url, f"CREATE SCHEMA {name}")
    run(url, *version_1.postgresql())
    run(
        url,
        f"CREATE ROLE {name} LOGIN",
        f"GRANT USAGE ON SCHEMA {name} TO {name}",
        f"GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA {name} TO {name}",
    )
    theirs = Ledger(url.replace("tester@", f"{name}@"))
    theirs.spend("survey", rho=0.1)  # goes on without saying who asked
    assert version(url) == 1
    assert theirs.records("survey")[-1]["user"] is None
    theirs.open("first", epsilon=1.0, delta=1e-6)
    one_order_only = 0.024345  # several orders would refuse it
    assert theirs.would_fit(dataset="first", rho=one_order_only)
    theirs.spend("first", rho=one_order_only)
    for more in ({"unit": ROW}, {"user": "Ana"}):
        with pytest.raises(LedgerError, match=r"(?s)cannot be migrated.*Hint: the owner"):
            theirs.spend("survey", rho=0.1, **more)  # type: ignore[arg-type]
    Ledger(url).open("people", epsilon=3.0, unit=PERSON)
    theirs.spend("survey", rho=0.05, unit=ROW)
    theirs.spend("survey", rho=0.05, user="Ana")
    assert theirs.remaining("survey") == Amount(rho=0.1)
    users = [record["user"] for record in theirs.records("survey")]
    assert users == [None, None, None, system_user(), "Ana"]
    theirs.verify("survey", expected_head=version_1.HEAD)


@pytest.mark.parametrize(
    "change",
    ["asked = '{}'", "asked_by = 'Eve'", "asked_by = NULL", "asked = NULL, asked_by = NULL"],
)
def test_a_request_that_was_changed_is_noticed(place: str, change: str) -> None:
    Ledger(place).spend("survey", rho=0.1, user="Ana")
    statement = f"UPDATE ledger_charges SET {change} WHERE number = 3"
    if "://" in place:
        run(place, "SET session_replication_role = replica", statement)
    else:
        run(place, "DROP TRIGGER ledger_charges_update", statement)
    with pytest.raises(LedgerError, match="tampered with: entry 3 was changed"):
        Ledger(place).remaining("survey")
