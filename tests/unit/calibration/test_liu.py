import math

import numpy as np
import pytest
from mpmath import mp, mpf

from inbounds import L2, BoundedGaussian, Box, LInf, PerCoordinate
from inbounds.calibration import liu
from inbounds.calibration.exact import pure_loss
from inbounds.errors import ArgumentError


def test_the_published_table_is_reproduced() -> None:
    widths = np.array([10.0, 8.0])
    reach = PerCoordinate([4, 2]).within(widths)
    for epsilon in (0.1, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0):
        assert liu.sigma(widths, reach, epsilon) ** 2 == pytest.approx(
            132 / epsilon, rel=1e-14, abs=0
        )


@pytest.mark.parametrize("seed", range(20))
def test_sigma_is_the_formula_rounded_up(seed: int) -> None:
    generator = np.random.default_rng(seed)
    widths = 10 ** generator.uniform(-6, 6, 5)
    reach = PerCoordinate(widths * generator.uniform(1e-9, 1, 5)).within(widths)
    epsilon = float(10 ** generator.uniform(-9, 3))
    with mp.workdps(50):
        pairs = zip(widths, reach.caps, strict=True)
        total = sum((2 * mpf(w) + mpf(c)) * mpf(c) for w, c in pairs)
        exact = mp.sqrt(total / mpf(epsilon))
    sigma = liu.sigma(widths, reach, epsilon)
    assert exact <= sigma <= exact * (1 + 1e-14)


def test_changes_larger_than_the_box_count_as_the_box() -> None:
    widths = np.array([3.0])
    assert liu.sigma(widths, L2(100).within(widths), 2.0) == pytest.approx(math.sqrt(27 / 2))


@pytest.mark.parametrize("seed", range(20))
def test_the_noise_is_always_enough_and_at_least_twice_too_much(seed: int) -> None:
    generator = np.random.default_rng(seed)
    widths = 10 ** generator.uniform(-1, 1, 4)
    reach = PerCoordinate(widths * generator.uniform(0.01, 1, 4)).within(widths)
    for epsilon in (0.01, 1.0, 50.0):
        sigma = np.full(4, liu.sigma(widths, reach, epsilon))
        assert pure_loss(widths, reach, sigma).epsilon <= epsilon / 2


def test_a_norm_alone_is_refused_with_the_remedy() -> None:
    box = Box([0, 1], [10, 9])
    with pytest.raises(ArgumentError, match=r"^sensitivity must bound every coordinate") as caught:
        BoundedGaussian.calibrated(box, L2(4), epsilon=1.0, method="liu")
    assert "PerCoordinate" in str(caught.value)
    assert "L2(4)" in str(caught.value)


@pytest.mark.parametrize(
    ("box", "sensitivity"),
    [
        (Box(0, 1), 0.5),  # on an interval a norm bounds the one coordinate
        (Box([0, 1], [10, 9]), LInf(2)),
        (Box([0, 1], [10, 9]), L2(4) & PerCoordinate([4, 2])),
    ],
)
def test_bounds_on_every_coordinate_are_enough(box: Box, sensitivity: L2 | float) -> None:
    mechanism = BoundedGaussian.calibrated(box, sensitivity, epsilon=1.0, method="liu")
    assert mechanism.epsilon <= 1.0
