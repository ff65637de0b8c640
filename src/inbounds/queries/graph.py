"""Queries on a graph whose edges are private.

Neighbours are graphs on the same nodes that differ in at most `edges` edges, each added or removed:
``Unit("add-remove", "edge", edges)``. The nodes are public. Ranges and sensitivities are proved in
docs/proofs/graph.md.

A graph is an undirected networkx ``Graph``, or a square adjacency matrix (numpy or scipy.sparse)
whose rows are the nodes. It is read as a simple graph, whatever it holds: weights do not count, an
edge from a node to itself is none, and in a matrix a nonzero entry on either side of the diagonal
joins two nodes, where a sparse matrix that stores an entry several times means their sum. An error
there would tell something about the edges; errors speak of public things only, which are types,
shapes and nodes. networkx takes seconds to hand over a million edges: for many queries convert
once, with ``networkx.to_scipy_sparse_array(graph, weight=None)``.
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
    """Ask for the second smallest eigenvalue of the graph's Laplacian, λ₂.

    The value is in [0, n] on n nodes: 0 if the graph is not connected, n if it is complete. One
    edge changes λ₂ by at most 2, and what is computed by at most 2 + 2η.

    Parameters
    ----------
    graph
        The private graph; the module says what is read as one.
    edges
        How many edges two neighbours may differ in.

    Notes
    -----
    The value is within η of λ₂ for every graph on n nodes, and η is part of the stated
    sensitivity: 10⁻⁹ on a hundred nodes, n³·2⁻⁴⁹ on up to 3000, and 2⁻¹⁰ or n²·2⁻⁵⁰ beyond. Up
    to 3000 nodes that is certain: L - s is factorised on both sides of the estimate. Beyond, the
    bound is tested with random vectors and fails with probability 2⁻⁷⁸ at most, so that a release
    which is ε-DP by the stated sensitivity is (ε, 2⁻⁷⁷)-DP in the strict sense
    (docs/proofs/graph.md, item 10). k >= 2 edges change λ₂ by at most k + 1, which leaves room
    for η in 2k.

    The time this takes depends on the edges, so it should not be shown either.

    Examples
    --------
    >>> import numpy as np
    >>> path = np.diag(np.ones(9), 1)
    >>> algebraic_connectivity(path, edges=2)
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
    """Ask how many other nodes a node is joined to.

    The answer is in [0, n-1] on n nodes. One edge changes it by at most 1.

    Parameters
    ----------
    graph
        The private graph; the module says what is read as one.
    node
        A node of the graph: its label in networkx, its row in a matrix.
    edges
        How many edges two neighbours may differ in.
    connected
        Whether it is public knowledge that the graph is connected, which leaves [1, n-1]. Never
        find out from the graph itself. If it is false, privacy holds all the same, and a degree
        of 0 is released as if it were 1.

    Examples
    --------
    >>> import numpy as np
    >>> path = np.diag(np.ones(9), 1)
    >>> degree(path, node=0, edges=2, connected=True)
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
    """Ask for the mean degree, which is twice the number of edges over the number of nodes.

    The answer is in [0, n-1] on n nodes. One edge changes it by 2/n, and the nearest doubles by at
    most a unit in the last place of n more.

    Parameters
    ----------
    graph
        The private graph; the module says what is read as one.
    edges
        How many edges two neighbours may differ in.
    connected
        Whether it is public knowledge that the graph is connected, which leaves [2(n-1)/n, n-1].
        As for `degree`.

    Examples
    --------
    >>> import numpy as np
    >>> path = np.diag(np.ones(9), 1)
    >>> average_degree(path, edges=1)
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
    """Read anything as the symmetric 0-1 matrix, in CSR form, of a simple graph."""
    networkx = sys.modules.get("networkx")  # whoever has a graph of its has loaded it
    if networkx is not None and isinstance(graph, networkx.Graph):
        if graph.is_directed() or graph.is_multigraph():
            raise ArgumentTypeError.must_be(
                "graph",
                "undirected and without parallel edges",
                got=_kind(graph),
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
            got=_kind(graph),
        )
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ArgumentError.must_be("graph", "a square matrix", got=f"shape {matrix.shape}")
    if sparse.issparse(graph):
        matrix = matrix.tocoo(copy=True)
        with np.errstate(all="ignore"):  # a warning would tell something about the entries
            matrix.sum_duplicates()
    rows, columns = matrix.nonzero()
    return _simple(rows, columns, matrix.shape[0])


def _pairs(graph: Any) -> tuple[Any, Any]:
    """Return the ends of a networkx graph's edges; attributes are not looked at."""
    place = {node: index for index, node in enumerate(graph)}
    ends = np.fromiter(map(place.__getitem__, chain.from_iterable(graph.edges())), dtype=np.intp)
    return ends[::2], ends[1::2]


def _simple(rows: Any, columns: Any, n: int) -> Any:
    """Join the nodes of each pair, without loops and repetitions."""
    if n < 2:
        raise ArgumentError.must("graph", "have at least two nodes", got=str(n))
    between = rows != columns
    ends = np.concatenate([rows[between], columns[between]])
    others = np.concatenate([columns[between], rows[between]])
    matrix = sparse.coo_array((np.ones(ends.size), (ends, others)), shape=(n, n)).tocsr()
    matrix.data[:] = 1.0  # an edge counts once, on however many sides it was given
    return matrix


def _kind(graph: Any) -> str:
    return type(graph).__name__ + (f" of {graph.dtype}" if hasattr(graph, "dtype") else "")


def _node_count(adjacency: Any, connected: bool) -> int:
    n = int(adjacency.shape[0])
    if connected and n == 2:
        raise ArgumentError.must(
            "graph",
            "have at least three nodes with connected=True",
            got="2: only one graph on two nodes is connected, so there is nothing to ask",
        )
    return n


def _index(graph: Any, node: Any, n: int) -> int:
    """Return the row of a node; nodes are public, so the error names it."""
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
    """Return how many edges neighbours can differ in: no more than there are pairs of nodes."""
    try:
        count = 0 if isinstance(edges, bool | np.bool_) else operator.index(edges)  # type: ignore[arg-type]
    except TypeError:
        count = 0
    if count < 1:
        raise ArgumentError.must_be("edges", "a positive integer", got=f"edges={quoted(edges)}")
    return min(count, n * (n - 1) // 2)
