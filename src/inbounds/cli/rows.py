"""Private numbers from lines of text. Errors say where a bad number is, but never show it.

Numbers are read exactly: as a decimal if a double cannot represent them, as rounding could move
two numbers further apart than they are.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from io import TextIOWrapper
from itertools import islice
from typing import BinaryIO

from inbounds.cli.failure import InputError, UsageError
from inbounds.cli.source import check_columns

InputRow = list[float | Decimal]


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a row's numbers are in a line: all of its cells, or named columns below a header."""

    width: int
    columns: Sequence[str] = ()
    delimiter: str = ","

    def __post_init__(self) -> None:
        if self.columns and len(self.columns) != self.width:
            raise UsageError(f"--column must be given once per coordinate, {self.width} in all.")

    def read(self, lines: Iterable[str], place: str = "line") -> Iterator[InputRow]:
        """Yield one row of numbers per line.

        If rows have several cells, blank lines are allowed at the end of the file. If they have one
        cell, a blank line is a row without a value, and refused even at the end: as many rows come
        out as go in.

        Examples
        --------
        >>> list(Layout(2).read(["2.5, 4", "1e0,-3", ""]))
        [[2.5, 4.0], [1.0, -3.0]]
        >>> list(Layout(1).read(["0.1"]))
        [[Decimal('0.1')]]
        >>> list(Layout(1, ["age"]).read(["name,age", '"Doe, J.",41']))
        [[41.0]]
        >>> list(Layout(1).read(["secret"]))
        Traceback (most recent call last):
        inbounds.cli.failure.InputError: line 1 must be a finite number, as in 41.3.
        """
        header, blank = None, 0
        for start, cells in _records(lines, place, self.delimiter):
            if self.columns and header is None:
                header, where = len(cells), self._find(cells)
            elif len(cells) <= 1 and not "".join(cells).strip():
                blank = blank or start
                if (header or self.width) == 1:
                    raise InputError(f"{place} {blank} is blank, but must hold a value.")
            elif blank:
                raise InputError(f"{place} {blank} is blank, but must hold a value.")
            elif header is None:
                yield self._numbers(cells, f"{place} {start}")
            elif len(cells) != header:
                raise InputError(f"{place} {start} must have as many cells as the first line.")
            else:
                yield self._numbers([cells[i] for i in where], f"{place} {start}")
        if self.columns and header is None:
            raise UsageError("--column must be named in the first line, but the input is empty.")

    def _find(self, header: list[str]) -> list[int]:
        names = [name.strip() for name in header]
        check_columns(self.columns, names)
        return [names.index(column) for column in self.columns]

    def _numbers(self, cells: list[str], place: str) -> InputRow:
        try:
            row = [_number(cell) for cell in cells if "_" not in cell]
        except (ValueError, ArithmeticError):
            row = []
        if len(row) != self.width or not all(map(math.isfinite, row)):
            what = "a finite number" if self.width == 1 else f"{self.width} finite numbers"
            example = self.delimiter.join(["41.3", "7", "-2.5"][: self.width])
            if not self.columns:
                raise InputError(f"{place} must be {what}, as in {example}.")
            raise InputError(f"{place} must have {what} in {', '.join(self.columns)}.")
        return row


def _number(cell: str) -> float | Decimal:
    """Return the number in a cell; as a decimal if a double cannot represent it, as with 0.1."""
    text, double = cell.strip(), float(cell)
    if not math.isfinite(double) or (len(text) < 16 and text.isdecimal()):
        return double
    written = Decimal(text)
    return double if written == double else written


def _records(lines: Iterable[str], place: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line where each record starts, and its cells; quotes must be closed."""
    reader, start = csv.reader(lines, delimiter=delimiter, strict=True), 1
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error:
            raise InputError(f"{place} {start} cannot be read as CSV.") from None
        yield start, cells
        start = reader.line_num + 1


def checked_first(stream: BinaryIO, layout: Layout) -> Generator[InputRow, None, None]:
    r"""Return the rows of a stream; a stream that can be read twice is checked as a whole first.

    Examples
    --------
    >>> from io import BytesIO
    >>> list(checked_first(BytesIO(b"1\r\n2\r\n"), Layout(1)))
    [[1.0], [2.0]]
    """
    if stream.seekable():
        start = stream.tell()
        for _ in _decoded(stream, layout):
            pass
        stream.seek(start)
    return _decoded(stream, layout)


def _decoded(stream: BinaryIO, layout: Layout) -> Generator[InputRow, None, None]:
    """Read UTF-8, with or without a byte order mark; other bytes become a bad number."""
    text = TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="")
    try:
        yield from layout.read(text)
    finally:
        text.detach()  # the stream is closed by whoever opened it


def blocks(rows: Iterator[InputRow], size: int) -> Iterator[list[InputRow]]:
    """Group rows, so that memory does not grow with their number.

    Examples
    --------
    >>> list(blocks(iter([[1.0], [2.0], [3.0]]), 2))
    [[[1.0], [2.0]], [[3.0]]]
    """
    while block := list(islice(rows, size)):
        yield block
