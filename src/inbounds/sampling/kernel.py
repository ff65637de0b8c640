"""The fast exact sampler: one branch-free trial per value, compiled for whole blocks.

A trial proposes a strip and a point in it, and decides in double precision whether the point is
refused, accepted (and which grid index it rounds to), or too close to call. Every comparison has
a margin larger than all rounding errors, so the first two decisions are always right. The last
kind, a few in a million on usual grids, is settled in ball arithmetic by `refine`. Refused values
get another trial. All values take the same arithmetic, so the time does not depend on them.

Proof, and every margin: docs/proofs/sampler.md.
"""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from inbounds.numerics.noise import Noise
from inbounds.numerics.noises import NOISES
from inbounds.sampling.compiled import (
    AS_FRACTION,
    AS_INTEGER,
    DIGEST,
    LOW_32,
    TWO_52,
    U64,
    compiled,
    exp,
    fma,
    fraction,
    inlined,
    keyed,
)
from inbounds.sampling.grid import REFUSED, even_number
from inbounds.sampling.proposal import choose
from inbounds.sampling.strips import strips

UNSURE = -2.0  # in place of an index, as REFUSED

# One entry for each of NOISES; `which` is the index.
_TABLES = tuple(strips(noise) for noise in NOISES)
_OFFSET = (0, _TABLES[0].count // 2)
_MIDDLE = tuple(table.count // 2 for table in _TABLES)
_INNER = np.concatenate([table.edges[table.count // 2 : -1] for table in _TABLES])
_WIDTH = np.concatenate([table.widths[table.count // 2 :] for table in _TABLES])
_HEIGHT = tuple(table.height for table in _TABLES)

_TWO_32 = 4294967296.0
_V_MARGIN = 0.125  # in units of 2**-32
_PLAIN = (32.0, 8192.0)  # in wider strips nothing is accepted here, only refused by the window

_TILE = 512  # values whose intermediate results stay in the nearest cache
_STAGGER = 128  # space between rows, as addresses equal modulo 4096 would stall the processor


@inlined
def _decide(which, narrow, a, b, strip, thin, window, caution):
    """Return a grid index, or REFUSED, or UNSURE.

    The low half of `a` decides acceptance, and `b` is the place in the strip. Tables hold one side
    only, so they are half as long, and every value reads the same part of them. `window` is the
    value's place between the bounds, their distance in units of the scale, and the scale and the
    width in grid steps.
    """
    place, u, stretch, span = window
    v = np.uint64((a & LOW_32) | AS_INTEGER).view(np.float64) - TWO_52
    inside = np.uint64((b >> U64(12)) | AS_FRACTION).view(np.float64) - 1.0
    if narrow:
        width, weight = u, _TWO_32
        z = fma(width, inside, -place * u)
    else:
        middle = (
            np.float64(np.int32(strip - _MIDDLE[which])) + 0.5
        )  # centre of the strip, in strips
        side = math.copysign(1.0, middle)
        outward = _OFFSET[which] + np.int64(np.int32(abs(middle)))
        width, inner = _WIDTH[outward], _INNER[outward]
        weight = width * (_HEIGHT[which] * _TWO_32)
        z = side * fma(width, 0.5 + side * (inside - 0.5), inner)
    exponent = -0.5 * z * z if which == 0 else -abs(z)
    chance = weight * exp(max(exponent, -700.0)) * thin
    x = fma(stretch, z, place * span)
    margin = fma(stretch * 2.0**-50, width, span * 2.0**-48 + caution)
    y = x + 0.5
    index = np.floor(y)
    part = y - index
    plain = width <= _PLAIN[which]
    sure = (v + (1.0 + _V_MARGIN) <= chance) & plain & (x > margin) & (x < span - margin)
    sure &= (part > margin) & (part < 1.0 - margin)
    refused = ((v >= chance + _V_MARGIN) & plain) | (x < -margin) | (x > span + margin)
    return index if sure else (REFUSED if refused else UNSURE)


@cache
def compiled_loops(noise: Noise, narrow: bool, joint: bool) -> tuple[Callable[..., Any], ...]:
    """Return the loops `attempt` and `settle`, compiled for a distribution and kind of window.

    With `joint` there are parameters for each value; otherwise all values share them.
    """
    constants = NOISES.index(noise), narrow, joint, DIGEST
    return _make_attempt(*constants), _make_settle(*constants)


def _make_attempt(which, narrow, joint, digest):
    @compiled
    def attempt(words, values, parameters, caution, indices, pending):
        """Try every value once, with words[i] and words[size + i].

        Returns the number of values that have no index yet; the first entries of `pending`, which
        is as long as the values, are their places.

        Strips are chosen for a tile of values before any table is read, because in a single loop
        the compiler would not vectorise the arithmetic of the choice.
        """
        lower, per_width, least, u, target, stretch, span = parameters
        size = keyed(values.size, digest)
        scratch = np.empty((4, _TILE + _STAGGER))
        places, strip = scratch[0], scratch.view(np.int64)[1]
        thin, outcomes = scratch[2], scratch[3]
        count = 0
        for start in range(0, size, _TILE):
            tile = min(_TILE, size - start)
            for i in range(tile):
                k = start + i if joint else 0
                places[i] = fraction(values[start + i], lower[k], per_width[k], least[k])
                strip[i], thin[i] = choose(
                    which, narrow, words[start + i], places[i], u[k], target[k]
                )
            for i in range(tile):
                k = start + i if joint else 0
                a, b = words[start + i], words[size + start + i]
                window = places[i], u[k], stretch[k], span[k]
                outcomes[i] = _decide(which, narrow, a, b, strip[i], thin[i], window, caution)
            for i in range(tile):
                indices[start + i] = outcomes[i]
                if outcomes[i] < 0:
                    pending[count] = start + i
                    count += 1
        return count

    return attempt


def _make_settle(which, narrow, joint, digest):
    @compiled
    def settle(
        words, values, parameters, caution, indices, pending, position, spare, unsure, unsure_words
    ):
        """Try refused values again until none is left, and list those too close to call.

        Goes through `pending` from `position` on, with the words from `spare` on. Returns where it
        stopped, at the end or when it ran out of words or room, and how many values it listed.
        """
        lower, per_width, least, u, target, stretch, span = parameters
        size, listed = values.size, 0
        count = keyed(pending.size, digest)
        for at in range(position, count):
            i = pending[at]
            if listed == unsure.size:
                return at, spare, listed
            a, b = words[i], words[size + i]
            while indices[i] == REFUSED:
                if spare + 2 > words.size:
                    return at, spare, listed
                k = i if joint else 0
                a, b = words[spare], words[spare + 1]
                spare += 2
                place = fraction(values[i], lower[k], per_width[k], least[k])
                strip, thin = choose(which, narrow, a, place, u[k], target[k])
                window = place, u[k], stretch[k], span[k]
                indices[i] = _decide(which, narrow, a, b, strip, thin, window, caution)
            if indices[i] == UNSURE:
                unsure[listed], unsure_words[listed, 0], unsure_words[listed, 1] = i, a, b
                listed += 1
        return count, spare, listed

    return settle


_even_number = inlined(even_number)


def _make_write_even(digest):
    @compiled
    def write_even(indices, lower, upper, intervals):
        """Turn indices of evenly divided boxes into numbers, in place."""
        for i in range(keyed(indices.size, digest)):
            k = i if lower.size > 1 else 0
            indices[i] = _even_number(indices[i], lower[k], upper[k], intervals[k])

    return write_even


write_even = _make_write_even(DIGEST)
