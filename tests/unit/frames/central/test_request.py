import datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.frames.central.request import Request, check_request, open_table
from inbounds.frames.central.statistic import count, mean

PLAIN: dict[str, Any] = {
    "statistics": [mean("age", 0, 120)],
    "by": None,
    "groups": None,
    "adjacency": "replace",
    "rows": 1,
    "person": None,
    "size": None,
    "nulls": "error",
}


def asked(**changes: Any) -> Request:
    return check_request(**(PLAIN | changes))


def test_a_table_as_it_is_has_a_public_size() -> None:
    assert asked().sizes_public
    assert asked(rows=np.int64(3)).rows == 3


@pytest.mark.parametrize(
    "changes",
    [
        {"by": "town", "groups": ["Ulm"]},
        {"adjacency": "add-remove", "size": 10},
        {"person": "who", "size": 10},
        {"nulls": "skip"},
        {"outside": "skip"},
    ],
)
def test_anything_that_rows_can_leave_has_a_private_size(changes: dict[str, Any]) -> None:
    assert not asked(**changes).sizes_public


@pytest.mark.parametrize("outside", ["clip", "error"])
def test_rows_that_are_all_used_have_a_public_number(outside: str) -> None:
    assert asked(outside=outside).sizes_public


@pytest.mark.parametrize("outside", ["drop", None, 3, "CLIP"])
def test_values_outside_are_moved_left_out_or_refused(outside: Any) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError), match="outside must be"):
        asked(outside=outside)


def test_without_groups_the_error_says_how_to_find_them() -> None:
    with pytest.raises(ArgumentError, match="groups must be given") as caught:
        asked(by="town")
    assert "find_groups" in str(caught.value.hint)


@pytest.mark.parametrize("changes", [{"adjacency": "add-remove"}, {"person": "who"}])
def test_a_private_number_of_rows_needs_a_public_bound(changes: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match="size must be given"):
        asked(**changes)


def test_a_public_number_of_rows_needs_none() -> None:
    with pytest.raises(ArgumentError, match="size must be left out"):
        asked(size=10)


@pytest.mark.parametrize("value", [0, -1, 1.0, True, "2", None])
def test_rows_and_size_are_positive_integers(value: Any) -> None:
    with pytest.raises(ArgumentError, match="rows must be a positive integer"):
        asked(rows=value)
    if value is not None:
        with pytest.raises(ArgumentError, match="size must be a positive integer"):
            asked(adjacency="add-remove", size=value)


@pytest.mark.parametrize("statistics", ["mean", None, [None], [mean], {"age": 1}])
def test_statistics_are_statistics(statistics: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="statistics"):
        asked(statistics=statistics)


@pytest.mark.parametrize("statistics", [[], [count(), count()]])
def test_there_is_at_least_one_statistic_and_none_twice(statistics: Any) -> None:
    with pytest.raises(ArgumentError, match="statistics"):
        asked(statistics=statistics)


@pytest.mark.parametrize(
    ("by", "groups"),
    [
        ("town", None),
        (None, ["Ulm"]),
        ("town", []),
        ("town", ["Ulm", "Ulm"]),
        ([], []),
        (["a", "a"], [("x", "y")]),
        (["a", "b"], ["x"]),
        (["a", "b"], [("x",)]),
        ("value", ["x"]),
    ],
)
def test_groups_are_listed_once_and_complete(by: Any, groups: Any) -> None:
    with pytest.raises(ArgumentError, match=r"by|groups"):
        asked(by=by, groups=groups)


@pytest.mark.parametrize(
    ("by", "groups"), [(-1, ["x"]), ([2.0], ["x"]), (True, ["x"]), ({"a"}, ["x"]), ("town", "Ulm")]
)
def test_groups_are_named_by_strings_or_indices_and_listed(by: Any, groups: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"by|groups"):
        asked(by=by, groups=groups)


def test_options_are_named() -> None:
    with pytest.raises(ArgumentError, match="adjacency"):
        asked(adjacency="remove")
    with pytest.raises(ArgumentError, match="nulls"):
        asked(nulls="keep")
    with pytest.raises(ArgumentTypeError, match="id"):
        asked(person=-3, size=1)


def test_an_index_of_any_type_is_an_integer_of_python() -> None:
    request = asked(by=np.int8(0), groups=[1], person=np.uint64(2), size=1)
    assert (request.by, request.groups, request.person) == ((0,), ((1,),), 2)
    assert {type(request.by[0]), type(request.person)} == {int}
    assert asked(by=[0, "town"], groups=[(1, "Ulm")]).by == (0, "town")
    assert asked(statistics=[count(), mean(0, 0, 1)]).columns == [0]


@pytest.mark.parametrize(
    ("frame", "name"), [([1, 2], "list"), (pd.Series([1]), "Series"), (None, "NoneType")]
)
def test_other_things_are_no_frames(frame: Any, name: str) -> None:
    with pytest.raises(ArgumentTypeError, match=rf"frame must be .* got {name}"):
        open_table(frame, asked())


@pytest.mark.parametrize(
    ("changes", "argument"),
    [
        ({"statistics": [mean("income", 0, 1)]}, "statistics"),
        ({"by": "city", "groups": ["Ulm"]}, "by"),
        ({"person": "who", "size": 5}, "id"),
    ],
)
def test_columns_must_be_there(changes: dict[str, Any], argument: str) -> None:
    with pytest.raises(ArgumentError, match=f"{argument} must name columns"):
        open_table(pd.DataFrame({"age": [17], "town": ["Ulm"]}), asked(**changes))


@pytest.mark.parametrize("values", [["secret"], [True], [datetime.date(2026, 1, 1)]])
def test_statistics_are_of_numbers(values: list[Any]) -> None:
    with pytest.raises(ArgumentTypeError, match="column 'age' must hold numbers") as caught:
        open_table(pl.DataFrame({"age": values}), asked())
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("values", "group"),
    [(["a"], "a"), ([1], 1), ([True], True), ([datetime.date(2026, 1, 1)],) * 2],
)
def test_groups_are_of_the_type_of_their_column(values: list[Any], group: Any) -> None:
    group = group[0] if isinstance(group, list) else group
    frame = pl.DataFrame({"age": [1], "g": values})
    open_table(frame, asked(by="g", groups=[group]))
    wrong = 1.5 if group == "a" else "a"
    with pytest.raises(ArgumentTypeError, match="groups must list values of type"):
        open_table(frame, asked(by="g", groups=[wrong]))


def test_floats_are_no_groups() -> None:
    with pytest.raises(ArgumentTypeError, match="column 'g' must hold strings"):
        open_table(pl.DataFrame({"age": [1], "g": [0.5]}), asked(by="g", groups=[0.5]))


def test_numbers_of_numpy_are_numbers() -> None:
    request = asked(by="g", groups=list(np.arange(2)))
    assert [type(key[0]) for key in request.groups] == [int, int]
    assert asked(by="g", groups=range(2)).groups == request.groups


@pytest.mark.parametrize(
    "groups",
    [
        ("a", "b"),
        np.array(["a", "b"]),
        np.array(["a", "b"], dtype=object),
        pd.Index(["a", "b"]),
        pd.Series(["a", "b"], index=[7, 7]),
        pd.Categorical(["a", "b"]),
        pl.Series(["a", "b"]),
        pa.array(["a", "b"]),
        pa.chunked_array([["a"], ["b"]]),
        {"a": 1, "b": 2}.keys(),
        (name for name in "ab"),
    ],
    ids=lambda groups: type(groups).__name__,
)
def test_groups_may_be_listed_by_anything_with_an_order(groups: Any) -> None:
    request = asked(by="g", groups=groups)
    assert request.groups == (("a",), ("b",))
    assert all(type(value) is str for key in request.groups for value in key)


def test_groups_of_several_columns_may_be_rows_of_an_array_or_an_index() -> None:
    expected = (("a", 1), ("b", 2))
    table = pd.DataFrame({"g": ["a", "b"], "h": [1, 2]})
    for groups in (
        table.to_numpy(),
        pd.MultiIndex.from_frame(table),
        table.itertuples(index=False),
    ):
        assert asked(by=["g", "h"], groups=groups).groups == expected


def test_a_set_has_no_order() -> None:
    for groups in ({"a", "b"}, frozenset("ab")):
        with pytest.raises(ArgumentTypeError, match="not a set, which has no order"):
            asked(by="g", groups=groups)


@pytest.mark.parametrize(
    "groups", ["ab", b"ab", {"a": 1}, pd.DataFrame({"g": ["a"]}), 7, [["a"]], pa.table({"g": [1]})]
)
def test_what_lists_no_values_is_refused(groups: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="groups must be a list of values"):
        asked(by="g", groups=groups)


def test_a_request_can_be_made_of_a_table_with_other_names() -> None:
    request = asked(by="g", groups=["a"], person="who", size=3)
    ours = request.under({"age": "c0", "g": "c1", "who": "c2"})
    assert (ours.columns, ours.by, ours.person, ours.groups) == (["c0"], ("c1",), "c2", (("a",),))
    assert asked(statistics=count()).under({}).statistics == (count(),)
