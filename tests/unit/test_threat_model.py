"""Every test that the threat model and the index of attacks name exists."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ("docs/threat-model.md", "tests/attacks/README.md")
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def rows(page: str) -> list[str]:
    """The rows of the page's table, without its head."""
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.startswith("|")][2:]


@cache
def names_in(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("page", PAGES)
def test_every_row_names_a_test_and_every_test_named_exists(page: str) -> None:
    assert rows(page)
    for row in rows(page):
        named = NAMED.findall(row)
        assert named, row
        missing = [(path, name) for path, name in named if name not in names_in(path)]
        assert missing == []


@pytest.mark.parametrize("page", PAGES)
def test_whatever_looks_like_a_test_is_written_in_full(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert len(re.findall(r"\btest_\w+`", text)) == len(NAMED.findall(text))


def test_the_index_of_attacks_names_every_file_of_attacks() -> None:
    named = {path for path, _ in NAMED.findall((ROOT / PAGES[1]).read_text(encoding="utf-8"))}
    files = (ROOT / "tests" / "attacks").glob("test_*.py")
    assert named == {file.relative_to(ROOT).as_posix() for file in files}


def test_the_pages_that_speak_of_security_name_each_other() -> None:
    security, model = (
        (ROOT / page).read_text(encoding="utf-8") for page in ("SECURITY.md", PAGES[0])
    )
    assert "(docs/threat-model.md)" in security
    assert "`tests/attacks/README.md`" in model
