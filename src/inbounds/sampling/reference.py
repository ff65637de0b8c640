"""The short exact sampler: lazy random bits, inverted in ball arithmetic until no doubt is left.

The output is the index k with F(cut(k - 1)) <= U < F(cut(k)). F is the distribution function of
the noisy value at the exact values of its parameters, doubles or not; U is an ideal uniform real
number whose bits are drawn as needed. Rounding errors never decide: every intermediate result is
a ball that holds the true value, and a ball that leaves two outputs possible asks for more bits.
It serves small releases, and is the oracle for every faster sampler.

Proof: docs/proofs/reference.md.
"""

from flint import arb

from inbounds.numerics import ball
from inbounds.numerics.noise import Noise
from inbounds.numerics.normal import NORMAL
from inbounds.sampling.entropy import Entropy
from inbounds.sampling.grid import Grid, Number
from inbounds.sampling.uniform import Uniform, settled

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
    The distribution of the index is that of the ideal real-valued output rounded to the grid, with
    no approximation. The time taken is not constant: it depends on the bits drawn and, slightly, on
    the value.

    Notes
    -----
    The index never falls as U grows. So when the two ends of the interval in which the bits drawn
    so far leave U share an index, no further bit could change it. Another 64 bits are needed only
    if a cut falls between those ends: with probability at most 2**-63 for each cut, so 2**-11 on
    the finest grid. Fair bits settle every draw; a source scripted to spell out a cut for ever
    would be asked for ever.

    Examples
    --------
    >>> from inbounds.sampling.entropy import SYSTEM
    >>> grid = Grid.fit(0.0, 120.0, 1.0, sigma=30.0)
    >>> 0 <= draw(41.3, 30.0, grid, SYSTEM) <= 120
    True
    """
    u = Uniform(entropy)
    return settled(lambda: _index(u, value, scale, grid, noise, clamped=clamped), u, guard=_GUARD)


def _index(
    u: Uniform, value: Number, scale: float, grid: Grid, noise: Noise, *, clamped: bool
) -> int | None:
    """Return the index that all numbers starting with the bits of U share, or None if unproved.

    With L and R the fractions of noise within the distances from the value to the two bounds (one
    each if it is clamped), U = (within(z) + L)/(L + R) with `within` odd. Since the value lies
    between the bounds, L and R are not negative, nothing cancels: a level is good to about
    2**-_GUARD of the step between the two ends.
    """
    below, above = _distances(value, grid)
    sigma, spacing = arb(scale), arb(grid.spacing)
    left = right = arb(1)
    if not clamped:
        left, right = noise.ball_within(below / sigma), noise.ball_within(above / sigma)
    start = below / spacing

    def index(level: arb) -> int | None:
        shift = noise.ball_distance((left + right) * level - left) * sigma / spacing
        return grid.nearest(start + shift)

    shared = index(u.ball)
    if shared is not None:
        return shared
    lowest = 0 if u.low == 0 else index(u.low)
    if lowest is None:
        return None
    highest = grid.intervals if u.high == 1 else index(u.high)
    return lowest if lowest == highest else None


def _distances(value: Number, grid: Grid) -> tuple[arb, arb]:
    """Return the distances of the value from both bounds."""
    if isinstance(value, float):
        centre = arb(value)
        return centre - grid.lower, grid.upper - centre
    number = ball.exact(value)  # subtracted before anything is rounded
    return arb(number - ball.exact(grid.lower)), arb(ball.exact(grid.upper) - number)
