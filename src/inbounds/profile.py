"""Privacy profiles, which are tables of delta at each epsilon, and what pure epsilon implies.

Randomised response is the worst of all releases with a given pure epsilon, so its delta, mu and rho
are upper bounds for each of them. Proof: docs/proofs/composition.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy.special import erfinv, ndtri

Profile = tuple[tuple[float, float], ...]
"""Pairs of an epsilon and an upper bound on delta there."""

LARGEST = 512.0
"""The largest epsilon in a profile: more than that protects nothing."""

_POINTS = 64
_NEGLIGIBLE = 1e-24  # a delta that no budget will notice
_UP = 1 + 2.0**-40  # covers rounding
_TINY = 1e-300  # covers underflow
_HALVINGS = 60  # in search of where delta is negligible


def response_delta(pure: float, epsilon: float) -> float:
    """Return the largest delta at `epsilon` of any release with pure epsilon `pure`.

    It is the delta of randomised response, (e^pure - e^epsilon) / (1 + e^pure).

    Examples
    --------
    >>> round(response_delta(1.0, 0.5), 6), response_delta(1.0, 1.0)
    (0.287649, 0.0)
    """
    excess = pure - epsilon
    if excess <= 0:
        return 0.0
    return min(1.0, -math.expm1(-excess) / (1 + math.exp(-pure)) * _UP)  # without overflow


def pure_mu(epsilon: float) -> float:
    """Return a mu such that every release with pure `epsilon` is mu-GDP.

    The trade-off curve of randomised response is the chord of a Gaussian's curve through its
    corner, and a convex curve lies below its chords.

    Examples
    --------
    >>> round(pure_mu(1.0), 6), pure_mu(1e-9) / 1e-9 > math.sqrt(math.pi / 2)
    (1.232..., True)
    """
    if epsilon < 1:
        return math.sqrt(8) * float(erfinv(math.tanh(epsilon / 2))) * _UP + _TINY
    return -2 * float(ndtri(1 / (1 + math.exp(epsilon)))) * _UP if epsilon < 700 else math.inf


def pure_rho(epsilon: float) -> float:
    """Return a rho such that every release with pure `epsilon` is rho-zCDP.

    Examples
    --------
    >>> round(pure_rho(1.0), 9), round(pure_rho(10.0), 9)
    (0.5, 10.0)
    """
    return min(epsilon * epsilon / 2, epsilon) * _UP + _TINY


def tabulated(delta: Callable[[float], float], pure: float) -> Profile:
    """Return a table of `delta`, from epsilon 0 to `pure` or to where delta is negligible.

    Examples
    --------
    >>> points = tabulated(lambda epsilon: response_delta(1.0, epsilon), 1.0)
    >>> len(points), points[-1]
    (65, (1.0, 0.0))
    """
    top = min(pure, LARGEST)
    for _ in range(_HALVINGS):
        if delta(top / 2) > _NEGLIGIBLE:
            break
        top /= 2
    steps = sorted({top * k / _POINTS for k in range(_POINTS + 1)})
    return tuple((epsilon, delta(epsilon)) for epsilon in steps)
