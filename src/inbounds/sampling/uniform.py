"""An ideal uniform number of which only the bits that matter are ever drawn.

A comparison with such a number is made for all numbers that start with the bits drawn so far. It
is decided if all of them give the same outcome; otherwise more bits are drawn. Rounding errors
never decide.

Proof: docs/proofs/reference.md, theorem 2.
"""

from collections.abc import Callable
from typing import TypeVar

from flint import arb, ctx

from inbounds.sampling.entropy import Entropy

_CHUNK = 64  # bits drawn at a time; the first chunk nearly always decides

Outcome = TypeVar("Outcome")


class Uniform:
    """A uniform number in [0, 1] that starts with `bits`, `count` of them.

    Parameters
    ----------
    entropy
        Where bits come from.
    bits, count
        The first bits, if they have been drawn already, and their number. Without them the first
        64 are drawn.

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
        """Draw 64 further bits."""
        self.bits = self.bits << _CHUNK | self.entropy.bits(_CHUNK)
        self.count += _CHUNK

    @property
    def ball(self) -> arb:
        """All numbers that start with the bits, from end to end."""
        return arb((2 * self.bits + 1, -self.count - 1), (1, -self.count - 1))

    @property
    def low(self) -> arb:
        """The least of them, exactly."""
        return arb((self.bits, -self.count))

    @property
    def high(self) -> arb:
        """The greatest of them, exactly."""
        return arb((self.bits + 1, -self.count))


def settled(decide: Callable[[], Outcome | None], *uniforms: Uniform, guard: int) -> Outcome:
    """Return what `decide` returns, once it is not None.

    As long as it is None, 64 more bits of each of `uniforms` are drawn, in the order given.
    `decide` runs in a working precision of `guard` bits beyond those of the longest.

    The working precision of python-flint is one global number, not one per thread. Another thread
    that changes it meanwhile can make balls wider and so cost bits; it cannot change an outcome.
    """
    while True:
        with ctx.workprec(max([uniform.count for uniform in uniforms]) + guard):
            outcome = decide()
        if outcome is not None:
            return outcome
        for uniform in uniforms:
            uniform.refine()
