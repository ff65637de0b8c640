import json

import pytest
from typer.testing import CliRunner

from inbounds.analysis import reproduction
from inbounds.cli.app import app

PUBLISHED = {0.1: (1320, 857.5, 290.9), 1: (132, 84.4, 32.3), 3: (44, 27.2, 12.2)}


compute = reproduction.figure1


@pytest.fixture(autouse=True)
def coarse(monkeypatch):
    """Two points say as much about the command as the whole curve."""
    monkeypatch.setattr(reproduction, "figure1", lambda: compute([0.5, 2.0]))


def reproduce(*args):
    return CliRunner().invoke(app, ["reproduce", *args])


def test_table1_shows_the_published_numbers_beside_the_exact_ones():
    lines = reproduce("table1").stdout.splitlines()
    for three in PUBLISHED.values():
        assert any(all(f"{number:.1f}" in line for number in three) for line in lines)


def test_table1_is_machine_readable():
    rows = {row["epsilon"]: row for row in json.loads(reproduce("table1", "--json").stdout)}
    for epsilon, three in PUBLISHED.items():
        found = [rows[epsilon][key] for key in ("liu", "paper", "exact")]
        assert found == pytest.approx(three, abs=0.06)
    assert rows[1]["paper_below_liu_percent"] == pytest.approx(36.1, abs=0.05)


def test_figure1_is_machine_readable():
    found = json.loads(reproduce("figure1", "--json").stdout)
    assert {"epsilons", "liu", "paper", "exact", "exact_below_liu_percent"} <= found.keys()
    assert all(
        a > b > c for a, b, c in zip(*(found[k] for k in ("liu", "paper", "exact")), strict=True)
    )


def test_figure1_is_drawn(tmp_path):
    path = tmp_path / "figure1.png"
    result = reproduce("figure1", "--plot", str(path))
    assert result.exit_code == 0, result.stderr
    assert path.read_bytes().startswith(b"\x89PNG")
    assert result.stdout == f"Figure 1 is in {path}.\n"


def test_figure1_must_go_somewhere():
    result = reproduce("figure1")
    assert result.exit_code == 2
    assert result.stderr == "Error: --plot FILE or --json must be given.\n"
