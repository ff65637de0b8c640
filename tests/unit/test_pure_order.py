import math

import mpmath
import numpy as np
import pytest

from inbounds.pure import likely
from inbounds.pure_order import largest_quotient, log_moment

CASES = [  # epsilon, and the total variation in units of that of randomised response
    *((1e-3, 0.3), (1e-3, 0.33333), (0.1, 1e-9), (1.0, 0.1), (1.0, 0.32), (3.0, 0.08)),
    *((10.0, 0.5), (40.0, 0.9), (700.0, 0.5), (700.0, 1e-12), (1e5, 0.9)),
]


def quotient(a: mpmath.mpf, epsilon: float, y: mpmath.mpf) -> mpmath.mpf:
    moment = 1 + a * mpmath.expm1(y) * -mpmath.expm1(-y - epsilon)
    return mpmath.log(moment) * mpmath.mpf(epsilon) ** 2 / (y * (y + epsilon))


def golden_section(a: mpmath.mpf, epsilon: float) -> mpmath.mpf:
    """The largest quotient, without a derivative."""
    low, high = mpmath.mpf(-12), mpmath.log(5000 + 100 * mpmath.sqrt(epsilon))
    fraction = (mpmath.sqrt(5) - 1) / 2

    def value(place: mpmath.mpf) -> mpmath.mpf:
        return quotient(a, epsilon, mpmath.exp(place))

    for _ in range(60):
        left, right = high - fraction * (high - low), low + fraction * (high - low)
        low, high = (low, right) if value(left) > value(right) else (left, high)
    return value((low + high) / 2)


@pytest.mark.parametrize(("epsilon", "fraction"), CASES)
def test_the_largest_quotient_is_that_of_a_golden_section_search(
    epsilon: float, fraction: float
) -> None:
    variation = math.tanh(epsilon / 2) * fraction
    with mpmath.workdps(60):
        a = variation / -mpmath.expm1(-mpmath.mpf(epsilon))
        exact = max(golden_section(a, epsilon), mpmath.mpf(epsilon) * variation)
    bound = largest_quotient(likely(epsilon, variation), epsilon, epsilon * variation)
    assert exact * (1 - mpmath.mpf(1e-13)) <= bound <= exact * (1 + mpmath.mpf(1e-10))


@pytest.mark.parametrize("epsilon", [1e-2, 1.0, 5.0])
@pytest.mark.parametrize("gap", [1e-6, 3e-6, 6e-6, 1e-5, 3e-5, 1e-4])
def test_just_below_the_threshold_rho_is_above_the_divergence_of_order_one(
    epsilon: float, gap: float
) -> None:
    """Where the best order is too close to 1 to be seen in doubles."""
    variation = (1 / math.tanh(epsilon / 2) - 2 / epsilon) * (1 - gap)
    with mpmath.workdps(60):
        a = variation / -mpmath.expm1(-mpmath.mpf(epsilon))
        exact = golden_section(a, epsilon)
        assert exact > mpmath.mpf(epsilon) * variation
    bound = largest_quotient(likely(epsilon, variation), epsilon, epsilon * variation)
    assert exact <= bound * (1 + mpmath.mpf(1e-13))
    assert bound <= exact * (1 + 1.01 * gap)


@pytest.mark.parametrize("epsilon", [1e-6, 0.5, 4.0, 60.0])
@pytest.mark.parametrize("a", [1e-300, 1e-12, 0.2, 0.5])
def test_moments_are_right_where_exponentials_overflow_and_where_nothing_is_left(
    epsilon: float, a: float
) -> None:
    for y in (1e-9, 1.0, 599.0, 601.0, 700.0, 1500.0, 1e6):
        with mpmath.workdps(400):
            factors = mpmath.expm1(mpmath.mpf(y)), -mpmath.expm1(-mpmath.mpf(y) - epsilon)
            exact = mpmath.log1p(a * factors[0] * factors[1])
        assert abs(log_moment(a, epsilon, y) - exact) <= exact * 1e-11 + 1e-322


def test_the_bound_holds_at_every_order_at_which_the_quotient_does_not_decrease() -> None:
    """The inequality of the proof, at orders that the search does not stop at."""
    tried = 0
    for epsilon, fraction in CASES[:8]:
        variation = math.tanh(epsilon / 2) * fraction
        with mpmath.workdps(40):
            a = variation / -mpmath.expm1(-mpmath.mpf(epsilon))
            largest = max(golden_section(a, epsilon), mpmath.mpf(epsilon) * variation)
            for y in map(mpmath.mpf, np.geomspace(1e-6, 1e3, 25).tolist()):
                moment = 1 + a * mpmath.expm1(y) * -mpmath.expm1(-y - epsilon)
                slope = a * (mpmath.exp(y) - mpmath.exp(-y - epsilon)) / moment
                if y * slope / mpmath.log(moment) < 1 + y / (y + epsilon):
                    continue  # the quotient decreases
                x, tried = y + mpmath.mpf(epsilon) / 2, tried + 1
                bound = max(slope, mpmath.coth(x) - 1 / x) * mpmath.mpf(epsilon) ** 2 / (2 * x)
                assert bound >= largest * (1 - mpmath.mpf(1e-13))
    assert tried > 50
