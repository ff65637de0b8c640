import numpy as np
import pytest

from inbounds.calibration import column
from inbounds.calibration.column import (
    Mixture,
    folded,
    left_half,
    minimise,
    plateaus,
    unfolded,
)
from inbounds.errors import CertificateError


@pytest.mark.parametrize("reach", [1, 2, 5, 20])
def test_levels_of_rows_within_reach_differ_by_at_most_one(reach: int) -> None:
    levels = plateaus(14, reach)
    for distance in range(1, min(reach, 13) + 1):
        assert np.abs(levels[:, distance:] - levels[:, :-distance]).max() <= 1
    assert levels.min(axis=1).max() == 0


def test_of_other_lengths_only_the_plateaus_at_the_ends_are_left() -> None:
    every, some = plateaus(12, 4), plateaus(12, 4, (2, 3))
    lengths = (every == 0).sum(axis=1)
    at_an_end = (every[:, 0] == 0) | (every[:, -1] == 0)
    expected = every[at_an_end | (lengths == 2) | (lengths == 3)]
    assert np.array_equal(some, expected)
    assert len(some) < len(every)


def test_of_each_pair_of_mirrored_plateaus_one_is_in_the_left_half() -> None:
    levels = plateaus(9, 2)
    left = levels[left_half(levels)]
    both = {tuple(row) for row in left.tolist()} | {tuple(row[::-1]) for row in left.tolist()}
    assert both == {tuple(row) for row in levels.tolist()}
    assert len(left) < 0.6 * len(levels)


def test_prices_of_a_folded_matrix_price_the_whole() -> None:
    random = np.random.default_rng(1)
    matrix, prices = random.random((7, 4)), random.random(4)
    assert np.allclose(prices @ folded(matrix), unfolded(prices, 7) @ matrix)


def test_mirrored_columns_with_the_same_output_are_joined() -> None:
    mixture = Mixture(np.array([[0, 0], [0, 1]]), np.array([0.25, 0.5]), np.array([0.0, -0.3]))
    both = mixture.mirrored()
    assert both.levels.shape == (3, 2)
    assert sorted(both.weights.tolist()) == [0.5, 0.5, 0.5]


def test_polishing_corrects_small_errors_of_the_sums() -> None:
    exact = np.linalg.solve(np.exp(-np.abs(np.subtract.outer(range(4), range(4)))), np.ones(4))
    levels = np.abs(np.subtract.outer(range(4), range(4)))
    rough = Mixture(levels, exact * (1 + 1e-8 * np.arange(4)), np.zeros(4))
    assert rough.residual(1.0) > 1e-9
    assert rough.polished(1.0).residual(1.0) < 1e-14


def test_half_of_a_mirrored_mixture_is_polished_for_the_whole() -> None:
    levels = np.array([[0, 1, 2, 3], [1, 0, 1, 2]])
    columns = folded(np.exp(-1.0 * levels).T)
    rough = Mixture(levels, np.linalg.solve(columns, np.ones(2)) + 1e-8, np.array([-0.4, -0.1]))
    assert rough.mirrored().residual(1.0) > 1e-9
    assert rough.polished(1.0, mirrored=True).mirrored().residual(1.0) < 1e-14


def test_a_program_that_takes_too_many_steps_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = np.exp(-1.0 * plateaus(30, 7)).T
    cost = np.linspace(1, 2, columns.shape[1]) * columns.sum(axis=0)
    weights, *_ = minimise(cost, columns, np.ones(30))
    assert np.abs(columns @ weights - 1).max() < 1e-8
    monkeypatch.setattr(column, "_MOST_STEPS", 1)
    with pytest.raises(CertificateError, match="no solution"):
        minimise(cost, columns, np.ones(30))


def test_a_program_without_a_solution_is_an_error() -> None:
    with pytest.raises(CertificateError, match="no solution"):
        minimise(np.ones(1), np.ones((2, 1)), np.array([1.0, 2.0]))
