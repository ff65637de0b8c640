"""One trial of the fast exact sampler, for one value, in plain floats.

A trial proposes a strip and a point in it, and decides in double precision whether the point is
accepted (and which grid index it rounds to), refused, or too close to call. Every comparison has a
margin larger than all rounding errors, so the first two decisions are always right. The last kind,
a few in a million on usual grids, is settled in ball arithmetic by `refine`. All values take the
same arithmetic, so the time does not depend on them.

`trial_block` makes the same trials for arrays, and `trial_kernel` compiles them; all three give
the same bits. Proof: docs/proofs/sampler.md, theorem 5.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from inbounds.numerics.noise import Noise
from inbounds.numerics.normal import NORMAL
from inbounds.sampling.exponential import LEAST, exp
from inbounds.sampling.grid import REFUSED
from inbounds.sampling.plan import EXCESS, NARROW, ROOT, SPARE, Parameters
from inbounds.sampling.point import PAD, padded_array
from inbounds.sampling.strips import STRIPS, strips

UNSURE = -2.0
"""Stands for the index of a trial that doubles do not decide, as REFUSED does for one refused."""

V_MARGIN = 0.125
"""The margin of a comparison with V, in units of 2**-32."""

PLAIN = {"normal": 32.0, "laplace": 8192.0}
"""In wider strips nothing is accepted here, only refused by the window."""

_LOW_32 = (1 << 32) - 1
_ACCEPTED = 1.0 + V_MARGIN
_, _C1, _C2, _C3, _C4, _C5, _C6 = ROOT
_BASE = STRIPS + SPARE
_WHOLE = 2.0**52  # doubles from here on are whole numbers


Proposal = tuple[float, float, float, float]
"""What a trial of a value chooses from: its place, the first strip, their number, the thinning.

The place is between the bounds, from 0 to 1. If the number of strips is 0, there is only one: the
window itself. Thinning is the factor of the chance of acceptance that gives all values the same.
All are floats, with which Python takes equally long.
"""


class Trial(NamedTuple):
    """The trials of one coordinate, thinned by docs/proofs/sampler.md, theorem 12."""

    propose: Callable[[float], Proposal]
    """Return the proposal for the distance of a value from the lower bound."""
    decide: Callable[[Proposal, int, int], float]
    """Return the index that two random words of 64 bits lead to, or REFUSED, or UNSURE.

    The first 32 bits choose the strip, the next 32 decide acceptance, and the second word is the
    place in the strip.
    """


def trial_of(noise: Noise, given: Parameters, caution: float = 0.0) -> Trial:
    """Return the trials of a coordinate; `caution` is added to every margin, in grid steps.

    Accepted trials have the right distribution. Proof: docs/proofs/sampler.md, theorem 3.
    """
    if given.u <= NARROW[noise]:
        return Trial(_narrow_proposals(noise, given), _narrow_decisions(noise, given, caution))
    return Trial(_wide_proposals(noise, given), _wide_decisions(noise, given, caution))


@cache
def _table(noise: Noise) -> tuple[array[float], array[float], float, float]:
    """Return the inner edges and the widths of the strips, 2**32 heights, and half their number.

    Places in them are padded.
    """
    table = strips(noise)
    sides = table.edges[:-1], table.widths
    edges, widths = (padded_array("d", side) for side in sides)
    return edges, widths, table.height * 2.0**32, float(table.count // 2)


def _wide_proposals(noise: Noise, given: Parameters) -> Callable[[float], Proposal]:
    # The strips cover the window: docs/proofs/sampler.md, theorem 6.
    least, per_width, u, target = given.least, given.per_width, given.u, given.target
    half, excess, normal = _table(noise)[3], EXCESS[noise], noise is NORMAL

    def propose(distance: float) -> Proposal:
        place = min(max(distance, least) * per_width, 1.0)
        x = place * u
        y = u - x
        if normal:
            p = (((((_C6 * x + _C5) * x + _C4) * x + _C3) * x + _C2) * x + _C1) * x + 1.0
            q = (((((_C6 * y + _C5) * y + _C4) * y + _C3) * y + _C2) * y + _C1) * y + 1.0
            p *= p
            q *= q
            p *= p
            q *= q
            p *= p
            q *= q
            p = STRIPS / (p * p)
            q = STRIPS / (q * q)
            x *= x
            y *= y
        else:
            p = exp(max(-x, LEAST)) * STRIPS
            q = exp(max(-y, LEAST)) * STRIPS
        x = min((x * excess - p) + _BASE, half)
        y = min((y * excess - q) + _BASE, half)
        down = x + _WHOLE - _WHOLE  # the nearest integer; int() would be quicker with small ones
        down -= down > x
        up = y + _WHOLE - _WHOLE
        up -= up > y
        many = down + up
        return place, half - down, many, min(many / (2 * STRIPS - (p + q)) * target, 1.0)

    return propose


def _wide_decisions(
    noise: Noise, given: Parameters, caution: float
) -> Callable[[Proposal, int, int], float]:
    # The choice of a strip and both margins: docs/proofs/sampler.md, theorems 4, 7 and 9.
    edges, widths, weight, _ = _table(noise)
    stretch, span, middle = given.stretch, given.span, 0.5 * given.span
    wide, base, to_inner = stretch * 2.0**-50, span * 2.0**-48 + caution, middle - 0.5
    normal, widest = noise is NORMAL, PLAIN[noise.name]

    def decide(proposal: Proposal, word: int, second: int) -> float:
        place, first, many, thin = proposal
        share = many * 2.0**-32
        choice = (word >> 32) * share + (first + PAD)  # exact: 12 bits before the point, 32 after
        strip = int(choice)
        width = widths[strip]
        z = edges[strip] + width * ((second >> 12) * 2.0**-52)
        exponent = -0.5 * (z * z) if normal else -abs(z)
        chance = exp(max(exponent, LEAST)) * thin * width * weight
        excess = chance - (word & _LOW_32)
        x = stretch * z + place * span
        margin = wide * width + base
        index = int(x + 0.5)
        cut, off = 0.5 - margin, abs(x - middle)
        plain = width <= widest
        accepted = (  # "and" would end sooner for some values than for others
            (excess >= _ACCEPTED)
            & plain
            & (choice - strip >= share)
            & (abs(x - index) < cut)
            & (off < cut + to_inner)
        )
        if accepted:  # with the same chance for all values
            return index
        refused = ((excess <= -V_MARGIN) & plain) | (off > middle + margin)
        return REFUSED if refused else UNSURE

    return decide


def _narrow_proposals(noise: Noise, given: Parameters) -> Callable[[float], Proposal]:
    least, per_width, u, target = given.least, given.per_width, given.u, given.target
    square, normal = u * u, noise is NORMAL

    def propose(distance: float) -> Proposal:
        place = min(max(distance, least) * per_width, 1.0)
        rest = 1.0 - place
        p, q = place * place, rest * rest
        a, b = p * place, q * rest
        if normal:
            mass = 1.0 - ((a + b) * (1 / 6) - (a * p + b * q) * (1 / 40) * square) * square
        else:
            mass = 1.0 - ((p + q) * 0.5 - (a + b) * (1 / 6) * u) * u
        return place, 0.0, 0.0, min(target / mass, 1.0)

    return propose


def _narrow_decisions(
    noise: Noise, given: Parameters, caution: float
) -> Callable[[Proposal, int, int], float]:
    # Both margins: docs/proofs/sampler.md, theorems 7 and 9.
    u, stretch, span, middle = given.u, given.stretch, given.span, 0.5 * given.span
    margin = stretch * 2.0**-50 * u + (span * 2.0**-48 + caution)
    cut = 0.5 - margin
    inner, normal = cut + (middle - 0.5), noise is NORMAL

    def decide(proposal: Proposal, word: int, second: int) -> float:
        place, _, _, thin = proposal
        z = u * ((second >> 12) * 2.0**-52) - place * u
        exponent = -0.5 * (z * z) if normal else -abs(z)
        excess = exp(exponent) * thin * 2.0**32 - (word & _LOW_32)
        x = stretch * z + place * span
        index = int(x + 0.5)
        accepted = (excess >= _ACCEPTED) & (abs(x - index) < cut) & (abs(x - middle) < inner)
        return index if accepted else REFUSED if excess <= -V_MARGIN else UNSURE

    return decide
