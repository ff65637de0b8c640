"""Tables that keep the ratios of their cells under keys that stay the same from run to run."""

from collections.abc import Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from benchmarks.timing import Cell, Ratio


class RecordedTable(Table):
    """A table whose ratios are found under its title, the labels of the row, and the column."""

    def __init__(
        self,
        title: str,
        caption: str,
        columns: Sequence[str],
        labels: Sequence[str] | None = None,
    ) -> None:
        super().__init__(title=title, caption=caption, title_justify="left", caption_justify="left")
        for column in columns:
            self.add_column(column, justify="right")
        self.ratios: dict[str, Ratio] = {}
        self._labels = [columns.index(x) for x in (columns[:1] if labels is None else labels)]
        self._measures = _measures(columns)

    def add_row(self, *cells: Any, **options: Any) -> None:
        """Add a row as rich does, and keep the ratios of its cells."""
        super().add_row(*cells, **options)
        row = ", ".join(plain(cells[k]) for k in self._labels if k < len(cells))
        for cell, measure in zip(cells, self._measures, strict=False):
            if isinstance(cell, Cell):
                key = " / ".join(filter(None, (plain(str(self.title)), row, measure)))
                self.ratios[_unused(key, self.ratios)] = cell.ratio


def plain(text: object) -> str:
    """Return the text without rich's markup."""
    return Text.from_markup(str(text)).plain


def _measures(columns: Sequence[str]) -> list[str]:
    """Name the columns; one that starts with "×" is named after the one before that does not."""
    names: list[str] = []
    described = ""
    for column in columns:
        if column.startswith("×"):
            name = f"{described} {column}"
        else:
            name = described = column
        names.append(_unused(name, names))
    return names


def _unused(name: str, names: Sequence[str] | dict[str, Ratio]) -> str:
    number, candidate = 1, name
    while candidate in names:
        number += 1
        candidate = f"{name} ({number})"
    return candidate
