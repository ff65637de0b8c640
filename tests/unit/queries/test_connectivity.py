import math

import networkx as nx
import numpy as np
import pytest

from inbounds.queries import connectivity, graph


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
@pytest.mark.parametrize("factorised", [True, False])
def test_both_large_methods_estimate_well(
    kind: str, factorised: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connectivity, "_CYCLES", -(10**9))
    monkeypatch.setattr(connectivity, "_NARROW", math.inf if factorised else -1)
    adjacency = graph._adjacency(LARGE[kind])
    laplacian = nx.laplacian_matrix(LARGE[kind], weight=None).astype(float).tocsr()
    truth = dense_lambda_2(LARGE[kind])
    estimate = connectivity._estimate(adjacency, laplacian)
    assert estimate == pytest.approx(truth, abs=2e-9 * max(1.0, truth))


@pytest.mark.parametrize(
    ("kind", "thin"),
    [(kind, True) for kind in ("small world", "lollipop", "grid", "random tree", "scale-free")]
    + [(kind, False) for kind in ("expander", "torus")],  # elsewhere the filter takes long
)
def test_graphs_beyond_the_dense_ones_are_as_accurate_as_the_tolerance(
    kind: str, thin: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With an estimate that is wrong by twice the tolerance, so that bisection decides."""
    monkeypatch.setattr(connectivity, "_DENSE", 0)
    monkeypatch.setattr(connectivity, "_is_thin", lambda _: thin)
    truth, n = dense_lambda_2(LARGE[kind]), len(LARGE[kind])
    wrong = truth + 2 * connectivity.tolerance(n)
    monkeypatch.setattr(connectivity, "_estimate", lambda *_: wrong)
    value = connectivity.second_eigenvalue(graph._adjacency(LARGE[kind]))
    assert abs(value - truth) <= connectivity.tolerance(n)


def test_the_tolerance_is_public_and_grows_slowly() -> None:
    assert connectivity.tolerance(2) == 2.0**-30
    assert connectivity.tolerance(500) < 1e-6
    assert connectivity.tolerance(3000) < 1e-3
    assert connectivity.tolerance(10**5) == 2.0**-6


def test_running_out_of_steps_leaves_an_estimate_and_no_exception(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connectivity, "_STEPS", 3)
    monkeypatch.setattr(connectivity, "_is_thin", lambda _: False)
    adjacency = graph._adjacency(LARGE["expander with a tail"])
    truth = dense_lambda_2(LARGE["expander with a tail"])
    assert connectivity.second_eigenvalue(adjacency) == pytest.approx(truth, abs=1e-6)
    assert np.isfinite(truth)
