from typing import Any

import duckdb
import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from inbounds.frames.native import NUMBERS, native_frame

COLUMNS: dict[str, list[Any]] = {
    "id": [2**64 - 1, 0],
    **{name: [None, None] for name in NUMBERS},
    "value": [1.5, 2.5],
}


@pytest.mark.parametrize(
    ("frame", "kind"),
    [
        (pd.DataFrame({"x": [1]}), pd.DataFrame),
        (pl.DataFrame({"x": [1]}), pl.DataFrame),
        (pl.LazyFrame({"x": [1]}), pl.DataFrame),
        (pa.table({"x": [1]}), pa.Table),
        (duckdb.sql("SELECT 1 AS x"), pa.Table),
    ],
    ids=lambda value: type(value).__module__.split(".")[0],
)
def test_columns_without_a_number_are_still_columns_of_numbers(frame: Any, kind: Any) -> None:
    result = native_frame(nw.from_native(frame), COLUMNS)
    assert isinstance(result, kind)
    table = nw.from_native(result)
    assert [table.schema[name] for name in NUMBERS] == [nw.Float64()] * 4
    assert table["value"].to_list() == [1.5, 2.5]
    assert table["id"].to_list() == [2**64 - 1, 0]
