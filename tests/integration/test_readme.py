"""What the README shows is run as a reader would: every snippet in order, and every command."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from inbounds.cli import main

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
COMMANDS = [line for line in re.findall(r"inbounds [a-z]+ .*?(?=[`\n])", README) if "--" in line]
COLUMNS = {"pay": [12_000.0, 48_000.0, 61_500.0] * 40, "age": [23, 41, 58] * 40}
SETUP = f"""
import warnings
import pandas as pd
import inbounds as ib

frame = pd.DataFrame({COLUMNS!r} | {{"town": ["Rom", "Ulm"] * 60}})
other = ib.BoundedLaplace.calibrated(ib.Box(0, 1), 1, epsilon=0.5)
"""


def run(code: str, folder: Path) -> str:
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_snippets_run_one_after_the_other(tmp_path: Path) -> None:
    checks = """
assert 0 <= m.release(ages.mean()) <= 120
assert all(abs(end - output) < 0.4 for end in m.confidence(output, 0.95))
assert type(hidden).__name__ == "ClampedLaplace"
"""
    printed = run(SETUP + "\n".join(BLOCKS) + checks, tmp_path)
    assert len(BLOCKS) >= 7
    assert "Lowest error: ClampedLaplace" in printed


def test_the_first_snippet_runs_by_itself(tmp_path: Path) -> None:
    run(BLOCKS[0], tmp_path)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_runs(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    code = f"import pandas as pd; pd.DataFrame({COLUMNS!r}).to_parquet('people.parquet')"
    run(code, tmp_path)
    name, *words = shlex.split(command)
    assert name == "inbounds"
    assert main(words) == 0


def test_the_commands_were_found() -> None:
    assert len(COMMANDS) >= 4


def test_the_table_of_mechanisms_is_what_the_command_computes(tmp_path: Path) -> None:
    printed = run(
        "import inbounds as ib; print(ib.compare(ib.Box(0, 120), 2.5, epsilon=1.0))", tmp_path
    )
    rows = re.findall(r"^\| ([A-Zm][\w ]+) \| (.*) \|$", README, re.MULTILINE)
    shown = {name: [c.strip() for c in cells.split("|") if c.strip()] for name, cells in rows}
    mechanisms = ("ClampedLaplace", "BoundedLaplace", "BoundedGaussian", "ClampedGaussian")
    for name in (*mechanisms, "middle of the box"):
        line = next(line for line in printed.splitlines() if re.match(rf"{name}  ", line))
        assert line.removeprefix(name).split()[: len(shown[name])] == shown[name]
