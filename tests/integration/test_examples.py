"""Every example runs as a user would run it."""

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples"


def run(name: str, *arguments: str, cwd: Path) -> str:
    command = [sys.executable, "-W", "error", str(FOLDER / name), *arguments]
    return subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("one_number.py", ["ClampedStaircase(", "private mean", "pure epsilon     1.0000"]),
        ("graph.py", ["algebraic connectivity", "degree of node 0"]),
        ("choose_mechanism.py", ["Lowest error: ", "Lowest error: BoundedGaussian"]),
    ],
)
def test_an_example_prints_what_it_promises(name: str, words: list[str], tmp_path: Path) -> None:
    output = run(name, cwd=tmp_path)
    for word in words:
        assert word in output
    assert not list(tmp_path.iterdir())


def test_the_demo_shows_the_table_and_writes_its_figures(tmp_path: Path) -> None:
    output = run("demo.py", "results", cwd=tmp_path)
    for liu, paper, exact in ((1320.0, 857.5, 290.9), (132.0, 84.4, 32.3), (44.0, 27.2, 12.2)):
        row = next(line for line in output.splitlines() if f" {liu} " in line)
        assert f" {paper} " in row
        assert f" {exact} " in row
    written = {path.name for path in (tmp_path / "results").iterdir()}
    figures = {"figure1.png", "graph.png", "column.png", "comparison.png"}
    assert figures | {"table1.json", "table.csv", "comparison.csv"} <= written
    assert all((tmp_path / "results" / name).stat().st_size > 500 for name in written)


def test_every_example_is_tested() -> None:
    names = {path.name for path in FOLDER.glob("*.py")}
    assert names == {"one_number.py", "graph.py", "choose_mechanism.py", "demo.py"}
