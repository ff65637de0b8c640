"""Evidence that no ε-private mechanism on a lattice has less error than a bound.

Values lie at n places, and those at most `reach` places apart are neighbours. The evidence is a
weight πᵢ ≥ 0, a slope ρᵢ and a value νᵢ for each place, and a number μ, such that

    Σ fᵢ(πᵢa² - ρᵢa - νᵢ) ≥ μ Σ fᵢπᵢ       for every level function f and every output a.

Weak duality turns it into a lower bound on the error of *any* private mechanism, so the search that
found the numbers need not be trusted. The inequality is checked at a grid of outputs a, in doubles
with a proved margin, or in whole numbers; between two points of the grid, which are s apart, μ
drops by at most s²/4, and beyond the last point it does not drop.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb, ctx

from inbounds._types import Floats
from inbounds.calibration.level_function import least_sum, least_sum_below
from inbounds.errors import CertificateError
from inbounds.numerics import ball

MOST_PLACES = 1 << 13
MOST_OUTPUTS = 1 << 18
_MOST_COSTS = 1 << 28  # places times outputs
_AT_ONCE = 1 << 20  # costs in one call
_UNIT = 2.0**-53
_UNDERFLOW = 2.0**-140  # covers products that underflow, by theorem 4
_LARGEST_LOG_RATIO = 620.0  # of two entries of a level function: below 2^900
_LARGEST_COST = 2.0**80
_BITS = 192  # of the fractional part of whole-number costs


@dataclass(frozen=True, slots=True)
class LatticeProof:
    """The numbers π, ρ, ν and μ for one lattice; all of them are exact doubles.

    What they prove: docs/proofs/limit.md, theorem 2.

    Attributes
    ----------
    reach
        The largest distance of neighbours, in places.
    weights
        πᵢ, at least zero, symmetric about the middle.
    slopes
        ρᵢ, antisymmetric; None means 2πᵢxᵢ, where xᵢ = i - (n - 1)/2 are the places.
    values
        νᵢ, symmetric.
    margin
        μ, of either sign.
    spacing, outputs
        The grid of outputs 0, s, 2s, …: its spacing s, and the number of points after 0.
    """

    reach: int
    weights: tuple[float, ...]
    slopes: tuple[float, ...] | None
    values: tuple[float, ...]
    margin: float
    spacing: float
    outputs: int

    @property
    def size(self) -> int:
        """The number of places."""
        return len(self.weights)

    def least(self) -> Fraction:
        """Return a number that μ is at least, for all real outputs and not only for the grid.

        Proof: docs/proofs/limit.md, theorem 5.
        """
        return Fraction(self.margin) - Fraction(self.spacing) ** 2 / 4

    def total(self) -> Fraction:
        """Return Σν + least()·Σπ, which bounds Σ E[πᵢa² - ρᵢa | i] from below.

        Proof: docs/proofs/limit.md, theorem 2.
        """
        return sum(map(Fraction, self.values)) + self.least() * sum(map(Fraction, self.weights))

    def check(self, epsilon: float, group: int = 1, *, exact: bool = False) -> None:
        """Prove the inequality for all level functions and outputs, or raise CertificateError.

        That this proves it: docs/proofs/limit.md, theorems 4 and 5.

        Parameters
        ----------
        epsilon, group
            Of the mechanisms, and how many changes join neighbours; exp(group * epsilon) is rounded
            up.
        exact
            Whether to compute in whole numbers of 192 bits after the point, rounded down. That
            takes about a hundred times as long as doubles, and needs no error analysis.
        """
        self._check_fields()
        ratio = ratio_above(epsilon, group)
        levels = math.ceil((self.size - 1) / self.reach) if self.size > 1 else 0
        if not (math.isfinite(ratio) and levels * math.log(ratio) <= _LARGEST_LOG_RATIO):
            raise CertificateError("epsilon is too large for this lattice to be checked.")
        holds = self._holds_exactly(Fraction(ratio)) if exact else self._holds(ratio)
        if not holds:
            raise CertificateError("the evidence does not prove the bound.")

    def _check_fields(self) -> None:
        """Refuse fields that are not valid, because the evidence may come from anybody."""
        rows = (self.weights, self.values, *(() if self.slopes is None else (self.slopes,)))
        sound = all(type(row) is tuple and all(map(_is_double, row)) for row in rows)
        sound = sound and all(type(n) is int and n >= 1 for n in (self.reach, self.outputs))
        sound = sound and _is_double(self.margin) and _is_double(self.spacing)
        sound = sound and all(len(row) == self.size for row in rows)
        sound = sound and 1 <= self.size <= MOST_PLACES and self.outputs <= MOST_OUTPUTS
        sound = sound and self.size * self.outputs <= _MOST_COSTS
        sound = sound and self.spacing > 0
        if not (sound and self._is_symmetric() and self._is_moderate()):
            raise CertificateError("the certificate has fields that are not valid.")

    def _is_symmetric(self) -> bool:
        """Tell whether outputs of one sign suffice: docs/proofs/limit.md, theorem 5."""
        slopes = self.slopes or ()
        return (
            min(self.weights) >= 0
            and max(self.weights) > 0
            and self.weights == self.weights[::-1]
            and self.values == self.values[::-1]
            and slopes == tuple(-slope for slope in slopes[::-1])
        )

    def _is_moderate(self) -> bool:
        """Tell whether grid points are exact doubles and no cost is too large.

        The limits: docs/proofs/limit.md, theorem 4.
        """
        numerator = self.spacing.as_integer_ratio()[0] * self.outputs
        if numerator.bit_length() > 53 or not 2.0**-60 < self.spacing < 2.0**60:
            return False
        end = self.spacing * self.outputs
        largest = max(map(abs, (*self.weights, *self.values, *(self.slopes or ()), self.margin)))
        return self.size * (1 + largest) ** 2 * (1 + end + self.size) ** 2 < _LARGEST_COST

    def _holds(self, ratio: float) -> bool:
        """Check in doubles: each cost is lowered by more than all rounding errors together.

        Proof: docs/proofs/limit.md, theorem 4.
        """
        weights, values = np.array(self.weights), np.array(self.values)
        slopes = self._slopes()
        relative = (8 * self.size + 64) * _UNIT
        for outputs in self.blocks():
            rise, fall = np.multiply.outer(weights, outputs**2), np.multiply.outer(slopes, outputs)
            level = np.add.outer(self.margin * weights, np.zeros(outputs.size))
            size = rise + np.abs(fall) + np.abs(level) + np.abs(values)[:, None]
            costs = rise - fall - values[:, None] - level - (relative * size + _UNDERFLOW)
            if not (least_sum(costs, self.reach, ratio) >= 0).all():
                return False
        end = 2 * self.spacing * self.outputs * weights
        costs = end - slopes - (relative * (end + np.abs(slopes)) + _UNDERFLOW)
        return bool(least_sum(costs[:, None], self.reach, ratio)[0] >= 0)

    def _slopes(self) -> Floats:
        if self.slopes is not None:
            return np.array(self.slopes)
        return np.array(self.weights) * (2 * np.arange(self.size) - (self.size - 1))

    def blocks(self) -> Iterator[Floats]:
        """Yield the grid of outputs, a block at a time; every point is an exact double."""
        length = max(1, _AT_ONCE // self.size)
        for first in range(0, self.outputs + 1, length):
            last = min(first + length, self.outputs + 1)
            yield np.arange(first, last, dtype=np.float64) * self.spacing

    def _holds_exactly(self, ratio: Fraction) -> bool:
        """Check in whole numbers: costs and products are rounded down, sums are exact.

        Proof: docs/proofs/limit.md, theorem 4.
        """
        weights, values = list(map(Fraction, self.weights)), list(map(Fraction, self.values))
        if self.slopes is None:
            slopes = [w * (2 * i - (self.size - 1)) for i, w in enumerate(weights)]
        else:
            slopes = list(map(Fraction, self.slopes))
        rows = list(zip(weights, slopes, values, strict=True))
        spacing, margin = Fraction(self.spacing), Fraction(self.margin)

        def proved(costs: Iterator[Fraction]) -> bool:
            whole = [math.floor(cost * 2**_BITS) for cost in costs]
            return least_sum_below(whole, self.reach, ratio) >= 0

        end = self.outputs * spacing
        return proved(2 * end * w - r for w, r, _ in rows) and all(
            proved(w * (a * a - margin) - r * a - v for w, r, v in rows)
            for a in (j * spacing for j in range(self.outputs + 1))
        )


def ratio_above(epsilon: float, group: int = 1) -> float:
    """Return a double that is at least exp(group * epsilon).

    Examples
    --------
    >>> ratio_above(1.0)
    2.7182818284590455
    """
    with ctx.workprec(128):
        return ball.float_above((group * arb(epsilon)).exp())


def _is_double(number: object) -> bool:
    return type(number) is float and math.isfinite(number)
