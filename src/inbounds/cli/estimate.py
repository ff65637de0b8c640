"""``inbounds estimate``: what private columns say about the true values."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from inbounds import _json
from inbounds.cli import arguments, output
from inbounds.cli.failure import InputError, UsageError, in_options
from inbounds.cli.progress import row_bar
from inbounds.cli.source import Delimiter, beside, check_columns, digest
from inbounds.errors import ArgumentError, ArgumentTypeError, InBoundsError

if TYPE_CHECKING:
    from inbounds.frames.reading.group import Groups
    from inbounds.frames.reading.row import Asked, Row
    from inbounds.frames.reading.sidecar import PrivateColumns

EXAMPLES = r"""
[bold]Examples[/bold]

Means of all private columns, and medians, in each district:

$ inbounds estimate public.parquet --by district --quantile 0.5

Private categories need no option: the fraction of people at each level is estimated.

The fractions of people in three age groups, as rows for a spreadsheet:

$ inbounds estimate public.parquet --histogram age=0:18:65:120 \
  --csv > ages.csv
"""

_WORDS = ("statistic", "column", "level")
_NOTES = {
    "keep": "Rows without a value were left out, column by column.",
    "uniform": "A missing value counts as one that is uniform in the range, or among the levels: "
    "nobody can tell which values were missing.",
}


def estimate(
    *,
    source: Annotated[
        Path, typer.Argument(metavar="INPUT", help="A table that inbounds privatize wrote.")
    ],
    by: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A column that splits the rows. Repeat it."),
    ] = None,
    quantile: Annotated[
        list[float] | None,
        typer.Option(metavar="Q", help="A quantile; 0.5 is the median. Repeat it."),
    ] = None,
    histogram: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[NAME=]EDGES",
            help="Edges of bins, as in age=0:18:65:120, or a number of bins, as in age=12; without "
            "a name for all private columns of numbers. Repeat it.",
        ),
    ] = None,
    level: Annotated[
        float | None, arguments.number_option(help="The confidence of each interval, 0.95.")
    ] = None,
    sidecar: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The file that says how the columns were made; by default INPUT.privacy.json.",
        ),
    ] = None,
    form: Annotated[
        Literal["csv", "parquet", "arrow"] | None,
        typer.Option(
            "--format",
            help="Format of a file whose name does not end in .csv, .parquet, .arrow or .feather.",
        ),
    ] = None,
    delimiter: Delimiter = None,
    progress: Annotated[
        bool | None,
        typer.Option(help="Show rows and rows per second; by default only on a screen."),
    ] = None,
    json: arguments.Json = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print rows of CSV.")] = False,
) -> None:
    """Estimate means, quantiles and fractions of the true values behind private columns.

    The plain average of a private column is biased, because noise in a range pulls
    outputs towards its middle, and so are plain counts of private levels. Columns of
    numbers get means, and columns of categories the fraction of people at each level.
    This command reads how the columns were made from the
    file beside INPUT and undoes that. It reads private outputs alone, so it costs no
    privacy. Intervals are for the people that the rows were drawn from; each holds the
    truth with the probability [bold]--level[/bold] by itself.
    """
    if json and as_csv:
        raise UsageError("--csv must not be given with --json.")
    known = _private_columns(sidecar or beside(source))
    if sidecar is None:
        _check_belongs(source, known)
    names, asked = (
        list(by or []),
        _asked(known, quantile, histogram, 0.95 if level is None else level),
    )
    _check_by(names, known)
    found = _counted(source, form, delimiter, known=known, by=names, progress=progress)
    from inbounds.frames.reading.estimate import estimated  # noqa: PLC0415 - help must be quick

    rows = [_written(row) for row in estimated(found, asked, known, names)]
    if note := _NOTES.get(known.nulls):
        typer.echo(note, err=True)
    if json:
        output.show_json({"level": asked.level, "nulls": known.nulls, "estimates": rows})
    elif as_csv:
        _write_csv(rows, names)
    else:
        output.show(_table(rows, names, asked.level))


def _private_columns(path: Path) -> PrivateColumns:
    from inbounds.frames.reading.sidecar import read_sidecar  # noqa: PLC0415 - help must be quick

    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        hint = "inbounds privatize writes it beside its output; --sidecar names another one."
        raise InputError(f"{path}: No such file or directory. Hint: {hint}") from None
    try:
        return read_sidecar(text)
    except InBoundsError:
        raise InputError(f"{path}: this is no valid file of inbounds privatize.") from None


def _check_belongs(source: Path, known: PrivateColumns) -> None:
    """Refuse a table that is not the one beside which the sidecar was written."""
    if known.sha256 is not None and digest(source) != known.sha256:
        hint = "if this one has rows of that one, with the same private columns, add --sidecar "
        raise InputError(
            f"{source}: {beside(source).name} was written for another table. "
            f"Hint: {hint}{beside(source)}."
        )


def _asked(
    known: PrivateColumns,
    quantiles: list[float] | None,
    histograms: list[str] | None,
    level: float,
) -> Asked:
    from inbounds.frames.reading.row import Asked  # noqa: PLC0415 - help must be quick

    columns, bins = known.numbers, dict[str, Any]()
    if (quantiles or histograms) and not columns:
        option = "--quantile" if quantiles else "--histogram"
        raise UsageError(f"{option} is for columns of numbers, and there is no private one.")
    for text in histograms or []:
        name, equals, edges = text.rpartition("=")
        for column in [name] if equals else columns:
            if column not in columns:
                requirement = "a private column of numbers"
                raise UsageError(f"--histogram must name {requirement}, got {name!r}.")
            bins[column] = _edges(edges, text)
    try:
        return Asked.checked(quantiles or [], bins, level, columns, known.categories)
    except (ArgumentError, ArgumentTypeError) as error:
        subject = {"quantiles": "--quantile"}.get(error.argument or "", f"--{error.argument}")
        raise UsageError(error.said_of(subject)) from None


def _edges(edges: str, text: str) -> int | list[float]:
    try:
        numbers = [_json.typed(part) for part in edges.split(":")]
        return int(edges) if len(numbers) == 1 else numbers
    except ValueError:
        form = "[NAME=]EDGES, as in age=0:18:65:120 or age=12"
        raise UsageError(f"--histogram must be {form}, got {text!r}.") from None


def _check_by(names: list[str], known: PrivateColumns) -> None:
    for name in names:
        if name in known.mechanisms:
            raise UsageError(
                f"--by must name columns that are not private, got {name!r}. "
                "Hint: --histogram gives the fractions of a private column of numbers."
            )
    if len(set(names)) < len(names):
        raise UsageError("--by must name no column twice.")


def _counted(
    source: Path,
    form: str | None,
    delimiter: str | None,
    *,
    known: PrivateColumns,
    by: list[str],
    progress: bool | None,
) -> Groups:
    """Count the outputs of all groups, batch by batch."""
    from inbounds.frames.local import file  # noqa: PLC0415 - help must be quick
    from inbounds.frames.local.text_level import blank_as_missing  # noqa: PLC0415 - as above
    from inbounds.frames.reading.block import blocks  # noqa: PLC0415 - as above
    from inbounds.frames.reading.group import Groups  # noqa: PLC0415 - as above

    columns, blank = list(known.mechanisms), list[str]()
    found = Groups(known.mechanisms, known.nulls, by, None)
    options: Any = {}
    if (kind := file.format_of(source, form)) == "csv":
        check = partial(_check_header, columns, by)
        options = {"delimiter": delimiter or ",", "check": check}
        blank = known.categories
    elif delimiter is not None:
        raise UsageError("--delimiter is for CSV, and INPUT is not CSV.")
    with (
        _explained(source),
        file.opened(source, kind, known.numbers, known.categories, **options) as table,
    ):
        _check_header(columns, by, table.schema.names)
        done = 0
        with row_bar(table.rows, progress) as update:
            for batch in table.batches:
                given = blank_as_missing(batch, blank)
                for block in blocks(given, known.numbers, by, [], known.categories)[1]:
                    found.add(block)
                done += batch.num_rows
                update(done)
    return found


def _check_header(columns: list[str], by: list[str], header: list[str]) -> None:
    check_columns(columns, header, "INPUT")
    check_columns(by, header, "--by")


@contextmanager
def _explained(source: Path) -> Iterator[None]:
    """Report errors in the data as errors of the input, not of the options."""
    try:
        yield
    except (ArgumentError, ArgumentTypeError) as error:
        raise InputError(f"{source}: {in_options(error)}") from None


def _written(row: Row) -> Row:
    """Write dates, which JSON does not know, as text."""
    plain = str, int, float, type(None)
    return {name: value if isinstance(value, plain) else str(value) for name, value in row.items()}


def _write_csv(rows: list[Row], by: list[str]) -> None:
    from inbounds.frames.reading.row import columns_of  # noqa: PLC0415 - help must be quick

    table = csv.DictWriter(sys.stdout, columns_of(rows, by), lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    sys.stdout.flush()  # so that a full disk can still be reported


def _table(rows: list[Row], by: list[str], level: float) -> Any:
    from inbounds._table import Table  # noqa: PLC0415 - help must be quick
    from inbounds.frames.reading.row import columns_of  # noqa: PLC0415 - as above

    names = columns_of(rows, by)
    cells = [tuple(_cell(row.get(name)) for name in names) for row in rows]
    title = f"Estimates with {100 * level:g} % intervals"
    numbers = tuple(i for i, name in enumerate(names) if name not in (*by, *_WORDS))
    return Table(title, tuple(names), tuple(cells), numbers=numbers)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
