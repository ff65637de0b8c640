"""A universal table of strips under a noise density, for exact sampling by rejection.

The line is cut at dyadic edges into strips whose width times the density at their inner edge is
about constant. To draw from the density f inside any window: propose one of the strips that cover
the window, each with the same probability, a point z uniform in it, and accept with probability
``height * width * f(z)`` if z lies in the window. The proposal density on a strip is
1/(strips * width), so the product is proportional to f everywhere, *whatever the widths*: the cuts
decide how often a point is refused, never the distribution.

Neither the scale of the noise, nor the box, nor the value enters the table.

Proof: docs/proofs/sampler.md.
"""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from flint import arb, ctx

from inbounds._types import Floats
from inbounds.numerics import ball
from inbounds.numerics.noise import Noise

STRIPS = 512  # per side if none were lost to the tails
REACH = 2.0**520  # further than any width in units of the scale
_DYADIC = 40  # fractional bits of an edge


@dataclass(frozen=True, slots=True, eq=False)
class Strips:
    """Strips of one density: `edges` from -REACH to REACH, symmetric about zero.

    ``height * width * f(inner edge) <= 1`` holds exactly for every strip.
    """

    noise: Noise
    edges: Floats
    height: float

    @property
    def count(self) -> int:
        """Number of strips."""
        return self.edges.size - 1

    @property
    def widths(self) -> Floats:
        """Widths, each within half a unit in the last place."""
        return np.diff(self.edges)


@cache
def strips(noise: Noise) -> Strips:
    """Build the table of a distribution."""
    half = _half_edges(noise)
    edges = np.concatenate([-half[:0:-1], half])
    return Strips(noise, edges, _height(noise, half))


def _half_edges(noise: Noise) -> Floats:
    """Cut [0, REACH]: each width is the common area over the density at its inner edge."""
    area = noise.half_mass / STRIPS
    edges = [0.0]
    while edges[-1] < REACH:
        inner = edges[-1]
        width = area * math.exp(min(noise.fall(inner), 700.0))
        if width < 2.0**10:
            edges.append(inner + math.ldexp(math.floor(math.ldexp(width, _DYADIC)), -_DYADIC))
        else:
            edges.append(min(REACH, math.ldexp(1.0, math.frexp(width)[1] - 1)))
    return np.array(edges)


def _height(noise: Noise, half: Floats) -> float:
    """Return the largest height, rounded down, that keeps every acceptance at most one."""
    with ctx.workprec(128):
        tops = (
            (-noise.log_density(arb(inner))).exp() / (ball.exact(outer) - ball.exact(inner))
            for inner, outer in zip(half[:-1].tolist(), half[1:].tolist(), strict=True)
        )
        lowest = min(float(top.lower()) for top in tops)
    return lowest * (1 - 2.0**-40)
