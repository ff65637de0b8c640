"""``inbounds compare``: every mechanism at the same guarantee."""

from __future__ import annotations

import csv
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from inbounds.cli import arguments, output
from inbounds.cli.failure import UsageError

if TYPE_CHECKING:
    from inbounds.analysis.comparison import Comparison

EXAMPLES = r"""
[bold]Examples[/bold]

Which mechanism has the lowest error for an age that may change to any other?

$ inbounds compare --bounds 0:120 --sensitivity 120 --epsilon 1

The same for the mean of the ages that 100,000 people release, one each:

$ inbounds compare --bounds 0:120 --sensitivity 120 --epsilon 1 \
  --people 100000

Which mechanism is the best for a whole number of people, up to 200?

$ inbounds compare --bounds 0:200 --step 1 --sensitivity 1 --epsilon 1

Two outputs together, with a delta; then as rows for a spreadsheet:

$ inbounds compare --bounds 0:10 --bounds 1:9 \
  --sensitivity 4 --sensitivity 2 --epsilon 1 --delta 1e-6

$ inbounds compare --bounds 0:1 --sensitivity 0.1 --epsilon 0.5 \
  --csv > mechanisms.csv
"""


def compare(
    *,
    bounds: arguments.Bounds,
    sensitivity: arguments.Sensitivities,
    epsilon: arguments.EpsilonOrRho = None,
    delta: arguments.Delta = None,
    rho: arguments.Rho = None,
    norm: arguments.Norm = None,
    people: arguments.People = None,
    step: arguments.Steps = None,
    json: arguments.Json = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print rows of CSV.")] = False,
    plot: arguments.Plot = None,
) -> None:
    """Calibrate every mechanism to the same guarantee and rank them by error."""
    if json and as_csv:
        raise UsageError("--csv must not be given with --json.")
    from inbounds.analysis import compare as analysis  # noqa: PLC0415 - help must be quick

    result = analysis.compare(
        arguments.read_box(bounds, step),
        arguments.read_sensitivity(sensitivity, norm),
        epsilon=epsilon,
        delta=0.0 if delta is None else delta,
        rho=rho,
        people=people,
    )
    if plot is not None:
        output.save(result.plot(), plot)
    if json:
        output.show_json(
            {
                "domain": repr(result.domain),
                "sensitivity": repr(result.sensitivity),
                "epsilon": result.epsilon,
                "delta": result.delta,
                "rho": result.rho,
                "people": result.people,
                "beats_the_middle": result.beats_the_middle,
                "advice": result.advice(),
                "mechanisms": result.rows(),
            }
        )
    elif as_csv:
        _write_rows(result)
    else:
        output.show(result)


def _write_rows(result: Comparison) -> None:
    rows = [output.jsonable(row) for row in result.rows()]
    table = csv.DictWriter(sys.stdout, list(rows[0]), lineterminator="\n")
    table.writeheader()
    for row in rows:
        scale = row["scale"]
        table.writerow(
            row | {"scale": " ".join(map(repr, scale))} if isinstance(scale, list) else row
        )
    sys.stdout.flush()  # so that a full disk can still be reported
