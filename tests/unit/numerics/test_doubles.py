"""Powers of two, and the fractions that doubles stand for."""

import math
import sys
from decimal import Decimal
from fractions import Fraction

from hypothesis import example, given
from hypothesis import strategies as st

from inbounds.numerics.doubles import as_written, power_of_two_below, simple_fraction


@given(st.floats(math.ulp(0.0), sys.float_info.max))
@example(math.ulp(0.0))
@example(sys.float_info.max)
@example(8.0)
def test_it_is_the_largest_power_of_two_that_is_not_above(number: float) -> None:
    power = power_of_two_below(number)
    assert math.frexp(power)[0] == 0.5
    assert power <= number
    assert number / power < 2


@given(st.integers(1, 10**15 - 1), st.integers(-20, 5))
def test_a_decimal_of_fifteen_digits_is_read_as_written(digits: int, exponent: int) -> None:
    decimal = Decimal(digits).scaleb(exponent)
    assert as_written(float(decimal)) == Fraction(decimal)


@given(st.floats(-1e300, 1e300))
def test_what_is_read_rounds_to_the_same_double(number: float) -> None:
    assert float(as_written(number)) == number
    simple = simple_fraction(number)
    assert simple is None or float(simple) == number
