import json

import pytest
from typer.testing import CliRunner

import inbounds as ib
from inbounds.cli.app import app

AGE = ["--bounds", "0:120", "--sensitivity", "30", "--epsilon", "1"]


def limit(*args):
    return CliRunner().invoke(app, ["limit", *args])


@pytest.mark.parametrize("objective", ["average", "worst", "unbiased"])
def test_json_holds_the_bracket(objective):
    found = json.loads(limit(*AGE, "--objective", objective, "--json").stdout)
    expected = ib.limit(ib.Box(0, 120), 30, epsilon=1.0, objective=objective)
    assert (found["lower"], found["upper"]) == (expected.lower, expected.upper)
    assert (found["objective"], found["rmse"]) == (objective, list(expected.rmse))


def test_the_table_says_what_is_bounded():
    text = limit(*AGE).stdout
    assert "The least possible error" in text
    assert "average over the values" in text


def test_the_proof_is_written_and_checks_itself(tmp_path):
    path = tmp_path / "limit.json"
    assert limit(*AGE, "--certificate", str(path)).exit_code == 0
    proof = ib.LimitCertificate.from_json(path.read_text()).check()
    assert proof.lower == ib.limit(ib.Box(0, 120), 30, epsilon=1.0).lower


def test_steps_are_heeded():
    found = json.loads(limit(*AGE, "--step", "10", "--json").stdout)
    assert found["domain"] == "Box(0, 120, step=10)"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--bounds", "0:1"], "domain must be an interval: no certified limit is known"),
        (["--objective", "median"], "'median' is not one of"),
        (["--delta", "1e-6"], "No such option"),
    ],
)
def test_what_has_no_limit_is_a_usage_error(more, said):
    result = limit(*AGE, *more)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())
