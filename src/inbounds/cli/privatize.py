"""``inbounds privatize``: a copy of a table with a private output for every person's value."""

from __future__ import annotations

import io
import json as json_text
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from inbounds.cli import arguments, output
from inbounds.cli.column import CalibratedColumn, calibrated, describe
from inbounds.cli.failure import InputError, UsageError, in_options
from inbounds.cli.level import typed_columns
from inbounds.cli.source import PIPE, Delimiter, beside, check_columns, digest, opened
from inbounds.cli.statement import described_types, reading_hint, row_statement
from inbounds.cli.transfer import write_private
from inbounds.errors import ArgumentError, ArgumentTypeError

if TYPE_CHECKING:
    from inbounds.frames.local.file import Format, Source

EXAMPLES = r"""
[bold]Examples[/bold]

Ages and incomes, whole numbers, at epsilon 1 for [bold]both together[/bold] (0.5 each):

$ inbounds privatize people.csv public.csv --epsilon 1 \
  --column age=0:120:1 --column income=0:200000:1

Age at epsilon 0.25; the other columns divide the rest of 1 equally:

$ inbounds privatize people.parquet public.parquet --epsilon 1 \
  --column age=0:120:1@0.25 --column income=0:200000 --column rent=0:5000

Categories and yes/no columns, whose levels are public (put a level with a comma in quotes):

$ inbounds privatize people.csv public.csv --epsilon 2 \
  --levels education=none,school,university --levels smoker=no,yes

In a pipe, with an output even for those who gave no value. No file with the
guarantee is written:

$ inbounds privatize - - --column age=0:120:1@1 --nulls uniform \
  <people.csv >piped.csv

Whether every row can be drawn, before a budget is charged for it:

$ inbounds privatize people.csv public.csv --column age=0:120:1@0.5 \
  --dry-run
"""


def privatize(
    *,
    source: Annotated[
        Path, typer.Argument(metavar="INPUT", help="A table, one row per person; - is a CSV pipe.")
    ],
    target: Annotated[Path, typer.Argument(metavar="OUTPUT", help="The copy; - is a CSV pipe.")],
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=LOW:HIGH[:STEP][@EPSILON]",
            help="A column of numbers to replace, the range of its values, which must be public, "
            "the step that outputs are rounded to, and its own epsilon. Repeat it.",
        ),
    ] = None,
    levels: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=LEVEL,LEVEL,...[@EPSILON]",
            help="A column of categories to replace by randomised response, all its levels, which "
            "must be public, and its own epsilon. Repeat it.",
        ),
    ] = None,
    epsilon: Annotated[
        float | None,
        arguments.number_option(
            help="Epsilon of a whole row, all named columns together. Columns with their own "
            "epsilon take it from this one; the others divide the rest equally."
        ),
    ] = None,
    delta: Annotated[
        float | None,
        arguments.number_option(
            help="Delta of a whole row, divided equally between the columns of numbers."
        ),
    ] = None,
    mechanism: Annotated[
        arguments.MechanismName | None,
        typer.Option(
            help="The mechanism; by default window, from whose outputs distributions and means of "
            "many people are read back best (deconvolve). best is for means alone."
        ),
    ] = None,
    objective: arguments.ObjectiveOption = None,
    nulls: Annotated[
        Literal["error", "keep", "uniform"],
        typer.Option(
            help="What to do about a missing value: stop; publish that it is missing, which is "
            "not private; or treat it as a number drawn uniformly from the range, or as a random "
            "level. A blank cell of CSV is a missing value."
        ),
    ] = "error",
    form: Annotated[
        Literal["csv", "parquet", "arrow"] | None,
        typer.Option(
            "--format",
            help="Format of a file whose name does not end in .csv, .parquet, .arrow or .feather.",
        ),
    ] = None,
    delimiter: Delimiter = None,
    shuffle: Annotated[
        bool,
        typer.Option(
            "--shuffle",
            help="Put rows into a random order, as the place of a row may reveal its value. Holds "
            "the whole table in memory.",
        ),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace OUTPUT if it exists.")] = False,
    progress: Annotated[
        bool | None,
        typer.Option(help="Show rows and rows per second; by default only on a screen."),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Publish nothing: read and check all of INPUT, or say what is wrong with it.",
        ),
    ] = False,
    json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Print the guarantee as JSON; of a dry run, which says so, with the size.",
        ),
    ] = False,
) -> None:
    """Replace every person's value in some columns by a private output (local privacy).

    [bold]--epsilon is for a whole row[/bold], all named columns together: it is what being in
    one row costs a person. Columns that are not named, and the number of
    rows, are published unchanged, so they must not be secret. The same holds
    for the order of the rows, which reveals values if the table is sorted by
    them; [bold]--shuffle[/bold] changes it. Running the command again on the
    same people is another release and costs as much again.

    OUTPUT appears only once it is complete, and beside it a file with the
    guarantee, the mechanisms and their certificates, OUTPUT.privacy.json. Private values are never
    shown. From CSV to CSV, the text of other columns does not change. From
    CSV to other formats, their types are inferred from the first 65,536 rows:
    007 becomes 7, and a time with an offset is written in UTC. Private columns
    with whole steps become 64-bit integers, others doubles; levels become
    integers or booleans if all of them look like such, and text otherwise.
    """
    _check_target(target, source=source, force=force, json=json)
    forms = _format(source, form), _format(target, form)
    if delimiter is not None and "csv" not in forms:
        raise UsageError("--delimiter is for CSV, and neither INPUT nor OUTPUT is CSV.")
    delimiter = delimiter or ","
    columns = calibrated(column or [], epsilon, delta, mechanism, objective, levels=levels)
    with ExitStack() as stack:
        stack.enter_context(_explained(source))
        table = stack.enter_context(_opened(source, forms, columns, delimiter))
        columns = typed_columns(columns, table.schema, forms)
        facts = describe(columns, nulls) | {"output": target.name, "rows": 0}
        file = stack.enter_context(_nowhere(facts) if dry_run else _written(target, facts))
        facts["types"] = described_types(forms, others=len(table.schema) > len(columns))
        try:
            write_private(
                *(table, columns, file, forms, facts),
                delimiter=delimiter,
                shuffle=shuffle,
                progress=progress,
            )
        except BaseException:
            if facts["rows"] and not dry_run and not _is_held_back(target):
                typer.echo(f"Stopped early. {row_statement(facts)}", err=True)
            raise
    if dry_run:
        rows = f"all rows can be drawn ({facts['rows']})" if facts["rows"] else "there are no rows"
        typer.echo(f"Dry run: {rows}. Nothing was published.", err=True)
    else:
        typer.echo(row_statement(facts), err=True)
        if facts["rows"] and _is_held_back(target):
            typer.echo(reading_hint(target, facts), err=True)
    if json:
        output.show_json(facts)


def _check_target(target: Path, *, source: Path, force: bool, json: bool) -> None:
    """Refuse to write over something else, before anything is read."""
    if target == PIPE:
        if json:
            raise UsageError("--json must not be given where OUTPUT is standard output.")
    elif target.is_dir():
        raise UsageError(f"OUTPUT must be a file, got the directory {str(target)!r}.")
    elif _is_held_back(target):
        output.check_free(target, beside(target), source=source, force=force, option="OUTPUT")


def _is_held_back(target: Path) -> bool:
    return target != PIPE and output.is_held_back(target)


def _format(path: Path, form: str | None) -> Format:
    from inbounds.frames.local.file import format_of  # noqa: PLC0415 - help must be quick

    if path == PIPE:
        return "csv"
    return format_of(path, form)


@contextmanager
def _explained(source: Path) -> Iterator[None]:
    """Report errors in the data as errors of the input, not of the options."""
    try:
        yield
    except (ArgumentError, ArgumentTypeError) as error:
        name = "standard input" if source == PIPE else source
        raise InputError(f"{name}: {in_options(error)}") from None


@contextmanager
def _opened(
    source: Path, forms: tuple[Format, Format], columns: list[CalibratedColumn], delimiter: str
) -> Iterator[Source]:
    """Open INPUT and check its columns; text that goes from CSV to CSV does not change."""
    from inbounds.frames.local import csv_reader, file  # noqa: PLC0415 - help must be quick

    numbers = [column.name for column in columns if not column.texts]
    texts = [column.name for column in columns if column.texts]

    def check(header: list[str]) -> None:
        check_columns(numbers, header)
        check_columns(texts, header, "--levels")

    options: Any = {"typed": forms[1] != "csv", "delimiter": delimiter, "check": check}
    with ExitStack() as stack:
        if source == PIPE:
            stream = stack.enter_context(opened(source))
            table = file.Source(*csv_reader.read(stream, numbers, texts, **options))
        else:
            table = stack.enter_context(file.opened(source, forms[0], numbers, texts, **options))
        check(table.schema.names)
        yield table


@contextmanager
def _nowhere(facts: dict[str, Any]) -> Iterator[IO[bytes]]:
    """Throw away what is drawn, as soon as it is, and count its bytes."""
    facts |= {"dry_run": True, "bytes": 0}

    class Counting(io.FileIO):
        def write(self, data: Any) -> int:
            facts["bytes"] += memoryview(data).nbytes
            return super().write(data)

    with Counting(os.devnull, "wb") as file:
        yield cast("IO[bytes]", file)


@contextmanager
def _written(target: Path, facts: dict[str, Any]) -> Iterator[IO[bytes]]:
    """Publish the guarantee, then OUTPUT, which is never there without its guarantee."""
    if target == PIPE:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    sidecar, held = beside(target), _is_held_back(target)
    is_new = held and not sidecar.exists()
    try:
        with output.written_whole(target) as file:
            yield file
            if held:
                file.flush()
                os.fsync(file.fileno())  # a full disk is noticed before any file appears
                facts["sha256"] = digest(Path(file.name))
                with output.written_whole(sidecar) as side:
                    side.write(json_text.dumps(output.jsonable(facts), indent=2).encode() + b"\n")
    except BaseException:
        if is_new:
            sidecar.unlink(missing_ok=True)
        raise
