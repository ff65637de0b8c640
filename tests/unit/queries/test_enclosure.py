import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from inbounds.queries import enclosure, graph

GRAPHS = {
    "path": nx.path_graph(30),
    "star": nx.star_graph(29),
    "grid": nx.grid_2d_graph(6, 7),
    "complete": nx.complete_graph(20),
    "complete less an edge": nx.from_edgelist(list(nx.complete_graph(20).edges)[1:]),
    "expander": nx.random_regular_graph(4, 60, seed=1),
    "barbell": nx.barbell_graph(9, 4),
}
SLACK = 2.0**-8


def methods_of(g: nx.Graph) -> dict[str, enclosure.Test]:
    adjacency = graph._adjacency(g)
    laplacian = nx.laplacian_matrix(g).astype(float)
    return {
        "cholesky": enclosure.by_cholesky(adjacency),
        "pivots": enclosure.by_pivots(laplacian.tocsc(), SLACK),
        "filter": enclosure.by_filter(adjacency, laplacian.tocsr(), SLACK),
    }


@pytest.mark.parametrize("kind", GRAPHS)
@pytest.mark.parametrize("method", ["cholesky", "pivots", "filter"])
def test_a_verdict_is_true(kind: str, method: str) -> None:
    g = GRAPHS[kind]
    below = methods_of(g)[method]
    truth = float(np.linalg.eigvalsh(nx.laplacian_matrix(g).toarray())[1])
    slack = enclosure.cholesky_slack(len(g)) if method == "cholesky" else SLACK
    offsets = (-0.5, -3 * slack, -1.1 * slack, 0.0, 1.1 * slack, 3 * slack, 0.5)
    for s in (truth + offset for offset in offsets):
        verdict = below(s)
        if verdict is False:  # only factors may leave it open
            assert method == "pivots"
        elif verdict is None:
            assert truth >= s - slack - 1e-12
        else:
            assert truth - 1e-12 <= verdict <= s + slack + 1e-12


def test_factors_that_miss_the_matrix_decide_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enclosure, "_factorised", lambda matrix: (np.ones(matrix.shape[0]), 1.0))
    assert methods_of(GRAPHS["path"])["pivots"](0.5) is False


def test_the_bound_on_what_factors_miss_holds_where_pivots_are_tiny() -> None:
    """L - s with s next to an eigenvalue of a leading part: the factors grow without bound."""
    laplacian = nx.laplacian_matrix(nx.star_graph(5)).astype(float).toarray()
    for distance in (1e-3, 1e-9, 1e-15):
        matrix = sparse.csc_array(laplacian - (1 - distance) * np.eye(6))
        pivots, missed = enclosure._factorised(matrix)
        negative = np.count_nonzero(pivots < 0)
        values = np.linalg.eigvalsh(matrix.toarray())
        assert np.count_nonzero(values < -missed - 1e-12) <= negative
        assert negative <= np.count_nonzero(values < missed + 1e-12)


def test_random_starts_differ_and_are_not_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds = []
    draw = enclosure.secrets.randbits
    monkeypatch.setattr(enclosure.secrets, "randbits", lambda k: seeds.append(draw(k)) or seeds[-1])
    below = methods_of(GRAPHS["expander"])["filter"]
    below(0.2), below(0.2)
    assert len(set(seeds)) == 2
