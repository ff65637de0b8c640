"""Distributions with points on their bounds, against drawing from them."""

import numpy as np
import pytest

from inbounds.recovery.stairs import Stairs

EDGES = np.array([0.0, 1.0, 3.0, 4.0])
WEIGHTS = np.array([0.5, 0.2, 0.3])
ATOMS = np.array([0.4, 0.05])
STAIRS = Stairs(EDGES, WEIGHTS, ATOMS)
POINTS = Stairs(EDGES, WEIGHTS, ATOMS, np.array([0.0, 2.0, 4.0]))


def drawn(stairs: Stairs, size: int = 400_000):
    rng = np.random.default_rng(1)
    return stairs.quantile(rng.random(size))


@pytest.mark.parametrize("stairs", [STAIRS, POINTS], ids=["cells", "points"])
def test_moments_are_those_of_what_is_drawn(stairs):
    """False alarm below 1e-6: five standard errors of at most 2 over root 400,000."""
    values = drawn(stairs)
    assert stairs.mean == pytest.approx(values.mean(), abs=5 * 2 / 632)
    assert stairs.variance == pytest.approx(values.var(), abs=5 * 4 / 632)


@pytest.mark.parametrize("stairs", [STAIRS, POINTS], ids=["cells", "points"])
def test_fractions_up_to_and_below_are_those_of_what_is_drawn(stairs):
    values = drawn(stairs)
    x = np.array([-1.0, 0.0, 0.5, 1.0, 2.0, 3.5, 4.0, 5.0])
    assert stairs.upto(x) == pytest.approx([(values <= v).mean() for v in x], abs=0.005)
    assert stairs.below(x) == pytest.approx([(values < v).mean() for v in x], abs=0.005)


def test_points_on_the_bounds_are_jumps():
    assert STAIRS.upto(np.array([0.0]))[0] == pytest.approx(0.4)
    assert STAIRS.below(np.array([0.0, 4.0])).tolist() == pytest.approx([0.0, 0.95])
    assert STAIRS.quantile(np.array([0.0, 0.4, 0.45, 0.96, 1.0])) == pytest.approx(
        [0, 0, 0.5, 4, 4]
    )


def test_steps_are_the_only_values():
    assert POINTS.quantile(np.array([0.0, 0.5, 0.6, 0.75, 1.0])).tolist() == [0, 0, 2, 4, 4]
    assert POINTS.mean == pytest.approx(0.2 * 2 + 0.3 * 4)
    assert POINTS.variance == pytest.approx(0.2 * 4 + 0.3 * 16 - 1.6**2)
