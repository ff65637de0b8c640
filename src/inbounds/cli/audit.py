"""``inbounds audit``: draw releases and test a guarantee, ours or anybody's."""

from __future__ import annotations

import importlib
import json as json_text
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from inbounds.cli import arguments, output
from inbounds.cli.failure import InputError, UsageError

if TYPE_CHECKING:
    from inbounds.analysis.audit import Audit

REFUTED = 3  # unlike 1, a failure, and 2, wrong options: those say nothing about the claim

EXAMPLES = r"""
[bold]Examples[/bold]

Is epsilon 1 kept, as far as a million releases can tell? With a picture:

$ inbounds audit --bounds 0:1 --sensitivity 1 --epsilon 1 --plot audit.png

The paper's calibration gives far more privacy than it is asked for:

$ inbounds audit --bounds 0:1 --sensitivity 1 --epsilon 1 --method paper

Any function of one value, of another library or your own. Does the noise of
Python's random.gauss (sigma 1) hide a change of 1 as well as this claims?

$ inbounds audit --bounds 0:1 --sensitivity 1 --epsilon 4.5 --delta 1e-5 \
  --function random:gauss --releases 2e4
"""


def audit(
    *,
    bounds: arguments.Bounds,
    sensitivity: arguments.Sensitivities,
    epsilon: arguments.Epsilon,
    delta: arguments.Delta = None,
    norm: arguments.Norm = None,
    mechanism: Annotated[
        arguments.MechanismName | None,
        typer.Option("--mechanism", help="Which noise; bounded-gaussian by default."),
    ] = None,
    method: arguments.Method = None,
    scaling: arguments.Scaling = None,
    step: arguments.Steps = None,
    function: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE:NAME",
            help="Audit this function of one value instead, which is imported and called for every "
            "answer; or an object with release(values), which is called with arrays.",
        ),
    ] = None,
    releases: Annotated[
        float, typer.Option(metavar="NUMBER", help="How many answers to draw, as in 1e7.")
    ] = 1e6,
    confidence: Annotated[
        float, typer.Option(help="Chance, at least, that the lower bound on epsilon is true.")
    ] = 0.999,
    json: arguments.Json = False,
    plot: arguments.Plot = None,
) -> None:
    """Draw releases at the worst values and bound epsilon from below by counting them.

    The exit code is 0 if the claimed epsilon was not refuted and 3 if it was; 1 and 2 mean that
    nothing was found out: 1 that the audit failed, 2 that the options make no sense.
    A true claim is refuted with probability 1 - [bold]--confidence[/bold] at most. That a claim
    was not refuted is no proof of it: see the certificate.
    """
    from inbounds.analysis import audit as analysis  # noqa: PLC0415 - help must be quick

    box = arguments.read_box(bounds, step)
    change = arguments.read_sensitivity(sensitivity, norm)
    if function is None:
        subject: Any = arguments.build(
            box,
            change,
            arguments.read_guarantee(epsilon, delta),
            mechanism=mechanism or "bounded-gaussian",
            method=method,
            scaling=scaling,
        )
    else:
        options = {"mechanism": mechanism, "method": method, "scaling": scaling, "step": step}
        for name in (name for name, given in options.items() if given is not None):
            raise UsageError(f"--{name} must not be given with --function.")
        subject = load(function)
    try:
        result = analysis.audit(
            subject,
            releases=releases,
            confidence=confidence,
            delta=0.0 if delta is None else delta,
            claimed_epsilon=epsilon,
            box=box,
            sensitivity=change,
            progress=not json and sys.stderr.isatty(),
        )
    except SystemExit:  # its code would read as a verdict
        raise InputError("the function that was audited ended the program.") from None
    _report(result, json=json, plot=plot)


def load(name: str) -> Any:
    """Import what ``MODULE:NAME`` speaks of, also from the current directory.

    Examples
    --------
    >>> load("math:sqrt")(4.0)
    2.0
    """
    module, _, path = name.partition(":")
    if not module or not path:
        raise UsageError(f"--function must be MODULE:NAME, got {name!r}.")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found: Any = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except AttributeError:
        raise UsageError(f"--function: {module} has no {path!r}.") from None
    return found


def _report(result: Audit, *, json: bool, plot: Path | None) -> None:
    if plot is not None:
        output.save(result.plot(), plot)
    if json:
        output.show_json(json_text.loads(result.to_json()))
    else:
        output.show(result)
    if not result.passed:
        raise typer.Exit(REFUTED)
