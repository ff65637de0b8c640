"""How time and memory grow with the size of a job, each alone: a figure and the slopes.

Every size is run several times, the largest ones once; the least time counts. A slope is
that of a straight line on log axes through the two largest decades: 1 is in proportion, 0 does not
grow. Memory is by how much the process grew at most during one call, without the output; it is
known on Linux only, and from 0.1 MB on.

Run: python -m benchmarks growth. It takes a few minutes and writes docs/growth.json, from which the
documentation draws its figure (docs/figures/growth.py).
"""

import json
import math
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
import polars as pl
from rich.table import Table

import inbounds as ib
from benchmarks import ledger, machine
from benchmarks.peak import growth_of
from benchmarks.timing import duration, new_table, race, tracked
from inbounds.accounting.ledger import Ledger
from inbounds.frames import count, mean, privatize

SAVED = Path(__file__).parents[1] / "docs" / "growth.json"
LEAST_MEMORY = 1e5  # bytes that a process can be seen to grow by

_RNG = np.random.default_rng(0)
_BOX = ib.Box(0, 120)
_AGE = ib.BoundedGaussian.calibrated(_BOX, 2.5, epsilon=1.0)
_LOCAL = ib.BoundedGaussian.calibrated(_BOX, 120, epsilon=1.0)
_SECONDS = 0.4  # for each size, if a few calls do not take longer
_LONG = 0.5  # seconds of a call that is not repeated
Make = Callable[[int], Callable[[], object]]


@dataclass(frozen=True)
class Curve:
    """Seconds and bytes of one job by size."""

    panel: str
    name: str
    sizes: tuple[int, ...]
    seconds: tuple[float, ...]
    memory: tuple[float | None, ...]

    def slope(self, of: Sequence[float | None]) -> float | None:
        """Return the slope on log axes over the two largest decades."""
        start = self.sizes[-1] / 100
        points = [(n, y) for n, y in zip(self.sizes, of, strict=True) if y and n >= start]
        if len(points) < 2:
            return None
        x, y = np.log(np.array(points)).T
        return float(np.polyfit(x, y, 1)[0])


def run() -> Iterator[Table]:
    warnings.simplefilter("ignore", ib.RepeatedReleaseWarning)  # nothing is published here
    warnings.simplefilter("ignore", ib.WeakGuaranteeWarning)
    _release(2000)()  # loads the compiled code
    with TemporaryDirectory(dir=os.getcwd()) as folder:
        jobs = _jobs(Path(folder))
        curves = [_measured(*job) for job in tracked(jobs, "Growth")]
    SAVED.write_text(_written(curves), encoding="utf-8")
    yield _table(curves)


def _written(curves: list[Curve]) -> str:
    """Return the curves, and what they were measured on, with a line for each."""
    known = machine.facts()
    facts = {"date": datetime.now(UTC).date().isoformat(), "python": known["python"]}
    lines = [f" {json.dumps(key)}: {json.dumps(fact)}," for key, fact in facts.items()]
    lines.append(f' "machine": {json.dumps(known["machine"])},')
    rows = ",\n".join(f"  {json.dumps(_rounded(curve), ensure_ascii=False)}" for curve in curves)
    return "\n".join(["{", *lines, ' "curves": [', rows, " ]", "}", ""])


def _rounded(curve: Curve) -> dict[str, Any]:
    """Return a curve with four digits of each time."""
    return asdict(curve) | {"seconds": [float(f"{each:.4g}") for each in curve.seconds]}


def _table(curves: list[Curve]) -> Table:
    table = new_table(
        "How cost grows",
        "Slopes: on log axes, over the two largest decades. make docs draws the figure.",
        *("of", "job", "sizes", "least time", "largest size's time", "slope", "memory", "slope"),
    )
    table.columns[0].justify = table.columns[1].justify = "left"
    for curve in curves:
        memory = curve.memory[-1]
        table.add_row(
            *(curve.panel, curve.name, f"{curve.sizes[0]:,} – {curve.sizes[-1]:,}"),
            *(duration(min(curve.seconds)), duration(curve.seconds[-1])),
            _slope(curve.slope(curve.seconds)),
            "" if memory is None else f"{memory / 1e6:.1f} MB",
            _slope(curve.slope(curve.memory)),
        )
    return table


def _slope(slope: float | None) -> str:
    return "" if slope is None else f"{slope:.2f}"


def _measured(panel: str, name: str, sizes: Sequence[int], make: Make) -> Curve:
    make(sizes[0])()  # loads what the job needs
    seconds, memory = [], []
    for size in sizes:
        runner = make(size)
        first: list[float] = []
        grown = growth_of(partial(_timed, runner, first))
        memory.append(None if grown is None else max(grown, LEAST_MEMORY))
        again = race(runner, seconds=_SECONDS)[0].rounds if first[0] < _LONG else ()
        seconds.append(min((*first, *again)))
    return Curve(panel, name, tuple(sizes), tuple(seconds), tuple(memory))


def _timed(runner: Callable[[], object], seconds: list[float]) -> object:
    started = perf_counter()
    result = runner()
    seconds.append(perf_counter() - started)
    return result


def steps(largest: int, smallest: int = 1) -> list[int]:
    """Return 1, 3, 10, 30, … from `smallest` to `largest`, a power of ten."""
    decades = range(round(math.log10(largest)))
    every = [digit * 10**decade for decade in decades for digit in (1, 3)]
    return [size for size in [*every, largest] if size >= smallest]


# --- jobs ---


def _jobs(folder: Path) -> list[tuple[str, str, list[int], Make]]:
    return [
        ("values released", "release", steps(10**8), _release),
        ("values released", "numpy normal", steps(10**8), _normal),
        ("coordinates", "calibrated", steps(10**6), _calibrated),
        ("coordinates", "one joint release", steps(10**6), _joint),
        ("rows of a frame", "privatize", steps(10**7), _privatize),
        ("rows of a frame", "summarize", steps(10**7, 10), partial(_summarize, groups=8)),
        ("groups", "summarize 10⁵ rows", steps(10**4), partial(_summarize, 10**5)),
        ("entries in the ledger", "one release", steps(10**5), partial(_charge, folder)),
        ("entries in the ledger", "first use", steps(10**5), partial(_first_use, folder)),
        ("releases composed", "equal releases", steps(10**6), _compose),
        ("releases composed", "distinct releases", steps(10), _compose_distinct),
    ]


def _release(size: int) -> Callable[[], object]:
    values = _RNG.uniform(0, 120, size)
    return partial(_AGE.release, float(values[0]) if size == 1 else values)


def _normal(size: int) -> Callable[[], object]:
    return partial(_RNG.normal, _RNG.uniform(0, 120, size), 16.3)


def _widths(size: int) -> tuple[ib.Box, float, float]:
    widths = np.random.default_rng(size).uniform(0.1, 10, size)
    box = ib.Box(np.zeros(size), widths) if size > 1 else ib.Box(0, float(widths[0]))
    return box, 0.2 * float(np.linalg.norm(widths)), max(1.0, size / 10)


def _calibrated(size: int) -> Callable[[], object]:
    box, sensitivity, epsilon = _widths(size)
    return partial(ib.BoundedGaussian.calibrated, box, sensitivity, epsilon=epsilon)


def _joint(size: int) -> Callable[[], object]:
    box, sensitivity, _ = _widths(size)
    sigma = sensitivity / math.sqrt(size)
    values: Any = box.lower + (box.upper - box.lower) / 2
    return partial(ib.BoundedGaussian(box, ib.L2(sensitivity), sigma).release, values)


def _frame(rows: int, groups: int) -> pl.DataFrame:
    ages, keys = _RNG.uniform(0, 120, rows), np.arange(rows) % groups
    return pl.DataFrame({"age": ages, "district": keys})


def _privatize(rows: int) -> Callable[[], object]:
    return partial(privatize, _frame(rows, 1), {"age": _LOCAL})


def _summarize(rows: int, groups: int) -> Callable[[], object]:
    asked, options = [count(), mean("age", 0, 120)], {"by": "district", "epsilon": 1.0}
    frame = _frame(rows, groups)
    return partial(ib.summarize, frame, asked, groups=range(groups), **options)  # type: ignore[arg-type]


def _history(folder: Path, entries: int) -> Path:
    """Return a ledger whose chain has so many entries."""
    path = folder / f"{entries}.db"
    if not path.exists():
        with Ledger(path) as book:
            book.open("survey", epsilon=1e9)
            ledger._release(book, "survey")
            if entries > 1:
                ledger._prolong(path, book._book.account("survey"), entries - 1, each=1)
    return path


def _charge(folder: Path, entries: int) -> Callable[[], object]:
    book = Ledger(_history(folder, entries))
    book.head("survey")
    return partial(ledger._release, book, "survey")


def _first_use(folder: Path, entries: int) -> Callable[[], object]:
    path = _history(folder, entries)

    def first() -> str:
        with Ledger(path) as book:
            return book.head("survey")

    return first


def _compose(size: int) -> Callable[[], object]:
    return lambda: ib.compose([(_AGE, size)]).epsilon(1e-6)


def _compose_distinct(size: int) -> Callable[[], object]:
    calibrated = ib.BoundedGaussian.calibrated
    mechanisms = [calibrated(_BOX, 2.5 + k / 1000, epsilon=0.1) for k in range(size)]
    return lambda: ib.compose(mechanisms).epsilon(1e-6)
