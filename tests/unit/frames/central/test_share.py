from fractions import Fraction

import pytest

from inbounds.calibration.approximate import rho_delta
from inbounds.frames.central.share import (
    divide,
    float_above,
    float_below,
    of_one_number,
    rho_within,
)
from inbounds.guarantee import Guarantee


@pytest.mark.parametrize("fraction", [Fraction(1, 3), Fraction(1, 7), Fraction(99, 100)], ids=str)
def test_pure_epsilons_and_rhos_add_up_to_no_more_than_the_guarantee(fraction: Fraction) -> None:
    for amount in (0.1, 1.0, 3.3):
        pure = divide(Guarantee(epsilon=amount), fraction)
        assert pure.sums is not None
        assert pure.quantiles is not None
        assert pure.sums.is_pure
        assert Fraction(pure.sums.pair[0]) + pure.quantiles.amount <= Fraction(amount)
        concentrated = divide(Guarantee(rho=amount), fraction)
        assert concentrated.sums is not None
        assert concentrated.sums.rho is not None
        assert concentrated.quantiles is not None
        assert Fraction(concentrated.sums.rho) + concentrated.quantiles.amount <= Fraction(amount)


def test_what_is_not_asked_for_gets_nothing() -> None:
    guarantee = Guarantee(epsilon=1.0, delta=1e-6)
    assert divide(guarantee, Fraction(0)).sums is guarantee
    assert divide(guarantee, Fraction(0)).quantiles is None
    assert divide(guarantee, Fraction(1)).sums is None


def test_a_single_draw_is_pure_and_many_draws_are_in_rho() -> None:
    guarantee = Guarantee(epsilon=1.0, delta=1e-6)
    few, many = (divide(guarantee, Fraction(1), draws).quantiles for draws in (1, 20))
    assert few is not None
    assert many is not None
    assert (few.concentrated, many.concentrated) == (False, True)
    assert few.amount == 1


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 10.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-3])
def test_a_rho_gives_the_epsilon_at_the_delta_and_little_less(epsilon: float, delta: float) -> None:
    rho = rho_within(epsilon, delta)
    assert rho_delta(rho, epsilon) <= delta < rho_delta(rho * 1.0001, epsilon)


def test_doubles_are_on_the_stated_side() -> None:
    for number in (
        Fraction(1, 3),
        Fraction(2, 3),
        Fraction(1, 10),
        Fraction(1, 2),
        -Fraction(1, 3),
    ):
        assert Fraction(float_below(number)) <= number <= Fraction(float_above(number))
    assert float_below(Fraction(1, 2)) == float_above(Fraction(1, 2)) == 0.5


def test_a_delta_never_makes_sums_worse() -> None:
    pure, both = Guarantee(epsilon=1.0), Guarantee(epsilon=1.0, delta=1e-6)
    for fraction in (Fraction(1, 4), Fraction(1, 2)):
        alone, with_delta = (divide(given, fraction).sums for given in (pure, both))
        assert alone is not None
        assert with_delta is not None
        assert of_one_number(with_delta) <= of_one_number(alone)


def test_the_error_of_the_sums_decides_how_they_are_divided() -> None:
    guarantee = Guarantee(epsilon=1.0, delta=1e-6)
    normal = divide(guarantee, Fraction(1, 4), deviation=lambda g: 1.0 if g.rho else 1e9)
    assert normal.sums is not None
    assert normal.sums.rho is not None
