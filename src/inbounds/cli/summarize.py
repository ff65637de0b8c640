"""``inbounds summarize``: private statistics of a table, or of its groups, in one release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from inbounds.cli import arguments
from inbounds.cli import group as grouping
from inbounds.cli import statistic as asking
from inbounds.cli.charge import Charge
from inbounds.cli.failure import UsageError
from inbounds.cli.source import PIPE, read_delimiter
from inbounds.cli.statement import summary_statement
from inbounds.cli.summary import Destination
from inbounds.cli.table import Uses, explained, opened_table, read_columns
from inbounds.errors import ArgumentError, ArgumentTypeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inbounds.frames.central.statistic import Statistic
    from inbounds.frames.local.file import Format
    from inbounds.unit import Unit

EXAMPLES = r"""
[bold]Examples[/bold]

How many people, their mean age and their median age, in two districts, with a figure:

$ inbounds summarize people.parquet --by district --groups Ulm,Rom \
  --count --mean age=0:120 --median age=0:120 --epsilon 1 --plot ages.png

People with several rows each, of which at most 3 are used:

$ inbounds summarize visits.csv --id person --rows 3 --size 50000 \
  --total cost=0:1000 --proportion emergency \
  --epsilon 1 --delta 1e-6 --csv > costs.csv

Groups of two columns (bash writes all four), charged to a ledger, or only asked for:

$ inbounds summarize people.parquet --by district --by sex \
  --groups={Ulm,Rom}:{f,m} \
  --histogram age=0:120:12 --categories education=none,school,university \
  --epsilon 0.5 --ledger budget.db --dataset survey-2026 --dry-run
"""

Mechanism = Literal["clamped-laplace", "clamped-gaussian", "bounded-laplace", "bounded-gaussian"]


def summarize(
    *,
    source: Annotated[
        Path, typer.Argument(metavar="INPUT", help="A table of private rows; - is a CSV pipe.")
    ],
    count: asking.Count = False,
    proportion: asking.Proportion = None,
    mean: asking.Mean = None,
    total: asking.Total = None,
    variance: asking.Variance = None,
    median: asking.Median = None,
    quantile: asking.Quantiles = None,
    histogram: asking.Histogram = None,
    categories: asking.Categories = None,
    incomplete: asking.Incomplete = None,
    by: grouping.By = None,
    groups: grouping.GroupList = None,
    groups_from: grouping.GroupFile = None,
    epsilon: arguments.EpsilonOrRho = None,
    delta: arguments.Delta = None,
    rho: arguments.Rho = None,
    adjacency: Annotated[
        Literal["replace", "add-remove"],
        typer.Option(help="Which tables are neighbours: rows have other values, or are missing."),
    ] = "replace",
    person: Annotated[
        str | None,
        typer.Option(
            "--id", metavar="NAME", help="The column of people: privacy is then for people."
        ),
    ] = None,
    rows: Annotated[int, typer.Option(min=1, help="How many rows may belong to one person.")] = 1,
    size: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="A public upper bound on the rows of a group; needed where the number of rows is "
            "private, with --id or add-remove.",
        ),
    ] = None,
    nulls: Annotated[
        Literal["error", "skip"],
        typer.Option(help="What to do about a missing value: stop, or leave out its row."),
    ] = "error",
    outside: asking.Outside = None,
    weights: asking.Weights = None,
    mechanism: Annotated[
        Mechanism | None,
        typer.Option(
            help="The mechanism; by default the one whose estimates have the least error."
        ),
    ] = None,
    ledger: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|URL",
            help="The ledger to charge; with --dataset, INBOUNDS_LEDGER by default.",
        ),
    ] = None,
    dataset: Annotated[
        str | None, typer.Option(metavar="NAME", help="The dataset to charge.")
    ] = None,
    label: Annotated[
        str | None,
        typer.Option(help="What it is for; must not be private. By default the statistics."),
    ] = None,
    user: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Who asks; by default the operating system's user."),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Charge and release nothing: say what the ledger would have left, or fail.",
        ),
    ] = False,
    plot: arguments.Plot = None,
    target: Annotated[
        Path | None,
        typer.Option(
            "--output",
            metavar="FILE",
            help="Write to a .csv, .parquet, .arrow or .feather file instead of the screen.",
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the output file if it exists.")
    ] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print rows of CSV.")] = False,
    json: arguments.Json = False,
    form: Annotated[
        Literal["csv", "parquet", "arrow"] | None,
        typer.Option(
            "--format",
            help="Format of a file whose name does not end in .csv, .parquet, .arrow or .feather.",
        ),
    ] = None,
    delimiter: Annotated[
        str | None,
        typer.Option(
            metavar="CHARACTER",
            parser=read_delimiter,
            help="Character between the cells of CSV in INPUT and in the file of --groups-from; a "
            "comma by default.",
        ),
    ] = None,
    progress: Annotated[
        bool | None,
        typer.Option(help="Show rows and rows per second; by default only on a screen."),
    ] = None,
) -> None:
    """Release statistics of a table, or of groups of its rows, all together at one guarantee.

    Bounds, groups, levels and edges must be public. Each number comes with an
    interval that holds the true number with probability 0.95 or more. Values
    outside their bounds are moved to the nearest bound. A misspelt group is an
    empty one. Running the command again is another release and costs as much
    again; [bold]--ledger[/bold] keeps account of that.

    In CSV, columns of numbers are those that statistics name; groups, levels and
    ids are compared as text, so that 007 is not 7. Parquet and Arrow files state
    types: groups are then read as integers, true or false, dates (2026-01-31) or text.
    Errors never show values. They reveal where a cell cannot be read, and that a
    column has missing values. The columns that are used are held in memory.
    """
    kinds = {"proportion": proportion, "mean": mean, "total": total, "variance": variance}
    kinds |= {"median": median, "quantile": quantile, "histogram": histogram}
    kinds |= {"categories": categories}
    statistics = asking.read_statistics(kinds, count=count, incomplete=incomplete)
    importance = asking.read_weights(weights, statistics)
    guarantee = arguments.read_guarantee(epsilon, delta, rho)
    destination = Destination(target, plot, as_csv=as_csv, json=json)
    charge = Charge.read(ledger, dataset, label, user, dry_run=dry_run)
    charge.check_unit(person)
    kept = {"the ledger": charge.place, "the file of groups": groups_from}
    destination.check(source, force=force, kept=kept)
    columns = list(by or [])
    listed = grouping.read_groups(columns, groups, groups_from, delimiter or ",")
    destination.check_groups(len(listed))
    uses, kind = _uses(statistics, columns, person), _format(source, form, delimiter)
    with opened_table(source, kind, uses, delimiter or ",") as opened:
        compared = [*columns, *(one.column for one in statistics if one.levels)]
        types = grouping.ColumnTypes.of(opened.schema, compared)
        keys = types.groups(listed, columns)
        statistics = [types.statistic(statistic) for statistic in statistics]
        table = read_columns(opened, uses.names, from_text=kind == "csv", progress=progress)
    options: dict[str, Any] = {
        **{"by": columns or None, "groups": keys if columns else None},
        **{"epsilon": epsilon, "delta": delta or 0.0, "rho": rho},
        **{"adjacency": adjacency, "rows": rows, "id": person, "size": size},
        **{"nulls": nulls, "outside": asking.read_outside(outside)},
        "weights": importance,
        "mechanism": mechanism and "".join(map(str.title, mechanism.split("-"))),
    }

    def release(**charged: Any) -> Any:
        return _released(source, table, statistics, options | charged)

    if dry_run:
        charge.tell_fit(release, json=json)
        return
    unit = _unit(adjacency, person, rows)
    with destination.opened() as file:
        result = release(**charge.options)
        facts = {"requested": guarantee.stated(), "unit": str(unit)}
        destination.write(result, columns, facts, file)
    typer.echo(summary_statement(result, guarantee, unit), err=True)
    charge.tell_remaining()
    destination.draw(result)


def _format(source: Path, form: str | None, delimiter: str | None) -> Format:
    from inbounds.frames.local.file import format_of  # noqa: PLC0415 - help must be quick

    kind: Format = "csv" if source == PIPE else format_of(source, form)
    if kind != "csv" and delimiter is not None:
        raise UsageError("--delimiter is for CSV, and INPUT is not CSV.")
    return kind


def _unit(adjacency: Any, person: str | None, rows: int) -> Unit:
    """Return the change of the table that is hidden."""
    from inbounds.unit import Unit  # noqa: PLC0415 - help must be quick

    return Unit(adjacency, "row", rows) if person is None else Unit(adjacency, "person")


def _uses(statistics: Sequence[Statistic], by: Sequence[str], person: str | None) -> Uses:
    """Return the columns that are used, and for each an option that names it."""
    held: dict[str, dict[str, str]] = {"numbers": {}, "truths": {}, "levels": {}}
    for statistic in statistics:
        if statistic.column:
            held[statistic.holds][statistic.column] = f"--{statistic.kind}"
    texts = dict.fromkeys(by, "--by") | held["levels"]
    texts |= {} if person is None else {person: "--id"}
    return Uses(held["numbers"], held["truths"], texts)


def _released(
    source: Path, table: Any, statistics: Sequence[Statistic], options: dict[str, Any]
) -> Any:
    """Call the library; what it says of the data is an error of the input, not of an option."""
    from inbounds.frames import summarize  # noqa: PLC0415 - help must be quick

    try:
        return summarize(table, statistics, **options)
    except (ArgumentError, ArgumentTypeError) as error:
        if not (error.argument or "").startswith(("frame", "column ")):
            raise
        with explained(source):
            raise
