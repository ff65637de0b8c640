"""Print, as JSON, the standard errors of diffprivlib's mechanisms in an environment of its own.

Run: .venv-diffprivlib/bin/python -m benchmarks.diffprivlib_noise '[[EPSILON, DELTA, L1, L2], ...]'
"""

import json
import math
import sys

from diffprivlib.mechanisms import GaussianAnalytic, Geometric


def main() -> None:
    json.dump([_least(*request) for request in json.loads(sys.argv[1])], sys.stdout)


def _least(epsilon: float, delta: float, l1: int, l2: float) -> float:
    """Return the lower of the errors of integer noise and, with a delta, of Gaussian noise."""
    variances = [Geometric(epsilon=epsilon, sensitivity=l1).variance(0)]
    if delta:
        gaussian = GaussianAnalytic(epsilon=epsilon, delta=delta, sensitivity=l2)
        variances.append(gaussian.variance(0))
    return math.sqrt(min(variances))


if __name__ == "__main__":
    main()
