"""The integers that randomised response draws from, and the check that they give epsilon."""

from __future__ import annotations

import math

from flint import arb, ctx

from inbounds import _check
from inbounds.errors import CertificateError
from inbounds.guarantee import check_epsilon
from inbounds.numerics.ball import exact, fraction_below
from inbounds.sampling.response import TOTAL, ResponseSampler

_PRECISION = 256  # bits, of which 128 decide
_SMALLEST = 1e-20  # with 2¹⁶ levels, 2¹²⁸ outcomes can be divided for this epsilon
_LARGEST = 100.0  # beyond, e^epsilon is more than 2¹²⁸, and one outcome is enough


def check_range(epsilon: object) -> float:
    """Return an epsilon for which 2¹²⁸ outcomes can be divided among all levels.

    Examples
    --------
    >>> check_range(2)
    2.0
    """
    return _check.within(_SMALLEST, math.inf, epsilon=check_epsilon(epsilon))


def fewest_outcomes(count: int, epsilon: float) -> int:
    """Return the smallest integer above 2¹²⁸/(e^epsilon + count - 1), or the next one.

    Proof: docs/proofs/response.md, theorem 2.

    Examples
    --------
    >>> fewest_outcomes(2, 100.0) / 2**128 < 1e-38
    True
    """
    with ctx.workprec(_PRECISION):
        quotient = TOTAL / (arb(exact(min(epsilon, _LARGEST))).exp() + (count - 1))
        above = quotient.upper()
        mantissa, exponent = above.ceil().man_exp()  # exact, because `above` has no radius
        return int(mantissa) << int(exponent)


def check_response(sampler: ResponseSampler, epsilon: float) -> None:
    """Refuse integers that do not give pure `epsilon`, by a comparison of integers.

    Proof: docs/proofs/response.md, theorem 2.

    Examples
    --------
    >>> check_response(ResponseSampler(2, TOTAL // 3), 0.6)
    Traceback (most recent call last):
    inbounds.errors.CertificateError: randomised response does not have this epsilon.
    """
    with ctx.workprec(_PRECISION):
        largest = fraction_below(arb(exact(min(epsilon, _LARGEST))).exp())
    own, other = sampler.own, sampler.other
    if not 0 < other <= own or own * largest.denominator > other * largest.numerator:
        raise CertificateError("randomised response does not have this epsilon.")
