"""Sources of random bits, which are an argument of every sampler and never global state."""

import hashlib
import os
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

Words = NDArray[np.uint64]
_ZEROS = bytes(1 << 20)
_FEW = 640  # words for which a cipher is not worth its start
_FROM_ZERO = modes.CTR(bytes(16))


class Entropy(Protocol):
    """A source of independent, uniformly random bits.

    Guarantees
    ----------
    A release is only as private as its bits are unpredictable. A sampler relies on every bit being
    fair and independent of all others, those of copies of this process included.
    """

    def bits(self, count: int) -> int:
        """Return an integer made of `count` fresh random bits, `count` at least 1."""
        ...

    def words(self, count: int) -> Words:
        """Return a new array of `count` words of 64 fresh random bits."""
        ...


@dataclass(frozen=True, slots=True)
class SystemEntropy:
    """The operating system's cryptographic generator.

    Many words are the keystream of AES-256 in counter mode, under a fresh key from the operating
    system that is discarded after the call; few are bytes of the operating system itself. Nothing
    is kept between calls, so forked processes, threads, copies and pickles can never repeat each
    other's bits.

    Examples
    --------
    >>> 0 <= SystemEntropy().bits(3) < 8
    True
    """

    def bits(self, count: int) -> int:
        """Return an integer made of `count` fresh random bits."""
        return int.from_bytes(os.urandom((count + 7) // 8)) >> -count % 8

    def words(self, count: int) -> Words:
        """Return a new array of `count` words of 64 fresh random bits."""
        if count <= _FEW:
            return np.frombuffer(bytearray(os.urandom(8 * count)), np.uint64)
        return _keystream(os.urandom(32), count)


@dataclass(slots=True)
class SeededEntropy:
    """A repeatable stream for tests. **Not private**: the seed determines every bit.

    Each call hashes the seed with a counter, so different seeds give unrelated streams, and a seed
    gives the same stream on every machine. A copy or a forked process repeats the original's bits.

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
        return int.from_bytes(state.digest((count + 7) // 8)) >> -count % 8

    def words(self, count: int) -> Words:
        """Return the next `count` words of the stream."""
        return _keystream(self.bits(256).to_bytes(32), count)


SYSTEM = SystemEntropy()
"""The default source."""


def _keystream(key: bytes, count: int) -> Words:
    """Return AES-256-CTR under a key that is used only once, so a fixed first counter is safe."""
    encryptor = Cipher(algorithms.AES256(key), _FROM_ZERO).encryptor()
    words = np.empty(count + 2, np.uint64)  # the cipher needs room for one more block
    size = 8 * count
    zeros = memoryview(_ZEROS)[:size] if size <= len(_ZEROS) else bytes(size)
    encryptor.update_into(zeros, words.view(np.uint8).data)
    return words[:count]
