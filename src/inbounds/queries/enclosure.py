"""Proved bounds on the second eigenvalue λ₂ of a Laplacian L.

The proofs do not depend on how λ₂ was estimated.

    by_cholesky         λ₂ is the least eigenvalue of L + 11ᵀ, so it is above s if L + 11ᵀ - s has
                        a Cholesky factorisation
    close_upper_bound   the Rayleigh quotient of a vector, and Lanczos' recurrence from random
                        starts, each of which misses a smaller eigenvalue only by chance

The latter is wrong with probability at most 2⁻⁷⁸ over random bits of the operating system.
"""

import math
import secrets
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

import numpy as np
from scipy.linalg.lapack import dpotrf

from inbounds._types import Floats
from inbounds.queries.lanczos import (
    HALF_ULP,
    Laplacian,
    least_ritz_pair,
    recurrence,
    started,
)

Test = Callable[[float], float | None]
_CHANCE = 78  # bits: a smaller eigenvalue is missed with probability at most 2⁻⁷⁸
_BITS = 16  # what one start contributes, unless rounding errors hide so small a part
_STEPS = 100_000
_SMALL = 1e-9  # if β over the norm of L is below this, further steps bring nothing new


def cholesky_slack(n: int) -> float:
    """Return the largest error in λ₂ of a test by Cholesky factorisation on n nodes.

    Proof: docs/proofs/graph.md, theorem 7.

    Examples
    --------
    >>> cholesky_slack(1000) < 1e-6
    True
    """
    return (n + 2.0) ** 3 * 4 * HALF_ULP


def by_cholesky(adjacency: Any) -> Test:
    """Return a function ``below(s)`` that tests λ₂ with a dense matrix.

    ``below(s)`` is an upper bound on λ₂ of at most ``s + cholesky_slack(n)``, or None, which proves
    that ``λ₂ >= s - cholesky_slack(n)``. Proof: docs/proofs/graph.md, theorem 7.

    Examples
    --------
    >>> from scipy import sparse
    >>> below = by_cholesky(sparse.csr_array(np.ones((5, 5)) - np.eye(5)))  # λ₂ = 5
    >>> below(4.999), below(5.001) <= 5.001 + cholesky_slack(5)
    (None, True)
    """
    n = adjacency.shape[0]
    slack = cholesky_slack(n)
    raised = 1.0 - adjacency.toarray()
    degrees = np.diff(adjacency.indptr).astype(float)

    def below(s: float) -> float | None:
        shifted = raised.copy(order="F")
        np.fill_diagonal(shifted, degrees + 1.0 - s)
        _, failed = dpotrf(shifted, overwrite_a=1, clean=0)
        return s + slack if failed else None

    return below


def upper_bound(laplacian: Laplacian, accuracy: float) -> float:
    """Return an upper bound on λ₂, usually within `accuracy`; it is the same at each call.

    Examples
    --------
    >>> from scipy import sparse
    >>> upper_bound(Laplacian(sparse.csr_array(np.ones((5, 5)) - np.eye(5))), 1e-9)
    5.0
    """
    start, _ = started(np.random.default_rng(0), laplacian.size)
    bound = _refuted(laplacian, start, math.inf, 0.0, accuracy)
    most = min(laplacian.least_degree_bound, float(laplacian.size))
    return most if bound is None else min(bound, most)


def close_upper_bound(laplacian: Laplacian, tolerance: float) -> float:
    """Return an upper bound on λ₂ that is at most λ₂ + tolerance.

    The bound is lowered as long as a start finds a smaller one. The number of starts that must find
    nothing is fixed before they are drawn. Proof: docs/proofs/graph.md, theorem 10.

    Examples
    --------
    >>> from scipy import sparse
    >>> ring = sparse.csr_array(np.roll(np.eye(6), 1, axis=1) + np.roll(np.eye(6), -1, axis=1))
    >>> 1 <= close_upper_bound(Laplacian(ring), 0.01) <= 1.01
    True
    """
    upper, bits = upper_bound(laplacian, tolerance / 4), _BITS
    for attempt in count(1):
        if upper <= tolerance:
            break
        for _ in range(math.ceil((_CHANCE + attempt) / bits)):
            draw = np.random.default_rng(secrets.randbits(256))
            start, size = started(draw, laplacian.size)
            bound = _refuted(laplacian, start, upper - tolerance, 2.0**-bits / size, tolerance / 4)
            if bound is not None:
                break
        else:
            break
        upper, bits = min(upper, bound), bits if bound < math.inf else max(1, bits * 3 // 4)
    return upper


def _refuted(
    laplacian: Laplacian, start: Floats, s: float, part: float, accuracy: float
) -> float | None:
    """Return None if λ₂ <= s implies that its eigenvector makes up at most `part` of the start.

    Otherwise return an upper bound on λ₂, or infinity if rounding errors hide so small a part.
    Proof: docs/proofs/graph.md, theorem 9.
    """
    alphas: list[float] = []
    betas: list[float] = []
    look = 2
    for step, (alpha, beta, _) in enumerate(recurrence(laplacian, start), 1):
        alphas.append(alpha)
        betas.append(beta)
        if step < look and beta > _SMALL * laplacian.norm:
            continue
        look = step + max(5, step // 8)
        largest = max(map(abs, alphas + betas))
        column = inverse_column(alphas, betas, s + 16 * HALF_ULP * (largest + s))
        if column is None:
            value, weights, residual = least_ritz_pair(alphas, betas)
            if residual <= accuracy or value <= accuracy or step >= _STEPS:
                return laplacian.quotient_bound(_combined(laplacian, start, weights))
        else:
            hidden = laplacian.step_error(largest) * float(column.sum())
            if beta * float(column[-1]) + hidden <= part:  # false for NaN
                return None
            if not hidden <= part / 2 or step >= _STEPS:
                return math.inf
    return math.inf


def inverse_column(alphas: Sequence[float], betas: Sequence[float], s: float) -> Floats | None:
    """Return the sizes of the first column of (T - s)⁻¹, or None if T - s has a pivot <= 0.

    Why rounding does not make them too small: docs/proofs/graph.md, theorem 9.

    Examples
    --------
    >>> inverse_column([2.0, 2.0], [1.0, 1.0], 0.0), inverse_column([2.0, 2.0], [1.0, 1.0], 1.5)
    (array([0.66666667, 0.33333333]), None)
    """
    pivot = alphas[-1] - s
    pivots = [pivot]
    for alpha, beta in zip(alphas[-2::-1], betas[-2::-1], strict=True):
        if not pivot > 0:
            return None
        pivot = (alpha - s) - beta * beta / pivot
        pivots.append(pivot)
    if not pivot > 0:
        return None
    ratios = np.array([1.0, *betas[:-1]]) / np.array(pivots[::-1])
    return np.cumprod(ratios)


def _combined(laplacian: Laplacian, start: Floats, weights: Floats) -> Floats:
    """Return the vector of L with these weights in the basis, by a second pass."""
    total = np.zeros(laplacian.size)
    for weight, (_, _, vector) in zip(weights, recurrence(laplacian, start), strict=False):
        total += weight * vector
    return total
