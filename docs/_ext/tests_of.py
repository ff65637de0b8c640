"""Tables that name tests have them below each row, folded away, and not in a column.

In Markdown such a table has a last column of nothing but names of tests, which other tests read.
Names are long: on a phone such a column would take all the room.
"""

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

_TEST = re.compile(r"[\w/.]+\.py::test_\w+")


class folded(nodes.General, nodes.Element):  # noqa: N801 - as docutils names its nodes
    """What is shown only to those who ask for it."""


def _open(translator: Any, node: folded) -> None:
    translator.body.append(f'<details class="folded"><summary>{node["summary"]}</summary>')


def _close(translator: Any, _node: folded) -> None:
    translator.body.append("</details>")


def _fold(_app: Sphinx, document: nodes.document) -> None:
    for table in document.findall(nodes.tgroup):
        rows = list(table.findall(nodes.row))
        body = [row for row in rows if isinstance(row.parent, nodes.tbody)]
        if body and all(_names_tests(row[-1]) for row in body):
            columns = len(rows[0]) - 1
            _drop_last_column(table)
            for row in body:
                _put_below(row, row.pop(), columns)
            for row in (row for row in rows if row not in body):
                row.pop()


def _names_tests(cell: Any) -> bool:
    """Return whether a cell has names of tests, and commas."""
    names = list(cell.findall(nodes.literal))
    between = [text for text in cell.findall(nodes.Text) if text.parent not in names]
    return (
        bool(names)
        and all(_TEST.fullmatch(name.astext()) for name in names)
        and not "".join(between).strip(", \n")
    )


def _drop_last_column(table: nodes.tgroup) -> None:
    specs = list(table.findall(nodes.colspec))
    table["cols"] = len(specs) - 1
    table.remove(specs[-1])


def _put_below(row: nodes.row, cell: Any, columns: int) -> None:
    """Add a row for the tests of a row."""
    names = list(cell.findall(nodes.literal))
    listed = nodes.bullet_list()
    for name in names:
        listed += nodes.list_item("", nodes.paragraph("", "", name.deepcopy()))
    summary = f"{len(names)} tests" if len(names) > 1 else "1 test"
    entry = nodes.entry("", folded("", listed, summary=summary), morecols=columns - 1)
    body = row.parent
    body.insert(1 + body.index(row), nodes.row("", entry, classes=["tests"]))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the fold."""
    app.add_node(folded, html=(_open, _close))
    app.connect("doctree-read", _fold)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
