import math
from typing import Any

import numpy as np
import pytest

from inbounds import L1, L2, LInf, PerCoordinate
from inbounds.calibration import liu, paper
from inbounds.calibration.exact import pure_loss, smallest_sigma, split_by_width
from inbounds.calibration.pure import sigma_for_epsilon
from inbounds.errors import ArgumentError
from inbounds.sensitivity import Sensitivity

WIDTHS = np.array([120.0, 1e6, 3.0])
KINDS: list[Sensitivity] = [
    L2(2.0),
    L1(2.0),
    LInf(2.0),
    PerCoordinate([12, 1e5, 3]),
    L2(50.0) & PerCoordinate([12, 1e5, 3]),
    L1(50.0) & LInf(20.0),
]


METHODS: list[Any] = ["exact", "paper", "liu"]
CHOICES = [
    (method, scaling, sensitivity)
    for method, scaling in [("exact", "width"), *((method, "isotropic") for method in METHODS)]
    for sensitivity in KINDS
    if method != "liu" or sensitivity.has_caps
]


@pytest.mark.parametrize(("method", "scaling", "sensitivity"), CHOICES)
@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 3.0, 500.0])
def test_every_method_gives_what_was_asked_and_the_loss_that_proves_it(
    method: Any, scaling: Any, sensitivity: Sensitivity, epsilon: float
) -> None:
    sigma, loss = sigma_for_epsilon(WIDTHS, sensitivity, epsilon, method, scaling)
    assert sigma.shape == WIDTHS.shape
    assert 0 < loss.epsilon <= epsilon
    again = pure_loss(WIDTHS, sensitivity.within(WIDTHS), sigma)
    assert again.epsilon == pytest.approx(loss.epsilon, rel=1e-13, abs=0)
    if method == "exact":
        assert loss.epsilon == pytest.approx(epsilon, rel=1e-12, abs=0)


def test_the_default_is_the_exact_isotropic_noise() -> None:
    sigma, _ = sigma_for_epsilon(WIDTHS, L2(2.0), 0.5)
    expected, _ = smallest_sigma(WIDTHS, L2(2.0).within(WIDTHS), np.ones(3), 0.5)
    assert sigma.tolist() == expected.tolist()
    assert np.ptp(sigma) == 0


@pytest.mark.parametrize("sensitivity", [L2(2.0), L1(2.0), L2(50.0) & LInf(49.0)], ids=repr)
def test_scaling_by_width_follows_the_widths_when_a_norm_joins_the_coordinates(
    sensitivity: Sensitivity,
) -> None:
    sigma, _ = sigma_for_epsilon(WIDTHS, sensitivity, 0.5, scaling="width")
    np.testing.assert_allclose(sigma / WIDTHS, sigma[0] / WIDTHS[0], rtol=1e-14)


@pytest.mark.parametrize("sensitivity", [LInf(2.0), PerCoordinate([12, 1e5, 3])], ids=repr)
def test_scaling_by_width_splits_the_budget_when_coordinates_are_bounded_one_by_one(
    sensitivity: Sensitivity,
) -> None:
    sigma, _ = sigma_for_epsilon(WIDTHS, sensitivity, 0.5, scaling="width")
    split = split_by_width(WIDTHS, sensitivity.within(WIDTHS).caps, 0.5)
    np.testing.assert_allclose(sigma, split, rtol=1e-12)


def test_scaling_means_nothing_on_an_interval() -> None:
    plain, scaled = (
        sigma_for_epsilon(np.array([7.0]), L2(2.0), 0.5, scaling=scaling)[0]
        for scaling in ("isotropic", "width")
    )
    assert plain.tolist() == scaled.tolist()


@pytest.mark.parametrize("method", ["paper", "liu"])
def test_the_published_methods_know_one_scale_only(method: Any) -> None:
    with pytest.raises(ArgumentError, match=rf"^scaling must be 'isotropic' for method='{method}'"):
        sigma_for_epsilon(WIDTHS, LInf(2.0), 1.0, method, "width")


@pytest.mark.parametrize("sensitivity", [L2(2.0), L1(2.0)])
def test_liu_needs_a_bound_on_each_coordinate(sensitivity: Sensitivity) -> None:
    with pytest.raises(ArgumentError, match=r"^sensitivity must bound every coordinate(.|\n)*Hint"):
        sigma_for_epsilon(WIDTHS, sensitivity, 1.0, "liu")


@pytest.mark.parametrize(
    ("sensitivity", "diameter"),
    [
        (L2(2.0), 2.0),
        (L1(2.0), 2.0),
        (LInf(2.0), math.sqrt(12)),
        (PerCoordinate([3, 4, 1e-9]), 5.0),
        (L2(4.5) & PerCoordinate([3, 4, 1]), 4.5),
        (L2(1e9), float(np.linalg.norm(WIDTHS))),
    ],
)
def test_the_papers_theorem_is_given_the_largest_l2_change(
    sensitivity: Sensitivity, diameter: float
) -> None:
    sigma, _ = sigma_for_epsilon(WIDTHS, sensitivity, 1.0, "paper")
    assert sigma[0] == pytest.approx(paper.sigma(WIDTHS, diameter, 1.0), rel=1e-12, abs=0)


def test_the_methods_are_ordered_as_theory_says() -> None:
    changes = PerCoordinate([12, 1e5, 3])
    for epsilon in (0.1, 1.0, 10.0):
        exact, published, rival = (
            sigma_for_epsilon(WIDTHS, changes, epsilon, method)[0][0] for method in METHODS
        )
        assert exact < published
        assert exact < rival
        assert rival == pytest.approx(liu.sigma(WIDTHS, changes.within(WIDTHS), epsilon))
