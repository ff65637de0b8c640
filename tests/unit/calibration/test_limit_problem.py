"""Lattices inside intervals, and closed forms."""

from fractions import Fraction
from itertools import product
from typing import Any

import mpmath
import pytest

from inbounds.calibration.limit_problem import Problem, bound
from inbounds.calibration.limit_proof import LatticeProof


def evidence(size: int, reach: int, total: int) -> LatticeProof:
    """Unchecked evidence that the errors at `size` places add up to `total` or more."""
    share = Fraction(total, size) - Fraction(size**2 - 1, 12)
    values = (float(share + Fraction(1, 2**40)),) * size
    return LatticeProof(reach, (1.0,) * size, None, values, 0.0, 2.0**-20, 1)


def proved(problem: Problem, form: str, epsilon: float, **fields: Any) -> Fraction:
    given = {"group": 1, "stride": 1, "proofs": ()} | fields
    return bound(problem, form, epsilon, **given)


def test_two_lattices_share_the_offsets() -> None:
    problem = Problem(Fraction(10), Fraction(3))  # spacing 3/2: 7 places for 2/3 of the offsets
    both = proved(problem, "average", 1.0, proofs=(evidence(7, 2, 70), evidence(6, 2, 30)))
    expected = (Fraction(2, 3) * 70 + Fraction(1, 3) * 30) * Fraction(9, 4) / Fraction(20, 3)
    assert float(both) == pytest.approx(float(expected), rel=1e-9)


def test_a_smaller_lattice_counts_as_often_as_it_fits() -> None:
    problem = Problem(Fraction(10), Fraction(1))
    parts = proved(problem, "average", 1.0, proofs=(evidence(3, 1, 6),))
    assert float(parts) == pytest.approx(3 * 6 / 10, rel=1e-9)


def test_a_lattice_that_does_not_fit_proves_nothing() -> None:
    step = Problem(Fraction(9), Fraction(5, 2), Fraction(1), 10)
    assert step.jump == 2
    assert proved(step, "average", 1.0, proofs=(evidence(10, 2, 30),)) > 0
    assert proved(step, "average", 1.0, proofs=(evidence(10, 3, 30),)) == 0
    assert proved(step, "average", 1.0, group=2, proofs=(evidence(10, 4, 30),)) > 0
    assert proved(step, "average", 1.0, stride=2, proofs=(evidence(5, 1, 30),)) > 0
    assert proved(step, "average", 1.0, stride=2, proofs=(evidence(5, 2, 30),)) == 0
    assert proved(step, "prior", 1.0, proofs=(evidence(11, 2, 30),)) == 0
    assert proved(step, "unbiased", 1.0, proofs=(evidence(10, 2, 30),)) == 0
    mixed = (evidence(10, 2, 30), evidence(9, 3, 30))
    assert proved(step, "average", 1.0, proofs=mixed) == 0


def test_weights_that_are_not_even_bound_no_average() -> None:
    problem = Problem(Fraction(3), Fraction(1))
    uneven = LatticeProof(1, (1.0, 2.0, 1.0), None, (9.0, 9.0, 9.0), 0.0, 0.5, 4)
    assert proved(problem, "average", 1.0, proofs=(uneven,)) == 0
    assert proved(problem, "prior", 1.0, proofs=(uneven,)) > 0


def test_decimal_steps_count_fewer_neighbours_rather_than_more() -> None:
    tenth, three_tenths = Fraction(0.1), Fraction(0.3)
    assert Problem(Fraction(1), three_tenths, tenth, 11).jump == 2
    assert Problem(Fraction(1), Fraction(0.30000000000000004), tenth, 11).jump == 3
    assert not Problem(Fraction(1), Fraction(0.05), tenth, 11).has_neighbours
    assert proved(Problem(Fraction(1), Fraction(0.05), tenth, 11), "pairs", 1.0) == 0


@pytest.mark.parametrize(
    ("steps", "epsilon"), list(product((1, 2, 3, 7, 40), (1e-6, 0.1, 1.0, 5.0, 60.0)))
)
def test_the_bound_from_two_ends_is_below_its_formula_by_a_rounding(
    steps: int, epsilon: float
) -> None:
    problem = Problem(Fraction(steps), Fraction(1))
    with mpmath.workdps(200):
        alpha = mpmath.exp(-mpmath.mpf(epsilon))
        inner = sum(alpha**steps / (alpha**j + alpha ** (steps - j)) for j in range(1, steps))
        formula = alpha**steps / ((1 + alpha) * (1 + alpha**steps))
        formula = (formula + (1 - alpha) / (2 * (1 + alpha)) * inner) * steps**2
        found = proved(problem, "two_ends", epsilon)
        exact = mpmath.mpf(found.numerator) / found.denominator
        assert 0 <= (formula - exact) / formula < mpmath.mpf(2) ** -200


def test_pairs_are_the_two_ends_of_half_the_interval_if_all_are_neighbours() -> None:
    local = Problem(Fraction(2), Fraction(2))
    ends = proved(Problem(Fraction(1), Fraction(1)), "two_ends", 1.5)
    assert proved(local, "pairs", 1.5) == pytest.approx(float(ends), rel=1e-14)
