"""What one row may cost in a draw from ranks, given what all draws together may cost.

Every draw has a cost for one row, and the number of rows and groups that neighbours differ in says
what the draw costs in all. All of it is in fractions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from inbounds.frames.central.change import Neighbours

_ROOT_BITS = 128


@dataclass(frozen=True, slots=True)
class Allowance:
    """An amount of privacy that draws may use: pure epsilon, or rho.

    Examples
    --------
    >>> Allowance(Fraction(1, 2), False).part(Fraction(1, 3)).amount
    Fraction(1, 6)
    """

    amount: Fraction
    concentrated: bool

    def part(self, fraction: Fraction) -> Allowance:
        """Return a fraction of it."""
        return Allowance(self.amount * fraction, self.concentrated)

    def row_cost(self, neighbours: Neighbours, within: Fraction) -> Fraction:
        """Return what one row may cost in a draw from every part that uses all of it.

        A draw has bounded range: rho is the sum of the squares of what it costs, divided by 8.
        Proof: docs/proofs/quantiles.md, theorems 3 and 6.

        Examples
        --------
        >>> two = Neighbours("add-remove", rows=2, sizes_public=False, groups=1)
        >>> Allowance(Fraction(1), False).row_cost(two, Fraction(2))
        Fraction(1, 2)
        >>> Allowance(Fraction(1, 2), True).row_cost(two, Fraction(2))
        Fraction(1, 1)
        """
        if not self.concentrated:
            return self.amount / neighbours.total(within)
        return root_below(8 * self.amount / neighbours.squares(within))


def root_below(number: Fraction) -> Fraction:
    """Return a fraction that is at most the square root of a positive number, and close to it.

    Examples
    --------
    >>> root_below(Fraction(1, 4)), root_below(Fraction(2)) ** 2 <= 2
    (Fraction(1, 2), True)
    """
    bits = max(0, number.denominator.bit_length() - number.numerator.bit_length())
    scale = 1 << (_ROOT_BITS + bits)
    return Fraction(math.isqrt(math.floor(number * scale**2)), scale)
