"""``inbounds release``: private answers for values from arguments, a file or a pipe."""

from __future__ import annotations

import json as json_text
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from inbounds.cli import arguments, output
from inbounds.cli.failure import InputError, UsageError
from inbounds.cli.rows import Layout, Row, blocks, checked_first, opened

if TYPE_CHECKING:
    from inbounds.guarantee import Guarantee
    from inbounds.mechanisms.mechanism import Mechanism

_BLOCK = 1 << 15  # numbers answered together

EXAMPLES = r"""
[bold]Examples[/bold]

One value. Others can see what you type (shell history, list of processes); a file is safer:

$ inbounds release --bounds 0:120 --sensitivity 120 --epsilon 1 --step 1 41

A column of a CSV file, one private answer a line, in the same order:

$ inbounds release --bounds 0:120 --sensitivity 120 --epsilon 1 \
  --input people.csv --column age --output ages.txt

Two answers released together: one row is one joint release.

$ echo "2.5,4.0" | inbounds release --bounds 0:10 --bounds 1:9 \
  --sensitivity 4 --sensitivity 2 --epsilon 1
"""


def release(
    *,
    bounds: arguments.Bounds,
    sensitivity: arguments.Sensitivities,
    epsilon: arguments.EpsilonOrRho = None,
    delta: arguments.Delta = None,
    rho: arguments.Rho = None,
    norm: arguments.Norm = None,
    mechanism: arguments.MechanismOption = "bounded-gaussian",
    method: arguments.Method = None,
    scaling: arguments.Scaling = None,
    step: arguments.Steps = None,
    values: Annotated[
        list[str] | None,
        typer.Argument(help="Values; with several coordinates each is a row, as in 2.5,4.0."),
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option("--input", metavar="FILE", help="Read one row a line; - is standard input."),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Read this column of a CSV file with a header. Repeat it, once per coordinate.",
        ),
    ] = None,
    target: Annotated[
        Path | None,
        typer.Option(
            "--output", metavar="FILE", help="Write to a file, which appears only once complete."
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the file of --output if it exists.")
    ] = False,
    json: arguments.Json = False,
) -> None:
    """Release private answers, one line for each line of input.

    A bad line is named by its number; its content is never shown. Values
    given as arguments or in a file are all checked before the first answer
    is drawn. A pipe cannot be read twice: answers to earlier lines may be out
    when a bad one is met, unless [bold]--output[/bold] or [bold]--json[/bold] holds them back. What
    was spent is said on standard error.
    """
    guarantee = arguments.read_guarantee(epsilon, delta, rho)
    target = None if str(target) == "-" else target
    if target is not None and output.is_held_back(target):
        _check_free(target, None if values else source, force=force)
    built = arguments.build(
        arguments.read_box(bounds, step),
        arguments.read_sensitivity(sensitivity, norm),
        guarantee,
        mechanism=mechanism,
        method=method,
        scaling=scaling,
    )
    layout = Layout(built.domain.dimension, column or ())
    with ExitStack() as stack:
        if values:
            rows = _from_arguments(values, layout, source)
        else:
            stream = stack.enter_context(opened(source))
            rows = stack.enter_context(closing(checked_first(stream, layout)))
        write = stack.enter_context(_destination(target))
        pieces = (_as_json if json else _as_lines)(built, rows, guarantee)
        is_held = target is not None and output.is_held_back(target)
        count = 0
        try:
            for answered, text in pieces:
                count += answered  # before they leave: a broken pipe has seen some of them
                write(text)
        except BaseException:
            if count and not is_held:
                typer.echo(f"Stopped early. {statement(built, guarantee, count)}", err=True)
            raise
    typer.echo(statement(built, guarantee, count), err=True)


def statement(mechanism: Mechanism, guarantee: Guarantee, count: int) -> str:
    """Say what the releases cost.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.ClampedLaplace(ib.Box(0, 1), 1, scale=1.0)
    >>> statement(m, arguments.read_guarantee(1.0), 1)
    'Privacy: 1 release at epsilon=1.'
    """
    if count == 0:
        return "Privacy: no value, no release, nothing spent."
    box = mechanism.domain
    plural = "" if count == 1 else "s"
    kind = "release" if box.is_interval else "joint release"
    size = "" if box.is_interval else f" of {box.dimension} coordinates"
    text = f"Privacy: {count} {kind}{plural}{size} at {guarantee:g}"
    if count == 1:
        return text + "."
    return f"{text} each; together {count} times that, if one person is in all of them."


def _from_arguments(values: list[str], layout: Layout, source: Path | None) -> Iterator[Row]:
    """Read values that were typed; a misspelt option may be among them."""
    for value in values:
        if name := re.match(r"--[a-z][a-z-]*", value):
            raise UsageError(f"no such option: {name[0]}.")
    if source is not None:
        raise UsageError("--input must not be given with values.")
    if layout.columns:
        raise UsageError("--column must not be given with values.")
    try:
        rows = list(layout.read(values, "value"))
    except InputError as error:
        raise UsageError(str(error)) from None
    if len(rows) != len(values):
        raise UsageError("the last value is blank.")
    return iter(rows)


def _check_free(target: Path, source: Path | None, *, force: bool) -> None:
    """Refuse to write over the values themselves, or over anything else without being told to."""
    if not target.exists():
        return
    try:
        if source is None or str(source) == "-":
            read: os.stat_result | None = os.fstat(sys.stdin.fileno())
        else:
            read = source.stat()
    except (OSError, ValueError, AttributeError):  # nothing is there, which is said elsewhere
        read = None
    if read is not None and os.path.samestat(target.stat(), read):
        raise UsageError(f"--output must be another file than the input, got {str(target)!r}.")
    if not force:
        raise UsageError(f"{str(target)!r} exists already. Hint: --force replaces it.")


@contextmanager
def _destination(target: Path | None) -> Iterator[Callable[[str], object]]:
    if target is None:

        def write(text: str) -> None:
            sys.stdout.write(text)
            sys.stdout.flush()

        yield write
        return
    with output.written_whole(target) as file:
        yield lambda text: file.write(text.encode())


def _answers(mechanism: Mechanism, rows: Iterator[Row]) -> Iterator[list[Any]]:
    """Draw answers block by block, as plain numbers or lists of them."""
    import numpy as np  # noqa: PLC0415 - help must be quick

    box = mechanism.domain
    for block in blocks(rows, max(1, _BLOCK // box.dimension)):
        values = np.array(block)
        answers: list[Any] = mechanism.release(values[:, 0] if box.is_interval else values).tolist()
        yield answers


def _as_lines(mechanism: Mechanism, rows: Iterator[Row], _: Guarantee) -> Iterator[tuple[int, str]]:
    """Yield the number of answers of each block, and their lines."""
    joint = not mechanism.domain.is_interval
    for answers in _answers(mechanism, rows):
        lines = (",".join(map(repr, row)) for row in answers) if joint else map(repr, answers)
        yield len(answers), "".join(f"{line}\n" for line in lines)


def _as_json(
    mechanism: Mechanism, rows: Iterator[Row], guarantee: Guarantee
) -> Iterator[tuple[int, str]]:
    """Yield all answers at once, so that a failure leaves no half of a document."""
    held = [answer for answers in _answers(mechanism, rows) for answer in answers]
    facts = {
        "mechanism": repr(mechanism),
        "releases": len(held),
        "privacy_of_each": guarantee.stated(),
        "answers": held,
    }
    yield len(held), json_text.dumps(facts) + "\n"
