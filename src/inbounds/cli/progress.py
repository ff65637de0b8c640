"""The progress of a command, shown on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def row_bar(total: int | None, wanted: bool | None) -> Iterator[Callable[[int], None]]:
    """Show progress if it is wanted; if `wanted` is None, only if standard error is a screen."""
    if not (sys.stderr.isatty() if wanted is None else wanted):
        yield lambda rows: None
        return
    from rich.console import Console  # noqa: PLC0415 - help must be quick
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    shown = "{task.completed:,.0f} rows", "{task.fields[speed]:,.0f} rows/s"
    console = Console(stderr=True, force_terminal=wanted)
    with Progress(
        BarColumn(), *map(TextColumn, shown), TimeRemainingColumn(), console=console
    ) as shown_bar:
        task = shown_bar.add_task("rows", total=total, speed=0.0)

        def update(rows: int) -> None:
            elapsed = shown_bar.tasks[0].elapsed or 1e-9
            shown_bar.update(task, completed=rows, speed=rows / elapsed)

        yield update
