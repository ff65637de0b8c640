import networkx as nx
import numpy as np
import pytest

from inbounds.queries import connectivity, enclosure, graph


def tailed(size: int) -> nx.Graph:
    """A wide expander with a long tail, the hardest kind."""
    core, tail = nx.random_regular_graph(6, size, seed=1), nx.path_graph(size // 4)
    g = nx.disjoint_union(core, tail)
    g.add_edge(0, size)
    return g


def dense_lambda_2(g: nx.Graph) -> float:
    return float(np.linalg.eigvalsh(nx.laplacian_matrix(g, weight=None).toarray())[1])


LARGE = {
    "sparse random": nx.connected_watts_strogatz_graph(600, 6, 1.0, seed=1),
    "small world": nx.connected_watts_strogatz_graph(700, 4, 0.05, seed=2),
    "expander": nx.random_regular_graph(4, 700, seed=3),
    "scale-free": nx.barabasi_albert_graph(700, 3, seed=4),
    "dense": nx.gnp_random_graph(520, 0.4, seed=5),
    "two cliques and a bridge": nx.barbell_graph(255, 3),
    "lollipop": nx.lollipop_graph(150, 450),
    "grid": nx.grid_2d_graph(20, 35),
    "torus": nx.grid_2d_graph(26, 26, periodic=True),
    "random tree": nx.random_labeled_tree(700, seed=6),
    "hypercube": nx.hypercube_graph(10),
    "expander with a tail": tailed(600),
}

each_kind = pytest.mark.parametrize("kind", LARGE)


@each_kind
def test_the_estimate_is_as_good_as_its_test_needs(kind: str) -> None:
    estimate = connectivity._estimate(graph._adjacency(LARGE[kind]))
    error = estimate - dense_lambda_2(LARGE[kind])
    assert -1e-10 * len(LARGE[kind]) <= error <= connectivity.tolerance(len(LARGE[kind])) / 2


@each_kind
@pytest.mark.parametrize("wrong_by", [0.0, 2.0, 1000.0])
def test_graphs_beyond_the_dense_ones_are_as_accurate_as_the_tolerance(
    kind: str, wrong_by: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With an upper bound that is loose by many times the tolerance, too."""
    monkeypatch.setattr(connectivity, "_DENSE", 0)
    truth, n = dense_lambda_2(LARGE[kind]), len(LARGE[kind])
    if wrong_by:
        loose = truth + wrong_by * connectivity.tolerance(n)
        monkeypatch.setattr(enclosure, "upper_bound", lambda *_: loose)
    value = connectivity.second_eigenvalue(graph._adjacency(LARGE[kind]))
    assert -1e-9 <= value - truth <= connectivity.tolerance(n)


def expander_with_hub(n: int) -> nx.Graph:
    g = nx.random_regular_graph(6, n - 1, seed=1)
    g.add_edges_from((n, node) for node in range(n - 1))
    return g


JUST_ABOVE = 3001
KNOWN = {
    "star": (nx.star_graph(JUST_ABOVE - 1), 1.0),
    "wheel": (nx.wheel_graph(JUST_ABOVE), 3 - 2 * np.cos(2 * np.pi / (JUST_ABOVE - 1))),
    "path": (nx.path_graph(JUST_ABOVE), 2 - 2 * np.cos(np.pi / JUST_ABOVE)),
    "bipartite": (nx.complete_bipartite_graph(5, JUST_ABOVE - 5), 5.0),
    "hypercube": (nx.hypercube_graph(12), 2.0),
}


@pytest.mark.parametrize("kind", KNOWN)
def test_known_values_just_above_the_dense_range(kind: str) -> None:
    g, truth = KNOWN[kind]
    query = graph.algebraic_connectivity(g, edges=1)
    assert -1e-9 <= query.value - truth <= connectivity.tolerance(len(g))
    first, *_, last = g.nodes
    g = g.copy()
    (g.remove_edge if g.has_edge(first, last) else g.add_edge)(first, last)
    neighbour = graph.algebraic_connectivity(g, edges=1)
    assert abs(query.value - neighbour.value) <= query.sensitivity.bound


def test_a_dense_graph_just_above_the_dense_range() -> None:
    full = np.ones((JUST_ABOVE, JUST_ABOVE), dtype=np.int8)
    full[0, 1] = full[1, 0] = 0
    value = connectivity.second_eigenvalue(graph._adjacency(full))
    assert -1e-9 <= value - (JUST_ABOVE - 2) <= connectivity.tolerance(JUST_ABOVE)


@pytest.mark.parametrize(
    "g", [nx.barabasi_albert_graph(JUST_ABOVE, 3, seed=1), expander_with_hub(JUST_ABOVE)]
)
def test_both_ranges_agree_just_above_the_dense_one(g: nx.Graph) -> None:
    adjacency = graph._adjacency(g)
    value = connectivity.second_eigenvalue(adjacency)
    below = enclosure.by_cholesky(adjacency)
    assert below(value - connectivity.tolerance(JUST_ABOVE) - 1e-3) is None
    assert below(value + 1e-3) is not None


def test_the_tolerance_is_public_and_grows_slowly() -> None:
    assert connectivity.tolerance(2) == 2.0**-30
    assert connectivity.tolerance(500) < 1e-6
    assert connectivity.tolerance(3000) < 1e-3
    assert connectivity.tolerance(10**5) == 2.0**-10


def test_running_out_of_steps_leaves_an_estimate_and_no_exception(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(enclosure, "_STEPS", 3)
    adjacency = graph._adjacency(LARGE["expander with a tail"])
    truth = dense_lambda_2(LARGE["expander with a tail"])
    assert connectivity.second_eigenvalue(adjacency) == pytest.approx(truth, abs=1e-6)


def test_methods_that_fail_leave_the_halving_of_an_interval(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> None:
        raise np.linalg.LinAlgError

    monkeypatch.setattr(np.linalg, "eigvalsh", fail)
    value = connectivity.second_eigenvalue(graph._adjacency(nx.cycle_graph(6)))
    assert value == pytest.approx(1.0, abs=connectivity.tolerance(6))
