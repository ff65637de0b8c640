from typing import Any

import duckdb
import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.frames.binding import bind_columns, own_name

TABLE = pa.table({"x": [1, 2], "a.b": [3, 4], "X y": [5, 6]})
FRAMES: dict[str, Any] = {
    "pandas": TABLE.to_pandas(),
    "polars": pl.from_arrow(TABLE),
    "polars lazy": pl.DataFrame(pl.from_arrow(TABLE)).lazy(),
    "arrow": TABLE,
    "duckdb": duckdb.connect().from_arrow(TABLE),
}


def rows(table: Any) -> list[Any]:
    return sorted(table.lazy().collect().rows())


@pytest.mark.parametrize("engine", FRAMES)
def test_columns_are_taken_once_each_in_the_order_of_their_use(engine: str) -> None:
    used = [("statistics", "X y"), ("by", "a.b"), ("id", "X y")]
    table, called = bind_columns(FRAMES[engine], used)
    assert called == {"X y": "c0", "a.b": "c1"}
    assert table.collect_schema().names() == ["c0", "c1"]
    assert rows(table) == [(5, 3), (6, 4)]


@pytest.mark.parametrize("engine", FRAMES)
def test_a_table_of_which_nothing_is_used_keeps_its_rows(engine: str) -> None:
    table, called = bind_columns(FRAMES[engine], [])
    assert called == {}
    assert rows(table) == [(1,), (2,)]


@pytest.mark.parametrize("engine", FRAMES)
def test_a_name_is_looked_up_as_it_is_written(engine: str) -> None:
    for name in ("x y", "a", "A.B", " x"):
        with pytest.raises(ArgumentError, match="by must name columns of the frame"):
            bind_columns(FRAMES[engine], [("by", name)])


def test_a_frame_that_narwhals_opened_is_a_frame() -> None:
    assert rows(bind_columns(nw.from_native(FRAMES["polars"]), [("id", "x")])[0]) == [(1,), (2,)]


def test_a_frame_without_columns_has_nothing_to_count() -> None:
    with pytest.raises(ArgumentError, match="at least one column"):
        bind_columns(pd.DataFrame(index=range(3)), [])
    with pytest.raises(ArgumentTypeError, match="frame must be"):
        bind_columns([1], [])


def test_the_index_of_pandas_and_names_that_are_no_strings_say_nothing() -> None:
    frame = pd.DataFrame([[1, 2, 3]] * 3, index=[0, 0, float("nan")], columns=["x", 7, ("x", "y")])
    assert rows(bind_columns(frame, [("id", "x")])[0]) == [(1,)] * 3
    with pytest.raises(ArgumentError, match="id must name columns"):
        bind_columns(frame, [("id", "7")])


@pytest.mark.parametrize("values", [["a", None, "a"], [1, None, 1], [True, None, False]])
def test_dictionaries_of_arrow_are_read_as_plain_columns(values: list[Any]) -> None:
    column = pa.chunked_array(
        [pa.array(values).dictionary_encode(), pa.array(values[:1]).dictionary_encode()]
    )
    for frame in (
        pa.table({"k": column}),
        pa.table({"k": column}).to_pandas(types_mapper=pd.ArrowDtype),
    ):
        table, _ = bind_columns(frame, [("by", "k")])
        plain, _ = bind_columns(pa.table({"k": [*values, values[0]]}), [("by", "k")])
        assert table.schema == plain.schema
        found = table.to_native()["c0"]
        listed = (
            found.to_pylist() if isinstance(frame, pa.Table) else list(pa.array(found).to_pylist())
        )
        assert listed == [*values, values[0]]


def test_a_null_that_a_dictionary_lists_is_a_null() -> None:
    coded = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), pa.array(["a", None]))
    table, _ = bind_columns(pa.table({"k": coded}), [("id", "k")])
    assert coded.null_count == 0
    assert table["c0"].null_count() == 1


def test_our_names_differ_in_more_than_case() -> None:
    names = [own_name(i) for i in range(200)]
    assert len({name.casefold() for name in names}) == 200
    assert all(name.isidentifier() for name in names)
