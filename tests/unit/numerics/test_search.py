"""A search returns what was asked about and admitted, whatever the test; it ends, and is tight."""

import math
import sys
from collections.abc import Callable
from hashlib import sha256

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from inbounds.errors import CertificateError
from inbounds.numerics.search import (
    crossing,
    newton_admissible,
    next_admissible,
    smallest_admissible,
)

LEAST, LARGEST = math.ulp(0.0), sys.float_info.max
MOST_REPAIRS = 52 + 67
MOST_QUESTIONS = 2200
TOLERANCES = (0.5, 1e-6, 1e-14, 2.0**-53, 0.0)

Test = Callable[[float], bool]
positive = st.floats(min_value=LEAST, max_value=LARGEST)
normal = st.floats(min_value=1e-290, max_value=1e290)
tolerances = st.sampled_from(TOLERANCES)


class Asked:
    """A test that remembers what it was asked, and what it said."""

    def __init__(self, admits: Test) -> None:
        self.admits = admits
        self.answers: dict[float, bool] = {}
        self.count = 0
        self.last = math.nan

    def __call__(self, number: float) -> bool:
        self.count += 1
        self.last = number
        self.answers[number] = self.admits(number)
        return self.answers[number]


def admits_at_random(seed: int, chance: float) -> Test:
    """A test that is no more monotone than a hash of the number."""

    def admits(number: float) -> bool:
        digest = sha256(f"{seed} {number.hex()}".encode()).digest()
        return digest[0] < 256 * chance

    return admits


def in_islands(number: float) -> bool:
    """Every third power of two is admitted."""
    return math.frexp(number)[1] % 3 == 0


def at_or_above(threshold: float) -> Test:
    return lambda number: number >= threshold


@given(
    start=positive,
    seed=st.integers(0, 1 << 30),
    chance=st.sampled_from([0.0, 0.02, 0.5, 1.0]),
    tolerance=tolerances,
)
def test_what_is_returned_was_asked_about_and_admitted_by_a_test_of_any_shape(
    start: float, seed: int, chance: float, tolerance: float
) -> None:
    for admits in (admits_at_random(seed, chance), in_islands):
        for search, most in (
            (lambda asked: next_admissible(start, asked), MOST_REPAIRS),
            (lambda asked: smallest_admissible(asked, start, tolerance=tolerance), MOST_QUESTIONS),
        ):
            asked = Asked(admits)
            try:
                number = search(asked)
            except CertificateError:
                assert not any(asked.answers.values())
            else:
                assert asked.answers[number] is True
            assert asked.count <= most


@given(number=positive, threshold=positive)
@example(number=LEAST, threshold=LARGEST)
@example(number=LARGEST, threshold=LARGEST)
def test_a_repair_asks_a_limited_number_of_times_and_last_about_its_result(
    number: float, threshold: float
) -> None:
    asked = Asked(at_or_above(threshold))
    try:
        result = next_admissible(number, asked)
    except CertificateError:
        assert threshold > LARGEST / 2**66  # the next number would have been beyond
    else:
        assert result == asked.last
        assert result >= threshold
    assert asked.count <= MOST_REPAIRS


@given(number=normal, away=st.floats(0, 1), step=st.sampled_from([2.0**-52, 2.0**-46, 1e-13]))
def test_a_repair_overshoots_by_no_more_than_the_start_was_short_and_a_step(
    number: float, away: float, step: float
) -> None:
    threshold = number * (1 + away)
    result = next_admissible(number, at_or_above(threshold), step=step)
    assert threshold <= result <= threshold * (threshold / number + step) * (1 + 1e-13)


@given(number=st.floats(min_value=0.0, max_value=1e300))
@example(number=0.0)
@example(number=LEAST)
def test_a_repair_by_one_double_is_found_even_among_the_least_doubles(number: float) -> None:
    larger = math.nextafter(number, math.inf)
    assert next_admissible(number, at_or_above(number)) == number
    assert (
        larger <= next_admissible(number, at_or_above(larger)) <= math.nextafter(larger, math.inf)
    )


@given(threshold=normal, start=normal, tolerance=tolerances)
def test_the_smallest_admissible_number_is_found_to_within_the_tolerance(
    threshold: float, start: float, tolerance: float
) -> None:
    asked = Asked(at_or_above(threshold))
    result = smallest_admissible(asked, start, tolerance=tolerance)
    assert threshold <= result
    assert result * (1 - tolerance) <= threshold * (1 + 2.0**-52)
    doublings = abs(math.log2(start) - math.log2(threshold))
    halvings = min(54.0, -math.log2(tolerance) + 1) if tolerance else 54.0
    assert asked.count <= math.ceil(doublings) + 2 + halvings


@given(threshold=st.floats(min_value=LEAST, max_value=LARGEST / 2), start=positive)
@example(threshold=LEAST, start=LARGEST)
@example(threshold=LARGEST / 2, start=LEAST)
def test_with_no_tolerance_the_threshold_is_found_to_the_last_bit(
    threshold: float, start: float
) -> None:
    asked = Asked(at_or_above(threshold))
    assert smallest_admissible(asked, start, tolerance=0.0) == threshold
    assert asked.count <= MOST_QUESTIONS


@pytest.mark.parametrize("start", [LEAST, 1.0, LARGEST])
@pytest.mark.parametrize("tolerance", TOLERANCES)
def test_a_test_that_admits_everything_ends_the_search_at_the_least_double(
    start: float, tolerance: float
) -> None:
    assert smallest_admissible(lambda _: True, start, tolerance=tolerance) == LEAST


@pytest.mark.parametrize("most", [1.0, 2e9, LARGEST, math.inf])
@pytest.mark.parametrize("start", [LEAST, 1.0])
def test_a_test_that_refuses_everything_is_an_error_and_nothing_beyond_the_most_is_asked(
    start: float, most: float
) -> None:
    for search in (
        lambda asked: next_admissible(start, asked, most=most),
        lambda asked: smallest_admissible(asked, start, tolerance=0.0, most=most),
    ):
        asked = Asked(lambda _: False)
        with pytest.raises(CertificateError, match="could be proved"):
            search(asked)
        assert start <= max(asked.answers) <= min(most, LARGEST)
        assert asked.count <= MOST_QUESTIONS


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_a_start_that_is_no_double_is_an_error_unless_it_is_admitted(number: float) -> None:
    with pytest.raises(CertificateError):
        next_admissible(number, lambda _: False)
    with pytest.raises(CertificateError):
        smallest_admissible(lambda _: False, number, tolerance=0.1)
    assert next_admissible(math.inf, at_or_above(1.0)) == math.inf


def test_a_start_of_zero_cannot_be_doubled() -> None:
    with pytest.raises(CertificateError):
        smallest_admissible(lambda number: number > 0, 0.0, tolerance=0.1)


def test_a_number_that_needs_no_repair_is_asked_about_once() -> None:
    asked = Asked(at_or_above(1.0))
    assert next_admissible(1.0, asked) == 1.0
    assert asked.count == 1


def test_a_plateau_below_which_all_is_refused_is_left_at_its_edge() -> None:
    asked = Asked(lambda number: math.floor(number * 8) / 8 >= 0.625)
    assert smallest_admissible(asked, 100.0, tolerance=0.0) == 0.625


def test_newtons_method_repairs_a_bound_that_jumps() -> None:
    """No number has a bound close below the target, so the search ends with larger numbers."""

    def evaluate(number: float) -> tuple[float, float]:
        return (2.0 if number < 3 else 0.5) / number, -1.0

    number, bound = newton_admissible(evaluate, 1.0, 0.6)
    assert bound == evaluate(number)[0] <= 0.6
    assert next_admissible(number, lambda x: evaluate(x)[0] <= 0.6) == number


@pytest.mark.parametrize("target", [1e-90, 1e-3, 1.0, 40.0, 1e90])
@pytest.mark.parametrize("power", [0.5, 1.0, 2.0, 4.0])
def test_newtons_method_ends_close_below_the_target(target: float, power: float) -> None:
    asked: list[float] = []

    def evaluate(number: float) -> tuple[float, float]:
        asked.append(number)
        bound = math.expm1(number**-power) if number**-power < 1 else 1.7 * number**-power
        return bound, -power

    number, bound = newton_admissible(evaluate, target ** (-1 / power) * 1.3, target)
    assert bound == evaluate(number)[0] <= target
    assert bound >= target * (1 - 1e-13)
    assert number in asked


def test_a_crossing_near_zero_is_found_to_within_a_distance() -> None:
    """To 15 digits of next to nothing, it would take more than the steps that there are."""

    def noisy(number: float) -> float:
        return 1.0 if number > 3e-17 else -1.0

    assert abs(crossing(noisy, -1.0, 1.0, within=1e-16)) < 2e-16
    with pytest.raises(RuntimeError, match="converge"):
        crossing(noisy, -1.0, 1.0)
