"""The second eigenvalue of a graph's Laplacian, λ₂, computed with a proved error bound.

An estimate by all eigenvalues (small graphs) or by Lanczos' method is tested on both sides, and
replaced where a test disagrees. What is returned is within `tolerance` of λ₂ for every graph, and
the tolerance follows from the number of nodes alone: it may be added to a sensitivity.

Proof: docs/proofs/graph.md, items 6 to 10.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigh_tridiagonal
from scipy.sparse.csgraph import connected_components, reverse_cuthill_mckee
from scipy.sparse.linalg import splu

from inbounds._types import Floats
from inbounds.queries import enclosure

_SMALL = 500  # nodes up to which all eigenvalues at once are the fastest way to the second
_DENSE = 3000  # nodes up to which a dense matrix is factorised
_NARROW = 300  # mean width of the band up to which sparse factors are cheap
_CYCLES = 1000  # edges beyond those of a tree up to which they are cheap at any width
_STEPS = 20_000  # of Lanczos' method; only wide graphs with a long tail need as many
_ACCURACY = 1e-9
_FINEST = 2.0**-30
_COARSE = 2.0**-6


def tolerance(n: int) -> float:
    """Return how far the computed λ₂ of any graph on n nodes is from the true one, at most.

    Examples
    --------
    >>> tolerance(34), tolerance(10**5)
    (9.3...e-10, 0.015625)
    """
    if n <= _DENSE:
        return max(_FINEST, 4 * enclosure.cholesky_slack(n))
    return max(_COARSE, n**2 * 2.0**-44)


def second_eigenvalue(adjacency: Any) -> float:
    """Return λ₂ of a symmetric 0-1 matrix in CSR form, to within `tolerance`, in [0, n].

    Examples
    --------
    >>> round(second_eigenvalue(sparse.csr_array(np.ones((5, 5)) - np.eye(5))), 6)
    5.0
    """
    n = adjacency.shape[0]
    parts, _ = connected_components(adjacency, directed=False)
    if parts > 1:
        return 0.0
    laplacian = (sparse.diags_array(np.diff(adjacency.indptr).astype(float)) - adjacency).tocsr()
    estimate, below = _estimate(adjacency, laplacian), _test(adjacency, laplacian)
    value = _confirmed(estimate, below, n)
    if value is None and n <= _DENSE:
        value = _confirmed(_by_all_eigenvalues(laplacian), below, n)
    return _bisected(below, n) if value is None else value


def _test(adjacency: Any, laplacian: Any) -> enclosure.Test:
    """Choose how to test the estimate; every choice errs by a quarter of the tolerance at most."""
    n = adjacency.shape[0]
    if n <= _DENSE:
        return enclosure.by_cholesky(adjacency)
    slack = tolerance(n) / 4
    by_filter = enclosure.by_filter(adjacency, laplacian, slack)
    if not _is_thin(adjacency):
        return by_filter
    by_pivots = enclosure.by_pivots(laplacian.tocsc(), slack)

    def below(s: float) -> float | None:
        verdict = by_pivots(s)
        return by_filter(s) if verdict is False else verdict

    return below


def _confirmed(estimate: float, below: enclosure.Test, n: int) -> float | None:
    """Return the estimate if λ₂ is proved to be within three quarters of the tolerance of it."""
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


def _estimate(adjacency: Any, laplacian: Any) -> float:
    """Choose the method: all eigenvalues, or Lanczos' on the inverse or on the Laplacian."""
    n = adjacency.shape[0]
    if n <= _SMALL:
        return _by_all_eigenvalues(laplacian)
    if _is_thin(adjacency):
        return -1.0 / _least_eigenvalue(_negative_inverse(laplacian), n)
    return _least_eigenvalue(lambda x: laplacian @ x, n)


def _by_all_eigenvalues(laplacian: Any) -> float:
    return float(np.linalg.eigvalsh(laplacian.toarray())[1])


def _is_thin(adjacency: Any) -> bool:
    """Tell whether factors of the Laplacian are cheap."""
    return adjacency.nnz // 2 - adjacency.shape[0] <= _CYCLES or _band(adjacency) <= _NARROW


def _band(adjacency: Any) -> float:
    """Return a row's mean distance from its first entry to the diagonal, well ordered."""
    order = reverse_cuthill_mckee(adjacency, symmetric_mode=True)
    place = np.argsort(order)
    first = np.minimum.reduceat(place[adjacency.indices], adjacency.indptr[:-1])
    return float(np.mean(np.maximum(place - first, 0)))


def _negative_inverse(laplacian: Any) -> Callable[[Floats], Floats]:
    """Return x ↦ -L⁺x for x of mean 0: fix one entry at 0, solve, and remove the mean.

    The small eigenvalues of a long thin graph are far apart only after inverting.
    """
    hub = np.argmax(laplacian.diagonal())
    rest = np.delete(np.arange(laplacian.shape[0]), hub)
    factors = splu(
        laplacian[rest][:, rest].tocsc(),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )

    def apply(x: Floats) -> Floats:
        y = np.zeros(x.size)
        y[rest] = -factors.solve(x[rest])
        return np.asarray(y - y.mean())

    return apply


def _least_eigenvalue(apply: Callable[[Floats], Floats], n: int) -> float:
    """Return the least eigenvalue on the vectors of mean 0, by Lanczos' method.

    The residual is β·|s|, s the last entry of the eigenvector of the tridiagonal matrix; no basis
    is kept, as lost orthogonality only repeats eigenvalues that were found (Paige 1980).
    The start is random, so that no symmetry of the graph hides the eigenvector, and fixed.
    """
    x = np.random.default_rng(0).standard_normal(n)
    x -= x.mean()
    x /= math.sqrt(_dot(x, x))
    before, beta, least = np.zeros(n), 0.0, 0.0
    diagonal: list[float] = []
    beside: list[float] = []
    for step in range(1, _STEPS + 1):
        y = apply(x) - beta * before
        diagonal.append(_dot(x, y))
        y -= diagonal[-1] * x
        y -= y.mean()
        beta = math.sqrt(_dot(y, y))
        if step % 50 == 0 or beta <= _ACCURACY * max(1.0, abs(diagonal[-1])):
            (least,), last = eigh_tridiagonal(diagonal, beside, select="i", select_range=(0, 0))
            if beta * abs(last[-1, 0]) <= _ACCURACY * max(1.0, abs(least)):
                break
        beside.append(beta)
        before, x = x, y / beta
    return float(least)


def _dot(x: Floats, y: Floats) -> float:
    """Multiply without BLAS, whose threads change the last bits and stall on a busy machine."""
    return float(np.einsum("i,i", x, y))
