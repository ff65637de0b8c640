"""Do the statistics office's job with inbounds."""

from typing import Any

import numpy as np
import polars as pl

from benchmarks.job_case import DISTRICTS, EDGES, LARGEST, SIZE, STATISTICS, Case, Output
from inbounds.frames import count, histogram, mean, median, summarize


def release(frame: pl.DataFrame, case: Case, weights: list[float] | None = None) -> pl.DataFrame:
    """Release all statistics with their intervals, jointly."""
    age, who = ("age", 0, LARGEST), {"id": "person"} if case.by_person else {}
    result: pl.DataFrame = summarize(
        frame,
        [count(), mean(*age), median(*age, step=1), histogram("age", EDGES)],
        by="district",
        groups=range(DISTRICTS),
        epsilon=case.epsilon,
        delta=case.delta,
        adjacency="add-remove",
        rows=case.rows,
        size=SIZE,
        weights=weights,
        **who,
    )
    return result


def read(released: pl.DataFrame) -> Output:
    """Return the values of each statistic, and their intervals."""
    return {name: _parts(released.filter(pl.col("statistic") == name)) for name in STATISTICS}


def _parts(rows: pl.DataFrame) -> dict[str, Any]:
    shape = (DISTRICTS,) if len(rows) == DISTRICTS else (DISTRICTS, len(EDGES) - 1)
    ends = ("value", "lower", "upper")
    return {end: np.reshape(rows[end].to_numpy(), shape).tolist() for end in ends}
