"""``inbounds regimes``: which mechanism has the lowest error where."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from inbounds.cli import arguments, output

EXAMPLES = """
[bold]Examples[/bold]

The map for one output under pure epsilon, and for three outputs with a delta:

$ inbounds regimes --delta 0 --plot regimes.png

$ inbounds regimes --delta 1e-6 --dimension 3 --json
"""


def regimes(
    delta: Annotated[
        float, arguments.number_option(help="The delta of the guarantee; 0 for pure epsilon.")
    ],
    dimension: Annotated[
        int, typer.Option(min=1, help="Number of coordinates released together.")
    ] = 1,
    json: arguments.Json = False,
    plot: arguments.Plot = None,
) -> None:
    """Map which mechanism has the lowest error, by epsilon and by sensitivity."""
    from inbounds.analysis import regimes as analysis  # noqa: PLC0415 - help must be quick

    result = analysis.regimes(
        delta=delta, dimension=dimension, progress=not json and sys.stdout.isatty()
    )
    if plot is not None:
        output.save(result.plot(), plot)
    if json:
        names = ("delta", "dimension", "fractions", "epsilons", "names", "rmse", "best", "margin")
        keys = {"fractions": "shares"}  # scripts read the old name
        output.show_json({keys.get(name, name): getattr(result, name) for name in names})
    else:
        output.show(result)
