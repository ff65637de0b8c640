"""The short exact sampler: lazy random bits, inverted in ball arithmetic until no doubt is left.

The output is the index k with F(cut(k - 1)) <= U < F(cut(k)). F is the distribution function of
the truncated normal law at the exact values of its double parameters; U is an ideal uniform real
number whose bits are drawn as needed. Rounding errors never decide: every intermediate result is
a ball that holds the true value, and a ball that leaves two answers possible asks for more bits.
It serves small releases, and is the oracle for every faster sampler.
"""

from flint import arb, ctx

from inbounds.sampling.entropy import Entropy
from inbounds.sampling.grid import Grid

_CHUNK = 64  # bits of U drawn at a time; the first chunk nearly always settles the index
_GUARD = 64  # bits of precision beyond those of U, so that rounding hardly ever costs a chunk


def draw(value: float, sigma: float, grid: Grid, entropy: Entropy) -> int:
    """Return the index of the grid point nearest a draw from N(value, sigma²) kept in bounds.

    Parameters
    ----------
    value
        The private number, already clamped to ``[grid.lower, grid.upper]``.
    sigma
        Standard deviation of the normal law before truncation.
    grid
        The possible outputs.
    entropy
        Source of random bits.

    Guarantees
    ----------
    The law of the index is that of the ideal real-valued draw rounded to the grid, with no
    approximation. The time taken is not constant: it depends on the bits drawn and, slightly, on
    the value.

    Notes
    -----
    The index never falls as U grows. So when the two ends of the interval in which the bits drawn
    so far leave U share an index, no further bit could change it. Another 64 bits are needed only
    if a cut falls between those ends: with probability at most 2**-64 for each cut, so 2**-12 on
    the finest grid. Fair bits settle every draw; only a source scripted to spell out a cut for
    ever would not be answered.

    The working precision of python-flint is one global number, not one per thread. Another thread
    that changes it meanwhile can make balls wider and so cost bits; it cannot change the law.

    Examples
    --------
    >>> from inbounds.sampling.entropy import SYSTEM
    >>> grid = Grid.fit(0.0, 120.0, 1.0, sigma=30.0)
    >>> 0 <= draw(41.3, 30.0, grid, SYSTEM) <= 120
    True
    """
    bits, count = 0, 0
    while True:
        bits = bits << _CHUNK | entropy.bits(_CHUNK)
        count += _CHUNK
        with ctx.workprec(count + _GUARD):
            index = _settled(bits, count, value, sigma, grid)
        if index is not None:
            return index


def _settled(bits: int, count: int, value: float, sigma: float, grid: Grid) -> int | None:
    """Return the index shared by all U in [bits, bits + 1] / 2**count, or None if unproved.

    With L and R the error functions of the scaled distances from `value` to the two bounds, F at
    value + √2·sigma·z is (erf(z) + L)/(L + R). Since the value lies between the bounds, L and R
    are not negative, nothing cancels: a level is good to about 2**-_GUARD of the step between
    the two ends.
    """
    scale = arb(2).sqrt() * sigma
    left = ((arb(value) - grid.lower) / scale).erf()
    total = left + ((arb(grid.upper) - value) / scale).erf()
    spacing = arb(grid.spacing)
    origin, stretch = (arb(value) - grid.lower) / spacing + 0.5, scale / spacing

    def index(numerator: int) -> int | None:
        if numerator in (0, 1 << count):  # F is exactly 0 at the lower bound and 1 at the upper
            return grid.intervals if numerator else 0
        level = total * arb((numerator, -count)) - left
        position = origin + stretch * level.erfinv()
        whole = position.min(grid.intervals).floor().unique_fmpz()
        return None if whole is None else int(whole)

    low = index(bits)
    return low if low is not None and low == index(bits + 1) else None
