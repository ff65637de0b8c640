"""The command as a shell runs it: pipes, files, signals and exit codes."""

import importlib.metadata
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest

SCRIPT = Path(sysconfig.get_path("scripts")) / "inbounds"
MODULE = [sys.executable, "-m", "inbounds"]
COMMAND = [str(SCRIPT)] if SCRIPT.exists() else MODULE
AGE = ["release", "--bounds", "0:120", "--sensitivity", "120", "--epsilon", "1"]


def run(*args, command=COMMAND, **options):
    return subprocess.run([*command, *args], capture_output=True, check=False, **options)


def shell(line, cwd=None):
    """Run a line of bash in which `inbounds` is the command under test."""
    bash = shutil.which("bash")
    assert bash, "these tests need bash: apt-get install bash"
    script = f'set -o pipefail; inbounds() {{ {shlex.join(COMMAND)} "$@"; }}; {line}'
    return subprocess.run([bash, "-c", script], capture_output=True, check=False, cwd=cwd)


def test_the_installed_command_is_the_module():
    assert SCRIPT.exists(), "install the package first: make setup"
    (entry,) = importlib.metadata.entry_points(group="console_scripts", name="inbounds")
    assert entry.value == "inbounds.cli:main"
    assert run("--version").stdout == run("--version", command=MODULE).stdout


def test_exit_codes_tell_usage_from_failure(tmp_path):
    assert run("calibrate", "--bounds", "0:1").returncode == 2
    assert run(*AGE, "--input", str(tmp_path / "missing")).returncode == 1


def test_json_is_all_there_is_on_standard_output():
    done = run("calibrate", "--bounds", "-5:5", "--sensitivity", "1", "--epsilon", "1", "--json")
    assert json.loads(done.stdout)["bounds"] == [[-5, 5]]
    assert done.returncode == 0
    assert done.stderr == b""


def test_a_pipe_of_a_hundred_thousand_lines_is_answered():
    data = b"".join(b"%d.5\n" % (i % 120) for i in range(100_000))
    done = run(*AGE, input=data)
    answers = [float(line) for line in done.stdout.split()]
    assert len(answers) == 100_000
    assert min(answers) >= 0
    assert max(answers) <= 120
    assert done.stderr.startswith(b"Privacy: 100000 releases at epsilon=1 each")


def test_a_reader_that_leaves_ends_the_command_quietly():
    done = shell(f"yes 41.25 | inbounds {shlex.join(AGE)} | head -n 3")
    assert len(done.stdout.split()) == 3
    text = done.stderr.decode()
    assert "Traceback" not in text
    assert "41.25" not in text
    assert re.search(r"Stopped early\. Privacy: \d+ releases at epsilon=1", text)


def test_a_bad_line_in_a_pipe_is_not_shown_and_prints_nothing_of_its_block():
    done = shell(f"printf '1\\n2\\n77x77\\n' | inbounds {shlex.join(AGE)}")
    assert done.returncode == 1
    assert done.stdout == b""
    assert done.stderr == b"Error: line 3 must be a finite number, as in 41.3.\n"


def test_a_redirected_file_is_checked_whole_before_any_answer(tmp_path):
    (tmp_path / "values").write_text("1\n" * 70_000 + "secret\n")
    done = shell(f"inbounds {shlex.join(AGE)} < values", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout == b""
    assert done.stderr == b"Error: line 70001 must be a finite number, as in 41.3.\n"


def test_an_interrupt_leaves_no_file(tmp_path):
    target = tmp_path / "answers.txt"
    args = [*COMMAND, *AGE, "--output", str(target)]
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(args, **pipes) as process:
        deadline = time.monotonic() + 30
        while not list(tmp_path.iterdir()) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert list(tmp_path.iterdir()) != [target]
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"Traceback" not in errors
    assert list(tmp_path.iterdir()) == []


def test_a_traceback_never_reaches_the_screen():
    script = (
        "import sys, inbounds.cli.rows as rows\n"
        "from inbounds.cli import main\n"
        "rows.math.isfinite = lambda x: 1 / 0\n"
        "sys.exit(main())"
    )
    done = run(*AGE, "88.125", command=[sys.executable, "-c", script])
    assert done.returncode == 1
    assert done.stdout == b""
    assert done.stderr.startswith(b"Error: unexpected ZeroDivisionError in ")
    assert b"88.125" not in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    "line",
    [
        "--version",
        "calibrate --bounds 0:1 --sensitivity 1 --epsilon 1 --json",
        "release --bounds 0:1 --sensitivity 1 --epsilon 1 --output answers.txt 0.5",
        "ledger open survey --epsilon 1 --ledger budget.db --json",
    ],
)
def test_closed_standard_output_is_said_before_anything_is_done(tmp_path, line):
    done = shell(f"inbounds {line} >&-", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr == b"Error: standard output must be open, but it is closed.\n"
    assert list(tmp_path.iterdir()) == []


def test_closed_output_and_errors_are_a_failure_in_silence():
    assert shell("inbounds --version >&- 2>&-").returncode == 1


@pytest.mark.parametrize("extra", [[], ["--csv"]])
def test_a_full_standard_output_is_said_in_one_line(extra):
    line = shlex.join(
        ["compare", "--bounds", "0:1", "--sensitivity", "1", "--epsilon", "1", *extra]
    )
    for buffered in ("unset PYTHONUNBUFFERED", "export PYTHONUNBUFFERED=1"):
        done = shell(f"{buffered}; inbounds {line} >/dev/full")
        assert done.returncode == 1
        assert done.stderr == b"Error: standard output: No space left on device.\n"


def test_a_file_that_grows_too_large_is_named_and_not_left(tmp_path):
    data = b"41\n" * 1000
    (tmp_path / "values").write_bytes(data)
    options = shlex.join([*AGE, "--input", "values", "--output", "answers.txt"])
    done = shell(f"ulimit -f 8; inbounds {options}", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr == b"Error: answers.txt: File too large.\n"
    assert [path.name for path in tmp_path.iterdir()] == ["values"]


@pytest.mark.parametrize("shell_name", ["bash", "zsh", "fish"])
def test_completion_is_offered_for_shells(shell_name):
    environment = os.environ | {"_INBOUNDS_COMPLETE": f"source_{shell_name}"}
    done = run(env=environment)
    assert done.returncode == 0
    assert b"_INBOUNDS_COMPLETE" in done.stdout


def test_completion_can_be_shown_for_the_shell_in_use():
    assert b"_INBOUNDS_COMPLETE" in shell("inbounds --show-completion; true").stdout


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("inbounds cal", "calibrate"),
        ("inbounds calibrate --eps", "--epsilon"),
        ("inbounds calibrate --mechanism bounded-l", "bounded-laplace"),
        ("inbounds reproduce ta", "table1"),
    ],
)
def test_completion_completes(words, found):
    position = str(len(words.split()) - 1)
    request = {"_INBOUNDS_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": position}
    assert found in run(env=os.environ | request).stdout.decode().split()
