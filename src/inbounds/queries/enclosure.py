"""Tests of the second eigenvalue λ₂ of a Laplacian L against a number, with proved conclusions.

Each answers ``below(s)``: an upper bound on λ₂ that is at most ``s + slack``, or None, which
proves λ₂ >= s - slack. Nothing about how λ₂ was estimated needs to be trusted.

    by_cholesky  L + 11ᵀ has λ₂ as its least eigenvalue: L + 11ᵀ - s has Cholesky factors or not
    by_pivots    the signs of D in LDLᵀ = L - s, and a bound on what the factors miss
    by_filter    a Chebyshev polynomial of L makes all below s visible in random vectors

The last one is wrong with probability 2⁻⁸⁰ at most, over random bits of the operating system.

Proof: docs/proofs/graph.md, items 7 to 10.
"""

import math
import secrets
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg.lapack import dpotrf
from scipy.sparse.linalg import splu

from inbounds._types import Floats

Test = Callable[[float], float | None]
_HALF_ULP = 2.0**-53
_OFFSETS = (0.0, 0.25, -0.25)  # shares of the slack by which s is moved where pivots are too small
_CHANCE = 80  # bits: all random starts miss λ₂ with probability 2⁻⁸⁰ at most
_SMALLEST_PART = 2.0**-27  # of λ₂'s eigenvector in a random start, that is waited for
_PERIOD = 40  # steps between looks at the vectors: what grows by 6 a step stays finite
_LARGE = 1e100
_HUB = 2000  # degree from which ordering by minimum degree takes too long


def cholesky_slack(n: int) -> float:
    """Return how far a Cholesky factorisation on n nodes may err, in terms of λ₂.

    Examples
    --------
    >>> cholesky_slack(1000) < 1e-6
    True
    """
    return (n + 2.0) ** 3 * 4 * _HALF_ULP


def by_cholesky(adjacency: Any) -> Test:
    """Return the test for graphs whose dense matrix fits, which never fails.

    Examples
    --------
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


def by_pivots(laplacian: Any, slack: float) -> Callable[[float], float | bool | None]:
    """Return the test for graphs with few fill-ins; it says False where it cannot tell.

    Examples
    --------
    >>> path = sparse.csc_array(np.array([[1.0, -1, 0], [-1, 2, -1], [0, -1, 1]]))  # λ₂ = 1
    >>> by_pivots(path, 0.01)(0.9), by_pivots(path, 0.01)(1.1)
    (None, 1.11)
    """
    identity = sparse.eye_array(laplacian.shape[0], format="csc")

    def below(s: float) -> float | bool | None:
        for offset in _OFFSETS:
            pivots, missed = _factorised((laplacian - (s + offset * slack) * identity).tocsc())
            if missed <= slack / 2:
                return s + slack if np.count_nonzero(pivots < 0) > 1 else None
        return False

    return below


def _factorised(matrix: Any) -> tuple[Floats, float]:
    """Return D of LDLᵀ, and a bound on the norm of what the factors differ by from the matrix."""
    nothing = np.empty(0), math.inf
    has_hub = int(np.diff(matrix.indptr).max()) > _HUB
    try:
        factors = splu(
            matrix,
            permc_spec="COLAMD" if has_hub else "MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
    except RuntimeError:  # a pivot is exactly 0
        return nothing
    pivots = factors.U.diagonal()
    if not np.array_equal(factors.perm_r, factors.perm_c) or not np.isfinite(pivots).all():
        return nothing
    order = np.argsort(factors.perm_r)
    lower = factors.L.tocsr().astype(np.longdouble)  # long sums of a hub's row need the digits
    product = (lower @ sparse.diags_array(pivots.astype(np.longdouble))) @ lower.T
    difference = abs(matrix[order][:, order] - product).sum(axis=1)
    sizes = abs(lower)
    terms = sizes @ (np.abs(pivots) * (sizes.T @ np.ones(pivots.size)))
    rounding = (int(np.diff(lower.indptr).max()) + 8) * 2 * np.finfo(np.longdouble).eps
    missed = float(np.max(difference + rounding * (terms + abs(matrix).sum(axis=1))))
    return pivots, missed * (1 + 1e-6) if math.isfinite(missed) else math.inf


def by_filter(adjacency: Any, laplacian: Any, slack: float) -> Test:
    """Return the test for graphs of any kind; doubles are long enough if slack >= n²·2⁻⁴⁶.

    Examples
    --------
    >>> ring = sparse.csr_array(np.roll(np.eye(6), 1, axis=1) + np.roll(np.eye(6), -1, axis=1))
    >>> laplacian = 2.0 * sparse.eye_array(6) - ring  # λ₂ = 1
    >>> below = by_filter(ring, laplacian.tocsr(), 0.01)
    >>> below(0.98), below(1.02) <= 1.03
    (None, True)
    """
    n = int(adjacency.shape[0])
    degrees = np.diff(adjacency.indptr).astype(float)
    rows = np.repeat(np.arange(n), np.diff(adjacency.indptr))
    edges = rows < adjacency.indices
    ends = rows[edges], adjacency.indices[edges]
    top = min(float(n), float((degrees[ends[0]] + degrees[ends[1]]).max()))  # of the eigenvalues
    most = float(degrees.min()) * n / (n - 1) * (1 + 4 * _HALF_ULP)  # at least λ₂
    angle = math.acosh(1 + 2 * slack / top)
    step_error = 8 * (math.sqrt(float(degrees.max())) + 8) * 2 * _HALF_ULP
    part = max(_SMALLEST_PART, 4 * step_error * math.sqrt(2.0 * n) / angle**2)
    starts = math.ceil(_CHANCE / -math.log2(part))
    steps = 2 + math.ceil(math.log(16 * math.sqrt(2.0 * n) / part * math.sqrt(top / slack)) / angle)

    def below(s: float) -> float | None:
        if s >= most:
            return most
        start = np.random.default_rng(secrets.randbits(256)).standard_normal((n, starts))
        bound = math.inf
        for vectors in _filtered(laplacian, start, (s, top), steps):
            bound = min(bound, _least_quotient(vectors, ends))
            if bound <= s + slack:
                return bound
        return None

    return below


def _filtered(laplacian: Any, start: Floats, damped: tuple[float, float], steps: int) -> Any:
    """Give T_k(L) of the vectors every so many steps, T_k at most 1 on what is `damped`."""
    low, high = damped
    stretch, shift = 4 / (high - low), 2 * (high + low) / (high - low)
    before = start - start.mean(axis=0)
    vectors = (stretch * (laplacian @ before) - shift * before) / 2
    for step in range(2, steps + 1):
        after = laplacian @ vectors
        after *= stretch
        after -= shift * vectors
        after -= before
        after -= after.mean(axis=0)
        before, vectors = vectors, after
        if step % _PERIOD == 0 or step == steps:
            yield vectors
            size = np.abs(vectors).max(axis=0)
            scale = np.where(size > _LARGE, 1 / size, 1.0)
            before, vectors = before * scale, vectors * scale


def _least_quotient(vectors: Floats, ends: tuple[Any, Any]) -> float:
    """Return an upper bound on λ₂: the least Rayleigh quotient, its roundings covered."""
    n = vectors.shape[0]
    vectors = vectors / np.abs(vectors).max(axis=0)
    energy = ((vectors[ends[0]] - vectors[ends[1]]) ** 2).sum(axis=0)
    squares = (vectors**2).sum(axis=0)
    constant = np.abs(vectors.sum(axis=0)) + n * 2 * _HALF_ULP * np.abs(vectors).sum(axis=0)
    rest = squares * (1 - 4 * n * _HALF_ULP) - constant**2 / n * (1 + 1e-9)
    up = 1 + 4 * (ends[0].size + 8) * _HALF_ULP
    return float(np.min(np.where(rest > 0, energy * up / np.where(rest > 0, rest, 1.0), math.inf)))
