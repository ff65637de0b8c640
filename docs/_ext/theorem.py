"""Theorems of the proof pages have the same address everywhere: `box.md#theorem-4`.

In docstrings, `docs/proofs/box.md, theorem 4` and other pages under `docs/` become links. What
`Used by:` lists on a proof page is shown under its public name, with a link to the reference; what
is inside the library comes after that. Links to proof pages show titles instead of file names.
"""

import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from inspect import getattr_static
from pathlib import Path
from types import ModuleType
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.nodes import make_refnode

_PROOFS = Path(__file__).parents[1] / "proofs"
NUMBERED = re.compile(r"(Theorem|Remark) (\d+)\b")
_LIST = r"\d+(?:(?:, | and | to )\d+)*"
_THEOREMS = re.compile(rf"docs/proofs/([\w-]+)\.md, theorems? ({_LIST})")
_ABSOLUTE = re.compile(r"(?<![|`\\])\|(?! )([^|`\n]*[^|` \n])\|(?![|`])")
_PAGE = re.compile(r"(?<![\w/`])docs/([\w/-]+)\.md")
_FILE = re.compile(r"\b([\w-]+)\.md\b")
_INSIDE = re.compile(r"inbounds\.[\w.]+")


def slug(title: str) -> str:
    """Return the address of a heading; the words behind a theorem's number are not part of it."""
    numbered = NUMBERED.match(title)
    text = numbered[0] if numbered else title
    return re.sub(r"[^\w -]", "", text).strip().lower().replace(" ", "-")


@cache
def short_title(page: str) -> str:
    """Return the title of a proof page up to its colon."""
    heading = (_PROOFS / f"{page}.md").read_text(encoding="utf-8").partition("\n")[0]
    return heading.removeprefix("# ").partition(":")[0]


def _name_theorems(app: Sphinx, document: nodes.document) -> None:
    """Give every theorem its short address, and a label that docstrings can refer to."""
    page = app.env.docname
    standard: Any = app.env.domains.standard_domain
    for section in document.findall(nodes.section):
        title = section[0].astext()
        if NUMBERED.match(title) and page.startswith("proofs/"):
            anchor = slug(title)
            section["ids"].insert(0, anchor)
            label = f"{page.removeprefix('proofs/')}-{anchor}"
            standard.labels[label] = page, anchor, title
            standard.anonlabels[label] = page, anchor


# --- from docstrings to theorems ---


def _link(
    _app: Sphinx, _what: str, _name: str, _object: Any, _options: Any, lines: list[str]
) -> None:
    """Turn mentions of theorems and pages in a docstring into links, and keep signs as they are."""
    text = "\n".join(lines)
    text = _THEOREMS.sub(_theorem_links, text)
    text = _PAGE.sub(r":doc:`/\1`", text)
    text = _ABSOLUTE.sub(r"\|\1\|", text)  # |x| would be the name of a substitution
    # Footnotes would be numbered across all docstrings of a page.
    text = re.sub(r"^( *)\.\. \[(\d+)\] ", r"\1| [\2] ", text, flags=re.MULTILINE)
    lines[:] = re.sub(r"\[(\d+)\]_", r"[\1]", text).split("\n")


def _theorem_links(mention: "re.Match[str]") -> str:
    """Write the theorems one by one, with a link for each."""
    page, listed = mention.groups()
    first, *others = numbers(listed)
    word = "theorems" if others else "theorem"
    written = f":ref:`{short_title(page)}, {word} {first} <{page}-theorem-{first}>`"
    for number in others:
        before = " and " if number == others[-1] else ", "
        written += f"{before}:ref:`{number} <{page}-theorem-{number}>`"
    return written


def numbers(listed: str) -> list[int]:
    """Return the numbers that `2, 3 and 5` or `2 to 5` stand for."""
    every: list[int] = []
    for part in re.split(r", | and ", listed):
        first, _, last = part.partition(" to ")
        every += range(int(first), int(last or first) + 1)
    return every


# --- from theorems to the reference ---


def _at(name: str) -> Any:
    """Return what has this full name, or None; of a class, what it holds and not its value."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            owner: Any = import_module(".".join(parts[:length]))
        except ImportError:
            continue
        try:
            for part in parts[length:]:
                owner = getattr_static(owner, part) if _is_class(owner) else getattr(owner, part)
        except AttributeError:
            continue
        return owner.__func__ if isinstance(owner, classmethod | staticmethod) else owner
    return None


def _is_class(owner: Any) -> bool:
    return isinstance(owner, type)


class _Reference:
    """The names that the reference describes, by what they stand for."""

    def __init__(self, app: Sphinx) -> None:
        python: Any = app.env.domains.python_domain
        self.entries = {name: e for name, e in python.objects.items() if not e.aliased}
        self._names: dict[int, list[str]] = {}
        for name in self.entries:
            self._names.setdefault(id(_at(name)), []).append(name)

    def public_names(self, full_name: str) -> list[str]:
        """Return the names under which something is described.

        A method of a private class has the names of the public classes that inherit it.
        """
        thing = _at(full_name)
        is_described = not (thing is None or isinstance(thing, ModuleType))
        return self._names.get(id(thing), []) if is_described else []

    def link(self, app: Sphinx, page: str, name: str) -> nodes.reference:
        entry = self.entries[name]
        shown = nodes.literal(name, name)
        return make_refnode(app.builder, page, entry.docname, entry.node_id, shown, name)


def _show_users(app: Sphinx, document: nodes.document, page: str) -> None:
    """Write below each theorem first what is public, with links, and then what is inside."""
    if not page.startswith("proofs/"):
        return
    reference = _Reference(app)
    for paragraph in list(document.findall(nodes.paragraph)):
        if paragraph.astext().startswith("Used by:"):
            _show_users_of(app, page, reference, paragraph)


def _show_users_of(
    app: Sphinx, page: str, reference: _Reference, paragraph: nodes.paragraph
) -> None:
    named = [child for child in paragraph if _is_name(child)]
    after = 1 + paragraph.index(named[-1]) if named else 0
    words = list(_linked(paragraph[after:]))
    public, inside = [], []
    for literal in named:
        names = reference.public_names(literal.astext())
        public += [reference.link(app, page, name) for name in names]
        if not names:
            inside.append(literal.astext().removeprefix("inbounds."))
    paragraph.clear()
    if public:
        paragraph += nodes.Text("Used by: ")
        paragraph += _listed(public)
    elif words and named:  # "; the proof of theorem 2"
        words[0] = nodes.Text("Used by: " + re.sub(r"^(?:[;,]\s+|and\s+)+", "", words[0].astext()))
    paragraph += words
    if inside:
        start = "Inside the library: " if paragraph.children else "Used inside the library: "
        names = _listed([nodes.literal(name, name) for name in inside])
        line = nodes.paragraph("", "", nodes.Text(start), *names, classes=["inside"])
        paragraph.parent.insert(1 + paragraph.parent.index(paragraph), line)
    if not paragraph.children:
        paragraph.parent.remove(paragraph)


def _is_name(node: nodes.Node) -> bool:
    return isinstance(node, nodes.literal) and _INSIDE.fullmatch(node.astext()) is not None


def _listed(items: list[Any]) -> list[nodes.Node]:
    return [node for item in items for node in (nodes.Text(", "), item)][1:]


def _linked(words: list[nodes.Node]) -> Iterator[nodes.Node]:
    """Yield the words behind the names, with a link for each theorem of the same page."""
    for node in words:
        if not isinstance(node, nodes.Text):
            yield node
            continue
        text, done = node.astext(), 0
        for mention in re.finditer(r"theorems?\s(\d+(?:(?:,\s|\sand\s)\d+)*)", text):
            for number in re.finditer(r"\d+", mention[1]):
                start = mention.start(1) + number.start()
                yield nodes.Text(text[done:start])
                link = nodes.reference("", number[0], refid=f"theorem-{number[0]}", internal=True)
                yield link
                done = start + len(number[0])
        yield nodes.Text(text[done:])


# --- titles instead of file names ---


def _show_titles(app: Sphinx, document: nodes.document, page: str) -> None:
    """Let links to proof pages show titles, and links to theorems say in full what they are."""
    standard: Any = app.env.domains.standard_domain
    for link in list(document.findall(nodes.reference)):
        target = re.search(r"(?:proofs/)?([\w-]+)\.html#theorem-(\d+)$", link.get("refuri", ""))
        label = standard.labels.get(f"{target[1]}-theorem-{target[2]}") if target else None
        if label is not None:
            link["reftitle"] = label[2]
        for text in list(link.findall(nodes.Text)):
            titled = _FILE.sub(_titled, text)
            if titled != text:
                text.parent.replace(text, nodes.Text(titled))


def _titled(file: "re.Match[str]") -> str:
    return short_title(file[1]) if (_PROOFS / f"{file[1]}.md").is_file() else file[0]


def _finish(app: Sphinx, document: nodes.document, page: str) -> None:
    _show_users(app, document, page)
    _show_titles(app, document, page)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register what happens to pages and docstrings."""
    app.connect("doctree-read", _name_theorems)
    app.connect("doctree-resolved", _finish)
    app.connect("autodoc-process-docstring", _link)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
