import json
import pickle
from typing import Any

import numpy as np
import pytest

from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.unit import Unit, check_same, check_unit

ROW = Unit("replace", "row")


@pytest.mark.parametrize(
    ("unit", "text"),
    [
        (Unit("replace"), "replace one row"),
        (Unit("replace", "person"), "replace one person"),
        (Unit("replace", "sales person", 2), "replace up to 2 sales people"),
        (Unit("add-remove", "row", 3), "add or remove up to 3 rows"),
        (Unit("add-remove", "company", 2), "add or remove up to 2 companies"),
        (Unit("replace", "day", 1000), "replace up to 1,000 days"),
        (Unit("replace", "branch", 2), "replace up to 2 branches"),
    ],
)
def test_a_unit_is_written_as_a_person_would_say_it(unit: Unit, text: str) -> None:
    assert str(unit) == text
    assert eval(repr(unit), {"Unit": Unit}) == unit


@pytest.mark.parametrize("unit", [ROW, Unit("add-remove", "edge", 10**15)])
def test_json_and_pickle_give_the_same_unit_back(unit: Unit) -> None:
    assert Unit.from_json(unit.to_json()) == unit
    assert pickle.loads(pickle.dumps(unit)) == unit
    assert hash(Unit.from_json(unit.to_json())) == hash(unit)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{}",
        '"replace"',
        "[" * 10_000,
        '{"change": "replace", "of": "row"}',
        '{"change": "replace", "of": "row", "count": 1, "more": 1}',
        '{"change": "replace", "of": "row", "count": 1.0}',
        '{"change": "replace", "of": "row", "count": true}',
        '{"change": "replace", "of": "row", "count": 0}',
        '{"change": "delete", "of": "row", "count": 1}',
        '{"change": "replace", "of": "row", "of": "row", "count": 1}',
    ],
)
def test_json_of_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ArgumentError, match=r"^text must be a unit written by to_json"):
        Unit.from_json(text)


@pytest.mark.parametrize("change", ["", "Replace", "add", None, 1])
def test_the_change_is_one_of_two(change: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^change must be one of 'replace', 'add-remove'"):
        Unit(change)


@pytest.mark.parametrize(
    "of", ["", "Row", "row:3", "row ", " row", "a  b", "a\nb", "x" * 31, "r0w"]
)
def test_what_a_member_is_must_be_a_short_noun(of: str) -> None:
    with pytest.raises(ArgumentError, match=r"^of must be a noun of up to 30 letters"):
        Unit("replace", of)
    with pytest.raises(ArgumentTypeError, match=r"^of must be a noun"):
        Unit("replace", 3)  # type: ignore[arg-type]


@pytest.mark.parametrize("count", [0, -1, 1.0, True, "1", None, 10**15 + 1, 10**400])
def test_the_count_must_be_a_positive_integer(count: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^count must be"):
        Unit("replace", "row", count)


def test_a_count_of_any_kind_of_integer_is_kept_as_a_plain_one() -> None:
    unit = Unit("replace", "row", np.int64(3))  # type: ignore[arg-type]
    assert type(unit.count) is int
    assert json.loads(unit.to_json()) == {"change": "replace", "of": "row", "count": 3}


@pytest.mark.parametrize(
    ("known", "wanted", "steps"),
    [
        (("replace", 1), ("replace", 1), 1),
        (("replace", 1), ("replace", 5), 5),
        (("replace", 2), ("replace", 5), 3),
        (("replace", 5), ("replace", 2), 1),
        (("add-remove", 3), ("add-remove", 7), 3),
        (("add-remove", 1), ("replace", 1), 2),
        (("add-remove", 2), ("replace", 1), 1),
        (("add-remove", 3), ("replace", 2), 2),
        (("add-remove", 3), ("replace", 4), 3),
    ],
)
def test_so_many_changes_make_the_wanted_one(
    known: tuple[Any, int], wanted: tuple[Any, int], steps: int
) -> None:
    start, end = Unit(known[0], "row", known[1]), Unit(wanted[0], "row", wanted[1])
    assert start.steps_to(end) == steps


def test_what_does_not_follow_is_refused_with_both_units_and_a_hint() -> None:
    with pytest.raises(ArgumentError) as caught:
        Unit("replace", "row", 3).steps_to(Unit("add-remove", "row"))
    assert "'replace up to 3 rows'" in str(caught.value)
    assert "'add or remove one row'" in str(caught.value)
    assert "add-remove" in (caught.value.hint or "")
    with pytest.raises(ArgumentError) as caught:
        ROW.steps_to(Unit("replace", "person"))
    assert "'replace one row'" in str(caught.value)
    assert "'replace one person'" in str(caught.value)
    assert "sensitivity" in (caught.value.hint or "")


def test_what_states_no_unit_takes_over_the_one_that_is_stated() -> None:
    assert check_same(set(), "losses", "") is None
    assert check_same({None}, "losses", "") is None
    assert check_same({None, ROW}, "losses", "") == ROW
    with pytest.raises(ArgumentError, match=r"^losses must be about one unit") as caught:
        check_same({ROW, Unit("replace", "person")}, "losses", "do this.")
    assert "'replace one person' and 'replace one row'" in str(caught.value)
    assert caught.value.hint == "do this."


def test_a_class_of_its_own_does_not_decide_what_is_equal() -> None:
    class Chameleon(Unit):
        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return hash(ROW)

    checked = check_unit(Chameleon("replace", "person"))
    assert type(checked) is Unit
    assert checked != ROW
    with pytest.raises(ArgumentTypeError, match=r"^unit must be a Unit"):
        check_unit("replace:row")


def test_a_notebook_shows_what_is_hidden() -> None:
    assert "replace one person" in Unit("replace", "person")._repr_html_()
