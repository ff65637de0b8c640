import copy
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

import inbounds as ib
from inbounds.queries import Query, stack

SECRET = 41.375
AGE = Query("age", SECRET, ib.Box(0, 120, step=1), 2.5)
RATE = Query("rate", 0.25, ib.Box(0, 1), ib.PerCoordinate(0.5))
JOINT = Query(("x", "y"), [1.0, 2.0], ib.Box([0, 0], [3, 4]), ib.L2(1) & ib.PerCoordinate([2, 0.5]))


def test_a_query_keeps_what_a_mechanism_needs() -> None:
    assert AGE.name == "age"
    assert AGE.value == SECRET
    assert type(Query("age", 41, ib.Box(0, 120), 1).value) is float
    assert AGE.box == ib.Box(0, 120, step=1)
    assert AGE.sensitivity == ib.L2(2.5)


@pytest.mark.parametrize("show", [repr, str, "{}".format])
def test_the_private_value_is_never_shown(show: object) -> None:
    assert callable(show)
    assert show(AGE) == "Query('age', Box(0, 120, step=1), L2(2.5))"
    assert str(SECRET) not in show(stack([AGE, RATE]))


def test_a_query_is_frozen_and_so_is_its_vector() -> None:
    with pytest.raises(FrozenInstanceError):
        AGE.value = 3.0  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        JOINT.value[0] = 3.0  # type: ignore[index]


@pytest.mark.parametrize(
    "copier", [copy.copy, copy.deepcopy, lambda q: pickle.loads(pickle.dumps(q))]
)
def test_copies_are_the_same_query(copier: object) -> None:
    assert callable(copier)
    twin = copier(JOINT)
    assert twin.name == JOINT.name
    assert np.array_equal(twin.value, JOINT.value)
    assert twin.box == JOINT.box
    assert repr(twin) == repr(JOINT)


@pytest.mark.parametrize(
    ("value", "box", "sensitivity", "error", "word"),
    [
        ([SECRET, 1.0], ib.Box(0, 120), 1, ib.ArgumentError, "value"),
        (SECRET, ib.Box([0, 0], [1, 1]), 1, ib.ArgumentError, "value"),
        ([SECRET], ib.Box([0, 0], [1, 1]), 1, ib.ArgumentError, "value"),
        (float("nan"), ib.Box(0, 120), 1, ib.ArgumentError, "value"),
        (str(SECRET), ib.Box(0, 120), 1, ib.ArgumentTypeError, "value"),
        (SECRET, (0, 120), 1, ib.ArgumentTypeError, "box"),
        (SECRET, ib.Box(0, 120), -1, ib.ArgumentError, "sensitivity"),
        (SECRET, ib.Box(0, 120), [1], ib.ArgumentTypeError, "sensitivity"),
        (SECRET, ib.Box(0, 120), ib.PerCoordinate([1, 2]), ib.ArgumentError, "sensitivity"),
    ],
)
def test_a_query_that_does_not_fit_is_refused_without_its_value(
    value: object, box: object, sensitivity: object, error: type[Exception], word: str
) -> None:
    with pytest.raises(error, match=f"^{word} must") as caught:
        Query("age", value, box, sensitivity)  # type: ignore[arg-type]
    assert str(SECRET) not in str(caught.value)


def test_stacking_concatenates_names_values_boxes_and_bounds() -> None:
    joint = stack([AGE, RATE])
    assert joint.name == ("age", "rate")
    assert np.array_equal(joint.value, [SECRET, 0.25])
    assert joint.box == ib.Box([0, 0], [120, 1], step=[1, None])
    assert joint.sensitivity == ib.PerCoordinate([2.5, 0.5])


def test_stacks_stack_and_a_norm_bounds_each_coordinate() -> None:
    joint = stack([RATE, stack([JOINT, RATE])])
    assert joint.name == ("rate", "x", "y", "rate")
    assert joint.box == ib.Box(0, [1, 3, 4, 1])
    assert joint.sensitivity == ib.PerCoordinate([0.5, 1, 0.5, 0.5])


def test_one_query_stacks_to_a_box_of_one_coordinate() -> None:
    joint = stack([RATE])
    assert joint.box == ib.Box([0], [1])
    assert joint.name == ("rate",)


def test_a_stack_is_released_as_one_output() -> None:
    joint = stack([AGE, RATE])
    m = ib.BoundedGaussian.calibrated(joint.box, joint.sensitivity, epsilon=1.0)
    output = m.release(joint.value)
    assert np.shape(output) == (2,)
    assert ((output >= joint.box.lower) & (output <= joint.box.upper)).all()


def test_stacking_nothing_or_something_else_is_refused() -> None:
    with pytest.raises(ib.ArgumentError, match=r"^queries must hold at least one Query"):
        stack([])
    with pytest.raises(
        ib.ArgumentTypeError, match=r"^queries must be a sequence of Query"
    ) as caught:
        stack([AGE, SECRET])  # type: ignore[list-item]
    assert str(SECRET) not in str(caught.value)


def test_a_notebook_shows_the_question_and_never_the_value() -> None:
    for query in (AGE, stack([AGE, RATE])):
        page = query._repr_html_()
        assert "age" in page
        assert str(SECRET) not in page
    assert "0.25" not in str(RATE._table())


def test_a_name_is_shown_as_text() -> None:
    page = Query("<script>", 1.0, ib.Box(0, 2), 1)._repr_html_()
    assert "&lt;script&gt;" in page
    assert "<script" not in page


EDGE, PERSON = ib.Unit("add-remove", "edge"), ib.Unit("replace", "person")


def test_a_unit_is_kept_and_shown_where_it_is_stated():
    query = Query("age", SECRET, ib.Box(0, 120), 2.5, PERSON)
    assert query.unit == PERSON
    assert repr(query) == "Query('age', Box(0, 120), L2(2.5), Unit('replace', 'person'))"
    assert "replace one person" in query._repr_html_()
    assert AGE.unit is None
    assert "unit" not in AGE._repr_html_()
    with pytest.raises(ib.ArgumentTypeError, match=r"^unit must be a Unit"):
        Query("age", SECRET, ib.Box(0, 120), 2.5, "person")


def test_queries_are_stacked_that_speak_of_one_unit():
    one, two = (Query("q", 1.0, ib.Box(0, 2), 1, unit) for unit in (EDGE, PERSON))
    assert stack([one, AGE, one]).unit == EDGE
    assert stack([AGE, RATE]).unit is None
    with pytest.raises(ib.ArgumentError, match=r"^queries must be about one unit") as caught:
        stack([one, AGE, two])
    assert "'add or remove one edge' and 'replace one person'" in str(caught.value)
    assert str(SECRET) not in str(caught.value)
