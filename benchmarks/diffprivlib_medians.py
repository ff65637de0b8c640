"""Draw medians with diffprivlib in an environment of its own; print them as JSON.

Run: .venv-diffprivlib/bin/python -m benchmarks.diffprivlib_medians TABLES LOWER UPPER DRAWS EPSILON
"""

import json
import sys
import warnings

import numpy as np
from diffprivlib.tools import quantile


def main() -> None:
    path, lower, upper, draws, *epsilons = sys.argv[1:]
    warnings.simplefilter("ignore")
    tables, bounds = np.load(path), (float(lower), float(upper))
    found = [
        [_medians(rows, float(epsilon), bounds, int(draws)) for rows in tables]
        for epsilon in epsilons
    ]
    json.dump(found, sys.stdout)


def _medians(
    rows: np.ndarray, epsilon: float, bounds: tuple[float, float], draws: int
) -> list[float]:
    outputs = []
    for _ in range(draws):
        try:
            outputs.append(float(quantile(rows, 0.5, epsilon=epsilon, bounds=bounds)))
        except RuntimeError:  # it fails on ties
            continue
    return outputs


if __name__ == "__main__":
    main()
