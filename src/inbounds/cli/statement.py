"""What ``inbounds release``, ``privatize`` and ``summarize`` say about the privacy they spent."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from inbounds.domain import Box
    from inbounds.frames.local.file import Format
    from inbounds.guarantee import Amount
    from inbounds.unit import Unit


def release_statement(box: Box, guarantee: Amount, count: int) -> str:
    """Return a sentence about the cost of releases.

    Examples
    --------
    >>> from inbounds import Box
    >>> from inbounds.guarantee import Amount
    >>> release_statement(Box(0, 1), Amount(epsilon=1.0), 1)
    'Privacy: 1 release at epsilon=1.'
    """
    kind = "release" if box.is_interval else "joint release"
    more = "" if box.is_interval else f" of {box.dimension} coordinates"
    text = _spent(count, kind, more, guarantee)
    if count > 1:
        text += f" each; together {count} times that, if one person is in all of them"
    return f"{text}."


def row_statement(facts: dict[str, Any]) -> str:
    """Return a sentence about the cost of a table's rows to the people in them.

    Examples
    --------
    >>> from inbounds.cli.column import calibrated, describe
    >>> facts = describe(calibrated(["age=0:120"], 1.0, None, "bounded-laplace"), "error")
    >>> row_statement(facts | {"rows": 3, "types": "kept"})
    "Privacy: 3 rows at epsilon=1 each ('age' 1). Other columns are unchanged."
    """
    from inbounds.guarantee import Amount  # noqa: PLC0415 - help must be quick

    text = _spent(facts["rows"], "row", "", Amount(**facts["row"]["requested"]))
    if not facts["rows"]:
        return f"{text}."
    columns = ((column["name"], column["requested"]["epsilon"]) for column in facts["columns"])
    text += f" each ({', '.join(f'{name!r} {epsilon:g}' for name, epsilon in columns)})."
    text += " The output shows where values are missing." if facts["nulls"] == "keep" else ""
    if facts["types"] == "kept":
        return f"{text} Other columns are unchanged."
    return (
        f"{text} Other columns have types inferred from the first {facts['types']['rows']} rows: "
        "007 becomes 7, and a time with an offset is written in UTC."
    )


def summary_statement(result: Any, guarantee: Amount, unit: Unit) -> str:
    """Return a sentence about the cost of a summary, which is a table of Arrow.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from inbounds import Unit
    >>> from inbounds.guarantee import Amount
    >>> released = pa.table({"mechanism": ["ClampedLaplace", None]})
    >>> summary_statement(released, Amount(epsilon=1.0), Unit("replace", "row"))
    'Privacy: one release at epsilon=1, whose unit is: replace one row.'
    """
    if result["mechanism"].null_count == len(result):
        return "Privacy: only the public number of rows was asked for, so nothing was spent."
    return f"Privacy: one release at {guarantee:g}, whose unit is: {unit}."


def reading_hint(target: Path, facts: dict[str, Any] | None = None) -> str:
    """Return a sentence about what the output must not be used for, and what reads it.

    Examples
    --------
    >>> from pathlib import Path
    >>> print(reading_hint(Path("my file.csv")))
    Plain averages of private columns are biased. Read them with: inbounds estimate 'my file.csv'
    """
    are_levels = ["levels" in column for column in facts["columns"]] if facts else [False]
    what = "averages" * (False in are_levels), "counts" * (True in are_levels)
    return (
        f"Plain {' and '.join(filter(None, what))} of private columns are biased. Read them with: "
        f"inbounds estimate {shlex.quote(str(target))}"
    )


def _spent(count: int, kind: str, more: str, guarantee: Amount) -> str:
    if not count:
        return f"Privacy: no {kind}, so nothing was spent"
    return f"Privacy: {count} {kind}{'s' * (count > 1)}{more} at {guarantee:g}"


def described_types(forms: tuple[Format, Format], *, others: bool) -> Any:
    """Return how other columns got their types, for the file beside the output.

    Examples
    --------
    >>> described_types(("csv", "csv"), others=True)
    'kept'
    """
    from inbounds.frames.local.csv_reader import INFERRED  # noqa: PLC0415 - help must be quick

    inferred = others and forms[0] == "csv" != forms[1]
    return {"inferred": True, "rows": INFERRED} if inferred else "kept"
