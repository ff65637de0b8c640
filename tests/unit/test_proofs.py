"""Theorems on the proof pages and the code that relies on them name each other, by function.

In the source a theorem is named as `docs/proofs/box.md, theorem 4` (or `theorems 2, 3 and 5`,
`theorems 2 to 5`); what relies on it is the innermost function or class around that mention, or the
module. On the page, the theorem lists the same names below `Used by:`.

What counts as a link between a promise and a theorem, in both directions: a *public name*, which is
a name that a module exports, or a public method or property of an exported class, has to name the
theorem in its docstring, which the reference shows. A comment is not enough, and neither is a
private helper that names the theorem: what is public and relies on it through the helper says so
itself. A theorem without a public name has to say which proofs it is needed for, and one of these
has to lead to a public name.
"""

import ast
import inspect
import re
from collections import defaultdict
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PROOFS = ROOT / "docs" / "proofs"
PAGES = sorted(page for page in PROOFS.glob("*.md") if page.name != "README.md")
MODULES = sorted((ROOT / "src").rglob("*.py"))
MENTION = re.compile(r"docs/proofs/([\w-]+)\.md(?:, theorems? (\d+(?:(?:, | and | to )\d+)*))?")
HEADING = re.compile(r"^## (Theorem|Remark) (\d+)\b.*\n", re.MULTILINE)
DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

LIST = r"\d+(?:(?:, | and )\d+)*"
EXPORTING = (
    "inbounds",
    "inbounds.frames",
    "inbounds.queries",
    "inbounds.queries.graph",
    "inbounds.sklearn",
)
# Theorems about what is not exported: `dp_event` is for those who use dp-accounting themselves.
INSIDE = {("composition", 10)}
# What needs no theorem: data, errors, figures, and results whose numbers other names compute.
NOT_PROVED = {
    *("Box", "L1", "L2", "LInf", "PerCoordinate", "Query"),
    *("Comparison", "Limit", "Regimes", "plot_summary"),
}

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


def exported() -> Iterator[tuple[str, Any]]:
    """The functions and classes that users get, by the names that they use."""
    for name in EXPORTING:
        module = import_module(name)
        own = [short for short, thing in vars(module).items() if _is_of(thing, name)]
        for short in getattr(module, "__all__", own):
            thing = getattr(module, short)
            if inspect.isfunction(thing) or inspect.isclass(thing):
                yield short, thing


def _is_of(thing: Any, module: str) -> bool:
    """Whether a module without `__all__` defines a public function."""
    return (
        inspect.isfunction(thing)
        and thing.__module__ == module
        and not thing.__name__.startswith("_")
    )


def methods(kind: type) -> Iterator[Any]:
    """The public methods of a class, and the functions of its public properties."""
    for name in dir(kind):
        held = inspect.getattr_static(kind, name)
        function = next(
            (getattr(held, of) for of in ("fget", "func", "__func__") if hasattr(held, of)), held
        )
        if not name.startswith("_") and inspect.isfunction(function):
            yield function


def public() -> dict[str, Any]:
    """What is public, by the name of the module that defines it."""
    things = [thing for _, thing in exported()]
    held = [method for kind in things if isinstance(kind, type) for method in methods(kind)]
    return {f"{thing.__module__}.{thing.__qualname__}": thing for thing in [*things, *held]}


def named_in_docstring(thing: Any) -> set[Theorem]:
    found = MENTION.finditer(inspect.getdoc(thing) or "")
    return {(match[1], number) for match in found if match[2] for number in numbers(match[2])}


def needed_for(page: str, words: str) -> set[Theorem]:
    """The theorems of whose proofs `Used by:` says that they need this one."""
    listed = words.partition("proof")[2]
    elsewhere = re.findall(rf"\[([\w-]+)\.md, theorems? ({LIST})\]\([^)]*\)", listed)
    here = re.findall(rf"theorems? ({LIST})", re.sub(r"\[.*?\]\([^)]*\)", "", listed))
    by_page = [*elsewhere, *((page, numbers_here) for numbers_here in here)]
    return {(of, number) for of, listed in by_page for number in numbers(listed)}


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


def test_every_theorem_supports_what_is_public() -> None:
    names = public()
    reached, needed = set(INSIDE), {}
    for page in PAGES:
        for number, body in theorems(page.read_text(encoding="utf-8")).items():
            words = used_by(body)
            needed[page.stem, number] = needed_for(page.stem, words)
            if set(re.findall(r"`(inbounds[\w.]*)`", words)) & names.keys():
                reached.add((page.stem, number))
    assert len(reached) > 150
    while further := {one for one in needed.keys() - reached if needed[one] & reached}:
        reached |= further
    assert needed.keys() - reached == set()


def test_what_is_public_names_its_theorems_in_its_docstring(
    named_in_code: dict[Theorem, set[str]],
) -> None:
    names = public()
    silent = {
        (owner, theorem)
        for theorem, owners in named_in_code.items()
        for owner in owners & names.keys()
        if theorem not in named_in_docstring(names[owner])
    }
    assert silent == set()


def test_every_public_promise_names_a_theorem() -> None:
    unproved = set()
    for name, thing in exported():
        held = list(methods(thing)) if isinstance(thing, type) else []
        is_error = isinstance(thing, type) and issubclass(thing, Exception)
        if not is_error and not any(map(named_in_docstring, [thing, *held])):
            unproved.add(name)
    assert unproved == NOT_PROVED


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
