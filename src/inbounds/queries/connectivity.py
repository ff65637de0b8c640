"""The second eigenvalue of a graph's Laplacian, λ₂, computed with a proved error bound.

On up to 3000 nodes an estimate is tested on both sides, and replaced if a test fails. On more nodes
an upper bound is lowered until random starts prove that it is close. The result is within
`tolerance` of λ₂ for every graph. The tolerance depends only on the number of nodes, which is
public, so it can be added to a sensitivity.
"""

import math
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from inbounds.queries import enclosure
from inbounds.queries.lanczos import Laplacian

_SMALL = 500  # up to this many nodes, computing all eigenvalues is the fastest way
_DENSE = 3000  # up to this many nodes, a dense matrix is factorised
_FINEST = 2.0**-30
_COARSE = 2.0**-10


def tolerance(n: int) -> float:
    """Return the largest error of the computed λ₂ of any graph on n nodes.

    Proof: docs/proofs/graph.md, theorem 10.

    Examples
    --------
    >>> tolerance(34), tolerance(10**5)
    (9.3...e-10, 0.0009765625)
    """
    if n <= _DENSE:
        return max(_FINEST, 4 * enclosure.cholesky_slack(n))
    return max(_COARSE, n**2 * 2.0**-50)


def second_eigenvalue(adjacency: Any) -> float:
    """Return λ₂ of a symmetric 0-1 matrix in CSR form, within `tolerance`, and in [0, n].

    Proof: docs/proofs/graph.md, theorem 10.

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
    """Return the estimate if λ₂ is proved to be within 3/4 of the tolerance of it, else None.

    Proof: docs/proofs/graph.md, theorem 10.
    """
    if math.isnan(estimate):
        return None
    estimate = min(max(estimate, 0.0), float(n))
    half = tolerance(n) / 2
    is_not_high = estimate <= half or below(estimate - half) is None
    is_not_low = estimate + half >= n or below(estimate + half) is not None
    return estimate if is_not_high and is_not_low else None


def _bisected(below: enclosure.Test, n: int) -> float:
    """Return λ₂ by bisection; with the slack of the tests it is within the tolerance.

    Proof: docs/proofs/graph.md, theorem 10.
    """
    low, high = 0.0, float(n)
    while high - low > tolerance(n):
        middle = (low + high) / 2
        bound = below(middle)
        low, high = (middle, high) if bound is None else (low, max(low, min(bound, middle)))
    return (low + high) / 2


def _estimate(adjacency: Any) -> float:
    """Return an estimate of λ₂ by the faster method: all eigenvalues, or Lanczos' recurrence."""
    n = adjacency.shape[0]
    if n <= _SMALL:
        return _by_all_eigenvalues(adjacency)
    return enclosure.upper_bound(Laplacian(adjacency), tolerance(n) / 8)


def _by_all_eigenvalues(adjacency: Any) -> float:
    """Return an estimate, or NaN if the method fails; no proof depends on it."""
    laplacian = np.diag(np.diff(adjacency.indptr).astype(float)) - adjacency.toarray()
    try:
        return float(np.linalg.eigvalsh(laplacian)[1])
    except np.linalg.LinAlgError:
        return math.nan
