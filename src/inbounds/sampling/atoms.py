"""Clamped noise: which outputs are moved to a bound, for one value and for many, bit by bit alike.

Every value first gets an output inside the box, and then one more random word here. Its first bit
chooses a bound. The word is compared with the probability of noise beyond that bound, in double
precision with a margin; comparisons that are too close to call are settled in ball arithmetic by
`refine`. Values that keep their output and values that do not take the same amount of work.
"""

from collections.abc import Callable

import numpy as np

from inbounds._types import Floats
from inbounds.numerics.noise import Noise
from inbounds.numerics.normal import NORMAL
from inbounds.sampling.entropy import Words
from inbounds.sampling.exponential import LEAST, exp, exp_in_place
from inbounds.sampling.plan import Parameters

INSIDE, BEYOND, UNSURE = 0.0, 1.0, 2.0
"""Whether noise leaves the box at the bound, or is too close to call."""

MARGIN = 2.0**-30
"""The margin of a comparison, relative to a tail."""

MARGIN_PER_SCALE = 2.0**-45
"""What is added to it for each scale in the width, because places are rounded."""

TAIL = (
    0.22197061383673833,
    0.32915896802720435,
    0.3461985486596343,
    0.22208295544216494,
    0.029074209633506504,
    -0.07756664339899516,
    -0.03683883971827791,
    0.036352867248321014,
    0.022946949462568318,
    -0.0258801483538311,
    -0.009386876157935164,
    0.021396371173833237,
    -0.008416370211121722,
)
"""Coefficients of tail(d) * exp(d * d / 2) * (1 + 0.3 * d) in powers of 1 / (1 + 0.3 * d) - 0.5."""

_C0, _C1, _C2, _C3, _C4, _C5, _C6, _C7, _C8, _C9, _C10, _C11, _C12 = TAIL
_ALL, _HIGHEST = (1 << 64) - 1, 1 << 63
# Arrays without axes, which save a ufunc the conversion of a number.
_ONE, _HALF, _MINUS_HALF, _STRETCH = map(np.array, (1.0, 0.5, -0.5, 0.3))
_LEAST, _RESOLUTION = map(np.array, (LEAST, 2.0**-52))
_LAST, *_MIDDLE, _FIRST = map(np.array, reversed(TAIL))
_TOP, _UNUSED = np.array(63, np.uint64), np.array(12, np.uint64)
_AS_FRACTION = np.array(0x3FF0000000000000, np.uint64)


def tail(noise: Noise, distance: float) -> float:
    """Return the mass of noise beyond a distance to one side, within 2**-33 up to 12 scales.

    The margin allows for as much: docs/proofs/sampler.md, theorem 11.

    Examples
    --------
    >>> from inbounds.numerics.laplace import LAPLACE
    >>> tail(LAPLACE, 0.0), abs(tail(NORMAL, 0.0) - 0.5) < 2.0**-33
    (0.5, True)
    """
    if noise is not NORMAL:
        return 0.5 * exp(max(-distance, LEAST))
    t = 1.0 / (distance * 0.3 + 1.0)
    s = t - 0.5
    p = (((_C12 * s + _C11) * s + _C10) * s + _C9) * s + _C8
    p = (((p * s + _C7) * s + _C6) * s + _C5) * s + _C4
    p = (((p * s + _C3) * s + _C2) * s + _C1) * s + _C0
    return p * t * exp(max(-0.5 * (distance * distance), LEAST))


def verdict_of(noise: Noise, u: float) -> Callable[[float, int], float]:
    """Return a function from the place of a value and a random word to a verdict.

    Proof: docs/proofs/sampler.md, theorem 11.
    """
    margin = u * MARGIN_PER_SCALE + MARGIN
    low, high = 1.0 - margin, 1.0 + margin

    def verdict(place: float, word: int) -> float:
        left = place * u
        above = word >= _HIGHEST
        mass = tail(noise, u - left if above else left)
        drawn = ((word ^ _ALL if above else word) >> 12) * 2.0**-52
        return (drawn <= mass * high) * UNSURE - (drawn + 2.0**-52 <= mass * low)  # no branch

    return verdict


@np.errstate(over="ignore", under="ignore")  # a distance beyond all doubles counts as the width
def verdicts(
    noise: Noise, given: Parameters, values: Floats, words: Words, scratch: Floats
) -> Floats:
    """Return a verdict for each value and word; `scratch` is at least 7 times as long.

    Proof: docs/proofs/sampler.md, theorem 11.
    """
    rows = scratch.reshape(-1)[: 7 * values.size].reshape(7, -1)
    distance, drawn, t, s, *spare, mass = rows
    np.subtract(values, given.lower, out=distance)
    np.maximum(distance, given.least, out=distance)
    np.multiply(distance, given.per_width, out=distance)
    np.minimum(distance, _ONE, out=distance)
    np.multiply(distance, given.u, out=distance)
    np.subtract(given.u, distance, out=t)
    above, bits = words >> _TOP, drawn.view(np.uint64)
    np.copyto(distance, t, where=above.view(np.int64) != 0)
    np.negative(above.view(np.int64), out=above.view(np.int64))  # all bits, or none
    np.bitwise_xor(words, above, out=bits)
    np.right_shift(bits, _UNUSED, out=bits)
    np.bitwise_or(bits, _AS_FRACTION, out=bits)
    np.subtract(drawn, _ONE, out=drawn)
    if noise is NORMAL:
        np.multiply(distance, _STRETCH, out=t)
        np.add(t, _ONE, out=t)
        np.divide(_ONE, t, out=t)
        np.subtract(t, _HALF, out=s)
        np.multiply(s, _LAST, out=mass)
        for coefficient in _MIDDLE:
            np.add(mass, coefficient, out=mass)
            np.multiply(mass, s, out=mass)
        np.add(mass, _FIRST, out=mass)
        np.multiply(mass, t, out=mass)
        np.multiply(distance, distance, out=distance)
        np.multiply(distance, _MINUS_HALF, out=distance)
    else:
        mass[:] = _HALF
        np.negative(distance, out=distance)
    np.maximum(distance, _LEAST, out=distance)
    exp_in_place(distance, (s, *spare))
    np.multiply(mass, distance, out=mass)
    margin = given.u * MARGIN_PER_SCALE + MARGIN
    # Arithmetic, because the time of a choice would depend on how many values leave the box.
    found: Floats = np.less_equal(drawn, mass * (1.0 + margin)) * UNSURE
    np.add(drawn, _RESOLUTION, out=drawn)
    np.subtract(found, np.less_equal(drawn, mass * (1.0 - margin)), out=found)
    return found
