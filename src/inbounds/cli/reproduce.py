"""``inbounds reproduce``: the published results, computed again."""

from __future__ import annotations

from dataclasses import asdict

import typer

from inbounds.cli import arguments, output

app = typer.Typer(
    no_args_is_help=True,
    help="Compute the results of the paper again, with the exact calibration beside them.",
)


@app.command(
    epilog="[bold]Examples[/bold]\n\n$ inbounds reproduce table1\n\n"
    "$ inbounds reproduce table1 --json"
)
def table1(json: arguments.Json = False) -> None:
    """Print the variance that each method needs for each epsilon (Table 1)."""
    from inbounds.analysis import reproduction  # noqa: PLC0415 - help must be quick

    rows = reproduction.table1()
    if json:
        output.show_json([asdict(row) for row in rows])
    else:
        output.show(reproduction.table1_table(rows))


@app.command(
    epilog="[bold]Examples[/bold]\n\n$ inbounds reproduce figure1 --plot figure1.pdf\n\n"
    "$ inbounds reproduce figure1 --json"
)
def figure1(plot: arguments.Plot = None, json: arguments.Json = False) -> None:
    """Draw the variance that each method needs against epsilon (Figure 1)."""
    from inbounds.analysis import reproduction  # noqa: PLC0415 - help must be quick

    if plot is None and not json:
        raise typer.BadParameter("give --plot FILE or --json.", param_hint="--plot")
    result = reproduction.figure1()
    if plot is not None:
        output.save(result.plot(), plot)
    if json:
        output.show_json(asdict(result))
    else:
        typer.echo(f"Figure 1 is in {plot}.")
