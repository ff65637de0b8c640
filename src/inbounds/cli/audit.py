"""``inbounds audit``: draw releases to test the guarantee of any mechanism."""

from __future__ import annotations

import importlib
import json as json_text
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from inbounds.cli import arguments, output
from inbounds.cli.failure import InputError, UsageError
from inbounds.cli.mechanism import build
from inbounds.errors import ArgumentError, ArgumentTypeError, InBoundsError

if TYPE_CHECKING:
    from inbounds.auditing.audit import Audit

_OURS = str(Path(__file__).parents[1])
REFUTED = 3  # 1, a failure, and 2, wrong options, say nothing about the claim

EXAMPLES = r"""
[bold]Examples[/bold]

Is epsilon 1 kept, as far as a million releases can tell? With a figure:

$ inbounds audit --bounds 0:1 --sensitivity 1 --epsilon 1 --plot audit.png

The paper's calibration gives far more privacy than it is asked for:

$ inbounds audit --bounds 0:1 --sensitivity 1 --epsilon 1 --method paper

Any function of one value, from another library or your own. Does the noise of
Python's random.gauss (sigma 1) hide a change of 1 as well as is claimed here?

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
    mechanism: arguments.MechanismOption = None,
    method: arguments.MethodOption = None,
    scaling: arguments.Scaling = None,
    objective: arguments.ObjectiveOption = None,
    step: arguments.Steps = None,
    function: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE:NAME",
            help="Audit this function of one value instead; it is called for every output. An "
            "object with a method release(values) is called with arrays.",
        ),
    ] = None,
    releases: Annotated[
        float, typer.Option(metavar="NUMBER", help="How many outputs to draw, as in 1e7.")
    ] = 1e6,
    confidence: Annotated[
        float, typer.Option(help="The bound on epsilon holds with at least this probability.")
    ] = 0.999,
    json: arguments.Json = False,
    plot: arguments.Plot = None,
) -> None:
    """Draw releases at the worst values and bound epsilon from below by counting them.

    The exit code is 0 if the claimed epsilon was not refuted, and 3 if it was. An exit code of 1
    (the audit failed) or 2 (the options make no sense) says nothing about the claim.
    A true claim is refuted with probability 1 - [bold]--confidence[/bold] at most. A claim that was
    not refuted is not proved: for a proof, see [bold]inbounds calibrate --certificate[/bold].
    """
    from inbounds.auditing import audit as auditing  # noqa: PLC0415 - help must be quick

    box = arguments.read_box(bounds, step)
    change = arguments.read_sensitivity(sensitivity, norm)

    def test(subject: Any) -> Audit:
        return auditing.audit(
            subject,
            releases=releases,
            confidence=confidence,
            delta=0.0 if delta is None else delta,
            claimed_epsilon=epsilon,
            box=box,
            sensitivity=change,
            progress=not json and sys.stderr.isatty(),
        )

    if function is None:
        result = test(
            build(
                box,
                change,
                arguments.read_guarantee(epsilon, delta),
                mechanism=mechanism,
                method=method,
                scaling=scaling,
                objective=objective,
            )
        )
    else:
        options = {
            **{"mechanism": mechanism, "method": method, "scaling": scaling},
            **{"objective": objective, "step": step},
        }
        for name in (name for name, value in options.items() if value is not None):
            raise UsageError(f"--{name} must not be given with --function.")
        result = _tested(function, test)
    try:
        _report(result, json=json, plot=plot)
    except SystemExit:  # of a timer that foreign code has set
        raise InputError(
            "the audit was interrupted by the audited code and gives no verdict."
        ) from None


def load(name: str) -> Any:
    """Import what ``MODULE:NAME`` names, even from the current directory.

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
    member: Any = importlib.import_module(module)
    for part in path.split("."):
        try:
            member = getattr(member, part)
        except AttributeError:
            raise UsageError(f"--function: {module} has no {path!r}.") from None
    return member


def _tested(function: str, test: Callable[[Any], Audit]) -> Audit:
    """Load and audit foreign code. However it ends, only a result is a verdict."""
    loaded = False
    try:
        subject = load(function)
        loaded = True
        return test(subject)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # the code of a SystemExit would be a verdict
        raise _explained(error, function, loaded=loaded) from None


def _explained(error: BaseException, function: str, *, loaded: bool) -> Exception:
    """Return the error to report. Looking at a foreign error may run foreign code again."""
    try:
        if isinstance(error, ModuleNotFoundError) and error.name and not loaded:
            return error
        return _failure(error, function)
    except BaseException:
        return InputError(f"--function failed. The audit gives no verdict on {function}.")


def _failure(error: BaseException, function: str) -> Exception:
    """Return our own error unchanged, and only the type and the place of a foreign one."""
    from inbounds.auditing.subject import OutputError  # noqa: PLC0415 - help must be quick

    nothing = f"The audit gives no verdict on {function}."
    frames = traceback.extract_tb(error.__traceback__)
    foreign = [frame for frame in frames if not frame.filename.startswith(_OURS)]
    if isinstance(error, OutputError) and not foreign:
        reason = str(error).partition("\n")[0]
        return InputError(f"--function: {reason} {nothing}")
    if isinstance(error, InBoundsError | UsageError) and not foreign:
        if isinstance(error, ArgumentError | ArgumentTypeError) and error.argument == "mechanism":
            hint = f" Hint: {error.hint}" if error.hint else ""
            return UsageError(error.said_of("--function") + hint)
        return error
    module = getattr(sys.modules.get(function.partition(":")[0]), "__file__", None)
    in_module = [frame for frame in foreign if frame.filename == module]
    place = ""
    if in_module or foreign:
        last = (in_module or foreign)[-1]
        place = f" ({Path(last.filename).name}, line {last.lineno})"
    return InputError(f"--function raised {type(error).__name__}{place}. {nothing}")


def _report(result: Audit, *, json: bool, plot: Path | None) -> None:
    if plot is not None:
        output.save(result.plot(), plot)
    if json:
        output.show_json(json_text.loads(result.to_json()))
    else:
        output.show(result)
    if not result.passed:
        raise typer.Exit(REFUTED)
