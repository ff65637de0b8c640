"""``inbounds limit``: the least error that any mechanism can have."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from inbounds.cli import arguments, output

EXAMPLES = r"""
[bold]Examples[/bold]

How small can the error of an age be, if one person changes it by up to 30?

$ inbounds limit --bounds 0:120 --sensitivity 30 --epsilon 1

In local privacy, at the worst value, with the proof in a file:

$ inbounds limit --bounds 0:120 --sensitivity 120 --epsilon 1 \
  --objective worst --certificate limit.json
"""


def limit(
    *,
    bounds: arguments.Bounds,
    sensitivity: arguments.Sensitivities,
    epsilon: arguments.Epsilon,
    objective: Annotated[
        arguments.ObjectiveName,
        typer.Option(
            help="The average squared error, the worst, or the average variance of mechanisms "
            "without bias, whose outputs need not be in bounds."
        ),
    ] = "average",
    step: arguments.Steps = None,
    json: arguments.Json = False,
    certificate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the proof of the lower end to a JSON file, after checking it.",
        ),
    ] = None,
) -> None:
    """Bracket the least error that any mechanism with pure epsilon can have on an interval.

    No mechanism of any library has a squared error below the lower end, which is proved, and some
    mechanism has at most the upper end. No certified limit is known with a delta, for zCDP, or for
    several coordinates.
    """
    from inbounds.analysis import limit as analysis  # noqa: PLC0415 - help must be quick

    result = analysis.limit(
        arguments.read_box(bounds, step),
        arguments.read_sensitivity(sensitivity),
        epsilon=epsilon,
        objective=objective,
        progress=not json and sys.stderr.isatty(),
    )
    if certificate is not None:
        with output.written_whole(certificate) as file:
            file.write(result.certificate().check().to_json().encode())
    if json:
        names = ("epsilon", "objective", "lower", "upper", "rmse")
        facts = {"domain": repr(result.domain), "sensitivity": repr(result.sensitivity)}
        output.show_json(facts | {name: getattr(result, name) for name in names})
    else:
        output.show(result)
