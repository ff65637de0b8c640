import math

import numpy as np
import pytest

import inbounds as ib
from inbounds.mechanisms.overview import overview

KINDS = [ib.BoundedGaussian, ib.BoundedLaplace, ib.ClampedGaussian, ib.ClampedLaplace]


@pytest.mark.parametrize("kind", KINDS)
def test_the_facts_are_those_of_the_mechanism(kind):
    mechanism = kind(ib.Box(0, 10), 2, 3.0)
    rows = dict(overview(mechanism).rows)
    assert rows["domain"] == "Box(0, 10)"
    assert rows["sensitivity"] == "L2(2)"
    assert rows[mechanism.noise.scale_name] == "3"
    assert rows["pure ε"] == f"{mechanism.epsilon:.6g}"
    assert rows["ρ (zCDP)"] == f"{mechanism.rho:.6g}"
    assert rows["μ (GDP)"] == f"{mechanism.gdp:.6g}"
    assert rows["RMSE in the middle"] == f"{math.sqrt(mechanism.mse(5.0)):.6g}"
    assert rows["RMSE at a bound"] == f"{math.sqrt(mechanism.mse(0.0)):.6g}"
    assert "<caption" in mechanism._repr_html_()


@pytest.mark.parametrize("kind", KINDS)
def test_several_coordinates_are_averaged_and_long_vectors_cut(kind):
    mechanism = kind(ib.Box(np.zeros(9), np.arange(1, 10)), 1, np.arange(1, 10) / 2)
    table = overview(mechanism)
    rows = dict(table.rows)
    assert rows[mechanism.noise.scale_name] == "0.5, 1, 1.5, 2, 2.5, 3, …"
    middle = np.arange(1, 10) / 2
    assert rows["RMSE in the middle"] == f"{math.sqrt(mechanism.mse(middle).mean()):.6g}"
    assert table.caption


@pytest.mark.parametrize("kind", KINDS)
def test_in_many_coordinates_nothing_is_computed(kind):
    mechanism = kind(ib.Box(np.zeros(100_000), 1), 1, 1.0)
    assert [name for name, _ in overview(mechanism).rows][-1] == mechanism.noise.scale_name


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [1e-230, 1e300])
@pytest.mark.parametrize("fraction", [1e-60, 1.0, 1e7])
def test_extremes_are_shown(kind, width, fraction):
    rows = dict(overview(kind(ib.Box(0, width), width, width * fraction)).rows)
    assert ("∞" in rows["RMSE in the middle"]) == (width * min(fraction, 1.0) > 1e160)
