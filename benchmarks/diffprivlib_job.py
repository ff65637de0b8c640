"""Do the statistics office's job with diffprivlib, in an environment of its own; print JSON.

Run: .venv-diffprivlib/bin/python -m benchmarks.diffprivlib_job TABLE CASE RUNS
"""

import json
import sys
import warnings
from typing import Any

import numpy as np
from diffprivlib import tools

from benchmarks.job_case import DISTRICTS, EDGES, LARGEST, Case, Columns, Output, measure, told


def release(table: Columns, case: Case) -> list[dict[str, Any]]:
    """Release all statistics: four of equal epsilon, and districts in parallel.

    `tools.mean` would take the size of a district as public, so means are sums over counts. Its
    quantiles fail on ties, so ages are spread over their year first. It knows no people: a person's
    rows share the epsilon. Its tools take no delta; Gaussian noise at a quarter of the guarantee
    would be larger. It moves counts and sums into ranges that depend on true sizes; we let that
    pass.
    """
    epsilon, bounds = case.epsilon / 4 / case.rows, (0, LARGEST)
    spread = table["age"] + np.random.default_rng().random(len(table["age"]))
    released = []
    for district in range(DISTRICTS):
        inside = table["district"] == district
        count = tools.count_nonzero(inside, epsilon=epsilon)
        total = tools.sum(table["age"][inside], epsilon=epsilon, bounds=bounds)
        middle = tools.median(spread[inside], epsilon=epsilon, bounds=(0, LARGEST + 1))
        bins, _ = tools.histogram(table["age"][inside], epsilon=epsilon, bins=EDGES, range=bounds)
        mean = np.clip(total / max(count, 1), *bounds)
        released.append({"count": count, "mean": mean, "median": middle // 1, "histogram": bins})
    return released


def read(released: list[dict[str, Any]]) -> Output:
    """Return the values of each statistic; there are no intervals."""
    return {
        name: {"value": np.array([row[name] for row in released], float).tolist()}
        for name in released[0]
    }


def main() -> None:
    warnings.simplefilter("ignore")
    json.dump(measure(release, read, *told()), sys.stdout)


if __name__ == "__main__":
    main()
