"""Window outputs for many doubles in one compiled pass, without branches.

The steps are those of `WindowSampler`, bit by bit. Numbers are turned into integers and
back by their bits, which processors do for several at a time.

Proof: docs/proofs/window.md, theorem 8.
"""

import numpy as np

from inbounds.sampling.compiled import (
    AS_INTEGER,
    DIGEST,
    LOW_32,
    TWO_52,
    U64,
    compiled,
    inlined,
    keyed,
)
from inbounds.sampling.grid import even_number

_HALF = np.uint64(32)
_NONE = np.uint64(0)
_even_number = inlined(even_number)


@inlined
def _index(choice, place, start, sizes):
    """Return the place of an output, for two random words and a start that may be any number.

    `sizes` are the last word of those that choose no window, the last start, and the numbers of
    places in a window and in all.
    """
    last_outside, last, length, places = sizes
    start = start if start >= 0.0 else 0.0
    start = start if start <= last else last
    whole = np.float64(np.floor(start) + TWO_52).view(np.uint64) ^ AS_INTEGER
    inside = choice > last_outside
    size = (length if inside else places) & LOW_32
    product = ((place & LOW_32) * size >> _HALF) + (place >> _HALF) * size
    return (whole if inside else _NONE) + (product >> _HALF)


@inlined
def _start(value, lower, upper, nudge, factor):
    """Return where a window starts before it is rounded; `nudge` keeps subnormal numbers out."""
    inside = min(max(value, lower), upper)
    return (inside - lower + nudge) * factor


def _make(digest):
    @compiled
    def write_numbers(words, values, scale, sizes, ends, outputs):
        """Write the output of each value, on a grid without a step.

        `scale` is the bounds, the nudge and the starts per unit; `ends` are what numbers are made
        of: the bounds and the intervals of the grid.
        """
        size = keyed(values.size, digest)
        choices, within = words[:size], words[size : 2 * size]
        lower, upper, nudge, factor = scale
        low, high, intervals = ends
        for i in range(size):
            start = _start(values[i], lower, upper, nudge, factor) + 0.5
            index = _index(choices[i], within[i], start, sizes)
            number = np.uint64(index | AS_INTEGER).view(np.float64) - TWO_52
            outputs[i] = _even_number(number, low, high, intervals)

    @compiled
    def write_indices(words, values, scale, sizes, outputs):
        """Write the place of each output, on a grid with a step, where starts are random."""
        size = keyed(values.size, digest)
        choices, within, parts = words[:size], words[size : 2 * size], words[2 * size :]
        lower, upper, nudge, factor = scale
        for i in range(size):
            part = np.float64(np.int64(parts[i] >> U64(11))) * 2.0**-53
            start = _start(values[i], lower, upper, nudge, factor) + part
            outputs[i] = np.int64(_index(choices[i], within[i], start, sizes))

    return write_numbers, write_indices


write_numbers, write_indices = _make(DIGEST)
