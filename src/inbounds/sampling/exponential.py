"""An exponential of sums and products only, so that every machine makes the same decisions.

For a float and for arrays, with the same bits. The error is far below the margins of a trial.
"""

from collections.abc import Sequence
from math import ldexp

import numpy as np

from inbounds._types import Floats

LEAST = -700.0
"""The smallest argument; e to the power of it counts as zero."""

LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10
ROUNDER = 6755399441055744.0  # 1.5 * 2**52: adding it rounds to an integer in the low bits
TAYLOR = (1 / 362880, 1 / 40320, 1 / 5040, 1 / 720, 1 / 120, 1 / 24, 1 / 6, 0.5, 1.0, 1.0)

_LARGE_EXPONENT = 300.0  # Python keeps integers from -5 to 256, and finds them sooner than others
_LARGE = 2.0**_LARGE_EXPONENT
_C9, _C8, _C7, _C6, _C5, _C4, _C3, _, _, _ = TAYLOR
# Arrays without axes, which save a ufunc the conversion of a number.
_LOG2_E, _LN2_HIGH, _LN2_LOW, _ROUNDER = map(np.array, (LOG2_E, LN2_HIGH, LN2_LOW, ROUNDER))
_FIRST, *_MIDDLE, _LAST = map(np.array, TAYLOR)
_BIAS, _MANTISSA = np.array(1023), np.array(52)


def exp(x: float) -> float:
    """Return e**x for LEAST <= x <= 0, with a relative error below 2**-36.

    Proof: docs/proofs/sampler.md, theorem 8.

    Examples
    --------
    >>> import math
    >>> exp(0.0), abs(exp(-3.0) / math.exp(-3.0) - 1) < 2.0**-36
    (1.0, True)
    """
    n = (x * LOG2_E + ROUNDER) - ROUNDER
    r = (x - n * LN2_HIGH) - n * LN2_LOW
    p = ((((r * _C9 + _C8) * r + _C7) * r + _C6) * r + _C5) * r + _C4
    scaled = ((((p * r + _C3) * r + 0.5) * r + 1.0) * r + 1.0) * _LARGE
    return ldexp(scaled, int(n - _LARGE_EXPONENT))  # exact: powers of two, no result is subnormal


def exp_in_place(x: Floats, scratch: Sequence[Floats]) -> None:
    """Replace every x by its exponential; `scratch` is three arrays of the same shape.

    Proof of the error: docs/proofs/sampler.md, theorem 8.

    Examples
    --------
    >>> x = np.array([-3.0, -0.1])
    >>> exp_in_place(x, np.empty((3, 2)))
    >>> x.tolist() == [exp(-3.0), exp(-0.1)]
    True
    """
    shifted, n, r = scratch
    np.multiply(x, _LOG2_E, out=shifted)
    np.add(shifted, _ROUNDER, out=shifted)
    np.subtract(shifted, _ROUNDER, out=n)
    np.multiply(n, _LN2_HIGH, out=r)
    np.subtract(x, r, out=r)
    np.multiply(n, _LN2_LOW, out=n)
    np.subtract(r, n, out=r)
    np.multiply(r, _FIRST, out=x)
    for coefficient in _MIDDLE:
        np.add(x, coefficient, out=x)
        np.multiply(x, r, out=x)
    np.add(x, _LAST, out=x)
    bits = shifted.view(np.int64)  # of 2**n
    np.add(bits, _BIAS, out=bits)
    np.left_shift(bits, _MANTISSA, out=bits)
    np.multiply(x, shifted, out=x)
