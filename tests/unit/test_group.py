import math
from fractions import Fraction

import mpmath
import pytest

from inbounds.group import group_delta, multiplied


@pytest.mark.parametrize("count", [2, 3, 10, 1000])
@pytest.mark.parametrize("epsilon", [0.0, 5e-324, 1e-12, 0.1, 1.0, 30.0])
@pytest.mark.parametrize("delta", [5e-324, 1e-310, 1e-40, 1e-6, 0.3, 1.0])
def test_delta_of_a_group_is_reached_by_a_mechanism_and_rounded_up_by_little(
    epsilon: float, delta: float, count: int
) -> None:
    with mpmath.workdps(60):
        chance = mpmath.mpf(0)  # of an output that the last data set never gives
        for _ in range(count):
            chance = mpmath.exp(epsilon) * chance + delta
        bound = group_delta(epsilon, delta, count)
        exact = min(mpmath.mpf(1), chance)
        assert exact <= bound
        if count * epsilon < 700:
            assert bound <= exact * (1 + mpmath.mpf(1e-11)) + 1e-299


@pytest.mark.parametrize("number", [0.0, 5e-324, 0.1, 1 / 3, 1e308])
@pytest.mark.parametrize("count", [1, 2, 3, 10**15, 10**400])
def test_a_product_is_the_next_double_that_is_not_below_it(number: float, count: int) -> None:
    exact, product = count * Fraction(number), multiplied(count, number)
    assert product >= exact
    assert product == 0 or math.nextafter(product, 0.0) < exact
    assert multiplied(count, math.inf) == math.inf
