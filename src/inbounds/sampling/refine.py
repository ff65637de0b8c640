"""Settle in ball arithmetic what the kernel found too close to call.

The random words of the trial are the first bits of two ideal uniform numbers: V, which decides
acceptance, and U, the place in the strip. More bits are drawn until every comparison is certain.

Proof: docs/proofs/sampler.md.
"""

from flint import arb, ctx, fmpq

from inbounds.numerics import ball
from inbounds.numerics.noise import Noise
from inbounds.sampling.entropy import Entropy
from inbounds.sampling.grid import Grid
from inbounds.sampling.reference import Number
from inbounds.sampling.strips import strips

_CHUNK = 64


def refine(
    *,
    value: Number,
    noise: Noise,
    scale: float,
    grid: Grid,
    proposal: tuple[int, int, float],
    words: tuple[int, int],
    entropy: Entropy,
) -> int | None:
    """Return the grid index of a trial, or None if it is refused.

    Parameters
    ----------
    value
        The private number, exactly, already clamped.
    noise, scale, grid
        The noise and the possible outputs.
    proposal
        The first strip, how many strips there are (0 for a narrow window), and the thinning.
    words
        The two random words of the trial.
    entropy
        Where further bits come from.
    """
    first, many, thin = proposal
    choice, low = divmod((words[0] >> 32) * max(many, 1), 1 << 32)
    if low < (1 << 32) % max(many, 1):  # what makes the choice of a strip exactly uniform
        return None
    lower, upper, at = ball.exact(grid.lower), ball.exact(grid.upper), ball.exact(value)
    if many:
        table = strips(noise)
        left, right = (ball.exact(edge) for edge in table.edges[first + choice :][:2].tolist())
        weight = ball.exact(table.height) * (right - left) * ball.exact(thin)
    else:
        left, right = ((bound - at) / ball.exact(scale) for bound in (lower, upper))
        weight = ball.exact(thin)
    v, v_bits, u, u_bits = words[0] & 0xFFFFFFFF, 32, words[1], 64
    while True:
        with ctx.workprec(u_bits + 128):
            z = left + (right - left) * _uniform(u, u_bits)
            x = at + ball.exact(scale) * z
            index = _decided(
                x, lower, upper, _uniform(v, v_bits) - weight * noise.log_density(z).exp(), grid
            )
        if index is not _UNSETTLED:
            return index
        v, v_bits = v << _CHUNK | entropy.bits(_CHUNK), v_bits + _CHUNK
        u, u_bits = u << _CHUNK | entropy.bits(_CHUNK), u_bits + _CHUNK


_UNSETTLED = -1


def _uniform(bits: int, count: int) -> arb:
    """Return the ball of all numbers whose binary expansion starts with `bits`."""
    return arb(fmpq(2 * bits + 1, 2 << count), fmpq(1, 2 << count))


def _decided(x: arb, lower: fmpq, upper: fmpq, excess: arb, grid: Grid) -> int | None:
    """Return the index, None for refused, or _UNSETTLED."""
    if x < lower or x > upper or excess > 0:
        return None
    if not (x >= lower and x <= upper and excess < 0):
        return _UNSETTLED
    position = (x - lower) / grid.spacing + fmpq(1, 2)
    whole = position.min(arb(grid.intervals)).floor().unique_fmpz()
    return _UNSETTLED if whole is None else int(whole)


def is_beyond(
    *, value: Number, bound: float, scale: float, noise: Noise, word: int, entropy: Entropy
) -> bool:
    """Return whether U, which starts with the bits of `word`, is below the mass past a bound.

    The mass is that of the noise beyond |value - bound| on one side.
    """
    u, bits = word, 64
    while True:
        with ctx.workprec(bits + 64):
            distance = abs(arb(ball.exact(value) - ball.exact(bound))) / arb(scale)
            excess = _uniform(u, bits) - noise.ball_tail(distance)
        if excess < 0 or excess > 0:
            return bool(excess < 0)
        u, bits = u << _CHUNK | entropy.bits(_CHUNK), bits + _CHUNK
