import os
from pathlib import Path

import pytest

import inbounds as ib
from inbounds.cli.explore.budget import Budget, Charge, required, spending
from inbounds.errors import ArgumentError, LedgerError

URL = "postgresql+psycopg://ana:s3cr3t%21@db.example.org:5433/privacy?sslpassword=hush"


def test_a_url_is_shown_by_its_host_and_database() -> None:
    budget = Budget(URL)
    assert budget.shown == "db.example.org/privacy"
    assert budget.place == URL
    assert "s3cr3t" not in repr(budget) + str(budget)


def test_no_password_is_left_in_a_text() -> None:
    text = f"cannot connect to {URL}: no password s3cr3t! (s3cr3t%21) nor hush"
    assert Budget(URL).hidden(text) == (
        "cannot connect to db.example.org/privacy: no password *** (***) nor ***"
    )


def test_a_file_is_found_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ib.Ledger("budget.db").open("survey", epsilon=1.0)
    budget = Budget("budget.db")
    os.chdir("/")
    assert [facts["dataset"] for facts in budget.datasets()] == ["survey"]
    assert (budget.shown, budget.hidden("budget.db")) == ("budget.db", "budget.db")


def test_budgets_of_each_kind_are_told(tmp_path: Path) -> None:
    place = tmp_path / "budget.db"
    ledger = ib.Ledger(place)
    ledger.open("pure", epsilon=2.0)
    ledger.open("relaxed", epsilon=1.0, delta=1e-6, unit=ib.Unit("replace", "person"))
    ledger.open("concentrated", rho=0.5)
    ledger.spend("concentrated", rho=0.125)
    facts = {fact["dataset"]: fact for fact in Budget(str(place)).datasets()}
    assert facts["pure"]["budget"] == facts["pure"]["remaining"] == "epsilon=2"
    assert facts["pure"]["fraction_spent"] == 0
    assert facts["relaxed"]["budget"] == "epsilon=1, delta=1e-06"
    assert facts["relaxed"]["unit"] == "replace one person"
    assert facts["concentrated"]["spent"] == "rho=0.125"
    assert facts["concentrated"]["fraction_spent"] == 0.25
    assert [fact["entries"] for fact in facts.values()] == [1, 0, 0]


def test_reading_makes_no_ledger(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="there is no ledger"):
        Budget(str(tmp_path / "missing.db")).datasets()
    assert list(tmp_path.iterdir()) == []


def test_an_error_of_a_server_shows_no_password() -> None:
    budget = Budget("postgresql+psycopg://ana:s3cr3t@127.0.0.1:1/privacy?connect_timeout=1")
    with pytest.raises(LedgerError) as caught:
        budget.datasets()
    assert "s3cr3t" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_a_charge_needs_a_ledger() -> None:
    with pytest.raises(ArgumentError, match="charge must be null"):
        required(None)
    budget = Budget("budget.db")
    assert required(budget) is budget


def test_a_name_cannot_be_an_option() -> None:
    words = spending(Charge("--label=x", "--unit=y"), 0.1)
    assert words[-2:] == ["--", "--label=x"]
    assert "--label=--unit=y" in words
