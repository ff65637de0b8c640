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
from typing import TYPE_CHECKING, Any, Literal, TypeVar

if TYPE_CHECKING:
    from benchmarks.recorded import RecordedTable

_SAMPLE = 2e-3  # seconds that one sample of a fast runner should last
_PATIENCE = 4.0  # a warm-up longer than this, or than four times the time, is not repeated
_FEWEST, _MOST = 3, 25  # rounds
_ROOT = Path(__file__).parents[1]

_Item = TypeVar("_Item")
Better = Literal["higher", "lower"]


class Ratio(float):
    """The median of the ratios of several rounds, which it keeps so that noise can be judged.

    Once formatted it is a `Cell`, and a table records the ratios of its cells. What is computed
    from a ratio is a plain float, which no table records.
    """

    rounds: tuple[float, ...]
    better: Better

    def __new__(cls, rounds: Iterable[float], better: Better = "higher") -> "Ratio":
        kept = tuple(rounds)
        self = super().__new__(cls, median(kept))
        self.rounds, self.better = kept, better
        return self

    def __format__(self, spec: str) -> "Cell":
        return Cell(super().__format__(spec), self)


class Cell(str):
    """The text of a ratio in a table; f"{ratio:.2f}" is one."""

    ratio: Ratio

    def __new__(cls, text: str, ratio: Ratio) -> "Cell":
        self = super().__new__(cls, text)
        self.ratio = ratio
        return self


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds per call, one entry for each round."""

    rounds: tuple[float, ...]

    @property
    def seconds(self) -> float:
        return median(self.rounds)

    def over(self, other: "Timing", better: Better = "higher") -> Ratio:
        """How many times as long as `other` this takes: the median over the rounds.

        Usually `other` is ours, so that a higher ratio is better.
        """
        pairs = zip(self.rounds, other.rounds, strict=True)
        return Ratio((a / b for a, b in pairs), better)

    def __str__(self) -> str:
        return duration(self.seconds)


def race(*runners: Callable[[], object], seconds: float = 1.0) -> tuple[Timing, ...]:
    """Call every runner once to warm up, then all in turn, for about `seconds` altogether."""
    timers = [Timer(runner) for runner in runners]
    first = [timer.timeit(1) for timer in timers]
    if sum(first) > min(_PATIENCE, 4 * seconds):
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
    return worded(f"{float(f'{ratio:.2g}'):,.15g}×", ratio)


def judged(text: str, reached: bool) -> str:
    """Mark a measured value as reaching its aim or missing it, as rich markup."""
    marked = f"[green]✓ {text}[/]" if reached else f"[red]✗ {text}[/]"
    return worded(marked, text.ratio) if isinstance(text, Cell) else marked


def worded(text: str, ratio: float) -> str:
    """Return a text that a table records as the ratio, if that is a measured one."""
    return Cell(text, ratio) if isinstance(ratio, Ratio) else text


def new_table(
    title: str, caption: str, *columns: str, labels: Sequence[str] | None = None
) -> "RecordedTable":
    """Return an empty table; `labels` are the columns that tell its rows apart: by default, one."""
    from benchmarks.recorded import RecordedTable  # noqa: PLC0415 - rivals have no rich

    return RecordedTable(title, caption, columns, labels)


def tracked(items: Iterable[_Item], description: str) -> Iterable[_Item]:
    """Return the items; a bar on standard error shows how many were taken."""
    from rich.console import Console  # noqa: PLC0415 - rivals have no rich
    from rich.progress import track  # noqa: PLC0415 - same

    return track(list(items), description, console=Console(stderr=True), transient=True)


@contextmanager
def code(*, compiled: bool) -> Iterator[None]:
    """Let compiled code serve at once, as after very many values, or never."""
    from inbounds.sampling import blocks  # noqa: PLC0415 - some rivals' environments lack it

    before = blocks._REPAYS
    blocks._REPAYS = 0 if compiled else 1 << 62
    try:
        yield
    finally:
        blocks._REPAYS = before
