"""A ledger on a real PostgreSQL server, which the tests start."""

import itertools
import random
import secrets
import threading
import time
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from inbounds.accounting import schema, store
from inbounds.accounting.ledger import Ledger
from inbounds.errors import BudgetExceededError, LedgerError
from inbounds.guarantee import Amount

from . import postgresql, workers

KILLS = 20
DROPS = 20


@pytest.fixture(scope="module")
def server() -> Iterator[postgresql.Server]:
    with postgresql.server() as running:
        yield running


@pytest.fixture
def url(server: postgresql.Server) -> str:
    """A schema of its own for each test: the first that is looked in."""
    name = f"test_{secrets.token_hex(4)}"
    run(server.url, f"CREATE SCHEMA {name}")
    return f"{server.url}&options=-csearch_path%3D{name}"


@pytest.fixture
def ledger(url: str) -> Ledger:
    ledger = Ledger(url)
    ledger.open("survey", epsilon=3.0)
    for k in range(3):
        ledger.spend("survey", epsilon=0.1, label=f"charge {k}")
    return ledger


def plain(url: str) -> str:
    return url.replace("postgresql+psycopg://", "postgresql://")


def run(url: str, *statements: str) -> None:
    with psycopg.connect(plain(url), autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)  # type: ignore[arg-type]


def test_eight_processes_that_race_spend_exactly_the_budget(url: str) -> None:
    code, output, errors = workers.finish(workers.start("race", url, 8))
    assert (code, errors) == (0, "")
    workers.check_race(url, output)


def test_killing_processes_leaves_no_release_that_is_not_charged(url: str) -> None:
    Ledger(url).open("survey", epsilon=1e6)
    code, output, errors = workers.finish(workers.start("killed", url, KILLS))
    assert (code, errors) == (0, "")
    workers.check_killed(url, output, KILLS)


def test_a_process_killed_before_the_draw_has_paid_and_got_nothing(
    url: str, ledger: Ledger
) -> None:
    assert workers.finish(workers.start("die_at_the_draw", url)) == (-9, "", "")
    assert ledger.remaining("survey").epsilon == pytest.approx(2.2)
    assert len(ledger.records("survey")) == 4


def test_history_and_budget_read_as_on_a_file(url: str, ledger: Ledger) -> None:
    assert ledger.history("survey")["label"].tolist() == ["charge 0", "charge 1", "charge 2"]
    with pytest.raises(BudgetExceededError, match=r"has epsilon=2\.7 left"):
        ledger.spend("survey", epsilon=2.71)
    ledger.spend("survey", epsilon=2.7, label="Größe, 年龄 '; DROP TABLE ledger_charges; --")
    assert Ledger(url).remaining("survey") == Amount(epsilon=0.0)
    with pytest.raises(LedgerError, match="Known: 'survey'"):
        ledger.remaining("Survey")


def test_a_database_without_a_ledger_is_refused(url: str) -> None:
    with pytest.raises(LedgerError, match="there is no ledger in"):
        Ledger(url).spend("survey", epsilon=0.1)
    with pytest.raises(LedgerError, match="there is no ledger in"):
        Ledger(url, create=False).open("survey", epsilon=0.1)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE ledger_charges SET label = 'x'",
        "DELETE FROM ledger_charges WHERE number = 2",
        "TRUNCATE ledger_charges",
        "UPDATE ledger_datasets SET epsilon = '300.0'",
        "TRUNCATE ledger_datasets CASCADE",
        "DELETE FROM ledger_costs",
        "UPDATE ledger_schema_version SET version = 0",
    ],
)
def test_tables_refuse_to_change(url: str, ledger: Ledger, statement: str) -> None:
    with pytest.raises(psycopg.errors.RaiseException, match="append-only"):
        run(url, statement)
    ledger.verify("survey")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE ledger_charges SET label = 'x' WHERE number = 2",
        "DELETE FROM ledger_charges WHERE number = 2",
        "UPDATE ledger_datasets SET epsilon = '300.0'",
    ],
)
def test_tampering_is_noticed(url: str, ledger: Ledger, statement: str) -> None:
    run(url, "SET session_replication_role = replica", statement)  # triggers are off
    for use in (
        lambda: ledger.verify("survey"),
        lambda: Ledger(url).spend("survey", epsilon=0.1),
    ):
        with pytest.raises(LedgerError, match="tampered"):
            use()


def test_a_careless_server_is_told_to_be_careful(url: str, ledger: Ledger) -> None:
    careless = url + (
        "%20-csynchronous_commit%3Doff%20-cdefault_transaction_isolation%3Dserializable"
    )
    with store.Store(careless).reading() as connection:
        assert connection.exec_driver_sql("SHOW synchronous_commit").scalar() == "off"
    with store.Store(careless).writing("survey") as connection:
        assert connection.exec_driver_sql("SHOW synchronous_commit").scalar() == "on"
        isolation = connection.exec_driver_sql("SHOW transaction_isolation").scalar()
        assert isolation == "read committed"
    Ledger(careless).spend("survey", epsilon=0.1)
    assert ledger.remaining("survey") == Amount(epsilon=2.6)


def test_the_right_to_insert_and_read_is_enough(url: str, ledger: Ledger) -> None:
    schema = url.rpartition("%3D")[2]
    run(
        url,
        f"CREATE ROLE {schema} LOGIN",
        f"GRANT USAGE ON SCHEMA {schema} TO {schema}",
        f"GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA {schema} TO {schema}",
    )
    theirs = url.replace("tester@", f"{schema}@")
    Ledger(theirs).spend("survey", epsilon=0.7, label="a new cost")
    Ledger(theirs).open("second", rho=1.0)
    assert ledger.remaining("survey") == Amount(epsilon=2.0)
    for statement in (
        "DELETE FROM ledger_charges",
        "DROP TABLE ledger_charges",
        "ALTER TABLE ledger_charges DISABLE TRIGGER ALL",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            run(theirs, statement)


def test_without_the_right_to_insert_a_charge_is_an_error_of_the_ledger(
    url: str, ledger: Ledger
) -> None:
    schema = url.rpartition("%3D")[2]
    run(
        url,
        f"CREATE ROLE {schema} LOGIN",
        f"GRANT USAGE ON SCHEMA {schema} TO {schema}",
        f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {schema}",
    )
    theirs = Ledger(url.replace("tester@", f"{schema}@"))
    with pytest.raises(LedgerError, match="permission denied for table ledger_charges"):
        theirs.spend("survey", epsilon=0.1, label="a known cost")
    assert ledger.remaining("survey") == Amount(epsilon=2.7)


def terminate(url: str) -> int:
    """Drop every other client's connection, and return how many there were."""
    statement = (
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
        "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
    )
    with psycopg.connect(plain(url), autocommit=True) as connection:
        ((count,),) = connection.execute(statement).fetchall()
    return int(count)


class Untouchable:
    """Entropy that nobody may ask for."""

    def bits(self, count: int) -> int:
        raise AssertionError("noise was drawn")

    words = bits


def test_between_two_calls_there_is_no_connection_to_drop(url: str, ledger: Ledger) -> None:
    assert terminate(url) == 0
    ledger.spend("survey", epsilon=0.1)
    assert ledger.remaining("survey") == Amount(epsilon=2.6)


@pytest.mark.parametrize("moment", ["before the charge", "before the commit"])
def test_a_dropped_connection_is_an_error_and_nothing_is_drawn(
    url: str, ledger: Ledger, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_charge = schema.add_charge

    def dropped(*arguments: Any) -> None:
        if moment == "before the commit":
            add_charge(*arguments)
        assert terminate(url) == 1
        if moment == "before the charge":
            add_charge(*arguments)

    monkeypatch.setattr(schema, "add_charge", dropped)
    with pytest.raises(LedgerError, match=r"the ledger at postgresql\S+ failed: "):
        ledger.release(workers.TENTH, 41.0, dataset="survey", entropy=Untouchable())
    monkeypatch.undo()
    assert len(ledger.records("survey")) == 3
    ledger.release(workers.TENTH, 41.0, dataset="survey")
    assert len(Ledger(url).records("survey")) == 4


def test_connections_dropped_at_any_moment_leave_no_release_that_is_not_charged(url: str) -> None:
    ledger = Ledger(url)
    ledger.open("survey", epsilon=1e6)
    released: list[str] = []
    failed: list[LedgerError] = []
    stopped = threading.Event()

    def work() -> None:
        for k in itertools.count():
            if stopped.is_set():
                return
            try:
                ledger.release(workers.TENTH, 41.0, dataset="survey", label=str(k))
                released.append(str(k))
            except LedgerError as error:
                failed.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    moments = random.Random(20261115)
    deadline = time.monotonic() + 60
    while len(failed) < DROPS and thread.is_alive() and time.monotonic() < deadline:
        time.sleep(moments.uniform(0, 0.03))
        terminate(url)
    stopped.set()
    thread.join()
    assert len(failed) >= DROPS
    assert all("the ledger at postgresql" in str(error) for error in failed)
    charged = [record["label"] for record in ledger.records("survey")]
    assert set(released) <= set(charged)
    assert len(charged) - len(released) <= len(failed)
    Ledger(url).verify("survey")


def test_a_lock_that_is_never_given_back_is_an_error(
    url: str, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    with store.Store(url).writing("survey"):
        monkeypatch.setattr(store, "_PATIENCE", 0.1)
        with pytest.raises(LedgerError, match="lock timeout"):
            ledger.release(workers.TENTH, 41.0, dataset="survey", entropy=Untouchable())
    ledger.spend("survey", epsilon=0.1)
    assert len(ledger.records("survey")) == 4


def test_a_crash_of_the_server_loses_no_charge(server: postgresql.Server, url: str) -> None:
    ledger = Ledger(url)
    ledger.open("survey", epsilon=3.0)
    ledger.spend("survey", epsilon=0.1)
    head = ledger.head("survey")
    server.crash()
    with pytest.raises(LedgerError, match="the ledger at postgresql"):
        ledger.spend("survey", epsilon=0.1)
    server.start()
    ledger.spend("survey", epsilon=0.1)
    assert Ledger(url).verify("survey", expected_head=head) == ledger.head("survey")
    assert ledger.remaining("survey") == Amount(epsilon=2.8)
