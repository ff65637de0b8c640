"""The comparison: same guarantee for all, right order, honest advice."""

import io
import math
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import inbounds as ib
from inbounds.analysis.compare import CRITERIA, compare
from inbounds.errors import ArgumentError, ArgumentTypeError

NARROW = (ib.Box([0, 1], [10, 9]), ib.PerCoordinate([4, 2]))
SETTINGS = [
    (ib.Box(0, 120), 2.5, 1.0, 0.0),
    (ib.Box(0, 120), 2.5, 1.0, 1e-6),
    (ib.Box(0, 1), 1, 0.1, 0.0),
    (ib.Box(0, 1), 1, 3.0, 1e-4),
    (*NARROW, 1.0, 0.0),
    (*NARROW, 1.0, 1e-6),
    (ib.Box([0] * 20, [1] * 20), ib.L1(0.5), 2.0, 1e-9),
]


@pytest.mark.parametrize(("box", "sensitivity", "epsilon", "delta"), SETTINGS)
def test_every_contender_gives_the_guarantee(
    box: ib.Box, sensitivity: object, epsilon: float, delta: float
) -> None:
    result = compare(box, sensitivity, epsilon=epsilon, delta=delta)  # type: ignore[arg-type]
    for contender in result.contenders:
        assert contender.mechanism.delta(epsilon) <= delta
        assert contender.epsilon <= epsilon * (1 + 1e-6)
        if delta == 0:
            assert contender.mechanism.epsilon <= epsilon
    errors = [contender.error.average_rmse for contender in result.contenders]
    assert errors == sorted(errors)
    names = {contender.name for contender in result.contenders}
    assert {"BoundedGaussian", "BoundedLaplace", "ClampedLaplace"} <= names
    assert ("ClampedGaussian" in names) == (delta > 0 or box.dimension == 1)
    assert ("BoundedGaussian (Liu)" in names) == (sensitivity is not SETTINGS[-1][1])


def test_the_staircase_is_recommended_where_a_neighbour_changes_little() -> None:
    result = compare(ib.Box(0, 120), 0.12, epsilon=3.0)
    assert result.best().name == "ClampedStaircase"
    assert result.best("bound_mass").error.bound_mass == 0
    assert "Lowest error: ClampedStaircase" in result.advice()
    assert f"to avoid that, use {result.best('bound_mass').name} " in result.advice()


@pytest.mark.parametrize(
    ("box", "sensitivity", "epsilon", "most"),
    [
        (ib.Box(0, 120), 12, 1.0, 1.0),
        (ib.Box(0, 120), 120, 0.5, 1.5),
        (ib.Box(-3, 5), 2, 3.0, 1.5),
        (ib.Box(0, 20, step=1), 4, 1.0, 8.0),  # outputs on the steps; the limit allows others
    ],
)
def test_no_error_is_below_the_limit_and_the_best_is_close_to_it(
    box: ib.Box, sensitivity: float, epsilon: float, most: float
) -> None:
    result = compare(box, sensitivity, epsilon=epsilon)
    *rows, limit = result.rows()
    assert limit["mechanism"] == "limit"
    assert limit["average_rmse"] == result.limit.rmse[0]  # type: ignore[union-attr]
    for row in rows:
        assert row["mse_above_limit_percent"] > -1e-6
        assert row["read_mse_above_limit_percent"] > -1e-6
        assert row["read_mse_above_limit_percent"] <= row["mse_above_limit_percent"] + 0.001
    assert rows[0]["mechanism"] == "Optimal"
    assert rows[0]["mse_above_limit_percent"] < most
    assert "above limit" in str(result)
    assert "No private function of the value has an RMSE below" in result.advice()


@pytest.mark.parametrize(
    ("box", "options", "why"),
    [
        (ib.Box(0, 1), {"epsilon": 1.0, "delta": 1e-6}, "(epsilon, delta)"),
        (ib.Box(0, 1), {"rho": 0.1}, "zCDP"),
        (ib.Box(0, 1), {"epsilon": 1.0, "people": 10}, "the mean of many people"),
        (NARROW[0], {"epsilon": 1.0}, "several coordinates"),
        (ib.Box(0, 1.0000000005, step=0.25), {"epsilon": 1.0}, "this step"),
    ],
)
def test_where_no_limit_is_known_none_is_shown_and_it_says_why(
    box: ib.Box, options: dict[str, float], why: str
) -> None:
    result = compare(box, 0.5, **options)  # type: ignore[arg-type]
    assert result.limit is None
    assert "mse_above_limit_percent" not in result.rows()[0]
    assert "limit" not in {row["mechanism"] for row in result.rows()}
    assert result.why_no_limit is not None
    assert f"No certified limit is known for {why}" in result.why_no_limit
    assert (result.why_no_limit in result.advice()) == any(box.steps)


def test_counts_read_best_are_at_the_limit() -> None:
    """The posterior mean of a geometric output, on steps that are decimals."""
    result = compare(ib.Box(0, 1, step=0.1), 0.1, epsilon=1.0)
    assert result.why_no_limit is None
    row = next(row for row in result.rows() if row["mechanism"] == "ClampedStaircase")
    assert row["read_mse_above_limit_percent"] < 0.1


@pytest.mark.parametrize(
    ("box", "sensitivity", "epsilon"),
    [
        (ib.Box(0, 120), 30, 1.0),
        (ib.Box(-1, 1), 2, 3.0),
        (ib.Box(0, 9, step=1), 2, 2.0),
        (ib.Box(0, 400, step=1), 1, 1.0),
    ],
)
def test_the_error_of_the_best_reading_is_the_one_that_denoise_has(
    box: ib.Box, sensitivity: float, epsilon: float
) -> None:
    """False alarm: 1e-5 for each mechanism; a mean of 10⁵ squares within 4.5 standard errors.

    Power: an error that is stated a tenth too low or too high is noticed.
    """
    rng = np.random.default_rng(8)
    values = rng.uniform(float(box.lower), float(box.upper), 100_000)
    if box.step is not None:
        values = rng.integers(0, int(box.widths[0]) + 1, 100_000).astype(float)
    for contender in compare(box, sensitivity, epsilon=epsilon).contenders:
        mechanism, stated = contender.mechanism, contender.read_rmse
        assert stated is not None
        squares = (mechanism.denoise(mechanism.release(values)) - values) ** 2
        error = 4.5 * squares.std() / math.sqrt(squares.size)
        assert abs(squares.mean() - stated**2) < error + 0.002 * stated**2
        assert not abs(squares.mean() - 0.81 * stated**2) < error
        assert not abs(squares.mean() - 1.21 * stated**2) < error


@pytest.mark.parametrize(
    ("box", "sensitivity", "epsilon"),
    [
        (ib.Box(0, 2000, step=1), 1, 3.0),  # rounding decides
        (ib.Box(0, 5000, step=1), 2.5, 6.0),
        (ib.Box(0, 3000, step=0.5), 300, 1.0),  # rounding hardly matters
    ],
)
def test_on_many_steps_errors_are_those_of_rounded_outputs(
    box: ib.Box, sensitivity: float, epsilon: float
) -> None:
    """False alarm: 1e-5 for each mechanism; a mean of 10⁵ squares within 4.5 standard errors."""
    step = float(np.ravel(box.steps)[0])
    values = np.random.default_rng(9).integers(0, round(box.widths[0] / step) + 1, 100_000) * step
    for contender in compare(box, sensitivity, epsilon=epsilon).contenders:
        squares = (contender.mechanism.release(values) - values) ** 2
        error = 4.5 * squares.std() / math.sqrt(squares.size)
        assert abs(squares.mean() - contender.error.average_rmse**2) < error


def test_on_steps_errors_are_those_of_rounded_outputs() -> None:
    """False alarm: 1e-5 each; a mean of 10⁵ squared errors is within 4.5 standard errors."""
    result = compare(ib.Box(0, 4, step=1), 2, epsilon=2.0)
    steps = np.arange(5.0)
    for contender in result.contenders:
        outputs = contender.mechanism.release(np.repeat(steps[:, None], 20_000, axis=1))
        squares = (outputs - steps[:, None]) ** 2
        error = 4.5 * squares.std() / math.sqrt(squares.size)
        assert abs(squares.mean() - contender.error.average_rmse**2) < error + 1e-9


def test_the_gaussian_is_recommended_on_the_example_of_the_paper() -> None:
    result = compare(*NARROW, epsilon=1.0)
    assert result.best().name == "BoundedGaussian"
    assert result["BoundedGaussian"].variance_reduction == pytest.approx(75.97, abs=0.01)
    assert result["BoundedGaussian (paper)"].epsilon == pytest.approx(0.3496, abs=1e-4)


def test_a_wrong_call_of_best_says_what_to_write() -> None:
    result: Any = compare(ib.Box(0, 1), 1, epsilon=1.0)
    with pytest.raises(ArgumentTypeError, match=r'best\("bound_mass"\)'):
        result.best(inside=True)
    with pytest.raises(ArgumentTypeError, match="did you mean criterion"):
        result.best(criterium="worst_rmse")


def test_each_criterion_has_its_own_best() -> None:
    result = compare(ib.Box(0, 1), 0.3, epsilon=1.0, delta=1e-6, people=50)
    for criterion in CRITERIA:
        least = min(getattr(c.error, criterion) for c in result.contenders)
        assert getattr(result.best(criterion).error, criterion) == least
    with pytest.raises(ArgumentError, match="criterion must be"):
        result.best("beauty")  # type: ignore[arg-type]


def test_reductions_are_percentages_of_squared_error() -> None:
    result = compare(ib.Box(0, 1), 0.3, epsilon=1.0)
    first, second = result.contenders[:2]
    share = (first.error.average_rmse / second.error.average_rmse) ** 2
    assert result.reductions()[first.name][second.name] == pytest.approx(100 * (1 - share))
    assert result.reductions()[first.name][first.name] == 0


def test_the_table_and_the_frame_show_every_contender() -> None:
    result = compare(ib.Box(0, 1), 0.3, epsilon=1.0, delta=1e-6)
    text = io.StringIO()
    Console(file=text, width=140).print(result)
    frame = result.to_frame()
    for contender in result.contenders:
        assert contender.name in text.getvalue()
        assert contender.name in str(result)
        assert frame.loc[contender.name, "average_rmse"] == contender.error.average_rmse
    assert "\u2026" not in text.getvalue()
    assert result.contenders[0].name in repr(result)
    with pytest.raises(KeyError, match="is not among"):
        result["Uniform"]


def test_bad_arguments_are_named() -> None:
    box = ib.Box(0, 1)
    with pytest.raises(ArgumentError, match="epsilon must be positive"):
        compare(box, 1, epsilon=0)
    with pytest.raises(ArgumentError, match="delta must be below 1"):
        compare(box, 1, epsilon=1, delta=1)
    with pytest.raises(ArgumentError, match="delta must be"):
        compare(box, 1, epsilon=1, delta=-1e-9)
    with pytest.raises(ArgumentTypeError, match="domain must be a Box"):
        compare((0, 1), 1, epsilon=1)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="sensitivity must"):
        compare(box, math.inf, epsilon=1)


def test_scales_per_coordinate_are_shown() -> None:
    assert np.ndim(compare(*NARROW, epsilon=1.0)["BoundedGaussian"].mechanism.scale) == 0


@pytest.mark.parametrize("rho", [1e-3, 0.1, 1.9, 2.5, 50.0])
@pytest.mark.parametrize("box", [ib.Box(0, 9), NARROW[0]], ids=repr)
def test_every_contender_gives_rho(box: ib.Box, rho: float) -> None:
    result = compare(box, 2.5, rho=rho)
    assert len(result.contenders) == (8 if box.is_interval else 4)
    for contender in result.contenders:
        assert contender.mechanism.rho <= rho
        assert contender.epsilon == contender.mechanism.epsilon
    assert result.epsilon is None
    assert f"rho={rho:g}" in repr(result)


def test_the_middle_of_the_box_is_a_row_in_its_place() -> None:
    result = compare(ib.Box(0, 200_000), 200_000, epsilon=0.1)
    names = [row["mechanism"] for row in result.rows()]
    assert names[:3] == ["Optimal", "Optimal (worst)", "middle of the box"]
    assert names[-1] == "limit"
    assert round(result.rows()[2]["average_rmse"]) == 57_735
    assert round(result.rows()[0]["average_rmse"], -2) == 57_700
    assert not result.beats_the_middle
    assert "beats always publishing the middle of the box" in result.advice()
    assert "middle of the box" in str(result)
    useful = compare(ib.Box(0, 200_000), 20_000, epsilon=3.0)
    assert useful.rows()[-2]["mechanism"] == "middle of the box"  # Window hides any change
    assert useful.beats_the_middle
    assert "middle of the box" not in useful.advice()


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1, 1.5, 2, 2.5, 3])
def test_the_middle_beats_the_bounded_gaussian_on_the_example_of_the_paper(epsilon: float) -> None:
    result = compare(*NARROW, epsilon=epsilon)
    assert result["BoundedGaussian"].error.average_rmse > result.baseline.average_rmse
    assert result.beats_the_middle == (epsilon > 2)  # by ClampedLaplace


def test_the_baseline_is_the_error_of_a_constant() -> None:
    values = np.random.default_rng(3).uniform([0, 1], [10, 9], size=(400_000, 2))
    squares = (values - [5, 5]) ** 2
    baseline = compare(*NARROW, epsilon=1.0).baseline
    assert baseline.average_rmse == pytest.approx(math.sqrt(squares.mean()), rel=5e-3)
    assert baseline.worst_rmse == pytest.approx(math.sqrt((25 + 16) / 2))
    assert (baseline.worst_bias, baseline.bound_mass) == (5, 0)


def test_many_people_are_ranked_by_the_error_of_their_mean() -> None:
    phones = compare(ib.Box(0, 200_000), 200_000, epsilon=1.0, people=100_000)
    one = compare(ib.Box(0, 200_000), 200_000, epsilon=1.0)
    assert [c.name for c in phones.contenders[:3]] == [
        *("Optimal (unbiased)", "Window", "ClampedStaircase"),
    ]
    assert one.best().name == phones.best("average_rmse").name == "Optimal"
    errors = {c.name: c.error.mean_rmse for c in phones.contenders}
    assert 600 < errors["ClampedLaplace"] < 800
    assert 1000 < errors["BoundedGaussian"] < 1250
    assert phones.beats_the_middle
    assert "of the mean of 100,000 people" in phones.advice()
    assert "RMSE of the" in str(phones)
    assert phones.to_frame().loc["ClampedLaplace", "mean_rmse"] == errors["ClampedLaplace"]


def test_people_are_counted_on_an_interval_only() -> None:
    with pytest.raises(ArgumentError, match=r"people must be left out.*\nHint: compare one"):
        compare(*NARROW, epsilon=1.0, people=10)
    for wrong in (0, -3, 1.5, 10**13):
        with pytest.raises(ArgumentError, match="people must be"):
            compare(ib.Box(0, 1), 1, epsilon=1.0, people=wrong)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="unless people is given"):
        compare(ib.Box(0, 1), 1, epsilon=1.0).best("mean_rmse")


def test_an_error_of_nothing_is_shown_and_compared() -> None:
    """So little noise that every output is rounded to the value: no error at all."""
    result = compare(ib.Box(0, 1, step=1), 0.001, epsilon=1.0, people=1000)
    assert result.contenders[0].error.mean_rmse == 0
    assert "0.0 %" in str(result)
    assert result.to_frame()["mse_above_best_percent"].iloc[0] == 0
    assert "<table" in result._repr_html_()
    assert result.beats_the_middle


def test_on_steps_the_middle_is_judged_by_the_same_values() -> None:
    yes_or_no = compare(ib.Box(0, 1, step=1), 1, epsilon=1.0, people=5)
    assert yes_or_no.baseline.mean_rmse == 0.5
    assert yes_or_no.beats_the_middle
    assert "beats" not in yes_or_no.advice()


def test_next_to_no_privacy_budget_beats_nothing() -> None:
    assert not compare(ib.Box(0, 1), 1, epsilon=1e-9, people=1).beats_the_middle


def test_errors_that_are_beyond_all_doubles_apart_are_infinitely_many_percent_apart() -> None:
    """The limit at epsilon 700 is below 1e-150."""
    rows = compare(ib.Box(0, 120), 2.5, epsilon=700.0).rows()
    assert rows[-2]["mse_above_limit_percent"] == math.inf


def test_an_epsilon_at_which_outputs_tell_nothing_has_no_unbiased_table() -> None:
    setting: Any = {"epsilon": 1e-60}
    with pytest.raises(ArgumentError, match="epsilon must be larger for an unbiased reading"):
        ib.Optimal(ib.Box(0, 9), 1, objective="unbiased", **setting)
    assert ib.calibrate(ib.Box(0, 9), 1, people=10**12, **setting).epsilon <= 1e-60
