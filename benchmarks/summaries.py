"""Statistics of a table by district: their standard errors beside those of plain noise.

Aim: at pure epsilon at most 1.1 times the error of the plain Laplace mechanism, and with delta at
most 1.05 times that of the better of the Laplace and the analytic Gaussian mechanism, both of them
calibrated to how far a neighbour moves all of what is asked, in the l1 and in the l2 norm. Beside
them are OpenDP's and diffprivlib's.

Run: python -m benchmarks summaries.
"""

import math
from collections.abc import Iterator
from itertools import product
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from rich.table import Table

import inbounds as ib
from benchmarks import summary_rivals
from benchmarks.summary_rivals import Sums
from benchmarks.timing import judged, new_table, tracked
from inbounds.calibration.approximate import gaussian_mu
from inbounds.frames import count, mean, total
from inbounds.frames.central.statistic import Statistic

ROWS, DISTRICTS, SIZE = 50_000, 8, 10_000
_AGE = ("age", 0, 120)
_ASKED: dict[str, list[Statistic]] = {
    "count": [count()],
    "total": [total(*_AGE)],
    "count and mean": [count(), mean(*_AGE)],
}
# What one row that is added moves, in l1 and squared in l2: counts, and totals over 120; the sum
# of the places of ages in [-1/2, 1/2] for a mean.
_MOVED = {"count": (1.0, 1.0), "total": (1.0, 1.0), "count and mean": (1.5, 1.25)}
_WAYS: dict[str, tuple[dict[str, Any], int]] = {
    "add or remove a row": ({"adjacency": "add-remove", "size": SIZE}, 1),
    "replace a row": ({}, 2),
    "replace a person": ({"id": "person", "size": SIZE}, 2),
}
_GUARANTEES = {"ε = 1": (1.0, 0.0), "ε = 1, δ = 1e-6": (1.0, 1e-6)}


def run() -> Iterator[Table]:
    table = new_table(
        f"{ROWS:,} rows in {DISTRICTS} districts, summarize",
        "Standard errors as summarize states them, and × as a multiple of the better plain "
        "noise with one scale for all (aim 1.1 at pure ε, 1.05 with δ); of a count and a mean, the "
        "root mean square of both multiples. Rivals: the errors of the noise that they calibrate, "
        "in the same order; with * if lower than ours by more than 1 %. They "
        "divide the guarantee evenly, and their mean is a sum over a count.",
        *("asked", "neighbours", "guarantee", "mechanism", "count or total", "×", "mean"),
        *("OpenDP", "diffprivlib", "s"),
    )
    frame, requests = _frame(), list(product(_ASKED, _WAYS, _GUARANTEES))
    rivals = _rivals([_sums(*request) for request in requests])
    for request, theirs in tracked(list(zip(requests, rivals, strict=True)), "Summaries"):
        table.add_row(*_row(frame, *request, theirs))
    return iter([table])


def _frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    ages = np.clip(rng.normal(44, 22, ROWS), 0, 120)
    district, person = rng.integers(0, DISTRICTS, ROWS), np.arange(ROWS)
    return pd.DataFrame({"age": ages, "district": district, "person": person})


def _row(
    frame: pd.DataFrame, asked: str, way: str, named: str, rivals: list[list[float]]
) -> tuple[str, ...]:
    (options, moves), (epsilon, delta) = _WAYS[way], _GUARANTEES[named]
    started = perf_counter()
    result = ib.summarize(
        frame,
        _ASKED[asked],
        by="district",
        groups=range(DISTRICTS),
        epsilon=epsilon,
        delta=delta,
        **options,
    )
    seconds = perf_counter() - started
    errors = result.groupby("statistic")["standard_error"].mean()
    l1, square = _MOVED[asked]
    plain = math.sqrt(2) * moves * l1 / epsilon
    if delta:
        plain = min(plain, math.sqrt(moves * square) / gaussian_mu(epsilon, delta))
    unit = 120.0 if asked == "total" else 1.0
    first = float(errors["total" if asked == "total" else "count"])
    ratios = [first / unit / plain]
    if "mean" in errors:  # of a sum of places plus t times a count, over the rows of a district
        place = (44 / 120 - 0.5) * plain
        ratios.append(float(errors["mean"]) / 120 * ROWS / DISTRICTS / math.hypot(plain, place))
    ratio = float(np.sqrt(np.mean(np.square(ratios))))
    ours = [first, float(errors["mean"])] if "mean" in errors else [first]
    return (
        *(asked, way, named, str(result["mechanism"][0]), f"{first:.2f}"),
        judged(f"{ratio:.3f}", ratio <= (1.05 if delta else 1.1)),
        f"{errors['mean']:.3f}" if "mean" in errors else "",
        *(_shown(theirs, ours) for theirs in rivals),
        f"{seconds:.2f}",
    )


def _sums(asked: str, way: str, named: str) -> list[Sums]:
    """Return the vectors of sums that a rival releases for what is asked."""
    (_, moves), (epsilon, delta) = _WAYS[way], _GUARANTEES[named]
    units = {"count": [1], "total": [120], "count and mean": [1, 120]}[asked]
    root = math.sqrt(moves)
    return [Sums(epsilon, delta, len(units), moves * unit, root * unit) for unit in units]


def _rivals(requests: list[list[Sums]]) -> list[list[list[float]]]:
    """Return for each request the errors of each rival, in the order of what is asked."""
    flat = [sums for request in requests for sums in request]
    found = [iter(rival(flat)) for rival in (summary_rivals.opendp, summary_rivals.diffprivlib)]
    return [[_errors([next(each) for _ in request]) for each in found] for request in requests]


def _errors(of_sums: list[float]) -> list[float]:
    """Turn the errors of a count and a total into those of a count and a mean."""
    if len(of_sums) == 1:
        return of_sums
    count, total = of_sums
    return [count, math.hypot(total, 44 * count) / (ROWS / DISTRICTS)]


def _shown(theirs: list[float], ours: list[float]) -> str:
    """Write the errors of a rival, marked where they are lower than ours."""
    pairs = zip(theirs, ours, strict=True)
    return ", ".join(f"[red]{a:.3g}*[/]" if a < 0.99 * b else f"{a:.3g}" for a, b in pairs)
