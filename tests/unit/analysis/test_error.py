"""Errors over the whole box, against dense sums over values."""

import math

import numpy as np
import pytest

import inbounds as ib
from inbounds.analysis.error import ErrorSummary

BOX = ib.Box(-1, 3)
MECHANISMS = [
    mechanism(BOX, 0.5, scale)
    for mechanism in (
        ib.BoundedGaussian,
        ib.BoundedLaplace,
        ib.ClampedGaussian,
        ib.ClampedLaplace,
    )
    for scale in (0.003, 0.1, 0.7, 5.0, 400.0)
]
MECHANISMS += [ib.ClampedStaircase(BOX, 0.5, epsilon) for epsilon in (0.01, 1.0)]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_the_average_and_the_worst_are_those_of_a_dense_sum(mechanism: ib.BoundedGaussian) -> None:
    values = np.linspace(-1, 3, 400_001)
    mse = mechanism.mse(values)
    found = ErrorSummary.of(mechanism)
    average = math.sqrt(float((mse.sum() - (mse[0] + mse[-1]) / 2) / (values.size - 1)))
    assert found.average_rmse == pytest.approx(average, rel=1e-6)
    assert found.worst_rmse == pytest.approx(math.sqrt(float(mse.max())), rel=1e-3)
    assert found.worst_bias == pytest.approx(float(np.abs(mechanism.bias(values)).max()), rel=1e-3)
    low, high = mechanism.mass_at_bounds(values)
    assert found.bound_mass == pytest.approx(float((low + high).max()), rel=1e-3, abs=1e-12)


def test_several_coordinates_average_their_squared_errors() -> None:
    joint = ib.BoundedGaussian(ib.Box([0, 0], [1, 10]), 1, sigma=[0.2, 3.0])
    alone = [
        ErrorSummary.of(ib.BoundedGaussian(ib.Box(0, width), 1, sigma=sigma))
        for width, sigma in ((1, 0.2), (10, 3.0))
    ]
    found = ErrorSummary.of(joint)
    for name in ("average_rmse", "worst_rmse"):
        squares = [getattr(error, name) ** 2 for error in alone]
        assert getattr(found, name) == pytest.approx(math.sqrt(sum(squares) / 2), rel=1e-12)
    assert found.worst_bias == pytest.approx(max(error.worst_bias for error in alone))


@pytest.mark.parametrize("epsilon", [4.0, 8.0, 20.0])
def test_the_average_is_close_even_where_the_error_has_kinks(epsilon: float) -> None:
    """That of a staircase has one at every step from a bound."""
    mechanism = ib.ClampedStaircase(BOX, 0.5, epsilon)
    mse = mechanism.mse(np.linspace(-1, 3, 400_001)[:-1] + 5e-6)
    average = ErrorSummary.of(mechanism).average_rmse
    assert average == pytest.approx(math.sqrt(float(mse.mean())), rel=2e-5)
