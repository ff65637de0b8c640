"""The plan: the parameters of coordinates, and which of them trials in doubles may serve."""

import numpy as np
import pytest
from numpy.typing import NDArray

from inbounds.numerics.noise import Noise
from inbounds.numerics.noises import NOISES
from inbounds.numerics.normal import NORMAL
from inbounds.sampling.plan import NARROW, Parameters, Plan, least_acceptance, parameters

Floats = NDArray[np.float64]


def plan_of(
    noise: Noise,
    lower: Floats,
    upper: Floats,
    scale: Floats,
    steps: float,
    *,
    equal_time: bool = True,
) -> Plan:
    return Plan.of(noise, lower, upper, scale, (upper - lower) / steps, equal_time=equal_time)


def one(noise: Noise, u: float, steps: float = 2.0**22, *, equal_time: bool = True) -> Plan:
    bounds = np.array([-1.1]), np.array([2.3])
    return plan_of(noise, *bounds, (bounds[1] - bounds[0]) / u, steps, equal_time=equal_time)


@pytest.mark.parametrize("noise", NOISES)
def test_one_coordinate_has_the_same_parameters_by_itself_and_among_others(noise: Noise) -> None:
    rng = np.random.default_rng(1)
    lower, scale = rng.normal(size=200), 10 ** rng.uniform(-3, 3, 200)
    upper = lower + scale * 10 ** rng.uniform(-3, 3, 200)
    plan = plan_of(noise, lower, upper, scale, 2.0**30)
    for i, sides in enumerate(zip(lower.tolist(), upper.tolist(), scale.tolist(), strict=True)):
        step = (sides[1] - sides[0]) / 2.0**30
        alone = parameters(noise, *sides, step, equal_time=True)
        together = Parameters(*(float(side[i]) for side in plan.parameters))
        assert alone._replace(target=0.0) == together._replace(target=0.0)
        assert alone.target == pytest.approx(together.target, rel=1e-12)


@pytest.mark.parametrize("noise", NOISES)
def test_windows_up_to_the_limit_are_narrow_and_wider_ones_are_not(noise: Noise) -> None:
    assert one(noise, NARROW[noise] * 0.999).narrow.all()
    assert not one(noise, NARROW[noise] * 1.001).narrow.any()


def test_numbers_that_doubles_cannot_hold_exactly_enough_are_not_usable() -> None:
    def usable(width: float, u: float, steps: float) -> bool:
        sides = np.array([0.0]), np.array([width]), np.array([width / u])
        return bool(plan_of(NORMAL, *sides, steps).usable[0])

    assert usable(1.0, 1.0, 2.0**41)
    assert not usable(1.0, 1.0, 2.0**42)
    assert usable(2.0**-880, 1.0, 2.0**40)
    assert not usable(2.0**-900, 1.0, 2.0**20)
    assert usable(2.0**970, 1.0, 2.0**40)
    assert not usable(2.0**1001, 1.0, 2.0**40)


def test_a_grid_whose_steps_are_subnormal_is_not_usable() -> None:
    """Such a step has few bits, so that every index would be off."""
    width = np.array([2.0**-990])
    assert not plan_of(NORMAL, np.zeros(1), width, width / 1e6, 2.0**40).usable[0]


def test_steps_that_underflow_to_zero_are_not_usable_and_do_not_warn() -> None:
    width = np.array([2.0**-1050])
    assert not plan_of(NORMAL, np.zeros(1), width, width / 2, 2.0**40).usable[0]


@pytest.mark.parametrize("noise", NOISES)
def test_scales_so_small_that_rounding_could_uncover_a_strip_are_not_usable(noise: Noise) -> None:
    """The distance to a bound is known to u/2**50; the strips have room for 2**-16."""
    assert one(noise, 2.0**33.9, 2.0**40).usable[0]
    assert not one(noise, 2.0**34.1, 2.0**40).usable[0]


@pytest.mark.parametrize("noise", NOISES)
def test_numbers_and_arrays_have_the_same_target_to_the_last_bit(noise: Noise) -> None:
    widths = np.random.default_rng(0).uniform(0.01, 60, 5000)
    assert least_acceptance(noise, widths).tolist() == [
        least_acceptance(noise, u) for u in widths.tolist()
    ]
