import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inbounds.calibration.column import Mixture, plateaus
from inbounds.calibration.integral import integral_rows
from inbounds.calibration.table import growth_below
from inbounds.errors import CertificateError


def ladder(rows: int, epsilon: float) -> Mixture:
    levels = np.abs(np.subtract.outer(np.arange(rows), np.arange(rows)))
    weights = np.full(rows, math.tanh(epsilon / 2))
    weights[[0, -1]] = 1 / (1 + math.exp(-epsilon))
    return Mixture(levels, weights, np.zeros(rows))


def largest_ratio_is_held(rows: tuple[tuple[int, ...], ...], epsilon: float, reach: int) -> bool:
    p, q = growth_below(epsilon)
    return all(
        rows[i][j] * q <= p * rows[k][j]
        for i in range(len(rows))
        for k in range(max(0, i - reach), min(len(rows), i + reach + 1))
        for j in range(len(rows[0]))
    )


@pytest.mark.parametrize("epsilon", [1e-17, 1e-9, 1e-3, 0.5, 3.0, 20.0, 88.0, 95.0, 700.0])
def test_rows_sum_to_one_and_hold_the_ratio_at_every_epsilon(epsilon: float) -> None:
    rows = integral_rows(ladder(7, epsilon), epsilon)
    assert {sum(row) for row in rows} == {1 << 128}
    assert min(map(min, rows)) > 0
    assert largest_ratio_is_held(rows, epsilon, 1)


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 9), st.integers(1, 9), st.floats(0.01, 9), st.integers(0, 2**32 - 1))
def test_any_weights_at_all_give_a_private_table_or_none(
    rows: int, reach: int, epsilon: float, seed: int
) -> None:
    levels = plateaus(rows, reach)
    weights = np.random.default_rng(seed).random(len(levels)) ** 8
    sums = np.exp(-epsilon * levels).T @ weights
    mixture = Mixture(levels, weights / sums.max(), np.zeros(len(levels)))
    try:
        table = integral_rows(mixture, epsilon)
    except CertificateError:
        return
    assert largest_ratio_is_held(table, epsilon, reach)
    assert {sum(row) for row in table} == {1 << 128}


def test_the_slack_takes_little_if_the_sums_are_right() -> None:
    rows = integral_rows(ladder(9, 0.3), 0.3)
    assert max(row[-1] for row in rows) < 2 ** (128 - 40)


def test_sums_that_are_wrong_are_refused() -> None:
    wrong = Mixture(np.array([[0, 5], [5, 0]]), np.array([1.0, 0.2]), np.zeros(2))
    with pytest.raises(CertificateError, match="do not sum to one"):
        integral_rows(wrong, 0.01)
