"""Statistics of a table by district: their standard errors beside those of plain noise.

Aim: at pure epsilon at most 1.1 times the error of the plain Laplace mechanism, and with delta at
most 1.05 times that of the better of the Laplace and the analytic Gaussian mechanism, both of them
calibrated to how far a neighbour moves all of what is asked, in the l1 and in the l2 norm.
"""

import math
from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from rich.table import Table

import inbounds as ib
from benchmarks.timing import judged, new_table
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
        "root mean square of both multiples.",
        *("asked", "neighbours", "guarantee", "mechanism", "count or total", "×", "mean", "s"),
    )
    frame = _frame()
    for asked in _ASKED:
        for way in _WAYS:
            for guarantee in _GUARANTEES:
                table.add_row(*_row(frame, asked, way, guarantee))
    return iter([table])


def _frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    ages = np.clip(rng.normal(44, 22, ROWS), 0, 120)
    district, person = rng.integers(0, DISTRICTS, ROWS), np.arange(ROWS)
    return pd.DataFrame({"age": ages, "district": district, "person": person})


def _row(frame: pd.DataFrame, asked: str, way: str, named: str) -> tuple[str, ...]:
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
    return (
        *(asked, way, named, str(result["mechanism"][0]), f"{first:.2f}"),
        judged(f"{ratio:.3f}", ratio <= (1.05 if delta else 1.1)),
        f"{errors['mean']:.3f}" if "mean" in errors else "",
        f"{seconds:.2f}",
    )
