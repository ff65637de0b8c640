"""Every example in the reference runs as a reader pastes it: by itself, in a new session."""

import ast
import doctest
import inspect
import re
import tempfile
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from inbounds import Ledger

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
PACKAGES = ("inbounds", "inbounds.frames", "inbounds.plots", "inbounds.queries", "inbounds.sklearn")
PARSER = doctest.DocTestParser()


def described() -> set[str]:
    """The names that the pages of the reference describe."""
    pages = [page.read_text(encoding="utf-8") for page in REFERENCE.glob("*.md")]
    return set(re.findall(r"^\.\. auto\w+:: (\S+)", "\n".join(pages), re.MULTILINE))


def exported() -> set[str]:
    """The names that packages export."""
    return {f"{package}.{name}" for package in PACKAGES for name in import_module(package).__all__}


def value_of(name: str) -> Any:
    package, _, last = name.rpartition(".")
    if not package:
        return import_module(name)
    return getattr(value_of(package), last, None) or import_module(name)


def parts(value: Any) -> Iterator[tuple[str, Any]]:
    """The public methods and properties of a class of ours, inherited or not; a module's functions.

    What a class of scikit-learn defines is not ours, and neither are the fields of a data class,
    which have no docstrings. The modules that describe names by themselves have no parts here.
    """
    if inspect.isclass(value):
        ours = [kind for kind in value.__mro__ if kind.__module__.startswith("inbounds.")]
        for name in sorted({name for kind in ours for name in vars(kind)}):
            member = next(vars(kind)[name] for kind in value.__mro__ if name in vars(kind))
            yield name, getattr(member, "__func__", member)  # `classmethod` has its own docstring
    elif isinstance(value, ModuleType) and not hasattr(value, "__all__"):
        yield from inspect.getmembers(
            value, lambda part: inspect.isfunction(part) and part.__module__ == value.__name__
        )


def docstrings() -> dict[str, str]:
    """The docstring of every public name, class member and package, by its name."""
    found = {}
    for name in sorted({*PACKAGES, *described(), *exported()} - {"inbounds.errors"}):
        value = value_of(name)
        found[name] = inspect.getdoc(value) or ""
        for part, member in parts(value):
            if not part.startswith("_"):
                found[f"{name}.{part}"] = inspect.getdoc(member) or ""
    return found


def examples(docstring: str) -> list[doctest.Example]:
    return PARSER.get_examples(docstring)


DOCSTRINGS = docstrings()
# What several classes inherit runs once, under the last of its names in the alphabet.
WITH_EXAMPLES = {text: name for name, text in DOCSTRINGS.items() if examples(text)}
EACH = pytest.mark.parametrize(
    "docstring", [pytest.param(text, id=name) for text, name in WITH_EXAMPLES.items()]
)


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config
) -> Callable[[str], str]:
    """Run a docstring's examples with nothing imported, and return a report of what failed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    names = pytestconfig.getini("doctest_optionflags")
    flags = sum(doctest.OPTIONFLAGS_BY_NAME[name] for name in names)

    def report(docstring: str) -> str:
        failures: list[str] = []
        session = {"__name__": "__main__"}
        test = PARSER.get_doctest(docstring, session, "docstring", None, None)
        doctest.DocTestRunner(optionflags=flags).run(test, out=failures.append)
        return "".join(failures)

    return report


def unused_imports(docstring: str) -> set[str]:
    """The names that examples import and do not use."""
    nodes = [*ast.walk(ast.parse("".join(example.source for example in examples(docstring))))]
    imported = {
        (alias.asname or alias.name).partition(".")[0]
        for node in nodes
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    return imported - {node.id for node in nodes if isinstance(node, ast.Name)}


@EACH
def test_an_example_runs_as_it_is_pasted(docstring: str, run: Callable[[str], str]) -> None:
    assert run(docstring) == ""


@EACH
def test_an_example_imports_nothing_that_it_does_not_use(docstring: str) -> None:
    assert unused_imports(docstring) == set()


def test_an_example_without_its_import_is_detected(run: Callable[[str], str]) -> None:
    pasted = ">>> import inbounds as ib\n>>> ib.Box(0, 120)\nBox(0, 120)\n"
    assert run(pasted) == ""
    assert "name 'Box' is not defined" in run(pasted.replace("ib.Box", "Box"))
    assert "name 'ib' is not defined" in run(pasted.partition("\n")[2])
    assert unused_imports(">>> import numpy as np\n" + pasted) == {"np"}


def test_names_of_every_kind_are_found() -> None:
    assert {
        "inbounds.Box",
        "inbounds.Mechanism.release",
        "inbounds.Mechanism.asked",
        "inbounds.Mechanism.from_json",
        "inbounds.Ledger.would_fit",
        "inbounds.data.load_anes96",
        "inbounds.frames.mean",
        "inbounds.queries.graph.degree",
        "inbounds.sklearn.Privatizer",
    } <= DOCSTRINGS.keys()
    assert len(WITH_EXAMPLES) > 100


@pytest.mark.parametrize("name", [name for name in dir(Ledger) if not name.startswith("_")])
def test_every_method_of_a_ledger_has_an_example(name: str) -> None:
    assert examples(DOCSTRINGS[f"inbounds.Ledger.{name}"])
