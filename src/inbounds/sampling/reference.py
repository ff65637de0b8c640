"""The short exact sampler: lazy random bits, inverted in ball arithmetic until no doubt is left.

The output is the index k with F(cut(k - 1)) <= U < F(cut(k)). F is the distribution function of
the noisy answer at the exact values of its parameters, doubles or not; U is an ideal uniform real
number whose bits are drawn as needed. Rounding errors never decide: every intermediate result is
a ball that holds the true value, and a ball that leaves two answers possible asks for more bits.
It serves small releases, and is the oracle for every faster sampler.
"""

from fractions import Fraction
from typing import NamedTuple

from flint import arb, ctx

from inbounds.numerics import ball
from inbounds.numerics.noise import Noise
from inbounds.numerics.normal import NORMAL
from inbounds.sampling.entropy import Entropy
from inbounds.sampling.grid import Grid

Number = float | Fraction
"""A value, exactly: a double, an integer of any length or a fraction."""

_CHUNK = 64  # bits of U drawn at a time; the first chunk nearly always settles the index
_GUARD = 64  # bits of precision beyond those of U, so that rounding hardly ever costs a chunk


def draw(
    value: Number,
    scale: float,
    grid: Grid,
    entropy: Entropy,
    noise: Noise = NORMAL,
    *,
    clamped: bool = False,
) -> int:
    """Return the index of the grid point nearest to `value` plus noise, kept in bounds.

    Parameters
    ----------
    value
        The private number, exactly, already clamped to ``[grid.lower, grid.upper]``.
    scale
        Scale of the noise.
    grid
        The possible outputs.
    entropy
        Source of random bits.
    noise, clamped
        The noise, and whether what leaves the box goes to its bounds (True) or the noise is
        truncated to the box (False).

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
            index = _settled(bits, count, _Draw(value, scale, grid, noise, clamped))
        if index is not None:
            return index


class _Draw(NamedTuple):
    value: Number
    scale: float
    grid: Grid
    noise: Noise
    clamped: bool

    def distances(self) -> tuple[arb, arb]:
        """Return the distances of the value from both bounds, in units of what it is in."""
        grid = self.grid
        if isinstance(self.value, float):
            value = arb(self.value)
            return value - grid.lower, grid.upper - value
        number = ball.exact(self.value)  # subtracted before anything is rounded
        return arb(number - ball.exact(grid.lower)), arb(ball.exact(grid.upper) - number)


def _settled(bits: int, count: int, drawn: _Draw) -> int | None:
    """Return the index shared by all U in [bits, bits + 1] / 2**count, or None if unproved.

    With L and R the fractions of noise within the distances from the value to the two bounds (one
    each if it is clamped), U = (within(z) + L)/(L + R) with `within` odd. Since the value lies
    between the bounds, L and R are not negative, nothing cancels: a level is good to about
    2**-_GUARD of the step between the two ends.
    """
    noise, scale, grid = drawn.noise, arb(drawn.scale), drawn.grid
    below, above = drawn.distances()
    left = right = arb(1)
    if not drawn.clamped:
        left, right = noise.ball_within(below / scale), noise.ball_within(above / scale)
    spacing = arb(grid.spacing)
    origin = below / spacing + 0.5

    def index(u: arb) -> int | None:
        position = origin + noise.ball_distance((left + right) * u - left) * scale / spacing
        whole = position.max(0).min(grid.intervals).floor().unique_fmpz()
        return None if whole is None else int(whole)

    both = index(arb((2 * bits + 1, -count - 1), (1, -count - 1)))  # a ball from end to end
    if both is not None:
        return both
    low = 0 if bits == 0 else index(arb((bits, -count)))
    if low is None:
        return None
    high = grid.intervals if bits + 1 == 1 << count else index(arb((bits + 1, -count)))
    return low if low == high else None
