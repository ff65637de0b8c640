import json
import os
import subprocess
import sys
from contextlib import nullcontext
from io import BytesIO

import numpy as np
import pytest
from typer.testing import CliRunner

import inbounds as ib
from inbounds.cli.app import app

AGE = ["--bounds", "0:120", "--sensitivity", "120", "--epsilon", "1"]
SURE = ["--bounds", "0:120", "--sensitivity", "1", "--epsilon", "1e9"]  # hardly any noise
GRAPH = ["--bounds", "0:10", "--bounds", "1:9", "--sensitivity", "4", "--sensitivity", "2"]


def release(*args, **options):
    return CliRunner().invoke(app, ["release", *args], **options)


def numbers(text):
    return [float(line) for line in text.splitlines()]


def test_an_output_is_within_bounds():
    result = release(*AGE, "41.3")
    assert result.exit_code == 0
    (output,) = numbers(result.stdout)
    assert 0 <= output <= 120
    assert result.stderr == "Privacy: 1 release at epsilon=1.\n"


def test_outputs_come_in_the_order_of_the_values():
    result = release(*SURE, "100", "-7", "41.5", "1e2")
    assert numbers(result.stdout) == pytest.approx([100, 0, 41.5, 100], abs=0.1)
    warning, cost = result.stderr.splitlines()
    assert warning.startswith("Warning: --epsilon=1e+09 means that an output may change the odds")
    assert cost.startswith("Privacy: 4 releases at epsilon=1e+09 each; together 4 times")


def test_repeated_runs_differ():
    runs = {release(*AGE, "--mechanism", "window", "60").stdout for _ in range(4)}
    assert len(runs) == 4  # a clash: below 1e-6


def test_a_step_gives_whole_numbers():
    lines = release(*AGE, "--step", "1", "41", "42").stdout.splitlines()
    assert all(line.isdigit() for line in lines)
    assert len(lines) == 2


def test_a_row_is_one_joint_release():
    result = release(*GRAPH, "--epsilon", "1e9", "--scaling", "width", "2.5,4.0", "-3,8")
    rows = [list(map(float, line.split(","))) for line in result.stdout.splitlines()]
    assert rows == [pytest.approx([2.5, 4], abs=0.1), pytest.approx([0, 8], abs=0.1)]
    assert "\nPrivacy: 2 joint releases of 2 coordinates at epsilon=1e+09 each" in result.stderr


def test_a_weak_guarantee_is_one_line_on_standard_error_and_json_stays_whole():
    result = release(*AGE[:-1], "1", "--delta", "0.5", "--json", "41.3")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["releases"] == 1
    assert [line.split()[0] for line in result.stderr.splitlines()] == ["Warning:", "Privacy:"]
    assert result.stderr.startswith("Warning: --delta=0.5 would allow even a mechanism")


def test_a_file_is_read_and_a_file_written(tmp_path):
    source, target = tmp_path / "in.csv", tmp_path / "out.txt"
    source.write_text("name,age\nDoe,41\nRoe,7\n")
    options = ["--input", str(source), "--column", "age", "--output", str(target)]
    result = release(*SURE, *options)
    assert result.stdout == ""
    assert numbers(target.read_text()) == pytest.approx([41, 7], abs=0.1)


def test_another_delimiter_is_read_and_written(tmp_path):
    source = tmp_path / "in.csv"
    source.write_text("name;x;y\nDoe;2.5;4\n")
    options = ["--input", str(source), "--column", "x", "--column", "y", "--epsilon", "1e9"]
    result = release(*GRAPH, *options)
    assert result.exit_code == 2
    assert "separated by ';': use --delimiter" in result.stderr
    result = release(*GRAPH, *options, "--delimiter", ";")
    (line,) = result.stdout.splitlines()
    assert list(map(float, line.split(";"))) == pytest.approx([2.5, 4], abs=0.1)


@pytest.mark.parametrize("option", [[], ["--input", "-"]])
def test_standard_input_is_read(option):
    result = release(*SURE, *option, "--output", "-", input="3\r\n4\r\n")
    assert numbers(result.stdout) == pytest.approx([3, 4], abs=0.1)


def test_json_holds_outputs_and_what_they_cost():
    result = release(*SURE, "--json", "5", "6", "--mechanism", "clamped-laplace")
    found = json.loads(result.stdout)
    assert found["answers"] == pytest.approx([5, 6], abs=0.1)
    assert found["releases"] == 2
    assert found["privacy_of_each"] == {"epsilon": 1e9}
    assert found["mechanism"].startswith("ClampedLaplace")


def test_no_value_costs_nothing():
    result = release(*AGE, input="")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "Privacy: no release, so nothing was spent.\n"


@pytest.mark.parametrize("bad", ["secret", "nan", "-inf", "4,5", "", "-x", "--=77"])
def test_a_bad_argument_is_a_usage_error_that_does_not_show_it(bad):
    result = release(*AGE, "12.5", bad)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert "value" in result.stderr
    assert "12.5" not in result.stderr
    assert not bad or bad not in result.stderr


def test_a_misspelt_option_is_named_without_what_follows():
    result = release(*AGE, "--stepp=33.5", "41.5")
    assert result.exit_code == 2
    assert result.stderr == "Error: no such option: --stepp.\n"


@pytest.mark.parametrize("extra", [["--input", "x.csv"], ["--column", "age"]])
def test_values_and_a_source_are_too_much(extra):
    result = release(*AGE, *extra, "41.5")
    assert result.exit_code == 2
    assert f"{extra[0]} must not be given with values" in result.stderr


def test_a_bad_line_of_a_file_stops_everything(tmp_path):
    source, target = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_text("1\n2\nsecret\n")
    target.write_text("old")
    for options in ([], ["--output", str(target), "--force"], ["--json"]):
        result = release(*AGE, "--input", str(source), *options)
        assert result.exit_code == 1
        assert result.stdout == ""
        assert result.stderr == "Error: line 3 must be a finite number, as in 41.3.\n"
    assert target.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 2


@pytest.fixture
def people(tmp_path, monkeypatch):
    """A file of values, and every other way to name it."""
    monkeypatch.chdir(tmp_path)
    source = tmp_path / "people.csv"
    source.write_text("age\n41\n")
    (tmp_path / "soft.csv").symlink_to("people.csv")
    os.link(source, tmp_path / "hard.csv")
    return source


def refuse_to_draw(*_, **__):
    raise AssertionError("an answer was drawn")


@pytest.mark.parametrize("force", [[], ["--force"]])
@pytest.mark.parametrize("target", ["people.csv", "./people.csv", "soft.csv", "hard.csv"])
def test_the_values_are_never_written_over(people, monkeypatch, target, force):
    monkeypatch.setattr(ib.BoundedGaussian, "release", refuse_to_draw)
    options = ["--input", "people.csv", "--column", "age", "--output", target]
    result = release(*AGE, *options, *force)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--output must not be the input file" in result.stderr
    assert people.read_text() == "age\n41\n"


def test_a_link_to_the_output_is_not_read_either(people):
    result = release(*AGE, "--input", "soft.csv", "--column", "age", "--output", str(people))
    assert result.exit_code == 2
    assert people.read_text() == "age\n41\n"


def test_redirected_values_are_never_written_over(people):
    options = ["--column", "age", "--output", "soft.csv", "--force"]
    command = [sys.executable, "-m", "inbounds", "release", *AGE, *options]
    with people.open() as values:
        done = subprocess.run(command, stdin=values, capture_output=True, check=False)
    assert done.returncode == 2
    assert b"--output must not be the input file" in done.stderr
    assert people.read_text() == "age\n41\n"


def test_another_file_is_replaced_only_by_force(people, monkeypatch):
    target = people.with_name("answers.txt")
    target.write_text("old")
    options = ["--input", "people.csv", "--column", "age", "--output", "answers.txt"]
    with monkeypatch.context() as patch:
        patch.setattr(ib.BoundedGaussian, "release", refuse_to_draw)
        result = release(*SURE, *options)
    assert result.exit_code == 2
    hint = "Hint: --force replaces it. To draw again is another release."
    assert result.stderr == f"Error: 'answers.txt' exists already. {hint}\n"
    assert target.read_text() == "old"
    assert release(*SURE, *options, "--force").exit_code == 0
    assert numbers(target.read_text()) == pytest.approx([41], abs=0.1)


def test_a_full_device_is_named():
    result = release(*AGE, "41", "--output", "/dev/full")
    assert result.exit_code == 1
    assert result.stderr.endswith("Error: /dev/full: No space left on device.\n")


def test_a_missing_file_is_a_failure_that_names_it():
    result = release(*AGE, "--input", "missing.txt")
    assert result.exit_code == 1
    assert result.stderr == "Error: missing.txt: No such file or directory.\n"


class Pipe(BytesIO):
    def seekable(self):
        return False


@pytest.fixture
def pipe(monkeypatch):
    """Standard input that cannot be read twice, and blocks of two values."""

    def opened(_):
        return nullcontext(Pipe(b"1\n2\n3\n4\n5\nsecret\n7\n"))

    monkeypatch.setattr("inbounds.cli.release.opened", opened)
    monkeypatch.setattr("inbounds.cli.release._BLOCK", 2)


@pytest.mark.usefixtures("pipe")
def test_a_bad_line_of_a_pipe_leaves_what_was_printed_accounted_for():
    result = release(*AGE)
    assert result.exit_code == 1
    assert len(result.stdout.splitlines()) == 4
    spent, error = result.stderr.splitlines()
    assert spent.startswith("Stopped early. Privacy: 4 releases at epsilon=1 each")
    assert error == "Error: line 6 must be a finite number, as in 41.3."


@pytest.mark.usefixtures("pipe")
@pytest.mark.parametrize("held", ["--output", "--json"])
def test_a_bad_line_of_a_pipe_costs_nothing_where_outputs_are_held_back(tmp_path, held):
    target = tmp_path / "out.txt"
    result = release(*AGE, held, *([str(target)] if held == "--output" else []))
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr == "Error: line 6 must be a finite number, as in 41.3.\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("pipe")
def test_a_device_holds_nothing_back():
    result = release(*AGE, "--output", "/dev/null")
    assert "Privacy: 4 releases" in result.stderr


def test_blocks_give_as_many_outputs_as_values(monkeypatch):
    monkeypatch.setattr("inbounds.cli.release._BLOCK", 3)
    values = np.linspace(0, 120, 10)
    result = release(*SURE, input="\n".join(map(repr, values.tolist())))
    assert numbers(result.stdout) == pytest.approx(values, abs=0.1)
