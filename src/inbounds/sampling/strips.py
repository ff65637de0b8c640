"""A table of strips under a noise density, for exact sampling by rejection.

The line is cut at dyadic edges into strips whose width times the density at their inner edge is
about constant. To draw from the density f inside any window, propose one of the strips that cover
the window, each with the same probability, and a uniform point z in it; accept z with probability
``height * width * f(z)`` if it lies in the window. The proposal density on a strip is
1/(strips * width), so the product is proportional to f everywhere, for *all* widths: the edges
determine how often a point is refused, never the distribution.

The table does not depend on the scale of the noise, the box or the value.
"""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from inbounds._types import Floats
from inbounds.numerics.doubles import power_of_two_below
from inbounds.numerics.laplace import LAPLACE
from inbounds.numerics.noise import Noise
from inbounds.numerics.normal import NORMAL
from inbounds.sampling.exponential import LEAST, exp

STRIPS = 512  # the mass of each side in units of a strip's area
REACH = 2.0**520  # larger than any width in units of the scale
_DYADIC = 40  # fractional bits of an edge
_HEIGHT = {NORMAL: 408.5168951297161, LAPLACE: 511.9999999973754}
"""The largest heights, rounded down, for which no chance of acceptance exceeds one."""


@dataclass(frozen=True, slots=True, eq=False)
class Strips:
    """Strips of one density: `edges` from -REACH to REACH, symmetric about zero.

    ``height * width * f(inner edge) <= 1`` holds exactly for every strip, so a trial is exact for
    all widths. Proof: docs/proofs/sampler.md, theorem 3.
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
        """Widths of the strips, correct to half a unit in the last place."""
        return np.diff(self.edges)


@cache
def strips(noise: Noise) -> Strips:
    """Return the table of a distribution, which is built once."""
    half = _half_edges(noise)
    edges = np.concatenate([-half[:0:-1], half])
    return Strips(noise, edges, _HEIGHT[noise])


def _half_edges(noise: Noise) -> Floats:
    """Return edges in [0, REACH]; a width is the common area over the density at the inner edge."""
    area = noise.half_mass / STRIPS
    edges = [0.0]
    while edges[-1] < REACH:
        inner = edges[-1]
        width = area / exp(max(-noise.fall(inner), LEAST))
        if width < 2.0**10:
            edges.append(inner + math.ldexp(math.floor(math.ldexp(width, _DYADIC)), -_DYADIC))
        else:
            edges.append(min(REACH, power_of_two_below(width)))
    return np.array(edges)
