"""How long a release of n values takes, for every class of mechanism, and where it jumps.

A jump up is a release of n′ values, about 1.1·n, that takes longer than n′/n times as long as one
of n; a jump down is one that takes less time than n values. Times of a sweep are noisy, so the
worst pairs are raced again.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from rich.table import Table

import inbounds as ib
from benchmarks.recovered import calibrated
from benchmarks.timing import Ratio, Timing, code, judged, new_table, race, worded

SIZES = (1, 10, 100, 1000, 1023, 1024, 10**4, 10**5, 10**6)
SECONDS = {1: 6e-6, 10: 40e-6, 100: 84e-6, 1000: 250e-6, 1023: 250e-6, 1024: 250e-6}
JUMP_AIM = 1.5
NAMES = (
    *("BoundedGaussian", "BoundedLaplace", "ClampedGaussian", "ClampedLaplace"),
    *("Window", "ClampedStaircase", "Optimal", "RandomizedResponse"),
)

_LARGEST = 10**6
_AGAIN = 3  # pairs that are raced again
_RNG = np.random.default_rng(0)
Release = Callable[[Any], object]


def run() -> Iterator[Table]:
    for compiled in (False, True):
        with code(compiled=compiled):
            words = "compiled" if compiled else "nothing compiled"
            yield _times(words)
            yield _jumps(words)


def releases() -> dict[str, tuple[Release, Any]]:
    """Return for each class how it releases, and values to release; all at epsilon = 1."""
    values = _RNG.uniform(size=_LARGEST)
    found: dict[str, tuple[Release, Any]] = {
        name: (calibrated(name, 0.1, 1.0, "average").release, values) for name in NAMES[:-1]
    }
    response = ib.RandomizedResponse([0, 1, 2, 3], epsilon=1.0)
    found[NAMES[-1]] = response.release, _RNG.integers(0, 4, _LARGEST)
    for release, all_values in found.values():
        release(all_values)  # loads the compiled code, so that no race waits for it
    return found


def _some(values: Any, size: int) -> Any:
    return values[0].item() if size == 1 else values[:size]


def _times(words: str) -> Table:
    aims = ", ".join(f"{1e6 * aim:.0f} µs for {size:,}" for size, aim in SECONDS.items())
    table = new_table(
        f"release on [0, 1], Δ/w = 0.1, ε = 1, {words}: what n uniform values take",
        f"Aims: {aims}. What is recorded is the speed as a multiple of numpy's normal.",
        *("n", "numpy normal", *NAMES),
    )
    contenders = releases()
    for size in SIZES:
        runners = [partial(call, _some(values, size)) for call, values in contenders.values()]
        values = _some(contenders[NAMES[0]][1], size)
        plain, *ours = race(partial(_RNG.normal, values, 0.1), *runners, seconds=1.5)
        table.add_row(f"{size:,}", str(plain), *(_cell(size, plain, each) for each in ours))
    return table


def _cell(size: int, plain: Timing, ours: Timing) -> str:
    text = worded(str(ours), plain.over(ours))
    return judged(text, ours.seconds <= SECONDS[size]) if size in SECONDS else text


# --- jumps ---


def _jumps(words: str) -> Table:
    table = new_table(
        f"The largest jump of the time between n and 1.1·n values, n from 1 to 10⁶, {words}",
        "×: how much longer than in proportion the larger array takes, or how much shorter than "
        f"the smaller one, whichever is more. Aim: {JUMP_AIM:g}.",
        *("mechanism", "n", "time", "next n", "time", "×"),
    )
    for name, (release, values) in releases().items():
        n, larger, short, long = _largest_jump(release, values)
        ratio = Ratio((jump(n, larger, x) for x in long.over(short).rounds), "lower")
        shown = judged(f"{ratio:.2f}", ratio <= JUMP_AIM)
        table.add_row(name, f"{n:,}", str(short), f"{larger:,}", str(long), shown)
    return table


def jump(n: int, larger: int, longer: float) -> float:
    """Return by how much a ratio of times is above the ratio of the sizes, or below 1."""
    return max(longer * n / larger, 1 / longer)


def sweep(largest: int) -> list[int]:
    """Return sizes from 1 to `largest`, each a tenth larger than the last, at least by one."""
    sizes = [1]
    while sizes[-1] < largest:
        sizes.append(min(largest, max(sizes[-1] + 1, math.ceil(1.1 * sizes[-1]))))
    return sizes


def _largest_jump(release: Release, values: Any) -> tuple[int, int, Timing, Timing]:
    sizes = sweep(_LARGEST)
    least = [min(race(partial(release, values[:n]), seconds=0.02)[0].rounds) for n in sizes]
    pairs = list(zip(sizes, sizes[1:], least, least[1:], strict=False))
    pairs.sort(key=lambda pair: -jump(pair[0], pair[1], pair[3] / pair[2]))
    raced = []
    for n, larger, *_ in pairs[:_AGAIN]:
        short, long = race(*(partial(release, values[:x]) for x in (n, larger)), seconds=0.5)
        raced.append((n, larger, short, long))
    return max(raced, key=lambda pair: jump(pair[0], pair[1], pair[3].over(pair[2])))
