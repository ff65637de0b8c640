"""A table of strings, shown as plain text, as HTML for notebooks, or printed by rich.

Everything in a cell is shown as text: markup and the control characters of terminals are escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from operator import gt
from typing import TYPE_CHECKING, Self

from inbounds._extra import optional
from inbounds._text import clean, wrapped
from inbounds._text import width as text_width

if TYPE_CHECKING:
    from rich.table import Table as RichTable

_GAP = "  "
_NARROWEST = 8  # no column is made narrower than this to fit the width
_LABEL = 24  # a first column up to this wide is never wrapped by rich
_INHERIT = "color: inherit; background: transparent;"
_RULE = "border: 0; border-bottom: 1px solid rgba(128, 128, 128, 0.4);"
_STRONG_RULE = "border: 0; border-bottom: 1px solid currentColor;"
_CELL = f"{_INHERIT} {_RULE} padding: 0.25em 0.75em; vertical-align: top;"
_WORDS = "text-align: left; white-space: normal;"
_NUMBERS = "text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums;"
_BOLD = "font-weight: 600;"
_HEAD = f"{_STRONG_RULE} {_BOLD}"
_FRAME = "overflow-x: auto; color: inherit;"
_TABLE = f"{_INHERIT} border-collapse: collapse; border: 0; margin: 0.25em 0;"
_CAPTION = f"caption-side: top; {_WORDS} {_BOLD} color: inherit; padding: 0.25em 0.75em;"
_NOTE = f"{_WORDS} color: inherit; opacity: 0.85; margin: 0; padding: 0.25em 0.75em;"


class HasHtml:
    """Base of classes that a notebook shows as their `_table`."""

    __slots__ = ()

    def _table(self) -> Table:
        """Return the table to show, which must hold nothing private and be quick to make."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return self._table().html()


class Printed(HasHtml):
    """Base of classes that print as their `_table`, with or without rich."""

    __slots__ = ()

    def __rich__(self) -> RichTable:
        return self._table().rich()

    def __str__(self) -> str:
        return self._table().text()


@dataclass(frozen=True, slots=True)
class Table(Printed):
    """Rows of strings under a title; the first cell of a row says what the row is.

    Attributes
    ----------
    title
        What the table shows. Screen readers announce it.
    headings
        One for each column. A table without headings lists facts, a name and a value in each row.
    rows
        The cells of each row, one for each column.
    caption
        A sentence below the table.
    numbers
        The columns, counted from 0, that hold numbers and are aligned to the right.

    Examples
    --------
    >>> table = Table("Noise", ("mechanism", "scale"), (("Gaussian", "2.5"),), numbers=(1,))
    >>> print(table)
    Noise
    mechanism  scale
    ─────────  ─────
    Gaussian     2.5
    """

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    numbers: tuple[int, ...] = ()

    @classmethod
    def of_facts(cls, title: str, facts: Iterable[tuple[str, str]], caption: str = "") -> Self:
        """Return a table of names and values, without headings.

        Examples
        --------
        >>> print(Table.of_facts("Noise", [("kind", "Gaussian"), ("scale", "2.5")]))
        Noise
        ───────────────
        kind   Gaussian
        scale  2.5
        """
        return cls(title, (), tuple(facts), caption)

    def text(self, width: int = 120) -> str:
        """Return the table as plain text, with cells wrapped so that it fits in `width`.

        Examples
        --------
        >>> print(Table.of_facts("Noise", [("why", "it hides one person")]).text(width=16))
        Noise
        ────────────────
        why  it hides
             one person
        """
        widths = self._widths(width)
        rules = ["─" * width for width in widths]
        lines = wrapped(clean(self.title), width)
        if self.headings:
            lines += [*self._lines(self.headings, widths), _GAP.join(rules)]
        elif rules:
            lines.append("─" * len(_GAP.join(rules)))
        for row in self.rows:
            lines += self._lines(row, widths)
        lines += wrapped(clean(self.caption), width) if self.caption else []
        return "\n".join(lines)

    def html(self) -> str:
        """Return the table as HTML for light and dark pages, with every cell escaped.

        Examples
        --------
        >>> "&lt;b&gt;" in Table.of_facts("<b>", []).html()
        True
        """
        title = escape(clean(self.title))
        aligned = [_NUMBERS if k in self.numbers else _WORDS for k in range(self._columns)]
        head = ""
        if self.headings:
            cells = zip(self.headings, aligned, strict=True)
            inner = "".join(_cell("th", text, f"{style} {_HEAD}", "col") for text, style in cells)
            head = f"<thead>\n<tr>{inner}</tr>\n</thead>\n"
        body = "".join(f"<tr>{_row(row, aligned)}</tr>\n" for row in self.rows)
        note = f'<p style="{_NOTE}">{escape(clean(self.caption))}</p>\n' if self.caption else ""
        return (
            f'<div role="region" aria-label="{title}" tabindex="0" style="{_FRAME}">\n'
            f'<table style="{_TABLE}">\n<caption style="{_CAPTION}">{title}</caption>\n'
            f"{head}<tbody>\n{body}</tbody>\n</table>\n{note}</div>"
        )

    def rich(self) -> RichTable:
        """Return the table as a rich table, which needs the package rich.

        Examples
        --------
        >>> Table.of_facts("Noise", [("scale", "2.5")]).rich().row_count
        1
        """
        with optional():
            from rich.box import SIMPLE  # noqa: PLC0415 - optional
            from rich.table import Table as RichTable  # noqa: PLC0415 - as above
            from rich.text import Text  # noqa: PLC0415 - as above

        table = RichTable(
            title=Text(clean(self.title), "table.title"),
            caption=Text(clean(self.caption), "table.caption") if self.caption else None,
            show_header=bool(self.headings),
            box=SIMPLE,
        )
        label, *_ = self._natural() or [0]
        for k in range(self._columns):
            table.add_column(
                Text(clean(self.headings[k])) if self.headings else "",
                justify="right" if k in self.numbers else "left",
                overflow="fold",
                style="bold" if k == 0 else "",
                no_wrap=k == 0 and label <= _LABEL,
            )
        for row in self.rows:
            table.add_row(*(Text(clean(cell)) for cell in row))
        return table

    def _table(self) -> Table:
        return self

    @property
    def _columns(self) -> int:
        """The number of columns; an empty list of facts has two."""
        return len(self.headings) or max(map(len, self.rows), default=2)

    def _natural(self) -> list[int]:
        """Return the width of each column if nothing wraps."""
        every = [self.headings, *self.rows] if self.headings else self.rows
        return [
            max(text_width(line) for cell in column for line in clean(cell).split("\n"))
            for column in zip(*every, strict=True)
        ]

    def _widths(self, width: int) -> list[int]:
        """Return the width of each column, the widest ones narrowed until the table fits.

        Words are broken only if line breaks between words are not enough.
        """
        widths = self._natural()
        for least in (self._longest_words(), [_NARROWEST] * len(widths)):
            excess = sum(widths) + len(_GAP) * (len(widths) - 1) - width
            while excess > 0 and any(map(gt, widths, least)):
                room = [now if now > low else 0 for now, low in zip(widths, least, strict=True)]
                widths[room.index(max(room))] -= 1
                excess -= 1
        return widths

    def _longest_words(self) -> list[int]:
        """Return the width of the longest word in each column."""
        every = [self.headings, *self.rows] if self.headings else self.rows
        return [
            max(text_width(word) for cell in column for word in (clean(cell).split() or [""]))
            for column in zip(*every, strict=True)
        ]

    def _lines(self, row: tuple[str, ...], widths: list[int]) -> Iterator[str]:
        cells = [wrapped(clean(cell), width) for cell, width in zip(row, widths, strict=True)]
        for line in range(max(map(len, cells))):
            texts = [cell[line] if line < len(cell) else "" for cell in cells]
            padded = [
                " " * (width - text_width(text)) + text
                if k in self.numbers
                else text + " " * (width - text_width(text))
                for k, (text, width) in enumerate(zip(texts, widths, strict=True))
            ]
            yield _GAP.join(padded).rstrip()


def _row(row: tuple[str, ...], aligned: list[str]) -> str:
    (first, style), *others = zip(row, aligned, strict=True)
    cells = "".join(_cell("td", text, style) for text, style in others)
    return _cell("th", first, f"{style} {_BOLD}", "row") + cells


def _cell(tag: str, text: str, style: str, scope: str = "") -> str:
    of = f' scope="{scope}"' if scope else ""
    return f'<{tag}{of} style="{_CELL} {style}">{escape(clean(text))}</{tag}>'
