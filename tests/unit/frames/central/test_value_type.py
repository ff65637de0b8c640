import datetime
import decimal
import enum
from types import NoneType
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from inbounds.errors import ArgumentTypeError
from inbounds.frames.central.value_type import check_keys, check_person, plain_value, value_type

DAY = datetime.date(2026, 1, 1)
OBJECTS = [
    (["a", None], str),
    ([1, 2], int),
    ([True], bool),
    ([DAY], datetime.date),
    ([b"a"], bytes),
]


class Town(enum.StrEnum):
    ROM = "Rom"


def opened(values: Any) -> Any:
    return nw.from_native(pd.DataFrame({"k": values}))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Town.ROM, "Rom"),
        (np.str_("a"), "a"),
        (np.int8(7), 7),
        (np.bool_(True), True),
        (np.bytes_(b"a"), b"a"),
        (DAY, DAY),
        (None, None),
    ],
)
def test_subclasses_become_plain_values(value: Any, expected: Any) -> None:
    assert plain_value(value) == expected
    assert type(plain_value(value)) is type(expected)


@pytest.mark.parametrize(("values", "expected"), [*OBJECTS, ([None], NoneType)])
def test_objects_have_the_type_of_all_their_values(values: list[Any], expected: type) -> None:
    assert value_type(opened(pd.Series(values, dtype=object)), "k")[0] is expected
    if None not in values:
        assert value_type(opened(pd.Categorical(values)), "k")[0] is expected


@pytest.mark.parametrize(
    "values",
    [
        ["secret", 7],
        [1, True],
        [DAY, datetime.datetime(2026, 1, 1)],
        [pd.Timestamp(DAY), DAY],
        [0.5, "a"],
    ],
)
def test_objects_of_several_types_have_none_and_are_not_shown(values: list[Any]) -> None:
    table = opened(pd.Series(values, dtype=object))
    assert value_type(table, "k")[0] is None
    with pytest.raises(ArgumentTypeError, match="objects of other or several types") as failure:
        check_keys(table, "k", "town", ["a"])
    assert "secret" not in str(failure.value)


@pytest.mark.parametrize(
    ("values", "hint"),
    [
        ([1.0, None], r'\.astype\("Int64"\)'),
        (pd.to_datetime(["2026-01-01"]), "strftime"),
        (pd.period_range("2026-01", periods=2, freq="M"), "strftime"),
        (pd.Categorical(pd.to_datetime(["2026-01-01"])), "strftime"),
        (pd.Categorical([0.5]), "strings"),
        (pd.cut([1, 5], [0, 2, 9]), r"astype\(str\)"),
        (pd.Series([(1, 2)]), "strings"),
    ],
)
def test_what_cannot_be_grouped_by_is_refused_with_a_way_out(values: Any, hint: str) -> None:
    with pytest.raises(ArgumentTypeError, match=rf"column 'town' must hold .*\nHint: .*{hint}"):
        check_keys(opened(values), "k", "town", ["a"])


@pytest.mark.parametrize(
    ("values", "fitting", "wrong"),
    [
        (pd.Categorical([2021, 2022]), 2021, "2021"),
        (pd.Categorical([True, False]), True, "True"),
        (pd.Categorical([True, False]), True, 1),
        (pd.Categorical(["a"]), "a", 1),
        (pd.Series([DAY], dtype=object), DAY, "2026-01-01"),
        (pd.Series([DAY], dtype=object), DAY, datetime.datetime(2026, 1, 1)),
    ],
)
def test_keys_are_of_the_type_of_the_values(values: Any, fitting: Any, wrong: Any) -> None:
    check_keys(opened(values), "k", "town", [fitting])
    with pytest.raises(ArgumentTypeError, match="groups must list values of type"):
        check_keys(opened(values), "k", "town", [wrong])


def test_a_column_without_values_has_any_keys() -> None:
    check_keys(opened(pd.Series([None], dtype=object)), "k", "town", ["a"])


def test_ids_of_duckdb_may_be_uuids_and_groups_may_not() -> None:
    table = nw.from_native(duckdb.sql("SELECT md5('a')::UUID AS who"))
    check_person(table, "who")
    with pytest.raises(ArgumentTypeError, match="got UUID"):
        check_keys(table, "who", "who", ["a"])


@pytest.mark.parametrize(
    "series",
    [
        pd.Categorical(["a", "b"]),
        pd.Categorical([1, 2]),
        pd.Categorical([decimal.Decimal(1)]),
        pd.Series([b"a"], dtype=object),
        pd.Series([1.5]),
    ],
)
def test_ids_may_be_of_any_one_type_with_an_exact_equality(series: Any) -> None:
    check_person(opened(series), "k")


@pytest.mark.parametrize(
    "values", [[datetime.datetime(2026, 1, 1)], [datetime.timedelta(1)], [{"a": 1}], [None]]
)
def test_other_types_tell_nobody_apart(values: list[Any]) -> None:
    with pytest.raises(ArgumentTypeError, match="column 'who' must hold strings"):
        check_person(nw.from_native(pl.DataFrame({"k": values})), "k", "who")


def test_a_dictionary_of_doubles_is_no_key() -> None:
    table = nw.from_native(pa.table({"k": pa.array([0.5]).dictionary_encode()}))
    assert value_type(table, "k") == (None, "a dictionary of other values")
