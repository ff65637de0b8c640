"""Settling, in ball arithmetic, the trials that the kernel found too close to call.

The random words of a trial are the first bits of two ideal uniform numbers: V, which decides
acceptance, and U, the place in the strip. More bits are drawn until every comparison is certain.
"""

from flint import arb

from inbounds.numerics import ball
from inbounds.numerics.noise import Noise
from inbounds.sampling.entropy import Entropy
from inbounds.sampling.grid import REFUSED, Exact, Grid
from inbounds.sampling.strips import strips
from inbounds.sampling.uniform import Uniform, refine_until_decided


def refine(
    *,
    value: Exact,
    noise: Noise,
    scale: float,
    grid: Grid,
    proposal: tuple[int, int, float],
    words: tuple[int, int],
    entropy: Entropy,
) -> int | None:
    """Return the grid index of a trial, or None if it is refused.

    Proof: docs/proofs/sampler.md, theorems 3, 4 and 10.

    Parameters
    ----------
    value
        The exact private number, already clamped.
    noise, scale, grid
        The noise and the possible outputs.
    proposal
        The first strip, the number of strips (0 for a narrow window), and the thinning.
    words
        The two random words of the trial.
    entropy
        The source of further bits.
    """
    first, count, thin = proposal
    choice, low = divmod((words[0] >> 32) * max(count, 1), 1 << 32)
    if low < (1 << 32) % max(count, 1):  # makes the choice of a strip exactly uniform
        return None
    lower, upper, at = ball.exact(grid.lower), ball.exact(grid.upper), ball.exact(value)
    sigma = ball.exact(scale)
    if count:
        table = strips(noise)
        left, right = (ball.exact(edge) for edge in table.edges[first + choice :][:2].tolist())
        weight = ball.exact(table.height) * (right - left) * ball.exact(thin)
    else:
        left, right = ((bound - at) / sigma for bound in (lower, upper))
        weight = ball.exact(thin)
    v, u = Uniform(entropy, words[0] & 0xFFFFFFFF, 32), Uniform(entropy, words[1], 64)

    def decide() -> float | None:
        z = left + (right - left) * u.ball
        x = at + sigma * z
        excess = v.ball - weight * noise.log_density(z).exp()
        if x < lower or x > upper or excess > 0:
            return REFUSED
        if x >= lower and x <= upper and excess < 0:
            return grid.nearest((x - lower) / grid.spacing)
        return None

    index = refine_until_decided(decide, v, u, guard=128)
    return None if index == REFUSED else int(index)


def is_beyond(
    *, value: Exact, bound: float, scale: float, noise: Noise, word: int, entropy: Entropy
) -> bool:
    """Tell whether noise leaves the box at a bound.

    It does if U, whose first bits are those of `word`, is less than the probability of noise beyond
    |value - bound| to one side. Proof: docs/proofs/sampler.md, theorem 11.
    """
    u = Uniform(entropy, word, 64)
    gap = abs(ball.exact(value) - ball.exact(bound))

    def decide() -> bool | None:
        excess = u.ball - noise.ball_tail(arb(gap) / arb(scale))
        return bool(excess < 0) if excess < 0 or excess > 0 else None

    return refine_until_decided(decide, u, guard=64)
