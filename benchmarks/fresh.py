"""Measure one fresh process; print the result as JSON.

Run: python -m benchmarks.fresh first|large COUNT, or first COUNT MECHANISM for one calibrated to
epsilon = 1 and the whole width. INBOUNDS_BENCH_WITHOUT in the environment names a package that is
taken to be missing.
"""

import gc
import json
import os
import resource
import sys
from time import perf_counter
from typing import Any

SIGMA = 0.1
_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes in which the system counts memory


def main() -> None:
    if missing := os.environ.get("INBOUNDS_BENCH_WITHOUT"):
        sys.modules[missing] = None  # type: ignore[assignment]  # importing it fails
    measure = {"first": _first_call, "large": _large_release}[sys.argv[1]]
    json.dump(measure(int(sys.argv[2]), *sys.argv[3:]), sys.stdout)


def _first_call(count: int, name: str = "") -> dict[str, float]:
    started = perf_counter()
    import inbounds as ib  # noqa: PLC0415 - its time is measured

    if name:  # names are loaded at first use
        mechanism = getattr(ib, name).calibrated(ib.Box(0, 1), 1, epsilon=1.0)
    else:
        mechanism = ib.BoundedGaussian(ib.Box(0, 1), ib.L2(0.1), SIGMA)
    imported = perf_counter() - started
    import numpy as np  # noqa: PLC0415 - only now, so as not to spare inbounds its time

    values: Any = 0.3 if count == 1 else np.random.default_rng(0).uniform(size=count)
    seconds = []
    for _ in range(2):
        started = perf_counter()
        mechanism.release(values)
        seconds.append(perf_counter() - started)
    return {
        "imported": imported,
        "first": seconds[0],
        "second": seconds[1],
        "compiled": _compiled_functions(),
    }


def _compiled_functions() -> int:
    """Count our functions that numba compiled instead of reading them from its cache."""
    if sys.modules.get("numba") is None:
        return 0
    from numba.core.dispatcher import Dispatcher  # noqa: PLC0415 - loaded already

    # by type(), since isinstance looks through weak references, some of them dead
    found = [thing for thing in gc.get_objects() if issubclass(type(thing), Dispatcher)]
    ours = [thing for thing in found if thing.py_func.__module__.startswith("inbounds.")]
    return sum(sum(function.stats.cache_misses.values()) for function in ours)


def _large_release(count: int) -> dict[str, float]:
    import numpy as np  # noqa: PLC0415 - as above

    import inbounds as ib  # noqa: PLC0415 - as above
    from inbounds.sampling import blocks  # noqa: PLC0415 - as above

    rng = np.random.default_rng(0)
    values = rng.uniform(size=count)
    mechanism = ib.BoundedGaussian(ib.Box(0, 1), ib.L2(0.1), SIGMA)
    blocks._REPAYS = 0  # uses compiled code at once, if there is any
    mechanism.release(values[: 1 << 15])
    before = _peak()
    size = mechanism.release(values).nbytes
    extra = _peak() - before
    # only then the times: whoever asks for so much memory first waits for the system
    started = perf_counter()
    mechanism.release(values)
    middle = perf_counter()
    rng.normal(values, SIGMA)
    ours, normal = middle - started, perf_counter() - middle
    return {"seconds": ours, "normal": normal, "extra": extra, "output": size}


def _peak() -> int:
    """Return the most memory this process ever held. It starts at what its parent holds."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _UNIT


if __name__ == "__main__":
    main()
