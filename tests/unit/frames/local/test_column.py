import pickle
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, chisquare

import inbounds as ib
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.frames.local.column import Nulls, PrivateColumn, draw_uniform, locate, number_type
from inbounds.sampling.entropy import SeededEntropy
from inbounds.sampling.grid import Grid

FINE = ib.BoundedGaussian(ib.Box(0, 1), 1, sigma=1000.0)  # 2²² outputs, all about equally likely
WHOLE = ib.BoundedGaussian.calibrated(ib.Box(0, 120, step=1), 120, epsilon=1.0)


def column(mechanism: Any = FINE, nulls: Nulls = "error") -> PrivateColumn:
    return PrivateColumn("age", mechanism, nulls)


# Which mechanisms are accepted


@pytest.mark.parametrize("mechanism", [None, 1.0, "BoundedGaussian", ib.BoundedGaussian])
def test_only_mechanisms_are_accepted(mechanism: Any) -> None:
    message = r"^mechanisms must give column 'age' an inbounds mechanism, got \w+\.$"
    with pytest.raises(ArgumentTypeError, match=message) as caught:
        column(mechanism)
    assert caught.value.argument == "mechanisms"


def test_a_joint_box_is_refused() -> None:
    joint = ib.BoundedGaussian(ib.Box([0, 0], [1, 1]), 2, sigma=1.0)
    with pytest.raises(ArgumentError, match=r"column 'age' must be on an interval"):
        column(joint)
    with pytest.raises(ArgumentError, match=r"must be on an interval"):
        column(ib.BoundedGaussian(ib.Box([0], [1]), 1, sigma=1.0))


@pytest.mark.parametrize("sensitivity", [119.999, 2.5, ib.L1(1), ib.L2(500) & ib.LInf(100)])
def test_a_sensitivity_below_the_width_is_refused_with_a_remedy(sensitivity: Any) -> None:
    weak = ib.BoundedGaussian(ib.Box(0, 120), sensitivity, sigma=50.0)
    with pytest.raises(ArgumentError, match=r"column 'age' must hide any change") as caught:
        column(weak)
    assert "Hint: use BoundedGaussian.calibrated(Box(0, 120), 120, epsilon=...)" in str(
        caught.value
    )


@pytest.mark.parametrize("sensitivity", [120, 1e9, ib.L1(120), ib.PerCoordinate(200)])
def test_a_sensitivity_of_the_width_or_more_is_enough(sensitivity: Any) -> None:
    assert column(ib.BoundedLaplace(ib.Box(0, 120), sensitivity, scale=50.0)).name == "age"


def test_a_copy_sent_to_another_process_works() -> None:
    copy = pickle.loads(pickle.dumps(column(WHOLE)))
    assert 0 <= copy.release(np.array([41])).item() <= 120


# Types


@pytest.mark.parametrize("kind", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f8"])
def test_whole_outputs_keep_integers_and_doubles_as_they_are(kind: str) -> None:
    outputs = column(WHOLE).release(np.array([3, 41, 120], kind))
    assert outputs.dtype == np.dtype(kind)
    assert ((outputs >= 0) & (outputs <= 120) & (outputs == np.round(outputs))).all()


@pytest.mark.parametrize("kind", ["i1", "u8", "f2", "f4", "f8"])
def test_fine_outputs_are_doubles(kind: str) -> None:
    outputs = column().release(np.zeros(50, kind))
    assert outputs.dtype == np.float64
    assert ((outputs >= 0) & (outputs <= 1)).all()
    assert np.unique(outputs).size > 10


@pytest.mark.parametrize(
    ("box", "kind"),
    [
        (ib.Box(0, 128, step=1), "i1"),
        (ib.Box(-1, 100, step=1), "u1"),
        (ib.Box(0, 70_000, step=10), "i2"),
        (ib.Box(-200, 100, step=1), "i1"),
    ],
)
def test_a_type_too_narrow_for_the_outputs_is_refused(box: ib.Box, kind: str) -> None:
    mechanism = ib.BoundedGaussian(box, 1e6, sigma=100.0)
    with pytest.raises(ArgumentError, match=r"'age' must have a type that can hold every output"):
        column(mechanism).release(np.zeros(3, kind))


def test_the_last_step_decides_whether_a_type_is_wide_enough() -> None:
    mechanism = ib.BoundedGaussian(ib.Box(0, 130, step=100), 130, sigma=100.0)
    assert column(mechanism).release(np.zeros(3, np.int8)).dtype == np.int8


def test_numbers_that_a_double_cannot_represent_are_released() -> None:
    outputs = column(WHOLE).release(np.array([2**64 - 1, 0], np.uint64))
    assert (outputs <= 120).all()


def test_no_values_have_no_outputs() -> None:
    assert column(WHOLE).release(np.empty(0, np.int16)).dtype == np.int16
    assert column().release(np.empty(0, np.int16)).size == 0


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_refused(bad: float) -> None:
    with pytest.raises(ArgumentError, match=r"^column 'age' must be finite") as caught:
        column().release(np.array([0.123456, bad]))
    assert "0.123456" not in str(caught.value)
    assert caught.value.argument == "column 'age'"


# Nulls


def test_a_null_is_refused_by_default_without_its_place() -> None:
    with pytest.raises(ArgumentError, match=r"^column 'age' must have no nulls\.\nHint") as caught:
        column().release(np.array([0.5, 777.0]), np.array([False, True]))
    assert "777" not in str(caught.value)


@pytest.mark.parametrize("nulls", ["error", "keep", "uniform"])
def test_a_mask_without_nulls_changes_nothing(nulls: Nulls) -> None:
    assert column(nulls=nulls).release(np.zeros(3), np.zeros(3, bool)).size == 3


@pytest.mark.parametrize("nulls", ["keep", "uniform"])
def test_values_at_the_places_of_nulls_are_never_read(nulls: Nulls) -> None:
    missing = np.array([False, True, True])
    assert np.isfinite(column(nulls=nulls).release(np.array([0.5, np.nan, np.inf]), missing)).all()


def test_a_null_is_released_as_if_a_uniform_value_had_been_reported() -> None:
    """False alarm 1e-6. The distribution is a mixture; replacing nulls by 0 or 1 is detected."""
    sharp = ib.BoundedGaussian(ib.Box(0, 3, step=1), 3, sigma=0.3)
    count = 40_000
    missing = np.ones(count, bool)
    outputs = column(sharp, "uniform").release(np.zeros(count, int), missing)
    expected = np.zeros(4)
    for value in range(4):
        ends = np.asarray(sharp.cdf(np.array([0.5, 1.5, 2.5]), float(value)))
        expected += np.diff([0.0, *ends, 1.0]) / 4 * count
    assert chisquare(np.bincount(outputs, minlength=4), expected).pvalue > 1e-6
    for wrong in (0, 1):
        counts = np.bincount(sharp.release(np.full(count, wrong)), minlength=4)
        assert chisquare(counts, expected).pvalue < 1e-6


@pytest.mark.parametrize("points", [1, 2, 4, 6, 255, 256])
def test_uniform_points_are_equally_likely(points: int) -> None:
    """No false alarm: the seed is fixed. Leaving out the last point is detected."""
    grid = Grid.fit(0.0, float(points), 1.0, scale=1.0)
    drawn = draw_uniform(grid, 50_000, SeededEntropy(1)).astype(int)
    counts = np.bincount(drawn, minlength=points + 1)
    assert counts.size == points + 1
    assert chisquare(counts).pvalue > 1e-6
    without_last = np.bincount(drawn[drawn < points], minlength=points + 1)
    assert binom.cdf(0, 50_000, 1 / (points + 1)) < 1e-6
    assert chisquare(without_last).pvalue < 1e-6


def test_uniform_points_reach_both_bounds_and_stay_between() -> None:
    grid = Grid.fit(-0.1, 0.3, None, scale=0.4)
    drawn = draw_uniform(grid, 10_000)
    assert drawn.size == 10_000
    assert -0.1 <= drawn.min() < -0.09
    assert 0.29 < drawn.max() <= 0.3
    assert draw_uniform(grid, 0).size == 0


# Names


def test_columns_are_found_by_name_in_any_order() -> None:
    age, pay = column(), PrivateColumn("pay", FINE, "error")
    assert locate([pay, age], ["age", "town", "pay"]) == {2: pay, 0: age}


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "frame has no column 'age'."),
        (["Age"], "frame has no column 'age'.\nHint: did you mean Age?"),
        (["town"], "frame has no column 'age'."),
        (["age", "town", "age"], "frame has 2 columns named 'age'."),
    ],
)
def test_a_column_that_the_frame_does_not_have_exactly_once_is_refused(
    names: list[str], message: str
) -> None:
    with pytest.raises(ArgumentError) as caught:
        locate([column()], names)
    assert (str(caught.value), caught.value.argument) == (message, "frame")


def test_a_type_that_holds_no_numbers_is_refused_by_name() -> None:
    with pytest.raises(ArgumentTypeError, match=r"'age' must hold integers or floats .* got text"):
        number_type(column(), "text", {"long": "int64"})
