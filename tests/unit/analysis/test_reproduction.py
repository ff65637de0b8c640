import dataclasses
import io
import math

import numpy as np
import pytest
from rich.console import Console
from scipy.special import ndtr
from scipy.stats import truncnorm

from inbounds.analysis.overview import table1_table
from inbounds.analysis.reproduction import EPSILONS, Table1Row, figure1, table1

# Liu, paper, exact: σ² with one decimal.
PUBLISHED_AND_EXACT = [
    (0.1, 1320.0, 857.5, 290.9),
    (0.5, 264.0, 170.3, 61.4),
    (1.0, 132.0, 84.4, 32.3),
    (1.5, 88.0, 55.8, 22.5),
    (2.0, 66.0, 41.5, 17.4),
    (2.5, 52.8, 32.9, 14.3),
    (3.0, 44.0, 27.2, 12.2),
]
WIDTHS = (10.0, 8.0)


@pytest.fixture(scope="module")
def rows():
    return table1()


def worst_loss(width, change, sigma):
    """ε of one coordinate by brute force: the outputs at both bounds, values on a fine grid."""
    start = np.linspace(0, width - change, 401)
    other = start + change

    def log_mass(s):
        return np.log(ndtr((width - s) / sigma) - ndtr(-s / sigma))

    normalisers = log_mass(other) - log_mass(start)
    at_bounds = [
        ((x - other) ** 2 - (x - start) ** 2) / (2 * sigma**2) + normalisers for x in (0.0, width)
    ]
    return float(np.max(np.abs(at_bounds)))


def epsilon_on_the_ball(sigma):
    """ε on the l2 ball of radius √20 by brute force over the direction of the change."""
    radius = math.sqrt(20)
    angles = np.linspace(0, math.pi / 2, 181)
    return max(
        worst_loss(WIDTHS[0], radius * math.cos(a), sigma)
        + worst_loss(WIDTHS[1], radius * math.sin(a), sigma)
        for a in angles
    )


def rmse(sigma):
    """Average RMSE over both intervals from scipy's truncated normal."""
    squares = []
    for width in WIDTHS:
        s = (np.arange(400) + 0.5) * width / 400
        law = truncnorm(-s / sigma, (width - s) / sigma, loc=s, scale=sigma)
        squares.append(np.mean(law.var() + (law.mean() - s) ** 2))
    return math.sqrt(np.mean(squares))


@pytest.mark.parametrize(("index", "expected"), [*enumerate(PUBLISHED_AND_EXACT)])
def test_table_1_holds_the_published_and_the_exact_scales(rows, index, expected):
    row = rows[index]
    assert (row.epsilon, round(row.liu, 1), round(row.paper, 1), round(row.exact, 1)) == expected


def test_table_1_has_the_seven_budgets_of_the_paper(rows):
    assert tuple(row.epsilon for row in rows) == EPSILONS == (0.1, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0)


def test_the_reductions_of_the_paper_are_those_it_prints(rows):
    printed = [35.0, 35.5, 36.1, 36.6, 37.2, 37.7, 38.2]
    assert [round(row.paper_below_liu, 1) for row in rows] == printed


def test_liu_s_scale_is_its_formula(rows):
    total = sum((2 * w + d) * d for w, d in zip(WIDTHS, (4.0, 2.0), strict=True))
    for row in rows:
        assert row.liu == pytest.approx(total / row.epsilon, rel=1e-12)


@pytest.mark.parametrize("index", [0, 2, 6])
def test_brute_force_finds_the_epsilons_of_the_table(rows, index):
    row = rows[index]
    assert epsilon_on_the_ball(math.sqrt(row.exact)) == pytest.approx(row.epsilon, rel=1e-4)
    assert epsilon_on_the_ball(math.sqrt(row.paper)) == pytest.approx(row.paper_epsilon, rel=1e-4)
    assert epsilon_on_the_ball(math.sqrt(row.exact) * 0.99) > row.epsilon * 1.005


@pytest.mark.parametrize("index", [0, 6])
def test_brute_force_finds_the_scale_per_coordinate(rows, index):
    row = rows[index]
    sigma = math.sqrt(row.exact_per_coordinate)
    total = worst_loss(WIDTHS[0], 4.0, sigma) + worst_loss(WIDTHS[1], 2.0, sigma)
    assert total == pytest.approx(row.epsilon, rel=1e-6)
    assert row.exact_per_coordinate < row.exact


def test_a_row_cannot_be_changed(rows):
    with pytest.raises(dataclasses.FrozenInstanceError):
        rows[0].liu = 0.0


def test_the_printed_table_shows_its_rows_and_not_stored_numbers(rows):
    made_up = Table1Row(7.0, 200.0, 150.0, 50.0, 40.0, 6.5)
    text = io.StringIO()
    Console(file=text, width=140).print(table1_table([rows[0], made_up]))
    for cell in ("1320.0", "857.5", "290.9", "78.0 %", "200.0", "25.0 %", "75.0 %", "6.5000"):
        assert cell in text.getvalue()


def test_figure_1_agrees_with_table_1(rows):
    data = figure1([row.epsilon for row in rows[:3]])
    for name in ("liu", "paper", "exact", "paper_below_liu", "exact_below_liu"):
        assert getattr(data, name).tolist() == [getattr(row, name) for row in rows[:3]]


def test_figure_1_has_the_error_of_a_truncated_normal():
    data = figure1([0.5, 3.0])
    for name in ("liu", "paper", "exact"):
        expected = [rmse(math.sqrt(square)) for square in getattr(data, name)]
        np.testing.assert_allclose(getattr(data, f"{name}_rmse"), expected, rtol=1e-5)
    np.testing.assert_allclose(
        data.exact_rmse_below_liu, 100 * (1 - data.exact_rmse / data.liu_rmse)
    )
    assert (data.paper_rmse_below_liu < data.exact_rmse_below_liu).all()


def test_the_middle_of_the_box_errs_like_a_uniform_value():
    s = (np.arange(10_000) + 0.5) / 10_000
    expected = math.sqrt(np.mean([np.mean((w * s - w / 2) ** 2) for w in WIDTHS]))
    assert figure1([1.0]).middle_rmse == pytest.approx(expected, rel=1e-6)


def test_the_default_grid_runs_from_a_tenth_to_three(monkeypatch):
    class Stub:
        average_rmse = 1.0

    monkeypatch.setattr("inbounds.analysis.reproduction.ErrorSummary.of", lambda _: Stub)
    grid = figure1().epsilons
    assert (grid[0], grid[-1]) == (0.1, 3.0)
    assert (np.diff(grid) > 0).all()
    assert np.diff(grid).max() < 0.11


def test_figure_1_refuses_budgets_that_are_not_positive():
    with pytest.raises(ValueError, match="epsilons must be positive"):
        figure1([1.0, 0.0])


def test_figure_1_draws_itself():
    assert figure1([0.5, 1.0]).plot().axes[0].get_title() == "(a) Scale of the noise"
