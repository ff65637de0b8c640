"""Neighbouring graphs chosen against the computation of a query, not against the query.

The control is what the library once did: Lanczos' method from a public start, believed as it is.
"""

from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inbounds.queries import connectivity, enclosure, graph, lanczos


def less_edges(n: int, pairs: list[tuple[int, int]]) -> np.ndarray:
    full = np.ones((n, n))
    for u, v in pairs:
        full[u, v] = full[v, u] = 0
    return full


def hidden_pair(n: int) -> tuple[int, int]:
    """The two nodes at which the public start of Lanczos' method is most alike."""
    start = np.random.default_rng(0).standard_normal(n)
    order = np.argsort(start)
    closest = int(np.argmin(np.diff(start[order])))
    return int(order[closest]), int(order[closest + 1])


def believed(matrix: np.ndarray) -> float:
    """The first step, which has a small residual against its value."""
    start, _ = lanczos.started(np.random.default_rng(0), len(matrix))
    laplacian = lanczos.Laplacian(graph._adjacency(matrix))
    alpha, beta, _ = next(lanczos.recurrence(laplacian, start))
    assert beta <= 1e-5 * alpha
    return alpha


def test_an_edge_that_the_public_start_does_not_see_is_seen_by_ours() -> None:
    n = 1000
    pair = hidden_pair(n)
    lacking = less_edges(n, [pair])
    assert believed(lacking) == pytest.approx(n)  # the attack works where it is believed
    query = graph.algebraic_connectivity(lacking, edges=1)
    assert query.value == pytest.approx(n - 2, abs=connectivity.tolerance(n))
    third = next(k for k in range(n) if k not in pair)
    neighbour = graph.algebraic_connectivity(less_edges(n, [pair, (pair[0], third)]), edges=1)
    assert abs(query.value - neighbour.value) <= query.sensitivity.bound


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(2, 40),
    seed=st.integers(0, 2**32 - 1),
    density=st.sampled_from([0.05, 0.2, 0.5, 0.9, 1.0]),
    estimate=st.one_of(st.floats(-1e3, 1e3), st.floats(0, 1), st.just(0.0)),
)
def test_no_estimate_however_wrong_is_believed(
    n: int, seed: int, density: float, estimate: float
) -> None:
    """Whoever chooses the graph chooses, at worst, what an estimate by any method says."""
    adjacency = graph._adjacency(nx.to_numpy_array(nx.fast_gnp_random_graph(n, density, seed=seed)))
    truth = np.linalg.eigvalsh(np.diag(np.diff(adjacency.indptr)) - adjacency.toarray())[1]
    below = enclosure.by_cholesky(adjacency)
    for value in (connectivity._confirmed(estimate, below, n), connectivity._bisected(below, n)):
        assert value is None or abs(value - truth) <= connectivity.tolerance(n) + 1e-12


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(2, 40),
    seed=st.integers(0, 2**32 - 1),
    density=st.sampled_from([0.05, 0.2, 0.5, 0.9, 1.0]),
    loose=st.floats(0, 100),
)
def test_random_starts_lower_a_bound_however_loose(
    n: int, seed: int, density: float, loose: float
) -> None:
    """The way of graphs that are too large to be factorised, tried on small ones."""
    adjacency = graph._adjacency(nx.to_numpy_array(nx.fast_gnp_random_graph(n, density, seed=seed)))
    if not np.diff(adjacency.indptr).all():
        return  # a graph in several parts is found before
    truth = np.linalg.eigvalsh(np.diag(np.diff(adjacency.indptr)) - adjacency.toarray())[1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(enclosure, "upper_bound", lambda *_: truth + loose)
        value = enclosure.close_upper_bound(lanczos.Laplacian(adjacency), 2.0**-10)
    assert truth - 1e-12 * n <= value <= truth + 2.0**-10 + 1e-12 * n


FAMILIES = {
    "complete": nx.complete_graph(30),
    "complete less a matching": nx.complement(
        nx.from_edgelist((2 * i, 2 * i + 1) for i in range(15))
    ),
    "star": nx.star_graph(29),
    "barbell": nx.barbell_graph(12, 6),
    "expander and path": nx.lollipop_graph(15, 15),
    "bipartite": nx.complete_bipartite_graph(15, 15),
    "path": nx.path_graph(30),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_an_optimiser_finds_no_neighbours_further_apart_than_stated(family: str) -> None:
    """Climbs along computed differences: edges are toggled while the difference grows."""
    matrix = nx.to_numpy_array(FAMILIES[family])
    n = len(matrix)
    rng = np.random.default_rng(5)
    for edges in (1, 2):
        best, worst = 0.0, graph.algebraic_connectivity(matrix, edges=edges).sensitivity.bound
        here = matrix.copy()
        for _ in range(60):
            other = here.copy()
            for u, v in rng.integers(0, n, (edges, 2)):
                other[u, v] = other[v, u] = 1 - other[u, v]
            one, two = (graph.algebraic_connectivity(g, edges=edges).value for g in (here, other))
            assert abs(one - two) <= worst
            if abs(one - two) >= best:
                best, here = abs(one - two), other


@settings(max_examples=100, deadline=None)
@given(n=st.integers(3, 2000), most=st.integers(0, 10**6), edges=st.integers(1, 3))
def test_mean_degrees_of_neighbours_are_as_close_as_stated_in_doubles(
    n: int, most: int, edges: int
) -> None:
    pairs = n * (n - 1) // 2
    many = most % (pairs + 1)
    change = min(edges, pairs)
    bound = graph.average_degree(np.zeros((n, n), dtype=np.int8), edges=edges).sensitivity.bound
    for other in (many + change, many - change):
        if 0 <= other <= pairs:
            computed = Fraction(2 * many / n) - Fraction(2 * other / n)
            assert abs(computed) <= Fraction(bound)
