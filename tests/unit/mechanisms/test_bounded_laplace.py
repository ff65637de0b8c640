import math
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from inbounds import L1, L2, BoundedGaussian, BoundedLaplace, Box, LInf, PerCoordinate

PLANE = Box([0, 1], [10, 9])

# (lower, upper, sensitivity, epsilon) and the scale of diffprivlib 0.6.6, made in the environment
# of benchmarks/diffprivlib-requirements.txt by
#   .venv-diffprivlib/bin/python -c "from diffprivlib.mechanisms import LaplaceBoundedDomain as L
#   print(L(epsilon=1, delta=0.0, sensitivity=0.1, lower=0, upper=1)._find_scale())"
# and likewise for the other rows. A sensitivity above the width gives NaN there.
DIFFPRIVLIB = [
    (0, 1, 0.1, 1, 0.1611560104417981),
    (0, 1, 1, 1, 1.0),
    (0, 1, 0.5, 0.1, 7.45810713232418),
    (0, 1, 0.01, 3, 0.004245490980013276),
    (0, 120, 2.5, 1, 4.031513489762802),
    (0, 120, 2.5, 0.1, 48.664648279414635),
    (0, 120, 1, 0.01, 198.89568533141517),
    (-5, 5, 3, 0.5, 9.74109055758834),
    (0, 10, 10, 2, 5.0),
    (0, 10, 9.999, 1, 9.999999841818145),
    (0, 1e6, 1e5, 0.7, 243033.8711968545),
    (0, 1e-3, 1e-4, 1, 0.00016115601044179806),
    (-1, 1, 0.2, 5, 0.04636532731462885),
    (-1, 1, 1e-6, 1, 1.6126053959051822e-06),
    (0, 10, 1, 0.001, 1899.7866985457963),
    (0, 1, 0.3, 10, 0.0322341550273837),
]


def true_epsilon(width: Any, change: Any, scale: Any) -> mpf:
    w, c, b = mpf(width), mpf(change), mpf(scale)
    mass = 2 - mp.exp(-c / b) - mp.exp((c - w) / b)
    return c / b + mp.log(mass / (1 - mp.exp(-w / b)))


@pytest.mark.parametrize(("lower", "upper", "change", "epsilon", "scale"), DIFFPRIVLIB)
def test_the_scale_agrees_with_another_library(
    lower: float, upper: float, change: float, epsilon: float, scale: float
) -> None:
    mechanism = BoundedLaplace.calibrated(Box(lower, upper), change, epsilon=epsilon)
    assert mechanism.scale == pytest.approx(scale, rel=1e-9, abs=0)


@pytest.mark.parametrize("fraction", [1e-9, 1e-3, 0.1, 0.5, 0.999, 1.0])
@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 30.0])
def test_the_smallest_scale_is_private_and_a_billionth_less_is_not(
    fraction: float, epsilon: float
) -> None:
    mechanism = BoundedLaplace.calibrated(Box(0, 7), 7 * fraction, epsilon=epsilon)
    with mp.workdps(50):
        assert true_epsilon(7, 7 * fraction, mechanism.scale) <= epsilon
        assert true_epsilon(7, 7 * fraction, mechanism.scale * (1 - 1e-9)) > epsilon
    assert epsilon * (1 - 1e-12) <= mechanism.epsilon <= epsilon


@pytest.mark.parametrize("change", [10.0, 11.0, 1e9])
def test_a_change_of_everything_costs_the_width_over_the_scale(change: float) -> None:
    assert BoundedLaplace(Box(0, 10), change, 4.0).epsilon == pytest.approx(2.5, rel=1e-13)
    assert BoundedLaplace.calibrated(Box(0, 10), change, epsilon=2.5).scale == pytest.approx(4.0)


@pytest.mark.parametrize(
    "sensitivity", [L1(4), L2(4), LInf(4), PerCoordinate([4, 2]), L1(5) & PerCoordinate([4, 2])]
)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 25.0])
def test_joint_calibration_is_certified(sensitivity: Any, epsilon: float) -> None:
    mechanism = BoundedLaplace.calibrated(PLANE, sensitivity, epsilon=epsilon)
    proof = mechanism.certificate()
    proof.check()
    assert proof.law == "laplace"
    assert epsilon * (1 - 1e-12) <= proof.epsilon <= mechanism.epsilon <= epsilon
    assert type(mechanism.scale) is float
    again = BoundedLaplace(PLANE, sensitivity, mechanism.scale)
    assert again.epsilon == pytest.approx(mechanism.epsilon, rel=1e-13)


@pytest.mark.parametrize("size", [50, 2000])
def test_large_boxes_are_certified_too(size: int) -> None:
    widths = np.random.default_rng(size).uniform(0.5, 3.0, size)
    for sensitivity in (L1(3.0), L2(0.5), LInf(0.1)):
        mechanism = BoundedLaplace.calibrated(Box(0, widths), sensitivity, epsilon=1.0)
        proof = mechanism.certificate()
        assert 1 - 1e-10 <= proof.epsilon <= mechanism.epsilon <= 1


def test_an_offset_box_needs_the_noise_of_its_width() -> None:
    moved = BoundedLaplace.calibrated(Box(1e9, 1e9 + 8), 1.0, epsilon=1.0)
    plain = BoundedLaplace.calibrated(Box(0, 8), 1.0, epsilon=1.0)
    assert moved.scale == plain.scale


@pytest.mark.parametrize("factor", [2.0**-900, 1e-3, 3.0, 2.0**900])
def test_the_scale_follows_the_unit(factor: float) -> None:
    plain = BoundedLaplace.calibrated(Box(0, 8), 1.0, epsilon=1.0)
    scaled = BoundedLaplace.calibrated(Box(0, 8 * factor), factor, epsilon=1.0)
    assert scaled.scale == pytest.approx(plain.scale * factor, rel=1e-13)
    scaled.certificate().check()


def test_laplace_noise_is_better_where_little_can_change_and_gaussian_where_all_can() -> None:
    """Mean squared error in the middle of the box, under the same pure epsilon."""
    box = Box(0, 10)
    errors = {
        change: [
            kind.calibrated(box, change, epsilon=1.0).mse(5.0)
            for kind in (BoundedLaplace, BoundedGaussian)
        ]
        for change in (0.1, 10.0)
    }
    assert errors[0.1][0] < errors[0.1][1] / 3
    assert math.isclose(errors[10.0][0], errors[10.0][1], rel_tol=0.5)
