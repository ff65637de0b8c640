"""The searches that every calibration ends with.

All return a number for which `admits` was called and returned True, and privacy depends on this
alone. If every number above an admitted one is admitted too, the result is tight.
"""

import math
import sys
from collections.abc import Callable

from inbounds.errors import CertificateError

_LARGEST = sys.float_info.max
_STEPS = 60
_AIM, _ACCEPT = 6e-15, 3e-14  # relative distances below the target: the aim, and when to stop


def next_admissible(
    number: float,
    admits: Callable[[float], bool],
    *,
    step: float = 2.0**-52,
    most: float = _LARGEST,
) -> float:
    """Return `number` if it is admitted, or else a slightly larger number that is.

    The first step is the fraction `step` of the number, and each further step is twice as large.
    The number returned is the last one that was tried.

    Proof: docs/proofs/search.md, theorems 1 to 4.

    Raises
    ------
    CertificateError
        If none of the numbers tried, up to `most`, is admitted.

    Examples
    --------
    >>> next_admissible(3.0, lambda number: number * number >= 9.0)
    3.0
    >>> next_admissible(math.sqrt(2), lambda number: number * number >= 2.0)
    1.4142135623730951
    >>> next_admissible(0.1, lambda number: number >= 0.1000001)
    0.100000...
    """
    while not admits(number):
        larger = max(number * (1 + step), math.nextafter(number, math.inf))
        number, step = _checked(larger, number, most), 2 * step
    return number


def smallest_admissible(
    admits: Callable[[float], bool], start: float, *, tolerance: float, most: float = _LARGEST
) -> float:
    """Return an admitted number within a relative `tolerance` of a refused one, or of zero.

    The positive number `start` is doubled until it is admitted. Then the distance to the largest
    refused number, or to zero, is halved until it is within the tolerance.

    Proof: docs/proofs/search.md, theorems 1 to 4.

    Raises
    ------
    CertificateError
        If none of the numbers tried, up to `most`, is admitted.

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
        if not low < middle < high:  # there is no double in between
            break
        low, high = (low, middle) if admits(middle) else (middle, high)
    return high


def newton_admissible(
    evaluate: Callable[[float], tuple[float, float]], start: float, target: float
) -> tuple[float, float]:
    """Return a number whose bound is at most `target`, and 3e-14 below it at most, and the bound.

    ``evaluate(number)`` returns the bound, which falls as the number grows, and the slope of its
    logarithm in the logarithm of the number. The inverse function is interpolated at the last two
    bounds, with its slopes there. Proof: docs/proofs/search.md, theorem 1.

    Raises
    ------
    CertificateError
        If no number that was tried has a bound of at most `target`.

    Examples
    --------
    >>> number, bound = newton_admissible(lambda number: (1 / number**2, -2.0), 1.0, 0.25)
    >>> round(number, 12), bound <= 0.25
    (2.0, True)
    """
    number, step, error_before, slope_before = start, 0.0, 0.0, 0.0
    for _ in range(_STEPS):
        bound, steepness = evaluate(number)
        error = math.log(bound / target)
        if -_ACCEPT <= error <= 0 and bound <= target:
            return number, bound
        error += _AIM
        slope, moved = 1 / steepness, error - error_before
        bend = 0.0
        if 1e-8 < abs(step) < 0.1 and moved:
            chord = step / moved
            bend, bend_before = (slope - chord) / moved, (chord - slope_before) / moved
            bend -= (bend - bend_before) / moved * error_before
        step, error_before, slope_before = (bend * error - slope) * error, error, slope
        number *= math.exp(step)
    number = next_admissible(number, lambda number: evaluate(number)[0] <= target, step=2.0**-51)
    return number, evaluate(number)[0]


def crossing(
    function: Callable[[float], float], low: float, high: float, *, within: float = 1e-300
) -> float:
    """Return about where a continuous function that changes its sign between two numbers is zero.

    It is found to 15 digits, or `within` a distance, which matters if it may be near zero.

    Examples
    --------
    >>> crossing(lambda number: number * number - 2.0, 1.0, 2.0)
    1.41421356237...
    """
    from scipy.optimize import brentq  # noqa: PLC0415 - takes as long to load as all else together

    return float(brentq(function, low, high, xtol=within, rtol=2.0**-50))


def _checked(larger: float, number: float, most: float) -> float:
    """Return the next number to ask about (docs/proofs/search.md, theorem 2)."""
    if not number < larger <= min(most, _LARGEST):  # including NaN
        raise CertificateError(f"no number up to {most:g} could be proved to be sufficient.")
    return larger
