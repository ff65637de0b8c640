"""``inbounds release``: private outputs for values from arguments, a file or a pipe."""

from __future__ import annotations

import json as json_text
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from inbounds.cli import arguments, output
from inbounds.cli.failure import InputError, UsageError
from inbounds.cli.mechanism import build
from inbounds.cli.rows import InputRow, Layout, blocks, checked_first
from inbounds.cli.source import PIPE, Delimiter, opened
from inbounds.cli.statement import release_statement

if TYPE_CHECKING:
    from inbounds.guarantee import Guarantee
    from inbounds.mechanisms.mechanism import Mechanism

_BLOCK = 1 << 15  # numbers released together

EXAMPLES = r"""
[bold]Examples[/bold]

One value. Others may see what you type (shell history, list of processes); a file is safer:

$ inbounds release --bounds 0:120 --sensitivity 120 --epsilon 1 --step 1 41

A column of a CSV file, with one private output per line, in the same order, to be read back by
inbounds.deconvolve:

$ inbounds release --bounds 0:120 --sensitivity 120 --epsilon 1 \
  --mechanism window \
  --input people.csv --column age --output ages.txt

Two numbers released together: each row is one joint release.

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
    mechanism: arguments.MechanismOption = None,
    method: arguments.MethodOption = None,
    scaling: arguments.Scaling = None,
    objective: arguments.ObjectiveOption = None,
    step: arguments.Steps = None,
    values: Annotated[
        list[str] | None,
        typer.Argument(help="The values; with several coordinates each is a row, as in 2.5,4.0."),
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option("--input", metavar="FILE", help="Read one row per line; - is standard input."),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Read this column of a CSV file with a header. Repeat it, once per coordinate.",
        ),
    ] = None,
    delimiter: Delimiter = None,
    target: Annotated[
        Path | None,
        typer.Option(
            "--output",
            metavar="FILE",
            help="Write to a file, which appears only once it is complete.",
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the output file if it exists.")
    ] = False,
    json: arguments.Json = False,
) -> None:
    """Release private outputs, one line for each line of input.

    An error names a bad line by its number and never shows its content.
    Values given as arguments or in a file are all checked before the first
    output is drawn. A pipe cannot be read twice: if a line is bad, the outputs
    for earlier lines may already be printed, unless [bold]--output[/bold] or [bold]--json[/bold]
    keeps them back. The privacy that was spent is printed to standard error.
    """
    guarantee = arguments.read_guarantee(epsilon, delta, rho)
    target = None if target == PIPE else target
    read = source if source and not values else PIPE
    if target is not None and output.is_held_back(target):
        output.check_free(target, source=read, force=force, option="--output")
    built = build(
        arguments.read_box(bounds, step),
        arguments.read_sensitivity(sensitivity, norm),
        guarantee,
        mechanism=mechanism,
        method=method,
        scaling=scaling,
        objective=objective,
    )
    layout = Layout(built.domain.dimension, column or (), delimiter or ",")
    with ExitStack() as stack:
        if values:
            rows = _from_arguments(values, layout, source)
        else:
            stream = stack.enter_context(opened(read))
            rows = stack.enter_context(closing(checked_first(stream, layout)))
        write = stack.enter_context(_destination(target))
        outputs = _outputs(built, rows)
        texts = (
            _as_json(outputs, built, guarantee) if json else _as_lines(outputs, layout.delimiter)
        )
        is_held = target is not None and output.is_held_back(target)
        count = 0
        try:
            for size, text in texts:
                count += size  # before they leave: a broken pipe has seen some of them
                write(text)
        except BaseException:
            if count and not is_held:
                spent = release_statement(built.domain, guarantee, count)
                typer.echo(f"Stopped early. {spent}", err=True)
            raise
    typer.echo(release_statement(built.domain, guarantee, count), err=True)


def _from_arguments(values: list[str], layout: Layout, source: Path | None) -> Iterator[InputRow]:
    """Read values given as arguments; a misspelt option may be among them."""
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


def _outputs(mechanism: Mechanism, rows: Iterator[InputRow]) -> Iterator[list[Any]]:
    """Draw outputs block by block, as Python's numbers or as lists of them."""
    import numpy as np  # noqa: PLC0415 - help must be quick

    box = mechanism.domain
    for block in blocks(rows, max(1, _BLOCK // box.dimension)):
        values = np.array(block)
        yield mechanism.release(values[:, 0] if box.is_interval else values).tolist()


def _as_lines(blocks: Iterator[list[Any]], delimiter: str) -> Iterator[tuple[int, str]]:
    """Yield the number of outputs in each block, and their lines."""
    for block in blocks:
        rows = (output if isinstance(output, list) else [output] for output in block)
        yield len(block), "".join(f"{delimiter.join(map(repr, row))}\n" for row in rows)


def _as_json(
    blocks: Iterator[list[Any]], mechanism: Mechanism, guarantee: Guarantee
) -> Iterator[tuple[int, str]]:
    """Yield all outputs at once, so that a failure leaves no half of a document."""
    outputs = [output for block in blocks for output in block]
    facts = {
        "mechanism": repr(mechanism),
        "releases": len(outputs),
        "privacy_of_each": guarantee.stated(),
        "answers": outputs,
    }
    yield len(outputs), json_text.dumps(facts) + "\n"
