"""What pure epsilon and total variation imply: delta, Rényi divergences, rho and mu.

Let the likelihood ratios of two distributions be at most e^epsilon, and their total variation be at
most `variation`. A pair with three outcomes is the worst of all such pairs. Its likelihood ratios
are e^epsilon, 1 and e^-epsilon, and the first outcome has the probabilities a and a·e^-epsilon,
where a = variation / (1 - e^-epsilon). Each function returns an upper bound. The total variation is
at most tanh(epsilon/2), that of randomised response, which is used where none is given.
"""

from __future__ import annotations

import math
from functools import lru_cache

from scipy.special import erfinv, ndtri, ndtri_exp

from inbounds.pure_order import largest_quotient, log_moment

_UP = 1 + 2.0**-40  # covers rounding
_TINY = 1e-300  # covers underflow
_SMALLEST = 5e-324
_ASYMPTOTIC = -1e4  # for smaller logarithms of a probability a simple bound on its quantile is used
_QUANTILE = 2.0**-46  # bounds the rounding of a quantile, absolutely and relative to it
_STEEPEST = 37.0  # the density at quantiles further away is too small for its inverse


def pure_variation(epsilon: float) -> float:
    """Return the largest total variation between neighbours of any release with pure `epsilon`.

    Proof: docs/proofs/pure.md, theorem 1.

    Examples
    --------
    >>> round(pure_variation(1.0), 6), pure_variation(1e3)
    (0.462117, 1.0)
    """
    return min(1.0, math.tanh(epsilon / 2) * _UP + _SMALLEST)


def pure_delta(pure: float, variation: float | None, epsilon: float) -> float:
    """Return the largest delta at `epsilon` of a release with pure epsilon `pure`.

    It is `variation` · (e^pure - e^epsilon) / (e^pure - 1).

    Proof: docs/proofs/pure.md, theorem 2.

    Examples
    --------
    >>> round(pure_delta(1.0, 0.25, 0.5), 6), pure_delta(1.0, 0.25, 1.0)
    (0.155615, 0.0)
    """
    excess = pure - epsilon
    if excess <= 0 or variation == 0:
        return 0.0
    return min(1.0, likely(pure, variation) * -math.expm1(-excess) * _UP + _SMALLEST)


def response_delta(pure: float, epsilon: float) -> float:
    """Return the largest delta at `epsilon` of any release with pure epsilon `pure`.

    It is the delta of randomised response, (e^pure - e^epsilon) / (1 + e^pure).

    Proof: docs/proofs/pure.md, theorem 8.

    Examples
    --------
    >>> round(response_delta(1.0, 0.5), 6), response_delta(1.0, 1.0)
    (0.287649, 0.0)
    """
    return pure_delta(pure, None, epsilon)


def pure_renyi(epsilon: float, variation: float | None, order: float) -> float:
    """Return the largest Rényi divergence of an order from 1 to infinity.

    It is ln(1 + 2 · variation · sinh(order · epsilon/2) · sinh((order - 1) · epsilon/2) /
    sinh(epsilon/2)) / (order - 1), and `epsilon` · `variation` at order 1.

    Proof: docs/proofs/pure.md, theorem 3.

    Examples
    --------
    >>> round(pure_renyi(1.0, 0.25, 2.0), 6), round(pure_renyi(1.0, 0.25, 1.0), 6)
    (0.462224, 0.25)
    >>> pure_renyi(1.0, 0.25, math.inf)
    1.0
    """
    if epsilon == 0 or variation == 0:
        return 0.0
    y = (order - 1) * epsilon
    if math.isinf(y):
        return epsilon
    if order == 1:
        divergence = epsilon * _variation(epsilon, variation)
    else:
        divergence = log_moment(likely(epsilon, variation), epsilon, y) / (order - 1)
    return min(epsilon, divergence * _UP + _TINY)


def pure_rho(epsilon: float, variation: float | None = None) -> float:
    """Return a rho such that every such release is rho-zCDP.

    It is the largest Rényi divergence divided by its order: `epsilon` · `variation`, unless
    `variation` is less than coth(epsilon/2) - 2/epsilon.

    Proof: docs/proofs/pure.md, theorem 4.

    Examples
    --------
    >>> round(pure_rho(1.0), 9), round(pure_rho(10.0), 9), round(pure_rho(1.0, 0.25), 9)
    (0.462117157, 9.999092043, 0.25)
    """
    if epsilon == 0 or variation == 0:
        return 0.0
    return min(epsilon, _rho(epsilon, variation) * _UP + _TINY)


@lru_cache(maxsize=1024)
def _rho(epsilon: float, variation: float | None) -> float:
    # docs/proofs/pure.md, theorems 4 and 8
    divergence = epsilon * _variation(epsilon, variation)
    if divergence == math.inf or variation is None or variation >= math.tanh(epsilon / 2):
        return divergence
    return largest_quotient(likely(epsilon, variation), epsilon, divergence)


def pure_epsilon(rho: float) -> float:
    """Return about the largest pure epsilon whose `pure_rho` is at most `rho`, and never more.

    Since x²/(1 + x) ≤ x·tanh(x) ≤ min(x², x), it lies between max(√(2·rho), rho) and the positive
    root of epsilon² = rho · (2 + epsilon).

    Examples
    --------
    >>> round(pure_epsilon(0.5), 6), pure_rho(pure_epsilon(0.5)) <= 0.5
    (1.043627, True)
    """
    low, high = 0.0, (rho + math.sqrt(rho) * math.sqrt(rho + 8)) / 2 * _UP
    while low < (middle := low / 2 + high / 2) < high:
        low, high = (middle, high) if pure_rho(middle) <= rho else (low, middle)
    return low


def pure_mu(epsilon: float, variation: float | None = None) -> float:
    """Return a mu such that every such release is mu-GDP.

    It is Φ⁻¹(a) - Φ⁻¹(a·e^-epsilon). The trade-off curve of the pair consists of chords of a
    Gaussian's curve, and a convex curve lies below its chords.

    Proof: docs/proofs/pure.md, theorem 5.

    Examples
    --------
    >>> round(pure_mu(1.0), 6), pure_mu(1e-9) / 1e-9 > math.sqrt(math.pi / 2)
    (1.232035, True)
    >>> round(pure_mu(1.0, 0.25), 6)
    0.790929
    """
    if epsilon == 0 or variation == 0:
        return 0.0
    if epsilon < 1:
        largest = math.sqrt(8) * float(erfinv(math.tanh(epsilon / 2)))
    else:
        largest = -2 * _quantile(-epsilon - math.log1p(math.exp(-epsilon)))
    if variation is not None and variation < math.tanh(epsilon / 2):
        largest = min(largest, _mu(epsilon, variation))
    return largest * _UP + _TINY


def _mu(epsilon: float, variation: float) -> float:
    """Return the distance of the quantiles of a and a·e^-epsilon, which differ by `variation`.

    Quantiles close to each other are not subtracted: a chord bounds the integral of their slope.

    Proof: docs/proofs/pure.md, theorem 5.
    """
    a = likely(epsilon, variation)
    lower = _quantile(math.log(a) - epsilon)
    if a <= 0.5:
        upper = float(ndtri(a))
    elif epsilon < 1:
        upper = -float(ndtri(1 - a))
    else:
        upper = -float(ndtri(((1 - variation) - math.exp(-epsilon)) / -math.expm1(-epsilon)))
    distance = upper - lower + _QUANTILE * (1 + abs(upper) + abs(lower))
    if max(abs(lower), abs(upper)) > _STEEPEST:
        return distance
    slopes = math.exp(lower * lower / 2) + math.exp(upper * upper / 2)
    room = 1 + _QUANTILE * (1 + lower * lower + upper * upper)
    return min(distance, variation * math.sqrt(math.pi / 2) * slopes * room)


def _quantile(log_probability: float) -> float:
    """Return the quantile of a small probability; from far away, a lower bound on it."""
    if log_probability < _ASYMPTOTIC:
        return -math.sqrt(-2 * log_probability)
    return float(ndtri_exp(log_probability))


def _variation(epsilon: float, variation: float | None) -> float:
    most = math.tanh(epsilon / 2)
    return most if variation is None else min(variation, most)


def likely(epsilon: float, variation: float | None) -> float:
    """Return the probability a of the first outcome, at most that of randomised response.

    Proof: docs/proofs/pure.md, theorem 1.

    Examples
    --------
    >>> round(likely(1.0, None), 6), round(likely(1.0, 0.25), 6)
    (0.731059, 0.395494)
    """
    most = 1 / (1 + math.exp(-epsilon))
    if variation is None:
        return most
    return min(most, variation / -math.expm1(-epsilon) + _SMALLEST)
