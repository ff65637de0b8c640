"""From weights in doubles to integers that sum to 2¹²⁸ in every row.

A column is rounded from its deepest level upwards, each level at most p/q times the one below, so
that its ratios hold whatever the weight. One more output, the middle of the box, takes what is left
of each row. It absorbs the errors of the solver, and a reserve keeps its own ratios below p/q.
"""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from inbounds.calibration.column import Mixture
from inbounds.calibration.entries import Entries
from inbounds.calibration.table import BITS, TOTAL, growth_below
from inbounds.errors import CertificateError

_SMALLEST = 60  # bits: deeper levels count as this deep, which keeps the column's ratios
_RESERVE = 2.0**-44
_DIGITS = 192  # bits behind the point of powers


def integral_rows(mixture: Mixture, epsilon: float) -> Entries:
    """Return the rows of a table: one integer per output, and one for the middle of the box.

    Proof: docs/proofs/optimal.md, theorem 5.

    Raises
    ------
    CertificateError
        If no reserve is large enough, because the mixture's rows do not sum to one.
    """
    numerator, denominator = growth_below(epsilon)
    growth = Fraction(numerator, denominator)
    deepest = int(mixture.levels.max())
    if numerator > denominator:
        deepest = min(deepest, max(1, math.floor(_SMALLEST * math.log(2) / epsilon)))
    levels = np.minimum(mixture.levels, deepest)
    reserve = _RESERVE + 2 * mixture.residual(epsilon)
    while reserve < 1:
        columns = _columns(levels, mixture.weights * (1 - reserve), growth, deepest)
        rest = [TOTAL - total for total in columns.sums()]
        if min(rest) > 0 and max(rest) * denominator <= min(rest) * numerator:
            return columns.with_column(rest)
        reserve *= 16
    raise CertificateError("the rows of the table do not sum to one in doubles.")


def _columns(
    levels: NDArray[np.int64], weights: NDArray[np.float64], growth: Fraction, deepest: int
) -> Entries:
    """Return the integers of all columns, rows × outputs."""
    powers = [1 << _DIGITS]
    for _ in range(deepest):
        powers.append(powers[-1] * growth.denominator // growth.numerator)
    distinct, which = np.unique(weights, return_inverse=True)
    integers = [entry for weight in distinct.tolist() for entry in _column(weight, powers, growth)]
    return Entries.at(integers, levels.T + which * len(powers))


def _column(weight: float, powers: list[int], growth: Fraction) -> list[int]:
    """Return the integers of a column at every level, from the deepest one upwards.

    Proof that their ratios hold: docs/proofs/optimal.md, theorem 5.
    """
    mantissa = int(math.ldexp(weight, 62))  # the weight to 62 bits
    column: list[int] = []
    for power in reversed(powers):
        wanted = (mantissa * power) >> (62 + _DIGITS - BITS)
        if column:
            wanted = min(wanted, column[-1] * growth.numerator // growth.denominator)
        column.append(max(1, wanted))
    return column[::-1]
