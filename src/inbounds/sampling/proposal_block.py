"""The strips that trials of many values propose, and their thinning, by NumPy.

The arithmetic is that of `propose` in `trial`, bit by bit, on rows of scratch.

Proof: docs/proofs/sampler.md, theorem 5.
"""

from functools import cache
from typing import Self

import numpy as np
from numpy.typing import NDArray

from inbounds._types import Floats
from inbounds.numerics.noise import Noise
from inbounds.numerics.normal import NORMAL
from inbounds.sampling.exponential import LEAST, exp_in_place
from inbounds.sampling.plan import EXCESS, FARTHEST, ROOT, SPARE, Parameters
from inbounds.sampling.strips import STRIPS, strips

_PAIRS = 6
_STAGGER = 64  # space between rows, as addresses equal modulo 4096 would stall the processor


def constant(number: float) -> NDArray[np.float64]:
    """Return an array without axes, which saves a ufunc the conversion of a number.

    Examples
    --------
    >>> constant(0.5).ndim
    0
    """
    return np.array(number)


_C0, *_C = map(constant, ROOT)
_ONE, _HALF, _SIXTH, _FORTIETH = map(constant, (1.0, 0.5, 1 / 6, 1 / 40))
_STRIPS, _TWICE, _BASE = map(constant, (STRIPS, 2 * STRIPS, STRIPS + SPARE))
_FARTHEST, _LEAST = map(constant, (FARTHEST, LEAST))
_EXCESS = {noise: constant(excess) for noise, excess in EXCESS.items()}


class Rows(list[Floats]):
    """Twelve rows of scratch. Rows 2k and 2k + 1 are one array of twice the length, `pairs[k]`."""

    pairs: list[Floats]

    @classmethod
    def of(cls, scratch: Floats, size: int) -> Self:
        """Return rows for `size` values."""
        pairs = scratch[:, : 2 * size]
        rows = cls(half for pair in pairs.reshape(_PAIRS, 2, size) for half in pair)
        rows.pairs = list(pairs)
        return rows


def scratch_for(size: int) -> Floats:
    """Return room for the trials of up to `size` values."""
    return np.empty((_PAIRS, 2 * size + _STAGGER))


@cache
def table_of(noise: Noise) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the inner edges and the widths of the strips, 2**32 heights, and half their number."""
    table = strips(noise)
    weight, half = constant(table.height * 2.0**32), constant(float(table.count // 2))
    return table.edges[:-1].copy(), table.widths, weight, half


def propose_strips(noise: Noise, given: Parameters, rows: Rows) -> None:
    """Write the first strips and their numbers to rows 0 and 1, the thinning to row 5.

    Proof: docs/proofs/sampler.md, theorems 6 and 12.
    """
    sides, lost, _, *spare = rows.pairs
    (left, right), thin = rows[:2], rows[5]
    np.subtract(given.u, left, out=right)
    if noise is NORMAL:
        np.minimum(sides, _FARTHEST, out=sides)
        np.multiply(sides, _C[-1], out=lost)
        for coefficient in _C[-2::-1]:
            np.add(lost, coefficient, out=lost)
            np.multiply(lost, sides, out=lost)
        np.add(lost, _C0, out=lost)
        for _ in range(4):
            np.multiply(lost, lost, out=lost)
        np.divide(_STRIPS, lost, out=lost)
        np.multiply(sides, sides, out=sides)
    else:
        np.negative(sides, out=lost)
        np.maximum(lost, _LEAST, out=lost)
        exp_in_place(lost, spare)
        np.multiply(lost, _STRIPS, out=lost)
    np.multiply(sides, _EXCESS[noise], out=sides)
    np.subtract(sides, lost, out=sides)
    np.add(sides, _BASE, out=sides)
    half = table_of(noise)[3]
    np.minimum(sides, half, out=sides)
    np.floor(sides, out=sides)
    np.add(left, right, out=right)
    np.subtract(half, left, out=left)
    rest = rows[2]
    np.add(rest, rows[3], out=rest)
    np.subtract(_TWICE, rest, out=rest)
    np.divide(right, rest, out=thin)
    np.multiply(thin, given.target, out=thin)
    np.minimum(thin, _ONE, out=thin)


def propose_window(noise: Noise, given: Parameters, rows: Rows) -> None:
    """Write the thinning of narrow windows to row 5. Proof: docs/proofs/sampler.md, theorem 12."""
    thin, near, far, p, q = rows[5], rows[4], rows[2], rows[6], rows[7]
    np.subtract(_ONE, near, out=far)
    np.multiply(near, near, out=p)
    np.multiply(far, far, out=q)
    a, b = rows[9], rows[10]
    np.multiply(p, near, out=a)
    np.multiply(q, far, out=b)
    u, first, second, factors = given.u, thin, p, (_SIXTH, _FORTIETH)
    np.add(a, b, out=first)
    if noise is NORMAL:
        u = u * u
        np.multiply(a, p, out=a)
        np.multiply(b, q, out=b)
        np.add(a, b, out=second)
    else:
        first, second, factors = second, first, (_HALF, _SIXTH)
        np.add(p, q, out=first)
    np.multiply(first, factors[0], out=first)
    np.multiply(second, factors[1], out=second)
    np.multiply(second, u, out=second)
    np.subtract(first, second, out=first)
    np.multiply(first, u, out=first)
    np.subtract(_ONE, first, out=first)
    np.divide(given.target, first, out=thin)
    np.minimum(thin, _ONE, out=thin)
