"""Every graph on six nodes against every graph one or two edges away.

A graph is a number of 15 bits, one for each pair of nodes; changing edges is xor. Eigenvalues come
from numpy for all graphs at once, and the library is compared with them on every isomorphism class.
"""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest

from inbounds.queries import graph as queries
from inbounds.queries.query import Query

N = 6
PAIRS = list(combinations(range(N), 2))
CODES = np.arange(1 << len(PAIRS))
CHANGES = {
    1: [1 << a for a in range(len(PAIRS))],
    2: [1 << a | 1 << b for a, b in combinations(range(len(PAIRS)), 2)],
}
ROUNDING = 1e-12


def laplacians() -> np.ndarray:
    total = np.zeros((CODES.size, N, N))
    for bit, (u, v) in enumerate(PAIRS):
        edge = np.zeros(N)
        edge[[u, v]] = 1, -1
        total += (CODES >> bit & 1)[:, None, None] * np.outer(edge, edge)
    return total


LAPLACIANS = laplacians()
SECOND = np.linalg.eigvalsh(LAPLACIANS)[:, 1]
DEGREE = LAPLACIANS[:, 0, 0]  # of node 0; the others are the same by symmetry
AVERAGE = np.trace(LAPLACIANS, axis1=1, axis2=2) / N
CONNECTED = SECOND > 1e-6
COMPLETE = nx.complete_graph(N)


def asked(edges: int, *, connected: bool = False) -> list[tuple[np.ndarray, Query]]:
    """The answers on all graphs, each with the query whose box and sensitivity are on trial."""
    return [
        (SECOND, queries.algebraic_connectivity(COMPLETE, edges=edges)),
        (DEGREE, queries.degree(COMPLETE, node=0, edges=edges, connected=connected)),
        (AVERAGE, queries.average_degree(COMPLETE, edges=edges, connected=connected)),
    ]


def largest_change(answers: np.ndarray, edges: int) -> float:
    return max(float(np.abs(answers[CODES ^ change] - answers).max()) for change in CHANGES[edges])


def test_the_library_agrees_on_every_graph_of_six_nodes() -> None:
    atlas = [graph for graph in nx.graph_atlas_g() if len(graph) == N]
    assert len(atlas) == 156
    for graph in atlas:
        code = sum(1 << bit for bit, pair in enumerate(PAIRS) if graph.has_edge(*pair))
        second = queries.algebraic_connectivity(graph, edges=1)
        assert second.value == pytest.approx(SECOND[code], abs=ROUNDING)
        assert queries.degree(graph, node=0, edges=1).value == DEGREE[code]
        assert queries.average_degree(graph, edges=1).value == AVERAGE[code]


@pytest.mark.parametrize("connected", [False, True])
def test_answers_fill_their_ranges_and_never_leave_them(connected: bool) -> None:
    graphs = CONNECTED if connected else np.full(CODES.size, True)
    for answers, query in asked(1, connected=connected):
        low, high = float(answers[graphs].min()), float(answers[graphs].max())
        assert query.box.lower - ROUNDING <= low
        assert high <= query.box.upper + ROUNDING
        assert high == pytest.approx(query.box.upper, abs=ROUNDING)
        if answers is not SECOND or not connected:
            assert low == pytest.approx(query.box.lower, abs=ROUNDING)


@pytest.mark.parametrize("edges", [1, 2])
def test_no_change_of_edges_exceeds_the_stated_sensitivity(edges: int) -> None:
    for answers, query in asked(edges):
        assert largest_change(answers, edges) <= query.sensitivity.bound + ROUNDING


@pytest.mark.parametrize("edges", [1, 2])
def test_the_largest_changes_are_those_the_proof_names(edges: int) -> None:
    assert largest_change(SECOND, edges) == pytest.approx(edges + 1, abs=ROUNDING)
    assert largest_change(DEGREE, edges) == edges
    assert largest_change(AVERAGE, edges) == pytest.approx(2 * edges / N, abs=ROUNDING)


@pytest.mark.parametrize("edges", [1, 2])
def test_lambda_2_and_a_degree_can_both_change_the_most_at_once(edges: int) -> None:
    both = max(
        np.hypot(SECOND[CODES ^ change] - SECOND, DEGREE[CODES ^ change] - DEGREE).max()
        for change in CHANGES[edges]
    )
    assert both == pytest.approx(np.hypot(edges + 1, edges), abs=ROUNDING)
