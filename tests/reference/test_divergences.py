"""Pairs of divergences.json (mpmath, 30 digits) and the (ε, δ) table, through the calibrations."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inbounds.calibration.approximate import delta_upper_bound, gaussian_delta, sigma_for_delta
from inbounds.calibration.concentrated import renyi_upper_bound
from inbounds.numerics import divergence
from inbounds.reach import Reach

ROWS = json.loads(Path(__file__).with_name("divergences.json").read_text())

TABLE = {  # smallest σ/D at δ = 1e-6 for ε = 0.1, 1 and 3, by w/D
    1: (2.2291, 0.7065, 0.4081),
    2: (3.1778, 1.0612, 0.6483),
    10: (7.4719, 2.7394, 1.4902),
    100: (26.945, 4.2247, 1.5439),
    1000: (36.305, 4.2247, 1.5439),
}


def rows(kind: str) -> Any:
    chosen = [row for row in ROWS if row["kind"] == kind]
    return pytest.mark.parametrize("row", chosen, ids=lambda row: str(row["id"]))


def problem(row: dict[str, Any]) -> tuple[np.ndarray, Reach, np.ndarray]:
    change = np.array([float(row["sensitivity"])])
    return np.array([float(row["width"])]), Reach(change, None, np.inf), np.array([1.0])


def test_the_table_has_every_kind_in_full() -> None:
    kinds = [row["kind"] for row in ROWS]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {
        "delta_pair": 36,
        "renyi_pair": 29,
        "eps_delta_sigma_double": 9,
    }
    assert all(row["sigma"] == "1" for row in ROWS if row["kind"].endswith("_pair"))


@rows("delta_pair")
def test_delta_is_at_least_that_of_the_pair_and_at_most_the_gaussian_s(row: dict[str, Any]) -> None:
    found = delta_upper_bound(*problem(row), float(row["eps"]))
    assert float(row["delta"]) * (1 - 1e-15) <= found
    assert found <= float(row["delta_gauss"]) * (1 + 1e-11)


@rows("delta_pair")
def test_the_delta_of_the_pair_itself_holds_to_1e_8(row: dict[str, Any]) -> None:
    u, gamma, s = (float(row[name]) for name in ("width", "sensitivity", "s"))
    at = np.array([s])
    slope = divergence.mean_slope(u, gamma, at)
    found = divergence.delta_of_cells(u, gamma, float(row["eps"]), at, slope)
    assert found[0] == pytest.approx(float(row["delta"]), rel=1e-8, abs=1e-20)


@rows("delta_pair")
def test_the_plain_gaussian_s_delta_holds_to_1e_15(row: dict[str, Any]) -> None:
    found = gaussian_delta(float(row["sensitivity"]), float(row["eps"]))
    assert found == pytest.approx(float(row["delta_gauss"]), rel=1e-14)


@rows("renyi_pair")
def test_renyi_is_at_least_that_of_the_pair_and_at_most_the_gaussian_s(row: dict[str, Any]) -> None:
    found = renyi_upper_bound(*problem(row), float(row["alpha"]))
    assert float(row["renyi"]) * (1 - 1e-15) <= found
    assert found <= float(row["renyi_gauss"]) * (1 + 1e-11)


@rows("eps_delta_sigma_double")
def test_calibrated_sigma_agrees_with_the_table(row: dict[str, Any]) -> None:
    reach = Reach(np.array([1.0]), None, np.inf)
    widths = np.array([float(row["w"])])
    sigma = sigma_for_delta(widths, reach, np.ones(1), row["eps"], float(row["delta"]))[0]
    assert sigma == pytest.approx(row["sigma_trunc"], rel=1e-4)
    assert sigma <= min(row["sigma_gauss"], row["sigma_pure"]) * (1 + 1e-12)


@pytest.mark.parametrize("width", TABLE)
def test_the_printed_table_is_reproduced(width: int) -> None:
    reach = Reach(np.array([1.0]), None, np.inf)
    found = [
        sigma_for_delta(np.array([float(width)]), reach, np.ones(1), epsilon, 1e-6)[0]
        for epsilon in (0.1, 1.0, 3.0)
    ]
    np.testing.assert_allclose(found, TABLE[width], rtol=1e-4)
