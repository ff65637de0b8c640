import math
from fractions import Fraction
from itertools import islice, pairwise

import networkx as nx
import numpy as np
import pytest

from inbounds.queries import graph
from inbounds.queries.lanczos import (
    HALF_ULP,
    Laplacian,
    least_ritz_pair,
    recurrence,
    started,
)

GRAPHS = {
    "path": nx.path_graph(40),
    "star": nx.star_graph(200),
    "two stars": nx.from_edgelist(
        [(0, i) for i in range(1, 90)] + [(1, i) for i in range(90, 300)]
    ),
    "complete": nx.complete_graph(90),
    "scale-free": nx.barabasi_albert_graph(300, 3, seed=1),
}
each_kind = pytest.mark.parametrize("kind", GRAPHS)


@each_kind
def test_rows_in_pieces_make_the_same_product(kind: str) -> None:
    matrix = nx.laplacian_matrix(GRAPHS[kind]).toarray()
    x = np.random.default_rng(1).standard_normal(len(matrix))
    assert np.allclose(Laplacian(graph._adjacency(GRAPHS[kind]))(x), matrix @ x, atol=1e-10)


def test_the_row_of_a_hub_is_as_exact_as_stated() -> None:
    """Leaves of half a unit in the last place of the degree, which a running sum loses."""
    leaves = 10_000
    star = graph._adjacency(nx.star_graph(leaves))
    x = np.full(leaves + 1, -0.49137 * math.ulp(float(leaves)))
    x[0] = 1.0
    exact = leaves * (Fraction(1) - Fraction(x[1]))
    laplacian = Laplacian(star)
    stated = laplacian.step_error(0.0) * float(np.linalg.norm(x))
    assert abs(Fraction(laplacian(x)[0]) - exact) <= Fraction(stated)
    running = float(leaves)
    for value in x[1:]:
        running -= value
    once_stated = 8 * (math.sqrt(leaves) + 8) * 2 * HALF_ULP * leaves / 4
    assert abs(Fraction(running) - exact) > Fraction(once_stated)  # the bound there was


@each_kind
def test_the_norm_is_at_least_the_largest_eigenvalue(kind: str) -> None:
    values = np.linalg.eigvalsh(nx.laplacian_matrix(GRAPHS[kind]).toarray())
    laplacian = Laplacian(graph._adjacency(GRAPHS[kind]))
    assert laplacian.norm >= values[-1]
    assert laplacian.least_degree_bound >= values[1]


@each_kind
def test_every_step_holds_up_to_the_stated_roundings(kind: str) -> None:
    """In long doubles, beyond the loss of orthogonality; multiples of 1 are left out."""
    matrix = nx.laplacian_matrix(GRAPHS[kind]).toarray().astype(np.longdouble)
    laplacian = Laplacian(graph._adjacency(GRAPHS[kind]))
    start, _ = started(np.random.default_rng(2), len(matrix))
    steps = list(islice(recurrence(laplacian, start), 80))
    largest = max(max(abs(alpha), beta) for alpha, beta, _ in steps)
    before, beta_before = np.zeros(len(matrix)), 0.0
    for (alpha, beta, x), (_, _, following) in pairwise(steps):
        missed = matrix @ x - np.longdouble(alpha) * x - np.longdouble(beta_before) * before
        missed -= np.longdouble(beta) * following
        missed -= missed.mean()
        assert np.linalg.norm(missed.astype(float)) <= laplacian.step_error(largest)
        before, beta_before = x, beta


@each_kind
def test_a_quotient_is_an_upper_bound_of_the_second_eigenvalue(kind: str) -> None:
    values, vectors = np.linalg.eigh(nx.laplacian_matrix(GRAPHS[kind]).toarray().astype(float))
    laplacian = Laplacian(graph._adjacency(GRAPHS[kind]))
    exact = vectors[:, 1]
    assert values[1] - 1e-12 <= laplacian.quotient_bound(exact) <= values[1] + 1e-9
    assert (
        laplacian.quotient_bound(7 * exact + 0.1) >= values[1] - 1e-12
    )  # the constant is taken out
    assert laplacian.quotient_bound(np.full(len(values), np.nan)) == math.inf
    assert laplacian.quotient_bound(np.ones(len(values))) == math.inf


def test_a_matrix_that_is_not_finite_gives_no_pair() -> None:
    value, _, residual = least_ritz_pair([1.0, math.nan, 1.0], [1.0, 1.0, 1.0])
    assert not residual <= 1.0 or not value <= 1.0
