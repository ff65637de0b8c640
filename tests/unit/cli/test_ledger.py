import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from inbounds.accounting.ledger import Ledger
from inbounds.accounting.user import system_user
from inbounds.cli.app import app


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "budget.db"
    assert ledger(path, "open", "survey", "--epsilon", "3").exit_code == 0
    return path


def ledger(path: Path, *args: str) -> Result:
    return CliRunner().invoke(app, ["ledger", *args, "--ledger", str(path)])


def facts(path: Path, *args: str) -> Any:
    result = ledger(path, *args, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


@pytest.mark.parametrize("command", ["open", "show", "history", "spend", "verify"])
def test_every_command_has_help_with_an_example_of_itself(command: str) -> None:
    result = CliRunner().invoke(app, ["ledger", command, "--help"])
    assert result.exit_code == 0
    assert f"$ inbounds ledger {command}" in result.stdout


def test_spending_says_what_is_left(path: Path) -> None:
    result = ledger(path, "spend", "survey", "--epsilon", "0.1", "--label", "mean [red]age")
    assert result.stdout == "survey: epsilon=2.9 left of epsilon=3.\n"
    assert Ledger(path).records("survey")[0]["label"] == "mean [red]age"
    text = ledger(path, "history", "survey").stdout
    assert {"mean", "[red]age", system_user(), "0.1"} <= set(text.split())


def test_json_holds_budget_rest_and_head(path: Path) -> None:
    found = facts(path, "spend", "survey", "--epsilon", "0.1")
    assert found == {
        "dataset": "survey",
        "unit": None,
        "budget": {"epsilon": 3.0},
        "remaining": {"epsilon": 2.9},
        "head": Ledger(path).head("survey"),
    }
    assert facts(path, "show") == facts(path, "show", "survey") == [found]
    (record,) = facts(path, "history", "survey")
    assert (record["epsilon"], record["cumulative"]) == (0.1, 0.1)


def test_show_lists_every_dataset(path: Path) -> None:
    ledger(path, "open", "census", "--epsilon", "1", "--delta", "1e-6")
    ledger(path, "open", "degrees", "--rho", "0.5")
    text = ledger(path, "show").stdout
    for word in ("census", "epsilon=1, delta=1e-06", "degrees", "rho=0.5", "survey"):
        assert word in text


def test_too_much_is_one_line_on_standard_error(path: Path) -> None:
    result = ledger(path, "spend", "survey", "--epsilon", "3.1")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        "Error: dataset 'survey' has epsilon=3.0 left of epsilon=3.0, too little for epsilon=3.1.\n"
    )
    assert Ledger(path).records("survey") == []


@pytest.mark.parametrize(
    "args",
    [
        ("spend", "survey"),
        ("spend", "survey", "--epsilon", "1", "--rho", "1"),
        ("spend", "survey", "--epsilon", "-1"),
        ("open", "new", "--delta", "0.1"),
        ("open", "new", "--epsilon", "1", "--delta", "2"),
    ],
)
def test_nonsense_is_a_usage_error(path: Path, args: tuple[str, ...]) -> None:
    result = ledger(path, *args)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("Error: ")
    assert "--" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("budget", "charge", "says"),
    [
        (["--epsilon", "1"], ["--rho", "0.1"], "--rho must not be given"),
        (["--epsilon", "1"], ["--epsilon", "0.1", "--delta", "1e-6"], "--delta must not be given"),
        (["--rho", "1"], ["--epsilon", "0.1", "--delta", "1e-6"], "--delta must not be given"),
    ],
)
def test_a_charge_in_other_terms_than_the_budget_is_refused_in_options(
    tmp_path: Path, budget: list[str], charge: list[str], says: str
) -> None:
    path = tmp_path / "budget.db"
    ledger(path, "open", "new", *budget)
    result = ledger(path, "spend", "new", *charge)
    assert (result.exit_code, result.stdout) == (2, "")
    assert says in result.stderr
    assert "loss" not in result.stderr
    assert Ledger(path).records("new") == []


@pytest.mark.parametrize(
    ("budget", "charge"),
    [
        (["--epsilon", "1"], ["--epsilon", "0.1", "--delta", "0"]),
        (["--rho", "1"], ["--epsilon", "0.1"]),
        (["--epsilon", "1", "--delta", "1e-5"], ["--rho", "0.01"]),
        (["--epsilon", "1", "--delta", "1e-5"], ["--epsilon", "0.1", "--delta", "1e-6"]),
    ],
)
def test_a_charge_that_the_budget_can_count_is_taken(
    tmp_path: Path, budget: list[str], charge: list[str]
) -> None:
    path = tmp_path / "budget.db"
    ledger(path, "open", "new", *budget)
    assert ledger(path, "spend", "new", *charge).exit_code == 0
    assert len(Ledger(path).records("new")) == 1


def test_pairs_after_rhos_are_refused_in_options(path: Path) -> None:
    ledger(path, "open", "new", "--epsilon", "1", "--delta", "1e-5")
    ledger(path, "spend", "new", "--rho", "0.01")
    result = ledger(path, "spend", "new", "--epsilon", "0.1", "--delta", "1e-6")
    assert result.exit_code == 2
    assert "Charge --rho, or open" in result.stderr
    assert "loss" not in result.stderr


def test_a_dry_run_says_what_would_be_left_and_charges_nothing(path: Path) -> None:
    head = Ledger(path).head("survey")
    result = ledger(path, "spend", "survey", "--epsilon", "0.5", "--dry-run")
    assert (result.exit_code, result.stdout) == (
        0,
        "survey: this would cost epsilon=0.5, and leave epsilon=2.5 of epsilon=3.\n",
    )
    assert facts(path, "spend", "survey", "--epsilon", "0.5", "--dry-run") == {
        **{"dataset": "survey", "fits": True},
        **{"cost": {"epsilon": 0.5}, "remaining": {"epsilon": 2.5}},
    }
    assert Ledger(path).head("survey") == head


def test_a_dry_run_that_does_not_fit_fails_as_the_charge_would(path: Path) -> None:
    charge = ("spend", "survey", "--epsilon", "3.5")
    tried, charged = ledger(path, *charge, "--dry-run"), ledger(path, *charge)
    assert (tried.exit_code, tried.stdout, tried.stderr) == (1, "", charged.stderr)
    assert charged.exit_code == 1
    result = ledger(path, *charge, "--dry-run", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["fits"] is False
    assert json.loads(result.stdout)["reason"] in charged.stderr


def test_who_asked_for_what_is_in_the_history(path: Path) -> None:
    assert ledger(path, "spend", "survey", "--epsilon", "0.3", "--user", "Ana P.").exit_code == 0
    (record,) = facts(path, "history", "survey")
    assert (record["user"], record["asked"]) == ("Ana P.", "epsilon=0.3")
    result = ledger(path, "spend", "survey", "--epsilon", "0.3", "--user", "a\nb")
    assert result.exit_code == 2
    assert "--user must be printable text" in result.stderr
    assert len(facts(path, "history", "survey")) == 1


def test_opening_again_needs_the_same_budget_and_consent(path: Path) -> None:
    assert ledger(path, "open", "survey", "--epsilon", "3").exit_code == 1
    assert ledger(path, "open", "survey", "--epsilon", "3", "--exist-ok").exit_code == 0
    assert ledger(path, "open", "survey", "--epsilon", "4", "--exist-ok").exit_code == 1


def test_verify_prints_the_head_and_takes_an_earlier_one(path: Path) -> None:
    early = ledger(path, "verify", "survey").stdout.strip()
    ledger(path, "spend", "survey", "--epsilon", "0.1")
    late = ledger(path, "verify", "survey", "--expected-head", early).stdout.strip()
    assert late == Ledger(path).head("survey") != early
    assert facts(path, "verify", "survey") == {"dataset": "survey", "head": late}
    result = ledger(path, "verify", "survey", "--expected-head", "0" * 64)
    assert result.exit_code == 1
    assert "expected head is not in its history" in result.stderr
    result = ledger(path, "verify", "survey", "--expected-head", "00")
    assert result.exit_code == 2
    assert "--expected-head must be 64 hexadecimal digits" in result.stderr


def test_the_ledger_may_be_named_in_the_environment(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INBOUNDS_LEDGER", str(path))
    assert "survey" in CliRunner().invoke(app, ["ledger", "show"]).stdout


def test_a_ledger_that_is_not_there_is_not_made_by_looking(tmp_path: Path) -> None:
    result = ledger(tmp_path / "none.db", "show")
    assert result.exit_code == 1
    assert "there is no ledger at" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_weak_budget_is_opened_with_one_line_of_warning(tmp_path: Path) -> None:
    given = ["ledger", "open", "new", "--epsilon", "100", "--ledger", str(tmp_path / "new.db")]
    result = CliRunner().invoke(app, given)
    assert result.exit_code == 0
    (line,) = result.stderr.splitlines()
    assert line.startswith("Warning: --epsilon=100 means that")


def test_a_dataset_has_a_unit_that_charges_are_converted_to(path: Path) -> None:
    args = ("--epsilon", "1", "--unit", "replace:row")
    assert facts(path, "open", "rows", *args)["unit"] == "replace one row"
    charge = ("spend", "rows", "--epsilon", "0.1", "--unit", "add-remove:row")
    assert facts(path, *charge)["remaining"] == {"epsilon": 0.8}
    assert facts(path, "history", "rows")[0]["unit"] == "replace one row"
    text = ledger(path, "show").stdout
    assert "replace one row" in text
    assert "not stated" in text
    assert "converted" in ledger(path, "history", "rows").stdout
    result = ledger(path, "spend", "rows", "--epsilon", "0.1", "--unit", "replace:person")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("Error: --unit must be of one row to be converted to")
    assert len(Ledger(path).records("rows")) == 1
