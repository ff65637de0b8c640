"""Time diffprivlib against numpy in an environment of its own; print the seconds as JSON.

Run: .venv-diffprivlib/bin/python -m benchmarks.diffprivlib_worker SCALE...
"""

import json
import sys

import numpy as np
from diffprivlib.mechanisms import LaplaceBoundedDomain

from benchmarks.timing import race

_MANY, _FEW = 10**6, 10**4


def main() -> None:
    json.dump({scale: _seconds(float(scale)) for scale in sys.argv[1:]}, sys.stdout)


def _seconds(scale: float) -> dict[str, float]:
    """Return what one value takes, and how many times what it takes numpy."""
    rng = np.random.default_rng(0)
    values = rng.uniform(size=_MANY)
    few = values[:_FEW].tolist()
    # with the whole width as sensitivity its scale is 1 / epsilon
    mechanism = LaplaceBoundedDomain(epsilon=1 / scale, delta=0, sensitivity=1, lower=0, upper=1)
    normal, theirs = race(
        lambda: rng.normal(values, scale),
        lambda: [mechanism.randomise(value) for value in few],
        seconds=2.0,
    )
    return {"each": theirs.seconds / _FEW, "over_numpy": theirs.over(normal) * _MANY / _FEW}


if __name__ == "__main__":
    main()
