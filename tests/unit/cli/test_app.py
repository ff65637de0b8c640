import shlex
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import inbounds
from inbounds.cli import calibrate, compare, main, release
from inbounds.cli.app import app

COMMANDS = (
    ["calibrate"],
    ["compare"],
    ["release"],
    ["summarize"],
    ["regimes"],
    ["reproduce", "table1"],
    ["reproduce", "figure1"],
    ["compose"],
    ["audit"],
    ["explore"],
    ["ledger", "open"],
    ["ledger", "show"],
    ["ledger", "history"],
    ["ledger", "spend"],
    ["ledger", "verify"],
)


def invoke(*args, **options):
    return CliRunner().invoke(app, args, **options)


def test_version_is_printed():
    assert invoke("--version").stdout == f"inbounds {inbounds.__version__}\n"


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_help_with_an_example_of_itself(command):
    result = invoke(*command, "--help")
    assert result.exit_code == 0
    assert "$ inbounds " + " ".join(command) in result.stdout


def test_help_lists_every_command():
    text = invoke("--help").stdout
    assert all(command[0] in text for command in COMMANDS)


@pytest.mark.parametrize("command", [[], ["reproduce"]], ids=str)
def test_no_command_shows_help_and_is_a_usage_error(command):
    result = invoke(*command)
    assert result.exit_code == 2
    assert "Usage" in result.output
    assert "Error" not in result.output


def test_an_unknown_command_is_one_line_on_standard_error():
    result = invoke("nonsense")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr == "Error: No such command 'nonsense'.\n"


def test_main_returns_the_exit_code(capsys):
    assert main(["--version"]) == 0
    assert main(["calibrate", "--bounds", "0:1"]) == 2
    assert "Missing option '--sensitivity'" in capsys.readouterr().err


def test_main_says_which_package_is_missing(capsys, monkeypatch):
    monkeypatch.delitem(sys.modules, "inbounds.cli.app")
    monkeypatch.setitem(sys.modules, "typer", None)
    assert main(["--version"]) == 1
    assert capsys.readouterr().err == (
        "Error: this needs the package typer, which is not installed. "
        "Hint: pip install 'inbounds[cli]'\n"
    )


def test_help_loads_no_numerical_library():
    script = (
        "import sys; from inbounds.cli import main; main(['calibrate', '--help'])\n"
        "print(sorted({'numpy', 'scipy', 'numba', 'matplotlib', 'flint'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def examples():
    """Return every command line that the help of a command shows."""
    text = "\n\n".join(module.EXAMPLES for module in (calibrate, compare, release))
    parts = [part.strip().replace("\\\n", "") for part in text.split("\n\n")]
    return [part[2:] for part in parts if part.startswith("$ ")]


@pytest.mark.parametrize("line", examples())
def test_an_example_of_the_help_runs(tmp_path, monkeypatch, line):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("name,age\nDoe,41\nRoe,7\n")
    *before, last = line.split(" | ")
    piped = shlex.split(before[0])[1] if before else None
    name, *args = shlex.split(last.split(" > ")[0])
    result = invoke(*args, input=piped)
    assert name == "inbounds"
    assert result.exit_code == 0, result.stderr
    assert result.stdout or len(list(tmp_path.iterdir())) > 1


def test_there_are_examples_of_pipes_and_files():
    lines = examples()
    assert len(lines) == 14
    assert any(line.startswith("echo") for line in lines)
