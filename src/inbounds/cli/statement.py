"""What ``inbounds privatize`` says when it is done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inbounds.frames.local.file import Format


def statement(facts: dict[str, Any]) -> str:
    """Say what the rows cost the people they are about.

    Examples
    --------
    >>> from inbounds.cli.column import calibrated, describe
    >>> facts = describe(calibrated(["age=0:120"], 1.0, None, "bounded-laplace"), "error")
    >>> statement(facts | {"rows": 3, "types": "kept"})
    "Privacy: 3 rows at epsilon=1 each ('age' 1). Other columns are as they were."
    """
    if not facts["rows"]:
        return "Privacy: no row, no release, nothing spent."
    plural = "" if facts["rows"] == 1 else "s"
    cost = ", ".join(f"{name}={value:g}" for name, value in facts["row"]["requested"].items())
    parts = ", ".join(
        f"{one['name']!r} {one['requested']['epsilon']:g}" for one in facts["columns"]
    )
    text = f"Privacy: {facts['rows']} row{plural} at {cost} each ({parts})."
    text += " Where values are missing is published." if facts["nulls"] == "keep" else ""
    if facts["types"] == "kept":
        return f"{text} Other columns are as they were."
    return (
        f"{text} Other columns have types inferred from the first {facts['types']['rows']} rows: "
        "007 becomes 7, a time with an offset is in UTC."
    )


def types_told(forms: tuple[Format, Format], *, others: bool) -> Any:
    """Return how other columns got their types, for the file beside the output.

    Examples
    --------
    >>> types_told(("csv", "csv"), others=True)
    'kept'
    """
    from inbounds.frames.local.csv_reader import INFERRED  # noqa: PLC0415 - help must be quick

    inferred = others and forms[0] == "csv" != forms[1]
    return {"inferred": True, "rows": INFERRED} if inferred else "kept"
