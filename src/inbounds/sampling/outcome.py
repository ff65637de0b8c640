"""Exact draws from a table of probabilities that are real numbers, by integers.

The probabilities are rounded down to multiples of 2^-32, and what is left over is one more outcome.
Walker's alias method draws from these integers exactly, with one comparison. If the leftover is
drawn, which is rare, the outcome is decided by how much rounding took from each probability, in
ball arithmetic, with bits drawn until that is certain. So no rounding affects the distribution.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from inbounds.sampling.entropy import Entropy
from inbounds.sampling.uniform import Uniform, refine_until_decided

BITS = 32
"""The random bits of one draw."""

OUTCOMES = 1023
"""The largest number of outcomes, one less than the table has places."""

_PLACES_BITS = 10
PLACE_SHIFT = BITS - _PLACES_BITS
"""By how many bits a random number is shifted to give its place."""

_PLACES = 1 << _PLACES_BITS
_WITHIN = 1 << PLACE_SHIFT  # random numbers that share a place
_PRECISION = 128

Weights = Callable[[], list[arb]]
"""Returns positive numbers in the current precision, to which probabilities are proportional."""


@dataclass(frozen=True, eq=False)
class OutcomeTable:
    """Outcomes 0, 1, …, with probabilities proportional to `weights`.

    Draws are exact. Proof: docs/proofs/staircase.md, theorem 3.

    Parameters
    ----------
    weights
        A function that computes the weights in the current precision of flint.
    kept
        Of the bits of a probability, how many are kept when it is rounded down. Fewer than 32 do
        not change the distribution, but more draws end in ball arithmetic. Tests use it.

    Examples
    --------
    >>> from inbounds.sampling.entropy import SYSTEM
    >>> table = OutcomeTable(lambda: [arb(2), arb(1)])
    >>> table.integers  # of 2^32, the last for what rounding left over
    [2863311530, 1431655765, 1]
    >>> place = table.places(SYSTEM.words(1).view(np.uint32))
    >>> bool((table.outcome[place] < 3).all())
    True
    """

    weights: Weights
    kept: int = BITS

    @cached_property
    def integers(self) -> list[int]:
        """The probability of each outcome in units of 2^-32, rounded down, and that of the rest."""
        with ctx.workprec(_PRECISION):
            units, dropped = arb(2) ** self.kept, BITS - self.kept
            weights = self.weights()
            total = sum(weights[1:], weights[0])
            rounded = [int((w * units / total).lower().floor().fmpz()) for w in weights]
        integers = [max(number, 0) << dropped for number in rounded]
        return [*integers, (1 << BITS) - sum(integers)]

    @property
    def leftover(self) -> int:
        """The index that stands for the leftover, which `settle` turns into an outcome."""
        return len(self.integers) - 1

    @cached_property
    def _alias(self) -> tuple[NDArray[np.uint32], NDArray[np.intp]]:
        limits, outcome = _walker(self.integers + [0] * (_PLACES - len(self.integers)))
        return limits, np.minimum(outcome, self.leftover)  # places beyond it are never drawn

    @property
    def limits(self) -> NDArray[np.uint32]:
        """Below which random numbers of a place lead to its own outcome."""
        return self._alias[0]

    @property
    def outcome(self) -> NDArray[np.intp]:
        """The outcome, or `leftover`, at each number that `places` returns."""
        return self._alias[1]

    def places(self, random: NDArray[np.uint32]) -> NDArray[np.intp]:
        """Return for each random number the index into `outcome`, without branches."""
        place = (random >> PLACE_SHIFT).astype(np.intp)
        own = random < self.limits.take(place)
        place <<= 1
        place += own
        return place

    @cached_property
    def place_of(self) -> Callable[[int], int]:
        """A function that returns what `places` does, for one random number."""
        limit_at = self.limits.item

        def place_of(random: int) -> int:
            place = random >> PLACE_SHIFT
            return 2 * place + (random < limit_at(place))

        return place_of

    def settle(self, entropy: Entropy) -> int:
        """Return an outcome given that the leftover was drawn.

        Its probability is what rounding down took from it, as a fraction of all that was taken.
        """
        left, uniform = self.integers[-1], Uniform(entropy)

        def decide() -> int | None:
            weights = self.weights()
            scale = arb(2) ** BITS / sum(weights[1:], weights[0])
            taken = (w * scale - n for w, n in zip(weights, self.integers, strict=False))
            for outcome, upto in enumerate(accumulate(taken)):
                if uniform.high * left <= upto:
                    return outcome
                if not uniform.low * left >= upto:
                    return None
            return None

        return refine_until_decided(decide, uniform, guard=_PRECISION)


def _walker(integers: list[int]) -> tuple[NDArray[np.uint32], NDArray[np.intp]]:
    """Return the limits of the places' own outcomes, and pairs of outcomes: the other, the own.

    Place i has the random numbers from i·2^22 on. Those below its limit give outcome i, the others
    the outcome beside it. Every integer is thereby the number of random numbers of its outcome.
    """
    room = list(integers)
    other = list(range(_PLACES))
    small = [i for i, n in enumerate(room) if n < _WITHIN]
    large = [i for i, n in enumerate(room) if n > _WITHIN]
    while small:
        poor, rich = small.pop(), large[-1]
        other[poor] = rich
        room[rich] -= _WITHIN - room[poor]
        if room[rich] <= _WITHIN:
            large.pop()
            if room[rich] < _WITHIN:
                small.append(rich)
    # A full place has no room for another outcome; its limit would be the next place's first number
    limits = [min(i * _WITHIN + n, (1 << BITS) - 1) for i, n in enumerate(room)]
    pairs = [(other[i], i) for i in range(_PLACES)]
    return np.array(limits, np.uint32), np.array(pairs, np.intp).ravel()
