import json
import sys

import pytest
from typer.testing import CliRunner

from inbounds.cli import audit as command
from inbounds.cli.app import app
from inbounds.cli.failure import UsageError

UNIT = ["--bounds", "0:1", "--sensitivity", "1"]
FEW = ["--releases", "2e4"]


def audit(*args):
    return CliRunner().invoke(app, ["audit", *args])


@pytest.fixture
def functions(tmp_path, monkeypatch):
    """A module of the user's own, found in the current directory."""
    (tmp_path / "my_noise.py").write_text(
        "import random\n"
        "def leaky(value):\n"
        "    return value if random.random() < 0.5 else 0.5\n"
        "class Harmless:\n"
        "    def release(self, values):\n"
        "        return 0 * values\n"
        "harmless = Harmless()\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    yield
    sys.modules.pop("my_noise", None)


def test_a_guarantee_that_holds_is_shown_and_the_exit_code_is_zero():
    result = audit(*UNIT, "--epsilon", "1", *FEW)
    assert result.exit_code == 0
    for part in ("Optimal(Box(0, 1), L2(1)", "claimed", "proved", "Not refuted"):
        assert part in result.stdout


def test_json_holds_the_finding():
    facts = json.loads(audit(*UNIT, "--epsilon", "1", *FEW, "--json").stdout)
    assert facts["passed"] is True
    assert facts["epsilon_lower"] < facts["claimed_epsilon"] == 1
    assert facts["releases"] == 20_000
    assert facts["confidence"] == 0.999


@pytest.mark.parametrize(
    "options",
    [
        ["--mechanism", "bounded-laplace"],
        ["--mechanism", "clamped-laplace"],
        ["--mechanism", "clamped-gaussian", "--delta", "1e-3"],
        ["--method", "paper"],
        ["--step", "0.1"],
        ["--bounds", "0:2", "--norm", "l1"],
    ],
    ids=" ".join,
)
def test_every_way_of_calibrating_passes(options):
    result = audit(*UNIT, "--epsilon", "1", *FEW, *options, "--confidence", "0.999999", "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["claimed_epsilon"] == 1


def test_a_function_that_leaks_is_refuted_with_exit_code_three(functions):
    result = audit(*UNIT, "--epsilon", "1", *FEW, "--function", "my_noise:leaky", "--json")
    assert result.exit_code == 3
    assert json.loads(result.stdout)["passed"] is False
    assert result.stderr == ""


@pytest.mark.parametrize("code", ["0", "3", "None"])
def test_a_function_that_breaks_down_is_not_refuted(functions, tmp_path, code):
    """Nor does one that ends the program pass, whatever code it ends it with."""
    (tmp_path / "broken.py").write_text(
        f"import sys\ndef leave(value): sys.exit({code})\ndef fail(value): raise ValueError('41')\n"
    )
    sys.modules.pop("broken", None)
    for function in ("broken:leave", "broken:fail"):
        result = audit(*UNIT, "--epsilon", "1", *FEW, "--function", function)
        assert result.exit_code == 1
        assert "41" not in result.stderr


def test_an_error_of_the_function_is_reported_with_its_place(functions, tmp_path):
    (tmp_path / "raises.py").write_text("import math\ndef f(value):\n    return math.sqrt(-4711)\n")
    result = audit(*UNIT, "--epsilon", "1", *FEW, "--function", "raises:f")
    assert result.exit_code == 1
    assert result.stderr == (
        "Error: --function raised ValueError (raises.py, line 3). "
        "The audit gives no verdict on raises:f.\n"
    )


@pytest.mark.parametrize(
    ("module", "output"),
    [
        ("gives_nan", "float('nan')"),
        ("gives_none", "None"),
        ("gives_text", "'4711'"),
        ("gives_a_list", "[1, 2]"),
        ("gives_infinity", "float('inf')"),
        ("gives_a_complex_number", "1j"),
    ],
)
def test_outputs_that_are_no_numbers_are_a_breakdown(functions, tmp_path, module, output):
    (tmp_path / f"{module}.py").write_text(f"def f(value): return {output}\n")
    result = audit(*UNIT, "--epsilon", "1", *FEW, "--function", f"{module}:f")
    assert result.exit_code == 1
    assert "--function: the mechanism must" in result.stderr
    assert "4711" not in result.stderr


def test_of_a_class_an_instance_is_asked_for(functions):
    result = audit(*UNIT, "--epsilon", "1", *FEW, "--function", "my_noise:Harmless")
    assert result.exit_code == 2
    assert "--function must be an object, got the class Harmless." in result.stderr
    assert "Hint: pass an instance" in result.stderr
    result = audit(*UNIT, "--epsilon", "1", "--function", "math:pi")
    assert result.exit_code == 2
    assert "--function must have a method release(values), or be a function." in result.stderr


def test_an_object_with_a_release_method_can_be_named(functions):
    result = audit(*UNIT, "--epsilon", "1", *FEW, "--function", "my_noise:harmless")
    assert result.exit_code == 0
    assert "Not refuted" in result.stdout


def test_the_audit_is_drawn(tmp_path):
    path = tmp_path / "audit.svg"
    assert audit(*UNIT, "--epsilon", "1", *FEW, "--plot", str(path)).exit_code == 0
    assert b"<svg" in path.read_bytes()


def test_help_tells_the_exit_codes():
    text = " ".join(audit("--help").stdout.split())
    assert "exit code is 0 if the claimed epsilon was not refuted, and 3 if it was" in text
    assert "$ inbounds audit" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--function", "random"], "--function must be MODULE:NAME, got 'random'"),
        (["--function", "random:nothing"], "--function: random has no 'nothing'"),
        (["--function", "random:gauss", "--method", "paper"], "--method must not be given with"),
        (["--function", "random:gauss", "--step", "1"], "--step must not be given with"),
        (["--releases", "10"], "releases must be a whole number"),
        (["--confidence", "2"], "confidence must be"),
        (["--delta", "1e-3", "--mechanism", "bounded-laplace"], "--delta must not be given with"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_bad_option_is_named(options, message):
    result = audit(*UNIT, "--epsilon", "1", *options)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_module_that_is_not_there_is_named():
    result = audit(*UNIT, "--epsilon", "1", "--function", "no_such_module:f")
    assert result.exit_code == 1
    assert "no_such_module" in result.stderr


def test_a_method_of_a_class_can_be_named():
    assert command.load("math:sqrt")(9.0) == 3
    assert command.load("random:Random.gauss").__name__ == "gauss"
    with pytest.raises(UsageError):
        command.load(":f")
