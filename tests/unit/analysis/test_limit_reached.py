"""The upper end: errors of mechanisms that are private."""

import math
from fractions import Fraction
from typing import Any

import pytest

from inbounds.analysis.limit_reached import upper_end
from inbounds.calibration.limit_bound import evidence
from inbounds.calibration.limit_problem import Problem


@pytest.mark.parametrize("objective", ["average", "worst", "unbiased"])
@pytest.mark.parametrize("ratio", [Fraction(1), Fraction(7, 3), Fraction(12)])
def test_more_privacy_costs_more(objective: Any, ratio: Fraction) -> None:
    errors = [upper_end(Problem(ratio, Fraction(1)), e, objective) for e in (0.2, 0.5, 1, 2, 4)]
    assert errors == sorted(errors, reverse=True)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.0])
def test_two_bins_have_the_error_of_their_formula(epsilon: float) -> None:
    reached = upper_end(Problem(Fraction(1), Fraction(1)), epsilon, "average")
    assert reached == pytest.approx(1 / 12 - math.tanh(epsilon / 2) ** 2 / 16, rel=1e-8)


@pytest.mark.parametrize("ratio", [Fraction(1), Fraction(10, 3), Fraction(5), Fraction(157, 10)])
@pytest.mark.parametrize("epsilon", [0.4, 1.5])
def test_the_upper_end_is_above_what_is_proved(ratio: Fraction, epsilon: float) -> None:
    problem = Problem(ratio, Fraction(1))
    lower = evidence(problem, epsilon, "average", 0.05).value(problem, epsilon) / ratio**2
    upper = upper_end(problem, epsilon, "average")
    assert float(lower) <= upper <= 1.1 * float(lower)


def test_without_neighbours_the_middle_is_an_upper_end_at_least() -> None:
    problem = Problem(Fraction(10), Fraction(1), Fraction(2), 6)
    assert 0 < upper_end(problem, 1.0, "average") <= 4 * 35 / 12 / 100 * (1 + 1e-8)
