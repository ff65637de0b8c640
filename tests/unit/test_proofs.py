"""Proof pages and the modules that rely on them name each other."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROOFS = ROOT / "docs" / "proofs"
PAGES = sorted(page for page in PROOFS.glob("*.md") if page.name != "README.md")
MODULES = sorted((ROOT / "src").rglob("*.py"))


def relied_on_by(page: Path) -> list[str]:
    """The paths in the page's paragraph of modules."""
    text = page.read_text(encoding="utf-8")
    paragraphs = re.findall(r"^Relied on by:\s(.+?)\n\n", text, re.MULTILINE | re.DOTALL)
    assert len(paragraphs) == 1, "a page has one paragraph 'Relied on by:'"
    return re.findall(r"`([^`]+)`", paragraphs[0])


def pages_named_in(module: Path) -> set[str]:
    return set(re.findall(r"docs/proofs/[\w-]+\.md", module.read_text(encoding="utf-8")))


def test_there_are_proofs_and_modules_to_compare() -> None:
    assert len(PAGES) >= 5
    assert any(pages_named_in(module) for module in MODULES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_module_a_page_lists_exists_and_names_the_page(page: Path) -> None:
    modules = relied_on_by(page)
    assert modules
    for module in modules:
        assert (ROOT / module).is_file(), module
        assert f"docs/proofs/{page.name}" in pages_named_in(ROOT / module), module


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.stem)
def test_every_page_a_module_names_exists_and_lists_the_module(module: Path) -> None:
    for name in pages_named_in(module):
        assert (ROOT / name).is_file(), name
        assert module.relative_to(ROOT).as_posix() in relied_on_by(ROOT / name), name


def test_the_index_lists_every_page_and_no_other() -> None:
    index = (PROOFS / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\]\(([\w-]+\.md)\)", index)) == {page.name for page in PAGES}


def test_every_file_the_index_names_exists() -> None:
    index = (PROOFS / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:src|tests)/[^`]+)`", index)
    assert named
    assert [path for path in named if not (ROOT / path).is_file()] == []
