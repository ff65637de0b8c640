"""The short exact sampler: inversion in ball arithmetic, with random bits drawn as needed.

The output is the index k with F(cut(k - 1)) <= U < F(cut(k)). F is the distribution function of
the noisy value for its exact parameters, even those that a double cannot represent; U is an ideal
uniform real number whose bits are drawn as needed. Rounding errors never decide: every intermediate
result is a ball that contains the true number, and if a ball leaves two outputs possible, more bits
are drawn. It serves boxes that are too extreme for doubles, and faster samplers are compared with
it.
"""

from flint import arb

from inbounds.numerics import ball
from inbounds.numerics.noise import Noise
from inbounds.numerics.normal import NORMAL
from inbounds.sampling.entropy import Entropy
from inbounds.sampling.grid import Exact, Grid
from inbounds.sampling.uniform import Uniform, refine_until_decided

_GUARD = 64  # bits of precision beyond those of U, so that rounding rarely requires more bits


def draw(
    value: Exact,
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
        The exact private number, already clamped to ``[grid.lower, grid.upper]``.
    scale
        Scale of the noise.
    grid
        The possible outputs.
    entropy
        Source of random bits.
    noise, clamped
        The noise, and whether it is clamped (True) or truncated (False) to the box.

    Guarantees
    ----------
    The index has exactly the distribution of the ideal real-valued output rounded to the grid. The
    time is not constant: it depends on the bits drawn and, slightly, on the value. Proof:
    docs/proofs/reference.md, theorems 1 and 3.

    Notes
    -----
    The index does not decrease as U increases. The bits drawn so far restrict U to an interval. If
    both of its ends have the same index, no further bit can change it. Another 64 bits are needed
    only if a cut falls between the ends, with probability at most 2**-63 for each cut, so 2**-11 on
    the finest grid. With fair bits every draw ends; a source that spells out a cut forever would
    not let it end.

    Examples
    --------
    >>> from inbounds.sampling.entropy import SYSTEM
    >>> grid = Grid.fit(0.0, 120.0, 1.0, scale=30.0)
    >>> 0 <= draw(41.3, 30.0, grid, SYSTEM) <= 120
    True
    """
    u = Uniform(entropy)

    def decide() -> int | None:
        return _index(u, value, scale, grid, noise, clamped=clamped)

    return refine_until_decided(decide, u, guard=_GUARD)


def _index(
    u: Uniform, value: Exact, scale: float, grid: Grid, noise: Noise, *, clamped: bool
) -> int | None:
    """Return the index of all numbers that start with the bits of U, or None if it is not certain.

    Let L and R be `within` of the distances from the value to the two bounds, or 1 if the noise is
    clamped. Then U = (within(z) + L)/(L + R), and `within` is odd. The value lies between the
    bounds, so L and R are not negative and nothing cancels: a level is accurate to about 2**-_GUARD
    of the distance between the two ends. Proof: docs/proofs/reference.md, theorem 2.
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


def _distances(value: Exact, grid: Grid) -> tuple[arb, arb]:
    """Return the distances of the value from both bounds.

    Proof: docs/proofs/reference.md, theorem 4.
    """
    if isinstance(value, float):
        centre = arb(value)
        return centre - grid.lower, grid.upper - centre
    number = ball.exact(value)  # subtracted before anything is rounded
    return arb(number - ball.exact(grid.lower)), arb(ball.exact(grid.upper) - number)
