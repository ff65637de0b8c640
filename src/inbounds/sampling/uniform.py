"""An ideal uniform number of which only the necessary bits are drawn.

A comparison with it is made for all numbers that start with the bits drawn so far. It is decided if
all of them give the same outcome; otherwise more bits are drawn. Rounding errors never decide.
"""

from collections.abc import Callable
from typing import TypeVar

from flint import arb, ctx

from inbounds.sampling.entropy import Entropy

_CHUNK = 64  # bits drawn at a time; the first chunk nearly always decides

Outcome = TypeVar("Outcome")


class Uniform:
    """A uniform number in [0, 1] whose first `count` bits are `bits`.

    Parameters
    ----------
    entropy
        The source of bits.
    bits, count
        The first bits, if they have been drawn already, and their number. By default the first 64
        bits are drawn.

    Examples
    --------
    >>> from inbounds.sampling.entropy import SYSTEM
    >>> u = Uniform(SYSTEM, 0b101, 3)  # between 5/8 and 6/8
    >>> u.refine()
    >>> u.count, u.bits >> 64
    (67, 5)
    >>> bool(u.low >= 0.625), bool(u.high <= 0.75)
    (True, True)
    """

    __slots__ = ("bits", "count", "entropy")

    def __init__(self, entropy: Entropy, bits: int = 0, count: int = 0) -> None:
        self.entropy, self.bits, self.count = entropy, bits, count
        if not count:
            self.refine()

    def refine(self) -> None:
        """Draw 64 more bits."""
        self.bits = self.bits << _CHUNK | self.entropy.bits(_CHUNK)
        self.count += _CHUNK

    @property
    def ball(self) -> arb:
        """The interval of all numbers that start with the bits."""
        return arb((2 * self.bits + 1, -self.count - 1), (1, -self.count - 1))

    @property
    def low(self) -> arb:
        """The smallest of these numbers, exactly."""
        return arb((self.bits, -self.count))

    @property
    def high(self) -> arb:
        """The largest of these numbers, exactly."""
        return arb((self.bits + 1, -self.count))


def refine_until_decided(
    decide: Callable[[], Outcome | None], *uniforms: Uniform, guard: int
) -> Outcome:
    """Call `decide` until it returns an outcome other than None, and return that.

    After each None, 64 more bits of each of `uniforms` are drawn, in the order given. `decide` runs
    in a working precision of `guard` bits more than the longest of them has. Proof:
    docs/proofs/reference.md, theorem 2.

    The working precision of python-flint is one global number, not one per thread. Another thread
    that changes it meanwhile can make balls wider, which costs bits, but cannot change an outcome.
    """
    while True:
        with ctx.workprec(max([uniform.count for uniform in uniforms]) + guard):
            outcome = decide()
        if outcome is not None:
            return outcome
        for uniform in uniforms:
            uniform.refine()
