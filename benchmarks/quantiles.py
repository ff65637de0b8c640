"""Medians beside OpenDP's and diffprivlib's at the same epsilon, and coverage of our intervals.

Every library sees the same tables, knows the same bounds, and hides one replaced row. OpenDP has
the candidates of our grid, and knows the number of rows. Errors are distances to the nearest
median.

Run: python -m benchmarks quantiles. In the environment, INBOUNDS_BENCH_RUNS is the number of runs
of each row.
"""

import os
import tempfile
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import opendp.prelude as dp
import polars as pl
from numpy.typing import NDArray
from rich.table import Table

from benchmarks.timing import run_json, tracked
from inbounds.frames import median, quantile, summarize

Floats = NDArray[np.float64]

_ROOT = Path(__file__).resolve().parents[1]
_PYTHON = _ROOT / ".venv-diffprivlib/bin/python"
_SIZES, _EPSILONS = (500, 5000, 50_000), (0.1, 1.0)
_RUNS = int(os.environ.get("INBOUNDS_BENCH_RUNS", "8"))
_TABLES = 8
_DRAWS = max(1, _RUNS // _TABLES)
_BEYOND = 3.0  # standard errors of a difference that are more than noise


class Data(NamedTuple):
    """A kind of table, its bounds, and the step of its values; None if they have none."""

    draw: Callable[[np.random.Generator, int], Floats]
    lower: float
    upper: float
    step: float | None

    def table(self, seed: int, n: int) -> Floats:
        return np.clip(self.draw(np.random.default_rng(seed), n), self.lower, self.upper)

    @property
    def candidates(self) -> Floats:
        steps = 2**16 if self.step is None else round((self.upper - self.lower) / self.step)
        return np.linspace(self.lower, self.upper, steps + 1)


def _lumpy(rng: np.random.Generator, n: int) -> Floats:
    return np.where(rng.random(n) < 0.3, 0.0, 10 * np.floor(rng.gamma(3.0, 60.0, n) / 10))


def _bimodal(rng: np.random.Generator, n: int) -> Floats:
    return np.where(rng.random(n) < 0.45, rng.normal(20, 3, n), rng.normal(80, 3, n))


DATA = {
    "ages": Data(lambda rng, n: np.floor(rng.gamma(4.0, 10.0, n)), 0.0, 120.0, 1.0),
    "incomes": Data(lambda rng, n: rng.lognormal(np.log(30_000), 0.8, n), 0.0, 1e6, None),
    "lumpy": Data(_lumpy, 0.0, 1000.0, 1.0),
    "bimodal": Data(_bimodal, 0.0, 100.0, None),
    "all equal": Data(lambda _, n: np.full(n, 42.0), 0.0, 100.0, 1.0),
}


def run() -> Iterator[Table]:
    yield _medians()
    yield _coverage()


# --- errors of medians ---


def _medians() -> Table:
    table = Table(
        title="Mean error of a median",
        caption=f"{_TABLES} tables, {_DRAWS} draws each. Bold: worse than ours; with *: better "
        f"than ours, by more than {_BEYOND:g} standard errors. diffprivlib fails on ties if "
        "n·epsilon is large: the mean is over the draws that it returns.",
    )
    for heading in ("data", "rows", "epsilon", "inbounds", "OpenDP", "diffprivlib"):
        table.add_column(heading, justify="left" if heading == "data" else "right")
    for name, n in tracked(product(DATA, _SIZES), "Medians"):
        data = DATA[name]
        tables = [data.table(seed, n) for seed in range(_TABLES)]
        theirs = _diffprivlib(data, tables)
        for epsilon, drawn in zip(_EPSILONS, theirs, strict=True):
            ours = _errors(tables, [_ours(data, rows, epsilon) for rows in tables])
            rivals = [
                _errors(tables, [_opendp(data, rows, epsilon) for rows in tables]),
                _errors(tables, drawn),
            ]
            shown = [_compared(ours, rival) for rival in rivals]
            table.add_row(name, f"{n:,}", f"{epsilon:g}", f"{ours.mean():.3g}", *shown)
    return table


def _errors(tables: list[Floats], outputs: list[list[float]]) -> Floats:
    """Return the distance of outputs to the nearest median of their table, one mean per table."""
    means = []
    for rows, drawn in zip(tables, outputs, strict=True):
        ordered, half = np.sort(rows), rows.size // 2
        low, high = ordered[half - 1], ordered[half]
        distances = [max(low - x, x - high, 0.0) for x in drawn]
        means.append(np.mean(distances) if distances else np.nan)
    return np.array(means)


def _compared(ours: Floats, theirs: Floats) -> str:
    """Write an error of a rival; tables are paired, so differences are."""
    if not np.isfinite(theirs).any():
        return "fails"
    difference = (theirs - ours)[np.isfinite(theirs)]
    noise = np.std(difference, ddof=1) / np.sqrt(difference.size) if difference.size > 1 else 0.0
    text, far = f"{np.nanmean(theirs):.3g}", _BEYOND * noise
    if np.mean(difference) > far:
        return f"[bold]{text}[/]"
    return f"[red]{text}*[/]" if np.mean(difference) < -far else text


def _ours(data: Data, rows: Floats, epsilon: float) -> list[float]:
    asked = median("x", data.lower, data.upper, step=data.step, interval=False)
    frame = pl.DataFrame({"x": rows})
    return [summarize(frame, asked, epsilon=epsilon)["value"][0] for _ in range(_DRAWS)]


def _opendp(data: Data, rows: Floats, epsilon: float) -> list[float]:
    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=rows.size)
    space = domain, dp.symmetric_distance()
    candidates = data.candidates.tolist()

    def make(scale: float) -> Any:
        return dp.m.make_private_quantile(*space, dp.max_divergence(), candidates, 0.5, scale)

    release = make(make(1.0).map(2) / epsilon)  # a search would take longer than all draws
    assert release.map(2) <= epsilon * 1.0001
    values = rows.tolist()
    return [release(values) for _ in range(_DRAWS)]


def _diffprivlib(data: Data, tables: list[Floats]) -> list[list[list[float]]]:
    """Return its outputs for each epsilon and table, and none if it is not installed."""
    if not _PYTHON.exists():
        return [[[] for _ in tables] for _ in _EPSILONS]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tables.npy")
        np.save(path, np.array(tables))
        arguments = [path, data.lower, data.upper, _DRAWS, *_EPSILONS]
        command = [_PYTHON, "-m", "benchmarks.diffprivlib_medians", *arguments]
        result: Any = run_json([str(part) for part in command])
    return list(result)


# --- coverage of intervals ---

_COVERED = ("ages", "incomes", "lumpy")
CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "median": (0.5, {}),
    "q = 0.9": (0.9, {}),
    "median, rho = 0.1": (0.5, {"rho": 0.1}),
    "median, add-remove": (0.5, {"adjacency": "add-remove"}),
    "median, three rows replaced": (0.5, {"rows": 3}),
    "median, people with three rows": (0.5, {"rows": 3, "id": "who"}),
    "quartiles": ([0.25, 0.5, 0.75], {}),
    "deciles": ([i / 10 for i in range(1, 10)], {}),
}


def _coverage() -> Table:
    table = Table(
        title="Coverage of 95 % intervals at epsilon = 1",
        caption=f"{_RUNS} runs. Length: the median, in units of the data. All: how often every "
        "interval of a run holds its quantile. OpenDP and diffprivlib give no intervals of "
        "quantiles.",
    )
    for heading in ("data", "rows", "asked for", "coverage", "length", "all"):
        table.add_column(heading, justify="left" if heading in ("data", "asked for") else "right")
    for name, n, case in tracked(product(_COVERED, _SIZES[:2], CASES), "Intervals"):
        held, lengths = _held(DATA[name], n, *CASES[case])
        shown = f"{held.mean():.3f}", f"{np.median(lengths):.3g}"
        table.add_row(name, f"{n:,}", case, *shown, f"{held.all(axis=1).mean():.3f}")
    return table


def _held(data: Data, n: int, q: Any, options: dict[str, Any]) -> tuple[Any, Floats]:
    """Return whether each interval of each run holds its quantile, and how long intervals are."""
    asked = quantile("x", q, data.lower, data.upper, step=data.step, interval=True)
    guarantee = {} if "rho" in options else {"epsilon": 1.0}
    held, lengths = [], []
    for seed in range(_RUNS):
        rows = data.table(seed % 10, n)
        frame = pl.DataFrame({"x": rows, "who": np.arange(n) // 3})
        result = summarize(frame, asked, **options, **guarantee)
        truths = np.quantile(rows, np.atleast_1d(q))
        low, high = result["lower"].to_numpy(), result["upper"].to_numpy()
        held.append((low <= truths) & (truths <= high))
        lengths.append(high - low)
    return np.array(held), np.array(lengths)
