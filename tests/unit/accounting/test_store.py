import gc
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from inbounds.accounting import schema, store
from inbounds.accounting.budget import Budget
from inbounds.accounting.chain import Opening
from inbounds.accounting.ledger import Ledger
from inbounds.errors import ArgumentError, ArgumentTypeError, LedgerError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A ledger with one dataset and three charges."""
    path = tmp_path / "budget.db"
    ledger = Ledger(path)
    ledger.open("survey", epsilon=3.0)
    for k in range(3):
        ledger.spend("survey", epsilon=0.1, label=f"charge {k}")
    return path


def opened(path: Path) -> int:
    """How often this process has a file open, be it deleted."""
    files = [os.path.realpath(number) for number in Path("/proc/self/fd").iterdir()]
    return [name.removesuffix(" (deleted)") for name in files].count(str(path))


def test_a_transaction_is_durable_and_alone(path: Path) -> None:
    other = sqlite3.connect(path, timeout=0)
    with store.Store(path).writing("survey") as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 3  # EXTRA
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "delete"
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")
    other.execute("BEGIN IMMEDIATE")
    other.close()


def test_a_kept_connection_is_as_durable_as_a_new_one(path: Path) -> None:
    kept = store.Store(path)
    connections = []
    for _ in range(2):
        with kept.writing("survey") as connection:
            connections.append(connection.connection.dbapi_connection)
            assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 3
            assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "delete"
    assert connections[0] is connections[1]
    kept.close()
    with kept.writing("survey") as connection:
        assert connection.connection.dbapi_connection is not connections[0]


def test_what_went_wrong_in_a_connection_does_not_outlive_it(path: Path) -> None:
    kept = store.Store(path)
    with kept.reading() as connection:
        used = connection.connection.dbapi_connection
    with pytest.raises(ZeroDivisionError), kept.writing("survey"):
        raise ZeroDivisionError
    with kept.reading() as connection:
        assert connection.connection.dbapi_connection is not used


def test_a_forked_process_does_not_use_the_connection_of_its_parent(path: Path) -> None:
    kept = store.Store(path)
    with kept.reading() as connection:
        used = connection.connection.dbapi_connection
    child = os.fork()
    if child == 0:
        kept.close()  # must leave it alone, too
        with kept.reading() as connection:
            same = connection.connection.dbapi_connection is used
            alive = used.execute("SELECT 1").fetchall() == [(1,)]  # type: ignore[union-attr]
        os._exit(0 if alive and not same else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    with kept.reading() as connection:
        assert connection.connection.dbapi_connection is used


def test_a_forked_process_that_forgets_a_ledger_leaves_the_file_to_its_parent(path: Path) -> None:
    kept = store.Store(path)
    with kept.reading():
        pass
    child = os.fork()
    if child == 0:
        del kept
        gc.collect()
        os._exit(opened(path))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
    kept.close()
    assert opened(path) == 0


def test_a_ledger_leaves_no_file_open(path: Path) -> None:
    ledger = Ledger(path)
    ledger.datasets()
    assert opened(path) == 1
    with ledger:
        ledger.datasets()
    assert opened(path) == 0
    ledger.datasets()
    del ledger
    gc.collect()
    assert opened(path) == 0


def test_a_locked_file_is_not_left_open(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_PATIENCE", 0.1)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    kept = store.Store(path)
    with pytest.raises(LedgerError, match="locked") as caught, kept.reading():
        pass
    other.close()  # while there is a lock, SQLite closes no file of this process
    assert opened(path) == 0
    del caught  # which held what the connection was made by


def test_a_file_that_is_no_database_is_not_left_open(path: Path) -> None:
    path.write_text("not a database, but long enough to look at " * 50)
    with pytest.raises(LedgerError, match="not a database") as caught, store.Store(path).reading():
        pass
    assert opened(path) == 0
    del caught  # which held what the connection was made by


def test_a_file_that_a_path_no_longer_names_is_closed(path: Path) -> None:
    kept = store.Store(path)
    with kept.reading():
        pass
    moved = path.rename(path.with_name("moved.db"))
    with pytest.raises(LedgerError, match="there is no ledger at"), kept.reading():
        pass
    assert opened(moved) == 0
    shutil.copy(moved, path)
    with kept.reading():
        pass
    path.rename(moved)
    shutil.copy(moved, path)
    with kept.reading():
        assert opened(path) == 1
        assert opened(moved) == 0


def test_a_transaction_during_which_its_store_is_closed_closes_the_file_itself(path: Path) -> None:
    kept = store.Store(path)
    with kept.reading() as connection:
        used = connection.connection.dbapi_connection
        kept.close()
        assert schema.names(connection) == ["survey"]
    assert opened(path) == 0
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        used.execute("SELECT 1")  # type: ignore[union-attr]


def test_threads_that_come_first_together_leave_nothing_open(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, together = store._sqlite_engine, threading.Barrier(2, timeout=60)

    def make_together(path: Path, *, create: bool) -> object:
        together.wait()
        return make(path, create=create)

    def datasets(_: int) -> list[str]:
        with kept.reading() as connection:
            return schema.names(connection)

    monkeypatch.setattr(store, "_sqlite_engine", make_together)
    kept = store.Store(path)
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(datasets, range(2))) == [["survey"]] * 2
    kept.close()
    assert opened(path) == 0


def test_python_finds_no_connection_that_was_left_open(path: Path) -> None:
    script = """
import os, sys
from inbounds.accounting.ledger import Ledger
from inbounds.accounting.store import Store
ledger = Ledger(sys.argv[1])
ledger.spend("survey", epsilon=0.1)
store = Store(sys.argv[1])
with store.reading():
    store.close()
child = os.fork()
ledger.datasets()
if child:
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    command = [sys.executable, "-X", "dev", "-W", "error::ResourceWarning", "-c", script, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    assert done.stderr == ""


def test_charges_go_to_the_file_that_the_path_names_now(path: Path) -> None:
    ledger = Ledger(path)
    ledger.spend("survey", epsilon=0.1)
    moved, copy = path.with_name("moved.db"), path.with_name("copy.db")
    shutil.copy(path, copy)
    path.rename(moved)
    copy.rename(path)
    ledger.spend("survey", epsilon=0.1)
    assert len(Ledger(path).records("survey")) == 5
    assert len(Ledger(moved).records("survey")) == 4


def test_reading_makes_nobody_wait(path: Path) -> None:
    other = sqlite3.connect(path, timeout=0)
    with store.Store(path).reading() as connection:
        assert schema.names(connection) == ["survey"]
        other.execute("BEGIN IMMEDIATE")
    other.close()


def test_what_fails_in_a_transaction_leaves_no_trace(path: Path) -> None:
    def halfway() -> None:
        with store.Store(path).writing("survey") as connection:
            schema.add_opening(connection, Opening("new", "1.0", None, None, "now"))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        halfway()
    assert Ledger(path).datasets() == ["survey"]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE ledger_charges SET label = 'x'",
        "DELETE FROM ledger_charges WHERE number = 2",
        "DELETE FROM ledger_charges",
        "REPLACE INTO ledger_charges SELECT * FROM ledger_charges WHERE number = 2",
        "INSERT OR IGNORE INTO ledger_charges SELECT * FROM ledger_charges",
        "UPDATE ledger_datasets SET epsilon = '300.0'",
        "DELETE FROM ledger_datasets",
        "REPLACE INTO ledger_datasets SELECT * FROM ledger_datasets",
        "INSERT INTO ledger_charges SELECT * FROM ledger_charges WHERE true "
        "ON CONFLICT DO UPDATE SET label = 'x'",
        "UPDATE ledger_costs SET text = ''",
        "REPLACE INTO ledger_costs SELECT digest, '' FROM ledger_costs",
        "DELETE FROM ledger_costs",
        "UPDATE ledger_schema_version SET version = 0",
        "DELETE FROM ledger_schema_version",
        "REPLACE INTO ledger_schema_version SELECT * FROM ledger_schema_version",
    ],
)
def test_tables_refuse_to_change(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        connection.execute(statement)
    connection.close()


def test_a_newer_schema_is_refused(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        newer = schema.VERSION + 1
        connection.execute(f"INSERT INTO ledger_schema_version VALUES ({newer})")
    connection.close()
    for use in (
        Ledger(path).datasets,
        lambda: Ledger(path).open("b", rho=1.0),
        lambda: Ledger(path).spend("survey", epsilon=0.1),
    ):
        with pytest.raises(
            LedgerError, match=r"(?s)schema version 4.*versions up to 3.*newer inbounds"
        ):
            use()


def test_a_file_that_is_no_ledger_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("not a database, but long enough to look at " * 50)
    with pytest.raises(LedgerError, match="not a database"):
        Ledger(text).datasets()
    other = tmp_path / "other.db"
    sqlite3.connect(other).close()
    other.touch()
    with pytest.raises(LedgerError, match="there is no ledger in"):
        Ledger(other).spend("survey", epsilon=0.1)


def test_a_lost_file_never_comes_back_empty(path: Path) -> None:
    used = Ledger(path)
    assert used.budget("survey") == Budget(epsilon=3.0)
    path.unlink()
    for ledger in (used, Ledger(path)):
        with pytest.raises(LedgerError, match=r"there is no ledger at .*unknown"):
            ledger.spend("survey", epsilon=0.1)
        assert not path.exists()
    with pytest.raises(LedgerError, match="it was removed"):
        used.open("survey", epsilon=3.0)
    path.unlink()
    with pytest.raises(LedgerError, match="there is no ledger at"):
        Ledger(path, create=False)


def test_a_file_lost_at_the_last_moment_does_not_come_back_either(path: Path) -> None:
    class Hasty(store.Store):
        def exists(self) -> bool:
            return True

    used = Hasty(path)
    with used.reading():
        pass
    path.unlink()
    for transaction in (used.reading(), Hasty(path).reading(), Hasty(path).writing("survey")):
        with pytest.raises(LedgerError, match="unable to open"), transaction:
            pass
    assert not path.exists()
    assert opened(path) == 0


def test_a_ledger_that_may_not_be_created_is_not(tmp_path: Path, path: Path) -> None:
    Ledger(path, create=False).open("second", rho=1.0)
    assert Ledger(path).datasets() == ["second", "survey"]
    ledger = Ledger(path, create=False)
    path.unlink()
    with pytest.raises(LedgerError, match="there is no ledger at"):
        ledger.open("third", rho=1.0)
    assert list(tmp_path.iterdir()) == []


def test_every_way_to_name_a_file_finds_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    relative = Ledger("budget.db")
    for place in (path, str(path), f"sqlite:///{path}", os.path.relpath(path)):
        assert Ledger(place).datasets() == ["survey"]
    monkeypatch.chdir("/")
    assert relative.datasets() == ["survey"]


def test_odd_names_of_files_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "a b?mode=memory#%41 é.db"
    Ledger(path).open("survey", epsilon=1.0)
    assert Ledger(path).datasets() == ["survey"]
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize(
    "place", ["", ":memory:", "sqlite://", "sqlite:///:memory:", "mysql://host/db", "x://"]
)
def test_a_place_that_cannot_hold_a_ledger_is_refused(place: str) -> None:
    with pytest.raises(ArgumentError, match="place must be"):
        Ledger(place)


def test_a_place_must_be_a_name() -> None:
    with pytest.raises(ArgumentTypeError, match="place must be a path or a URL, got int"):
        Ledger(5)  # type: ignore[arg-type]


def test_a_password_is_not_shown() -> None:
    for url in (
        "postgresql+psycopg://me:secret@localhost:1/db",
        "postgresql+psycopg://me@localhost:1/db?connect_timeout=1&password=secret",
    ):
        ledger = Ledger(url)
        assert "secret" not in repr(ledger)
        with pytest.raises(LedgerError, match="the ledger at postgresql") as caught:
            ledger.datasets()
        assert "secret" not in str(caught.value)
        assert ledger.__reduce__()[1] == (url,)


def test_a_name_that_no_file_can_have_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="name too long"):
        Ledger(tmp_path / ("x" * 300)).open("survey", epsilon=1.0)


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="unable to open"):
        Ledger(tmp_path / "none" / "budget.db").open("survey", epsilon=1.0)
