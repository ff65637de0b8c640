import csv
import io
import json

import pytest
from typer.testing import CliRunner

import inbounds as ib
from inbounds.cli.app import app

AGE = ["--bounds", "0:120", "--sensitivity", "30", "--epsilon", "1"]
GRAPH = ["--bounds", "0:10", "--bounds", "1:9", "--sensitivity", "4", "--sensitivity", "2"]


def compare(*args):
    return CliRunner().invoke(app, ["compare", *args])


@pytest.fixture(scope="module")
def expected():
    return ib.compare(ib.Box(0, 120), 30, epsilon=1.0)


def test_the_table_shows_every_mechanism_and_the_advice_once(expected):
    text = compare(*AGE).stdout
    assert all(contender.name in text for contender in expected.contenders)
    assert text.count("Lowest error: Optimal") == 1


def test_json_holds_the_rows_and_the_advice(expected):
    found = json.loads(compare(*AGE, "--json").stdout)
    assert found["advice"] == expected.advice()
    assert found["mechanisms"] == expected.rows()
    assert (found["epsilon"], found["delta"]) == (1, 0)


def test_csv_holds_the_rows(expected):
    rows = list(csv.DictReader(io.StringIO(compare(*AGE, "--csv").stdout)))
    scales = {c.name: getattr(c.mechanism, "scale", "") for c in expected.contenders}
    for row in rows:
        assert row["scale"] == str(scales.get(row["mechanism"], ""))
    others = {"middle of the box", "limit"}
    assert {row["mechanism"] for row in rows} == {*scales, *others}
    assert rows[0]["mechanism"] == expected.best().name
    assert 0 <= float(rows[0]["mse_above_limit_percent"]) < 2


def test_steps_are_heeded():
    count = ["--bounds", "0:20", "--sensitivity", "1", "--epsilon", "1"]
    found = json.loads(compare(*count, "--step", "1", "--json").stdout)
    assert found["domain"] == "Box(0, 20, step=1)"
    assert found["mechanisms"] == ib.compare(ib.Box(0, 20, step=1), 1, epsilon=1.0).rows()


def test_people_and_rho_are_heeded():
    phones = ["--bounds", "0:120", "--sensitivity", "120"]
    found = json.loads(compare(*phones, "--epsilon", "1", "--people", "1000", "--json").stdout)
    assert found["people"] == 1000
    assert found["mechanisms"][0]["mechanism"] == "Optimal (unbiased)"
    assert found["mechanisms"][0]["mean_rmse"] < found["mechanisms"][0]["average_rmse"] / 10
    found = json.loads(compare(*phones, "--rho", "0.1", "--json").stdout)
    assert (found["epsilon"], found["rho"], found["beats_the_middle"]) == (None, 0.1, True)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            [],
            "--epsilon or --rho must be given, but not both, got neither. "
            "Hint: for example --epsilon 1.",
        ),
        (
            ["--epsilon", "1", "--rho", "1"],
            "--epsilon or --rho must be given, but not both, got both.",
        ),
        (
            ["--epsilon", "1", "--people", "0"],
            "--people must be a whole number from 1 to 1,000,000,000,000, got people=0.",
        ),
    ],
)
def test_what_makes_no_sense_is_a_usage_error(given, said):
    result = compare(*AGE[:4], *given)
    assert (result.exit_code, result.stderr) == (2, f"Error: {said}\n")


def test_a_delta_and_several_coordinates_are_heeded():
    found = json.loads(compare(*GRAPH, "--epsilon", "1", "--delta", "1e-3", "--json").stdout)
    assert found["delta"] == 1e-3
    assert found["sensitivity"] == "PerCoordinate([4, 2])"
    assert any(row["mechanism"] == "ClampedGaussian" for row in found["mechanisms"])


def test_the_comparison_is_drawn(tmp_path):
    path = tmp_path / "comparison.pdf"
    assert compare(*AGE, "--plot", str(path)).exit_code == 0
    assert path.read_bytes().startswith(b"%PDF")


def test_json_and_csv_together_are_a_usage_error():
    result = compare(*AGE, "--json", "--csv")
    assert result.exit_code == 2
    assert result.stderr == "Error: --csv must not be given with --json.\n"


def test_a_bad_delta_is_named():
    result = compare(*AGE, "--delta", "1")
    assert result.exit_code == 2
    assert result.stderr == "Error: --delta must be below 1, got delta=1.0.\n"
