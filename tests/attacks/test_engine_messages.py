"""Attacks on what engines and types say: categories, fill values and failed casts tell the data."""

from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import inbounds as ib
from inbounds.frames import count, mean

SECRET = "77.123456"
HIDDEN = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 120, epsilon=1.0)
ENUM = pl.DataFrame({"age": pl.Series([SECRET], dtype=pl.Enum([SECRET]))})
SPARSE = pd.DataFrame({"age": pd.arrays.SparseArray([77.123456, 3.0], fill_value=77.123456)})
BROKEN = pl.DataFrame({"age": [SECRET + "x"]}).lazy().with_columns(pl.col("age").cast(pl.Float64))


def said(error: BaseException | None) -> str:
    """Return all that an error says, and all errors that can be reached from it, shown or not."""
    if error is None:
        return ""
    text = f"{error!r} {error.args!r} {getattr(error, '__notes__', '')}"
    return text + said(error.__cause__) + said(error.__context__)


def test_the_control_is_broken_engines_and_types_do_tell() -> None:
    assert SECRET in str(ENUM.schema["age"])
    assert SECRET in str(SPARSE["age"].dtype)
    with pytest.raises(pl.exceptions.PolarsError) as failure:
        BROKEN.collect()
    assert SECRET in said(failure.value)


@pytest.mark.parametrize("frame", [ENUM, SPARSE], ids=["enum", "sparse"])
def test_the_type_of_a_column_is_named_without_its_details(frame: Any) -> None:
    with pytest.raises(ib.ArgumentTypeError, match="column 'age' must hold") as failure:
        ib.privatize(frame, {"age": HIDDEN})
    assert SECRET not in said(failure.value)


def test_duckdb_types_are_named_without_their_details() -> None:
    with duckdb.connect() as connection:
        frame = connection.sql(f"SELECT '{SECRET}'::ENUM('{SECRET}') AS age")
        with pytest.raises(ib.ArgumentTypeError) as failure:
            ib.privatize(frame, {"age": HIDDEN})
    assert SECRET not in said(failure.value)


@pytest.mark.parametrize("frame", [ENUM, BROKEN], ids=["enum", "broken"])
def test_a_summary_never_shows_what_its_engine_says(frame: Any) -> None:
    with pytest.raises(ib.InBoundsError) as failure:
        ib.summarize(frame, mean("age", 0, 1), epsilon=1.0)
    assert SECRET not in said(failure.value)


def broken_relation() -> Any:
    return duckdb.sql(f"SELECT CAST(s AS DOUBLE) AS age FROM (VALUES ('{SECRET}x')) t(s)")


def broken_reader() -> Any:
    schema = pa.schema({"age": pa.float64()})

    def batches() -> Any:
        yield pa.record_batch({"age": [3.0]}, schema=schema)
        yield pa.record_batch({"age": pa.array([SECRET + "x"]).cast(pa.float64())}, schema=schema)

    return pa.RecordBatchReader.from_batches(schema, batches())


@pytest.mark.parametrize(
    "frame", [lambda: BROKEN, broken_relation, broken_reader], ids=["polars", "duckdb", "reader"]
)
def test_an_estimate_never_shows_what_its_engine_says(frame: Any) -> None:
    """What fails may be the private column itself, as after `privatize` with lazy=True."""
    with pytest.raises(ib.ArgumentError, match="its engine raised") as failure:
        ib.estimate(frame(), {"age": HIDDEN})
    assert SECRET not in said(failure.value)


def test_a_private_column_that_fails_late_is_not_shown_by_an_estimate() -> None:
    with pytest.warns(ib.errors.RepeatedReleaseWarning):
        private = ib.privatize(BROKEN, {"age": HIDDEN}, lazy=True)
    with pytest.raises(ib.ArgumentError, match="its engine raised") as failure:
        ib.estimate(private, {"age": HIDDEN})
    assert SECRET not in said(failure.value)


def test_a_search_for_groups_never_shows_what_its_engine_says() -> None:
    broken = pl.DataFrame({"age": [SECRET + "x"]}).lazy().with_columns(pl.col("age").cast(pl.Int64))
    for frame, options in (
        (broken, {}),
        (ENUM.with_columns(who=None), {"id": "who"}),
        (SPARSE, {}),
    ):
        with pytest.raises(ib.InBoundsError) as failure:
            ib.find_groups(frame, "age", epsilon=1.0, delta=1e-6, **options)
        assert SECRET not in said(failure.value)
        assert failure.value.__context__ is None


def broken_relation(connection: duckdb.DuckDBPyConnection) -> Any:
    connection.execute(f"CREATE TABLE t AS SELECT '{SECRET}x' AS age")
    return connection.sql("SELECT age::DOUBLE AS age FROM t")


def test_no_message_of_duckdb_is_behind_an_error() -> None:
    with duckdb.connect() as connection, pytest.raises(ib.ArgumentError) as failure:
        ib.summarize(broken_relation(connection), mean("age", 0, 1), epsilon=1.0)
    assert SECRET not in said(failure.value)
    assert failure.value.__context__ is None


def test_an_engine_that_panics_says_nothing() -> None:
    """A panic of Polars is no `Exception`."""

    def panic(_: Any) -> Any:
        raise pl.exceptions.PanicException(SECRET)

    assert not issubclass(pl.exceptions.PanicException, Exception)
    frame = pl.LazyFrame({"age": [1.0]}).map_batches(panic, schema={"age": pl.Float64})
    with pytest.raises(ib.ArgumentError, match="could not be evaluated") as failure:
        ib.summarize(frame, mean("age", 0, 1), epsilon=1.0)
    assert SECRET not in said(failure.value)


def test_an_error_of_ours_keeps_nothing_of_what_led_to_it() -> None:
    class Frame(pd.DataFrame):  # type: ignore[misc]
        def __getattribute__(self, name: str) -> Any:
            if name == "columns":
                try:
                    raise ValueError(SECRET)
                except ValueError:
                    raise ib.ArgumentError("frame must be another.") from None
            return super().__getattribute__(name)

    with pytest.raises(ib.InBoundsError) as failure:
        ib.summarize(Frame({"age": [1.0]}), mean("age", 0, 1), epsilon=1.0)
    assert SECRET not in said(failure.value)


def test_an_interruption_is_passed_on() -> None:
    def interrupt(_: Any) -> Any:
        raise KeyboardInterrupt

    frame = pl.LazyFrame({"age": [1.0]}).map_batches(interrupt, schema={"age": pl.Float64})
    with pytest.raises(KeyboardInterrupt):
        ib.summarize(frame, mean("age", 0, 1), epsilon=1.0)


def test_a_group_the_result_cannot_hold_costs_nothing(tmp_path: Path) -> None:
    ledger = ib.Ledger(tmp_path / "budget.db")
    ledger.open("d", epsilon=5.0)
    with (
        duckdb.connect() as connection,
        pytest.raises(ib.ArgumentError, match="groups must hold integers"),
    ):
        ib.summarize(
            connection.sql("SELECT 1::INT AS k"),
            count(),
            by="k",
            groups=[1, 10**30],
            epsilon=1.0,
            ledger=ledger,
            dataset="d",
        )
    assert ledger.remaining("d").epsilon == 5.0


class Talkative:
    """A value that tells itself when it is copied."""

    def __reduce__(self) -> str:
        raise RuntimeError("secret-4711")


def test_a_column_that_cannot_be_copied_leaves_nothing_of_its_error() -> None:
    """Categories are copied through a pickle, which runs the code of their values."""
    words = pd.Categorical.from_codes([0, 0], categories=pd.Index([Talkative()], dtype=object))
    frame = pd.DataFrame({"age": [17.0, 41.0], "who": words})
    mechanism = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 120, epsilon=1.0)
    with pytest.raises(ib.ArgumentTypeError, match="'who'") as caught:
        ib.privatize(frame, {"age": mechanism})
    assert caught.value.__context__ is caught.value.__cause__ is None
