"""Numbers that are proved to be enough: the two searches that every calibration ends with.

Both return a number about which `admits` was asked and said yes. Privacy rests on this alone;
that whatever lies above an admitted number is admitted too only makes the result tight.

Proof: docs/proofs/search.md.
"""

import math
import sys
from collections.abc import Callable

from inbounds.errors import CertificateError

_LARGEST = sys.float_info.max


def repaired(
    number: float,
    admits: Callable[[float], bool],
    *,
    step: float = 2.0**-52,
    most: float = _LARGEST,
) -> float:
    """Return `number` if it is admitted, else a slightly larger number that is.

    The first step is `step` of the number, and each further one is twice as large. The last number
    asked about is the one returned.

    Raises
    ------
    CertificateError
        No number asked about, up to `most`, is admitted.

    Examples
    --------
    >>> repaired(3.0, lambda number: number * number >= 9.0)
    3.0
    >>> repaired(math.sqrt(2), lambda number: number * number >= 2.0)
    1.4142135623730951
    >>> repaired(0.1, lambda number: number >= 0.1000001)
    0.100000...
    """
    while not admits(number):
        larger = max(number * (1 + step), math.nextafter(number, math.inf))
        number, step = _checked(larger, number, most), 2 * step
    return number


def smallest_admissible(
    admits: Callable[[float], bool], start: float, *, tolerance: float, most: float = _LARGEST
) -> float:
    """Return an admitted number within a relative `tolerance` of one that is refused, or of zero.

    The positive number `start` is doubled until it is admitted; then the distance to the largest
    number refused, or to zero, is halved until it is short enough.

    Raises
    ------
    CertificateError
        No number asked about, up to `most`, is admitted.

    Examples
    --------
    >>> smallest_admissible(lambda number: number * number >= 2.0, 1.0, tolerance=1e-12)
    1.41421356237...
    """
    low, high = 0.0, start
    while not admits(high):
        low, high = high, _checked(2 * high, high, most)
    while high - low > tolerance * high:
        middle = low / 2 + high / 2
        if not low < middle < high:  # no double lies between
            break
        low, high = (low, middle) if admits(middle) else (middle, high)
    return high


def _checked(larger: float, number: float, most: float) -> float:
    if not number < larger <= min(most, _LARGEST):  # not for NaN either
        raise CertificateError(f"no number up to {most:g} could be proved to be enough.")
    return larger
