"""Clamped noise: which outputs are moved to a bound, decided without branches.

Every value first gets an output inside the box, and then one more random word here. The word is
compared with the probabilities of noise beyond either bound, in double precision with a margin;
comparisons that are too close to call are settled in ball arithmetic by `refine`. Values that keep
their output and values that do not take the same amount of work.

Proof, and the margin: docs/proofs/sampler.md, on clamped distributions.
"""

from collections.abc import Callable
from functools import cache

import numpy as np

from inbounds.numerics.noise import Noise
from inbounds.numerics.noises import NOISES
from inbounds.sampling.compiled import (
    AS_FRACTION,
    DIGEST,
    U64,
    compiled,
    exp,
    fma,
    fraction,
    inlined,
    keyed,
)

_MARGIN = 2.0**-30  # relative to the tails
_MARGIN_PER_SCALE = 2.0**-45  # added for each scale in the width, because places are rounded
_INSIDE, _BEYOND, _UNSURE = 0.0, 1.0, 2.0
_TILE = 512

# Coefficients of tail(d) * exp(d * d / 2) * (1 + 0.3 * d), in powers of 1 / (1 + 0.3 * d) - 0.5.
_TAIL = np.array(
    [
        0.22197061383673833,
        0.32915896802720435,
        0.3461985486596343,
        0.22208295544216494,
        0.029074209633506504,
        -0.07756664339899516,
        -0.03683883971827791,
        0.036352867248321014,
        0.022946949462568318,
        -0.0258801483538311,
        -0.009386876157935164,
        0.021396371173833237,
        -0.008416370211121722,
    ]
)


@inlined
def _tail(which, distance):
    """Return the mass of noise beyond a distance to one side, within 2**-33 up to 12 scales."""
    if which == 1:
        return 0.5 * exp(max(-distance, -700.0))
    t = 1.0 / fma(distance, 0.3, 1.0)
    s = t - 0.5
    p = _TAIL[12]
    for k in range(11, -1, -1):
        p = fma(p, s, _TAIL[k])
    return p * t * exp(max(-0.5 * distance * distance, -700.0))


@inlined
def _verdict(mass, word, margin):
    """Compare a number whose first 52 bits are those of a word with a mass.

    Returns _INSIDE if it is larger, _BEYOND if it is smaller, or _UNSURE.
    """
    drawn = np.uint64((word >> U64(12)) | AS_FRACTION).view(np.float64) - 1.0
    beyond = drawn + 2.0**-52 <= mass * (1.0 - margin)
    inside = drawn > mass * (1.0 + margin)
    return _BEYOND if beyond else (_INSIDE if inside else _UNSURE)


@cache
def bounds_loop(noise: Noise, joint: bool) -> Callable[..., int]:
    """Compile the loop for one distribution; with `joint` there are parameters for each value."""
    loop: Callable[..., int] = _make(NOISES.index(noise), joint, DIGEST)
    return loop


def _make(which, joint, digest):
    @compiled
    def move_to_bounds(words, values, lower, per_width, least, u, intervals, indices, unsure):
        """Replace indices by those of the bounds where noise leaves the box.

        Returns the number of values that are too close to call; the first entries of `unsure`,
        which is as long as the values, are their places. All verdicts of a tile are computed before
        any is used, so that the compiler needs no branches.
        """
        size = keyed(values.size, digest)
        count = 0
        scratch = np.empty((2, _TILE))
        lows, highs = scratch[0], scratch[1]
        for start in range(0, size, _TILE):
            tile = min(_TILE, size - start)
            for i in range(tile):
                k = start + i if joint else 0
                left = fraction(values[start + i], lower[k], per_width[k], least[k]) * u[k]
                margin = fma(u[k], _MARGIN_PER_SCALE, _MARGIN)
                lows[i] = _verdict(_tail(which, left), words[start + i], margin)
                highs[i] = _verdict(_tail(which, u[k] - left), ~words[start + i], margin)
            for i in range(tile):
                k = start + i if joint else 0
                kept = indices[start + i]
                moved = intervals[k] if highs[i] == _BEYOND else kept
                indices[start + i] = 0.0 if lows[i] == _BEYOND else moved
            for i in range(tile):
                if max(lows[i], highs[i]) == _UNSURE:
                    unsure[count] = start + i
                    count += 1
        return count

    return move_to_bounds
