"""Queries on a graph whose edges are private.

Neighbours are graphs on the same nodes that differ in at most `edges` edges, each added or removed:
``Unit("add-remove", "edge", edges)``. The nodes are public. Each query names the theorems that
prove its range and its sensitivity.

A graph is an undirected networkx ``Graph``, or a square adjacency matrix (numpy or scipy.sparse)
whose rows are the nodes. It is always read as a simple graph. Weights and edges from a node to
itself are ignored. In a matrix, a nonzero entry on either side of the diagonal joins two nodes, and
repeated entries of a sparse matrix are added up. None of this raises an error, because an error
would reveal something about the edges; errors are about types, shapes and nodes, which are public.
networkx takes seconds to convert a million edges, so for several queries convert the graph once,
with ``networkx.to_scipy_sparse_array(graph, weight=None)``.
"""

import math
import operator
import sys
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np
from scipy import sparse

from inbounds.domain import Box
from inbounds.errors import ArgumentError, ArgumentTypeError, quoted
from inbounds.queries.connectivity import second_eigenvalue, tolerance
from inbounds.queries.query import Query
from inbounds.sensitivity import PerCoordinate
from inbounds.unit import Unit


def algebraic_connectivity(graph: Any, *, edges: int) -> Query[float]:
    """Return the query for the second smallest eigenvalue of the graph's Laplacian, λ₂.

    The value is in [0, n] on n nodes: 0 if the graph is not connected, n if it is complete. On more
    than 3000 nodes its sensitivity is certain up to a probability of 2⁻⁷⁸ only (see the notes).

    Parameters
    ----------
    graph
        The private graph: a networkx ``Graph`` or an adjacency matrix.
    edges
        The largest number of edges in which two neighbours differ.

    Returns
    -------
    Query
        λ₂ with its range [0, n], its sensitivity and the unit of `edges` edges.

    Raises
    ------
    ArgumentError
        If `graph` has fewer than two nodes or is not square, or `edges` is out of range.
    ArgumentTypeError
        If `graph` is directed, has parallel edges, or is neither a graph nor a matrix.

    See Also
    --------
    degree, average_degree, inbounds.queries.stack

    Notes
    -----
    L = D − A for the degrees D and the adjacency matrix A, and λ₂ is the minimum of xᵀLx over unit
    vectors x with Σᵢ xᵢ = 0 [1]_. One edge changes λ₂ by at most 2, and k edges by at most k + 1
    (docs/proofs/graph.md, theorems 1 to 3 and 6). The computed value is within η of λ₂ for every
    graph on n nodes, so the stated sensitivity is max(2k, k + 1 + 2η) for k = `edges`. η is 10⁻⁹ on
    a hundred nodes, n³·2⁻⁴⁹ on up to 3000 nodes, and 2⁻¹⁰ or n²·2⁻⁵⁰ on more.

    On up to 3000 nodes this is certain: L − s is factorised on both sides of the estimate. On more
    nodes the bound is tested with random vectors and fails with probability at most 2⁻⁷⁸, so a
    release that is ε-DP by the stated sensitivity is (ε, 2⁻⁷⁷)-DP in the strict sense
    (docs/proofs/graph.md, theorem 10).

    The running time depends on the edges, so it must not be published either.

    References
    ----------
    .. [1] Fiedler (1973), "Algebraic connectivity of graphs", Czechoslovak Math. J. 23(98).

    Examples
    --------
    >>> import numpy as np
    >>> from inbounds import queries
    >>> path = np.diag(np.ones(9), 1)
    >>> queries.graph.algebraic_connectivity(path, edges=2)
    Query('algebraic connectivity', Box(0, 10), PerCoordinate(4), Unit('add-remove', 'edge', 2))
    """
    adjacency = _adjacency(graph)
    n = adjacency.shape[0]
    most = _most_edges(n, edges)
    computed = math.nextafter(most + 1 + 2 * tolerance(n), math.inf)
    bound = PerCoordinate(max(2.0 * most, computed))
    value, box, unit = second_eigenvalue(adjacency), Box(0, n), Unit("add-remove", "edge", most)
    return Query("algebraic connectivity", value, box, bound, unit)


def degree(graph: Any, *, node: Any, edges: int, connected: bool = False) -> Query[float]:
    """Return the query for the degree of a node, the number of nodes that it is joined to.

    Parameters
    ----------
    graph
        The private graph: a networkx ``Graph`` or an adjacency matrix.
    node
        A node of the graph: its label in networkx, its row in a matrix.
    edges
        The largest number of edges in which two neighbours differ.
    connected
        Whether it is public knowledge that the graph is connected, so that the range is [1, n-1].
        Never find this out from the graph itself. If the graph is not connected after all, privacy
        still holds, and a degree of 0 is released as if it were 1.

    Returns
    -------
    Query
        The degree with its range, its sensitivity and the unit of `edges` edges.

    Raises
    ------
    ArgumentError
        If `graph` has fewer than two nodes or is not square, or `node` or `edges` is out of range.
    ArgumentTypeError
        If `graph` is directed, has parallel edges, or is neither a graph nor a matrix.

    See Also
    --------
    algebraic_connectivity, average_degree, inbounds.queries.stack

    Notes
    -----
    The degree dᵥ = Σᵤ Aᵤᵥ is in [0, n−1] on n nodes, and k edges change it by at most k
    (docs/proofs/graph.md, theorems 1, 2 and 5).

    Examples
    --------
    >>> import numpy as np
    >>> from inbounds import queries
    >>> path = np.diag(np.ones(9), 1)
    >>> queries.graph.degree(path, node=0, edges=2, connected=True)
    Query('degree of node 0', Box(1, 9), PerCoordinate(2), Unit('add-remove', 'edge', 2))
    """
    adjacency = _adjacency(graph)
    n = _node_count(adjacency, connected)
    index = _index(graph, node, n)
    value = float(adjacency.indptr[index + 1] - adjacency.indptr[index])
    most = _most_edges(n, edges)
    box, unit = Box(1 if connected else 0, n - 1), Unit("add-remove", "edge", most)
    return Query(f"degree of node {node}", value, box, PerCoordinate(float(most)), unit)


def average_degree(graph: Any, *, edges: int, connected: bool = False) -> Query[float]:
    """Return the query for the mean degree of the nodes.

    Parameters
    ----------
    graph
        The private graph: a networkx ``Graph`` or an adjacency matrix.
    edges
        The largest number of edges in which two neighbours differ.
    connected
        Whether it is public knowledge that the graph is connected, so that the range is
        [2(n-1)/n, n-1]; see `degree`.

    Returns
    -------
    Query
        The mean degree with its range, its sensitivity and the unit of `edges` edges.

    Raises
    ------
    ArgumentError
        If `graph` has fewer than two nodes or is not square, or `edges` is out of range.
    ArgumentTypeError
        If `graph` is directed, has parallel edges, or is neither a graph nor a matrix.

    See Also
    --------
    algebraic_connectivity, degree, inbounds.queries.stack

    Notes
    -----
    The mean degree 2|E|/n is in [0, n−1] on n nodes with edges E. k edges change it by at most
    2k/n, and its nearest double by at most one unit in the last place of n more
    (docs/proofs/graph.md, theorems 1, 2, 5 and 6).

    Examples
    --------
    >>> import numpy as np
    >>> from inbounds import queries
    >>> path = np.diag(np.ones(9), 1)
    >>> queries.graph.average_degree(path, edges=1)
    Query('average degree', Box(0, 9), PerCoordinate(0.2000...), Unit('add-remove', 'edge'))
    """
    adjacency = _adjacency(graph)
    n = _node_count(adjacency, connected)
    most = _most_edges(n, edges)
    change = Fraction(2 * most, n) + Fraction(math.ulp(float(n)))
    bound = PerCoordinate(math.nextafter(float(change), math.inf))
    least = 2.0 * (n - 1) / n if connected else 0.0
    box, unit = Box(least, n - 1), Unit("add-remove", "edge", most)
    return Query("average degree", adjacency.nnz / n, box, bound, unit)


def _adjacency(graph: Any) -> Any:
    """Return the symmetric 0-1 adjacency matrix of a graph, in CSR form."""
    networkx = sys.modules.get("networkx")  # a caller with a networkx graph has loaded it
    if networkx is not None and isinstance(graph, networkx.Graph):
        if graph.is_directed() or graph.is_multigraph():
            raise ArgumentTypeError.must_be(
                "graph",
                "undirected and without parallel edges",
                got=_type_of(graph),
                hint="networkx.Graph(graph) joins two nodes that have any edge between them.",
            )
        return _simple(*_pairs(graph), len(graph))
    matrix: Any = None
    if sparse.issparse(graph) or isinstance(graph, np.ndarray):
        matrix = graph if sparse.issparse(graph) else np.asarray(graph)
    if matrix is None or matrix.dtype.kind not in "biuf" or np.ma.isMaskedArray(graph):
        raise ArgumentTypeError.must_be(
            "graph",
            "an undirected networkx Graph or a square adjacency matrix of real numbers (numpy or "
            "scipy.sparse)",
            got=_type_of(graph),
        )
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ArgumentError.must_be("graph", "a square matrix", got=f"shape {matrix.shape}")
    if sparse.issparse(graph):
        matrix = matrix.tocoo(copy=True)
        with np.errstate(all="ignore"):  # a warning would reveal something about the entries
            matrix.sum_duplicates()
    rows, columns = matrix.nonzero()
    return _simple(rows, columns, matrix.shape[0])


def _pairs(graph: Any) -> tuple[Any, Any]:
    """Return the two ends of each edge of a networkx graph; attributes are ignored."""
    place = {node: index for index, node in enumerate(graph)}
    ends = np.fromiter(map(place.__getitem__, chain.from_iterable(graph.edges())), dtype=np.intp)
    return ends[::2], ends[1::2]


def _simple(rows: Any, columns: Any, n: int) -> Any:
    """Return the adjacency matrix of pairs of nodes, without loops and repetitions."""
    if n < 2:
        raise ArgumentError.must("graph", "have at least two nodes", got=str(n))
    between = rows != columns
    ends = np.concatenate([rows[between], columns[between]])
    others = np.concatenate([columns[between], rows[between]])
    matrix = sparse.coo_array((np.ones(ends.size), (ends, others)), shape=(n, n)).tocsr()
    matrix.data[:] = 1.0  # an edge that was given on both sides counts once
    return matrix


def _type_of(graph: Any) -> str:
    return type(graph).__name__ + (f" of {graph.dtype}" if hasattr(graph, "dtype") else "")


def _node_count(adjacency: Any, connected: bool) -> int:
    n = int(adjacency.shape[0])
    if connected and n == 2:
        raise ArgumentError.must(
            "graph",
            "have at least three nodes with connected=True",
            got="2 nodes, on which only one graph is connected",
        )
    return n


def _index(graph: Any, node: Any, n: int) -> int:
    """Return the row of a node; nodes are public, so errors show them."""
    is_matrix = sparse.issparse(graph) or isinstance(graph, np.ndarray)
    if is_matrix:
        is_row = isinstance(node, int | np.integer) and not isinstance(node, bool)
        if is_row and 0 <= node < n:
            return int(node)
        raise ArgumentError.must_be(
            "node", f"a row of the matrix, 0 to {n - 1}", got=f"node={quoted(node)}"
        )
    if node not in graph:
        raise ArgumentError.must_be("node", "a node of the graph", got=f"node={quoted(node)}")
    return list(graph).index(node)


def _most_edges(n: int, edges: object) -> int:
    """Return how many edges neighbours can differ in, at most the number of pairs of nodes."""
    try:
        count = 0 if isinstance(edges, bool | np.bool_) else operator.index(edges)  # type: ignore[arg-type]
    except TypeError:
        count = 0
    if count < 1:
        raise ArgumentError.must_be("edges", "a positive integer", got=f"edges={quoted(edges)}")
    return min(count, n * (n - 1) // 2)
