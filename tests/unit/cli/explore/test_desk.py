import asyncio
import resource
from pathlib import Path
from typing import Any

import pytest

import inbounds as ib
from inbounds.cli.explore import desk as desk_module
from inbounds.cli.explore.budget import Budget, Charge
from inbounds.cli.explore.desk import Desk, Upload
from inbounds.cli.explore.guard import Refusal
from inbounds.cli.explore.worker import Finished, Workers
from inbounds.errors import ArgumentError

CSV = b"age,town\n41,Ulm\n7,Rom\n"
AGE: Any = {"name": "age", "bounds": [0, 120], "step": 1, "epsilon": 0.5}


def upload() -> Upload:
    return Upload(Path("/tmp/inbounds-explore-x/y"), "-a.csv")


def test_the_last_line_that_says_why_is_the_reason() -> None:
    said = "Warning: x\nError: first.\nError: /tmp/inbounds-explore-x/y/-a.csv: no.\n"
    assert upload().reason(Finished(1, "", said)) == (400, "-a.csv: no.")


@pytest.mark.parametrize(
    "done", [Finished(-9, "", ""), Finished(1, "", "Traceback: 41"), Finished(-11, "", "Error: 41")]
)
def test_a_process_that_broke_is_not_quoted(done: Finished) -> None:
    assert upload().reason(done) == (500, "the command ended without saying why.")


def test_a_name_is_no_option() -> None:
    assert upload().argument == "./-a.csv"


def test_what_is_drawn_comes_back_and_nothing_is_left() -> None:
    workers = Workers()
    desk = Desk(workers, None)
    head = {"name": "a.csv", "columns": [AGE]}
    facts, files = asyncio.run(desk.draw(head, CSV))
    assert [name for name, _ in files] == ["a.private.csv", "a.private.csv.privacy.json"]
    assert [file["size"] for file in facts["files"]] == [len(data) for _, data in files]
    assert workers._root is not None
    assert list(workers._root.iterdir()) == []
    with pytest.raises(Refusal, match="no column 'x'") as caught:
        asyncio.run(desk.draw({"name": "a.csv", "columns": [AGE | {"name": "x"}]}, CSV))
    assert caught.value.status == 400
    assert list(workers._root.iterdir()) == []
    assert workers.close()


def test_warnings_of_the_library_are_passed_on() -> None:
    workers = Workers()
    head = {"name": "a.csv", "columns": [AGE | {"epsilon": 50}]}
    facts, _ = asyncio.run(Desk(workers, None).draw(head, CSV))
    assert len(facts["warnings"]) == 1
    assert "protects" in facts["warnings"][0]
    assert workers.close()


def test_nothing_can_be_charged_without_a_ledger() -> None:
    workers = Workers()
    desk = Desk(workers, None)
    head = {"name": "a.csv", "columns": [AGE], "charge": {"dataset": "survey", "label": ""}}
    with pytest.raises(ArgumentError, match="the server has no ledger"):
        asyncio.run(desk.draw(head, CSV))
    assert workers.close()


def test_an_answer_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    workers = Workers()
    monkeypatch.setattr(desk_module, "_MOST_BYTES", 100)
    with pytest.raises(Refusal, match="more than 0 MiB, which the page cannot take"):
        asyncio.run(Desk(workers, None).draw({"name": "a.csv", "columns": [AGE]}, CSV))
    assert workers.close()


def test_an_answer_that_would_be_too_large_is_not_charged(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    place = str(tmp_path / "budget.db")
    ib.Ledger(place).open("survey", epsilon=3.0)
    workers = Workers()
    monkeypatch.setattr(desk_module, "_MOST_BYTES", 100)
    head = {"name": "a.csv", "columns": [AGE], "charge": {"dataset": "survey", "label": "x"}}
    with pytest.raises(Refusal, match=r"^the private file would have more than 0 MiB"):
        asyncio.run(Desk(workers, Budget(place)).draw(head, b"age\n" + b"41\n" * 200))
    assert ib.Ledger(place).records("survey") == []
    assert workers.close()


def test_a_file_is_never_written_over_another(tmp_path: Path) -> None:
    desk_module._write(tmp_path / "a.csv", CSV)
    assert (tmp_path / "a.csv").stat().st_mode & 0o777 == 0o600
    (tmp_path / "b.csv").symlink_to(tmp_path / "a.csv")
    for name in ("a.csv", "b.csv"):
        with pytest.raises(FileExistsError):
            desk_module._write(tmp_path / name, b"")
    assert (tmp_path / "a.csv").read_bytes() == CSV


def test_a_file_for_which_there_is_no_room_is_said_in_words(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        with pytest.raises(Refusal, match=r"^the file cannot be held in a temporary") as refused:
            desk_module._write(tmp_path / "a.csv", CSV)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert refused.value.status == 507


@pytest.mark.parametrize(
    ("is_charged", "said"),
    [
        (True, "no. The budget of 'survey' was charged before this failed."),
        (None, "no. The budget of 'survey' may have been charged before this failed."),
        (False, "no."),
    ],
)
def test_a_failure_says_what_is_known_of_the_charge(is_charged: bool | None, said: str) -> None:
    charge = Charge("survey", "")
    refusal = desk_module._charged(Refusal(500, "no."), charge, is_charged=is_charged)
    assert (refusal.status, str(refusal)) == (500, said)
    assert str(desk_module._charged(Refusal(500, "no."), None, is_charged=None)) == "no."
