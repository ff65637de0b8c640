"""Where private values come from: a file or a pipe, and the columns that its header names."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from inbounds.cli.failure import UsageError

PIPE = Path("-")
_LIKELY = ";\t|"  # delimiters that are looked for in a header that seems to be a single name


def read_delimiter(text: str) -> str:
    r"""Return a delimiter that cannot be part of a number, a quote or a line end.

    Examples
    --------
    >>> read_delimiter(";"), read_delimiter(r"\t")
    (';', '\t')
    """
    delimiter = "\t" if text == r"\t" else text
    is_used = delimiter.isalnum() or delimiter in '"+-.\r\n\0'
    if len(delimiter) != 1 or not delimiter.isascii() or is_used:
        requirement = "one ASCII character that numbers, quotes and line ends do not use, as in ';'"
        raise typer.BadParameter(f"must be {requirement}, got {text!r}.")
    return delimiter


Delimiter = Annotated[
    str | None,
    typer.Option(
        metavar="CHARACTER",
        parser=read_delimiter,
        help="Character between the cells of CSV, in the input and the output; a comma by default.",
    ),
]


def beside(path: Path) -> Path:
    """Return the file that says how the private columns of a table were made.

    Examples
    --------
    >>> beside(Path("public.csv")).name
    'public.csv.privacy.json'
    """
    return path.with_name(f"{path.name}.privacy.json")


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, by which a table and the file beside it know each other.

    Examples
    --------
    >>> import os
    >>> digest(Path(os.devnull))[:8]
    'e3b0c442'
    """
    import hashlib  # noqa: PLC0415 - help must be quick

    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file, or standard input for ``-``."""
    if path != PIPE:
        with path.open("rb") as file:
            yield file
        return
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("no input was given: name a file, or send the values through a pipe.")
    yield sys.stdin.buffer


def check_columns(columns: Iterable[str], header: list[str], option: str = "--column") -> None:
    """Refuse columns that the header does not name exactly once. The header is not shown.

    Examples
    --------
    >>> check_columns(["age"], ["age", "town"])
    """
    hint = ""
    if mark := next((mark for mark in _LIKELY if len(header) == 1 and mark in header[0]), None):
        hint = f" Hint: its cells seem to be separated by {mark!r}: use --delimiter."
    for column in columns:
        if (count := header.count(column)) != 1:
            matches = f"{count} columns named" if count else "no column"
            raise UsageError(f"{option}: the input has {matches} {column!r}.{hint}")
