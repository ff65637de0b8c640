"""Foreign code that wants a verdict without an audit: exit codes 0 and 3 are earned by a result."""

import sys
from itertools import count
from pathlib import Path

import pytest
from typer.testing import CliRunner

from inbounds.cli.app import app

UNIT = ["--bounds", "0:1", "--sensitivity", "1", "--epsilon", "1", "--releases", "2000"]
NUMBER = count()
ENDS = [
    *(
        "raise SystemExit(0)",
        "raise SystemExit(3)",
        "raise SystemExit",
        "import sys; sys.exit('x')",
    ),
    *("import typer; raise typer.Exit(0)", "import typer; raise typer.Exit(3)"),
    *("import typer; raise typer.Abort", "import typer; raise typer.BadParameter('4711')"),
    *(
        "import click; raise click.exceptions.Exit(0)",
        "import click; raise click.exceptions.Exit(3)",
    ),
    *("raise BaseException('4711')", "raise GeneratorExit", "raise ValueError('4711')", "1 / 0"),
    *(
        "from inbounds.errors import ArgumentError as E; raise E('epsilon 4711')",
        "raise StopIteration",
    ),
    *(
        "from inbounds.cli.failure import UsageError as E; raise E('4711')",
        "raise AttributeError('4711')",
    ),
    *(
        "import inbounds; inbounds.Box(4711, 1)",
        "raise ModuleNotFoundError('4711')",
        "raise OSError(4711)",
    ),
]
PLACES = {
    "in the module": "{end}\ndef f(value): return value\n",
    "in the function": "def f(value):\n    {end}\n",
    "in a look-up": "def __getattr__(name):\n    {end}\n",
    "in an object": "class M:\n    def release(self, values):\n        {end}\nf = M()\n",
    "in a name": "class M:\n    def __repr__(self):\n        {end}\n"
    "    def release(self, values): return values\nf = M()\n",
    "in an attribute": "class M:\n    def __getattr__(self, name):\n        {end}\nf = M()\n",
    "in an output": "class N:\n    def __float__(self):\n        {end}\n"
    "    def __array__(self, *a, **k):\n        {end}\ndef f(value): return N()\n",
}


def audited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, function: str = "f"):
    """Run the command on a module of this code, whose name no other test uses."""
    module = f"foreign_{next(NUMBER)}"
    (tmp_path / f"{module}.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    return module, CliRunner().invoke(app, ["audit", *UNIT, "--function", f"{module}:{function}"])


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("end", ENDS)
def test_no_end_of_foreign_code_is_a_verdict(tmp_path, monkeypatch, place, end) -> None:
    if place == "in a look-up" and end.startswith("raise AttributeError"):
        end = "raise RuntimeError('4711')"  # the way to say that there is no such name
    module, result = audited(tmp_path, monkeypatch, PLACES[place].format(end=end))
    said = result.stdout + result.stderr
    if place == "in an attribute" and "AttributeError" in end:
        assert result.exit_code == 2  # an object without release, and no function
        return
    assert result.exit_code == 1, said
    assert "efuted" not in said.lower()
    assert result.stderr.count("\n") == 1
    assert "Please report" not in said
    assert "4711" not in said.replace(f"{module}.py", "")
    assert module in said


@pytest.mark.parametrize(("output", "code"), [("value", 3), ("0.5", 0)])
def test_a_result_is_a_verdict(tmp_path, monkeypatch, output, code) -> None:
    """The control: the same codes, with what they stand for."""
    _, result = audited(tmp_path, monkeypatch, f"def f(value): return {output}\n")
    assert result.exit_code == code
    assert ("REFUTED" if code else "Not refuted") in result.stdout


@pytest.mark.parametrize("code", [0, 3])
@pytest.mark.parametrize(
    "kind",
    [
        "class E(Exception):\n    __class__ = property(lambda self: sys.exit({code}))\n",
        "class T(type):\n    __name__ = property(lambda kind: sys.exit({code}))\n"
        "class E(Exception, metaclass=T):\n    pass\n",
    ],
    ids=["by its class", "by its name"],
)
def test_an_error_gives_no_verdict_when_it_is_looked_at(tmp_path, monkeypatch, kind, code) -> None:
    text = f"import sys\n{kind.format(code=code)}def f(value):\n    raise E\n"
    _, result = audited(tmp_path, monkeypatch, text)
    assert result.exit_code == 1
