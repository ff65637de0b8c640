"""Theorems on the proof pages and the code that relies on them name each other, by function.

In the source a theorem is named as `docs/proofs/box.md, theorem 4` (or `theorems 2, 3 and 5`,
`theorems 2 to 5`); what relies on it is the innermost function or class around that mention, or the
module. On the page, the theorem lists the same names below `Used by:`.
"""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROOFS = ROOT / "docs" / "proofs"
PAGES = sorted(page for page in PROOFS.glob("*.md") if page.name != "README.md")
MODULES = sorted((ROOT / "src").rglob("*.py"))
MENTION = re.compile(r"docs/proofs/([\w-]+)\.md(?:, theorems? (\d+(?:(?:, | and | to )\d+)*))?")
HEADING = re.compile(r"^## (Theorem|Remark) (\d+)\b.*\n", re.MULTILINE)
DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

Theorem = tuple[str, int]


def numbers(words: str) -> list[int]:
    """The numbers that "2, 3 and 5" or "2 to 5" stand for."""
    found: list[int] = []
    for part in re.split(r", | and ", words):
        first, _, last = part.partition(" to ")
        found += range(int(first), int(last or first) + 1)
    return found


def definitions(tree: ast.AST, name: str) -> list[tuple[int, int, str]]:
    """First line, last line and full name of every function and class."""
    spans = []
    for node in ast.iter_child_nodes(tree):
        own = name
        if isinstance(node, DEFINITIONS):
            own = f"{name}.{node.name}"
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            spans.append((first, node.end_lineno or first, own))
        spans += definitions(node, own)
    return spans


def mentions(text: str, module: str) -> list[tuple[str, str, list[int]]]:
    """Who names which theorems of which page."""
    spans = definitions(ast.parse(text), module)
    found = []
    for match in MENTION.finditer(text):
        line = text[: match.start()].count("\n") + 1
        around = [span for span in spans if span[0] <= line <= span[1]]
        owner = max(around)[2] if around else module
        found.append((owner, match[1], numbers(match[2]) if match[2] else []))
    return found


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT / "src").with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


def theorems(text: str) -> dict[int, str]:
    """The numbered theorems of a page, each with all that stands below it up to the next."""
    parts = HEADING.split(text)
    assert [int(n) for n in parts[2::3]] == list(range(1, len(parts[2::3]) + 1)), (
        "numbered in order"
    )
    kinds = zip(parts[1::3], parts[2::3], parts[3::3], strict=True)
    return {int(number): body for kind, number, body in kinds if kind == "Theorem"}


def used_by(body: str) -> str:
    paragraphs = re.findall(r"^Used by: (.+?)(?:\n\n|\Z)", body, re.MULTILINE | re.DOTALL)
    assert len(paragraphs) == 1, "a theorem has one paragraph 'Used by:'"
    return " ".join(paragraphs[0].split())


@pytest.fixture(scope="module")
def named_in_code() -> dict[Theorem, set[str]]:
    named = defaultdict(set)
    for path in MODULES:
        for owner, page, listed in mentions(path.read_text(encoding="utf-8"), module_name(path)):
            for number in listed:
                named[page, number].add(owner)
    return named


def test_there_are_many_theorems_and_functions_to_compare(
    named_in_code: dict[Theorem, set[str]],
) -> None:
    assert len(PAGES) >= 25
    assert len(named_in_code) >= 100


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_theorems_and_the_code_that_relies_on_them_name_each_other(
    page: Path, named_in_code: dict[Theorem, set[str]]
) -> None:
    bodies = theorems(page.read_text(encoding="utf-8"))
    assert bodies
    for number, body in bodies.items():
        words = used_by(body)
        listed = set(re.findall(r"`(inbounds[\w.]*)`", words))
        assert listed or "theorem" in words, f"theorem {number} is used by nothing"
        assert listed == named_in_code.get((page.stem, number), set()), f"theorem {number}"


@pytest.mark.parametrize("module", MODULES, ids=module_name)
def test_every_mention_in_code_names_a_theorem_that_exists(module: Path) -> None:
    for owner, page, listed in mentions(module.read_text(encoding="utf-8"), module_name(module)):
        assert (PROOFS / f"{page}.md").is_file(), page
        assert listed, f"{owner} names {page}.md and no theorem of it"
        assert set(listed) <= theorems((PROOFS / f"{page}.md").read_text(encoding="utf-8")).keys()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_lists_the_modules_that_rely_on_it(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    (paragraph,) = re.findall(r"^Relied on by:\s(.+?)\n\n", text, re.MULTILINE | re.DOTALL)
    naming = {
        path.relative_to(ROOT).as_posix()
        for path in MODULES
        if f"docs/proofs/{page.name}" in path.read_text(encoding="utf-8")
    }
    assert set(re.findall(r"`([^`]+)`", paragraph)) == naming


def test_mentions_are_read_with_their_owners() -> None:
    code = '''"""Module: docs/proofs/box.md, theorems 2 to 4."""
class A:
    @property
    def f(self):
        """See docs/proofs/box.md, theorem 1."""
# docs/proofs/pure.md
'''
    assert mentions(code, "m") == [
        ("m", "box", [2, 3, 4]),
        ("m.A.f", "box", [1]),
        ("m", "pure", []),
    ]


def test_the_index_lists_every_page_and_no_other() -> None:
    index = (PROOFS / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\]\(([\w-]+\.md)\)", index)) == {page.name for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_names_its_tests(page: Path) -> None:
    tested = page.read_text(encoding="utf-8").partition("## How it is tested")[2]
    named = re.findall(r"`((?:src|tests)/[^`:]+)(?:::[^`]+)?`", tested)
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []
