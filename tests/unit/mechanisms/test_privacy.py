import math

import numpy as np
import pytest

import inbounds as ib
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.pure import pure_mu, pure_variation, response_delta

BOXES = [(0.0, 1.0, 1.0), (0.0, 1.0, 0.1), (-5.0, 7.0, 3.0), (0.0, 120.0, 2.5)]
SCALES = [0.3, 1.0, 4.0]  # in units of the change
MECHANISMS = [
    kind(ib.Box(lower, upper), change, scale * change)
    for kind in (ib.BoundedGaussian, ib.BoundedLaplace, ib.ClampedGaussian, ib.ClampedLaplace)
    for lower, upper, change in BOXES
    for scale in SCALES
]
JOINT = [
    kind(ib.Box([0.0, 1.0], [10.0, 9.0]), ib.L1(4.0), scale)
    for kind in (ib.BoundedLaplace, ib.ClampedLaplace)
    for scale in ([3.0, 8.0], 5.0)
]


def largest_distance(mechanism: Mechanism, change: float) -> float:
    """The total variation of the worst of many pairs, from distribution functions in many cells."""
    lower, upper = float(mechanism.domain.lower), float(mechanism.domain.upper)
    edges, worst = np.linspace(lower, upper, 2001), 0.0
    for value in np.linspace(lower, upper - change, 25).tolist():
        chances = [
            np.diff(mechanism.cdf(edges, place), prepend=0.0) for place in (value, value + change)
        ]
        worst = max(worst, float(np.abs(chances[0] - chances[1]).sum()) / 2)
    return worst


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_no_pair_of_neighbours_is_further_apart_than_the_total_variation(
    mechanism: Mechanism,
) -> None:
    change = float(mechanism.sensitivity.within(mechanism.domain.widths).caps[0])
    exact = largest_distance(mechanism, change)
    assert exact <= mechanism.total_variation * (1 + 1e-9)
    assert mechanism.total_variation <= pure_variation(mechanism.epsilon)
    if not isinstance(mechanism, ib.ClampedLaplace):  # whose bound is that before clamping
        assert mechanism.total_variation <= exact * 1.02


@pytest.mark.parametrize("mechanism", [*MECHANISMS, *JOINT], ids=repr)
def test_total_variation_never_makes_a_bound_larger(mechanism: Mechanism) -> None:
    epsilon, rounding = mechanism.epsilon, 1 + 1e-11
    assert mechanism.rho <= min(epsilon * epsilon / 2, epsilon) * rounding
    assert mechanism.gdp <= max(pure_mu(epsilon), mechanism.gdp * isinstance(
        mechanism, ib.BoundedGaussian | ib.ClampedGaussian)) * rounding  # fmt: skip
    for fraction in (0.0, 0.2, 0.6, 1.0):
        at = fraction * epsilon
        assert mechanism.delta(at) <= response_delta(epsilon, at) * (1.02 if at else rounding)
    for order in (1.0, 1.5, 4.0, 100.0):
        assert mechanism.renyi(order) <= min(epsilon, order * mechanism.rho) * rounding


@pytest.mark.parametrize("mechanism", JOINT[2:], ids=repr)
def test_clamped_laplace_noise_on_a_box_is_no_further_apart_than_on_an_interval(
    mechanism: Mechanism,
) -> None:
    exact = -math.expm1(-mechanism.epsilon / 2)
    assert exact <= mechanism.total_variation <= exact * (1 + 1e-12)
    assert mechanism.delta(0.0) < 0.9 * response_delta(mechanism.epsilon, 0.0)


def test_on_a_box_two_laplace_variables_are_no_further_apart_than_that() -> None:
    """A sum over all cells of a grid, for a change of 1 and 2 at scales 2 and 3."""
    edges = np.linspace(-60.0, 60.0, 1201)

    def chances(centre: float, scale: float) -> np.ndarray:
        z = (edges - centre) / scale
        return np.diff(np.where(z < 0, np.exp(-np.abs(z)), 2 - np.exp(-np.abs(z))) / 2)

    first = np.outer(chances(0.0, 2.0), chances(0.0, 3.0))
    second = np.outer(chances(1.0, 2.0), chances(2.0, 3.0))
    exact = float(np.abs(first - second).sum()) / 2
    epsilon = 1 / 2 + 2 / 3
    assert 0.6 * -math.expm1(-epsilon / 2) < exact <= -math.expm1(-epsilon / 2)


def test_a_mechanism_with_nothing_but_epsilon_costs_as_much_as_randomised_response() -> None:
    mechanism = JOINT[0]
    loss = ib.PrivacyLoss.pure(mechanism.epsilon)
    assert super(ib.BoundedLaplace, mechanism).total_variation == pure_variation(mechanism.epsilon)
    assert mechanism.rho == loss.rho
    assert mechanism.gdp == loss.mu


def test_the_divergence_of_infinite_order_is_epsilon() -> None:
    for mechanism in (MECHANISMS[12], JOINT[0]):
        assert mechanism.renyi(math.inf) == mechanism.epsilon
        assert mechanism.renyi(1.0) == pytest.approx(mechanism.epsilon * mechanism.total_variation)
