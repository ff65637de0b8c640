"""Rows of pure.json (mpmath, 40 digits): what epsilon and total variation imply."""

import json
import math
from pathlib import Path

import mpmath
import pytest

from inbounds.accounting import lattice
from inbounds.pure import pure_delta, pure_mu, pure_renyi, pure_rho

ROWS = json.loads(Path(__file__).with_name("pure.json").read_text())
each_row = pytest.mark.parametrize("row", ROWS, ids=range(len(ROWS)))


def test_there_are_rows_on_both_sides_of_the_threshold() -> None:
    assert len(ROWS) == 13
    below = [row for row in ROWS if float(row["rho"]) > 1.01 * row["epsilon"] * variation(row)]
    assert len(below) == 2


def variation(row: dict[str, str]) -> float:
    """The total variation, rounded up."""
    return math.nextafter(float(row["total_variation"]), 1.0)


@each_row
def test_one_release_costs_what_the_table_says(row: dict[str, str]) -> None:
    epsilon, eta = float(row["epsilon"]), variation(row)
    bounds = {
        "rho": pure_rho(epsilon, eta),
        "rho_of_pure_epsilon": pure_rho(epsilon),
        "mu": pure_mu(epsilon, eta),
        "renyi_2": pure_renyi(epsilon, eta, 2.0),
        "renyi_8": pure_renyi(epsilon, eta, 8.0),
        "delta_at_half_epsilon": pure_delta(epsilon, eta, epsilon / 2),
    }
    for name, bound in bounds.items():
        exact = mpmath.mpf(row[name])
        assert exact <= bound <= exact * (1 + mpmath.mpf(1e-10)), name


@each_row
def test_ten_releases_cost_what_the_table_says(row: dict[str, str]) -> None:
    """These entries have 15 digits."""
    epsilon = float(row["epsilon"])
    bound = lattice.delta(((epsilon, variation(row), 10),), 3 * epsilon)
    assert bound == pytest.approx(float(row["delta_of_10_at_3_epsilon"]), rel=3e-12)
    bound = lattice.delta(((epsilon, 1.0, 10),), 3 * epsilon)
    assert bound == pytest.approx(float(row["delta_of_10_from_pure_epsilon"]), rel=3e-12)
