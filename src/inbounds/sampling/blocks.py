"""Work on many values in blocks, in several threads if there are enough cores and values."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

from inbounds.sampling.entropy import Entropy, SystemEntropy

COMPILED = 1 << 19
"""The number of values from which on compiled code is loaded, although plain code would do.

Loading it takes up to a second. It gives the same bits in a third of the time.
"""

_BLOCK = 1 << 14  # values in a block, whose random words stay in a core's cache
_PER_THREAD = 1 << 18  # values that justify one more thread


def in_blocks(size: int, entropy: Entropy, fill: Callable[[slice], None]) -> None:
    """Call `fill` with slices that cover 0..size, each of one block.

    Only the operating system's bits may be drawn in several threads: the bits of other sources
    depend on the order of the calls.

    Examples
    --------
    >>> from inbounds.sampling.entropy import SYSTEM
    >>> in_blocks(20_000, SYSTEM, print)
    slice(0, 16384, None)
    slice(16384, 20000, None)
    """

    def fill_part(ends: tuple[int, int]) -> None:
        for start in range(ends[0], ends[1], _BLOCK):
            fill(slice(start, min(ends[1], start + _BLOCK)))

    workers = min(_cores(), size // _PER_THREAD) if isinstance(entropy, SystemEntropy) else 1
    if workers <= 1:
        fill_part((0, size))
        return
    cuts = [size * i // workers for i in range(workers + 1)]
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(fill_part, pairwise(cuts)))


def _cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
