"""Randomised response on every engine alike; Spark has a session of its own."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import binomtest

import inbounds as ib
from inbounds.frames.local.privatize import privatize, row_guarantee

# PySpark warns of pandas 3 wherever Arrow is used; no pandas object is made here.
pytestmark = pytest.mark.filterwarnings(
    "ignore:PySpark does not yet fully support pandas:FutureWarning"
)

ROWS = 40_000
LEVELS = ["no", "yes", "d'oh", "ä"]
MECHANISM = ib.RandomizedResponse(LEVELS, epsilon=1.0)
SURE = ib.RandomizedResponse(LEVELS, epsilon=80.0)  # never flips
Cells = list[str | None]


def enumerated(cells: Cells) -> Any:
    return pl.Series(cells, dtype=pl.Enum(sorted([*LEVELS, "secret"])))


def coded(cells: Cells) -> Any:
    return pa.table({"x": pa.array(cells).dictionary_encode()})


@contextmanager
def relation(cells: Cells, kind: str) -> Iterator[Any]:
    with duckdb.connect() as connection:
        yield connection.from_arrow(pa.table({"x": cells})).project(f"x::{kind} AS x")


ENUM = "ENUM('yes', 'no', 'ä', 'd''oh')"
ENGINES: dict[str, tuple[Callable[[Cells], Any], Callable[[Any], list[Any]]]] = {
    "pandas": (lambda x: pd.DataFrame({"x": x}), lambda y: y["x"].tolist()),
    "pandas, categories": (
        lambda x: pd.DataFrame({"x": pd.Categorical(x)}),
        lambda y: y["x"].tolist(),
    ),
    "Polars": (lambda x: pl.DataFrame({"x": x}), lambda y: y["x"].to_list()),
    "Polars, enum": (lambda x: pl.DataFrame({"x": enumerated(x)}), lambda y: y["x"].to_list()),
    "Polars, lazy": (
        lambda x: pl.LazyFrame({"x": pl.Series(x, dtype=pl.Categorical)}),
        lambda y: y.collect()["x"].to_list(),
    ),
    "Arrow": (lambda x: pa.table({"x": x}), lambda y: y["x"].to_pylist()),
    "Arrow, dictionary": (coded, lambda y: y["x"].to_pylist()),
    "Arrow reader": (
        lambda x: pa.table({"x": x}).to_reader(500),
        lambda y: y.read_all()["x"].to_pylist(),
    ),
}
each = pytest.mark.parametrize(("make", "read"), ENGINES.values(), ids=ENGINES)


def check(published: Callable[[Cells, Any, str], list[Any]]) -> None:
    """What must hold on every engine; `published` returns the outputs for some cells."""
    cells: Cells = [LEVELS[i % 4] for i in range(400)]
    assert published(cells, SURE, "error") == cells
    holes: Cells = ["no", None, "yes"]
    kept = published(holes, SURE, "keep")
    assert [kept[0], kept[2]] == ["no", "yes"]
    assert kept[1] is None or kept[1] != kept[1]  # NaN in pandas
    assert set(published(holes, MECHANISM, "uniform")) <= set(LEVELS)
    outputs = published(["yes"] * ROWS, MECHANISM, "error")
    for level in LEVELS:
        chance = (MECHANISM.sampler.own if level == "yes" else MECHANISM.sampler.other) / 2**128
        count = outputs.count(level)
        assert binomtest(count, ROWS, chance).pvalue > 1e-8
        assert binomtest(count, ROWS, chance * 1.15).pvalue < 1e-8
    for bad in (["no", "secret"], ["no", None]):
        with pytest.raises(
            ib.ArgumentError, match=r"column 'x' must (hold levels|have no nulls)"
        ) as c:
            published(bad, MECHANISM, "error")
        assert "secret" not in str(c.value)
        assert c.value.__cause__ is c.value.__context__ is None


@each
def test_levels_have_their_probabilities_and_rows_their_own(make: Any, read: Any) -> None:
    """False alarm below 1e-6 in all cases together; probabilities 15 % wrong are rejected."""

    def published(cells: Cells, mechanism: Any, nulls: Any) -> list[Any]:
        result: list[Any] = read(privatize(make(cells), {"x": mechanism}, nulls=nulls))
        return result

    check(published)


@pytest.mark.parametrize("kind", ["VARCHAR", ENUM])
def test_the_same_holds_in_duckdb(kind: str) -> None:
    """False alarm below 1e-6; probabilities 15 % wrong are rejected."""

    def published(cells: Cells, mechanism: Any, nulls: Any) -> list[Any]:
        known = kind == "VARCHAR" or "secret" not in cells
        with relation(cells, kind if known else "VARCHAR") as frame:
            after = privatize(frame, {"x": mechanism}, nulls=nulls)
            if kind == ENUM and known:
                assert str(after.types[0]) == "ENUM('no', 'yes', 'd''oh', 'ä')"
            return [cell for (cell,) in after.fetchall()]

    check(published)


def test_the_same_holds_in_spark_whatever_the_collation(spark: Any) -> None:
    """False alarm below 1e-6; probabilities 15 % wrong are rejected."""

    def published(cells: Cells, mechanism: Any, nulls: Any) -> list[Any]:
        frame = spark.createDataFrame(pa.table({"i": range(len(cells)), "x": cells}))
        frame = frame.selectExpr("i", "x COLLATE UTF8_LCASE AS x")
        after = privatize(frame, {"x": mechanism}, nulls=nulls)
        assert after.schema == frame.schema
        table = after.toArrow().sort_by("i")
        return list(table["x"].to_pylist())

    check(published)
    with pytest.raises(ib.ArgumentError, match="must hold levels"):
        published(["no", "YES"], MECHANISM, "error")


def test_numbers_and_categories_are_released_together_and_cost_together() -> None:
    age = ib.Window.calibrated(ib.Box(0, 120, step=1), 120, epsilon=1.0)
    smoker = ib.RandomizedResponse([False, True], epsilon=0.5)
    frame = pd.DataFrame({"age": [17, 41], "smoker": [True, False], "town": ["Ulm", "Rom"]})
    published = privatize(frame, {"smoker": smoker, "age": age})
    assert published.dtypes.tolist() == frame.dtypes.tolist()
    assert published["town"].tolist() == ["Ulm", "Rom"]
    assert row_guarantee({"smoker": smoker, "age": age}).pure == pytest.approx(1.5)


def test_the_fractions_are_recovered_from_a_private_column() -> None:
    """False alarm below 1e-6: the standard error of the estimate is 0.006."""
    frame = pl.DataFrame({"x": ["no"] * (ROWS // 4 * 3) + ["yes"] * (ROWS // 4)})
    private = privatize(frame, {"x": MECHANISM}, shuffle=True)
    assert (private["x"] == "yes").sum() > ROWS / 5
    fractions = MECHANISM.estimate(private["x"]).fractions
    assert fractions == pytest.approx([0.75, 0.25, 0.0, 0.0], abs=0.045)


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("ordered", [False, True])
def test_the_list_of_true_values_is_not_published(shuffle: bool, ordered: bool) -> None:
    """The dictionary lists a value that no row has, and the rows have others than the levels."""
    words = pa.array(["ä", "unused", "yes"])
    indices = pa.array([0, 2] * 2000, pa.int32())
    column = pa.DictionaryArray.from_arrays(indices, words, ordered=ordered)
    table = pa.table({"x": pa.chunked_array([column.slice(0, 1001), column.slice(1001)])})
    for frame in (table, table.to_batches()[0], table.to_reader()):
        after = privatize(frame, {"x": MECHANISM}, shuffle=shuffle)
        after = after.read_all() if isinstance(after, pa.RecordBatchReader) else after
        after = pa.Table.from_batches([after]) if isinstance(after, pa.RecordBatch) else after
        after.validate(full=True)
        counts = {cell["values"]: cell["counts"] for cell in after["x"].value_counts().to_pylist()}
        assert set(counts) == set(LEVELS)
        assert counts["ä"] > counts["no"]
        for chunk in after["x"].chunks:
            assert set(chunk.dictionary.to_pylist()) == set(LEVELS)
    for kind in (pd.ArrowDtype(table["x"].type), "category"):
        pandas = pd.DataFrame({"x": pd.Series(column.to_pylist(), dtype=kind)})
        after = privatize(pandas, {"x": MECHANISM}, shuffle=shuffle)["x"]
        assert set(after.tolist()) == set(LEVELS)
        assert "unused" not in repr(after.dtype)
