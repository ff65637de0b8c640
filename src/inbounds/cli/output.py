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

from inbounds.cli.failure import UsageError
from inbounds.cli.source import PIPE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDTH = 120  # columns if the output is not a screen
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # errors that only writing has


def show(table: Any) -> None:
    """Print a table to standard output."""
    from rich.console import Console  # noqa: PLC0415 - help and --json go without

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a screen without ε still shows the numbers
    console = Console(width=None if sys.stdout.isatty() else _WIDTH, highlight=False)
    console.print(table)


def show_json(facts: Any) -> None:
    """Print JSON that any program can read: arrays as lists, infinities and NaN as null.

    Examples
    --------
    >>> show_json({"epsilon": float("inf")})
    {
      "epsilon": null
    }
    """
    typer.echo(json.dumps(jsonable(facts), indent=2, allow_nan=False))


def jsonable(facts: Any) -> Any:
    """Turn arrays and tuples into lists, and infinities and NaN into None, as JSON needs.

    Examples
    --------
    >>> jsonable({"scale": (1.0, float("nan"))})
    {'scale': [1.0, None]}
    """
    if hasattr(facts, "tolist"):  # numpy's, without importing it
        facts = facts.tolist()
    if isinstance(facts, dict):
        return {key: jsonable(value) for key, value in facts.items()}
    if isinstance(facts, list | tuple):
        return [jsonable(value) for value in facts]
    return None if isinstance(facts, float) and not math.isfinite(facts) else facts


def check_free(*paths: Path, source: Path, force: bool, option: str) -> None:
    """Refuse to write over the input, and without `force` over any other file.

    Standard input, which `source` may be, can be a redirected file.
    """
    try:
        read = os.fstat(sys.stdin.fileno()) if source == PIPE else source.stat()
    except (OSError, ValueError, AttributeError):  # reading it fails later, with a message
        read = None
    for path in paths:
        if path.exists():
            if read is not None and os.path.samestat(path.stat(), read):
                raise UsageError(f"{option} must not be the input file, got {str(path)!r}.")
            if not force:
                message = f"{str(path)!r} exists already. Hint: --force replaces it."
                raise UsageError(f"{message} To draw again is another release.")


def is_held_back(path: Path) -> bool:
    """Return whether a file can be kept back until it is complete, unlike a device or a pipe.

    Examples
    --------
    >>> is_held_back(Path("outputs.txt")), is_held_back(Path("/dev/null"))
    (True, False)
    """
    return path.is_file() or not path.exists()


@contextmanager
def written_whole(path: Path) -> Iterator[IO[bytes]]:
    """Write a file that appears under its name only once it is complete.

    A device or a pipe is written to at once.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "outputs.txt"
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
    """Name the file that has no room: the system does not."""
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
            error.filename = str(path)  # the name that the user gave
        raise
    finally:
        part.unlink(missing_ok=True)


def save(figure: Figure, path: Path) -> None:
    """Draw a figure to a file, in the format that its name ends in."""
    picture = io.BytesIO()
    figure.savefig(picture, format=path.suffix[1:].lower(), bbox_inches="tight")
    with written_whole(path) as file:
        file.write(picture.getvalue())
