import ast
import errno
import json
import warnings
from pathlib import Path

import pytest
from typer.testing import CliRunner

from inbounds.cli import failure
from inbounds.cli.app import app
from inbounds.cli.failure import InputError, UsageError, exit_code_of, in_options
from inbounds.errors import (
    ArgumentError,
    ArgumentTypeError,
    CertificateError,
    Hint,
    WeakGuaranteeWarning,
)


def raiser(error):
    def command():
        raise error

    return command


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (UsageError("--a must not be given."), 2, "--a must not be given."),
        (ArgumentError.must_be("epsilon", "positive"), 2, "--epsilon must be positive."),
        (ArgumentError("epsilon is a letter."), 2, "epsilon is a letter."),
        (CertificateError("not proved."), 1, "not proved."),
        (InputError("line 3 must be a number."), 1, "line 3 must be a number."),
        (FileNotFoundError(errno.ENOENT, "No such file", "x.csv"), 1, "x.csv: No such file."),
        (TimeoutError(), 1, "TimeoutError."),
        (OSError(errno.ENOSPC, "No space", "x.csv"), 1, "x.csv: No space."),
        (OSError(errno.ENOSPC, "No space"), 1, "standard output: No space."),
        (
            ModuleNotFoundError("no", name="matplotlib.figure"),
            1,
            "this needs the package matplotlib, which is not installed. "
            "Hint: pip install 'inbounds[plots]'",
        ),
        (
            ModuleNotFoundError("no", name="elsewhere"),
            1,
            "the package 'elsewhere' cannot be imported.",
        ),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_an_error_is_one_line_and_a_code(capsys, error, code, line):
    assert exit_code_of(raiser(error)) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == f"Error: {line}\n"


def test_an_unexpected_error_shows_its_place_and_not_its_message(capsys):
    assert exit_code_of(raiser(ValueError("could not convert 'secret 77'"))) == 1
    text = capsys.readouterr().err
    assert text.startswith("Error: unexpected ValueError in test_failure.py, line ")
    assert text.count("\n") == 1
    assert "77" not in text.replace(text.split("line ")[1].split(".")[0], "")
    assert "secret" not in text


def test_an_integer_result_is_the_exit_code():
    assert exit_code_of(lambda: 130) == 130
    assert exit_code_of(lambda: None) == 0


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ArgumentError.must_be("delta", "below 1"), "--delta must be below 1."),
        (ArgumentError.must_be("upper", "above lower"), "--bounds: upper must be above lower."),
        (ArgumentError.must("domain", "have widths"), "--bounds: domain must have widths."),
        (ArgumentTypeError("delta is too small.", argument="delta"), "--delta is too small."),
        (ArgumentError("deltas are fine."), "deltas are fine."),
        (
            ArgumentError.must(
                "sensitivity",
                "bound each",
                hint=Hint("use {} or {}.", "PerCoordinate([...])", "LInf(...)"),
            ),
            "--sensitivity must bound each. "
            "Hint: use --sensitivity once per coordinate or --norm linf.",
        ),
        (
            ArgumentError.must_be("people", "few", hint="say LInf(...) aloud."),
            "--people must be few. Hint: say LInf(...) aloud.",
        ),
    ],
)
def test_library_errors_are_said_in_options(error, said):
    assert in_options(error) == said


def test_what_hints_say_in_code_has_an_option():
    """Code in a hint that no option stands for would reach users of the command line as it is."""
    source = Path(failure.__file__).parents[1]
    calls = [
        node
        for path in source.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Hint"
    ]
    texts = [part.value for call in calls for part in call.args[1:] if hasattr(part, "value")]
    assert len(calls) >= 6
    assert {text for text in texts if isinstance(text, str)} <= failure._CODE.keys()


def test_an_interrupt_is_code_130(monkeypatch):
    args = ["reproduce", "table1", "--json"]
    monkeypatch.setattr("inbounds.analysis.reproduction.table1", raiser(KeyboardInterrupt()))
    assert CliRunner().invoke(app, args).exit_code == 130


def test_an_error_in_a_command_leaves_standard_output_empty(monkeypatch):
    def fail(*_, **__):
        raise RuntimeError(json.dumps({"value": "secret"}))

    monkeypatch.setattr("inbounds.mechanisms.bounded_gaussian.BoundedGaussian.release", fail)
    args = ["release", "--bounds", "0:9", "--sensitivity", "1", "--epsilon", "1", "4.25"]
    result = CliRunner().invoke(app, [*args, "--mechanism", "bounded-gaussian"])
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "unexpected RuntimeError" in result.stderr
    assert "secret" not in result.stderr
    assert "4.25" not in result.stderr


def test_our_warnings_are_lines_said_once_and_others_are_left_alone(capsys):
    def warn():
        for name, text in (("epsilon", "=50 means much."), ("delta", "=0.5 means more.")):
            for _ in range(2):
                warnings.warn(WeakGuaranteeWarning(name + text, argument=name), stacklevel=1)

    assert exit_code_of(warn) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines() == [
        "Warning: --epsilon=50 means much.",
        "Warning: --delta=0.5 means more.",
    ]
    with pytest.warns(DeprecationWarning, match="other"):
        exit_code_of(lambda: warnings.warn("other", DeprecationWarning, stacklevel=1))
