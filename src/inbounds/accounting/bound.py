"""The bounds on the privacy of several releases together, each as delta at every epsilon."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Literal

from inbounds.accounting import lattice, order, pld, split
from inbounds.calibration.approximate import rho_delta
from inbounds.errors import CertificateError
from inbounds.loss import PrivacyLoss
from inbounds.numerics.search import smallest_admissible

Curve = Callable[[float], float]
"""Delta as a function of epsilon."""

Bound = Literal["basic", "optimal pure", "total variation", "zCDP", "GDP", "PLD"]

Losses = tuple[tuple[PrivacyLoss, int], ...]
"""Each distinct loss, and the number of releases that have it."""

_CLOSE = 1e-12  # relative: where the search for an epsilon stops
_LARGEST = 2e9  # the search for an epsilon gives up here


def best_curves(losses: Losses, pure: float, rho: float) -> dict[Bound, Curve]:
    """Return the bounds that may be the best, given the totals of `losses`.

    Examples
    --------
    >>> sorted(best_curves(((PrivacyLoss.concentrated(0.1), 2),), math.inf, 0.2))
    ['basic', 'zCDP']
    """
    curves: dict[Bound, Curve] = {"basic": lambda epsilon: 0.0 if epsilon >= pure else 1.0}
    curves |= _concentrated(losses, rho) if rho else {}
    if pure and (gaussian := split.gaussian_curve(losses)) is not None:
        curves["GDP"] = gaussian
    if losses and all(loss.profile for loss, _ in losses):
        curves |= _total_variation(losses, pure)
        curves["PLD"] = lambda epsilon: pld.delta(losses, epsilon)
        return curves
    return curves | _optimal_pure(losses, pure) | _rest_added(losses)


def all_curves(losses: Losses, pure: float, rho: float) -> dict[Bound, Curve]:
    """Return every bound, including "optimal pure" where "PLD" is never worse.

    Examples
    --------
    >>> sorted(all_curves(((PrivacyLoss.pure(0.1), 2),), 0.2, 0.01))
    ['GDP', 'PLD', 'basic', 'optimal pure', 'total variation', 'zCDP']
    """
    return best_curves(losses, pure, rho) | _optimal_pure(losses, pure)


def _concentrated(losses: Losses, rho: float) -> dict[Bound, Curve]:
    """Return the bound by rho, where at each order a release counts by epsilon if that is less.

    Proof: docs/proofs/composition.md, theorems 3 and 7.
    """
    if all(loss.epsilon == math.inf for loss, _ in losses):
        return {"zCDP": lambda epsilon: rho_delta(rho, epsilon)} if rho < math.inf else {}
    curve = order.delta_curve(losses)
    if curve is None or not any(0 < loss.rho < math.inf for loss, _ in losses):
        return {}
    return {"zCDP": lambda epsilon: min(curve(epsilon), rho_delta(rho, epsilon))}


def _rest_added(losses: Losses) -> dict[Bound, Curve]:
    """Return the bound by profiles, where the releases without one are added by their epsilon.

    Proof: docs/proofs/composition.md, theorem 7.
    """
    known, added = split.without(losses, lambda loss: not loss.profile)
    if not known or added == math.inf:
        return {}
    return {"PLD": split.shifted(lambda epsilon: pld.delta(known, epsilon), added)}


def _optimal_pure(losses: Losses, pure: float) -> dict[Bound, Curve]:
    """Return the bound by each pure epsilon alone (docs/proofs/composition.md, theorem 2)."""
    if not 0 < pure < math.inf:
        return {}
    known = tuple((PrivacyLoss.pure(loss.epsilon), n) for loss, n in losses if loss.epsilon)
    return {"optimal pure": lambda epsilon: pld.delta(known, epsilon)}


def _total_variation(losses: Losses, pure: float) -> dict[Bound, Curve]:
    """Return the bound by each pure epsilon and total variation, which is the delta at 0.

    Proofs: docs/proofs/composition.md, theorem 6, and docs/proofs/pure.md, theorems 6 and 9.
    """
    if not 0 < pure <= _LARGEST:
        return {}
    counts: Counter[tuple[float, float]] = Counter()
    for loss, n in losses:
        variation = loss.profile[0][1]
        if loss.epsilon and variation:  # else neighbours cannot be told apart
            counts[loss.epsilon, variation] += n
    releases = tuple((*pair, n) for pair, n in counts.items())
    if not releases:
        return {"total variation": lambda _: 0.0}
    return {"total variation": lambda epsilon: lattice.delta(releases, epsilon)}


def epsilon_at(curve: Curve, delta: float, start: float) -> float:
    """Return about the smallest epsilon at which `curve` was found to be at most `delta`.

    Examples
    --------
    >>> round(epsilon_at(lambda epsilon: math.exp(-epsilon), 0.5, start=1.0), 6)
    0.693147
    """

    def enough(epsilon: float) -> bool:
        return curve(epsilon) <= delta

    if enough(0.0):
        return 0.0
    try:
        return smallest_admissible(enough, min(start, 1e3), tolerance=_CLOSE, most=_LARGEST)
    except CertificateError:
        return math.inf
