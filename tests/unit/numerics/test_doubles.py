"""Powers of two."""

import math
import sys

from hypothesis import example, given
from hypothesis import strategies as st

from inbounds.numerics.doubles import power_of_two_below


@given(st.floats(math.ulp(0.0), sys.float_info.max))
@example(math.ulp(0.0))
@example(sys.float_info.max)
@example(8.0)
def test_it_is_the_largest_power_of_two_that_is_not_above(number: float) -> None:
    power = power_of_two_below(number)
    assert math.frexp(power)[0] == 0.5
    assert power <= number
    assert number / power < 2
