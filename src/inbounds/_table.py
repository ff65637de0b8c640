"""One table of finished strings: as plain text, as HTML for notebooks, and for rich to print.

What is shown is text and nothing else: markup in it is escaped, and characters that would steer a
terminal are written out.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Self

from inbounds._extra import optional

if TYPE_CHECKING:
    from rich.table import Table as RichTable

_GAP = "  "
_NARROWEST = 8  # columns are made no narrower than this to fit the width
_LABEL = 24  # a first column up to this wide is not wrapped on a screen
_STEERING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")  # of direction
_INHERIT = "color: inherit; background: transparent;"
_RULE = "border: 0; border-bottom: 1px solid rgba(128, 128, 128, 0.4);"
_CELL = f"{_INHERIT} {_RULE} padding: 0.25em 0.75em; vertical-align: top;"
_WORDS = "text-align: left; white-space: normal;"
_NUMBERS = "text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums;"
_BOLD = "font-weight: 600;"
_FRAME = "overflow-x: auto; color: inherit;"
_TABLE = f"{_INHERIT} border-collapse: collapse; border: 0; margin: 0.25em 0;"
_CAPTION = f"caption-side: top; {_WORDS} {_BOLD} color: inherit; padding: 0.25em 0.75em;"
_NOTE = f"{_WORDS} color: inherit; opacity: 0.85; margin: 0; padding: 0.25em 0.75em;"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of strings under a title; the first cell of a row says what the row is.

    Attributes
    ----------
    title
        What the table shows. Screen readers announce it.
    headings
        One for each column, or none: then the table lists facts, a name and a value a row.
    rows
        The cells, as many in each row as there are columns.
    caption
        A sentence below the table.
    numbers
        The columns that hold numbers, counted from 0; they are aligned to the right.

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
        """Make a table without headings, of names and values.

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
        """Return the table as plain text; cells wrap where it would be wider than `width`.

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
        lines = _wrapped(_clean(self.title), width)
        if self.headings:
            lines += [*self._lines(self.headings, widths), _GAP.join(rules)]
        elif rules:
            lines.append("─" * len(_GAP.join(rules)))
        for row in self.rows:
            lines += self._lines(row, widths)
        lines += _wrapped(_clean(self.caption), width) if self.caption else []
        return "\n".join(lines)

    def html(self) -> str:
        """Return a table that reads in light and in dark, with everything in it escaped.

        Examples
        --------
        >>> "&lt;b&gt;" in Table.of_facts("<b>", []).html()
        True
        """
        title = escape(_clean(self.title))
        aligned = [_NUMBERS if k in self.numbers else _WORDS for k in range(self._columns)]
        head = ""
        if self.headings:
            cells = zip(self.headings, aligned, strict=True)
            inner = "".join(_cell("th", text, f"{style} {_BOLD}", "col") for text, style in cells)
            head = f"<thead>\n<tr>{inner}</tr>\n</thead>\n"
        body = "".join(f"<tr>{_row(row, aligned)}</tr>\n" for row in self.rows)
        note = f'<p style="{_NOTE}">{escape(_clean(self.caption))}</p>\n' if self.caption else ""
        return (
            f'<div role="region" aria-label="{title}" tabindex="0" style="{_FRAME}">\n'
            f'<table style="{_TABLE}">\n<caption style="{_CAPTION}">{title}</caption>\n'
            f"{head}<tbody>\n{body}</tbody>\n</table>\n{note}</div>"
        )

    def rich(self) -> RichTable:
        """Return the table for rich to print; needs rich.

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
            title=Text(_clean(self.title), "table.title"),
            caption=Text(_clean(self.caption), "table.caption") if self.caption else None,
            show_header=bool(self.headings),
            box=SIMPLE,
        )
        label, *_ = self._natural() or [0]
        for k in range(self._columns):
            table.add_column(
                Text(_clean(self.headings[k])) if self.headings else "",
                justify="right" if k in self.numbers else "left",
                overflow="fold",
                style="bold" if k == 0 else "",
                no_wrap=k == 0 and label <= _LABEL,
            )
        for row in self.rows:
            table.add_row(*(Text(_clean(cell)) for cell in row))
        return table

    def __str__(self) -> str:
        return self.text()

    @property
    def _columns(self) -> int:
        """How many columns there are; an empty list of facts has two."""
        return len(self.headings) or max(map(len, self.rows), default=2)

    def _natural(self) -> list[int]:
        """Return how wide each column is where nothing wraps."""
        every = [self.headings, *self.rows] if self.headings else self.rows
        return [
            max(_width(line) for cell in column for line in _clean(cell).split("\n"))
            for column in zip(*every, strict=True)
        ]

    def _widths(self, width: int) -> list[int]:
        """Return how wide each column may be, the widest made narrower until all fit."""
        widths = self._natural()
        while sum(widths) + len(_GAP) * (len(widths) - 1) > width and max(widths) > _NARROWEST:
            widths[widths.index(max(widths))] -= 1
        return widths

    def _lines(self, row: tuple[str, ...], widths: list[int]) -> Iterator[str]:
        cells = [_wrapped(_clean(cell), width) for cell, width in zip(row, widths, strict=True)]
        for line in range(max(map(len, cells))):
            texts = [cell[line] if line < len(cell) else "" for cell in cells]
            padded = [
                " " * (width - _width(text)) + text
                if k in self.numbers
                else text + " " * (width - _width(text))
                for k, (text, width) in enumerate(zip(texts, widths, strict=True))
            ]
            yield _GAP.join(padded).rstrip()


class HasHtml:
    """What a notebook shows of a class that has `_table`."""

    __slots__ = ()

    def _table(self) -> Table:
        """Return what is to be shown: nothing private, and nothing that takes long."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return self._table().html()


class Printed(HasHtml):
    """A class that is printed as its table, with rich or without."""

    __slots__ = ()

    def __rich__(self) -> RichTable:
        return self._table().rich()

    def __str__(self) -> str:
        return self._table().text()


def _row(row: tuple[str, ...], aligned: list[str]) -> str:
    (first, style), *rest = zip(row, aligned, strict=True)
    cells = "".join(_cell("td", text, style) for text, style in rest)
    return _cell("th", first, f"{style} {_BOLD}", "row") + cells


def _cell(tag: str, text: str, style: str, scope: str = "") -> str:
    of = f' scope="{scope}"' if scope else ""
    return f'<{tag}{of} style="{_CELL} {style}">{escape(_clean(text))}</{tag}>'


def _clean(text: str) -> str:
    r"""Write out what is no text: control characters, changes of direction, lone surrogates.

    Examples
    --------
    >>> print(_clean("a\x1b[31mb"))
    a\x1b[31mb
    """
    return "".join(c if c == "\n" or not _is_steering(c) else ascii(c)[1:-1] for c in text)


def _is_steering(character: str) -> bool:
    return character in _STEERING or unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"}


def _width(text: str) -> int:
    """Return how many columns of a terminal a text takes.

    Examples
    --------
    >>> _width("abc"), _width("漢字"), _width("e\N{COMBINING ACUTE ACCENT}")
    (3, 4, 1)
    """
    return sum(map(_character_width, text))


def _character_width(character: str) -> int:
    if unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


def _wrapped(text: str, width: int) -> list[str]:
    """Break a text into lines at spaces, and words that are longer anywhere; nothing is lost.

    Examples
    --------
    >>> _wrapped("one person at most", 10), _wrapped("indivisible", 8)
    (['one person', 'at most'], ['indivisi', 'ble'])
    """
    return [line for part in text.split("\n") for line in _wrapped_line(part, width)]


def _wrapped_line(text: str, width: int) -> list[str]:
    if _width(text) <= width:
        return [text]
    lines = [""]
    for word in text.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if _width(joined) <= width:
            lines[-1] = joined
            continue
        lines += [""] if lines[-1] else []
        for character in word:
            used = _width(lines[-1]) + _character_width(character)
            if used > width and lines[-1]:
                lines.append("")
            lines[-1] += character
    return lines
