import os
from pathlib import Path

import pytest

import inbounds as ib
from inbounds.cli.explore.budget import Budget, Charge, counted, required, row_unit, spending
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


def test_it_is_told_what_a_dataset_can_be_charged_for(tmp_path: Path) -> None:
    ledger = ib.Ledger(tmp_path / "budget.db")
    ledger.open("rows", epsilon=1.0)
    for change in ("replace", "add-remove"):
        for part in ("row", "person", "household"):
            ledger.open(f"{change} {part}", epsilon=1.0, unit=ib.Unit(change, part))
    ledger.open("two", epsilon=1.0, unit=ib.Unit("replace", "person", 2))
    facts = {fact["dataset"]: fact for fact in Budget(str(tmp_path / "budget.db")).datasets()}
    rows = {name for name, fact in facts.items() if fact["for_rows"]}
    assert rows == {"rows", "replace row", "replace person", "two"}
    others = {name for name, fact in facts.items() if not fact["for_summaries"]}
    assert others == {"replace household", "add-remove household"}


def test_the_unit_of_a_draw_is_what_the_ledger_counts_or_refuses(tmp_path: Path) -> None:
    """The library itself decides: what the page would state is charged, or refused, alike."""
    ledger = ib.Ledger(tmp_path / "budget.db")
    units = [ib.Unit(c, p, k) for c in ("replace", "add-remove") for p in ("row", "person", "edge")
             for k in (1, 3)]  # fmt: skip
    for unit in units:
        name = str(unit)
        ledger.open(name, epsilon=9.0, unit=unit)
        stated = row_unit(unit)
        change, _, part = (stated or "replace:row").partition(":")
        if stated is None:
            with pytest.raises(ib.ArgumentError):
                ledger.spend(name, epsilon=1.0, unit=ib.Unit("replace", "row"))
            with pytest.raises(ib.ArgumentError, match="must be one for replaced rows or people"):
                counted(name, unit)
        else:
            can = ledger.would_fit(dataset=name, epsilon=1.0, unit=ib.Unit(change, part))
            assert can.fits
            assert can.cost.epsilon == unit.count
            assert counted(name, unit) == stated


def test_a_charge_of_ours_is_told_from_that_of_somebody_else(tmp_path: Path) -> None:
    ledger = ib.Ledger(tmp_path / "budget.db")
    ledger.open("survey", epsilon=9.0)
    budget, ours = Budget(str(tmp_path / "budget.db")), Charge("survey", "ours")
    ledger.spend("survey", epsilon=1.0, label="ours")
    assert budget.is_charged(ours, 0)
    assert budget.is_charged(ours, 1) is False
    ledger.spend("survey", epsilon=1.0, label="another")
    ib.Ledger(tmp_path / "budget.db", user="somebody else").spend(
        "survey", epsilon=1.0, label="ours"
    )
    assert budget.is_charged(ours, 1) is False
    assert budget.is_charged(Charge("survey", ""), 1)
    (tmp_path / "budget.db").unlink()
    assert budget.is_charged(ours, 1) is None


def test_a_command_names_the_ledger_without_its_password() -> None:
    assert Budget(URL).argument == "postgresql+psycopg://ana@db.example.org:5433/privacy"
    assert Budget("/a/budget.db").argument == "/a/budget.db"


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
