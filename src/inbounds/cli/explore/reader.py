"""The process that reads the names and types of a file's columns, and ends.

A damaged file can break it, and not the server.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from inbounds.cli.failure import exit_code_of
from inbounds.cli.source import read_delimiter


def columns_of(path: Path, delimiter: str | None = None) -> list[dict[str, str]]:
    r"""Return the names of a file's columns and what they hold, and nothing of the values.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "people.csv")
    >>> _ = path.write_text("age,town\n41,Ulm\n")
    >>> columns_of(path)
    [{'name': 'age', 'type': 'unknown'}, {'name': 'town', 'type': 'unknown'}]
    """
    from inbounds.frames.local import file  # noqa: PLC0415 - an optional package

    form = file.format_of(path)
    options: Any = {"typed": False, "delimiter": read_delimiter(delimiter or ",")}
    with file.opened(path, form, **options) as source:
        return [
            {"name": field.name, "type": "unknown" if form == "csv" else _held(field.type)}
            for field in source.schema
        ]


def _held(kind: Any) -> str:
    from pyarrow import types  # noqa: PLC0415 - as above

    plain = kind.value_type if types.is_dictionary(kind) else kind
    if types.is_boolean(plain):
        return "yes/no"
    if types.is_integer(plain) or types.is_floating(plain) or types.is_decimal(plain):
        return "number"
    texts = types.is_string, types.is_large_string, types.is_string_view
    return "text" if any(is_text(plain) for is_text in texts) else "other"


def main(words: Sequence[str]) -> int:
    """Print the columns of a file as JSON, or why it cannot be read."""

    def show() -> None:
        sys.stdout.write(json.dumps({"columns": columns_of(Path(words[0]), *words[1:])}))

    return exit_code_of(show)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
