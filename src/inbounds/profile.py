"""Privacy profiles, which are tables of delta at each epsilon."""

from __future__ import annotations

from collections.abc import Callable

from inbounds.pure import pure_mu, pure_rho, response_delta

__all__ = ["LARGEST", "Profile", "pure_mu", "pure_rho", "response_delta", "tabulated"]

Profile = tuple[tuple[float, float], ...]
"""Pairs of an epsilon and an upper bound on delta there."""

LARGEST = 512.0
"""The largest epsilon in a profile: more than that protects nothing."""

_POINTS = 64
_NEGLIGIBLE = 1e-24  # a delta that no budget will notice
_HALVINGS = 60  # in search of where delta is negligible


def tabulated(delta: Callable[[float], float], pure: float) -> Profile:
    """Return a table of `delta`, from epsilon 0 to `pure` or to where delta is negligible.

    Any points make a valid table: docs/proofs/composition.md, theorem 5.

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
