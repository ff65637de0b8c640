"""``inbounds privatize``: a copy of a table in which every person's value is a private one."""

from __future__ import annotations

import json as json_text
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, Literal

import typer

from inbounds.cli import arguments, output
from inbounds.cli.column import Column, calibrated, describe, warn_of_order
from inbounds.cli.failure import InputError, UsageError, in_options
from inbounds.errors import ArgumentError, ArgumentTypeError

if TYPE_CHECKING:
    from inbounds.frames.file import Format, Source

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
    from CSV to CSV stays as it is; otherwise types are inferred.
    """
    _check_places(source, target, force=force, json=json)
    forms = _format(source, form), _format(target, form)
    columns = calibrated(column, epsilon, delta, mechanism)
    facts = describe(columns, nulls) | {"output": target.name, "rows": 0}
    with (
        _explained(source),
        _opened(source, forms, columns) as opened,
        _written(target, facts) as file,
    ):
        try:
            _answer(opened, columns, file, forms[1], facts, shuffle=shuffle, progress=progress)
        except BaseException:
            if facts["rows"] and not _is_held_back(target):
                typer.echo(f"Stopped early. {statement(facts)}", err=True)
            raise
    typer.echo(statement(facts), err=True)
    if json:
        output.show_json(facts)


def statement(facts: dict[str, Any]) -> str:
    """Say what the rows cost the people they are about.

    Examples
    --------
    >>> facts = describe(calibrated(["age=0:120"], 1.0, None, "bounded-laplace"), "error")
    >>> statement(facts | {"rows": 3})
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
    return f"{text} Other columns are as they were."


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
    from inbounds.frames.file import format_of  # noqa: PLC0415 - help must be quick

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
def _opened(source: Path, forms: tuple[Format, Format], columns: list[Column]) -> Iterator[Source]:
    """Open INPUT and look for the columns; text that goes from CSV to CSV stays as it is."""
    from inbounds.frames import csv_file, file  # noqa: PLC0415 - help must be quick

    names, typed = [column.name for column in columns], forms[1] != "csv"
    if source == _PIPE:
        if sys.stdin.isatty():
            raise UsageError("INPUT must be a file, or - with a pipe.")
        piped = file.Source(*csv_file.read(sys.stdin.buffer, names, typed=typed))
        opening: Any = nullcontext(piped)
    else:
        opening = file.opened(source, forms[0], names, typed=typed)
    with opening as opened:
        for name in names:
            if opened.schema.names.count(name) != 1:
                raise UsageError(f"--column {name!r} must be a column of INPUT, exactly once.")
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
    form: Format,
    facts: dict[str, Any],
    *,
    shuffle: bool,
    progress: bool | None,
) -> None:
    """Answer all rows, batch by batch, and count them before they leave."""
    from inbounds.frames import arrow, column, file  # noqa: PLC0415 - help must be quick

    jobs = [column.Column(one.name, one.mechanism, facts["nulls"]) for one in columns]
    schema = arrow.privatize_frame(source.schema.empty_table(), jobs).schema

    def change(batch: Any) -> Any:
        return arrow.privatize_frame(batch, jobs)

    def keep(batch: Any) -> Any:
        return batch

    batches, then = source.batches, change
    if shuffle:
        batches, then = arrow.shuffled_batches(map(change, source.batches), schema), keep
    else:
        warn_of_order(columns, source.sorted_by)
    with (
        _bar(source.rows, progress) as tell,
        file.writing(target, form, schema, [one.name for one in columns]) as write,
        closing(file.passed_on(batches, then, write)) as counts,
    ):
        for facts["rows"] in counts:
            tell(facts["rows"])


@contextmanager
def _bar(total: int | None, wanted: bool | None) -> Iterator[Callable[[int], None]]:
    """Show progress on standard error if it is wanted, or if nothing is said and it is a screen."""
    if not (sys.stderr.isatty() if wanted is None else wanted):
        yield lambda rows: None
        return
    from rich.console import Console  # noqa: PLC0415 - help must be quick
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    shown = "{task.completed:,.0f} rows", "{task.fields[speed]:,.0f} rows/s"
    console = Console(stderr=True, force_terminal=wanted)
    with Progress(
        BarColumn(), *map(TextColumn, shown), TimeRemainingColumn(), console=console
    ) as bar:
        task = bar.add_task("rows", total=total, speed=0.0)

        def tell(rows: int) -> None:
            elapsed = bar.tasks[0].elapsed or 1e-9
            bar.update(task, completed=rows, speed=rows / elapsed)

        yield tell
