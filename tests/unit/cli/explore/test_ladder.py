import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbounds.cli.explore.ladder import Found, Ladder, first_enough

EPSILON = Ladder(1e-4, 20.0)
PEOPLE = Ladder(1, 1e10, whole=True)
DELTA = Ladder(1e-15, 1e-4)


@pytest.mark.parametrize("ladder", [EPSILON, PEOPLE, DELTA])
def test_numbers_rise_have_three_digits_and_know_their_place(ladder):
    numbers = [ladder.number(place) for place in range(ladder.last + 1)]
    assert numbers[0] == ladder.low
    assert numbers[-1] == ladder.high
    assert all(
        a < b <= 1.0100001 * a or (ladder.whole and b == a + 1) for a, b in pairwise(numbers)
    )
    assert all(float(f"{number:.3g}") == number for number in numbers)
    assert [ladder.place(number) for number in numbers] == list(range(ladder.last + 1))


def test_a_number_between_two_is_at_the_place_of_the_smaller():
    assert EPSILON.number(EPSILON.place(0.83749)) == 0.837
    assert PEOPLE.number(PEOPLE.place(1234.5)) == 1230
    assert PEOPLE.number(PEOPLE.place(99.9)) == 99


@given(
    st.sampled_from([EPSILON, PEOPLE, DELTA]),
    st.floats(0, 1),
    st.floats(0.05, 3),
    st.floats(0, 1),
    st.booleans(),
)
def test_the_first_number_that_is_enough_is_found(ladder, at, power, start, jumps):
    log_low, log_high = math.log(ladder.low), math.log(ladder.high)
    threshold = math.exp(log_low + (1.1 * at - 0.05) * (log_high - log_low))
    tried = set()

    def error(number):
        assert number not in tried  # nothing is computed twice
        tried.add(number)
        smooth = (number / threshold) ** -power
        return float(round(smooth) + (smooth > 1)) if jumps else smooth

    begin = math.exp(log_low + start * (log_high - log_low))
    found = first_enough(ladder, error, 1.0, begin)
    if threshold > ladder.high * 1.001:
        assert isinstance(found, float)
        assert found > 1
        return
    if isinstance(found, float):
        return
    assert error_of(found, threshold, power) <= 1 + 1e-9
    place = ladder.place(found.number)
    assert found.is_lowest == (place == 0)
    if place:
        assert ladder.number(place - 1) < threshold * (1 + 1e-9)
    assert len(tried) <= 40


def error_of(found, threshold, power):
    return (found.number / threshold) ** -power


def test_few_errors_are_computed_for_a_smooth_one():
    count = 0

    def error(epsilon):
        nonlocal count
        count += 1
        return 3.7 / epsilon

    assert first_enough(EPSILON, error, 1.0, 1.0) == Found(3.7, 1.0, is_lowest=False)
    assert count <= 8


@pytest.mark.parametrize("error", [0.0, 1e-320, math.inf])
def test_errors_of_zero_and_infinity_do_no_harm(error):
    found = first_enough(EPSILON, lambda epsilon: error if epsilon > 1 else math.inf, 1.0, 1.0)
    assert found == (math.inf if error else Found(1.01, 0.0, is_lowest=False)) or error == 1e-320
