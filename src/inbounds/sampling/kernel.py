"""The fast exact sampler: one branch-free trial per value, compiled for whole blocks.

A trial proposes a strip and a point in it, and decides in double precision whether the point is
refused, accepted (and which grid index it rounds to), or too close to call. Every comparison keeps
a margin above all rounding errors, so the first two are always right; the last, a few in a
million on usual grids, is settled in ball arithmetic by `refine`. Refused values get another
trial. All values take the same arithmetic, and thinning gives all the same chance of acceptance,
so time tells nothing of them.

The tables are constants to the compiler: it can then prove that nothing writes to them, and
vectorises the loop.

Proof, and every margin: docs/proofs/sampler.md.
"""

import hashlib
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic

from inbounds.numerics.noise import Noise
from inbounds.numerics.noises import NOISES
from inbounds.sampling.strips import STRIPS, strips

REFUSED, UNSURE = -1.0, -2.0  # in place of an index

# Of each of NOISES, whose place among them is called `which`.
NARROW = dict(
    zip(NOISES, (0.42, 0.05), strict=True)
)  # windows up to this width are one strip by themselves
_TABLES = tuple(strips(noise) for noise in NOISES)
_OFFSET = (0, _TABLES[0].count // 2)
_MIDDLE = tuple(table.count // 2 for table in _TABLES)
_HALF = tuple(float(table.count // 2) for table in _TABLES)
_INNER = np.concatenate([table.edges[table.count // 2 : -1] for table in _TABLES])
_WIDTH = np.concatenate([table.widths[table.count // 2 :] for table in _TABLES])
_HEIGHT = tuple(table.height for table in _TABLES)
_CONSTANTS = _INNER.tobytes() + _WIDTH.tobytes() + np.array([STRIPS, *_HEIGHT]).tobytes()
_DIGEST = int(hashlib.sha256(_CONSTANTS).hexdigest()[:15], 16)  # keys the cache of compiled code
_SPARE, _EXCESS = 1.05, (0.37, 0.6)  # strips beyond STRIPS * mass that a window may need

_LOG2_E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10
_ROUNDER = 6755399441055744.0  # 1.5 * 2**52: adding it rounds to an integer, held in the low bits
_TWO_52 = 4503599627370496.0
_TWO_32 = 4294967296.0
_V_MARGIN = 0.125  # in units of 2**-32
_PLAIN = (32.0, 8192.0)  # strips wider than this decide by the window alone

_TILE = 512  # values whose intermediate results stay in the nearest cache
_STAGGER = 128  # between their rows: addresses equal modulo 4096 would stall the processor

TINY = 2.0**-960  # smaller numbers count as zero
LEAST_SHARE = 2.0**-64  # of the width: values closer to the lower bound are at it, to the kernel
_TINY_BITS = np.int64((1023 - 960) << 52)
_MAGNITUDE = np.int64(0x7FFFFFFFFFFFFFFF)

_U = np.uint64
_LOW_32 = np.uint64(0xFFFFFFFF)
_AS_INTEGER = np.uint64(0x4330000000000000)  # the exponent of 2**52
_AS_FRACTION = np.uint64(0x3FF0000000000000)  # the exponent of 1

_inline = numba.njit(inline="always", error_model="numpy")
_compiled = numba.njit(nogil=True, error_model="numpy", cache=True)


@intrinsic
def _fma(context, x, y, z):
    """Return x * y + z with one rounding, in one instruction.

    Written out, since a compiler left to fuse what it likes could round the choice of strips
    differently in two places.
    """
    signature = types.float64(types.float64, types.float64, types.float64)
    return signature, lambda _, builder, __, arguments: builder.fma(*arguments)


@_inline
def _exp(x):
    """Return e**x for -700 <= x <= 0 with a relative error below 2**-36, without branches."""
    shifted = _fma(x, _LOG2_E, _ROUNDER)
    n = shifted - _ROUNDER
    r = _fma(n, -_LN2_LOW, _fma(n, -_LN2_HIGH, x))
    p = _fma(r, 1 / 362880, 1 / 40320)
    p = _fma(p, r, 1 / 5040)
    p = _fma(p, r, 1 / 720)
    p = _fma(p, r, 1 / 120)
    p = _fma(p, r, 1 / 24)
    p = _fma(p, r, 1 / 6)
    p = _fma(p, r, 0.5)
    p = _fma(p, r, 1.0)
    p = _fma(p, r, 1.0)
    bits = np.float64(shifted).view(np.int64)
    return p * np.int64((bits + np.int64(1023)) << np.int64(52)).view(np.float64)


@_inline
def _share(value, lower, per_width, least):
    """Return the place of a value between the bounds: 0 to 1, and 0 below `least` above `lower`.

    Subnormal numbers take processors longer, so none is ever computed with: tiny values are told
    by their bits and count as zero.
    """
    bits = np.float64(value).view(np.int64) & _MAGNITUDE
    offset = (value if bits >= _TINY_BITS else 0.0) - lower
    return min((offset if offset >= least else 0.0) * per_width, 1.0)


@_inline
def _sixteenth_root(x):
    """Return the sixteenth root of 1/(1 - erf(x/√2)), so that the share is good to 4e-7."""
    t = x * 0.7071067811865476
    p = _fma(t, 4.30638e-5, 2.765672e-4)
    p = _fma(p, t, 1.520143e-4)
    p = _fma(p, t, 9.2705272e-3)
    p = _fma(p, t, 4.22820123e-2)
    p = _fma(p, t, 7.05230784e-2)
    return _fma(p, t, 1.0)


@_inline
def _shares(which, left, right):
    """Return about the shares of each half of the density's mass within two distances."""
    if which == 1:
        return 1.0 - _exp(max(-left, -700.0)), 1.0 - _exp(max(-right, -700.0))
    p, q = _sixteenth_root(min(left, 20.0)), _sixteenth_root(min(right, 20.0))
    p, q = p * p, q * q
    p, q = p * p, q * q
    p, q = p * p, q * q
    p, q = p * p, q * q
    both = 1.0 / (p * q)
    return 1.0 - q * both, 1.0 - p * both


@_inline
def _proposal(which, narrow, share, u, target):
    """Return the first strip, how many there are, and the thinning, of a value at `share` of u.

    `share` is the value's place between the bounds, `u` their distance in units of the scale. The
    strips cover the window, with a few to spare.
    """
    if narrow:
        near, far = share, 1.0 - share
        if which == 0:
            mass = 1 - u * u * ((near**3 + far**3) / 6 - u * u * (near**5 + far**5) / 40)
        else:
            mass = 1 - u * ((near**2 + far**2) / 2 - u * (near**3 + far**3) / 6)
        return 0.0, 1.0, min(1.0, target / mass)
    left = share * u
    right = u - left
    below, above = _shares(which, left, right)
    far_left, far_right = (left * left, right * right) if which == 0 else (left, right)
    spare, excess = _SPARE, _EXCESS[which]
    down = np.floor(min(STRIPS * below + spare + excess * far_left, _HALF[which]))
    up = np.floor(min(STRIPS * above + spare + excess * far_right, _HALF[which]))
    many = down + up
    return _HALF[which] - down, many, min(1.0, target * many / (STRIPS * (below + above)))


@_inline
def _choose(which, narrow, a, share, u, target):
    """Return the strip that the high half of `a` chooses, and the thinning, NaN if undecided."""
    first, many, thin = _proposal(which, narrow, share, u, target)
    product = (a >> _U(32)) * _U(np.uint32(np.int32(many)))
    rest = np.uint64((product & _LOW_32) | _AS_INTEGER).view(np.float64) - _TWO_52
    strip = np.int64(np.int32(first)) + np.int64(product >> _U(32))
    return strip, thin if rest >= many else np.nan


@_inline
def _decide(which, narrow, a, b, strip, thin, share, u, stretch, span, caution):
    """Return a grid index, or REFUSED, or UNSURE.

    The low half of `a` decides acceptance, `b` is the place in the strip. Tables hold one side:
    half as long, and every value reads the same part of them. `stretch` is the scale
    and `span` the width, both in grid steps.
    """
    v = np.uint64((a & _LOW_32) | _AS_INTEGER).view(np.float64) - _TWO_52
    inside = np.uint64((b >> _U(12)) | _AS_FRACTION).view(np.float64) - 1.0
    if narrow:
        width, weight = u, _TWO_32
        z = _fma(width, inside, -share * u)
    else:
        middle = np.float64(np.int32(strip - _MIDDLE[which])) + 0.5  # of the strip, in strips
        side = math.copysign(1.0, middle)
        outward = _OFFSET[which] + np.int64(np.int32(abs(middle)))
        width, inner = _WIDTH[outward], _INNER[outward]
        weight = width * (_HEIGHT[which] * _TWO_32)
        z = side * _fma(width, 0.5 + side * (inside - 0.5), inner)
    exponent = -0.5 * z * z if which == 0 else -abs(z)
    chance = weight * _exp(max(exponent, -700.0)) * thin
    x = _fma(stretch, z, share * span)
    margin = _fma(stretch * 2.0**-50, width, span * 2.0**-48 + caution)
    y = x + 0.5
    index = np.floor(y)
    part = y - index
    plain = width <= _PLAIN[which]
    sure = (v + (1.0 + _V_MARGIN) <= chance) & plain & (x > margin) & (x < span - margin)
    sure &= (part > margin) & (part < 1.0 - margin)
    refused = ((v >= chance + _V_MARGIN) & plain) | (x < -margin) | (x > span + margin)
    return index if sure else (-1.0 if refused else -2.0)


@cache
def loops(noise: Noise, narrow: bool, joint: bool) -> tuple[Callable[..., Any], ...]:
    """Compile the loops for one distribution and kind of window, constants in the machine code.

    `joint` says whether parameters come one per value or once for all. The digest of the tables
    is part of the key under which the compiled code is cached.
    """
    made: tuple[Callable[..., Any], ...] = _make(NOISES.index(noise), narrow, joint, _DIGEST)
    return made


def _make(which, narrow, joint, digest):
    @_compiled
    def attempt(
        words,
        values,
        lower,
        per_width,
        least,
        u,
        target,
        stretch,
        span,
        caution,
        indices,
        pending,
    ):
        """Try every value once, with words[i] and words[size + i].

        Returns how many have no index yet; `pending`, as long as the values, lists them first.

        Strips are chosen for a tile of values before any table is read: in one loop the compiler
        would do the arithmetic of the choice one value at a time.
        """
        size = values.size if digest else 0  # always true; it puts the digest in the key
        scratch = np.empty((3, _TILE + _STAGGER))
        shares, strip, thin = scratch[0], scratch.view(np.int64)[1], scratch[2]
        count = 0
        for start in range(0, size, _TILE):
            tile = min(_TILE, size - start)
            for i in range(tile):
                k = start + i if joint else 0
                shares[i] = _share(values[start + i], lower[k], per_width[k], least[k])
                strip[i], thin[i] = _choose(
                    which, narrow, words[start + i], shares[i], u[k], target[k]
                )
            for i in range(tile):
                k = start + i if joint else 0
                thin[i] = _decide(
                    which,
                    narrow,
                    words[start + i],
                    words[size + start + i],
                    strip[i],
                    thin[i],
                    shares[i],
                    u[k],
                    stretch[k],
                    span[k],
                    caution,
                )
            for i in range(tile):
                indices[start + i] = thin[i]
                if thin[i] < 0:
                    pending[count] = start + i
                    count += 1
        return count

    @_compiled
    def settle(
        words,
        values,
        lower,
        per_width,
        least,
        u,
        target,
        stretch,
        span,
        caution,
        indices,
        pending,
        position,
        spare,
        unsure,
        unsure_words,
    ):
        """Try refused values again until none is left; list what is too close to call.

        Goes through `pending` from `position`, with the words from `spare` on, and returns where
        it stopped: at the end, or where words or room for the list ran out.
        """
        size, found = values.size, 0
        count = pending.size if digest else 0  # always true; it puts the digest in the key
        for at in range(position, count):
            i = pending[at]
            if found == unsure.size:
                return at, spare, found
            if indices[i] == UNSURE:
                unsure[found], unsure_words[found, 0] = i, words[i]
                unsure_words[found, 1] = words[size + i]
                found += 1
            while indices[i] == REFUSED:
                if spare + 2 > words.size:
                    return at, spare, found
                k = i if joint else 0
                a, b = words[spare], words[spare + 1]
                spare += 2
                share = _share(values[i], lower[k], per_width[k], least[k])
                strip, thin = _choose(which, narrow, a, share, u[k], target[k])
                indices[i] = _decide(
                    which,
                    narrow,
                    a,
                    b,
                    strip,
                    thin,
                    share,
                    u[k],
                    stretch[k],
                    span[k],
                    caution,
                )
                if indices[i] == UNSURE:
                    unsure[found], unsure_words[found, 0], unsure_words[found, 1] = i, a, b
                    found += 1
        return count, spare, found

    return attempt, settle


def _make_helpers(digest):
    @_compiled
    def propose(which, narrow, value, lower, per_width, least, u, target):
        """Return the strips and the thinning of one value, by the same arithmetic as the loops."""
        value = value if digest else lower  # always true; it puts the digest in the key
        share = _share(value, lower, per_width, least)
        return _proposal(which, narrow, share, u, target)

    @_compiled
    def least_acceptance(which, narrow, u):
        """Return about the least chance of acceptance over all values, for each width u."""
        least = np.ones(u.size if digest else 0)
        for i in range(u.size):
            for part in range(65):
                thin = _proposal(which, narrow, part / 128, u[i], 1e-3)[2]
                least[i] = min(least[i], 1e-3 / thin)
        return least

    return propose, least_acceptance


propose, least_acceptance = _make_helpers(_DIGEST)


@_compiled
def place(indices, lower, upper, intervals):
    """Turn indices of evenly divided boxes into numbers, in place, as `grid.even_points` does."""
    for i in range(indices.size):
        k = i if lower.size > 1 else 0
        share = indices[i] / intervals[k]
        number = min(share * (upper[k] - lower[k]) + lower[k], upper[k])
        indices[i] = upper[k] if share == 1.0 else number
