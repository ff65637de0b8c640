"""The best mechanism without knowing which: what the comparison finds first."""

import numpy as np
import pytest

import inbounds as ib
from inbounds.analysis.criterion import CRITERIA
from inbounds.errors import ArgumentError, ArgumentTypeError

PAIR = (ib.Box([0, 1], [10, 9]), ib.PerCoordinate([4, 2]))
SETTINGS = [
    (ib.Box(0, 120), 2.5, {"epsilon": 1.0}),
    (ib.Box(0, 120), 2.5, {"epsilon": 1.0, "delta": 1e-6}),
    (ib.Box(0, 120, step=1), 120, {"epsilon": 0.5}),
    (ib.Box(0, 1), 0.01, {"rho": 0.2}),
    (*PAIR, {"epsilon": 1.0}),
    (*PAIR, {"rho": 0.5}),
    (ib.Box([0] * 20, [1] * 20), ib.L2(0.5), {"epsilon": 2.0, "delta": 1e-9}),
]


@pytest.mark.parametrize("criterion", [None, *CRITERIA[:-1]])
@pytest.mark.parametrize(("box", "sensitivity", "guarantee"), SETTINGS)
def test_it_is_the_best_of_the_comparison(box, sensitivity, guarantee, criterion):
    mechanism = ib.calibrate(box, sensitivity, criterion=criterion, **guarantee)
    best = ib.compare(box, sensitivity, **guarantee).best(criterion)
    assert mechanism == best.mechanism


@pytest.mark.parametrize(("box", "sensitivity", "guarantee"), SETTINGS)
def test_it_gives_the_guarantee(box, sensitivity, guarantee):
    for inside in (False, True):
        mechanism = ib.calibrate(box, sensitivity, inside=inside, **guarantee)
        if "rho" in guarantee:
            assert mechanism.rho <= guarantee["rho"]
        else:
            assert mechanism.delta(guarantee["epsilon"]) <= guarantee.get("delta", 0.0)


@pytest.mark.parametrize(("box", "sensitivity", "guarantee"), SETTINGS)
def test_inside_leaves_the_bounds_free_and_costs_error(box, sensitivity, guarantee):
    inside = ib.calibrate(box, sensitivity, inside=True, **guarantee)
    contenders = ib.compare(box, sensitivity, **guarantee).contenders
    free = [c for c in contenders if c.error.bound_mass == 0]
    assert inside == free[0].mechanism
    assert np.max(inside.mass_at_bounds(box.lower)) == 0


@pytest.mark.parametrize(
    ("criterion", "objective"), [("average_rmse", "average"), ("worst_rmse", "worst")]
)
def test_on_an_interval_the_table_for_the_criterion_is_best(criterion, objective):
    best = ib.calibrate(ib.Box(0, 120), 30, epsilon=1.0, criterion=criterion)
    assert isinstance(best, ib.Optimal)
    assert best.objective == objective


def test_the_staircase_is_best_where_tables_are_too_coarse():
    assert isinstance(ib.calibrate(ib.Box(0, 120), 1, epsilon=10.0), ib.ClampedStaircase)


@pytest.mark.parametrize(
    "box",
    [
        *(ib.Box(1e18, 2e18, step=1024.0), ib.Box(0, 1e6, step=1e-4)),
        *(ib.Box(1e15, 1e15 + 0.25), ib.Box(0, 1)),
    ],
)
def test_mechanisms_that_a_box_does_not_allow_are_left_out(box):
    change = float(box.widths[0]) * 0.6
    for guarantee in ({"epsilon": 0.5}, {"rho": 0.1}, {"rho": 1e-15}):
        best = ib.calibrate(box, change, **guarantee)
        assert best.domain == box
        for contender in ib.compare(box, change, **guarantee).contenders:
            assert contender.error.average_rmse > 0


def test_inside_has_a_low_error_for_a_small_sensitivity_too():
    """A table with no mass on the bounds, where the staircase is left out."""
    inside = ib.calibrate(ib.Box(0, 120), 120 / 600, epsilon=1.0, inside=True)
    best = ib.calibrate(ib.Box(0, 120), 120 / 600, epsilon=1.0)
    assert isinstance(inside, ib.Optimal)
    assert isinstance(best, ib.ClampedStaircase)
    assert inside.mse(60.0) < 1.01 * best.mse(60.0)


@pytest.mark.parametrize("epsilon", [1.0, 2.0, 5.0])
def test_a_table_that_is_not_tried_would_not_have_been_chosen(epsilon):
    best, table = (
        m.mse(np.linspace(0, 1, 4001)).mean()
        for m in (
            ib.calibrate(ib.Box(0, 1), 1 / 513, epsilon=epsilon),
            ib.Optimal(ib.Box(0, 1), 1 / 513, epsilon),
        )
    )
    assert best < table


def test_a_box_with_too_many_steps_for_a_table_has_no_optimal():
    best = ib.calibrate(ib.Box(0, 10_000, step=1), 1, epsilon=1.0)
    assert isinstance(best, ib.ClampedStaircase)


def test_the_bounded_gaussian_is_the_star_where_it_wins():
    fifty = ib.Box([0.0] * 50, [1.0] * 50)
    assert isinstance(ib.calibrate(*PAIR, epsilon=1.0), ib.BoundedGaussian)
    assert isinstance(ib.calibrate(fifty, 0.1, epsilon=1.0, delta=1e-6), ib.BoundedGaussian)
    assert isinstance(ib.calibrate(fifty, 0.1, rho=0.1, inside=True), ib.BoundedGaussian)


def test_an_age_is_released_with_less_than_a_quarter_of_the_error():
    box, error = ib.Box(0, 120), {"criterion": "average_rmse"}
    best = ib.calibrate(box, 2.5, epsilon=1.0, **error)
    gaussian = ib.BoundedGaussian.calibrated(box, 2.5, epsilon=1.0)
    assert best.mse(60.0) < gaussian.mse(60.0) / 16


def test_people_decide_by_the_error_of_their_mean():
    phones = (ib.Box(0, 200_000), 200_000)
    assert ib.calibrate(*phones, epsilon=1.0).objective == "average"
    assert ib.calibrate(*phones, epsilon=1.0, people=100_000).objective == "unbiased"
    many = ib.calibrate(*phones, epsilon=1.0, people=100_000, criterion="average_rmse")
    assert many.objective == "average"


def test_bad_arguments_are_named():
    box = ib.Box(0, 1)
    with pytest.raises(ArgumentTypeError, match=r"epsilon or rho must be given.*\nHint: for"):
        ib.calibrate(box, 1)
    with pytest.raises(ArgumentTypeError, match=r"got neither.*\nHint: .*delta goes with epsilon"):
        ib.calibrate(box, 1, delta=1e-6)
    with pytest.raises(ArgumentTypeError, match=r"but not both, got both\.$"):
        ib.calibrate(box, 1, epsilon=1.0, rho=0.1)
    with pytest.raises(ArgumentTypeError, match="inside must be True or False"):
        ib.calibrate(box, 1, epsilon=1.0, inside="no")
    with pytest.raises(ArgumentError, match="criterion must be one of"):
        ib.calibrate(box, 1, epsilon=1.0, criterion="beauty")
    with pytest.raises(ArgumentError, match="unless people is given"):
        ib.calibrate(box, 1, epsilon=1.0, criterion="mean_rmse")
    with pytest.raises(ArgumentTypeError, match="domain must be a Box"):
        ib.calibrate((0, 1), 1, epsilon=1.0)
    with pytest.raises(ArgumentError, match="widths between"):
        ib.calibrate(ib.Box(0, 1e-120), 1, epsilon=1.0)


@pytest.mark.parametrize("people", [100, 10**6])
@pytest.mark.parametrize(("fraction", "epsilon"), [(1, 0.1), (1, 3.0), (0.3, 0.5)])
def test_for_many_people_it_is_the_best_of_the_comparison(fraction, epsilon, people):
    box = ib.Box(0, 1)
    mechanism = ib.calibrate(box, fraction, epsilon=epsilon, people=people)
    best = ib.compare(box, fraction, epsilon=epsilon, people=people).best()
    assert mechanism == best.mechanism
