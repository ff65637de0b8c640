import json
from importlib.resources import files

import numpy as np
import pytest

from inbounds.analysis.known_error import EPSILONS, FRACTIONS, known_errors
from inbounds.analysis.regimes import NAMES, ON_AN_INTERVAL, computed_errors, regimes

CELLS = [(0, 12), (3, 4), (7, 8), (11, 2), (15, 0), (15, 12), (13, 6)]  # of fractions and epsilons


@pytest.mark.parametrize(("column", "row"), CELLS)
def test_known_errors_are_those_that_are_computed(column: int, row: int) -> None:
    fraction, epsilon = float(FRACTIONS[column]), float(EPSILONS[row])
    known, computed = known_errors(fraction, epsilon, 0.0), computed_errors(fraction, epsilon)
    assert known == pytest.approx(computed, rel=1e-9)
    assert min(known, key=known.__getitem__) == min(computed, key=computed.__getitem__)


def test_every_mechanism_is_known_on_the_whole_grid() -> None:
    text = (files("inbounds.analysis") / "known_errors.json").read_text(encoding="utf-8")
    known = json.loads(text)
    assert set(known) == set(NAMES + ON_AN_INTERVAL)
    for errors in known.values():
        assert np.shape(errors) == (EPSILONS.size, FRACTIONS.size)
        assert (np.array(errors) > 0).all()


def test_with_a_delta_only_pure_mechanisms_are_known() -> None:
    known = known_errors(1.0, 10.0, 1e-6)
    assert set(known) == set(NAMES + ON_AN_INTERVAL) - {"BoundedGaussian", "ClampedGaussian"}
    assert known.items() <= known_errors(1.0, 10.0, 0.0).items()


@pytest.mark.parametrize(("fraction", "epsilon"), [(0.5, 1.0), (1.0, 0.3), (np.nextafter(1, 0), 1)])
def test_numbers_off_the_grid_are_not_known(fraction: float, epsilon: float) -> None:
    assert known_errors(fraction, epsilon, 0.0) == {}


def test_the_map_is_that_of_known_errors_and_of_computed_ones_between_them() -> None:
    result = regimes(delta=0.0, fractions=[0.9, 1.0], epsilons=[10.0])
    for column, errors in enumerate([computed_errors(0.9, 10.0), known_errors(1.0, 10.0, 0.0)]):
        assert dict(zip(result.names, result.rmse[:, 0, column], strict=True)) == errors


def test_a_box_of_several_coordinates_is_computed() -> None:
    joint = regimes(delta=0.0, dimension=2, fractions=[1.0], epsilons=[10.0]).rmse[0, 0, 0]
    assert joint != known_errors(1.0, 10.0, 0.0)["BoundedGaussian"]
