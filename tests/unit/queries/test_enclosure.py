import math

import networkx as nx
import numpy as np
import pytest

from inbounds.queries import enclosure, graph
from inbounds.queries.lanczos import Laplacian, started

GRAPHS = {
    "path": nx.path_graph(30),
    "star": nx.star_graph(29),
    "grid": nx.grid_2d_graph(6, 7),
    "complete": nx.complete_graph(20),
    "complete less an edge": nx.from_edgelist(list(nx.complete_graph(20).edges)[1:]),
    "expander": nx.random_regular_graph(4, 60, seed=1),
    "barbell": nx.barbell_graph(9, 4),
}
each_kind = pytest.mark.parametrize("kind", GRAPHS)
TOLERANCE = 2.0**-10


def spectrum(g: nx.Graph) -> tuple[np.ndarray, np.ndarray]:
    return np.linalg.eigh(nx.laplacian_matrix(g).toarray().astype(float))


@each_kind
def test_a_verdict_of_cholesky_is_true(kind: str) -> None:
    g = GRAPHS[kind]
    below = enclosure.by_cholesky(graph._adjacency(g))
    truth, slack = float(spectrum(g)[0][1]), enclosure.cholesky_slack(len(g))
    for offset in (-0.5, -3 * slack, -1.1 * slack, 0.0, 1.1 * slack, 3 * slack, 0.5):
        s = truth + offset
        verdict = below(s)
        if verdict is None:
            assert truth >= s - slack - 1e-12
        else:
            assert truth - 1e-12 <= verdict <= s + slack + 1e-12


@each_kind
def test_the_upper_bound_is_one_and_close(kind: str) -> None:
    laplacian = Laplacian(graph._adjacency(GRAPHS[kind]))
    truth = float(spectrum(GRAPHS[kind])[0][1])
    assert -1e-11 <= enclosure.close_upper_bound(laplacian, TOLERANCE) - truth <= TOLERANCE
    assert -1e-11 <= enclosure.upper_bound(laplacian, 1e-6) - truth <= 1e-6


def planted(g: nx.Graph, part: float, seed: int) -> tuple[np.ndarray, float]:
    """A start whose part along the second eigenvector was chosen, and the second eigenvalue."""
    values, vectors = spectrum(g)
    second = np.abs(values - values[1]) < 1e-9  # of a multiple eigenvalue, all but one vector
    start, _ = started(np.random.default_rng(seed), len(g))
    for vector in vectors[:, second].T:
        start -= (vector @ start) * vector
    start += part * vectors[:, 1]
    return start / np.linalg.norm(start), float(values[1])


@each_kind
@pytest.mark.parametrize("part", [2.0**-4, 2.0**-16, 2.0**-30])
def test_a_start_that_holds_more_of_the_eigenvector_proves_nothing(kind: str, part: float) -> None:
    laplacian = Laplacian(graph._adjacency(GRAPHS[kind]))
    for seed in range(20):
        start, truth = planted(GRAPHS[kind], 1.5 * part, seed)
        for above in (0.0, 1e-6, TOLERANCE, 0.1, 1.0):
            assert enclosure._refuted(laplacian, start, truth + above, part, 1e-6) is not None


def test_a_start_without_the_eigenvector_would_be_believed() -> None:
    """The control: why starts are secret, and why there are several."""
    g = GRAPHS["barbell"]
    start, truth = planted(g, 0.0, 1)
    laplacian = Laplacian(graph._adjacency(g))
    assert enclosure._refuted(laplacian, start, truth + 0.01, 2.0**-16, 1e-6) is None


def test_a_part_that_roundings_hide_is_not_refuted() -> None:
    laplacian = Laplacian(graph._adjacency(GRAPHS["expander"]))
    start, _ = started(np.random.default_rng(1), laplacian.size)
    assert enclosure._refuted(laplacian, start, 0.1, 2.0**-60, 1e-6) == math.inf
    complete = Laplacian(graph._adjacency(GRAPHS["complete"]))  # done after one step
    start, _ = started(np.random.default_rng(1), complete.size)
    assert enclosure._refuted(complete, start, 10.0, 2.0**-48, 1e-6) == math.inf
    assert enclosure._refuted(complete, start, 10.0, 2.0**-40, 1e-6) is None


def test_roundings_that_hide_much_need_more_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    g = GRAPHS["expander"]
    parts = []
    refuted = enclosure._refuted

    def recorded(laplacian: Laplacian, start, s, part, accuracy):  # type: ignore[no-untyped-def]
        parts.append(part)
        return refuted(laplacian, start, s, part, accuracy)

    monkeypatch.setattr(enclosure, "_refuted", recorded)
    monkeypatch.setattr(Laplacian, "step_error", lambda *_: 1e-8)
    value = enclosure.close_upper_bound(Laplacian(graph._adjacency(g)), TOLERANCE)
    assert value == pytest.approx(float(spectrum(g)[0][1]), abs=TOLERANCE)
    last = [part for part in parts if part > 2.0**-15 / math.sqrt(2 * len(g))]
    assert len(last) > 5


def test_the_column_of_the_inverse_is_the_largest_for_all_smaller_shifts() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        k = int(rng.integers(2, 12))
        alphas, betas = rng.uniform(1, 3, k), rng.uniform(0, 1, k)
        matrix = np.diag(alphas) + np.diag(betas[:-1], 1) + np.diag(betas[:-1], -1)
        least = float(np.linalg.eigvalsh(matrix)[0])
        s = least - float(rng.uniform(1e-3, 0.5))
        column = enclosure.inverse_column(list(alphas), list(betas), s)
        assert enclosure.inverse_column(list(alphas), list(betas), least + 1e-3) is None
        assert column is not None
        for shift in (s, s - 0.1, s - 3.0):
            exact = np.abs(np.linalg.inv(matrix - shift * np.eye(k))[:, 0])
            assert (exact <= column * (1 + 1e-9)).all()


def test_random_starts_differ_and_are_not_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds = []
    draw = enclosure.secrets.randbits
    monkeypatch.setattr(enclosure.secrets, "randbits", lambda k: seeds.append(draw(k)) or seeds[-1])
    laplacian = Laplacian(graph._adjacency(GRAPHS["expander"]))
    for _ in range(2):
        enclosure.close_upper_bound(laplacian, TOLERANCE)
    assert len(set(seeds)) == len(seeds) == 10  # five starts of 16 bits make 79 and more
