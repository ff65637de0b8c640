"""What ``inbounds summarize`` prints and writes: a table, rows of CSV, JSON, or a file."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from inbounds._table import Table
from inbounds.cli import output
from inbounds.cli.failure import UsageError

if TYPE_CHECKING:
    from inbounds.frames.local.file import Format

_NOTHING: Mapping[str, object] = {}
_HEADINGS = ("value", "standard_error", "lower", "upper")
_PLAIN = 1e5, 1e15  # numbers between these are written without a fraction


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a summary goes: to a file, or to the screen in one of three forms, and to a figure."""

    target: Path | None
    plot: Path | None
    as_csv: bool
    json: bool

    def check(self, source: Path, *, force: bool, kept: Mapping[str, object] = _NOTHING) -> None:
        """Refuse what cannot be written, before anything is read, charged or drawn.

        Nothing is written over the input, nor over other files to be `kept`, which are named. A
        figure may be drawn again.
        """
        for option, path in {"--output": self.target, "--plot": self.plot}.items():
            for called, other in {"the input file": source, **kept}.items():
                if path is not None and other is not None and _is_same(path, Path(str(other))):
                    raise UsageError(f"{option} must not be {called}, got {str(path)!r}.")
        if self.plot is not None and self.target is not None and _is_same(self.plot, self.target):
            raise UsageError("--plot must not be the file of --output.")
        given = {"--output": self.target is not None, "--csv": self.as_csv, "--json": self.json}
        if len(chosen := [option for option, is_given in given.items() if is_given]) > 1:
            raise UsageError(f"{chosen[0]} must not be given with {chosen[1]}.")
        if self.target is not None:
            _format_of(self.target)
            if output.is_held_back(self.target):
                output.check_free(self.target, source=source, force=force, option="--output")
        if self.plot is not None:
            from inbounds.plots.style import blank  # noqa: PLC0415 - help must be quick

            blank(1, 1)  # fails without matplotlib
            if self.plot.is_dir():
                raise UsageError(f"--plot must not be a folder, got {str(self.plot)!r}.")
            if not self.plot.parent.is_dir():
                raise UsageError(f"--plot must be in a folder that exists, got {str(self.plot)!r}.")

    def check_groups(self, groups: int) -> None:
        """Refuse a figure of too many groups."""
        from inbounds.frames.central.picture import MOST_GROUPS  # noqa: PLC0415 - as above

        if self.plot is not None and groups > MOST_GROUPS:
            raise UsageError(f"--plot must not be given with more than {MOST_GROUPS} groups.")

    @contextmanager
    def opened(self) -> Iterator[IO[bytes] | None]:
        """Open the file, which appears only once it is complete; without a file, yield None."""
        if self.target is None:
            yield None
            return
        with output.written_whole(self.target) as file:
            yield file

    def write(self, result: Any, by: list[str], facts: dict[str, Any], file: Any) -> None:
        """Write or print a summary. If the file cannot be written, print it: it was paid for."""
        if self.target is not None:
            try:
                _write_file(result, file, _format_of(self.target))
                file.flush()
            except Exception:
                show_table(result, by)
                raise
        elif self.json:
            output.show_json(facts | {"estimates": rows_of(result)})
        elif self.as_csv:
            _write_csv(result)
        else:
            show_table(result, by)

    def draw(self, result: Any) -> None:
        """Draw the figure, if one is asked for."""
        if self.plot is not None:
            from inbounds.frames import plot_summary  # noqa: PLC0415 - help must be quick

            output.save(plot_summary(result), self.plot)


def _is_same(path: Path, other: Path) -> bool:
    """Tell whether two paths lead to one file, which need not exist."""
    try:
        return path.resolve() == other.resolve() or path.samefile(other)
    except (OSError, ValueError):  # one of them does not exist, or is a URL
        return False


def _format_of(target: Path) -> Format:
    from inbounds.frames.local.file import SUFFIXES  # noqa: PLC0415 - help must be quick

    if (form := SUFFIXES.get(target.suffix.lower())) is None:
        raise UsageError(f"--output must end in one of {', '.join(SUFFIXES)}, got {target.name!r}.")
    return form


def show_table(result: Any, by: list[str]) -> None:
    """Print a summary, which is a table of Arrow. What a row describes is said in two columns.

    Examples
    --------
    >>> import pyarrow as pa
    >>> row = {"town": "Ulm", "statistic": "mean", "column": "age", "value": 41.0}
    >>> row |= {"standard_error": 0.5, "lower": 40.0, "upper": 42.0, "mechanism": "ClampedLaplace"}
    >>> show_table(pa.Table.from_pylist([row]), ["town"])
    <BLANKLINE>
    ...Ulm    mean        age      41              0.5      40      42...
    """
    rows = result.to_pylist()
    headings = (*by, "statistic", "of", *_HEADINGS)
    cells = tuple(
        (*(_cell(row[name]) for name in by), *_described(row), *(_cell(row[n]) for n in _HEADINGS))
        for row in rows
    )
    numbers = tuple(range(len(by) + 2, len(headings)))
    used = sorted({row["mechanism"] for row in rows if row["mechanism"] is not None})
    caption = f"Released by {' and '.join(used)}." if used else ""
    shown = tuple(heading.replace("_", " ") for heading in headings)
    output.show(
        Table("Private statistics with 95 % intervals", shown, cells, caption, numbers=numbers)
    )


def _described(row: dict[str, Any]) -> tuple[str, str]:
    """Return the statistic of a row, with its quantile, and what it is of, with a bin or a level.

    Examples
    --------
    >>> _described({"statistic": "histogram", "column": "age", "bin_lower": 0.0, "bin_upper": 18.0})
    ('histogram', 'age 0 to 18')
    """
    column, q = row["column"] or "", row.get("q")
    statistic = row["statistic"] if q is None else f"{row['statistic']} {_cell(q)}"
    if row.get("bin_lower") is not None:
        column = f"{column} {_cell(row['bin_lower'])} to {_cell(row['bin_upper'])}"
    elif row.get("level") is not None:
        column = f"{column} {_cell(row['level'])}"
    return statistic, column


def _write_csv(result: Any) -> None:
    """Print rows of CSV."""
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(result.column_names)
    table.writerows(zip(*(column.to_pylist() for column in result.columns), strict=True))
    sys.stdout.flush()  # so that a full disk can still be reported


def _write_file(result: Any, file: IO[bytes], form: Format) -> None:
    """Write a file of CSV, Parquet or Arrow."""
    from inbounds.frames.local.file import writing  # noqa: PLC0415 - help must be quick

    with writing(file, form, result.schema) as write:
        for batch in result.to_batches():
            write(batch)


def rows_of(result: Any) -> list[dict[str, Any]]:
    """Return rows that JSON can hold: dates become text.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from datetime import date
    >>> rows_of(pa.table({"day": [date(2026, 1, 31)], "value": [41.0]}))
    [{'day': '2026-01-31', 'value': 41.0}]
    """
    plain = str, int, float, type(None)
    return [
        {name: value if isinstance(value, plain) else str(value) for name, value in row.items()}
        for row in result.to_pylist()
    ]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        is_plain = value.is_integer() or abs(value) > _PLAIN[0]
        return f"{value:.0f}" if is_plain and abs(value) < _PLAIN[1] else f"{value:.6g}"
    return str(value)
