import warnings
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import inbounds as ib
from inbounds.errors import ArgumentError, ArgumentTypeError, RepeatedReleaseWarning
from inbounds.frames.local.column import PrivateColumn
from inbounds.frames.local.privatize import privatize

WHOLE = ib.BoundedGaussian.calibrated(ib.Box(0, 120, step=1), 120, epsilon=1.0)
FINE = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 120, epsilon=1.0)
INTEGERS = [pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64]
engines = pytest.mark.parametrize("engine", ["in-memory", "streaming"])
both = pytest.mark.parametrize("lazy", [False, True], ids=["kept", "lazy"])


def frame(values: Any, dtype: Any = None) -> pl.DataFrame:
    return pl.DataFrame({"town": ["Ulm"] * len(values), "age": pl.Series(values, dtype=dtype)})


@pytest.mark.parametrize("dtype", [*INTEGERS, pl.Float64])
def test_whole_outputs_keep_the_type_of_the_column(dtype: Any) -> None:
    before = frame([17, 41], dtype)
    for after in (
        privatize(before, {"age": WHOLE}),
        privatize(before.lazy(), {"age": WHOLE}).collect(),
    ):
        assert after.schema == before.schema
        assert after["age"].is_between(0, 120).all()
        assert_frame_equal(after.drop("age"), before.drop("age"))


@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt64, pl.Float32, pl.Float64])
def test_fine_outputs_are_doubles(dtype: Any) -> None:
    before = frame([17, 41], dtype)
    lazy = privatize(before.lazy(), {"age": FINE})
    assert lazy.collect_schema()["age"] == pl.Float64
    assert lazy.collect().schema == privatize(before, {"age": FINE}).schema


def test_the_result_is_a_frame_of_the_same_kind() -> None:
    assert type(privatize(frame([17]), {"age": WHOLE})) is pl.DataFrame
    assert type(privatize(frame([17]).lazy(), {"age": WHOLE})) is pl.LazyFrame


def test_nulls_are_refused_kept_or_replaced() -> None:
    holes = frame([17, None, 41])
    with pytest.raises(ArgumentError, match=r"^column 'age' must have no nulls"):
        privatize(holes, {"age": WHOLE})
    kept = privatize(holes, {"age": WHOLE}, nulls="keep")["age"]
    assert kept.is_null().to_list() == [False, True, False]
    replaced = privatize(holes, {"age": WHOLE}, nulls="uniform")["age"]
    assert replaced.null_count() == 0
    assert kept.dtype == replaced.dtype == pl.Int64


def test_nan_is_a_value_that_cannot_be_released() -> None:
    with pytest.raises(ArgumentError, match=r"^column 'age' must be finite"):
        privatize(frame([1.0, float("nan")]), {"age": FINE}, nulls="keep")


@pytest.mark.parametrize(
    "values",
    [
        pl.Series(["17"]),
        pl.Series([True]),
        pl.Series([Decimal("17.5")]),
        pl.Series([date(2017, 1, 1)]),
        pl.Series([[17]]),
        pl.Series([None]),
        pl.Series([17], dtype=pl.Int128),
        pl.Series(["17"], dtype=pl.Categorical),
    ],
    ids=lambda values: str(values.dtype),
)
def test_other_types_than_numbers_are_refused_by_name_before_anything_runs(values: Any) -> None:
    for lazy in (False, True):
        bad = frame(values).lazy() if lazy else frame(values)
        with pytest.raises(ArgumentTypeError, match=r"^column 'age' must hold integers"):
            privatize(bad, {"age": WHOLE})


def test_a_frame_without_rows_keeps_its_types() -> None:
    for dtype in (*INTEGERS, pl.Float64):
        empty = frame([], dtype)
        assert privatize(empty, {"age": WHOLE}).schema == empty.schema
        assert privatize(empty.lazy(), {"age": WHOLE}).collect().schema == empty.schema


def test_several_chunks_are_released_row_by_row() -> None:
    """False alarm below 1e-6: noise of a hundredth moves nothing by more than a tenth."""
    sharp = ib.BoundedGaussian(ib.Box(0, 120), 120, sigma=0.01)
    before = pl.concat([frame([1.0, 2.0]), frame([3.0, None]), frame([5.0])], rechunk=False)
    after = privatize(before, {"age": sharp}, nulls="keep").slice(1)
    assert (after["age"] - before["age"].slice(1)).abs().max() < 0.1  # type: ignore[operator]
    assert after["age"].is_null().to_list() == [False, False, True, False]


@engines
def test_a_lazy_result_is_computed_whenever_it_is_collected_and_any_other_once(
    engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []
    release = PrivateColumn.release
    monkeypatch.setattr(
        PrivateColumn, "release", lambda self, *given: calls.append(1) or release(self, *given)
    )
    with pytest.warns(RepeatedReleaseWarning, match="another release"):
        lazy = privatize(frame([17, 41]).lazy(), {"age": WHOLE}, lazy=True)
    lazy = lazy.filter(pl.col("age") >= 0)
    lazy.collect_schema()
    assert calls == []
    lazy.collect(engine=engine)
    first = len(calls)
    assert first
    lazy.collect(engine=engine)
    assert len(calls) > first
    calls.clear()
    kept = privatize(frame([17, 41]).lazy(), {"age": WHOLE}).filter(pl.col("age") >= 0)
    assert len(calls) == 1
    kept.collect(engine=engine)
    kept.collect(engine=engine)
    assert len(calls) == 1


def test_a_frame_that_is_not_lazy_has_nothing_to_warn_of() -> None:
    """Warnings are errors in tests."""
    after = privatize(frame([17]), {"age": WHOLE}, lazy=True)
    assert type(after) is pl.DataFrame


def test_a_plan_is_evaluated_once_and_a_failure_is_named_without_its_message() -> None:
    runs: list[int] = []

    def count(batch: pl.DataFrame) -> pl.DataFrame:
        runs.append(len(batch))
        return batch

    before = frame([17, 41])
    kept = privatize(before.lazy().map_batches(count, schema=before.schema), {"age": WHOLE})
    kept.collect()
    assert runs == [2]
    bad = pl.LazyFrame({"age": ["12345x"]}).with_columns(pl.col("age").cast(pl.Int64))
    with pytest.raises(ArgumentError, match=r"its engine raised InvalidOperationError") as caught:
        privatize(bad, {"age": WHOLE})
    assert "12345" not in str(caught.value)
    assert caught.value.__cause__ is caught.value.__context__ is None


@pytest.mark.filterwarnings("ignore::inbounds.RepeatedReleaseWarning")
@both
@engines
def test_a_filter_sees_private_values_only(engine: Any, lazy: bool) -> None:
    """All true values are 0: a filter that saw them would keep nothing."""
    published = privatize(pl.LazyFrame({"age": np.zeros(5000)}), {"age": FINE}, lazy=lazy)
    kept = published.filter(pl.col("age") > 60).collect(engine=engine)["age"]
    assert 500 < len(kept) < 4500
    assert kept.min() > 60  # type: ignore[operator]


@pytest.mark.filterwarnings("ignore::inbounds.RepeatedReleaseWarning")
@both
@engines
def test_a_constant_of_the_plan_gets_noise_for_every_row(engine: Any, lazy: bool) -> None:
    """Polars stores this column as one value, and would repeat the output for it."""
    plan = pl.LazyFrame({"i": np.arange(20_000)}).with_columns(age=pl.lit(50.0))
    published = privatize(plan, {"age": FINE}, lazy=lazy)
    assert published.collect(engine=engine)["age"].n_unique() > 19_000


@pytest.mark.filterwarnings("ignore::inbounds.RepeatedReleaseWarning")
@both
@engines
def test_an_error_while_running_names_the_column_and_shows_no_value(
    engine: Any, lazy: bool
) -> None:
    holes = frame([123456.789, None]).lazy()
    kinds = (ArgumentError, pl.exceptions.ComputeError) if lazy else ArgumentError
    with pytest.raises(kinds, match=r"column 'age' must have no nulls") as caught:
        privatize(holes, {"age": FINE}, lazy=lazy).collect(engine=engine)
    assert "123456" not in str(caught.value)


def test_columns_of_any_type_keep_their_type_and_values() -> None:
    others = {
        "decimal": pl.Series([Decimal("1.5"), None]),
        "time": pl.Series([date(2024, 1, 1), None]).cast(pl.Datetime("ns", "Europe/Berlin")),
        "enum": pl.Series(["a", None], dtype=pl.Enum(["a", "b"])),
        "long": pl.Series([1, None], dtype=pl.Int128),
        "nothing": pl.Series([None, None], dtype=pl.Null),
        "array": pl.Series([["a", "b"], None], dtype=pl.Array(pl.String, 2)),
        "empty": pl.Series([[], []], dtype=pl.Array(pl.Int8, 0)),
        "lists": pl.Series([[{"a": ["x"]}], None]),
        "no fields": pl.Series([{}, {}], dtype=pl.Struct([])),
    }
    whole = pl.DataFrame({"age": [17.0, 41.0], **others})
    for before in (whole, whole.clear()):
        after = privatize(before, {"age": FINE})
        assert_frame_equal(after.drop("age"), before.drop("age"))


@pytest.mark.parametrize("lazy", [False, True])
def test_categories_become_text_because_their_codes_tell_which_came_first(lazy: bool) -> None:
    kinds = {
        "one": pl.Categorical(),
        "list": pl.List(pl.Categorical()),
        "pair": pl.Array(pl.Categorical(), 2),
        "inside": pl.Struct({"a": pl.List(pl.Categorical())}),
    }
    plain = {
        "one": ["b", None],
        "list": [["b"], None],
        "pair": [["b", "a"], None],
        "inside": [{"a": ["b"]}, {"a": None}],
    }
    others = {name: pl.Series(cells, dtype=kinds[name]) for name, cells in plain.items()}
    whole = pl.DataFrame({"age": [17.0, 41.0], **others})
    with warnings.catch_warnings(action="ignore", category=RepeatedReleaseWarning):
        after = privatize(whole.lazy(), {"age": FINE}, lazy=lazy)
    assert after.collect_schema() == after.collect().schema
    expected = pl.DataFrame(plain).cast({"pair": pl.Array(pl.String(), 2)})
    assert_frame_equal(after.collect().drop("age"), expected)


def test_a_private_category_is_text_whatever_the_true_one_was() -> None:
    m = ib.RandomizedResponse(["no", "yes"], epsilon=0.01)
    kinds = set()
    for true in ("yes", "no"):
        given = pl.DataFrame({"x": pl.Series([true], dtype=pl.Categorical)})
        kinds |= {privatize(given, {"x": m}).schema["x"]}
    assert kinds == {pl.String()}
