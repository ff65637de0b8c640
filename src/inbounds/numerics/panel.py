"""Smooth functions of a place in an interval, evaluated at many places by polynomials.

The interval is divided into panels, and each has the polynomial that agrees with the function at
Chebyshev's points. What is left out is far below the rounding error of a reading.
"""

import math
from collections.abc import Callable

import numpy as np

from inbounds._types import Floats

_LENGTH = 0.5  # of a panel, in units of the scale
_DEGREE = 16
_NODES = np.polynomial.chebyshev.chebpts1(_DEGREE + 1)
_TO_CHEBYSHEV = np.linalg.inv(np.polynomial.chebyshev.chebvander(_NODES, _DEGREE))
_TO_POWERS = np.stack(
    [
        np.pad(np.polynomial.chebyshev.cheb2poly([0.0] * index + [1.0]), (0, _DEGREE - index))
        for index in range(_DEGREE + 1)
    ]
)
_BLOCK = 1 << 14


def odd_about_the_middle(
    function: Callable[[Floats], Floats], places: Floats, width: float, reach: float
) -> Floats:
    """Return the values at places in ``[0, width]`` of a function that is odd about the middle.

    Error: docs/proofs/moments.md, theorem 5.

    Parameters
    ----------
    function
        Called with places in the lower half only. It must be smooth: analytic at a distance of 0.6
        from the interval.
    places
        Where the values are wanted.
    width
        The width of the interval.
    reach
        A distance from both ends, beyond which the function counts as zero.

    Examples
    --------
    >>> x = np.array([0.0, 0.5, 2.0])
    >>> odd_about_the_middle(lambda x: np.sin(1 - x), x, width=2.0, reach=9.0).round(12).tolist()
    [0.841470984808, 0.479425538604, -0.841470984808]
    """
    length = min(width / 2, reach)
    panels = max(1, math.ceil(length / _LENGTH))
    nodes = (np.arange(panels)[:, None] + (_NODES + 1) / 2) * (length / panels)
    values = function(nodes.ravel()).reshape(nodes.shape)
    powers: Floats = np.ascontiguousarray((values @ _TO_CHEBYSHEV.T @ _TO_POWERS).T)
    result = np.empty(places.shape)
    flat, out = places.reshape(-1), result.reshape(-1)
    for first in range(0, flat.size, _BLOCK):
        block = slice(first, first + _BLOCK)
        out[block] = _evaluated(powers, flat[block], width, length)
    return result


def _evaluated(powers: Floats, places: Floats, width: float, length: float) -> Floats:
    """Return values of the polynomials, whose coefficients are rows, from the nearest end."""
    panels, rest = powers.shape[1], width - places
    near = np.minimum(places, rest) * (panels / length)
    panel = np.clip(near, 0, panels - 1).astype(np.intp)
    place = 2 * (near - panel) - 1
    total: Floats = powers[-1].take(panel)
    for row in powers[-2::-1]:
        total *= place
        total += row.take(panel)
    total[near > panels] = 0.0
    return np.where(places <= rest, total, -total)
