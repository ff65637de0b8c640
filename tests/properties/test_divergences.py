"""(ε, δ), Rényi and zCDP bounds: monotone, equivariant, and never above the plain Gaussian's."""

import math

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from inbounds import L1, L2, PerCoordinate
from inbounds.calibration.approximate import (
    delta_upper_bound,
    gaussian_delta,
    gaussian_mu,
    sigma_for_delta,
)
from inbounds.calibration.concentrated import (
    mu_upper_bound,
    renyi_upper_bound,
    rho_upper_bound,
    sigma_for_rho,
)
from inbounds.calibration.exact import pure_loss, smallest_sigma
from inbounds.reach import Reach

TIGHT = 1.0011  # the bound is within 1e-3 of the supremum, so it is monotone up to this factor


def powers(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high).map(lambda exponent: 10.0**exponent)


WIDTH = powers(-3, 3)
RATIO = powers(-3, 2)  # w/σ
SHARE = st.one_of(powers(-6, 0), st.floats(0.3, 1), st.just(1.0))
PART = st.floats(0, 0.999)  # of the pure ε
few = settings(max_examples=60, deadline=None)


def interval(width: float, share: float) -> tuple[np.ndarray, Reach]:
    return np.array([width]), Reach(np.array([width * share]), None, np.inf)


@few
@given(width=WIDTH, ratio=RATIO, share=SHARE, part=PART, more=st.floats(0, 1))
def test_delta_falls_with_epsilon(
    width: float, ratio: float, share: float, part: float, more: float
) -> None:
    widths, reach = interval(width, share)
    sigma = widths / ratio
    epsilon = part * pure_loss(widths, reach, sigma).epsilon
    here = delta_upper_bound(widths, reach, sigma, epsilon)
    there = delta_upper_bound(widths, reach, sigma, epsilon * (1 + more))
    assert there <= here * TIGHT


@few
@given(width=WIDTH, ratio=RATIO, share=SHARE, part=PART, more=powers(-3, 1))
def test_delta_falls_with_sigma(
    width: float, ratio: float, share: float, part: float, more: float
) -> None:
    widths, reach = interval(width, share)
    sigma = widths / ratio
    epsilon = part * pure_loss(widths, reach, sigma).epsilon
    here = delta_upper_bound(widths, reach, sigma, epsilon)
    assert delta_upper_bound(widths, reach, sigma * (1 + more), epsilon) <= here * TIGHT


@few
@given(width=WIDTH, ratio=RATIO, share=SHARE, part=PART, less=st.floats(0.1, 1))
def test_delta_grows_with_what_may_change(
    width: float, ratio: float, share: float, part: float, less: float
) -> None:
    widths, reach = interval(width, share)
    sigma = widths / ratio
    epsilon = part * pure_loss(widths, reach, sigma).epsilon
    here = delta_upper_bound(widths, reach, sigma, epsilon)
    _, smaller = interval(width, share * less)
    assert delta_upper_bound(widths, smaller, sigma, epsilon) <= here * TIGHT


@few
@given(ratio=RATIO, share=SHARE, part=PART, power=st.integers(-30, 30))
def test_scaling_everything_by_a_power_of_two_changes_nothing(
    ratio: float, share: float, part: float, power: int
) -> None:
    factor = 2.0**power
    (widths, reach), sigma = interval(1.0, share), np.array([1 / ratio])
    wide, far = widths * factor, Reach(reach.caps * factor, None, np.inf)
    epsilon = part * pure_loss(widths, reach, sigma).epsilon
    here = delta_upper_bound(widths, reach, sigma, epsilon)
    assert delta_upper_bound(wide, far, sigma * factor, epsilon) == here
    order = 1 + 10 * part
    here = renyi_upper_bound(widths, reach, sigma, order)
    assert renyi_upper_bound(wide, far, sigma * factor, order) == here


@few
@given(width=WIDTH, ratio=RATIO, share=SHARE, part=PART, order=powers(-3, 3))
def test_truncation_only_helps(
    width: float, ratio: float, share: float, part: float, order: float
) -> None:
    widths, reach = interval(width, share)
    sigma, mu = widths / ratio, ratio * share * (1 + 1e-12)
    epsilon = part * pure_loss(widths, reach, sigma).epsilon
    assert delta_upper_bound(widths, reach, sigma, epsilon) <= gaussian_delta(mu, epsilon)
    assert renyi_upper_bound(widths, reach, sigma, 1 + order) <= (1 + order) * mu * mu / 2
    assert rho_upper_bound(widths, reach, sigma) <= mu * mu / 2
    assert mu_upper_bound(widths, reach, sigma) <= mu


@few
@given(ratio=RATIO, share=SHARE, order=powers(-3, 3), more=powers(-3, 2))
def test_renyi_grows_with_the_order(ratio: float, share: float, order: float, more: float) -> None:
    (widths, reach), sigma = interval(1.0, share), np.array([1 / ratio])
    low = renyi_upper_bound(widths, reach, sigma, 1 + order)
    high = renyi_upper_bound(widths, reach, sigma, 1 + order * (1 + more))
    assert low <= high * 1.002
    assert high <= pure_loss(widths, reach, sigma).epsilon


@settings(max_examples=25, deadline=None)
@given(width=WIDTH, share=SHARE, epsilon=powers(-3, 2), delta=powers(-14, -0.5))
def test_the_calibrated_sigma_keeps_delta_and_is_at_most_both_others(
    width: float, share: float, epsilon: float, delta: float
) -> None:
    widths, reach = interval(width, share)
    shape = np.ones(1)
    sigma = sigma_for_delta(widths, reach, shape, epsilon, delta)
    assert delta_upper_bound(widths, reach, sigma, epsilon) <= delta
    assert delta_upper_bound(widths, reach, sigma * (1 - 1e-3), epsilon) > delta * 0.99
    pure = smallest_sigma(widths, reach, shape, epsilon)[0][0]
    gaussian = width * share / gaussian_mu(epsilon, delta)
    assert sigma[0] <= min(pure, gaussian) * (1 + 1e-12)


@settings(max_examples=25, deadline=None)
@given(
    widths=st.lists(powers(-1, 1.5), min_size=2, max_size=5),
    kind=st.sampled_from(["L1", "L2", "PerCoordinate"]),
    share=st.floats(0.05, 1),
    epsilon=powers(-1, 1),
)
def test_on_a_box_every_calibration_keeps_its_word(
    widths: list[float], kind: str, share: float, epsilon: float
) -> None:
    wide = np.array(widths)
    radius = share * float(wide.max())
    stated = {"L1": L1(radius), "L2": L2(radius), "PerCoordinate": PerCoordinate(wide * share)}
    reach = stated[kind].within(wide)
    shape = np.ones_like(wide)
    sigma = sigma_for_delta(wide, reach, shape, epsilon, 1e-5)
    assert delta_upper_bound(wide, reach, sigma, epsilon) <= 1e-5
    gaussian = mu_upper_bound(wide, reach, shape) / gaussian_mu(epsilon, 1e-5)
    assert sigma[0] <= gaussian * (1 + 1e-12)
    assert sigma[0] <= smallest_sigma(wide, reach, shape, epsilon)[0][0] * (1 + 1e-12)
    rho = epsilon**2 / 2
    found = sigma_for_rho(wide, reach, shape, rho)
    assert rho_upper_bound(wide, reach, found) <= rho
    assert found[0] <= mu_upper_bound(wide, reach, shape) / epsilon * (1 + 1e-9)


@few
@given(ratio=RATIO, share=SHARE)
def test_rho_is_at_most_half_the_square_of_the_pure_epsilon(ratio: float, share: float) -> None:
    (widths, reach), sigma = interval(1.0, share), np.array([1 / ratio])
    pure = pure_loss(widths, reach, sigma).epsilon
    assume(math.isfinite(pure))
    assert rho_upper_bound(widths, reach, sigma) <= pure * pure / 2
