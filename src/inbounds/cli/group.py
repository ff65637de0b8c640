"""Public values that options list as text: groups and levels, in the types of their columns."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from inbounds.cli.failure import InputError, UsageError
from inbounds.cli.source import check_columns
from inbounds.cli.statistic import split_values
from inbounds.errors import ArgumentError, ArgumentTypeError

if TYPE_CHECKING:
    from inbounds.frames.central.statistic import Statistic

Key = tuple[str, ...]

By = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="A column that splits the rows into groups. Repeat it."),
]
GroupList = Annotated[
    list[str] | None,
    typer.Option(
        "--groups",
        metavar="VALUE,VALUE",
        help="The groups to report, which must be public, as Ulm,Rom. With several --by, the "
        "values of a group are joined by colons, as Ulm:f,Ulm:m. A value with a comma is put in "
        "double quotes. Repeat it.",
    ),
]
GroupFile = Annotated[
    Path | None,
    typer.Option(
        "--groups-from",
        metavar="FILE",
        help="A public CSV file of groups, one in each row below a header that names the columns "
        "of --by.",
    ),
]

_KINDS: dict[type, str] = {
    str: "text",
    int: "integers",
    bool: "true or false",
    date: "dates, as 2026-01-31",
}


def read_groups(
    by: Sequence[str], texts: Sequence[str] | None, source: Path | None, delimiter: str = ","
) -> list[Key]:
    """Return the groups that ``--groups`` and ``--groups-from`` list, as text.

    Examples
    --------
    >>> read_groups(["town"], ["Ulm,Rom", "10:30"], None)
    [('Ulm',), ('Rom',), ('10:30',)]
    >>> read_groups(["town", "sex"], ["Ulm:f,Ulm:m"], None)
    [('Ulm', 'f'), ('Ulm', 'm')]
    """
    if not by:
        for option, given in (("--groups", texts), ("--groups-from", source)):
            if given:
                raise UsageError(f"{option} must not be given without --by.")
        return []
    if len(set(by)) < len(by):
        raise UsageError("--by must name no column twice.")
    groups = [group for text in texts or [] for group in _listed(text, len(by))]
    groups += [] if source is None else _of_file(source, by, delimiter)
    if not groups:
        reason = "which groups exist must be public, so they are not read from INPUT"
        raise UsageError(f"--groups or --groups-from must be given with --by: {reason}.")
    return groups


def _listed(text: str, columns: int) -> list[Key]:
    try:
        values = split_values(text)
    except (ValueError, csv.Error):
        form = "values with commas between them, as in Ulm,Rom"
        raise UsageError(f"--groups must be {form}, got {text!r}.") from None
    groups = [(value,) if columns == 1 else tuple(value.split(":")) for value in values]
    for group, value in zip(groups, values, strict=True):
        if len(group) != columns or not all(group):
            form = f"{columns} values joined by colons for each group, one for each --by"
            hint = "--groups-from reads values with colons from a file."
            raise UsageError(f"--groups must be {form}, got {value!r}. Hint: {hint}")
    return groups


def _of_file(source: Path, by: Sequence[str], delimiter: str) -> list[Key]:
    try:
        with source.open(encoding="utf-8-sig", newline="") as file:
            header, *rows = list(csv.reader(file, delimiter=delimiter, strict=True))
        check_columns(by, header, "--groups-from")
        if any(len(row) != len(header) for row in rows):
            raise ValueError
    except (ValueError, csv.Error):  # a header is missing, or an encoding is wrong
        raise InputError(f"{source}: this is no CSV file with a header.") from None
    return [tuple(row[header.index(name)] for name in by) for row in rows]


@dataclass(frozen=True, slots=True)
class ColumnTypes:
    """The types of columns whose values are compared: text in CSV, otherwise as the file states.

    They depend on the file's schema alone, never on its rows.

    Examples
    --------
    >>> import pyarrow as pa
    >>> types = ColumnTypes.of(pa.schema({"year": pa.int16()}), ["year"])
    >>> types.groups([("2026",)], ["year"])
    [(2026,)]
    """

    types: Mapping[str, type]

    @classmethod
    def of(cls, schema: Any, columns: Sequence[str]) -> ColumnTypes:
        """Return the types of columns, and refuse those whose values are not compared.

        Raises
        ------
        ArgumentTypeError
            If a column holds floats, times or anything else that is neither text nor an integer, a
            boolean or a date.
        """
        from inbounds.frames.binding import bind_columns  # noqa: PLC0415 - help must be quick
        from inbounds.frames.central.value_type import check_keys, value_type  # noqa: PLC0415

        if not columns:
            return cls({})
        table, names = bind_columns(schema.empty_table(), [("by", name) for name in columns])
        types: dict[str, Any] = {}
        for name in columns:
            check_keys(table, names[name], name, [])
            types[name] = value_type(table, names[name])[0]
        return cls(types)

    def groups(self, groups: Sequence[Key], by: Sequence[str]) -> list[tuple[Any, ...]]:
        """Return groups as tuples of values."""
        keys = [
            tuple(self._value(text, name, "--groups") for text, name in zip(group, by, strict=True))
            for group in groups
        ]
        if len(set(keys)) < len(keys):
            raise UsageError("--groups must list no group twice.")
        return keys

    def statistic(self, statistic: Any) -> Statistic:
        """Return a statistic whose levels have the type of its column."""
        from inbounds.frames import categories  # noqa: PLC0415 - help must be quick

        if not statistic.levels:
            return statistic  # type: ignore[no-any-return]
        name, complete = statistic.column, statistic.complete
        values = [self._value(level, name, "--categories") for level in statistic.levels]
        try:
            return categories(name, values, complete=complete)
        except (ArgumentError, ArgumentTypeError) as error:
            raise UsageError(f"--categories {name!r}: {error.sentence}") from None

    def _value(self, text: str, column: str, option: str) -> Any:
        kind = self.types[column]
        try:
            return _read_value(text, kind)
        except ValueError:
            requirement = f"list {_KINDS[kind]} for the column {column!r}"
            raise UsageError(f"{option} must {requirement}, got {text!r}.") from None


def _read_value(text: str, kind: type) -> Any:
    if kind is int and re.fullmatch("[+-]?[0-9]+", text):
        return int(text)
    if kind is bool and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if kind is date and re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        return date.fromisoformat(text)
    if kind is str:
        return text
    raise ValueError
