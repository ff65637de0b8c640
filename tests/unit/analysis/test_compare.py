"""The comparison: same guarantee for all, right order, honest advice."""

import io
import math

import numpy as np
import pytest
from rich.console import Console

import inbounds as ib
from inbounds.analysis.compare import CRITERIA, compare, epsilon_at
from inbounds.errors import ArgumentError, ArgumentTypeError

NARROW = (ib.Box([0, 1], [10, 9]), ib.PerCoordinate([4, 2]))
SETTINGS = [
    (ib.Box(0, 120), 2.5, 1.0, 0.0),
    (ib.Box(0, 120), 2.5, 1.0, 1e-6),
    (ib.Box(0, 1), 1, 0.1, 0.0),
    (ib.Box(0, 1), 1, 3.0, 1e-4),
    (*NARROW, 1.0, 0.0),
    (*NARROW, 1.0, 1e-6),
    (ib.Box([0] * 20, [1] * 20), ib.L1(0.5), 2.0, 1e-9),
]


@pytest.mark.parametrize(("box", "sensitivity", "epsilon", "delta"), SETTINGS)
def test_every_contender_gives_the_guarantee(
    box: ib.Box, sensitivity: object, epsilon: float, delta: float
) -> None:
    result = compare(box, sensitivity, epsilon=epsilon, delta=delta)  # type: ignore[arg-type]
    for contender in result.contenders:
        assert contender.mechanism.delta(epsilon) <= delta
        assert contender.epsilon <= epsilon * (1 + 1e-6)
        if delta == 0:
            assert contender.mechanism.epsilon <= epsilon
    errors = [contender.error.average_rmse for contender in result.contenders]
    assert errors == sorted(errors)
    names = {contender.name for contender in result.contenders}
    assert {"BoundedGaussian", "BoundedLaplace", "ClampedLaplace"} <= names
    assert ("ClampedGaussian" in names) == (delta > 0 or box.dimension == 1)
    assert ("BoundedGaussian (Liu)" in names) == (sensitivity is not SETTINGS[-1][1])


def test_laplace_is_recommended_where_a_neighbour_changes_little() -> None:
    result = compare(ib.Box(0, 120), 1, epsilon=1.0)
    assert result.best().name == "ClampedLaplace"
    assert result.best("bound_mass").name == "BoundedLaplace"
    assert "ClampedLaplace" in result.advice()
    assert "without that: BoundedLaplace" in result.advice()


def test_the_gaussian_is_recommended_on_the_example_of_the_paper() -> None:
    result = compare(*NARROW, epsilon=1.0)
    assert result.best().name == "BoundedGaussian"
    assert result["BoundedGaussian"].variance_reduction == pytest.approx(75.97, abs=0.01)
    assert result["BoundedGaussian (paper)"].epsilon == pytest.approx(0.3496, abs=1e-4)


def test_each_criterion_has_its_own_best() -> None:
    result = compare(ib.Box(0, 1), 0.3, epsilon=1.0, delta=1e-6)
    for criterion in CRITERIA:
        least = min(getattr(c.error, criterion) for c in result.contenders)
        assert getattr(result.best(criterion).error, criterion) == least
    with pytest.raises(ArgumentError, match="criterion must be"):
        result.best("beauty")  # type: ignore[arg-type]


def test_reductions_are_percentages_of_squared_error() -> None:
    result = compare(ib.Box(0, 1), 0.3, epsilon=1.0)
    first, second = result.contenders[:2]
    share = (first.error.average_rmse / second.error.average_rmse) ** 2
    assert result.reductions()[first.name][second.name] == pytest.approx(100 * (1 - share))
    assert result.reductions()[first.name][first.name] == 0


def test_the_table_and_the_frame_show_every_contender() -> None:
    result = compare(ib.Box(0, 1), 0.3, epsilon=1.0, delta=1e-6)
    text = io.StringIO()
    Console(file=text, width=140).print(result)
    frame = result.to_frame()
    for contender in result.contenders:
        assert contender.name in text.getvalue()
        assert contender.name in str(result)
        assert frame.loc[contender.name, "average_rmse"] == contender.error.average_rmse
    assert "\u2026" not in text.getvalue()
    assert result.contenders[0].name in repr(result)
    with pytest.raises(KeyError, match="is not among"):
        result["Uniform"]


def test_epsilon_at_a_delta_is_the_inverse_of_delta() -> None:
    mechanism = ib.BoundedGaussian(ib.Box(0, 10), 1, sigma=2.0)
    epsilon = epsilon_at(mechanism, 1e-5)
    assert mechanism.delta(epsilon) <= 1e-5 < mechanism.delta(epsilon * (1 - 1e-4))
    assert epsilon_at(mechanism, 0.0) == mechanism.epsilon
    assert epsilon_at(mechanism, 0.999) == 0


def test_bad_arguments_are_named() -> None:
    box = ib.Box(0, 1)
    with pytest.raises(ArgumentError, match="epsilon must be positive"):
        compare(box, 1, epsilon=0)
    with pytest.raises(ArgumentError, match="delta must be below 1"):
        compare(box, 1, epsilon=1, delta=1)
    with pytest.raises(ArgumentError, match="delta must be"):
        compare(box, 1, epsilon=1, delta=-1e-9)
    with pytest.raises(ArgumentTypeError, match="domain must be a Box"):
        compare((0, 1), 1, epsilon=1)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="sensitivity must"):
        compare(box, math.inf, epsilon=1)


def test_scales_per_coordinate_are_shown() -> None:
    assert np.ndim(compare(*NARROW, epsilon=1.0)["BoundedGaussian"].mechanism._scale) == 0
