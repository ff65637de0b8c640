"""Where random bits come from: an argument of every sampler, never global state."""

import hashlib
import os
from dataclasses import dataclass, field
from typing import Protocol


class Entropy(Protocol):
    """A source of independent, uniformly random bits.

    Guarantees
    ----------
    A release is as private as its bits are unpredictable: a sampler trusts that every bit is
    fair and independent of all others, of this process and of any copy of it.
    """

    def bits(self, count: int) -> int:
        """Return an integer made of `count` fresh random bits, `count` at least 1."""
        ...


@dataclass(frozen=True, slots=True)
class SystemEntropy:
    """The operating system's cryptographic generator.

    It keeps nothing between calls, so forked processes, threads, copies and pickles can never
    repeat each other's bits.

    Examples
    --------
    >>> 0 <= SystemEntropy().bits(3) < 8
    True
    """

    def bits(self, count: int) -> int:
        """Return an integer made of `count` fresh random bits."""
        return _leading_bits(os.urandom(_bytes_holding(count)), count)


@dataclass(slots=True)
class SeededEntropy:
    """A repeatable stream for tests. **Not private**: the seed tells every bit.

    Each call hashes the seed with a counter, so streams of different seeds are unrelated and the
    same on every machine. A copy or a forked process repeats the original's bits.

    Examples
    --------
    >>> SeededEntropy(7).bits(64) == SeededEntropy(7).bits(64)
    True
    """

    seed: int
    _calls: int = field(default=0, init=False, repr=False)

    def bits(self, count: int) -> int:
        """Return the next `count` bits of the stream."""
        state = hashlib.shake_256(f"{self.seed}:{self._calls}".encode())
        self._calls += 1
        return _leading_bits(state.digest(_bytes_holding(count)), count)


SYSTEM = SystemEntropy()
"""The default source."""


def _bytes_holding(count: int) -> int:
    return (count + 7) // 8


def _leading_bits(raw: bytes, count: int) -> int:
    return int.from_bytes(raw) >> (8 * len(raw) - count)
