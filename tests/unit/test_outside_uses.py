"""Benchmarks, examples and scripts, which no other test runs whole, use names that exist."""

import ast
import importlib
import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
USED = sorted(
    (str(path.relative_to(ROOT)), node.module, name.name)
    for folder in ("benchmarks", "examples", "scripts")
    for path in (ROOT / folder).glob("*.py")
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("inbounds")
    for name in node.names
)


def test_there_are_names_to_look_for() -> None:
    assert len(USED) > 20


@pytest.mark.parametrize(("file", "module", "name"), USED)
def test_a_name_that_is_imported_exists(file: str, module: str, name: str) -> None:
    found = importlib.import_module(module)
    assert hasattr(found, name) or importlib.util.find_spec(f"{module}.{name}"), file
