"""``inbounds privatize``: a copy of a table in which every person's value is a private one."""

from __future__ import annotations

import json as json_text
import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, Literal

import typer

from inbounds.cli import arguments, output
from inbounds.cli.column import Column, calibrated, check_name, describe, warn_of_order
from inbounds.cli.failure import InputError, UsageError, in_options
from inbounds.cli.progress import bar
from inbounds.cli.statement import statement, types_told
from inbounds.errors import ArgumentError, ArgumentTypeError

if TYPE_CHECKING:
    from inbounds.frames.local.file import Format, Source

_PIPE = Path("-")

EXAMPLES = r"""
[bold]Examples[/bold]

Ages and incomes, whole numbers, at epsilon 1 for [bold]both together[/bold] (0.5 each):

$ inbounds privatize people.csv public.csv --epsilon 1 \
  --column age=0:120:1 --column income=0:200000:1

Age at epsilon 0.25, the other columns share what is left of 1:

$ inbounds privatize people.parquet public.parquet --epsilon 1 \
  --column age=0:120:1@0.25 --column income=0:200000 --column rent=0:5000

In a pipe, with a value for those who did not answer:

$ inbounds privatize - - --column age=0:120:1@1 --nulls uniform <people.csv >public.csv
"""


def privatize(
    *,
    source: Annotated[
        Path, typer.Argument(metavar="INPUT", help="A table, a row a person; - is a CSV pipe.")
    ],
    target: Annotated[Path, typer.Argument(metavar="OUTPUT", help="The copy; - is a CSV pipe.")],
    column: Annotated[
        list[str],
        typer.Option(
            metavar="NAME=LOW:HIGH[:STEP][@EPSILON]",
            help="A column of numbers to replace, the range of its values, which must be public, "
            "the multiples that answers are rounded to, and its own epsilon. Repeat it.",
        ),
    ],
    epsilon: Annotated[
        float | None,
        arguments.number_option(
            help="Differential privacy of a whole row: all named columns together. What columns "
            "have of their own is taken from it; the others share the rest equally."
        ),
    ] = None,
    delta: Annotated[
        float | None,
        arguments.number_option(
            help="Give (epsilon, delta) privacy; of a whole row, shared equally."
        ),
    ] = None,
    mechanism: arguments.MechanismOption = "bounded-gaussian",
    nulls: Annotated[
        Literal["error", "keep", "uniform"],
        typer.Option(
            help="Where a value is missing: stop; publish that it is missing, which is not "
            "private; or answer as if it were a number drawn uniformly from the range."
        ),
    ] = "error",
    form: Annotated[
        Literal["csv", "parquet", "arrow"] | None,
        typer.Option(
            "--format",
            help="Of a file whose name does not end in .csv, .parquet, .arrow or .feather.",
        ),
    ] = None,
    delimiter: Annotated[
        str | None,
        typer.Option(help="Between cells of CSV, in INPUT and OUTPUT; a comma if none is given."),
    ] = None,
    shuffle: Annotated[
        bool,
        typer.Option(
            "--shuffle",
            help="Put rows into a random order, as the place of a row may tell its value. Holds "
            "the whole table in memory.",
        ),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace OUTPUT if it exists.")] = False,
    progress: Annotated[
        bool | None,
        typer.Option(help="Show rows and rows a second; by default on a screen only."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print what was given, as JSON.")] = False,
) -> None:
    """Replace every person's value in some columns by a private one (local privacy).

    [bold]--epsilon is for a whole row[/bold], all named columns together: what it costs a
    person to be in one row. Columns that are not named, and the number of
    rows, are passed on as they are: they must not be secret. So is the
    order of rows, which tells values where the table is sorted by them:
    [bold]--shuffle[/bold] changes it. Running the
    command again on the same people is another release and costs as much.

    OUTPUT appears only once it is complete, and beside it the guarantee with
    its proofs, OUTPUT.privacy.json. Values are never shown. Text that goes
    from CSV to CSV stays as it is. From CSV to other formats the types of
    other columns are inferred from the first 65,536 rows: 007 becomes 7,
    and a time with an offset is written in UTC. Private columns on whole
    steps become 64-bit integers, others doubles.
    """
    _check_places(source, target, force=force, json=json)
    forms = _format(source, form), _format(target, form)
    between = _delimiter(delimiter, forms)
    columns = calibrated(column, epsilon, delta, mechanism)
    facts = describe(columns, nulls) | {"output": target.name, "rows": 0}
    with (
        _explained(source),
        _opened(source, forms, columns, between) as opened,
        _written(target, facts) as file,
    ):
        facts["types"] = types_told(forms, others=len(opened.schema) > len(columns))
        try:
            _answer(
                *(opened, columns, file, forms, facts),
                delimiter=between,
                shuffle=shuffle,
                progress=progress,
            )
        except BaseException:
            if facts["rows"] and not _is_held_back(target):
                typer.echo(f"Stopped early. {statement(facts)}", err=True)
            raise
    typer.echo(statement(facts), err=True)
    if json:
        output.show_json(facts)


def _delimiter(given: str | None, forms: tuple[Format, Format]) -> str:
    from inbounds.frames.local.csv_writer import checked_delimiter  # noqa: PLC0415 - help must be quick

    if given is not None and "csv" not in forms:
        raise UsageError("--delimiter is for CSV, and neither INPUT nor OUTPUT is.")
    try:
        return "," if given is None else checked_delimiter("\t" if given == r"\t" else given)
    except ArgumentError as error:
        raise UsageError(f"--{error}") from None


def _check_places(source: Path, target: Path, *, force: bool, json: bool) -> None:
    """Refuse to write where something else is, before anything is read."""
    if target == _PIPE:
        if json:
            raise UsageError("--json must not be given where OUTPUT is standard output.")
        return
    if target.is_dir():
        raise UsageError(f"OUTPUT must be a file, got the directory {str(target)!r}.")
    for path in (target, _beside(target)) if _is_held_back(target) else ():
        if path.exists() and source != _PIPE and source.exists() and path.samefile(source):
            raise UsageError(f"OUTPUT must be another file than INPUT, got {str(target)!r}.")
        if path.exists() and not force:
            raise UsageError(f"{str(path)!r} exists already. Hint: --force replaces it.")


def _beside(target: Path) -> Path:
    return target.with_name(f"{target.name}.privacy.json")


def _is_held_back(target: Path) -> bool:
    return target != _PIPE and output.is_held_back(target)


def _format(path: Path, form: str | None) -> Format:
    from inbounds.frames.local.file import format_of  # noqa: PLC0415 - help must be quick

    if path == _PIPE:
        return "csv"
    return format_of(path, form)


@contextmanager
def _explained(source: Path) -> Iterator[None]:
    """Tell errors in the data from options that are used wrongly."""
    try:
        yield
    except (ArgumentError, ArgumentTypeError) as error:
        name = "standard input" if source == _PIPE else source
        raise InputError(f"{name}: {in_options(error)}") from None


@contextmanager
def _opened(
    source: Path, forms: tuple[Format, Format], columns: list[Column], delimiter: str
) -> Iterator[Source]:
    """Open INPUT and look for the columns; text that goes from CSV to CSV stays as it is."""
    from inbounds.frames.local import csv_reader, file  # noqa: PLC0415 - help must be quick

    names = [column.name for column in columns]

    def check(found: list[str]) -> None:
        for name in names:
            check_name(name, found)

    options: Any = {"typed": forms[1] != "csv", "delimiter": delimiter, "check": check}
    if source == _PIPE:
        if sys.stdin.isatty():
            raise UsageError("INPUT must be a file, or - with a pipe.")
        piped = file.Source(*csv_reader.read(sys.stdin.buffer, names, **options))
        opening: Any = nullcontext(piped)
    else:
        opening = file.opened(source, forms[0], names, **options)
    with opening as opened:
        check(opened.schema.names)
        yield opened


@contextmanager
def _written(target: Path, facts: dict[str, Any]) -> Iterator[IO[bytes]]:
    """Publish the guarantee, then OUTPUT: it never stands there without its guarantee."""
    if target == _PIPE:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    beside, held = _beside(target), _is_held_back(target)
    is_new = held and not beside.exists()
    try:
        with output.written_whole(target) as file:
            yield file
            if held:
                file.flush()
                os.fsync(file.fileno())  # a full disk is noticed while nothing has its name yet
                with output.written_whole(beside) as side:
                    side.write(json_text.dumps(output.plain(facts), indent=2).encode() + b"\n")
    except BaseException:
        if is_new:
            beside.unlink(missing_ok=True)
        raise


def _answer(
    source: Source,
    columns: list[Column],
    target: IO[bytes],
    forms: tuple[Format, Format],
    facts: dict[str, Any],
    *,
    delimiter: str,
    shuffle: bool,
    progress: bool | None,
) -> None:
    """Answer all rows, batch by batch, and count them before they leave."""
    from inbounds.frames.local import arrow_frame, column, file  # noqa: PLC0415 - help must be quick

    from_text = forms[0] == "csv"
    jobs = [column.Column(one.name, one.mechanism, facts["nulls"], from_text) for one in columns]
    csv = {"delimiter": delimiter, "quote_empty": not from_text}
    places = column.locate(jobs, source.schema.names)
    schema = arrow_frame.answered_schema(source.schema, places)

    def change(batch: Any) -> Any:
        return arrow_frame.answered_batch(batch, places, schema)

    def keep(batch: Any) -> Any:
        return batch

    batches, then = source.batches, change
    if shuffle:
        batches, then = arrow_frame.shuffled_batches(map(change, source.batches), schema), keep
    else:
        warn_of_order(columns, source.sorted_by)
    with (
        bar(source.rows, progress) as tell,
        file.writing(target, forms[1], schema, [one.name for one in columns], **csv) as write,
        closing(file.passed_on(batches, then, write)) as counts,
    ):
        for facts["rows"] in counts:
            tell(facts["rows"])
