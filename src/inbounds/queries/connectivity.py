"""The second eigenvalue of a graph's Laplacian, λ₂, computed with a proved error bound.

Up to 3000 nodes an estimate is tested on both sides, and replaced where a test disagrees; beyond,
an upper bound is lowered until random starts prove that it is close. What is returned is within
`tolerance` of λ₂ for every graph, and the tolerance follows from the number of nodes alone: it may
be added to a sensitivity.

Proof: docs/proofs/graph.md, items 6 to 10.
"""

import math
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from inbounds.queries import enclosure
from inbounds.queries.lanczos import Laplacian

_SMALL = 500  # nodes up to which all eigenvalues at once are the fastest way to the second
_DENSE = 3000  # nodes up to which a dense matrix is factorised
_FINEST = 2.0**-30
_COARSE = 2.0**-10


def tolerance(n: int) -> float:
    """Return how far the computed λ₂ of any graph on n nodes is from the true one, at most.

    Examples
    --------
    >>> tolerance(34), tolerance(10**5)
    (9.3...e-10, 0.0009765625)
    """
    if n <= _DENSE:
        return max(_FINEST, 4 * enclosure.cholesky_slack(n))
    return max(_COARSE, n**2 * 2.0**-50)


def second_eigenvalue(adjacency: Any) -> float:
    """Return λ₂ of a symmetric 0-1 matrix in CSR form, to within `tolerance`, in [0, n].

    Examples
    --------
    >>> from scipy import sparse
    >>> round(second_eigenvalue(sparse.csr_array(np.ones((5, 5)) - np.eye(5))), 6)
    5.0
    """
    n = adjacency.shape[0]
    parts, _ = connected_components(adjacency, directed=False)
    if parts > 1:
        return 0.0
    if n > _DENSE:
        return enclosure.close_upper_bound(Laplacian(adjacency), tolerance(n))
    below = enclosure.by_cholesky(adjacency)
    value = _confirmed(_estimate(adjacency), below, n)
    if value is None:
        value = _confirmed(_by_all_eigenvalues(adjacency), below, n)
    return _bisected(below, n) if value is None else value


def _confirmed(estimate: float, below: enclosure.Test, n: int) -> float | None:
    """Return the estimate if λ₂ is proved to be within three quarters of the tolerance of it."""
    if math.isnan(estimate):
        return None
    estimate = min(max(estimate, 0.0), float(n))
    half = tolerance(n) / 2
    is_not_high = estimate <= half or below(estimate - half) is None
    is_not_low = estimate + half >= n or below(estimate + half) is not None
    return estimate if is_not_high and is_not_low else None


def _bisected(below: enclosure.Test, n: int) -> float:
    """Halve [0, n] until it is as short as the tolerance; what a test allows is added outside."""
    low, high = 0.0, float(n)
    while high - low > tolerance(n):
        middle = (low + high) / 2
        bound = below(middle)
        low, high = (middle, high) if bound is None else (low, max(low, min(bound, middle)))
    return (low + high) / 2


def _estimate(adjacency: Any) -> float:
    """Choose the method: all eigenvalues, or Lanczos'."""
    n = adjacency.shape[0]
    if n <= _SMALL:
        return _by_all_eigenvalues(adjacency)
    return enclosure.upper_bound(Laplacian(adjacency), tolerance(n) / 8)


def _by_all_eigenvalues(adjacency: Any) -> float:
    """Return an estimate, NaN if the method fails: nothing rests on it."""
    laplacian = np.diag(np.diff(adjacency.indptr).astype(float)) - adjacency.toarray()
    try:
        return float(np.linalg.eigvalsh(laplacian)[1])
    except np.linalg.LinAlgError:
        return math.nan
