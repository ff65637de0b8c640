"""Large jobs are divided among threads; the random bits of each thread are its own."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

from inbounds.sampling.entropy import Entropy, SystemEntropy

_PER_THREAD = 1 << 18  # values that justify one more thread


def in_parts(size: int, entropy: Entropy, fill: Callable[[slice], None]) -> None:
    """Call `fill` for parts of `size` values, in as many threads as are worth it.

    Only the system's entropy is shared between threads: the bits of other sources depend on the
    order in which they are drawn.

    Examples
    --------
    >>> from inbounds.sampling.entropy import SeededEntropy
    >>> in_parts(10**6, SeededEntropy(0), print)
    slice(0, 1000000, None)
    """
    shared = isinstance(entropy, SystemEntropy)
    workers = min(cores(), size // _PER_THREAD) if shared and size >= 2 * _PER_THREAD else 1
    if workers <= 1:
        fill(slice(0, size))
        return
    cuts = [size * i // workers for i in range(workers + 1)]
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(fill, [slice(*ends) for ends in pairwise(cuts)]))


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
