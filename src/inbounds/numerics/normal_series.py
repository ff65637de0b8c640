"""∫e^(-x²/2)dx in ball arithmetic, by a power series without negative terms.

It shares no code with the error functions of Arb and of SciPy, so that the check of a certificate
depends on neither.

Proof: docs/proofs/interval.md, theorem 8.
"""

import math
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache

from flint import arb, arb_poly, ctx

_KEPT = 0.75  # the fraction of the working precision that the remainder leaves
_FEWEST = 8  # terms


def normal_integral(end: arb, density: arb) -> arb:
    """Return ∫e^(-x²/2)dx over [0, end]; `density` is e^(-end²/2), which callers need as well.

    Examples
    --------
    >>> end = arb(-1)
    >>> float(normal_integral(end, (-end * end / 2).exp()))
    -0.855624391892...
    """
    square = end * end
    table = _table(ctx.prec)
    place = bisect_left(table.squares, float(square.upper()))
    if place < len(table.sums):
        terms = table.sums[place]
        remainder = square ** terms.length() * table.next_terms[place]
        return end * (density * terms(square) + arb(0).union(remainder))
    if not (end > 0 or end < 0):
        return arb.nan()
    beyond = arb(0).union(density / abs(end))
    return (table.whole - beyond) * end.sgn()


@dataclass(frozen=True, slots=True)
class _Table:
    """Partial sums of the series, each for ends up to some square."""

    squares: list[float]
    sums: list[arb_poly]
    next_terms: list[arb]
    whole: arb


@lru_cache(maxsize=8)
def _table(precision: int) -> _Table:
    """Return sums of 8, 12, 16, 24, … terms, up to where the tail is negligible at a precision."""
    accuracy = _KEPT * precision * math.log(2)
    squares: list[float] = []
    sums, next_terms, coefficients, count = [], [], [arb(1)], _FEWEST
    while not squares or squares[-1] < 2 * accuracy:
        while len(coefficients) <= count:
            coefficients.append(coefficients[-1] / (2 * len(coefficients) + 1))
        log_next = float(coefficients[count].log())
        squares.append(math.exp(-(log_next + accuracy) / count))
        sums.append(arb_poly(coefficients[:count]))
        next_terms.append(coefficients[count])
        count = count * 4 // 3 if count & (count - 1) else count * 3 // 2
    return _Table(squares, sums, next_terms, (arb.pi() / 2).sqrt())
