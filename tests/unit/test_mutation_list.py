"""The list of planted defects fits the code as it is, so that scripts/mutate.py cannot rot."""

import ast
import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "mutate.py"


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("mutate", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


MUTATE = _load()
DEFECTS = MUTATE.read()
each_defect = pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)


def test_there_are_enough_defects_and_no_two_of_a_name() -> None:
    assert len(DEFECTS) >= 22
    assert len({defect.name for defect in DEFECTS}) == len(DEFECTS)


@each_defect
def test_the_original_occurs_once_and_the_defect_is_another_program(defect: Any) -> None:
    text = (ROOT / defect.file).read_text(encoding="utf-8")
    assert text.count(defect.original) == 1
    planted = text.replace(defect.original, defect.planted)
    assert ast.dump(ast.parse(planted)) != ast.dump(ast.parse(text))


@each_defect
def test_the_tests_of_a_defect_exist(defect: Any) -> None:
    assert defect.tests
    for test in defect.tests:
        file, _, name = test.partition("::")
        text = (ROOT / file).read_text(encoding="utf-8")
        assert f"def {name}(" in text if name else "def test_" in text


def test_planting_changes_the_copy_only(tmp_path: Path) -> None:
    defect = DEFECTS[0]
    before = (ROOT / defect.file).read_text(encoding="utf-8")
    copy = tmp_path / defect.file
    copy.parent.mkdir(parents=True)
    copy.write_text(before, encoding="utf-8")
    MUTATE.plant(defect, tmp_path)
    assert (ROOT / defect.file).read_text(encoding="utf-8") == before
    assert defect.planted in copy.read_text(encoding="utf-8")
    with pytest.raises(SystemExit, match="must occur once"):
        MUTATE.plant(defect, tmp_path)


@pytest.mark.parametrize(
    ("code", "output", "caught"),
    [
        (1, "FAILED tests/a.py::test_b - assert 1 == 2", "tests/a.py::test_b"),
        (0, "3 passed", None),
        (1, "ERROR tests/a.py::test_b - fixture", None),
        (2, "FAILED tests/a.py::test_b", None),
        (-1, "no end after 300 seconds", None),
    ],
)
def test_only_a_failed_test_counts(code: int, output: str, caught: str | None) -> None:
    assert MUTATE.failed_test(code, output) == caught


def test_the_script_lists_its_defects() -> None:
    command = [sys.executable, str(SCRIPT), "--list"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) == len(DEFECTS)
