"""Brackets on the least error: true for every mechanism, and at the extremes."""

import itertools
import math
import time
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import inbounds as ib
from inbounds._types import Floats
from inbounds.analysis.calibrate import calibrations
from inbounds.analysis.error import ErrorSummary
from inbounds.errors import ArgumentError, ArgumentTypeError, CertificateError
from inbounds.guarantee import Guarantee
from inbounds.sensitivity import L2

SETTINGS = [
    (ib.Box(0, 1), 1.0, 0.5),
    (ib.Box(0, 1), 0.3, 2.0),
    (ib.Box(17.99, 41.565), 0.41, 0.5),
    (ib.Box(-1.32, 8.91), 2.2, 1.7),
    (ib.Box(0, 1), 0.73, 1.5),
    (ib.Box(1e6, 1e6 + 3), 0.7, 1.0),
]


@pytest.mark.parametrize(("box", "sensitivity", "epsilon"), SETTINGS, ids=str)
def test_no_mechanism_of_the_library_is_below_the_limit(
    box: ib.Box, sensitivity: float, epsilon: float
) -> None:
    average = ib.limit(box, sensitivity, epsilon=epsilon, tolerance=0.05)
    worst = ib.limit(box, sensitivity, epsilon=epsilon, objective="worst", tolerance=0.05)
    assert 0 < average.lower <= average.upper < 1.2 * average.lower
    assert average.lower <= worst.lower <= worst.upper
    for _, mechanism in calibrations(box, L2(sensitivity), Guarantee(epsilon)):
        error = ErrorSummary.of(mechanism)
        assert average.rmse[0] <= error.average_rmse
        assert worst.rmse[0] <= error.worst_rmse
    average.certificate().check()
    worst.certificate().check()


@pytest.mark.parametrize("epsilon", [0.1, 0.7, 1.7])
def test_the_worst_error_in_local_privacy_is_known_exactly(epsilon: float) -> None:
    result = ib.limit(ib.Box(0, 10), 10, epsilon=epsilon, objective="worst")
    e = math.exp(epsilon)
    assert result.lower == pytest.approx(100 * e / (1 + e) ** 2, rel=1e-14)
    assert result.gap < 1e-8


def level_functions(points: int, jump: int) -> Floats:
    """All level functions, one per row, with their largest level 0."""
    functions = set()
    for steps in itertools.product((-1, 0, 1), repeat=points - 1):
        levels = tuple(itertools.accumulate(steps, initial=0))
        pairs = itertools.combinations(range(points), 2)
        if all(abs(levels[i] - levels[j]) <= 1 for i, j in pairs if j - i <= jump):
            functions.add(tuple(level - max(levels) for level in levels))
    return np.array(sorted(functions), dtype=float)


def lattice_optimum(points: int, jump: int, epsilon: float) -> float:
    """The least average error for values 0..points-1, as one program over all level functions."""
    columns = np.exp(epsilon * level_functions(points, jump))
    places = np.arange(points)
    outputs = columns @ places / columns.sum(axis=1)
    costs = (columns * (places - outputs[:, None]) ** 2).mean(axis=1)
    return float(linprog(costs, A_eq=columns.T, b_eq=np.ones(points), method="highs").fun)


@pytest.mark.parametrize(
    ("points", "jump", "epsilon"), [(2, 1, 1.0), (4, 3, 2.0), (6, 2, 1.0), (7, 1, 0.6), (7, 3, 2.5)]
)
def test_with_a_step_the_limit_is_that_of_a_program_over_all_level_functions(
    points: int, jump: int, epsilon: float
) -> None:
    box = ib.Box(0, points - 1, step=1)
    result = ib.limit(box, jump, epsilon=epsilon, tolerance=0.001)
    optimum = lattice_optimum(points, jump, epsilon)
    assert 0.999 * optimum <= result.lower <= optimum * (1 + 1e-9)
    assert result.upper >= optimum * (1 - 1e-9)


def unbiased_optimum(points: int, jump: int, epsilon: float) -> float:
    """The least average variance of unbiased outputs on a fine grid, as one program."""
    columns = np.exp(epsilon * level_functions(points, jump))
    places = np.arange(points) - (points - 1) / 2
    far = (points - 1) / 2 + 1.5 * jump / math.expm1(epsilon) + jump
    outputs = np.linspace(-far, far, 401)
    costs = np.array([(columns * (a - places) ** 2).mean(axis=1) for a in outputs])
    sums = np.tile(columns, (outputs.size, 1)).T
    means = np.concatenate([columns * a for a in outputs]).T
    to = np.concatenate([np.ones(points), places])
    return float(
        linprog(costs.ravel(), A_eq=np.concatenate([sums, means]), b_eq=to, method="highs").fun
    )


@pytest.mark.parametrize(
    ("points", "jump", "epsilon"), [(2, 1, 1.0), (3, 2, 3.0), (4, 1, 0.6), (5, 2, 2.0), (5, 4, 1.0)]
)
def test_the_unbiased_limit_with_a_step_is_that_of_a_program(
    points: int, jump: int, epsilon: float
) -> None:
    box = ib.Box(0, points - 1, step=1)
    result = ib.limit(box, jump, epsilon=epsilon, objective="unbiased")
    optimum = unbiased_optimum(points, jump, epsilon)  # above the limit, as its outputs are a grid
    assert 0.99 * optimum < result.lower < optimum * (1 + 1e-9)
    assert result.lower < result.upper < 1.005 * optimum
    assert result.certificate().form == "unbiased"
    result.certificate().check(exact=True)


def test_the_unbiased_limit_of_yes_and_no_is_that_of_randomised_response() -> None:
    for epsilon in (0.2, 1.0, 4.0):
        result = ib.limit(ib.Box(0, 1, step=1), 1, epsilon=epsilon, objective="unbiased")
        best = 0.25 / math.tanh(epsilon / 2) ** 2 - 0.25
        assert result.lower < best * (1 + 1e-9)
        assert best * (1 - 1e-9) < result.upper < 1.0001 * best
        assert result.gap < 0.005


def test_evidence_for_unbiased_outputs_is_for_all_points_and_no_fewer() -> None:
    proof = ib.limit(ib.Box(0, 4, step=1), 2, epsilon=1.0, objective="unbiased").certificate()
    assert proof.check() is proof
    wider = replace(proof, bounds=(0.0, 5.0), points=6)  # a larger variance would be proved of more
    narrower = replace(proof, bounds=(0.0, 3.0), points=4)
    for other in (wider, narrower, replace(proof, stride=2), replace(proof, objective="average")):
        with pytest.raises(CertificateError):
            other.check()


def test_a_step_that_no_neighbours_are_apart_has_no_lower_limit() -> None:
    result = ib.limit(ib.Box(0, 10, step=2), 1, epsilon=1.0)
    assert result.lower == 0
    assert result.gap == math.inf
    result.certificate().check()


def test_a_fine_step_approaches_the_interval() -> None:
    fine = ib.limit(ib.Box(0, 100_000, step=1), 25_000, epsilon=1.0)
    interval = ib.limit(ib.Box(0, 100_000), 25_000, epsilon=1.0)
    assert fine.lower == pytest.approx(interval.lower, rel=0.02)
    fine.certificate().check()


@pytest.mark.parametrize("box", [ib.Box(0, 1.0000000005, step=0.25), ib.Box(0, 1 + 1e-9, step=0.1)])
def test_boxes_that_are_nearly_a_whole_number_of_steps_wide_are_refused(box: ib.Box) -> None:
    """The last value would be off the steps."""
    with pytest.raises(ArgumentError, match="not be nearly a whole number of steps wide"):
        ib.limit(box, 0.3, epsilon=1.0)


@pytest.mark.parametrize(
    ("box", "change", "steps", "jump"),
    [
        (ib.Box(0, 1, step=0.1), 0.1, 10, 1),
        (ib.Box(0, 1, step=0.1), 0.3, 10, 3),  # the double 0.3 is less than three tenths
        (ib.Box(0, 1, step=0.1), 0.29999, 10, 2),
        (ib.Box(-0.35, 1.75, step=0.7), 0.7, 3, 1),
        (ib.Box(0, 1, step=1 / 3), 2 / 3, 3, 2),
        (ib.Box(100.01, 100.06, step=0.01), 0.02, 5, 2),
    ],
)
@pytest.mark.parametrize("objective", ["average", "worst", "unbiased"])
def test_decimal_steps_have_the_limit_of_whole_ones(
    box: ib.Box, change: float, steps: int, jump: int, objective: Any
) -> None:
    unit = box.steps[0] or math.nan
    result = ib.limit(box, change, epsilon=1.0, objective=objective)
    whole = ib.limit(ib.Box(0, steps, step=1), jump, epsilon=1.0, objective=objective)
    assert result.lower == pytest.approx(whole.lower * unit**2, rel=1e-9)
    assert result.upper >= result.lower
    proof = result.certificate()
    assert type(proof).from_json(proof.to_json()).check() == proof
    with pytest.raises(CertificateError):
        replace(proof, lower=proof.lower * 1.01).check()
    with pytest.raises(CertificateError):
        replace(proof, step=math.nextafter(unit, 1.0)).check()


def test_the_step_of_a_certificate_cannot_be_changed() -> None:
    proof = ib.limit(ib.Box(0, 10, step=0.25), 1, epsilon=6.0).certificate()
    for step in (1.0, 0.5, 1e300, 0.125):
        with pytest.raises(CertificateError):
            replace(proof, step=step).check()


@pytest.mark.parametrize("scale", [2.0**-40, 3.0, 1e30])
def test_errors_scale_with_the_square_of_the_unit(scale: float) -> None:
    one = ib.limit(ib.Box(0, 1), 0.25, epsilon=1.0)
    other = ib.limit(ib.Box(0, scale), 0.25 * scale, epsilon=1.0)
    assert other.lower == pytest.approx(one.lower * scale**2, rel=1e-12)
    other.certificate().check()


def test_a_result_is_found_again_at_once() -> None:
    ib.limit(ib.Box(0, 1), 0.4, epsilon=1.1)
    start = time.process_time()
    ib.limit(ib.Box(0, 2), 0.8, epsilon=1.1)
    assert time.process_time() - start < 0.5


@pytest.mark.parametrize(
    ("sensitivity", "epsilon"),
    [(1.0, 1e-9), (1.0, 30.0), (1.0, 200.0), (1e-9, 1.0), (1e-3, 0.01), (1e-300, 1e-90)],
)
@pytest.mark.parametrize("objective", ["average", "worst", "unbiased"])
def test_extremes_give_a_true_bracket(sensitivity: float, epsilon: float, objective: Any) -> None:
    start = time.process_time()
    result = ib.limit(
        ib.Box(0, 1), sensitivity, epsilon=epsilon, objective=objective, tolerance=0.1
    )
    assert 0 <= result.lower <= result.upper
    result.certificate().check()
    assert time.process_time() - start < 30


def test_wide_intervals_come_close_to_staircase_noise() -> None:
    result = ib.limit(ib.Box(0, 1), 1e-6, epsilon=1.0, tolerance=0.05)
    assert result.upper == pytest.approx(1.9181035312e-12, rel=1e-6)
    assert result.gap < 0.08


def test_unbiased_outputs_have_at_least_the_error_of_all_outputs() -> None:
    unbiased = ib.limit(ib.Box(0, 1), 0.5, epsilon=1.0, objective="unbiased", tolerance=0.05)
    average = ib.limit(ib.Box(0, 1), 0.5, epsilon=1.0, tolerance=0.05)
    assert average.upper < unbiased.lower < unbiased.upper


def test_the_least_variance_of_one_bit_is_reached_for_small_epsilon() -> None:
    result = ib.limit(ib.Box(0, 1), 1, epsilon=0.05, objective="unbiased")
    assert result.gap < 0.01


@pytest.mark.parametrize("name", ["delta", "rho"])
def test_other_guarantees_are_refused_with_the_reason(name: str) -> None:
    with pytest.raises(ArgumentTypeError, match="no certified limit is known"):
        ib.limit(ib.Box(0, 1), 1, epsilon=1.0, **{name: 0.1})  # type: ignore[arg-type]


def test_several_coordinates_are_refused_with_the_reason() -> None:
    with pytest.raises(ArgumentError, match="no certified limit is known for several coordinates"):
        ib.limit(ib.Box([0, 0], [1, 1]), 1, epsilon=1.0)


@pytest.mark.parametrize(
    "change",
    [
        {"objective": "median"},
        {"tolerance": 0.0},
        {"tolerance": 2},
        {"epsilon": -1.0},
        {"progress": 1},
    ],
)
def test_wrong_arguments_are_named(change: dict[str, Any]) -> None:
    arguments = {"epsilon": 1.0} | change
    with pytest.raises((ArgumentError, ArgumentTypeError), match=next(iter(change))):
        ib.limit(ib.Box(0, 1), 1, **arguments)


def test_a_box_of_one_coordinate_is_an_interval() -> None:
    assert ib.limit(ib.Box([0], [1]), 1, epsilon=1.0).lower == pytest.approx(
        ib.limit(ib.Box(0, 1), 1, epsilon=1.0).lower
    )


def test_it_is_shown_as_a_table() -> None:
    result = ib.limit(ib.Box(0, 1), 1, epsilon=1.0)
    assert "root mean squared error" in str(result)
    assert "<table" in result._repr_html_()
    assert result.rmse[0] ** 2 <= result.lower
    assert result.rmse[1] ** 2 >= result.upper
    assert Fraction(result.lower) <= result.certificate().proved()
