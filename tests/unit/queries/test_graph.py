import math
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

import inbounds as ib
from inbounds.queries import Query, graph, stack
from inbounds.queries.connectivity import tolerance

ASK: dict[str, Callable[..., Query]] = {
    "algebraic connectivity": graph.algebraic_connectivity,
    "degree": lambda g, **options: graph.degree(g, node=0, **options),
    "average degree": graph.average_degree,
}
every_query = pytest.mark.parametrize("ask", ASK.values(), ids=ASK.keys())


def lambda_2(g: Any) -> float:
    value = graph.algebraic_connectivity(g, edges=1).value
    assert isinstance(value, float)
    return value


def dense_lambda_2(g: nx.Graph) -> float:
    return float(np.linalg.eigvalsh(nx.laplacian_matrix(g, weight=None).toarray())[1])


# Ranges and sensitivities


def test_the_papers_example_has_the_papers_box_and_sensitivities() -> None:
    g = nx.path_graph(10)
    joint = stack(
        [
            graph.algebraic_connectivity(g, edges=2),
            graph.degree(g, node=0, edges=2, connected=True),
        ]
    )
    assert joint.box == ib.Box([0, 1], [10, 9])
    assert joint.sensitivity == ib.PerCoordinate([4, 2])
    reach = joint.sensitivity.within(joint.box.widths)
    assert reach.diameter == pytest.approx(2 * math.sqrt(5), rel=1e-15)
    m = ib.BoundedGaussian.calibrated(joint.box, joint.sensitivity, epsilon=1.0)
    assert np.shape(m.release(joint.value)) == (2,)


@pytest.mark.parametrize("n", [3, 10, 501])
@pytest.mark.parametrize("edges", [1, 2, 3])
def test_ranges_and_sensitivities_follow_from_nodes_and_edges(n: int, edges: int) -> None:
    g = nx.path_graph(n)
    second = graph.algebraic_connectivity(g, edges=edges)
    assert second.box == ib.Box(0, n)
    assert 2 * edges <= second.sensitivity.bound <= 2 * edges * (1 + 1e-6)
    for connected, least in ((False, 0), (True, 1)):
        one = graph.degree(g, node=0, edges=edges, connected=connected)
        assert (one.box, one.sensitivity) == (ib.Box(least, n - 1), ib.PerCoordinate(edges))
    mean = graph.average_degree(g, edges=edges)
    assert mean.box == ib.Box(0, n - 1)
    assert 2 * edges / n < mean.sensitivity.bound <= 2 * edges / n * (1 + 1e-9)
    if n > 3:
        known = graph.average_degree(g, edges=edges, connected=True)
        assert known.box == ib.Box(2 * (n - 1) / n, n - 1)


@every_query
def test_box_and_sensitivity_do_not_depend_on_the_edges(ask: Callable[..., Query]) -> None:
    public = {
        repr(ask(g, edges=1)) for g in (nx.empty_graph(9), nx.star_graph(8), nx.complete_graph(9))
    }
    assert len(public) == 1


@every_query
def test_queries_state_the_edges_that_neighbours_differ_in(ask: Callable[..., Query]) -> None:
    assert ask(nx.path_graph(9), edges=2).unit == ib.Unit("add-remove", "edge", 2)
    with pytest.raises(ib.ArgumentError, match=r"^queries must be about one unit"):
        stack([ask(nx.path_graph(9), edges=2), graph.average_degree(nx.path_graph(9), edges=3)])


@every_query
def test_more_edges_than_there_are_pairs_are_all_pairs(ask: Callable[..., Query]) -> None:
    g = nx.path_graph(4)
    assert repr(ask(g, edges=10**400)) == repr(ask(g, edges=6))


def test_a_graph_against_the_assumption_is_clamped_and_raises_nothing() -> None:
    g = nx.empty_graph(5)
    for query in (
        graph.degree(g, node=0, edges=1, connected=True),
        graph.average_degree(g, edges=1, connected=True),
    ):
        assert query.value == 0.0
        assert query.box.clamp(np.asarray(query.value)) == query.box.lower
        m = ib.BoundedGaussian.calibrated(query.box, query.sensitivity, epsilon=1.0)
        assert query.box.lower <= m.release(query.value) <= query.box.upper


# What is read as a graph


def with_stored_zeros(dense: np.ndarray) -> sparse.csr_array:
    everywhere = sparse.csr_array(np.ones_like(dense))
    everywhere.data[:] = dense.ravel()
    return everywhere


def forms(g: nx.Graph) -> dict[str, Any]:
    dense = nx.to_numpy_array(g, weight=None)
    loops = g.copy()
    loops.add_edges_from((v, v) for v in list(g)[::2])
    weighted = g.copy()
    nx.set_edge_attributes(weighted, 7.5, "weight")
    rows, columns = np.nonzero(np.triu(dense))
    return {
        "networkx": g,
        "with self-loops": loops,
        "with weights": weighted,
        "frozen view": nx.freeze(g).subgraph(g),
        "dense": dense,
        "bool": dense != 0,
        "matrix": np.matrix(dense),
        "negative weights": -3 * dense,
        "with a diagonal": dense + np.eye(len(g)),
        "upper triangle": np.triu(dense),
        "lower triangle": sparse.csc_array(np.tril(dense)),
        "csr_array": sparse.csr_array(dense),
        "coo_matrix": sparse.coo_matrix(dense.astype(np.int8)),
        "lil_array": sparse.lil_array(dense),
        "stored zeros": with_stored_zeros(dense),
        "repeated entries": sparse.coo_array(
            (np.ones(2 * rows.size), (np.tile(rows, 2), np.tile(columns, 2))), shape=dense.shape
        ),
    }


KARATE = forms(nx.karate_club_graph())


@pytest.mark.parametrize("form", KARATE)
def test_every_form_of_a_graph_gives_the_same_answers(form: str) -> None:
    g = nx.karate_club_graph()
    assert lambda_2(KARATE[form]) == pytest.approx(dense_lambda_2(g), abs=1e-12)
    assert graph.average_degree(KARATE[form], edges=1).value == 2 * 78 / 34
    for node in (0, 11, 33):
        assert graph.degree(KARATE[form], node=node, edges=1).value == len(g[node])


@pytest.mark.parametrize("value", [0, 7, "x", None, math.nan])
@pytest.mark.parametrize("key", [None, "weight", 0])
def test_no_attribute_of_an_edge_is_looked_at(key: Any, value: Any) -> None:
    g = nx.path_graph(5)
    g[0][1][key] = value
    assert graph.average_degree(g, edges=1).value == 1.6


@pytest.mark.parametrize("form", ["coo", "csr", "csc"])
@pytest.mark.parametrize(("entries", "edges"), [([1, -1], 0), ([1, 1], 1), ([2, -1], 1)])
def test_entries_stored_several_times_are_added_up(
    form: str, entries: list[int], edges: int
) -> None:
    stored = np.array(entries), np.array([1, 1]), np.array([0, 2, 2, 2])
    row_wise = sparse.csr_array(stored, shape=(3, 3))
    column_wise = sparse.csc_array(stored, shape=(3, 3))
    pairs = sparse.coo_array((stored[0], ([0, 0], [1, 1])), shape=(3, 3))
    matrix = {"coo": pairs, "csr": row_wise, "csc": column_wise}[form]
    assert graph.average_degree(matrix, edges=1).value == pytest.approx(2 * edges / 3)
    assert matrix.nnz == 2  # what was given is not changed


def test_nodes_of_a_networkx_graph_go_by_their_labels() -> None:
    g = nx.Graph([("b", "a"), ("a", ("t", 1)), (7, "a")])
    assert graph.degree(g, node="a", edges=1).value == 3
    assert graph.degree(g, node=("t", 1), edges=1).value == 1
    assert graph.degree(g, node="a", edges=1).name == "degree of node a"


def test_the_given_graph_is_not_changed() -> None:
    matrix = sparse.csr_array(np.triu(np.full((4, 4), 2.0)))
    before = matrix.toarray()
    for ask in ASK.values():
        ask(matrix, edges=1)
    assert np.array_equal(matrix.toarray(), before)


def test_matrices_need_no_networkx() -> None:
    code = (
        "import sys, numpy as np; from inbounds.queries import graph; "
        "graph.algebraic_connectivity(np.ones((4, 4)), edges=1); "
        "sys.exit('networkx' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# Errors, about public things only


@every_query
@pytest.mark.parametrize(
    ("bad", "error", "message"),
    [
        (nx.DiGraph([(0, 1)]), TypeError, "undirected .*, got DiGraph"),
        (nx.MultiGraph([(0, 1)]), TypeError, "parallel edges, got MultiGraph"),
        (nx.MultiDiGraph([(0, 1)]), TypeError, "got MultiDiGraph.\nHint: networkx.Graph"),
        (nx.Graph(), ValueError, "at least two nodes, got 0"),
        (nx.empty_graph(1), ValueError, "at least two nodes, got 1"),
        (np.ones((1, 1)), ValueError, "at least two nodes, got 1"),
        (np.ones((3, 4)), ValueError, r"square matrix, got shape \(3, 4\)"),
        (np.ones(4), ValueError, r"square matrix, got shape \(4,\)"),
        (sparse.csr_array((3, 4)), ValueError, r"square matrix, got shape \(3, 4\)"),
        (np.full((3, 3), "x"), TypeError, "real numbers .*, got ndarray of"),
        (np.ma.ones((3, 3)), TypeError, "real numbers"),
        ([[0, 1], [1, 0]], TypeError, "networkx Graph or a square .*, got list"),
        (None, TypeError, "got NoneType"),
    ],
)
def test_what_is_no_simple_graph_is_refused(
    ask: Callable[..., Query], bad: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=f"^graph must (.|\n)*{message}") as caught:
        ask(bad, edges=1)
    assert isinstance(caught.value, ib.InBoundsError)


@every_query
@pytest.mark.parametrize("bad", [0, -1, 1.0, True, None, "1", np.float64(2)])
def test_edges_must_be_a_positive_integer(ask: Callable[..., Query], bad: Any) -> None:
    with pytest.raises(ib.ArgumentError, match=r"^edges must be a positive integer, got edges="):
        ask(nx.path_graph(4), edges=bad)
    assert ask(nx.path_graph(4), edges=np.int64(2)).sensitivity is not None


@pytest.mark.parametrize("node", [-1, 4, "a", None, [0], 0.5])
def test_an_unknown_node_is_named(node: Any) -> None:
    for g in (nx.path_graph(4), np.ones((4, 4))):
        with pytest.raises(ib.ArgumentError, match=r"^node must be ") as caught:
            graph.degree(g, node=node, edges=1)
        shown = "<list>" if isinstance(node, list) else repr(node)
        assert f"got node={shown}." in str(caught.value)


@pytest.mark.parametrize("ask", [ASK["degree"], ASK["average degree"]])
def test_two_connected_nodes_leave_nothing_to_ask(ask: Callable[..., Query]) -> None:
    with pytest.raises(ib.ArgumentError, match=r"^graph must have at least three nodes"):
        ask(nx.path_graph(2), edges=1, connected=True)
    assert ask(nx.path_graph(2), edges=1).box == ib.Box(0, 1)


# The second eigenvalue


@pytest.mark.parametrize("n", [2, 3, 10, 499, 501, 3000, 20_000])
def test_paths_cycles_and_stars_have_their_known_eigenvalue(n: int) -> None:
    within = 1e-12 if n < 500 else tolerance(n)
    path = sparse.diags_array(np.ones(n - 1), offsets=1, shape=(n, n)).tolil()
    assert lambda_2(path) == pytest.approx(4 * math.sin(math.pi / 2 / n) ** 2, abs=within)
    if n > 2:
        path[0, n - 1] = 1
        assert lambda_2(path) == pytest.approx(4 * math.sin(math.pi / n) ** 2, abs=within)
        star = sparse.lil_array((n, n))
        star[0] = 1
        assert lambda_2(star) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("n", [2, 10, 500, 501, 700])
def test_complete_graphs_and_those_with_an_edge_missing_have_n_and_n_minus_2(n: int) -> None:
    full = np.ones((n, n))
    assert lambda_2(full) == pytest.approx(n, rel=1e-12)
    full[0, 1] = full[1, 0] = 0
    assert lambda_2(full) == pytest.approx(n - 2, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("n", [2, 9, 700])
def test_a_graph_in_several_parts_has_exactly_0(n: int) -> None:
    assert lambda_2(nx.empty_graph(n)) == 0.0
    assert lambda_2(nx.disjoint_union(nx.star_graph(n), nx.path_graph(n))) == 0.0
    lonely = nx.cycle_graph(n + 1)
    lonely.add_node("lonely")
    assert lambda_2(lonely) == 0.0


LARGE = {
    "small world": nx.connected_watts_strogatz_graph(700, 4, 0.05, seed=2),
    "expander": nx.random_regular_graph(4, 700, seed=3),
    "grid": nx.grid_2d_graph(20, 35),
}


@pytest.mark.parametrize("kind", ["small world", "expander", "grid"])
def test_networkx_agrees(kind: str) -> None:
    theirs = nx.algebraic_connectivity(LARGE[kind], tol=1e-10, method="lanczos", seed=1)
    assert lambda_2(LARGE[kind]) == pytest.approx(theirs, abs=1e-7)


def test_the_answer_is_the_same_each_time_and_touches_no_global_random_state() -> None:
    np.random.seed(1)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    values = {lambda_2(LARGE["expander"]) for _ in range(3)}
    assert len(values) == 1
    assert np.array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_twenty_thousand_nodes_without_sparse_factors_take_seconds() -> None:
    """Ten random permutations' cycles, λ₂ near 10 - 2·√9 = 4 (Friedman)."""
    rng = np.random.default_rng(1)
    n = 20_000
    rows = np.concatenate([rng.permutation(n) for _ in range(5)])
    columns = np.roll(rows.reshape(5, n), 1, axis=1).ravel()
    g = sparse.coo_array((np.ones(rows.size), (rows, columns)), shape=(n, n))
    assert lambda_2(g) == pytest.approx(4, abs=0.02)
