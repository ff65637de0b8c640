"""Where results go: the screen, JSON, and files that appear whole or not at all."""

from __future__ import annotations

import errno
import io
import json
import math
import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDTH = 120  # columns where there is no screen to fit
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # only writing fails so


def show(*things: Any) -> None:
    """Print tables and text to standard output."""
    from rich.console import Console  # noqa: PLC0415 - help and --json go without

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a screen without ε still shows the numbers
    console = Console(width=None if sys.stdout.isatty() else _WIDTH, highlight=False)
    for thing in things:
        console.print(thing)


def show_json(facts: Any) -> None:
    """Print JSON, which any program reads: arrays as lists, what is not finite as null.

    Examples
    --------
    >>> show_json({"epsilon": float("inf")})
    {
      "epsilon": null
    }
    """
    typer.echo(json.dumps(plain(facts), indent=2, allow_nan=False))


def plain(facts: Any) -> Any:
    """Turn arrays and tuples into lists and infinities into None, as JSON needs.

    Examples
    --------
    >>> plain({"scale": (1.0, float("nan"))})
    {'scale': [1.0, None]}
    """
    if hasattr(facts, "tolist"):  # numpy's, without importing it
        facts = facts.tolist()
    if isinstance(facts, dict):
        return {key: plain(value) for key, value in facts.items()}
    if isinstance(facts, list | tuple):
        return [plain(value) for value in facts]
    return None if isinstance(facts, float) and not math.isfinite(facts) else facts


def is_held_back(path: Path) -> bool:
    """Tell whether a file can appear whole; a device or a pipe shows what it is given at once.

    Examples
    --------
    >>> is_held_back(Path("answers.txt")), is_held_back(Path("/dev/null"))
    (True, False)
    """
    return path.is_file() or not path.exists()


@contextmanager
def written_whole(path: Path) -> Iterator[IO[bytes]]:
    """Write a file that appears under its name only once it is complete.

    A device or a pipe is written to as it is.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "answers.txt"
    >>> with written_whole(target) as file:
    ...     _ = file.write(b"41")
    ...     target.exists()
    False
    >>> target.read_text()
    '41'
    """
    with _named(path):
        if is_held_back(path):
            with _replacing(path) as file:
                yield file
        else:
            with path.open("wb") as file:
                yield file


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Say which file has no room: the system does not."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno in _FULL:
            error.filename = str(path)
        raise


@contextmanager
def _replacing(path: Path) -> Iterator[IO[bytes]]:
    target = Path(os.path.realpath(path))
    part = target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")
    try:
        with part.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    except OSError as error:
        if error.filename == str(part):
            error.filename = str(path)  # what the user knows
        raise
    finally:
        part.unlink(missing_ok=True)


def save(figure: Figure, path: Path) -> None:
    """Draw a figure to a file of the kind its name ends in."""
    picture = io.BytesIO()
    figure.savefig(picture, format=path.suffix[1:].lower(), bbox_inches="tight")
    with written_whole(path) as file:
        file.write(picture.getvalue())
