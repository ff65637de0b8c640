from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import inbounds as ib
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.frames.local.privatize import privatize

WHOLE = ib.BoundedGaussian.calibrated(ib.Box(0, 120, step=1), 120, epsilon=1.0)
FINE = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 120, epsilon=1.0)
TYPES = ["int8", "uint16", "int64", "float64", "Int8", "UInt32", "Int64", "Float64"]
TYPES += ["int16[pyarrow]", "uint64[pyarrow]", "double[pyarrow]"]


def frame(values: Any, dtype: Any = None) -> pd.DataFrame:
    return pd.DataFrame({"town": "Ulm", "age": pd.Series(values, dtype=dtype)})


@pytest.mark.parametrize("dtype", TYPES)
def test_whole_outputs_keep_the_type_of_the_column(dtype: str) -> None:
    before = frame([17, 41], dtype)
    after = privatize(before, {"age": WHOLE})
    assert after.dtypes.equals(before.dtypes)
    assert after["age"].between(0, 120).all()


@pytest.mark.parametrize(
    ("dtype", "result"),
    [
        ("int8", "float64"),
        ("float32", "float64"),
        ("Int8", "Float64"),
        ("Float32", "Float64"),
        ("Float64", "Float64"),
        ("int8[pyarrow]", "double[pyarrow]"),
        ("float[pyarrow]", "double[pyarrow]"),
    ],
)
def test_fine_outputs_are_doubles_of_the_same_family(dtype: str, result: str) -> None:
    assert privatize(frame([17, 41], dtype), {"age": FINE})["age"].dtype == result


def test_everything_else_stays_and_nothing_is_changed_in_place() -> None:
    labels = pd.MultiIndex.from_tuples([("x", 1), ("y", 1)], names=["a", "b"])
    before = pd.DataFrame({"town": ["Ulm", "Rom"], "age": [17, 41], "when": pd.NaT}, index=labels)
    before.attrs["source"] = "survey"
    original = before.copy(deep=True)
    after = privatize(before, {"age": FINE})
    pd.testing.assert_frame_equal(before, original)
    pd.testing.assert_frame_equal(after.drop(columns="age"), original.drop(columns="age"))
    assert list(after.columns) == ["town", "age", "when"]
    assert after.attrs == {}  # they may reveal private values


def test_a_subclass_of_data_frame_is_kept_without_its_metadata() -> None:
    class Survey(pd.DataFrame):
        _metadata = ("mean_age",)

        @property
        def _constructor(self) -> type:
            return Survey

    survey = Survey({"age": [17], "rank": [1]})
    survey.mean_age = 17.0
    published = privatize(survey, {"age": WHOLE})
    assert type(published) is Survey
    assert survey.copy().mean_age == 17.0
    assert not hasattr(published, "mean_age")


def test_columns_keep_their_names_and_their_order() -> None:
    for names in (pd.RangeIndex(3), pd.Index(["x", "y", "z"], name="what"), pd.Index([2, 0, 1])):
        before = pd.DataFrame(np.arange(9).reshape(3, 3), columns=names)
        after = privatize(before, {names[0]: WHOLE, names[2]: WHOLE})
        pd.testing.assert_index_equal(after.columns, before.columns)
        assert after.iloc[:, 1].tolist() == [1, 4, 7]


def test_no_true_value_is_in_the_memory_of_an_unchanged_column() -> None:
    """pandas stores columns of the same type in one array, of which they are views."""
    before = pd.DataFrame(np.full((3, 4), 77.25), columns=list("abcd"))
    after = privatize(before, {"b": FINE})
    for name in "acd":
        base = after[name].to_numpy().base
        while base is not None:
            assert base.size <= 9
            base = base.base


@pytest.mark.parametrize("dtype", ["float64", "Int64", "Float64", "int64[pyarrow]"])
def test_nulls_are_refused_kept_or_replaced(dtype: str) -> None:
    holes = frame([17, None, 41], dtype)
    with pytest.raises(ArgumentError, match=r"^column 'age' must have no nulls"):
        privatize(holes, {"age": WHOLE})
    kept = privatize(holes, {"age": WHOLE}, nulls="keep")["age"]
    assert kept.isna().tolist() == [False, True, False]
    assert kept.dtype == dtype
    replaced = privatize(holes, {"age": WHOLE}, nulls="uniform")["age"]
    assert replaced.dtype == dtype
    assert replaced.between(0, 120).all()


def test_nan_is_a_null_in_every_family_of_types() -> None:
    raw = pd.arrays.FloatingArray(np.array([17.0, np.nan]), np.array([False, False]))
    arrow = pd.Series(pd.array(pa.array([17.0, float("nan")]), dtype="double[pyarrow]"))
    for holes in (frame([17, np.nan]), frame(raw), frame(arrow)):
        assert privatize(holes, {"age": FINE}, nulls="uniform")["age"].between(0, 120).all()
        kept = privatize(holes, {"age": FINE}, nulls="keep")["age"]
        assert kept.isna().tolist() == [False, True]


def test_infinities_are_refused_without_showing_their_neighbours() -> None:
    with pytest.raises(ArgumentError, match=r"^column 'age' must be finite") as caught:
        privatize(frame([123.456, np.inf]), {"age": FINE}, nulls="keep")
    assert "123" not in str(caught.value)


@pytest.mark.parametrize(
    "values",
    [
        pd.Series(["17"]),
        pd.Series([17], dtype=object),
        pd.Series([Decimal("17")]),
        pd.Series([True]),
        pd.Series([True], dtype="boolean"),
        pd.Series([17j]),
        pd.to_datetime(pd.Series(["2017-01-01"])),
        pd.to_timedelta(pd.Series(["17s"])),
        pd.Series([17], dtype="category"),
        pd.Series(pd.arrays.SparseArray([17.0])),
        pd.Series([17], dtype=np.longdouble),
        pd.Series([Decimal("17")], dtype=pd.ArrowDtype(pa.decimal128(5, 2))),
    ],
    ids=lambda values: str(values.dtype),
)
def test_other_types_than_numbers_are_refused_by_name(values: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"^column 'age' must hold integers"):
        privatize(frame(values), {"age": WHOLE})


def test_names_may_be_anything_pandas_allows() -> None:
    numbered = pd.DataFrame([[17, 1], [41, 2]])
    assert (privatize(numbered, {0: WHOLE})[1] == [1, 2]).all()
    nested = pd.DataFrame({("a", "x"): [17], ("a", "y"): [1]})
    assert privatize(nested, {("a", "x"): WHOLE})[("a", "y")].tolist() == [1]


def test_columns_of_the_same_name_are_refused_only_if_they_are_private() -> None:
    twice = pd.DataFrame([[17, 1, 2]], columns=["age", "town", "town"])
    with pytest.raises(ArgumentError, match=r"^frame has 2 columns named 'town'\.$"):
        privatize(twice, {"town": WHOLE})
    after = privatize(twice, {"age": WHOLE})
    assert after.iloc[0, 1:].tolist() == [1, 2]
    assert list(after.columns) == list(twice.columns)


def test_a_frame_without_rows_keeps_its_types() -> None:
    for dtype in TYPES:
        empty = frame([], dtype)
        assert privatize(empty, {"age": WHOLE}).dtypes.equals(empty.dtypes)


def test_a_label_that_equals_nothing_is_the_label_of_its_column_alone() -> None:
    before = pd.DataFrame([[17, 41]], columns=pd.Index([pd.NA, "age"], dtype=object))
    assert privatize(before, {"age": FINE}).iloc[0, 0] == 17
    assert privatize(before, {pd.NA: FINE}).iloc[0, 1] == 41
    with pytest.raises(ArgumentError, match=r"^frame has no column 'pay'\.$"):
        privatize(before, {"pay": FINE})


def test_an_index_with_the_name_of_a_private_column_is_not_published() -> None:
    """`set_index` with drop=False copies the true values into the index."""
    before = pd.DataFrame({"age": [17, 41], "town": [1, 2]})
    for index in ("age", ["town", "age"]):
        with pytest.raises(ArgumentError, match=r"index that is not private, not one named 'age'"):
            privatize(before.set_index(index, drop=False), {"age": FINE})
        shuffled = privatize(before.set_index(index, drop=False), {"age": FINE}, shuffle=True)
        assert shuffled.index.names == [None]
    assert privatize(before.set_index("town"), {"age": FINE}).index.tolist() == [1, 2]


@pytest.mark.parametrize("shuffle", [False, True])
def test_an_index_of_views_is_kept_or_dropped(shuffle: bool) -> None:
    labels = pd.arrays.ArrowExtensionArray(
        pa.chunked_array([pa.array(["a", "b"], pa.string_view())])
    )
    published = privatize(
        pd.DataFrame({"age": [17.0, 41.0]}, index=pd.Index(labels)), {"age": FINE}, shuffle=shuffle
    )
    assert published.index.tolist() == ([0, 1] if shuffle else ["a", "b"])


def test_levels_of_an_index_that_no_row_has_are_left_out() -> None:
    whole = pd.DataFrame(
        {"age": [17.0, 41.0]}, index=pd.MultiIndex.from_tuples([("a", 1), ("gone", 2)])
    )
    published = privatize(whole.iloc[:1], {"age": FINE})
    assert published.index.tolist() == [("a", 1)]
    assert [level.tolist() for level in published.index.levels] == [["a"], [1]]
