"""What draws from ranks cost, for the neighbours that a request hides.

Every draw has a cost for one row, and the number of rows and groups that neighbours differ in says
what the draw costs in all. All of it is in fractions. Proof: docs/proofs/quantiles.md, items 6
and 7.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self

from inbounds.unit import Adjacency

_ROOT_BITS = 128


@dataclass(frozen=True, slots=True)
class RowChanges:
    """Which tables are neighbours.

    Attributes
    ----------
    adjacency, rows
        How many rows are replaced, or are added or removed.
    sizes_public
        Whether all rows are one group, whose size is the same for all neighbours.
    parts
        The number of groups.
    """

    adjacency: Adjacency
    rows: int
    sizes_public: bool
    parts: int

    def total(self, within: Fraction) -> Fraction:
        """Return the pure epsilon of draws from all parts, in units of the cost of one row.

        That row comes or goes, or is replaced if sizes are public; `within` is what a row costs
        that is replaced in its part.

        Examples
        --------
        >>> RowChanges("replace", 1, False, 5).total(Fraction(9, 8))
        Fraction(2, 1)
        """
        one = max(within, Fraction(min(self.parts, 2))) if self._moves else Fraction(1)
        return self.rows * one

    def squares(self, within: Fraction) -> Fraction:
        """Return the sum of squares of the costs of all parts, in units of one row's square.

        Examples
        --------
        >>> RowChanges("replace", 1, False, 5).squares(Fraction(9, 8))
        Fraction(2, 1)
        """
        one = max(within**2, Fraction(min(self.parts, 2))) if self._moves else Fraction(1)
        return self.rows**2 * one

    def of_parts(self) -> Self:
        """Return the same neighbours for groups that are divided in parts of private sizes."""
        return replace(self, sizes_public=False, parts=max(self.parts, 2))

    @property
    def _moves(self) -> bool:
        """Whether a row can change its part."""
        return self.adjacency == "replace" and not self.sizes_public


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

    def row_cost(self, changes: RowChanges, within: Fraction) -> Fraction:
        """Return what one row may cost in a draw from every part that uses all of it.

        A draw has bounded range: rho is the sum of the squares of what it costs, divided by 8.

        Examples
        --------
        >>> changes = RowChanges("add-remove", 2, False, 1)
        >>> Allowance(Fraction(1), False).row_cost(changes, Fraction(2))
        Fraction(1, 2)
        >>> Allowance(Fraction(1, 2), True).row_cost(changes, Fraction(2))
        Fraction(1, 1)
        """
        if not self.concentrated:
            return self.amount / changes.total(within)
        return root_below(8 * self.amount / changes.squares(within))


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
