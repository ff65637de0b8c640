"""What the compiled loops share: compiler options, and arithmetic that is inlined in them.

Compiled code is cached between runs, under a key that covers only the file of the loop itself.
DIGEST covers everything else that is compiled into a loop. Loops are made by functions that take
it as an argument, so that it becomes part of the key.
"""

import hashlib
from functools import wraps
from pathlib import Path

import numpy as np

from inbounds._extra import optional
from inbounds.numerics.noises import NOISES
from inbounds.sampling.blocks import in_compiled_code
from inbounds.sampling.exponential import LN2_HIGH, LN2_LOW, LOG2_E, ROUNDER, TAYLOR
from inbounds.sampling.strips import STRIPS, strips

with optional():
    import numba

SOURCES = (
    "atoms.py",
    "compiled.py",
    "exponential.py",
    "grid.py",
    "plan.py",
    "staircase_kernel.py",
    "table_kernel.py",
    "trial.py",
    "trial_kernel.py",
    "window_kernel.py",
)
"""All modules that contain compiled code, or constants of it."""

U64 = np.uint64
LOW_32 = np.uint64(0xFFFFFFFF)
AS_INTEGER = np.uint64(0x4330000000000000)  # the exponent of 2**52
TWO_52 = 4503599627370496.0
AS_FRACTION = np.uint64(0x3FF0000000000000)  # the exponent of 1

_C9, _C8, _C7, _C6, _C5, _C4, _C3, _, _, _ = TAYLOR

inlined = numba.njit(inline="always", error_model="numpy")


def compiled(loop):
    """Compile a loop at its first call; numba keeps it on the disk if there is a place for it.

    If what is on the disk cannot be read, or nothing can be written there, the loop is compiled for
    this process alone. The compiler may not fuse operations: docs/proofs/sampler.md, theorem 5.
    """
    options = {"nogil": True, "error_model": "numpy"}
    try:
        program = numba.njit(cache=True, **options)(loop)
    except RuntimeError:  # no folder can be written
        program = numba.njit(**options)(loop)

    @wraps(loop)
    def run(*arguments):
        nonlocal program
        with in_compiled_code:
            try:
                return program(*arguments)
            except Exception:  # loops raise nothing, so it is numba's cache
                program = numba.njit(**options)(loop)
                return program(*arguments)

    return run


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


@inlined
def exp(x):
    """Return what `exponential.exp` returns, bit by bit, without branches.

    Proof of the error: docs/proofs/sampler.md, theorem 8.
    """
    shifted = x * LOG2_E + ROUNDER
    n = shifted - ROUNDER
    r = (x - n * LN2_HIGH) - n * LN2_LOW
    p = ((((r * _C9 + _C8) * r + _C7) * r + _C6) * r + _C5) * r + _C4
    p = (((p * r + _C3) * r + 0.5) * r + 1.0) * r + 1.0
    bits = np.float64(shifted).view(np.int64)
    return p * np.int64((bits + np.int64(1023)) << np.int64(52)).view(np.float64)
