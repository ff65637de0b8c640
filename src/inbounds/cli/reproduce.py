"""``inbounds reproduce``: recompute the results of the paper."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from inbounds.cli import arguments, output
from inbounds.cli.failure import UsageError
from inbounds.cli.help import Command, Group

if TYPE_CHECKING:
    from inbounds.analysis.reproduction import Figure1, Table1Row

app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    help="Recompute the results of the paper, with the exact calibration beside them.",
    epilog="[bold]Examples[/bold]\n\n$ inbounds reproduce table1",
)


@app.command(
    cls=Command,
    epilog="[bold]Examples[/bold]\n\n$ inbounds reproduce table1\n\n"
    "$ inbounds reproduce table1 --json",
)
def table1(json: arguments.Json = False) -> None:
    """Print the variance that each method needs for each epsilon (Table 1)."""
    from inbounds.analysis import overview, reproduction  # noqa: PLC0415 - help must be quick

    rows = reproduction.table1()
    if json:
        output.show_json([_with_percents(row) for row in rows])
    else:
        output.show(overview.table1_table(rows))


@app.command(
    cls=Command,
    epilog="[bold]Examples[/bold]\n\n$ inbounds reproduce figure1 --plot figure1.pdf\n\n"
    "$ inbounds reproduce figure1 --json",
)
def figure1(plot: arguments.Plot = None, json: arguments.Json = False) -> None:
    """Draw the variance that each method needs against epsilon (Figure 1)."""
    from inbounds.analysis import reproduction  # noqa: PLC0415 - help must be quick

    if plot is None and not json:
        raise UsageError("--plot FILE or --json must be given.")
    result = reproduction.figure1()
    if plot is not None:
        output.save(result.plot(), plot)
    if json:
        output.show_json(_with_percents(result))
    else:
        typer.echo(f"Figure 1 is in {plot}.")


def _with_percents(result: Table1Row | Figure1) -> dict[str, Any]:
    """Return the fields, and by how many percent each variance is below Liu's."""
    names = ("paper_below_liu", "exact_below_liu")
    return asdict(result) | {f"{name}_percent": getattr(result, name) for name in names}
