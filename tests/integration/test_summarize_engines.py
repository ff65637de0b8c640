"""Every engine gives the same exact sums, whatever it does with rows, nulls and people.

Private inputs of the release are compared, not noisy answers: they must be equal to the last bit.
"""

import io
import logging
from collections import Counter
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.errors import PySparkException
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from inbounds.errors import ArgumentError
from inbounds.frames.central import grid
from inbounds.frames.central.aggregate import sums, used_rows
from inbounds.frames.central.check import check_table
from inbounds.frames.central.drawing import grids
from inbounds.frames.central.group_count import group_counts
from inbounds.frames.central.key import places, with_plain_keys
from inbounds.frames.central.measure import measure
from inbounds.frames.central.moment import moments
from inbounds.frames.central.picture import plot_summary
from inbounds.frames.central.points import Grid
from inbounds.frames.central.quantile import median
from inbounds.frames.central.request import check_request, open_table
from inbounds.frames.central.statistic import count, histogram, mean, total, variance
from inbounds.frames.central.summarize import summarize

# PySpark warns of pandas 3 wherever Arrow is used; no pandas object of it is used here.
pytestmark = pytest.mark.filterwarnings(
    "ignore:PySpark does not yet fully support pandas:FutureWarning"
)

ROWS = 3000
ENGINES = {  # and the package of their summaries
    "pandas": "pandas",
    "pandas nullable": "pandas",
    "polars": "polars",
    "polars lazy": "polars",
    "arrow": "pyarrow",
    "duckdb": "pyarrow",
    "spark": "pyspark",
}
ASKED = [
    count(),
    variance("age", 0, 100),
    mean("ratio", -0.3, 0.7),
    total("income", 0, 12345.678),
    histogram("ratio", [-1, -0.1, 0.2, 1]),
]
NUMBERS = ["age", "ratio", "income"]
GROUPS = [("Rom", 1), ("Rom", 2), ("Ulm", 2), ("nowhere", 1)]


def data() -> pa.Table:
    """Numbers inside and outside the bounds, ties, nulls, and people with 0 to 20 rows."""
    generator = np.random.default_rng(7)
    age = generator.integers(-5, 120, ROWS)
    ratio = np.round(generator.normal(0.1, 0.4, ROWS), generator.integers(1, 17))
    income = generator.exponential(5000, ROWS)
    missing = generator.random(ROWS) < 0.05
    return pa.table(
        {
            "age": pa.array(age, pa.int32()),
            "ratio": pa.array(ratio, pa.float64()),
            "income": pa.array(income, pa.float64(), mask=missing),
            "town": pa.array(generator.choice(["Ulm", "Rom", "Bern", None], ROWS).tolist()),
            "year": pa.array(generator.integers(1, 4, ROWS), pa.int64()),
            "who": pa.array(generator.poisson(300, ROWS), pa.int64()),
        }
    )


def opened(engine: str, table: pa.Table, request: pytest.FixtureRequest) -> Any:
    makers = {
        "pandas": table.to_pandas,
        "pandas nullable": lambda: table.to_pandas(types_mapper=pd.ArrowDtype),
        "polars": lambda: pl.from_arrow(table),
        "polars lazy": lambda: pl.DataFrame(pl.from_arrow(table)).lazy(),
        "arrow": lambda: table,
        "duckdb": lambda: duckdb.connect().from_arrow(table),
        "spark": lambda: request.getfixturevalue("spark").createDataFrame(table),
    }
    return makers[engine]()


def exact(frame: Any, **options: Any) -> list[list[Fraction]]:
    rows, table = check_table(nw.from_native(frame), NUMBERS, "who", "skip")
    assert rows == ROWS
    return sums(table, moments(ASKED, sizes_public=False), secret=b"", **options)


OPTIONS: list[dict[str, Any]] = [
    {},
    {"by": ["town", "year"], "groups": GROUPS},
    {"by": ["town", "year"], "groups": GROUPS, "person": "who", "rows": 2},
    {"person": "who", "rows": 1},
]


@pytest.mark.parametrize("engine", ENGINES)
def test_sums_are_the_same_as_those_of_shuffled_rows_in_another_engine(
    engine: str, request: pytest.FixtureRequest
) -> None:
    table = data()
    shuffled = table.take(np.random.default_rng(1).permutation(ROWS))
    frame = opened(engine, table, request)
    for options in OPTIONS if engine != "spark" else OPTIONS[2:3]:
        found = exact(frame, **options)
        assert found == exact(shuffled, **options)
        assert found[0][0] > 30
        if "groups" in options:
            assert found[3] == [0] * len(found[0])


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_are_at_the_same_points_of_a_grid_in_every_engine(
    engine: str, request: pytest.FixtureRequest
) -> None:
    table = data()
    shuffled = table.take(np.random.default_rng(2).permutation(ROWS))
    grids = [
        ("age", Grid(0.0, 100.0, 100, True)),
        ("ratio", Grid(-0.3, 0.7, 10, False)),
        ("income", Grid(0.0, 12345.678, 2**16, False)),
    ]

    def counted(frame: Any, options: dict[str, Any]) -> list[Any]:
        _, used = check_table(nw.from_native(frame), NUMBERS, "who", "skip")
        asked = grids[-1:] if engine == "spark" else grids
        found = grid.counts(used, asked, NUMBERS, secret=b"", **options)
        return [(one.points.tolist(), one.rows.tolist()) for groups in found for one in groups]

    frame = opened(engine, table, request)
    for options in OPTIONS if engine != "spark" else OPTIONS[2:3]:
        result = counted(frame, options)
        assert result == counted(shuffled, options)
        assert sum(result[0][1]) > 30


@pytest.mark.parametrize("engine", ENGINES)
def test_a_summary_of_any_engine_is_about_its_rows(
    engine: str, request: pytest.FixtureRequest
) -> None:
    """At next to no noise; the truth is worked out by pandas."""
    table = data().drop_columns(["income"])
    frame = opened(engine, table, request)
    asked = [count(), mean("age", 0, 100), median("age", 0, 100)]
    result = summarize(frame, asked, "town", ["Ulm", "Rom"], rho=1e12)
    assert type(result).__module__.partition(".")[0] == ENGINES[engine]
    assert [axes.get_title() for axes in plot_summary(result).axes][1:] == [
        "mean of age",
        "median of age",
    ]
    rows = nw.from_native(result).lazy().collect().rows(named=True)
    truth = table.to_pandas().assign(age=lambda t: t["age"].clip(0, 100)).groupby("town")["age"]
    for row in rows:
        if row["statistic"] == "median":
            assert row["lower"] <= truth.median()[row["town"]] <= row["upper"]
            assert row["upper"] <= row["lower"] + 2
            assert row["standard_error"] is None or np.isnan(row["standard_error"])
            continue
        expected = truth.size() if row["statistic"] == "count" else truth.mean()
        assert row["value"] == pytest.approx(expected[row["town"]], rel=1e-4)


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_leaves_out_the_same_rows_that_are_out_of_bounds(
    engine: str, request: pytest.FixtureRequest
) -> None:
    big, table = 2**53, data()
    whole = np.arange(ROWS) % 7 + big - 3
    price = [Decimal(int(i) % 9) / 4 for i in range(ROWS)]
    table = table.append_column("whole", pa.array(whole, pa.int64()))
    table = table.append_column("price", pa.array(price, pa.decimal128(20, 2)))
    ratio = np.where(np.arange(ROWS) % 11 == 0, np.inf, table["ratio"].to_numpy())
    table = table.set_column(1, "ratio", pa.array(ratio))
    asked = [mean("age", 0, 100), mean("ratio", -0.3, 0.7), total("whole", 0, big)]
    asked += [mean("price", 0.25, 1.5)]
    columns, frame = [s.column for s in asked], opened(engine, table, request)
    if engine == "pandas":  # which holds decimals as objects
        frame = frame.assign(price=frame["price"].astype(float))
    how: Any = {"outside": "skip", "statistics": asked}
    rows, left = check_table(nw.from_native(frame), columns, "who", "error", **how)
    cells = zip(*(table[name].to_pylist() for name in columns), strict=True)
    held = [(a, r, w, p) for a, r, w, p in cells if 0 <= a <= 100 and -0.3 <= r <= 0.7 and w <= big]
    held = [(a, r, w, p) for a, r, w, p in held if Decimal("0.25") <= p <= Decimal("1.5")]
    assert rows == ROWS
    found = sums(left, moments([count()], sizes_public=False))
    assert found == [[len(held)]]
    assert 100 < len(held) < ROWS / 2


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_finds_the_same_groups(engine: str, request: pytest.FixtureRequest) -> None:
    table = data()
    frame = nw.from_native(opened(engine, table, request))
    options: Any = {"person": "who", "rows": 2, "secret": b""}
    if engine != "spark":
        pairs = zip(table["town"].to_pylist(), table["year"].to_pylist(), strict=True)
        expected = Counter((town, year) for town, year in pairs if town is not None)
        assert group_counts(frame, ["town", "year"]) == expected
    of_people = group_counts(frame, ["town", "year"], **options)
    assert of_people == group_counts(nw.from_native(table), ["town", "year"], **options)
    assert 30 < sum(of_people.values()) < 2 * ROWS / 3


@pytest.mark.parametrize(
    ("collation", "other"),
    [("UTF8_LCASE", "rom"), ("UNICODE_CI_AI", "RÓM"), ("UTF8_BINARY_RTRIM", "Rom ")],
)
def test_a_collation_of_spark_merges_no_groups_that_are_found(
    collation: str, other: str, spark: SparkSession
) -> None:
    rows = pa.table({"c0": [other, *["Rom"] * 3], "c1": [True, True, False, None]})
    frame = spark.createDataFrame(rows).selectExpr(f"c0 COLLATE {collation} AS c0", "c1")
    found = group_counts(nw.from_native(frame), ["c0", "c1"])
    assert found == {(other, True): 1, ("Rom", True): 1, ("Rom", False): 1}


@pytest.mark.parametrize("engine", ENGINES)
def test_120_bins_of_two_groups_are_exact_and_no_engine_warns(
    engine: str, request: pytest.FixtureRequest
) -> None:
    """Warnings are errors here; pandas warns of results with more than 100 columns."""
    table = data().select(["age", "town"])
    frame = opened(engine, table, request)
    asked = histogram("age", range(121))
    result = summarize(frame, asked, "town", ["Ulm", "Rom"], rho=1e12)
    rows = nw.from_native(result).lazy().collect().rows(named=True)
    for town in ("Ulm", "Rom"):
        ages = table.filter(pc.equal(table["town"], town))["age"].to_numpy().clip(0, 120)
        counts = [row["value"] for row in rows if row["town"] == town]
        assert counts == np.histogram(ages, range(121))[0].tolist()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_column_may_be_a_key_and_a_number_in_every_engine(
    engine: str, request: pytest.FixtureRequest
) -> None:
    """Integers beyond 2⁵³ are different keys, though they are the same double."""
    table = pa.table({"code": [2**53] * 600 + [2**53 + 1] * 400})
    asked, keys = [count(), mean("code", 0, 2.0**54)], [2**53, 2**53 + 1]
    result = summarize(opened(engine, table, request), asked, "code", keys, rho=1e12)
    rows = nw.from_native(result).lazy().collect().rows(named=True)
    assert [row["value"] for row in rows if row["statistic"] == "count"] == [600, 400]


@pytest.mark.parametrize("engine", [e for e in ENGINES if e != "spark"])
@pytest.mark.parametrize("bad", [float("inf"), float("nan")])
def test_every_engine_refuses_numbers_that_are_none_without_showing_any(
    engine: str, bad: float, request: pytest.FixtureRequest
) -> None:
    frame = opened(engine, pa.table({"x": [123456.5, bad]}), request)
    with pytest.raises(ArgumentError, match="column 'x' must") as caught:
        summarize(frame, mean("x", 0, 1), epsilon=1.0)
    assert "123456" not in str(caught.value)


@pytest.mark.parametrize(
    ("collation", "other"),
    [("UTF8_LCASE", "rom"), ("UNICODE_CI_AI", "RÓM"), ("UTF8_BINARY_RTRIM", "Rom ")],
)
def test_a_collation_of_spark_merges_neither_groups_nor_people(
    collation: str, other: str, spark: SparkSession
) -> None:
    """One row of another spelling moves a count by one, and takes no place of anybody else."""
    rows = pa.table({"town": [other, *["Rom"] * 20], "x": [*range(21)]})
    frame = spark.createDataFrame(rows).selectExpr(f"town COLLATE {collation} AS town", "x")
    table = nw.from_native(frame)
    asked = moments([count()], sizes_public=False)
    assert sums(table, asked, by=["town"], groups=[("Rom",), ("Ulm",)]) == [[20], [0]]
    assert sums(table, asked, person="town", rows=1) == [[2]]


def test_spark_writes_keys_as_the_other_engines_do(spark: SparkSession) -> None:
    """Each column's values become their places in the public list, whatever their type."""
    days = [date(1, 1, 1), date(1969, 12, 31), date(9999, 12, 31)]
    columns: dict[str, list[Any]] = {
        "text": ["", "a", "A", "a ", "a\0", "é", "e\u0301"],
        "whole": [-(2**63), -1, 0, 1, 2**53, 2**53 + 1, 2**63 - 1],
        "flag": [True, False, None, True, False, None, True],
        "day": [*days, None, *days],
    }
    known = {
        name: places(value for value in values[1:] if value is not None)
        for name, values in columns.items()
    }
    frame = nw.from_native(spark.createDataFrame(pa.table(columns)))
    rows = with_plain_keys(frame, known, None).collect().rows()
    expected = {
        name: [known[name].get(value, 0) for value in values] for name, values in columns.items()
    }
    assert sorted(rows) == sorted(zip(*expected.values(), strict=True))


def exact_request(frame: Any, statistics: Any, **options: Any) -> list[list[Fraction]]:
    """What `summarize` hands to its mechanism, over the largest size of a group."""
    plain = {"by": None, "groups": None, "adjacency": "add-remove", "rows": 1, "person": None}
    plain |= {"size": 100, "nulls": "error"}
    opened = open_table(frame, check_request(statistics=statistics, **(plain | options)))
    ours = opened.request
    _, table = check_table(opened.table, ours.columns, ours.person, ours.nulls)
    asked = moments(ours.statistics, sizes_public=False)
    return sums(table, asked, by=ours.by, groups=ours.groups, person=ours.person)


@pytest.mark.parametrize("person", [None, "who"])
def test_spark_computes_every_row_once_and_sums_it_as_arrow_does(
    person: str | None, spark: SparkSession
) -> None:
    table, seen = data(), spark.sparkContext.accumulator(0)

    def count_rows(batches: Any) -> Any:
        for batch in batches:
            seen.add(batch.num_rows)
            yield batch

    given = spark.createDataFrame(table)
    asked = [*ASKED, median("age", 0, 100), median("income", 0, 12345.678)]
    options = {"nulls": "skip", "by": ["town", "year"], "groups": GROUPS, "person": person}
    plain = {"adjacency": "add-remove", "rows": 2, "size": ROWS}
    request = check_request(statistics=asked, **plain, **options)
    results = []
    for frame in (given.mapInArrow(count_rows, given.schema), table):
        opened = open_table(frame, request)
        needed = moments(opened.request.statistics, sizes_public=False)
        rows, sums, counts = measure(opened, needed, grids(opened), b"")
        points = [(c.points.tolist(), c.rows.tolist()) for groups in counts for c in groups]
        results.append((rows, sums, points))
    assert results[0] == results[1]
    assert results[0][0] == seen.value == ROWS


def test_which_rows_of_a_person_spark_uses_depends_on_nobody_else(spark: SparkSession) -> None:
    hers = [("ann", float(i)) for i in range(8)]
    others = [(f"bob{i % 40}", 100.0 + i) for i in range(200)]
    found = []
    for rows in (hers, others[:90] + hers[::-1] + others[90:]):
        frame = nw.from_native(spark.createDataFrame(rows, "who string, x double"))
        used = used_rows(frame, ["x"], person="who", rows=3, secret=b"a key").table
        values = [row["x0"] for row in used.collect().rows(named=True)]
        found.append(sorted(value for value in values if value < 100))
    assert found[0] == found[1]
    assert len(found[0]) == 3
    assert len(values) == 3 + 40 * 3


def test_a_dot_in_a_name_of_spark_is_no_field_of_a_struct(spark: SparkSession) -> None:
    """Beside a struct whose field is spelled like the column, both as id, group and number."""
    rows = [((f"r{i}", 9.0, "Ulm"), "ann", 1.0, "Rom") for i in range(6)]
    kinds = "a struct<b: string, x: double, t: string>, `a.b` string, `a.x` double, `a.t` string"
    frame = spark.createDataFrame(rows, kinds)
    asked = [count(), histogram("a.x", [0, 5, 10])]
    towns = {"by": "a.t", "groups": ["Rom", "Ulm"]}
    assert exact_request(frame, asked, person="a.b", **towns) == [[1, 1, 0], [0, 0, 0]]
    assert exact_request(frame, asked[:1], person=None) == [[6]]


def test_names_of_spark_are_no_programs(spark: SparkSession) -> None:
    names = ["explode(array(1, 2, 3)) --", "my col", "a`b", "who", "WHO", "same", "same"]
    columns = ", ".join(f"v{i} string" for i in range(len(names)))
    frame = spark.createDataFrame(
        [("x", "y", "z", "ann", str(i), "s", "t") for i in range(3)], columns
    )
    frame = frame.toDF(*names)
    assert exact_request(frame, [count()]) == [[3]]
    assert exact_request(frame, [count()], person="who", by="a`b", groups=["z"]) == [[1]]
    with pytest.raises(ArgumentError, match="id must name columns that the frame has once"):
        exact_request(frame, [count()], person="same")


def test_a_logger_of_spark_does_not_tell_what_failed(
    spark: SparkSession,
) -> None:
    """PySpark prints the message of an error before it is raised."""
    secret, told = "SECRET77x", io.StringIO()
    handler = logging.StreamHandler(told)
    frame = spark.createDataFrame([(secret,)], "age string")
    broken = frame.selectExpr("CAST(age AS DOUBLE) AS age")
    logger = PySparkLogger.getLogger("SQLQueryContextLogger")
    logger.addHandler(handler)
    try:
        with pytest.raises(ArgumentError, match="could not be evaluated"):
            summarize(broken, mean("age", 0, 1), epsilon=1.0)
        assert told.getvalue() == ""
        with pytest.raises(PySparkException):  # the control is broken, and hears again
            broken.collect()
        assert secret in told.getvalue()
    finally:
        logger.removeHandler(handler)
