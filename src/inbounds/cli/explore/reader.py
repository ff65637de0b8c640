"""The process that reads the names and types of a file's columns, and ends.

A damaged file can break it, and not the server.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from inbounds.cli.explore.upload import is_text
from inbounds.cli.failure import exit_code_of
from inbounds.cli.source import read_delimiter
from inbounds.errors import ArgumentError

MOST_ROWS = 5_000_000
"""How many rows a file of columns may have: a few bytes of it can stand for very many."""

_MARKS = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_LONGEST_HEADER = 1 << 16


def columns_of(path: Path, delimiter: str | None = None) -> dict[str, Any]:
    r"""Return the names of a file's columns, what they hold, and notes; nothing of the values.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "people.csv")
    >>> _ = path.write_text("age,town\n41,Ulm\n")
    >>> columns_of(path)["columns"]
    [{'name': 'age', 'type': 'unknown'}, {'name': 'town', 'type': 'unknown'}]
    """
    from inbounds.frames.local import file  # noqa: PLC0415 - an optional package

    form = file.format_of(path)
    mark = read_delimiter(delimiter or ",")
    options: Any = {"typed": False, "delimiter": mark}
    try:
        with file.opened(path, form, **options) as source:
            found = [
                {"name": field.name, "type": "unknown" if form == "csv" else _held(field.type)}
                for field in source.schema
            ]
    except ArgumentError:
        if form == "csv" and (other := _other_mark(path, mark)) is not None:
            raise _another(other) from None
        raise
    if form == "parquet":
        _check_rows(path)
    offered = [column for column in found if is_text(column["name"])]
    return {"columns": offered, "notes": _notes([column["name"] for column in found], mark, form)}


def _check_rows(path: Path) -> None:
    from pyarrow import parquet  # noqa: PLC0415 - an optional package

    rows = parquet.read_metadata(path).num_rows
    if rows > MOST_ROWS:
        hint = "inbounds privatize takes files of any size."
        requirement = f"have at most {MOST_ROWS:,} rows on this page"
        raise ArgumentError.must("the file", requirement, got=f"{rows:,}", hint=hint)


def _another(mark: str) -> ArgumentError:
    requirement = f"be read with another character between its cells: its header holds {mark}"
    return ArgumentError.must("the file", requirement)


def _other_mark(path: Path, delimiter: str) -> str | None:
    """Return which other character the first line holds, if it is text."""
    with path.open("rb") as file:
        line = file.readline(_LONGEST_HEADER)
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return next((name for m, name in _MARKS.items() if m in text and m != delimiter), None)


def _notes(names: list[str], delimiter: str, form: str) -> list[str]:
    """Return what a person should know about the names before drawing."""
    notes = []
    other = [name for mark, name in _MARKS.items() if mark in names[0]] if len(names) == 1 else []
    if form == "csv" and other:
        notes.append(
            f"There is one column, and its name holds {other[0]}: choose what is between the cells."
        )
    if form == "csv" and any(_is_number(name, delimiter) for name in names):
        notes.append(
            "Some names look like numbers. If the file has no header, its first row is the values "
            "of a person, and they would be published unchanged as names: add a header."
        )
    if not all(is_text(name) for name in names):
        notes.append(
            "A column without a name, or with one that is too long, is left out here: it cannot be "
            "replaced, and a private copy would hold it unchanged. Name it, or remove it."
        )
    if any(count > 1 for count in Counter(names).values()):
        notes.append("Some columns have the same name. They cannot be told apart: rename them.")
    return notes


def _is_number(name: str, delimiter: str) -> bool:
    text = name.strip() if delimiter == "," else name.strip().replace(",", ".")
    try:
        float(text)
    except ValueError:
        return False
    return text[-1].isdigit()


def _held(kind: Any) -> str:
    from pyarrow import types  # noqa: PLC0415 - as above

    plain = kind.value_type if types.is_dictionary(kind) else kind
    if types.is_boolean(plain):
        return "yes/no"
    if types.is_integer(plain) or types.is_floating(plain) or types.is_decimal(plain):
        return "number"
    texts = types.is_string, types.is_large_string, types.is_string_view
    return "text" if any(is_kind(plain) for is_kind in texts) else "other"


def main(words: Sequence[str]) -> int:
    """Print the columns of a file as JSON, or why it cannot be read."""

    def show() -> None:
        sys.stdout.write(json.dumps(columns_of(Path(words[0]), *words[1:])))

    return exit_code_of(show)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
