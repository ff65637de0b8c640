"""The linear algebra of the fit, against NumPy's and exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

import inbounds as ib
from inbounds.recovery import response
from inbounds.recovery.cells import Cells
from inbounds.recovery.places import Places
from inbounds.recovery.response import solved, weighted_square


def definite(size: int, spread: float) -> NDArray[np.float64]:
    """A symmetric positive definite matrix whose diagonal spans `spread` decades."""
    rng = np.random.default_rng(size)
    root = rng.normal(size=(size, size))
    square: NDArray[np.float64] = root @ root.T + np.diag(10 ** rng.uniform(0, spread, size))
    return square


@pytest.mark.parametrize("size", [1, 2, 3, 80, 81, 103, 130, 260])
@pytest.mark.parametrize("columns", [1, 2, 7])
@pytest.mark.parametrize("spread", [0, 12])
def test_a_system_that_is_divided_has_the_solution_of_the_whole(
    size: int, columns: int, spread: float
) -> None:
    system, right = definite(size, spread), np.random.default_rng(1).normal(size=(size, columns))
    found = solved(system, right)
    assert np.allclose(found, np.linalg.solve(system, right), rtol=1e-7, atol=1e-12)
    assert np.allclose(system @ found, right, atol=1e-8)


def test_a_small_part_gives_the_exact_solution(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(response, "_ONE_THREAD_SYSTEM", 1)
    size = 6
    hilbert = [[Fraction(1, i + j + 1) for j in range(size)] for i in range(size)]
    ones = [sum(row) for row in hilbert]  # so that the solution is all ones
    found = solved(np.array(hilbert, float), np.array(ones, float)[:, None])
    assert np.allclose(found, 1, atol=1e-8)


@pytest.mark.parametrize("columns", [1, 100, 3000])
def test_a_product_in_pieces_is_the_product(columns: int) -> None:
    rng = np.random.default_rng(columns)
    matrix, weights = rng.random((129, columns)), rng.random(columns)
    assert np.allclose(weighted_square(matrix, weights), matrix * weights @ matrix.T)


def test_nothing_wakes_threads_of_blas(monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenBLAS works in one thread up to 2¹⁸ products, and on systems of up to about 100."""
    sizes: list[int] = []
    true = np.linalg.solve

    def solve(system: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
        sizes.append(len(system))
        return true(system, right)

    monkeypatch.setattr(np.linalg, "solve", solve)
    counts = np.random.default_rng(0).integers(1, 50, 129).astype(float)
    response.fit(definite(129, 0) ** 2 + 1, counts, None)
    response.fit(np.random.default_rng(1).random((1000, 129)), counts, None)
    assert sizes
    assert max(sizes) <= 80


@pytest.mark.parametrize(("rows", "columns"), [(4, 2), (300, 5), (300, 100)])
@pytest.mark.parametrize("spread", [0, 9])
def test_many_rows_and_few_columns_have_the_solution_of_the_whole_system(
    rows: int, columns: int, spread: float
) -> None:
    rng = np.random.default_rng(rows + columns)
    root, right = rng.random((rows, columns)), rng.normal(size=(rows, 2))
    diagonal = 10 ** rng.uniform(-spread, spread, rows)
    found = response._Curvature(root, None).solved_with(diagonal, right)
    expected = np.linalg.solve(root @ root.T + np.diag(diagonal), right)
    assert np.allclose(found, expected, rtol=1e-6, atol=1e-6 * abs(expected).max())


@pytest.mark.parametrize("price", [0.0, 30.0])
def test_a_fit_with_many_rows_is_the_same_by_small_and_by_large_systems(
    price: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    mechanism = ib.Optimal.calibrated(ib.Box(0, 1), 0.05, epsilon=2.0)
    cells = Cells.of(mechanism, 64)
    places = Places.of(mechanism, cells)
    people = np.random.default_rng(2).beta(0.3, 3, 2000)
    counts = places.merged(cells.count(mechanism.release(people)))
    rows, columns = places.response.shape
    assert rows > 2 * columns
    prices = price * (np.arange(rows) < rows / 3)
    small = response.fit(places.response, counts, None, prices)
    monkeypatch.setattr(response, "_FEW_COLUMNS", rows)
    large = response.fit(places.response, counts, None, prices)
    assert max(small.gap, large.gap) <= 1e-3
    chances = [found.weights @ places.response for found in (small, large)]
    assert np.allclose(*chances, atol=1e-3)
