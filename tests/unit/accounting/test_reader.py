import math
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import inbounds as ib
from inbounds.accounting.ledger import Ledger
from inbounds.accounting.user import system_user

TENTH = ib.BoundedLaplace.calibrated(ib.Box(0, 120), 2.5, epsilon=0.1)
SECRET = 41.3125


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "budget.db"


@pytest.fixture
def ledger(path: Path) -> Ledger:
    ledger = Ledger(path)
    ledger.open("survey", epsilon=3.0)
    return ledger


def test_history_says_when_what_and_how_much(ledger: Ledger) -> None:
    before = datetime.now(UTC)
    ledger.release(TENTH, SECRET, dataset="survey", label="mean age")
    ledger.spend("survey", epsilon=0.25, label="elsewhere; 'quoted'")
    frame = ledger.history("survey")
    assert list(frame.columns) == [
        *("when", "user", "label", "mechanism", "unit", "releases", "asked"),
        *("epsilon", "delta", "rho", "charged", "cumulative"),
    ]
    assert frame["label"].tolist() == ["mean age", "elsewhere; 'quoted'"]
    assert frame["mechanism"].tolist() == [repr(TENTH), ""]
    assert frame["epsilon"].tolist() == [TENTH.epsilon, 0.25]
    assert frame["asked"].tolist() == ["epsilon=0.1", "epsilon=0.25"]
    assert frame["user"].tolist() == 2 * [system_user()]
    assert frame["charged"].tolist() == [TENTH.epsilon, 0.25]
    assert frame["cumulative"].tolist() == [TENTH.epsilon, pytest.approx(0.35)]
    assert frame["rho"].tolist() == pytest.approx([0.1 * math.tanh(0.05), 0.25 * math.tanh(0.125)])
    when = [datetime.fromisoformat(text) for text in frame["when"]]
    assert before <= when[0] <= when[1] <= datetime.now(UTC)
    assert when[0].utcoffset() == timedelta(0)
    assert ledger.history("survey").equals(frame)
    assert "41.3" not in frame.to_csv()


def test_the_history_of_a_fresh_dataset_is_empty(ledger: Ledger) -> None:
    assert ledger.history("survey").empty
    assert ledger.verify("survey") == ledger.head("survey")


def test_a_notebook_shows_datasets_budgets_and_charges_and_no_value(ledger: Ledger) -> None:
    ledger.open("<script>", epsilon=1.0, delta=1e-6)
    ledger.release(TENTH, SECRET, dataset="survey", label="a secret label")
    page = ledger._repr_html_()
    assert page is not None
    for part in ("survey", "epsilon=3.0", "&lt;script&gt;", "delta=1e-06"):
        assert part in page
    assert "<script" not in page
    assert str(SECRET) not in page


def test_a_ledger_that_cannot_be_read_is_shown_by_its_name_alone(path: Path) -> None:
    assert Ledger(path)._repr_html_() is None
    assert not path.exists()  # showing it creates nothing
    path.write_bytes(b"not a ledger at all, but long enough to be looked at" * 100)
    assert Ledger(path)._repr_html_() is None
    away = Ledger("postgresql+psycopg://user:geheim@127.0.0.1:1/name")
    assert away._repr_html_() is None
    assert "geheim" not in repr(away)


def test_an_amount_is_shown_by_what_applies(ledger: Ledger) -> None:
    page = ledger.remaining("survey")._repr_html_()
    assert "epsilon" in page
    assert "rho" not in page
    assert "Budget" in ledger.budget("survey")._repr_html_()
