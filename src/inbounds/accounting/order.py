"""Orders of Rényi divergence: what releases cost at each, and how much of it a budget allows.

A release of pure epsilon and rho has a divergence of at most min(epsilon, alpha·rho) at order
alpha. Divergences of one order add up, even if releases are chosen after seeing earlier outputs,
and no release adds more than its pure epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from inbounds._types import Floats
from inbounds.accounting.cost import exact
from inbounds.loss import PrivacyLoss

_FACTORS = (1.0, 4.0, 16.0)  # of alpha - 1: the first is best for Gaussian noise alone
_PARTS = (0.99, 0.005, 0.005)  # of delta, one for each of them
_SMALLEST, _LARGEST = 1e-150, 1e150  # of alpha - 1
_BITS = 24  # of alpha - 1, so that exact sums stay short
_ROUNDING = 1e-12  # relative: covers the rounding of logarithms
_SUM = 2.0**-51  # relative: covers the rounding of one term of a sum
_GRID = np.exp(np.linspace(math.log(1e-6), math.log(1e12), 512))  # of alpha - 1
_TINY = 1e-300  # covers underflow
_BLOCK = 1 << 12  # losses that are added at once


@dataclass(frozen=True, slots=True)
class Order:
    """An order, alpha = 1 + `rest`, and the `room` that a budget has at it.

    Examples
    --------
    >>> order = orders(1.0, 1e-6)[0]
    >>> order.divergence(0.1, math.inf)
    Fraction(1, 10)
    >>> float(order.divergence(math.inf, 0.01)) < 0.25 < order.room < 0.75
    True
    """

    rest: Fraction
    room: Fraction

    def divergence(self, epsilon: float, rho: float) -> Fraction | float:
        """Bound the divergence of a release, from its epsilon and rho, read as decimals."""
        bounds: list[Fraction] = []
        if math.isfinite(epsilon):
            bounds.append(exact(epsilon))
        if math.isfinite(rho):
            bounds.append((1 + self.rest) * exact(rho))
        return min(bounds, default=math.inf)


@lru_cache(maxsize=64)
def orders(epsilon: float, delta: float, *, several: bool = True) -> tuple[Order, ...]:
    """Return the orders of a budget. Releases within the room of any are (epsilon, delta)-private.

    With `several`, delta is divided between orders for mostly Gaussian noise and for mostly pure
    releases; otherwise it is all for the former. Proof: docs/proofs/composition.md, theorem 12.

    Examples
    --------
    >>> [round(float(1 + order.rest)) for order in orders(1.0, 1e-6)]
    [22, 85, 337]
    >>> [round(float(order.room), 2) for order in orders(1.0, 1e-6)]
    [0.54, 0.84, 0.96]
    """
    parts = _PARTS if several else (1.0,)
    log_deltas = [math.log(delta) + math.log(part) for part in parts]
    rest = _best_rest(epsilon, log_deltas[0])
    return tuple(
        _order(rest * factor, epsilon, log_delta)
        for factor, log_delta in zip(_FACTORS, log_deltas, strict=False)
    )


def _order(rest: float, epsilon: float, log_delta: float) -> Order:
    fraction, exponent = math.frexp(min(rest, _LARGEST))
    rest = math.ldexp(round(fraction * 2**_BITS), exponent - _BITS)
    room, rounding = _room(rest, epsilon, log_delta)
    return Order(Fraction(rest), max(Fraction(0), Fraction(room - rounding)))


def _room(rest: float, epsilon: float, log_delta: float) -> tuple[float, float]:
    """Return the divergence that implies (epsilon, delta), and a bound on its rounding error."""
    terms = epsilon, log_delta / rest, math.log1p(rest) / rest, math.log1p(1 / rest)
    return math.fsum(terms), _ROUNDING * math.fsum(map(abs, terms))


def _best_rest(epsilon: float, log_delta: float) -> float:
    """Return about the alpha - 1 at which the budget has room for the largest rho."""

    def rho(log_rest: float) -> float:
        rest = math.exp(log_rest)
        return _room(rest, epsilon, log_delta)[0] / (1 + rest)

    low, high = math.log(_SMALLEST), math.log(_LARGEST)
    for _ in range(100):  # every order is valid, so it need not be the best one
        left, right = low + (high - low) * 0.382, low + (high - low) * 0.618
        low, high = (low, right) if rho(left) > rho(right) else (left, high)
    return math.exp(low)


def delta_curve(losses: Iterable[tuple[PrivacyLoss, int]]) -> Callable[[float], float] | None:
    """Return delta at every epsilon by the best order, or None if nothing is known at any.

    Proof: docs/proofs/composition.md, theorems 3 and 7.

    Examples
    --------
    >>> gaussian, pure = PrivacyLoss.concentrated(0.001), PrivacyLoss.pure(0.1)
    >>> alone, both = delta_curve([(gaussian, 1)]), delta_curve([(gaussian, 1), (pure, 1)])
    >>> both(0.5) <= alone(0.4) * (1 + 1e-9)
    True
    """
    counts = np.array([(loss.epsilon, loss.rho, n) for loss, n in losses], dtype=float)
    if not counts.size or np.isinf(counts[:, :2]).all(axis=1).any():
        return None
    on_grid = _divergences(counts, _GRID)

    def delta(epsilon: float) -> float:
        k = int(np.argmin(_log_delta(_GRID, on_grid, epsilon)))
        near = np.geomspace(_GRID[max(k - 1, 0)], _GRID[min(k + 1, _GRID.size - 1)], 129)
        exponents = _log_delta(near, _divergences(counts, near), epsilon)
        j = int(np.argmin(exponents))
        size = 32 + abs(exponents[j]) + near[j] * epsilon  # of all terms
        rounding = size * (_ROUNDING + len(counts) * _SUM)
        return min(1.0, math.exp(min(0.0, exponents[j] + rounding)) + _TINY)

    return delta


def _divergences(counts: Floats, rest: Floats) -> Floats:
    """Return the sum of all divergences, for each order; a row is epsilon, rho and a number."""
    total = np.zeros(rest.size)
    for start in range(0, len(counts), _BLOCK):
        epsilon, rho, n = counts[start : start + _BLOCK].T
        total += n @ np.minimum(epsilon[:, None], rho[:, None] * (1 + rest))
    return total


def _log_delta(rest: Floats, divergence: Floats, epsilon: float) -> Floats:
    """Return ln δ of releases with a divergence: δ = (1/α)(1 - 1/α)^(α-1) e^((α-1)(D - ε))."""
    result: Floats = rest * (divergence - epsilon) - rest * np.log1p(1 / rest) - np.log1p(rest)
    return result
