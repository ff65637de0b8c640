"""Trials of many values, compiled: the arithmetic of `trial` and `atoms`, bit by bit, in one pass.

Each loop is written flat, because numba needs most of its time for what surrounds the arithmetic.

Proof: docs/proofs/sampler.md, theorem 5.
"""

from collections.abc import Callable
from functools import cache

import numpy as np

from inbounds._types import Floats
from inbounds.numerics.noise import Noise
from inbounds.numerics.noises import NOISES
from inbounds.sampling import atoms
from inbounds.sampling.compiled import (
    AS_FRACTION,
    AS_INTEGER,
    DIGEST,
    LOW_32,
    TWO_52,
    U64,
    compiled,
    exp,
    keyed,
)
from inbounds.sampling.entropy import Words
from inbounds.sampling.exponential import LEAST
from inbounds.sampling.grid import REFUSED
from inbounds.sampling.plan import EXCESS, FARTHEST, ROOT, SPARE, Parameters
from inbounds.sampling.strips import STRIPS, strips
from inbounds.sampling.trial import PLAIN, UNSURE, V_MARGIN
from inbounds.sampling.trial_block import Again, BlockTrials

_TILE = 512  # values whose intermediate results stay in the nearest cache
_STAGGER = 128  # space between rows, as addresses equal modulo 4096 would stall the processor
# Neighbouring strips are far apart in memory, in rows of every 128th strip. So the strips of any
# value lie in all lines of the processor's cache that the table takes, and reading them tells
# nothing; in order, those of a value at a bound would lie in half of the lines.
_ROW_BITS, _LAST_ROW, _ROW = U64(7), U64(127), U64(9)

_, _C1, _C2, _C3, _C4, _C5, _C6 = ROOT
_STRIPS, _TWICE, _BASE = float(STRIPS), 2.0 * STRIPS, STRIPS + SPARE
_TAIL = np.array(atoms.TAIL)
_LAST = len(atoms.TAIL) - 1


def attempt(
    trials: BlockTrials, values: Floats, words: Words, indices: Floats, scratch: Floats
) -> Again:
    """Do what `trials.attempt` does."""
    size, joint = values.size, trials.given.u.ndim > 0
    loop = _trial_loop(trials.noise, trials.narrow, joint)
    pending = np.empty(size, np.intp)
    pending = pending[: loop(words, values, trials.sides, indices, pending)]
    refused = indices[pending] == REFUSED
    unsure = pending[~refused]
    if not unsure.size:
        return Again(pending[refused], unsure, [])
    pairs = np.concatenate([words[unsure], words[size + unsure]])
    again = trials.chosen(unsure).attempt(values[unsure], pairs, np.empty(unsure.size), scratch)
    return Again(pending[refused], unsure, again.proposals)


def verdicts(noise: Noise, given: Parameters, values: Floats, words: Words, _: Floats) -> Floats:
    """Do what `atoms.verdicts` does."""
    found = np.empty(values.size)
    sides = tuple(map(np.atleast_1d, (given.lower, given.least, given.per_width, given.u)))
    _verdict_loop(noise, given.u.ndim > 0)(words, values, sides, found)
    return found


@cache
def _trial_loop(noise: Noise, narrow: bool, joint: bool) -> Callable[..., int]:
    """Compile the loop for a distribution and a kind of window.

    With `joint` there are parameters for each value; otherwise all values share them.
    """
    table = strips(noise)
    constants = (
        *(NOISES.index(noise), float(table.count // 2), table.height * 2.0**32),
        *(PLAIN[noise.name], EXCESS[noise], joint, DIGEST),
    )
    if narrow:
        return _make_narrow(constants[0], joint, DIGEST)
    return _make_wide(*constants, _scattered(table.edges[:-1]), _scattered(table.widths))


def _scattered(column: Floats) -> Floats:
    """Return a column of the table in the order in which compiled trials read it."""
    strip = np.arange(column.size, dtype=np.uint64)
    scattered = np.zeros((int(_LAST_ROW) + 1) * int(_ROW))
    scattered[(strip & _LAST_ROW) * _ROW + (strip >> _ROW_BITS)] = column
    return scattered


@cache
def _verdict_loop(noise: Noise, joint: bool) -> Callable[..., None]:
    return _make_verdicts(NOISES.index(noise), joint, DIGEST)


def _make_wide(which, half, weight, widest, excess, joint, digest, edges, widths):
    # The strips, the choice of one, the margins: docs/proofs/sampler.md, theorems 4, 6, 7 and 9.
    @compiled
    def wide_trials(words, values, sides, indices, pending):
        """Try every value once, with words[i] and words[size + i].

        Returns the number of values without an index; the first entries of `pending` are their
        places. Strips are chosen for a tile of values before any table is read, because in a
        single loop the compiler would not vectorise the arithmetic of the choice. A tile is a
        slice, whose places are not negative: of a place that may be, the compiler would gather.
        """
        lower, least, per_width, u, target, stretch, span, middle, to_inner, wide, base = sides
        size = keyed(values.size, digest)
        scratch = np.empty((4, _TILE + _STAGGER))
        places, strip = scratch[0], scratch.view(np.uint64)[1]
        thins, counts = scratch[2], scratch[3]
        pended = 0
        for start in range(0, size, _TILE):
            end = min(start + _TILE, size)
            numbers, firsts = values[start:end], words[start:end]
            seconds, found = words[size + start : size + end], indices[start:end]
            for i in range(end - start):
                k = start + i if joint else 0
                place = min(max(numbers[i] - lower[k], least[k]) * per_width[k], 1.0)
                x = place * u[k]
                y = u[k] - x
                if which == 0:
                    x = min(x, FARTHEST)
                    y = min(y, FARTHEST)
                    p = (((((_C6 * x + _C5) * x + _C4) * x + _C3) * x + _C2) * x + _C1) * x + 1.0
                    q = (((((_C6 * y + _C5) * y + _C4) * y + _C3) * y + _C2) * y + _C1) * y + 1.0
                    p *= p
                    q *= q
                    p *= p
                    q *= q
                    p *= p
                    q *= q
                    p = _STRIPS / (p * p)
                    q = _STRIPS / (q * q)
                    x *= x
                    y *= y
                else:
                    p = exp(max(-x, LEAST)) * _STRIPS
                    q = exp(max(-y, LEAST)) * _STRIPS
                down = np.floor(min((x * excess - p) + _BASE, half))
                count = down + np.floor(min((y * excess - q) + _BASE, half))
                product = (firsts[i] >> U64(32)) * U64(np.uint32(np.int32(count)))
                rest = np.uint64((product & LOW_32) | AS_INTEGER).view(np.float64) - TWO_52
                places[i] = place
                chosen = np.uint64(np.uint32(np.int32(half - down))) + (product >> U64(32))
                strip[i] = (chosen & _LAST_ROW) * _ROW + (chosen >> _ROW_BITS)
                thins[i] = min(count / (_TWICE - (p + q)) * target[k], 1.0)
                counts[i] = rest - count  # not negative if the choice is certainly uniform
            for i in range(end - start):
                k = start + i if joint else 0
                word, place = firsts[i], places[i]
                v = np.uint64((word & LOW_32) | AS_INTEGER).view(np.float64) - TWO_52
                bits = np.uint64((seconds[i] >> U64(12)) | AS_FRACTION)
                width = widths[strip[i]]
                z = edges[strip[i]] + width * (bits.view(np.float64) - 1.0)
                exponent = -0.5 * (z * z) if which == 0 else -abs(z)
                over = exp(max(exponent, LEAST)) * thins[i] * width * weight - v
                x = stretch[k] * z + place * span[k]
                margin = wide[k] * width + base[k]
                index = np.rint(x)
                cut = 0.5 - margin
                off = abs(x - middle[k])
                plain = width <= widest
                sure = (over >= 1.0 + V_MARGIN) & plain & (counts[i] >= 0.0)
                sure &= (abs(x - index) < cut) & (off < cut + to_inner[k])
                refused = ((over <= -V_MARGIN) & plain) | (off > middle[k] + margin)
                found[i] = index if sure else (REFUSED if refused else UNSURE)
            for i in range(end - start):
                if found[i] < 0:
                    pending[pended] = start + i
                    pended += 1
        return pended

    return wide_trials


def _make_narrow(which, joint, digest):
    # Both margins: docs/proofs/sampler.md, theorems 7 and 9.
    @compiled
    def narrow_trials(words, values, sides, indices, pending):
        """Do the same where each window is a strip."""
        lower, least, per_width, u, target, stretch, span, middle, to_inner, wide, base = sides
        size = keyed(values.size, digest)
        pended = 0
        for start in range(0, size, _TILE):
            end = min(start + _TILE, size)
            numbers, firsts = values[start:end], words[start:end]
            seconds, found = words[size + start : size + end], indices[start:end]
            for i in range(end - start):
                k = start + i if joint else 0
                place = min(max(numbers[i] - lower[k], least[k]) * per_width[k], 1.0)
                rest = 1.0 - place
                p, q = place * place, rest * rest
                a, b = p * place, q * rest
                if which == 0:
                    square = u[k] * u[k]
                    mass = (a + b) * (1 / 6) - (a * p + b * q) * (1 / 40) * square
                    mass = 1.0 - mass * square
                else:
                    mass = 1.0 - ((p + q) * 0.5 - (a + b) * (1 / 6) * u[k]) * u[k]
                thin = min(target[k] / mass, 1.0)
                v = np.uint64((firsts[i] & LOW_32) | AS_INTEGER).view(np.float64) - TWO_52
                bits = np.uint64((seconds[i] >> U64(12)) | AS_FRACTION)
                z = u[k] * (bits.view(np.float64) - 1.0) - place * u[k]
                exponent = -0.5 * (z * z) if which == 0 else -abs(z)
                over = exp(exponent) * thin * 4294967296.0 - v
                x = stretch[k] * z + place * span[k]
                cut = 0.5 - (wide[k] * u[k] + base[k])
                index = np.rint(x)
                sure = (over >= 1.0 + V_MARGIN) & (abs(x - index) < cut)
                sure &= abs(x - middle[k]) < cut + to_inner[k]
                found[i] = index if sure else (REFUSED if over <= -V_MARGIN else UNSURE)
            for i in range(end - start):
                if found[i] < 0:
                    pending[pended] = start + i
                    pended += 1
        return pended

    return narrow_trials


def _make_verdicts(which, joint, digest):
    # The margin: docs/proofs/sampler.md, theorem 11.
    @compiled
    def verdict_loop(words, values, sides, found):
        """Write whether noise leaves the box at the bound that a word chooses."""
        lower, least, per_width, u = sides
        for i in range(keyed(values.size, digest)):
            k = i if joint else 0
            left = min(max(values[i] - lower[k], least[k]) * per_width[k], 1.0) * u[k]
            above = words[i] >> U64(63)
            distance = u[k] - left if above else left
            bits = np.uint64(((words[i] ^ (U64(0) - above)) >> U64(12)) | AS_FRACTION)
            drawn = bits.view(np.float64) - 1.0
            if which == 0:
                t = 1.0 / (distance * 0.3 + 1.0)
                s = t - 0.5
                mass = _TAIL[_LAST]
                for c in range(_LAST - 1, -1, -1):
                    mass = mass * s + _TAIL[c]
                mass = mass * t * exp(max(-0.5 * (distance * distance), LEAST))
            else:
                mass = 0.5 * exp(max(-distance, LEAST))
            margin = u[k] * atoms.MARGIN_PER_SCALE + atoms.MARGIN
            verdict = atoms.INSIDE if drawn > mass * (1.0 + margin) else atoms.UNSURE
            beyond = drawn + 2.0**-52 <= mass * (1.0 - margin)
            found[i] = atoms.BEYOND if beyond else verdict

    return verdict_loop
