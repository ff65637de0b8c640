"""Integer weights of losses, which make an exponential mechanism a statement about integers.

The weight of a loss is an integer. The weights of two losses that are neighbours differ by a factor
of at most e^eta, which one evaluation in ball arithmetic certifies. Everything after that is
integer arithmetic.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from flint import arb, ctx

from inbounds.numerics.ball import exact

RATIO_BITS = 192
"""The bits of a ratio."""

_BITS = RATIO_BITS  # of the weight of loss zero, in each of two factors
_NATS = 40  # losses whose weights are further apart than e^40 are not told apart
_FARTHEST = 2**26  # the largest reach
_BLOCK = 2**12  # losses per block
_LEAST = Fraction(1, 2**40)  # for smaller slopes all weights are equal


class WeightTable:
    """Integer weights that fall as losses rise, by a factor of at most e^`eta` for each unit.

    Losses beyond ±`reach` have the weight of ±`reach`. The weight of loss zero is the same for
    every `eta`, so weights of two tables can be compared. Proof:
    docs/proofs/quantiles.md, theorem 1.

    Parameters
    ----------
    eta
        A positive fraction.

    Examples
    --------
    >>> table = WeightTable(Fraction(1))
    >>> table.reach, table.weight(3) / table.weight(0) - math.exp(-3) < 1e-15
    (40, True)
    """

    def __init__(self, eta: Fraction) -> None:
        self.reach = min(max(1, math.ceil(_NATS / eta)), _FARTHEST)
        self._block = min(_BLOCK, self.reach)
        ratio = ratio_above(eta)
        blocks = self.reach // self._block
        falling = [1 << _BITS]
        for _ in range(self._block):
            falling.append(_ceiling(falling[-1] * ratio))
        rising = [1 << _BITS]
        for _ in range(self._block):
            rising.append((rising[-1] << _BITS) // ratio)
        self._falling, self._rising = falling, rising
        self._falling_blocks, self._rising_blocks = [1 << _BITS], [1 << _BITS]
        for _ in range(blocks):
            self._falling_blocks.append(_ceiling(self._falling_blocks[-1] * falling[-1]))
            self._rising_blocks.append((self._rising_blocks[-1] * rising[-1]) >> _BITS)

    def weight(self, loss: int) -> int:
        """Return the weight of a loss."""
        block, place = divmod(min(abs(loss), self.reach), self._block)
        if loss > 0:
            return self._falling_blocks[block] * self._falling[place]
        return self._rising_blocks[block] * self._rising[place]

    def margin(self, others: int, probability: Fraction) -> int | None:
        """Return the least loss of which `others` weigh at most `probability` of loss zero.

        It is None if there is no such loss within the reach.
        """
        most = probability * self.weight(0)
        if others * self.weight(self.reach) > most:
            return None
        low, high = -1, self.reach  # too heavy, light enough
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if others * self.weight(middle) > most else (low, middle)
        return high


@lru_cache(maxsize=256)
def weight_table(eta: Fraction) -> WeightTable:
    """Return the table of a slope, which is kept for the next call.

    Examples
    --------
    >>> weight_table(Fraction(1, 2)) is weight_table(Fraction(1, 2))
    True
    """
    return WeightTable(eta)


def ratio_above(eta: Fraction) -> int:
    """Return an integer N of at most 2¹⁹² such that N/2¹⁹² is e^-`eta` or a little more.

    The weights are made of it: docs/proofs/quantiles.md, theorem 1.

    Examples
    --------
    >>> ratio_above(Fraction(1)) / 2**192 - math.exp(-1) < 1e-16
    True
    """
    if eta < _LEAST:
        return 1 << _BITS
    with ctx.workprec(_BITS + 64):
        scaled = (-arb(exact(eta))).exp() * arb((1, _BITS))
        above = scaled.upper().ceil().unique_fmpz()
    assert above is not None  # a ceiling is an integer
    return min(max(int(above), 1), 1 << _BITS)


def _ceiling(scaled: int) -> int:
    return -(-scaled >> _BITS)
