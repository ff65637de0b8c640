"""The strips that a trial proposes for a value, and its thinning, compiled without branches.

The strips cover the window of the value, with a few to spare. Thinning gives all values the same
chance of acceptance, so that the time does not depend on them.

The tables are constants for the compiler. It can then prove that nothing writes to them, and
vectorise the loops.

Proof: docs/proofs/sampler.md, "The strips proposed cover the window".
"""

import numpy as np

from inbounds.numerics.noises import NOISES
from inbounds.sampling.compiled import (
    AS_INTEGER,
    DIGEST,
    LOW_32,
    TWO_52,
    U64,
    compiled,
    exp,
    fma,
    fraction,
    inlined,
    keyed,
)
from inbounds.sampling.strips import STRIPS, strips

# One entry for each of NOISES; `which` is the index.
NARROW = dict(
    zip(NOISES, (0.42, 0.05), strict=True)
)  # a window up to this width is treated as a single strip
_TABLES = tuple(strips(noise) for noise in NOISES)
_HALF = tuple(float(table.count // 2) for table in _TABLES)
_SPARE, _EXCESS = 1.05, (0.37, 0.6)  # strips beyond STRIPS * mass that a window may need

LEAST_FRACTION = 2.0**-64  # of the width: values closer to the lower bound count as that bound


@inlined
def _sixteenth_root(x):
    """Return the sixteenth root of 1/(1 - erf(x/√2)), accurate enough for fractions to 4e-7."""
    t = x * 0.7071067811865476
    p = fma(t, 4.30638e-5, 2.765672e-4)
    p = fma(p, t, 1.520143e-4)
    p = fma(p, t, 9.2705272e-3)
    p = fma(p, t, 4.22820123e-2)
    p = fma(p, t, 7.05230784e-2)
    return fma(p, t, 1.0)


@inlined
def _fractions(which, left, right):
    """Return, approximately, the fraction of each half of the mass within its distance."""
    if which == 1:
        return 1.0 - exp(max(-left, -700.0)), 1.0 - exp(max(-right, -700.0))
    p, q = _sixteenth_root(min(left, 20.0)), _sixteenth_root(min(right, 20.0))
    p, q = p * p, q * q
    p, q = p * p, q * q
    p, q = p * p, q * q
    p, q = p * p, q * q
    both = 1.0 / (p * q)
    return 1.0 - q * both, 1.0 - p * both


@inlined
def proposed(which, narrow, place, u, target):
    """Return the first strip, the number of strips and the thinning for a value.

    `place` is the value's place between the bounds, `u` their distance in units of the scale. The
    strips cover the window, with a few to spare.
    """
    if narrow:
        near, far = place, 1.0 - place
        if which == 0:
            mass = 1 - u * u * ((near**3 + far**3) / 6 - u * u * (near**5 + far**5) / 40)
        else:
            mass = 1 - u * ((near**2 + far**2) / 2 - u * (near**3 + far**3) / 6)
        return 0.0, 1.0, min(1.0, target / mass)
    left = place * u
    right = u - left
    below, above = _fractions(which, left, right)
    far_left, far_right = (left * left, right * right) if which == 0 else (left, right)
    spare, excess = _SPARE, _EXCESS[which]
    down = np.floor(min(STRIPS * below + spare + excess * far_left, _HALF[which]))
    up = np.floor(min(STRIPS * above + spare + excess * far_right, _HALF[which]))
    count = down + up
    return _HALF[which] - down, count, min(1.0, target * count / (STRIPS * (below + above)))


@inlined
def choose(which, narrow, a, place, u, target):
    """Return the strip that the high half of `a` chooses, and the thinning, NaN if undecided."""
    first, count, thin = proposed(which, narrow, place, u, target)
    product = (a >> U64(32)) * U64(np.uint32(np.int32(count)))
    rest = np.uint64((product & LOW_32) | AS_INTEGER).view(np.float64) - TWO_52
    strip = np.int64(np.int32(first)) + np.int64(product >> U64(32))
    return strip, thin if rest >= count else np.nan


def _make_helpers(digest):
    @compiled
    def propose(which, narrow, value, lower, per_width, least, u, target):
        """Return the strips and the thinning of one value, by the same arithmetic as the loops."""
        place = fraction(keyed(value, digest), lower, per_width, least)
        return proposed(which, narrow, place, u, target)

    @compiled
    def least_acceptance(which, narrow, u):
        """Return, approximately, the smallest chance of acceptance of any value, for each u."""
        least = np.ones(keyed(u.size, digest))
        for i in range(u.size):
            for part in range(65):
                thin = proposed(which, narrow, part / 128, u[i], 1e-3)[2]
                least[i] = min(least[i], 1e-3 / thin)
        return least

    return propose, least_acceptance


propose, least_acceptance = _make_helpers(DIGEST)
