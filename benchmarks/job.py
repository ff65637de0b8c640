"""The job of a statistics office beside OpenDP and diffprivlib: errors, intervals, lines, seconds.

50,000 rows with ages from 0 to 120 in eight districts: the number of rows, the mean, the median and
a histogram of twelve bins by district. Every library gives the same guarantee for all of it
together. It hides one row that is added or removed, or one person who is, with up to three rows.
Rivals divide epsilon evenly between the four statistics, as their documentation does, and use each
part in all districts, since a row is in one of them.

Run: python -m benchmarks job. In the environment, INBOUNDS_BENCH_RUNS is the number of runs.
"""

import math
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from rich.table import Table

from benchmarks import inbounds_job
from benchmarks.job_case import (
    DISTRICTS,
    ROWS,
    STATISTICS,
    Case,
    Columns,
    arguments,
    columns,
    measure,
    truth,
)
from benchmarks.timing import Ratio, new_table, run_json, tracked

Floats = NDArray[np.float64]

_ROOT = Path(__file__).resolve().parents[1]
_RUNS = int(os.environ.get("INBOUNDS_BENCH_RUNS", "6"))
_CASES = {
    "ε = 1, one row": Case(1.0, 0.0, 1),
    "ε = 1, δ = 1e-6, one row": Case(1.0, 1e-6, 1),
    "ε = 1, a person's three rows": Case(1.0, 0.0, 3),
    "ε = 1, δ = 1e-6, a person's three rows": Case(1.0, 1e-6, 3),
}
_RIVALS = {"OpenDP": "opendp", "diffprivlib": "diffprivlib"}
_OURS, _WEIGHTED = "inbounds", "inbounds, weights"
# They favour the count and the mean, at the cost of the histogram.
_WEIGHTS = [40.0, 40.0, 20.0, 1.0]
_BEYOND = 3.0  # standard errors of a difference that are more than noise


class Result(NamedTuple):
    """Of one library and case: squared errors and hits (runs come first), lines and seconds."""

    squares: dict[str, Floats]
    held: dict[str, NDArray[np.bool_]]
    lines: int
    seconds: float

    def error(self, statistic: str) -> float:
        return float(np.sqrt(self.squares[statistic].mean()))


def run() -> Iterator[Table]:
    results = _results(columns(), _RUNS)
    yield _comparison(results)
    yield _losses(results)


# --- running ---


def _results(table: Columns, runs: int) -> dict[tuple[str, str], Result]:
    """Return the results of every case and library that is installed."""
    jobs = [(case, library) for case in _CASES for library in (_OURS, _WEIGHTED, *_RIVALS)]
    exact, results = truth(table), {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.npz")
        np.savez(path, **table)
        for named, library in tracked(jobs, "Scripts"):
            measured = _measured(library, table, path, _CASES[named], runs)
            if measured is not None:
                results[named, library] = result_of(measured, exact)
    return results


def _measured(
    library: str, table: Columns, path: Path, case: Case, runs: int
) -> dict[str, Any] | None:
    if library in (_OURS, _WEIGHTED):
        frame, weights = pl.DataFrame(table), _WEIGHTS if library == _WEIGHTED else None
        inbounds_job.release(frame, case, weights)  # what is loaded and compiled once
        return measure(inbounds_job.release, inbounds_job.read, frame, case, runs, weights)
    module = _RIVALS[library]
    python = _ROOT / f".venv-{module}/bin/python"
    if not python.exists():
        return None
    return run_json([python, "-m", f"benchmarks.{module}_job", *arguments(str(path), case, runs)])


def result_of(measured: dict[str, Any], exact: dict[str, Floats]) -> Result:
    """Compare what a script returned with the truth."""
    squares, held = {}, {}
    for name, right in exact.items():
        found = {
            end: np.array([output[name][end] for output in measured["outputs"]], float)
            for end in measured["outputs"][0][name]
        }
        squares[name] = (found["value"] - right) ** 2
        if "lower" in found:
            held[name] = (found["lower"] <= right) & (right <= found["upper"])
    return Result(squares, held, measured["lines"], measured["seconds"])


# --- tables ---


def _comparison(results: dict[tuple[str, str], Result]) -> Table:
    table = new_table(
        f"{ROWS:,} rows in {DISTRICTS} districts: what four statistics cost",
        f"Root mean squared errors over {_RUNS} runs, districts and bins, and in brackets how many "
        "of the 95 % intervals hold the truth, in percent, where a library gives them. With *: "
        f"better than inbounds by default, by more than {_BEYOND:g} standard errors. Weights: "
        f"{_WEIGHTS}, which favour the count and the mean. Lines: of the function that does the "
        "job, without docstring. Seconds of the processor for one script, and × of ours; OpenDP's "
        "search for noise scales takes nearly all of its time. Neither rival gains from δ here: "
        "diffprivlib's tools take none, and Laplace noise is OpenDP's best.",
        *("case", "library", *STATISTICS, "lines", "s", "×"),
        labels=("case", "library"),
    )
    for (named, library), result in results.items():
        ours = results[named, _OURS]
        shown = [_shown(result, ours, statistic) for statistic in STATISTICS]
        ratio = f"{Ratio([result.seconds / ours.seconds]):.2g}"
        table.add_row(
            *(named, library, *shown),
            *(str(result.lines), f"{result.seconds:.2g}", ratio),
            end_section=library == list(_RIVALS)[-1],
        )
    return table


def _shown(result: Result, ours: Result, statistic: str) -> str:
    text = f"{result.error(statistic):.3g}"
    if better_than(result.squares[statistic], ours.squares[statistic]):
        text = f"[red]{text}*[/]"
    if statistic not in result.held:
        return text
    return f"{text} ({100 * result.held[statistic].mean():.1f})"


def better_than(theirs: Floats, ours: Floats) -> bool:
    """Whether squared errors are lower than ours by more than noise; runs are independent."""
    (their_mean, their_noise), (our_mean, our_noise) = _mean(theirs), _mean(ours)
    return their_mean < our_mean - _BEYOND * math.hypot(their_noise, our_noise)


def _mean(measured: NDArray[Any]) -> tuple[float, float]:
    """Return the mean over runs, which are independent, and its standard error."""
    by_run = measured.reshape(len(measured), -1).mean(axis=1)
    noise = by_run.std(ddof=1) / math.sqrt(by_run.size) if by_run.size > 1 else math.inf
    return float(by_run.mean()), float(noise)


def _losses(results: dict[tuple[str, str], Result]) -> Table:
    table = new_table(
        "Where inbounds is not the best",
        "Errors that are higher than a rival's by more than noise, and intervals of ours that hold "
        "the truth less often than in 95 %, by more than noise.",
        *("case", "statistic", "rival", "its error", "ours", "× of its", "with weights"),
    )
    for (named, library), result in results.items():
        for statistic in STATISTICS:
            if library in _RIVALS:
                ours, weighted = results[named, _OURS], results[named, _WEIGHTED]
                if better_than(result.squares[statistic], ours.squares[statistic]):
                    each = [which.error(statistic) for which in (result, ours, weighted)]
                    lower, higher, chosen = each
                    shown = f"{lower:.3g}", f"{higher:.3g}", f"{higher / lower:.2f}"
                    table.add_row(named, statistic, library, *shown, f"{chosen:.3g}")
            else:
                mean, noise = _mean(result.held[statistic])
                if mean + _BEYOND * noise < 0.95:
                    table.add_row(named, statistic, "95 % intervals", "", f"{mean:.1%}", "", "")
    if not table.rows:
        table.add_row("nowhere", *[""] * 6)
    return table
