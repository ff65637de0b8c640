"""From weights in doubles to integers that sum to 2¹²⁸ in every row.

A column is rounded from its deepest level upwards, each level at most p/q times the one below, so
that its ratios hold whatever the weight. One more output, the middle of the box, takes what is left
of each row. It absorbs the errors of the solver, and a reserve keeps its own ratios below p/q.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inbounds.calibration.column import Mixture
from inbounds.calibration.table import BITS, TOTAL, growth_below
from inbounds.errors import CertificateError

_SMALLEST = 60  # bits: deeper levels count as this deep, which keeps the column's ratios
_RESERVE = 2.0**-44
_DIGITS = 192  # bits behind the point of powers


def integral_rows(mixture: Mixture, epsilon: float) -> tuple[tuple[int, ...], ...]:
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
        rest = TOTAL - columns.sum(axis=1)
        if rest.min() > 0 and rest.max() * denominator <= rest.min() * numerator:
            return tuple(tuple(row) for row in np.column_stack([columns, rest]).tolist())
        reserve *= 16
    raise CertificateError("the rows of the table do not sum to one in doubles.")


def _columns(
    levels: NDArray[np.int64], weights: NDArray[np.float64], growth: Fraction, deepest: int
) -> NDArray[Any]:
    """Return the integers of all columns, rows × outputs."""
    powers = [1 << _DIGITS]
    for _ in range(deepest):
        powers.append(powers[-1] * growth.denominator // growth.numerator)
    columns = np.empty(levels.T.shape, dtype=object)
    rounded: dict[float, NDArray[Any]] = {}
    for j, weight in enumerate(weights.tolist()):
        if weight not in rounded:
            rounded[weight] = _column(weight, powers, growth)
        columns[:, j] = rounded[weight][levels[j]]
    return columns


def _column(weight: float, powers: list[int], growth: Fraction) -> NDArray[Any]:
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
    return np.array(column[::-1], dtype=object)
