"""Bounds for a part of the releases, to which the pure epsilons of all others are added.

If some releases have pure epsilons that add up to t, then all releases have at epsilon + t at most
the delta that the others have at epsilon. So no release costs more than its pure epsilon. Which
releases are added that way may depend on their losses, and any choice is valid.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np
from scipy.special import log_ndtr

from inbounds._types import Floats
from inbounds.calibration.gaussian import gaussian_delta
from inbounds.loss import PrivacyLoss

Losses = tuple[tuple[PrivacyLoss, int], ...]
Curve = Callable[[float], float]

_UP = 1 + 2.0**-45  # covers the rounding of sums
_SMALLEST = 1e-290  # smaller squares are rounded up to it


def shifted(curve: Curve, added: float) -> Curve:
    """Return the curve of all releases, from that of a part and the epsilons of the rest.

    Proof: docs/proofs/composition.md, theorem 7.

    Examples
    --------
    >>> curve = shifted(lambda epsilon: math.exp(-epsilon), 1.0)
    >>> curve(0.5), curve(1.0), round(curve(3.0), 9) == round(math.exp(-2.0), 9)
    (1.0, 1.0, True)
    """
    return lambda epsilon: curve(_below(epsilon, added)) if epsilon >= added else 1.0


def _below(epsilon: float, added: float) -> float:
    """Return epsilon - added, rounded down."""
    return max(0.0, math.nextafter(epsilon - added, -math.inf)) if added else epsilon


def without(losses: Losses, is_added: Callable[[PrivacyLoss], bool]) -> tuple[Losses, float]:
    """Return the releases that are not added, and the sum of the epsilons of those that are.

    Examples
    --------
    >>> losses = (PrivacyLoss.pure(0.5), 2), (PrivacyLoss.concentrated(0.1), 1)
    >>> kept, added = without(losses, lambda loss: math.isfinite(loss.epsilon))
    >>> kept == losses[1:], round(added, 9)
    (True, 1.0)
    """
    kept = tuple((loss, n) for loss, n in losses if not is_added(loss))
    return kept, _total(n * loss.epsilon for loss, n in losses if is_added(loss))


def _total(numbers: Iterable[float]) -> float:
    try:
        return math.fsum(numbers) * _UP
    except OverflowError:  # the sum of finite numbers exceeds every double
        return math.inf


def gaussian_curve(losses: Losses) -> Curve | None:
    """Return delta at every epsilon by GDP, for the best choice of releases to add by epsilon.

    It returns None if there is no such choice, or nothing is left after it. Proof:
    docs/proofs/composition.md, theorems 4 and 7.

    Examples
    --------
    >>> noise, pure = PrivacyLoss(math.inf, 0.1, math.inf, ()), PrivacyLoss.pure(0.1)
    >>> alone, both = gaussian_curve(((noise, 1),)), gaussian_curve(((noise, 1), (pure, 1)))
    >>> both(0.5 + 1e-9) <= alone(0.4)
    True
    """
    if not any(0 < loss.mu < math.inf for loss, _ in losses):
        return None
    squares, added = _choices(losses)
    possible = np.isfinite(squares) & np.isfinite(added)
    squares, added = squares[possible], added[possible]
    if not squares.size or not squares.max():
        return None

    def delta(epsilon: float) -> float:
        k = int(np.argmin(_log_delta(squares, epsilon - added)))
        if not squares[k]:
            return 0.0 if epsilon >= added[k] else 1.0
        mu = math.nextafter(math.sqrt(squares[k]) * _UP, math.inf)
        return shifted(lambda smaller: gaussian_delta(mu, smaller), float(added[k]))(epsilon)

    return delta


def _choices(losses: Losses) -> tuple[Floats, Floats]:
    """Return the sum of μ² and of the added epsilons, as more and more releases are added.

    As μ² is worth less the more of it there is, the best choice adds those with the least epsilon
    for their μ². All that have equal losses are added or none.
    """
    ranked = sorted(losses, key=_epsilon_per_square)
    squares = np.array([n * _square(loss.mu) for loss, n in ranked])
    epsilons = np.array([n * loss.epsilon for loss, n in ranked])
    left = np.concatenate([np.cumsum(squares[::-1])[::-1], [0.0]])
    added = np.concatenate([[0.0], np.cumsum(epsilons)])
    rounding = 1 + len(losses) * 2.0**-50
    return left * rounding, added * rounding


def _epsilon_per_square(item: tuple[PrivacyLoss, int]) -> float:
    loss, _ = item
    if math.inf in (loss.epsilon, loss.mu) or not loss.mu:
        return math.inf if loss.epsilon == math.inf or not loss.mu else 0.0
    return loss.epsilon / _square(loss.mu)


def _square(mu: float) -> float:
    return max(mu * mu, _SMALLEST) if mu else 0.0


def _log_delta(squares: Floats, epsilons: Floats) -> Floats:
    """Return ln δ of normal distributions at squared distances, only to compare choices."""
    mu = np.sqrt(np.maximum(squares, 1e-300))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        near, far = (log_ndtr(-epsilons / mu + sign * mu / 2) for sign in (1, -1))
        logs = near + np.log1p(-np.exp(np.minimum(epsilons + far - near, 0.0)))
    logs = np.where(np.isnan(logs), -np.inf, logs)
    logs = np.where(squares == 0, -np.inf, logs)
    result: Floats = np.where(epsilons < 0, np.inf, logs)
    return result
