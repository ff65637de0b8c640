from pathlib import Path
from typing import Any

import pytest

import inbounds as ib
from inbounds.cli.charge import AskingLedger, Charge
from inbounds.cli.failure import UsageError
from inbounds.errors import LedgerError
from inbounds.unit import Unit

MEAN = ib.BoundedLaplace.calibrated(ib.Box(0, 120), 2.5, epsilon=1.0)


@pytest.fixture
def place(tmp_path: Path) -> str:
    ledger = ib.Ledger(tmp_path / "budget.db")
    ledger.open("survey", epsilon=1.5, unit=Unit("replace", "row"))
    return str(tmp_path / "budget.db")


def read(place: str | None, dataset: str | None = None, **given: Any) -> Charge:
    options = {"label": None, "user": None, "dry_run": False} | given
    return Charge.read(place, dataset, options.pop("label"), options.pop("user"), **options)


def test_asking_neither_charges_nor_draws(place: str) -> None:
    class Refusing:
        domain, loss, epsilon = MEAN.domain, MEAN.loss, MEAN.epsilon

        def release(self, value: Any) -> Any:
            raise AssertionError("something was drawn")

    ledger = ib.Ledger(place)
    asking = AskingLedger(ledger)
    unit = Unit("replace", "row")
    fit = asking.ask(
        lambda: asking.release(Refusing(), 41.3, dataset="survey", label="x", unit=unit)
    )
    assert fit is not None
    assert fit.fits
    assert ledger.records("survey") == []
    assert asking.ask(lambda: None) is None


def test_a_charge_needs_a_ledger_and_a_ledger_a_dataset(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("INBOUNDS_LEDGER", raising=False)
    assert read(None).options == {"ledger": None, "dataset": None, "label": None}
    for given in ({"dataset": "survey"}, {"label": "a"}, {"user": "b"}, {"dry_run": True}):
        with pytest.raises(UsageError, match="must not be given without --ledger"):
            read(None, **given)
    with pytest.raises(UsageError, match="--dataset must be given with --ledger"):
        read(place)
    with pytest.raises(LedgerError, match="nothing"):
        read(place, "nothing")


def test_the_environment_names_the_ledger_of_a_dataset(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INBOUNDS_LEDGER", place)
    assert read(None, "survey").options["ledger"].remaining("survey").epsilon == 1.5
    assert read(None).ledger is None


def test_a_budget_for_people_asks_who_they_are(place: str) -> None:
    ib.Ledger(place).open("people", epsilon=1.0, unit=Unit("replace", "person"))
    with pytest.raises(UsageError, match="--id must be given, because the budget of 'people'"):
        read(place, "people").check_unit(None)
    read(place, "people").check_unit("person")
    read(place, "survey").check_unit(None)
    read(None).check_unit(None)
