import copy
import math
import pickle
import sys
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest

from inbounds import Box
from inbounds.errors import ArgumentError, ArgumentTypeError, InBoundsError

BIGGEST = sys.float_info.max
SAMPLES = [
    Box(0, 120),
    Box(-1.5, 2.25, step=0.25),
    Box([0, 1], [10, 9]),
    Box([0, 1], [10, 9], step=[1, None]),
    Box([0], [1]),
]


@pytest.mark.parametrize(("lower", "upper"), [(0, 1), (-1e9, 1e-9), (1e9, 1e9 + 1e-6), (-3, -2)])
def test_an_interval_keeps_its_bounds_as_floats(lower: float, upper: float) -> None:
    box = Box(lower, upper)
    assert (box.lower, box.upper) == (float(lower), float(upper))
    assert type(box.lower) is type(box.upper) is float
    assert box.is_interval
    assert box.dimension == 1
    assert box.widths.tolist() == [upper - lower]
    assert box.steps == (None,)


def test_a_box_keeps_its_bounds_as_vectors() -> None:
    box = Box([0, 1, 2], (10, 9, 8))
    assert np.asarray(box.lower).tolist() == [0, 1, 2]
    assert np.asarray(box.upper).tolist() == [10, 9, 8]
    assert not box.is_interval
    assert box.dimension == 3
    assert box.widths.tolist() == [10, 8, 6]
    assert box.steps == (None, None, None)


def test_one_coordinate_in_a_list_is_a_box_and_not_an_interval() -> None:
    box = Box([0], [1])
    assert not box.is_interval
    assert box.dimension == 1
    assert box != Box(0, 1)


@pytest.mark.parametrize("box", [Box(0, [10, 9]), Box([0, 0], [10, 9])])
def test_a_number_beside_a_sequence_holds_for_every_coordinate(box: Box) -> None:
    assert box == Box([0.0, 0.0], np.array([10, 9]))
    assert Box([1, 2], 5) == Box([1, 2], [5, 5])


@pytest.mark.parametrize("name", ["lower", "upper"])
@pytest.mark.parametrize(
    ("bad", "error"),
    [
        (math.nan, ArgumentError),
        (math.inf, ArgumentError),
        (-math.inf, ArgumentError),
        (10**400, ArgumentError),
        ([], ArgumentError),
        ([[0.5]], ArgumentError),
        (np.ones((2, 2)), ArgumentError),
        ([0.5, math.nan], ArgumentError),
        ([0.5, math.inf], ArgumentError),
        ("0.5", ArgumentTypeError),
        (None, ArgumentTypeError),
        (True, ArgumentTypeError),
        (0.5j, ArgumentTypeError),
        ([0.5, None], ArgumentTypeError),
        ([0.5, [1.0]], ArgumentTypeError),
        (np.array([None], dtype=object), ArgumentTypeError),
        (np.ma.masked_array([0.5], mask=[True]), ArgumentTypeError),
    ],
    ids=repr,
)
def test_a_bad_bound_is_refused_by_name(name: str, bad: object, error: type[Exception]) -> None:
    bounds: dict[str, Any] = {"lower": 0.0, "upper": 1.0, name: bad}
    with pytest.raises(error, match=rf"^{name} must") as caught:
        Box(**bounds)
    assert isinstance(caught.value, InBoundsError)


@pytest.mark.parametrize(("lower", "upper"), [(1, 1), (2, 1), (0.0, -0.0), (5e-324, 0.0)])
def test_upper_must_be_above_lower(lower: float, upper: float) -> None:
    with pytest.raises(ArgumentError, match=r"^upper must be above lower, got lower="):
        Box(lower, upper)


@pytest.mark.parametrize("upper", [[1, 2], [1, 3], [9, 1]])
def test_upper_must_be_above_lower_in_every_coordinate(upper: list[float]) -> None:
    with pytest.raises(ArgumentError, match=r"^upper must be above lower in every coordinate, got"):
        Box([1, 2], upper)


@pytest.mark.parametrize(("lower", "upper"), [([0, 0], [1, 1, 1]), ([0], [1, 1])])
def test_bounds_must_have_equal_lengths(lower: list[float], upper: list[float]) -> None:
    with pytest.raises(ArgumentError, match=r"^upper must have as many coordinates as lower"):
        Box(lower, upper)


@pytest.mark.parametrize(("lower", "upper"), [(-1e308, 1e308), ([0, -1e308], [1, 1e308])])
def test_the_width_must_be_finite(lower: object, upper: object) -> None:
    with pytest.raises(ArgumentError, match=r"^upper must be close enough to lower"):
        Box(lower, upper)  # type: ignore[arg-type]


def test_the_widest_box_and_the_narrowest_are_allowed() -> None:
    assert Box(0, BIGGEST).widths.tolist() == [BIGGEST]
    assert Box(0, 5e-324).widths.tolist() == [5e-324]


@pytest.mark.parametrize("bad", [0, -1, -0.0, math.nan, math.inf, 10**400])
def test_a_step_must_be_a_positive_number(bad: float) -> None:
    for box in (lambda: Box(0, 1, step=bad), lambda: Box([0, 0], 1, step=[0.5, bad])):
        with pytest.raises(ArgumentError, match=r"^step must be"):
            box()


@pytest.mark.parametrize("bad", ["1", True, 1j, [None, "a"], [0.5, 1j], [0.5, [0.5]]], ids=repr)
def test_a_step_that_is_not_a_number_is_a_type_error(bad: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"^step must be"):
        Box([0, 0], [1, 1], step=bad)


@pytest.mark.parametrize("step", [1.5, 1.00001, 1e300, [0.5, 1.5]])
def test_a_step_must_fit_in_the_box(step: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^step must be at most upper - lower, got step="):
        Box([0, 0], [1, 1], step=step)


@pytest.mark.parametrize("step", [1e-17, 2.0**-53])
def test_a_step_must_not_divide_the_box_into_more_parts_than_doubles_count(step: float) -> None:
    with pytest.raises(
        ArgumentError, match=r"^step must divide the box into at most 2\*\*52 parts"
    ):
        Box(0, 1, step=step)
    assert Box(0, 1, step=2.0**-52).step == 2.0**-52


@pytest.mark.parametrize(
    ("upper", "step"), [(1e300, 1e-300), (BIGGEST, 1e-300), ([1.0, 1e300], [0.5, 5e-324])]
)
def test_a_step_too_small_by_more_than_doubles_hold_is_refused_without_a_warning(
    upper: Any, step: Any
) -> None:
    with pytest.raises(ArgumentError, match=r"^step must divide the box"):
        Box(0, upper, step=step)


def test_the_widest_box_can_have_a_step() -> None:
    assert Box(0, BIGGEST, step=1e300).step == 1e300


@pytest.mark.parametrize("step", [[0.5], [0.5, 0.5, 0.5], [], [[0.5, 0.5]], np.ones((2, 2))])
def test_steps_must_be_one_per_coordinate(step: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^step must be one number, or one per coordinate"):
        Box([0, 0], [1, 1], step=step)


def test_an_interval_has_one_step_and_no_list_of_steps() -> None:
    with pytest.raises(ArgumentError, match=r"^step must be one number"):
        Box(0, 1, step=[0.5])  # type: ignore[arg-type]


def test_a_step_off_by_rounding_is_allowed() -> None:
    assert Box(0, 1, step=1 + 1e-10).step == 1 + 1e-10


def test_one_step_holds_for_every_coordinate() -> None:
    assert Box([0, 0], [1, 2], step=0.5).steps == (0.5, 0.5)
    assert Box([0, 0], [1, 2], step=0.5) == Box([0, 0], [1, 2], step=[0.5, 0.5])


def test_steps_may_be_missing_for_some_coordinates() -> None:
    assert Box([0, 0], [1, 2], step=[None, 0.5]).steps == (None, 0.5)
    assert Box([0, 0], [1, 2], step=(1, 2)).steps == (1.0, 2.0)
    assert Box([0, 0], [1, 2], step=np.array([0.25, 0.5])).steps == (0.25, 0.5)  # type: ignore[arg-type]
    assert Box(0, 1, step=np.array(0.5)).steps == (0.5,)  # type: ignore[arg-type]


def test_a_step_is_given_by_name_only() -> None:
    with pytest.raises(TypeError):
        Box(0, 1, 0.5)  # type: ignore[misc]


def test_nothing_can_be_changed() -> None:
    box = Box([0, 1], [10, 9], step=[1, None])
    for name in ("lower", "upper", "step"):
        with pytest.raises(FrozenInstanceError):
            setattr(box, name, 5.0)
        with pytest.raises(FrozenInstanceError):
            delattr(box, name)
    with pytest.raises((AttributeError, TypeError)):
        box.colour = "red"  # type: ignore[attr-defined]
    for side in (box.lower, box.upper):
        assert isinstance(side, np.ndarray)
        with pytest.raises(ValueError, match="read-only"):
            side[0] = 5.0


@pytest.mark.parametrize("upper", [np.array([10.0, 9.0]), 10.0])
def test_later_changes_of_the_callers_arrays_do_not_matter(upper: Any) -> None:
    lower, step = np.array([0.0, 1.0]), np.array([1.0, 2.0])
    box = Box(lower, upper, step=step)  # type: ignore[arg-type]
    before, digest = copy.deepcopy(box), hash(box)
    lower[:] = step[:] = 7.0
    if isinstance(upper, np.ndarray):
        upper[:] = 8.0
    assert box == before
    assert hash(box) == digest


@pytest.mark.parametrize("box", SAMPLES, ids=repr)
def test_copies_and_pickles_are_equal(box: Box) -> None:
    for twin in (copy.copy(box), copy.deepcopy(box), pickle.loads(pickle.dumps(box))):
        assert twin == box
        assert hash(twin) == hash(box)
        assert repr(twin) == repr(box)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda box: pickle.loads(pickle.dumps(box))])
def test_the_bounds_of_a_copy_are_read_only_too(copied: Any) -> None:
    twin = copied(Box([0, 1], [10, 9]))
    assert not twin.lower.flags.writeable
    assert not twin.upper.flags.writeable


def test_equality_is_that_of_bounds_shape_and_steps() -> None:
    assert len(set(SAMPLES)) == len(SAMPLES)
    assert Box(0, 1) == Box(-0.0, 1.0)
    assert hash(Box(0, 1)) == hash(Box(-0.0, 1.0))
    assert Box([0, -0.0], 1) == Box([-0.0, 0], 1)
    assert hash(Box([0, -0.0], 1)) == hash(Box([-0.0, 0], 1))
    assert Box(0, 1) != Box(0, 2)
    assert Box(0, 1) != Box(0.5, 1)
    assert Box(0, 1) != Box(0, 1, step=1)
    assert Box(0, 1) != (0, 1)
    assert Box([0, 0], 1) != Box([0, 0, 0], 1)
    assert Box([0, 0], 1, step=[None, 1]) != Box([0, 0], 1, step=[1, None])


@pytest.mark.parametrize(
    ("box", "text"),
    [
        (Box(0, 120), "Box(0, 120)"),
        (Box(-0.5, 1e20), "Box(-0.5, 1e+20)"),
        (Box(0, 120, step=1), "Box(0, 120, step=1)"),
        (Box([0, 1], [10, 9.5]), "Box([0, 1], [10, 9.5])"),
        (Box([0, 1], [10, 9], step=[0.5, None]), "Box([0, 1], [10, 9], step=[0.5, None])"),
        (Box(0, np.arange(1.0, 101)), "Box([0, 0, 0, ..., 0], [1, 2, 3, ..., 100])"),
    ],
)
def test_repr_is_what_a_person_would_write(box: Box, text: str) -> None:
    assert repr(box) == text


@pytest.mark.parametrize("box", SAMPLES, ids=repr)
def test_repr_of_a_small_box_makes_the_box_again(box: Box) -> None:
    assert eval(repr(box), {"Box": Box, "None": None}) == box


def test_values_are_moved_to_the_nearest_point() -> None:
    assert Box(0, 10).clamp(np.array([-5.0, 0.0, 3.5, 10.0, 1e300])).tolist() == [0, 0, 3.5, 10, 10]
    box = Box([0, 1], [10, 9])
    assert box.clamp(np.array([[-1.0, 0.0], [11.0, 5.0]])).tolist() == [[0, 1], [10, 5]]


def test_clamping_leaves_the_callers_array_alone() -> None:
    values = np.array([-5.0, 20.0])
    clamped = Box(0, 10).clamp(values)
    assert values.tolist() == [-5.0, 20.0]
    assert not np.shares_memory(values, clamped)


@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 3), (2, 1), (0,), (2, 0)])
def test_a_box_wants_a_last_axis_of_its_dimension(shape: tuple[int, ...]) -> None:
    message = r"^output must have a last axis of length 2, .* got shape \("
    with pytest.raises(ArgumentError, match=message):
        Box([0, 1], [10, 9]).check_shape(np.zeros(shape), "output")
    with pytest.raises(ArgumentError, match=r"^values must have a last axis of length 2"):
        Box([0, 1], [10, 9]).clamp(np.zeros(shape))


@pytest.mark.parametrize("shape", [(2,), (3, 2), (2, 2, 2), (0, 2)])
def test_a_box_takes_any_leading_axes(shape: tuple[int, ...]) -> None:
    assert Box([0, 1], [10, 9]).clamp(np.full(shape, 4.0)).shape == shape


@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 3), (0,)])
def test_an_interval_takes_any_shape(shape: tuple[int, ...]) -> None:
    assert Box(0, 1).clamp(np.full(shape, 4.0)).shape == shape
