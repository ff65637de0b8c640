"""The bounds of clamped noise: which outputs are a bound itself, decided without branches.

Every value gets an output inside the box first, and here one random word more. The word is
compared with the probabilities of noise beyond either bound, in double precision with a margin;
what is too close to call is settled in ball arithmetic by `refine`. Values that keep their output
and values that lose it take the same work.

Proof, and the margin: docs/proofs/sampler.md, "Clamped laws".
"""

import numpy as np

from inbounds.sampling.kernel import _compiled, _exp, _fma, _inline, _share

_MARGIN = 2.0**-30  # relative, of the tails
_MARGIN_PER_SCALE = 2.0**-45  # more of it for each scale in the width: places are rounded
_WORD = 2.0**-64

# Of tail(d) * exp(d * d / 2) * (1 + 0.3 * d), in powers of 1 / (1 + 0.3 * d) - 0.5.
_TAIL = np.array(
    [
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
    ]
)


@_inline
def _tail(laplace, distance):
    """Return the mass of noise beyond a distance to one side, within 2**-33 up to 12 scales."""
    if laplace:
        return 0.5 * _exp(max(-distance, -700.0))
    t = 1.0 / _fma(distance, 0.3, 1.0)
    s = t - 0.5
    p = _TAIL[12]
    for k in range(11, -1, -1):
        p = _fma(p, s, _TAIL[k])
    return p * t * _exp(max(-0.5 * distance * distance, -700.0))


@_compiled
def move_to_bounds(laplace, words, values, lower, per_width, least, u, intervals, indices, unsure):
    """Replace indices by those of the bounds where noise leaves the box.

    Returns how many are too close to call: `unsure`, as long as the values, lists them first.
    """
    count = 0
    for i in range(values.size):
        k = i if u.size > 1 else 0
        left = _share(values[i], lower[k], per_width[k], least[k]) * u[k]
        margin = _fma(u[k], _MARGIN_PER_SCALE, _MARGIN)
        below, above = _tail(laplace, left), _tail(laplace, u[k] - left)
        up, down = np.float64(words[i]) * _WORD, np.float64(~words[i]) * _WORD
        low = up + 2.0**-63 <= below * (1 - margin)
        high = down + 2.0**-63 <= above * (1 - margin)
        near = up * (1 - margin) <= below * (1 + margin)
        far = down * (1 - margin) <= above * (1 + margin)
        indices[i] = 0.0 if low else (intervals[k] if high else indices[i])
        unsure[count] = i
        count += (near & (not low)) | (far & (not high))
    return count
