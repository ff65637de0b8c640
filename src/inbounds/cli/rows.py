"""Private numbers from lines of text. Errors say where a bad one is, never what it is.

A number is what is written: a double only where it is one, as rounding could move two of them
further apart than they are.
"""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from inbounds.cli.failure import InputError, UsageError

Row = list[float | Decimal]


@dataclass(frozen=True, slots=True)
class Layout:
    """How a row of numbers lies in a line: all of it, or named columns below a header."""

    width: int
    columns: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.columns and len(self.columns) != self.width:
            raise UsageError(f"--column must be given once per coordinate, {self.width} in all.")

    def read(self, lines: Iterable[str], place: str = "line") -> Iterator[Row]:
        """Yield one row of numbers a line. Blank lines may only be at the end of a wider table.

        Where a row is one cell, a blank line is a row without a value, and refused even at the end:
        as many rows come out as went in.

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
        for start, cells in _records(lines, place):
            if self.columns and header is None:
                header, where = len(cells), self._find(cells)
            elif len(cells) <= 1 and not "".join(cells).strip():
                blank = blank or start
                if (header or self.width) == 1:
                    raise InputError(f"{place} {blank} is blank: every one must hold a value.")
            elif blank:
                raise InputError(f"{place} {blank} is blank: every one must hold a value.")
            elif header is None:
                yield self._numbers(cells, f"{place} {start}")
            elif len(cells) != header:
                raise InputError(f"{place} {start} must have as many cells as the first line.")
            else:
                yield self._numbers([cells[i] for i in where], f"{place} {start}")
        if self.columns and header is None:
            raise UsageError("--column must be named in the first line, and there is none.")

    def _find(self, header: list[str]) -> list[int]:
        names = [name.strip() for name in header]
        for column in self.columns:
            if names.count(column) != 1:
                raise UsageError(f"--column {column!r} must be in the first line, exactly once.")
        return [names.index(column) for column in self.columns]

    def _numbers(self, cells: list[str], place: str) -> Row:
        try:
            row = [_number(cell) for cell in cells if "_" not in cell]
        except (ValueError, ArithmeticError):
            row = []
        if len(row) != self.width or not all(map(math.isfinite, row)):
            what = "a finite number" if self.width == 1 else f"{self.width} finite numbers"
            example = ",".join(["41.3", "7", "-2.5"][: self.width])
            if not self.columns:
                raise InputError(f"{place} must be {what}, as in {example}.")
            raise InputError(f"{place} must have {what} in {', '.join(self.columns)}.")
        return row


def _number(cell: str) -> float | Decimal:
    """Return the number in a cell: as a decimal if it is no double, as 0.1 is none."""
    text, double = cell.strip(), float(cell)
    if not math.isfinite(double) or (len(text) < 16 and text.isdecimal()):
        return double
    written = Decimal(text)
    return double if written == double else written


def _records(lines: Iterable[str], place: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of each record and the line where it starts; quotes must be closed."""
    reader, start = csv.reader(lines, strict=True), 1
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error:
            raise InputError(f"{place} {start} cannot be read as CSV.") from None
        yield start, cells
        start = reader.line_num + 1


@contextmanager
def opened(path: Path | None) -> Iterator[BinaryIO]:
    """Open a file, or standard input for ``-`` or none."""
    if path is not None and str(path) != "-":
        with path.open("rb") as file:
            yield file
        return
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("values must be given as arguments, by --input FILE or through a pipe.")
    yield sys.stdin.buffer


def checked_first(stream: BinaryIO, layout: Layout) -> Generator[Row, None, None]:
    r"""Return the rows of a stream; if it can be read twice, all of it is checked before any.

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


def _decoded(stream: BinaryIO, layout: Layout) -> Generator[Row, None, None]:
    """Read UTF-8 with or without a byte order mark; what is not UTF-8 becomes a bad number."""
    text = TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="")
    try:
        yield from layout.read(text)
    finally:
        text.detach()  # the stream is closed by whoever opened it


def blocks(rows: Iterator[Row], size: int) -> Iterator[list[Row]]:
    """Group rows, so that memory does not grow with their number.

    Examples
    --------
    >>> list(blocks(iter([[1.0], [2.0], [3.0]]), 2))
    [[[1.0], [2.0]], [[3.0]]]
    """
    while block := list(islice(rows, size)):
        yield block
