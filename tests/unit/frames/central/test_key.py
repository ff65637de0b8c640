import datetime
import decimal
from typing import Any

import duckdb
import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from inbounds.frames.central.key import places, with_plain_keys

COLUMNS: dict[str, tuple[Any, list[Any]]] = {
    "strings": (pa.string(), ["", "a", "A", "a ", "a\0", "é", "e\u0301", "ß", "ss", "\U0001f600"]),
    "integers": (pa.int64(), [-(2**63), -1, 0, 1, 2**53, 2**53 + 1, 2**63 - 1]),
    "booleans": (pa.bool_(), [False, True]),
    "dates": (
        pa.date32(),
        [datetime.date(1, 1, 1), datetime.date(1969, 12, 31), datetime.date(9999, 12, 31)],
    ),
}
ENGINES = ["pandas", "pandas arrow", "polars", "polars lazy", "arrow", "duckdb"]


def opened(engine: str, table: pa.Table) -> Any:
    makers = {
        "pandas": lambda: table.to_pandas(date_as_object=True),
        "pandas arrow": lambda: table.to_pandas(types_mapper=pd.ArrowDtype),
        "polars": lambda: pl.from_arrow(table),
        "polars lazy": lambda: pl.DataFrame(pl.from_arrow(table)).lazy(),
        "arrow": lambda: table,
        "duckdb": lambda: duckdb.connect().from_arrow(table),
    }
    return nw.from_native(makers[engine]())


def collected(table: Any) -> list[Any]:
    return [row[0] for row in table.lazy().collect().rows()]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", COLUMNS)
def test_a_key_is_the_place_of_its_value_in_the_public_list(engine: str, kind: str) -> None:
    native, values = COLUMNS[kind]
    known = places(values[1:])
    gap = [] if kind == "integers" else [None]  # beside a null, pandas would read doubles
    table = opened(engine, pa.table({"key0": pa.array([*values, *gap, *values], native)}))
    expected = [known.get(value, 0) for value in [*values, *gap, *values]]
    assert collected(with_plain_keys(table, {"key0": known})) == expected
    assert expected[0] == 0
    assert sorted(known) == sorted(values[1:])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", [*COLUMNS, "decimals", "bytes", "floats"])
def test_people_are_as_many_as_their_ids(engine: str, kind: str) -> None:
    others = {
        "decimals": (
            pa.decimal128(20, 2),
            [decimal.Decimal(n) / 100 for n in (-150, 0, 1, 10**17)],
        ),
        "bytes": (pa.binary(), [b"", b"a", b"A", b"\xff", b"a\0"]),
        "floats": (pa.float64(), [-1.5, 0.0, 5e-324, 1e300]),
    }
    native, values = (COLUMNS | others)[kind]
    table = opened(engine, pa.table({"who": pa.array([*values, *values], native)}))
    keys = collected(with_plain_keys(table, {}, "who"))
    assert keys[: len(values)] == keys[len(values) :]
    assert len(set(keys)) == len(values)


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["b", "a"])])
def test_categories_are_read_not_their_codes(kind: Any) -> None:
    table = nw.from_native(pl.DataFrame({"key0": pl.Series(["b", None, "a"], dtype=kind)}))
    assert collected(with_plain_keys(table, {"key0": places("abc")})) == [2, 0, 1]


def test_values_of_another_type_are_in_no_group() -> None:
    table = nw.from_native(pd.DataFrame({"key0": ["1"] * 200 + [1, True, None]}, dtype=object))
    keys = collected(with_plain_keys(table, {"key0": places(["1", "True"])}))
    assert keys == [1] * 200 + [0, 0, 0]


def test_no_keys_leave_a_table_as_it_is() -> None:
    table = nw.from_native(pl.DataFrame({"x0": [1.0]}))
    assert with_plain_keys(table, {}) is table


def test_ids_of_duckdb_may_be_uuids() -> None:
    table = nw.from_native(duckdb.sql("SELECT md5(range // 2 || '')::UUID AS who FROM range(6)"))
    assert len(set(collected(with_plain_keys(table, {}, "who")))) == 3


@pytest.mark.parametrize(
    "series", [pd.Series(["a", "b"], dtype="category"), pd.Series([1, 2], dtype="category")]
)
def test_ids_may_be_categories_of_one_type(series: Any) -> None:
    table = nw.from_native(pd.DataFrame({"who": series}))
    assert collected(with_plain_keys(table, {}, "who")) == [1, 2]
