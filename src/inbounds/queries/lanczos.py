"""Lanczos' recurrence on a graph's Laplacian L, with a bound on its rounding errors.

From a start q₁ of norm 1 and mean 0, β_j·q_{j+1} = L·q_j - α_j·q_j - β_{j-1}·q_{j-1} - (its mean).
The numbers α and β are the entries of a tridiagonal matrix T, whose least eigenvalue tends to λ₂,
the least eigenvalue of L on vectors of mean 0. The basis q is not stored.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, eigh_tridiagonal

from inbounds._types import Floats

HALF_ULP = 2.0**-53
_PIECE = 64  # the least number of entries of a row that are added up at once


class Laplacian:
    """The map x ↦ Lx in doubles, for a symmetric 0-1 matrix in CSR form without empty rows.

    Long rows are added up in pieces, so that a sum of d numbers has about 2√d roundings, not d
    (docs/proofs/graph.md, theorem 8).

    Attributes
    ----------
    size
        The number of nodes.
    norm
        An upper bound on the largest eigenvalue.
    least_degree_bound
        An upper bound on λ₂: n/(n-1) times the least degree (Fiedler 1973).

    Examples
    --------
    >>> path = Laplacian(sparse.csr_array(np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]])))
    >>> path(np.array([1.0, 0.0, -1.0]))
    array([ 1.,  0., -1.])
    """

    def __init__(self, adjacency: Any) -> None:
        counts = np.diff(adjacency.indptr)
        most = int(counts.max())
        length = max(_PIECE, math.isqrt(most) + 1)
        pieces = -(-counts // length)
        self._first = np.cumsum(pieces) - pieces
        total = int(pieces.sum())
        begins = np.repeat(adjacency.indptr[:-1] - length * self._first, pieces)
        begins = np.append(begins + length * np.arange(total), adjacency.nnz)
        self.size = int(adjacency.shape[0])
        self._rows = sparse.csr_array(
            (adjacency.data, adjacency.indices, begins), shape=(total, self.size)
        )
        self._degrees = counts.astype(float)
        spread = math.sqrt((adjacency @ self._degrees).max())  # at least the adjacency's norm
        roundings = min(most, length) + int(pieces.max())
        self.norm = most + spread
        self._error = 4 * most + (roundings + 3) * spread
        self.least_degree_bound = float(counts.min()) * self.size / (self.size - 1) * (1 + 1e-15)

    def __call__(self, x: Floats) -> Floats:
        """Return Lx; the diagonal comes last, since that of a hub would absorb small summands."""
        sums = self._rows @ x
        if sums.size > self.size:
            sums = np.add.reduceat(sums, self._first)
        return np.asarray(self._degrees * x - sums)

    def step_error(self, largest: float) -> float:
        """Return a bound on the norm of a step's rounding errors, if |α| and β are <= `largest`.

        Proof: docs/proofs/graph.md, theorem 8.
        """
        return 2 * HALF_ULP * (self._error + 10 * largest)

    def quotient_bound(self, x: Floats) -> float:
        """Return an upper bound on λ₂: the Rayleigh quotient of a vector, rounded up.

        Proof: docs/proofs/graph.md, theorem 11.
        """
        norm = math.sqrt(_dot(x, x))
        if not 0 < norm < math.inf:
            return math.inf
        x = x / norm
        varying = math.fsum(x * x) - math.fsum(x) ** 2 / self.size
        if not varying > 0.5:
            return math.inf
        return math.fsum(x * self(x)) / varying + 4 * self.step_error(0.0)


def started(draw: np.random.Generator, n: int) -> tuple[Floats, float]:
    """Return a normal vector of mean 0, divided by its norm, and the norm."""
    x = draw.standard_normal(n)
    x -= x.mean()
    size = math.sqrt(_dot(x, x))
    return x / size, size


def recurrence(laplacian: Laplacian, start: Floats) -> Iterator[tuple[float, float, Floats]]:
    """Yield α_j, β_j and q_j for j = 1, 2, …, until a vector vanishes.

    The rounding errors of a step are bounded in docs/proofs/graph.md, theorem 8.

    Examples
    --------
    >>> path = Laplacian(sparse.csr_array(np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]])))
    >>> alpha, beta, _ = next(recurrence(path, np.array([1.0, 0.0, -1.0]) / 2**0.5))
    >>> round(alpha, 9), round(beta, 9)
    (1.0, 0.0)
    """
    before, x, beta = np.zeros(start.size), start, 0.0
    while True:
        y = laplacian(x)
        y -= beta * before
        alpha = _dot(x, y)
        y -= alpha * x
        y -= y.mean()
        beta = math.sqrt(_dot(y, y))
        yield alpha, beta, x
        if not 0 < beta < math.inf:
            return
        before, x = x, y / beta


def least_ritz_pair(alphas: Sequence[float], betas: Sequence[float]) -> tuple[float, Floats, float]:
    """Return the least eigenvalue of T, its vector, and its distance to an eigenvalue of L.

    No proof depends on these numbers, so they may be infinite if the method fails.
    """
    try:
        (value,), vectors = eigh_tridiagonal(
            alphas, betas[:-1], select="i", select_range=(0, 0), check_finite=False
        )
    except (LinAlgError, ValueError):
        return math.inf, np.zeros(len(alphas)), math.inf
    return (
        float(value),
        np.asarray(vectors[:, 0], dtype=float),
        betas[-1] * abs(float(vectors[-1, 0])),
    )


def _dot(x: Floats, y: Floats) -> float:
    """Return x·y without BLAS, whose threads change the last bits and stall on a busy machine."""
    return float(np.einsum("i,i", x, y))
