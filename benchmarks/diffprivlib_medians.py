"""Draw medians with diffprivlib in an environment of its own; print them as JSON.

Run: .venv-diffprivlib/bin/python -m benchmarks.diffprivlib_medians TABLES EPSILON LOWER UPPER DRAWS
"""

import json
import sys
import warnings

import numpy as np
from diffprivlib.tools import quantile


def main() -> None:
    path, *numbers, draws = sys.argv[1:]
    epsilon, lower, upper = map(float, numbers)
    warnings.simplefilter("ignore")
    found = []
    for rows in np.load(path):
        outputs = []
        for _ in range(int(draws)):
            try:
                outputs.append(float(quantile(rows, 0.5, epsilon=epsilon, bounds=(lower, upper))))
            except RuntimeError:  # it fails on ties
                continue
        found.append(outputs)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
