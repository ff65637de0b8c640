"""Which values are within bounds, in every type of every engine, as fractions say."""

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from math import inf, isfinite, nan, nextafter
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from inbounds.errors import ArgumentError
from inbounds.frames.central.check import check_table
from inbounds.frames.central.level import categories, proportion
from inbounds.frames.central.outside import inside
from inbounds.frames.central.quantile import median
from inbounds.frames.central.statistic import Statistic, histogram, mean, total, variance

BIG = 2**53
INTEGERS = [0, 1, 2, 3, -1, 7, 100, 127, -128, 255, 2**15, BIG - 1, BIG, BIG + 1, BIG + 2]
INTEGERS += [-BIG - 1, 2**62 + 1, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1, -(2**63), 2**100, 2**127]
FLOATS = [0.0, -0.0, 0.1, 0.3, 1.0, nextafter(1.0, 2.0), nextafter(1.0, 0.0), 2.5, 7.0, -1.0]
FLOATS += [5e-324, 1e300, -1e300, float(BIG), inf, -inf, 3.4e38, float(np.float32(0.7))]
DECIMALS = [
    "0.00",
    "0.10",
    "0.11",
    "0.09",
    "1.00",
    "1.01",
    "0.99",
    "-0.01",
    "7.00",
    "2.50",
    "999.99",
]
DECIMALS += [f"{BIG + 1}.00", f"{BIG}.00", f"{BIG}.01", f"-{BIG}.01", "9" * 36 + ".99"]
STATISTICS: list[list[Statistic]] = [
    [mean("x", 0, 1)],
    [total("x", 0.1, 7)],
    [variance("x", -1, BIG)],
    [histogram("x", [-BIG, 0, 2.5])],
    [median("x", 0.7, 2.0**63)],
    [mean("x", 2.0**63, 2.0**64)],
    [mean("x", -(2.0**200), 2.0**200)],
    [mean("x", 1e20, 1e21)],
    [mean("x", -1e21, -1e20)],
    [proportion("x")],
    [mean("x", 0, 3), total("x", 1, 7)],
    [mean("x", 0, 1), mean("x", 2, 3)],
    [proportion("x"), mean("x", 0.5, 9)],
    [proportion("x"), mean("x", 3, 9)],
]


def as_bound(bound: float, *, decimal: bool) -> Fraction:
    """A bound of a decimal column is the decimal that was written."""
    is_decimal = decimal and not bound.is_integer()
    return Fraction(repr(bound)) if is_decimal else Fraction(bound)


def oracle(value: Any, statistics: list[Statistic]) -> bool:
    if value is None or not isfinite(value):
        return False
    exact, decimal = Fraction(value), isinstance(value, Decimal)
    bounds = [tuple(as_bound(b, decimal=decimal) for b in (s.lower, s.upper)) for s in statistics]
    truths = any(s.kind == "proportion" for s in statistics)
    return all(low <= exact <= high for low, high in bounds) and (not truths or exact in (0, 1))


def check(frame: Any, values: list[Any], statistics: list[Statistic]) -> None:
    table = nw.from_native(frame)
    kept = table.filter(inside(table, statistics)["x"]).lazy().collect().rows(named=True)
    expected = [oracle(value, statistics) for value in values]
    assert sorted(row["row"] for row in kept) == [i for i, held in enumerate(expected) if held]


def fitting(values: list[Any], make: Callable[[list[Any]], Any]) -> list[Any]:
    """The values that a type can hold, exactly."""
    kept = []
    for value in values:
        try:
            column = make([value])
            held = column.to_list()[0] if hasattr(column, "to_list") else column.tolist()[0]
        except (OverflowError, pa.ArrowException, TypeError, ValueError, RuntimeWarning):
            continue
        except pl.exceptions.PolarsError:
            continue
        if held == value:
            kept.append(value)
    return [*kept, None]


def numpy_array(kind: str) -> Callable[[list[Any]], Any]:
    return lambda values: np.array([value for value in values if value is not None], kind)


def pandas_array(kind: Any) -> Callable[[list[Any]], Any]:
    return lambda values: pd.array(values, dtype=kind)


def in_pandas(kind: Any) -> Callable[[list[Any]], Any]:
    return lambda values: pd.array(pa.array(values, kind), dtype=pd.ArrowDtype(kind))


def in_arrow(kind: Any) -> Callable[[list[Any]], Any]:
    return lambda values: pa.array(values, kind)


def in_polars(kind: Any) -> Callable[[list[Any]], Any]:
    return lambda values: pl.Series(values, dtype=kind, strict=True)


NAMES = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
WIDE = [f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64, 128)]
ARROW = [getattr(pa, name)() for name in NAMES]
DECIMAL_TYPES = [pa.decimal128(38, 2), pa.decimal128(12, 2), pa.decimal128(2, 2)]
MAKERS: list[tuple[str, list[Any], Callable[[list[Any]], Any]]] = [
    *(("pandas", INTEGERS, numpy_array(name)) for name in NAMES),
    *(("pandas", INTEGERS, pandas_array(name)) for name in ("Int64", "UInt64", "Int8")),
    *(("pandas", INTEGERS, in_pandas(kind)) for kind in ARROW),
    *(("pandas", FLOATS, numpy_array(name)) for name in ("float64", "float32")),
    *(("pandas", FLOATS, pandas_array(name)) for name in ("Float64", "Float32")),
    *(("pandas", FLOATS, in_pandas(kind)) for kind in (pa.float64(), pa.float32())),
    *(("pandas", DECIMALS, in_pandas(kind)) for kind in DECIMAL_TYPES),
    *(("polars", INTEGERS, in_polars(getattr(pl, name))) for name in WIDE),
    *(("polars", FLOATS, in_polars(kind)) for kind in (pl.Float64, pl.Float32)),
    *(("polars", DECIMALS, in_polars(pl.Decimal(p, s))) for p, s in ((38, 2), (12, 2), (38, 5))),
    *(("arrow", INTEGERS, in_arrow(kind)) for kind in ARROW),
    *(("arrow", FLOATS, in_arrow(kind)) for kind in (pa.float64(), pa.float32())),
    *(("arrow", DECIMALS, in_arrow(kind)) for kind in DECIMAL_TYPES),
]


def prepared(family: str, values: list[Any], make: Any) -> tuple[Any, list[Any]]:
    """Hold the values that fit a type, each with the number of its row."""
    pool = [Decimal(value) for value in values] if values is DECIMALS else values
    held = fitting(pool, make)
    column = make(held)
    held = held[: len(column)]
    frames: Any = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}
    return frames[family]({"x": column, "row": list(range(len(held)))}), held


@pytest.mark.parametrize(("family", "values", "make"), MAKERS)
def test_values_are_within_bounds_as_fractions_say(family: str, values: Any, make: Any) -> None:
    frame, held = prepared(family, values, make)
    assert len(held) > 3
    for statistics in STATISTICS:
        check(frame, held, statistics)
        if family == "polars":
            check(frame.lazy(), held, statistics)


@pytest.mark.parametrize(
    ("declared", "values"),
    [
        *((kind, INTEGERS) for kind in ("TINYINT", "UTINYINT", "INTEGER", "BIGINT", "UBIGINT")),
        *((kind, INTEGERS) for kind in ("HUGEINT", "UHUGEINT")),
        *((kind, FLOATS) for kind in ("DOUBLE", "FLOAT")),
        *((kind, DECIMALS) for kind in ("DECIMAL(38, 2)", "DECIMAL(5, 2)", "DECIMAL(2, 2)")),
    ],
)
def test_values_of_duckdb_are_within_bounds_as_fractions_say(
    declared: str, values: list[Any]
) -> None:
    pool = [Decimal(value) for value in values] if values is DECIMALS else values
    with duckdb.connect() as connection:
        connection.execute(f'CREATE TABLE given (x {declared}, "row" INTEGER)')
        held: list[Any] = []
        for value in [*pool, None]:
            try:
                written = None if value is None else str(value)
                cast = connection.execute(f"SELECT CAST(? AS {declared})", [written]).fetchone()
            except duckdb.Error:
                continue
            if cast is not None and cast[0] == value:
                connection.execute("INSERT INTO given VALUES (?, ?)", [written, len(held)])
                held.append(value)
        assert len(held) > 3
        for statistics in STATISTICS:
            check(connection.sql("SELECT * FROM given"), held, statistics)


def test_nan_is_in_no_bounds() -> None:
    values = [nan, 0.5, inf, None]
    table = pa.table({"x": pa.array(values, pa.float64()), "row": [0, 1, 2, 3]})
    for frame in (table, pl.from_arrow(table), table.to_pandas(), duckdb.from_arrow(table)):
        check(frame, values, [mean("x", 0, 1)])
        check(frame, values, [mean("x", -(2.0**200), 2.0**200)])


def test_booleans_and_levels_have_no_bounds() -> None:
    table = nw.from_native(pl.DataFrame({"yes": [True, False], "level": [3, 4]}))
    assert inside(table, [proportion("yes"), categories("level", [3])]) == {}


@pytest.mark.parametrize("value", [999.0, -0.5, inf, nan])
def test_a_value_outside_is_refused_by_column_and_not_shown(value: float) -> None:
    table = nw.from_native(pl.DataFrame({"x": [0.25, value], "y": [0.25, 0.5]}))
    asked = [mean("y", 0, 1), mean("x", 0, 1)]
    with pytest.raises(ArgumentError, match="column 'X' must") as caught:
        check_table(table, ["y", "x"], None, "error", str.upper, outside="error", statistics=asked)
    assert not any(text in str(caught.value) for text in ("999", "0.5", "0.25", "1"))
    only: Any = {"outside": "error", "statistics": asked[:1]}
    assert check_table(table, ["y"], None, "error", **only)[0] == 2


def test_a_null_is_no_value_outside() -> None:
    for frame in (pd.DataFrame({"x": [0.5, None]}), pl.DataFrame({"x": [0.5, None]})):
        table = nw.from_native(frame)
        asked = [mean("x", 0, 1)]
        _, left = check_table(table, ["x"], None, "skip", outside="error", statistics=asked)
        assert len(left.lazy().collect()) == 1
        with pytest.raises(ArgumentError, match="nulls"):
            check_table(table, ["x"], None, "error", outside="skip", statistics=asked)


def test_infinite_ids_are_refused_although_infinite_numbers_are_skipped() -> None:
    table = nw.from_native(pl.DataFrame({"x": [inf, 1.0], "who": [1.0, inf]}))
    how: Any = {"outside": "skip", "statistics": [mean("x", 0, 1)]}
    _, left = check_table(table, ["x"], None, "error", **how)
    assert len(left.lazy().collect()) == 1
    with pytest.raises(ArgumentError, match="column 'who'"):
        check_table(table, ["x"], "who", "error", **how)
