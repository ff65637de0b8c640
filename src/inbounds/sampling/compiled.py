"""What the compiled loops share: compiler options, and arithmetic that is inlined in them.

Compiled code is cached between runs, under a key that covers only the file of the loop itself.
DIGEST covers everything else that is compiled into a loop. Loops are made by functions that take
it as an argument, so that it becomes part of the key.

Proof, and the errors of the arithmetic: docs/proofs/sampler.md.
"""

import hashlib
from pathlib import Path

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic

from inbounds.numerics.noises import NOISES
from inbounds.sampling.strips import STRIPS, strips

SOURCES = (
    "atoms.py",
    "compiled.py",
    "grid.py",
    "kernel.py",
    "proposal.py",
    "staircase_kernel.py",
    "table_kernel.py",
    "window_kernel.py",
)
"""All modules that contain compiled code."""

U64 = np.uint64
LOW_32 = np.uint64(0xFFFFFFFF)
AS_INTEGER = np.uint64(0x4330000000000000)  # the exponent of 2**52
TWO_52 = 4503599627370496.0
AS_FRACTION = np.uint64(0x3FF0000000000000)  # the exponent of 1

TINY = 2.0**-960  # smaller numbers count as zero
_TINY_BITS = np.int64((1023 - 960) << 52)
_MAGNITUDE = np.int64(0x7FFFFFFFFFFFFFFF)

_LOG2_E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10
_ROUNDER = 6755399441055744.0  # 1.5 * 2**52: adding it rounds to an integer in the low bits

inlined = numba.njit(inline="always", error_model="numpy")
compiled = numba.njit(nogil=True, error_model="numpy", cache=True)


def digest(folder: Path = Path(__file__).parent) -> int:
    """Return a number that changes if a source file in `folder` or a table of strips changes.

    If there are no source files, as in an archive, numba's key has the time of the archive.
    """
    content = hashlib.sha256()
    for source in sorted(folder.glob("*.py")):
        if source.name in SOURCES:
            content.update(source.read_bytes())
    for table in map(strips, NOISES):
        content.update(table.edges.tobytes() + np.array([STRIPS, table.height]).tobytes())
    return int(content.hexdigest()[:15], 16)


DIGEST = digest()


@inlined
def keyed(number, digest):
    """Return the number; the digest, which is never 0, becomes part of the loop's cache key."""
    return number if digest else 0


@intrinsic
def fma(context, x, y, z):
    """Return x * y + z with one rounding, in one instruction.

    It is explicit because a compiler that is free to fuse operations could round the choice of
    strips differently in two places.
    """
    signature = types.float64(types.float64, types.float64, types.float64)
    return signature, lambda _, builder, __, arguments: builder.fma(*arguments)


@inlined
def exp(x):
    """Return e**x for -700 <= x <= 0 with a relative error below 2**-36, without branches."""
    shifted = fma(x, _LOG2_E, _ROUNDER)
    n = shifted - _ROUNDER
    r = fma(n, -_LN2_LOW, fma(n, -_LN2_HIGH, x))
    p = fma(r, 1 / 362880, 1 / 40320)
    p = fma(p, r, 1 / 5040)
    p = fma(p, r, 1 / 720)
    p = fma(p, r, 1 / 120)
    p = fma(p, r, 1 / 24)
    p = fma(p, r, 1 / 6)
    p = fma(p, r, 0.5)
    p = fma(p, r, 1.0)
    p = fma(p, r, 1.0)
    bits = np.float64(shifted).view(np.int64)
    return p * np.int64((bits + np.int64(1023)) << np.int64(52)).view(np.float64)


@inlined
def fraction(value, lower, per_width, least):
    """Return the place of a value between the bounds, from 0 to 1; 0 if it is below lower + least.

    Processors are slower on subnormal numbers, which would reveal them, so tiny values are
    recognised by their bits and count as zero.
    """
    bits = np.float64(value).view(np.int64) & _MAGNITUDE
    offset = (value if bits >= _TINY_BITS else 0.0) - lower
    return min((offset if offset >= least else 0.0) * per_width, 1.0)
