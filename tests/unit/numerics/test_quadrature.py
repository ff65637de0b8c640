"""Gauss–Legendre quadrature on [0, 1]."""

import numpy as np
import pytest

from inbounds.numerics.quadrature import unit_rule


@pytest.mark.parametrize("points", [1, 7, 12, 32, 56])
def test_powers_are_integrated_up_to_twice_the_number_of_points(points: int) -> None:
    nodes, weights = unit_rule(points)
    for power in range(2 * points):
        assert weights @ nodes**power == pytest.approx(1 / (power + 1), rel=1e-12)
    assert abs(weights @ nodes ** (2 * points) * (2 * points + 1) - 1) > 4.0 ** (-2 * points)


def test_nodes_lie_inside_and_their_weights_are_positive() -> None:
    nodes, weights = unit_rule(56)
    assert (np.diff(nodes) > 0).all()
    assert 0 < nodes[0] < nodes[-1] < 1
    assert (weights > 0).all()
