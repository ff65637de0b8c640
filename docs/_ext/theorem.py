"""Theorems of the proof pages have the same address everywhere: `box.md#theorem-4`.

In docstrings, `docs/proofs/box.md, theorem 4` and other pages under `docs/` become links.
"""

import re
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

import inbounds

NUMBERED = re.compile(r"(Theorem|Remark) (\d+)\b")
_THEOREMS = re.compile(r"docs/proofs/([\w-]+)\.md, theorems? (\d+)((?:(?:, | and | to )\d+)*)")
_ABSOLUTE = re.compile(r"(?<![|`\\])\|(?! )([^|`\n]*[^|` \n])\|(?![|`])")
_PAGE = re.compile(r"(?<![\w/`])docs/([\w/-]+)\.md")


def slug(title: str) -> str:
    """Return the address of a heading; the words behind a theorem's number are not part of it."""
    numbered = NUMBERED.match(title)
    text = numbered[0] if numbered else title
    return re.sub(r"[^\w -]", "", text).strip().lower().replace(" ", "-")


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


def _public_name(full_name: str) -> str | None:
    """Return the name under which the reference describes something, if it has one."""
    for module, names in inbounds._HOMES.items():
        for name in names:
            if f"{full_name}.".startswith(f"{module}.{name}.") and "._" not in full_name:
                return "inbounds." + full_name.removeprefix(f"{module}.")
    return None


def _link_names(_app: Sphinx, document: nodes.document) -> None:
    """Turn the names of public things that a theorem lists into links to the reference."""
    for literal in list(document.findall(nodes.literal)):
        public = _public_name(literal.astext())
        if public is not None:
            link = addnodes.pending_xref(
                "", refdomain="py", reftype="obj", reftarget=public, refexplicit=True
            )
            literal.replace_self(link)
            link += literal


def _link(
    _app: Sphinx, _what: str, _name: str, _object: Any, _options: Any, lines: list[str]
) -> None:
    """Turn mentions of theorems and pages in a docstring into links, and keep signs as they are."""
    text = "\n".join(lines)
    text = _THEOREMS.sub(_theorem_link, text)
    text = _PAGE.sub(r":doc:`/\1`", text)
    text = _ABSOLUTE.sub(r"\|\1\|", text)  # |x| would be the name of a substitution
    # Footnotes would be numbered across all docstrings of a page.
    text = re.sub(r"^( *)\.\. \[(\d+)\] ", r"\1| [\2] ", text, flags=re.MULTILINE)
    lines[:] = re.sub(r"\[(\d+)\]_", r"[\1]", text).split("\n")


def _theorem_link(mention: "re.Match[str]") -> str:
    page, first, rest = mention.groups()
    others = re.sub(r"\d+", lambda number: f":ref:`{number[0]} <{page}-theorem-{number[0]}>`", rest)
    return (
        f":doc:`{page} </proofs/{page}>`, :ref:`theorem {first} <{page}-theorem-{first}>`{others}"
    )


def setup(app: Sphinx) -> dict[str, bool]:
    """Register what happens to pages and docstrings."""
    app.connect("doctree-read", _name_theorems)
    app.connect("doctree-read", _link_names)
    app.connect("autodoc-process-docstring", _link)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
