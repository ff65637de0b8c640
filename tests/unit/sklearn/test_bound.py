from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.sklearn.bound import check_bounds

NUMBERS = st.floats(-1e60, 1e60)


@given(NUMBERS, NUMBERS, st.floats(allow_nan=False, allow_infinity=False))
def test_any_value_is_between_0_and_1_and_comes_back(first: float, second: float, x: float) -> None:
    low, high = sorted((first, second))
    if not high - low > 1e-60:
        return
    bounds = check_bounds(low, high, 1)
    place = bounds.to_unit(np.array([[x]]))
    assert 0 <= place <= 1
    inside, back = min(max(x, low), high), bounds.from_unit(place).item()
    assert back == pytest.approx(inside, abs=4e-16 * (abs(low) + abs(high)))


def test_bounds_are_given_once_or_for_each_feature() -> None:
    bounds = check_bounds([0, 1], 3, 2)
    assert (bounds.lower.tolist(), bounds.upper.tolist()) == ([0, 1], [3, 3])
    assert bounds.middles.tolist() == [1.5, 2]


@pytest.mark.parametrize(
    ("lower", "upper", "message"),
    [
        (None, 1, "lower must be given"),
        (0, None, "upper must be given"),
        (0, 0, "upper must be above lower"),
        ([0, 2], 1, "upper must be above lower"),
        (0, float("inf"), "upper must be finite"),
        ([0, 0, 0], 1, "lower must be one number, or one for each of the 2 features"),
        (0, 1e-90, "upper must give a range"),
        ("a", 1, "lower must be"),
    ],
)
def test_other_bounds_are_refused_by_name(lower: Any, upper: Any, message: str) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError), match=message):
        check_bounds(lower, upper, 2)
