"""Time rivals side by side, so that a busy machine slows all of them alike."""

import json
import math
import os
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from timeit import Timer
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from rich.table import Table

_SAMPLE = 2e-3  # seconds that one sample of a fast runner should last
_PATIENCE = 4.0  # a warm-up longer than this is not repeated
_FEWEST, _MOST = 3, 25  # rounds
_ROOT = Path(__file__).parents[1]

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds per call, one entry for each round."""

    rounds: tuple[float, ...]

    @property
    def seconds(self) -> float:
        return median(self.rounds)

    def over(self, other: "Timing") -> float:
        """How many times as long as `other` this takes: the median over the rounds."""
        return median(a / b for a, b in zip(self.rounds, other.rounds, strict=True))

    def __str__(self) -> str:
        return duration(self.seconds)


def race(*runners: Callable[[], object], seconds: float = 1.0) -> tuple[Timing, ...]:
    """Call every runner once to warm up, then all in turn, for about `seconds` altogether."""
    timers = [Timer(runner) for runner in runners]
    first = [timer.timeit(1) for timer in timers]
    if sum(first) > _PATIENCE:
        return tuple(Timing((once,)) for once in first)
    pairs = zip(timers, first, strict=True)
    warm = [timer.timeit(1) if once < 0.1 else once for timer, once in pairs]
    calls = [max(1, math.ceil(_SAMPLE / once)) for once in warm]
    cost = sum(once * number for once, number in zip(warm, calls, strict=True))
    samples = [
        [timer.timeit(number) / number for timer, number in zip(timers, calls, strict=True)]
        for _ in range(min(_MOST, max(_FEWEST, int(seconds / cost))))
    ]
    return tuple(Timing(rounds) for rounds in zip(*samples, strict=True))


@contextmanager
def one_core() -> Iterator[None]:
    """Keep this thread and what it starts on one core, where the system can."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def run_json(command: Sequence[str | Path], **environment: str) -> dict[str, Any]:
    """Run a process of its own from the root of the repository; read the JSON that it prints."""
    done = subprocess.run(
        command,
        cwd=_ROOT,
        env=os.environ | environment,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed


def duration(seconds: float) -> str:
    """Write a duration with three digits and a fitting unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def factor(ratio: float) -> str:
    """Write how many times faster; two digits are all that a shared machine supports."""
    return f"{float(f'{ratio:.2g}'):,.15g}×"


def judged(text: str, reached: bool) -> str:
    """Mark a measured value as reaching its aim or missing it, as rich markup."""
    return f"[green]✓ {text}[/]" if reached else f"[red]✗ {text}[/]"


def new_table(title: str, caption: str, *columns: str) -> "Table":
    from rich.table import Table  # noqa: PLC0415 - a rival's environment times without it

    table = Table(title=title, caption=caption, title_justify="left", caption_justify="left")
    for column in columns:
        table.add_column(column, justify="right")
    return table


def tracked(items: Iterable[_Item], description: str) -> Iterable[_Item]:
    """Return the items; a bar on standard error shows how many were taken."""
    from rich.console import Console  # noqa: PLC0415 - a rival's environment times without it
    from rich.progress import track  # noqa: PLC0415 - same

    return track(list(items), description, console=Console(stderr=True), transient=True)
