"""A ledger on a real PostgreSQL server, which the tests start."""

import secrets
from collections.abc import Iterator

import psycopg
import pytest

from inbounds.accounting import store
from inbounds.accounting.cost import Amount
from inbounds.accounting.ledger import Ledger
from inbounds.errors import BudgetExceededError, LedgerError

from . import postgresql, workers


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


def run(url: str, *statements: str) -> None:
    plain = url.replace("postgresql+psycopg://", "postgresql://")
    with psycopg.connect(plain, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)  # type: ignore[arg-type]


def test_processes_that_race_spend_exactly_the_budget(url: str) -> None:
    processes = [workers.start("race", url) for _ in range(4)]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    results = [workers.finish(process) for process in processes]
    assert [(code, errors) for code, _, errors in results] == [(0, "")] * 4
    assert sum(int(output) for _, output, _ in results) == 30
    ledger = Ledger(url)
    assert ledger.remaining("survey") == Amount(epsilon=0.0)
    assert len(ledger.records("survey")) == 30
    ledger.verify("survey")


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
