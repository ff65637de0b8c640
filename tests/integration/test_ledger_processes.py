"""Processes that share a ledger on a file never overdraw it; killing them loses no charge."""

import sqlite3
from pathlib import Path

import pytest

from inbounds.accounting.ledger import Ledger
from inbounds.guarantee import Amount

from . import workers

KILLS = 200


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "budget.db"


def test_eight_processes_that_race_spend_exactly_the_budget(path: Path) -> None:
    code, output, errors = workers.finish(workers.start("race", path, 8))
    assert (code, errors) == (0, "")
    workers.check_race(path, output)


def test_a_process_killed_before_the_draw_has_paid_and_got_nothing(path: Path) -> None:
    Ledger(path).open("survey", epsilon=3.0)
    assert workers.finish(workers.start("die_at_the_draw", path)) == (-9, "", "")
    (record,) = Ledger(path).records("survey")
    assert record["epsilon"] == pytest.approx(0.5)
    Ledger(path).verify("survey")


def test_a_full_disk_stops_the_release_before_the_draw(path: Path) -> None:
    ledger = Ledger(path)
    ledger.open("survey", epsilon=3.0)
    ledger.spend("survey", epsilon=0.1)
    code, output, errors = workers.finish(workers.start("full_disk", path))
    assert (code, errors) == (0, "")
    assert output.startswith(f"the ledger at {path} failed: ")
    assert ledger.verify("survey") == ledger.head("survey")
    assert ledger.remaining("survey") == Amount(epsilon=2.9)


def test_forked_processes_share_a_ledger_but_no_connection(path: Path) -> None:
    Ledger(path).open("survey", epsilon=3.0)
    assert workers.finish(workers.start("inherit", path)) == (0, "30", "")
    assert len(Ledger(path).records("survey")) == 30
    Ledger(path).verify("survey")


def test_killing_processes_200_times_leaves_no_release_that_is_not_charged(path: Path) -> None:
    Ledger(path).open("survey", epsilon=1e6)
    code, output, errors = workers.finish(workers.start("killed", path, KILLS))
    assert (code, errors) == (0, "")
    workers.check_killed(path, output, KILLS)
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()
