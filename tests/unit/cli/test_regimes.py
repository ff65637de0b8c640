import json

import pytest
from typer.testing import CliRunner

from inbounds.analysis import regimes as analysis
from inbounds.cli.app import app

compute = analysis.regimes


@pytest.fixture(autouse=True)
def coarse(monkeypatch):
    """Four cells say as much about the command as the whole map."""
    grid = {"fractions": [0.01, 1.0], "epsilons": [0.1, 1.0]}
    monkeypatch.setattr(analysis, "regimes", lambda **options: compute(**grid, **options))


def regimes(*args):
    return CliRunner().invoke(app, ["regimes", *args])


def test_the_map_names_the_best_mechanism_of_each_cell():
    text = regimes("--delta", "0").stdout
    cells = [line.split() for line in text.splitlines()]
    assert ["ε", "1", "100"] in cells
    assert ["0.1", "O", "O"] in cells


def test_the_map_is_machine_readable():
    found = json.loads(regimes("--delta", "1e-6", "--dimension", "2", "--json").stdout)
    assert (found["delta"], found["dimension"]) == (1e-6, 2)
    assert (found["shares"], found["epsilons"]) == ([0.01, 1.0], [0.1, 1.0])
    assert len(found["rmse"]) == len(found["names"])
    assert found["best"][0][0] in found["names"]


def test_the_map_is_drawn(tmp_path):
    path = tmp_path / "map.svg"
    assert regimes("--delta", "0", "--plot", str(path)).exit_code == 0
    assert b"<svg" in path.read_bytes()


@pytest.mark.parametrize(
    ("args", "named"),
    [
        ([], "--delta"),
        (["--delta", "1"], "--delta"),
        (["--delta", "0", "--dimension", "0"], "--dim"),
    ],
)
def test_a_bad_option_is_named(args, named):
    result = regimes(*args)
    assert result.exit_code == 2
    assert named in result.stderr
