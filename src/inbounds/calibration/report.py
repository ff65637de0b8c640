"""With which probability a group is reported, given how many rows it has: whole numbers alone.

A group without rows is never reported. With each further row, the probability rises as far as the
guarantee allows for one row, which is the best that any rule can do that depends on this number
alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx

from inbounds.calibration.weight import RATIO_BITS, ratio_above
from inbounds.errors import ArgumentError
from inbounds.numerics.ball import exact

MOST_ROWS = 2**20
"""The largest number of rows from which on a group may be reported with certainty."""

_GUARD = 128  # bits that delta has at least
_LARGEST_EPSILON = 64  # a guarantee with more than that is given by this one, too


@dataclass(frozen=True, slots=True)
class RowPrice:
    """What one row that is added to a group, or removed from it, may change.

    Attributes
    ----------
    ratio
        An integer N: probabilities may differ by a factor of 2¹⁹²/N.
    excess, bits
        Beyond that they may differ by `excess` of 2^`bits` parts.
    """

    ratio: int
    excess: int
    bits: int

    @classmethod
    def of(cls, epsilon: float, delta: float, *, rows: int, sides: int) -> RowPrice:
        """Return the price of one row, if neighbours differ in many.

        Proof: docs/proofs/groups.md, theorems 3 and 4.

        Parameters
        ----------
        epsilon, delta
            The guarantee for neighbours.
        rows, sides
            How many rows may enter or leave groups. There is one side if rows are added or removed,
            and there are two if they are replaced: as many may then leave groups as enter others.

        Examples
        --------
        >>> price = RowPrice.of(1.0, 0.125, rows=1, sides=1)
        >>> price.excess / 2**price.bits, round(2**192 / price.ratio, 9) == round(math.e, 9)
        (0.125, True)
        """
        each = min(Fraction(epsilon), Fraction(_LARGEST_EPSILON)) / (sides * rows)
        bits = RATIO_BITS + _GUARD + rows.bit_length() + max(0, -math.frexp(delta)[1])
        with ctx.workprec(bits + 64):
            many = arb(exact(each * rows)).expm1() / arb(exact(each)).expm1()
            parts = arb(exact(delta)) * arb((1, bits)) / (sides * many)
            excess = parts.lower().floor().unique_fmpz()
        assert excess is not None  # a floor is an integer
        return cls(ratio_above(each), max(int(excess), 0), bits)

    @property
    def is_hopeless(self) -> bool:
        """Whether even n = `MOST_ROWS` rows are not enough: E^n·n·D is below 1/4."""
        if not self.excess:
            return True
        growth = RATIO_BITS * math.log(2) - math.log(self.ratio)
        excess = math.log(self.excess) - self.bits * math.log(2)
        return MOST_ROWS * growth + math.log(MOST_ROWS) + excess < math.log(0.25)


@dataclass(frozen=True, slots=True)
class ReportTable:
    """The probability with which a group is reported, for each number of rows.

    No larger ones are private: docs/proofs/groups.md, theorems 1 and 2.

    Attributes
    ----------
    parts
        The probabilities of 0, 1, 2, … rows, as integers; the last one is 1.
    bits
        The parts that make up 1 are 2^`bits`.
    """

    parts: tuple[int, ...]
    bits: int

    @classmethod
    def of(cls, price: RowPrice) -> ReportTable:
        """Return the table in which each row adds as much as it may.

        Proof in whole numbers: docs/proofs/groups.md, theorem 4.

        Examples
        --------
        >>> table = ReportTable.of(RowPrice.of(1.0, 0.125, rows=1, sides=1))
        >>> [round(part / 2**table.bits, 3) for part in table.parts]
        [0.0, 0.125, 0.465, 0.849, 0.99, 1.0]
        """
        whole, excess, ratio = 1 << price.bits, price.excess, price.ratio
        parts, most = [0], 0 if price.is_hopeless else MOST_ROWS
        while parts[-1] < whole:
            if len(parts) > most:
                raise ArgumentError.must_be(
                    "epsilon",
                    f"large enough to find groups of {MOST_ROWS:,} rows for sure",
                    hint="ask for a larger epsilon or delta, or use fewer rows of each person.",
                )
            reported = parts[-1]
            rising = (reported << RATIO_BITS) // ratio + excess
            missing = -(-(whole - reported - excess) * ratio >> RATIO_BITS)
            parts.append(min(rising, whole - missing, whole))
        return cls(tuple(parts), price.bits)

    def chance(self, rows: int) -> int:
        """Return the probability for a number of rows, in parts.

        Examples
        --------
        >>> table = ReportTable((0, 1, 4), 2)
        >>> table.chance(0), table.chance(1), table.chance(10**12)
        (0, 1, 4)
        """
        return self.parts[min(rows, len(self.parts) - 1)]
