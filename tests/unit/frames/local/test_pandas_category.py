from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import inbounds as ib
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.frames.local.privatize import privatize

TEXT = ib.RandomizedResponse(["no", "yes", "maybe"], epsilon=1.0)
WHOLE = ib.RandomizedResponse([1, 2, 3], epsilon=1.0)
TRUTH = ib.RandomizedResponse([False, True], epsilon=1.0)
SURE = ib.RandomizedResponse(["no", "yes"], epsilon=80.0)  # never flips
CASES = [
    (dtype, [*mechanism.levels, None, mechanism.levels[0]], mechanism)
    for mechanism, dtypes in (
        (TEXT, [object, "str", "string", pd.ArrowDtype(pa.string())]),
        (WHOLE, [object, "Int8", "UInt64", pd.ArrowDtype(pa.uint8())]),
        (TRUTH, [object, "boolean", pd.ArrowDtype(pa.bool_())]),
    )
    for dtype in dtypes
]
each_case = pytest.mark.parametrize(("dtype", "values", "mechanism"), CASES, ids=str)


@each_case
@pytest.mark.parametrize("shuffle", [False, True])
def test_the_type_is_kept_and_nulls_are_kept_replaced_or_refused(
    dtype: Any, values: list[Any], mechanism: Any, shuffle: bool
) -> None:
    frame = pd.DataFrame({"x": pd.Series(values, dtype=dtype), "y": range(len(values))})
    kept = privatize(frame, {"x": mechanism}, nulls="keep", shuffle=shuffle)
    replaced = privatize(frame, {"x": mechanism}, nulls="uniform", shuffle=shuffle)
    assert kept["x"].dtype == replaced["x"].dtype == frame["x"].dtype
    assert kept["y"][kept["x"].isna()].tolist() == [len(mechanism.levels)]
    assert not replaced["x"].isna().any()
    assert set(replaced["x"].tolist()) <= set(mechanism.levels)
    with pytest.raises(ArgumentError, match=r"^column 'x' must have no nulls"):
        privatize(frame, {"x": mechanism})


@pytest.mark.parametrize(
    ("dtype", "mechanism"), [("int8", WHOLE), ("uint64", WHOLE), (">i4", WHOLE), ("bool", TRUTH)]
)
def test_numpy_types_are_kept_in_the_byte_order_of_the_machine(dtype: str, mechanism: Any) -> None:
    frame = pd.DataFrame({"x": np.array(mechanism.levels, dtype)})
    after = privatize(frame, {"x": mechanism})["x"]
    assert after.dtype == np.dtype(dtype).newbyteorder("=")
    assert set(after.tolist()) <= set(mechanism.levels)


@pytest.mark.parametrize("mechanism", [TEXT, WHOLE, TRUTH])
@pytest.mark.parametrize("ordered", [False, True])
def test_categories_become_the_levels_whatever_the_column_listed(
    mechanism: Any, ordered: bool
) -> None:
    for listed in (mechanism.levels[:1], mechanism.levels[::-1]):
        cells = pd.Categorical([mechanism.levels[0], None] * 3, listed, ordered=ordered)
        after = privatize(pd.DataFrame({"x": cells}), {"x": mechanism}, nulls="keep")["x"]
        assert after.cat.categories.tolist() == list(mechanism.levels)
        assert after.cat.ordered == ordered
        assert after.isna().tolist() == [False, True] * 3


def test_every_row_gets_the_level_of_its_own_value() -> None:
    values = ["no", "yes", "yes", "no"] * 50
    for dtype in (object, "str", "category", pd.ArrowDtype(pa.large_string())):
        frame = pd.DataFrame({"x": pd.Series(values, dtype=dtype)})
        assert privatize(frame, {"x": SURE})["x"].tolist() == values


class Sly(str):
    """A text that equals everything."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


@pytest.mark.parametrize(
    ("cells", "mechanism"),
    [
        (["no", "secret"], TEXT),
        (["no", 1], TEXT),
        (["no", Sly("yes")], TEXT),
        ([1, True], WHOLE),
        ([1, 2.0], WHOLE),
        ([True, 1], TRUTH),
    ],
)
def test_objects_that_are_no_levels_are_refused_without_being_shown(
    cells: list[Any], mechanism: Any
) -> None:
    for dtype in (object, "category"):
        frame = pd.DataFrame({"x": pd.Series(np.array([*cells, None], object), dtype=object)})
        if dtype == "category" and len(set(map(type, cells))) > 1:
            continue  # pandas compares the cells itself
        frame["x"] = frame["x"].astype(dtype)
        with pytest.raises(ArgumentError, match=r"^column 'x' must hold levels") as caught:
            privatize(frame, {"x": mechanism}, nulls="keep")
        assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("values", "mechanism"),
    [
        (pd.Series([1.0]), WHOLE),
        (pd.Series([1]), TRUTH),
        (pd.Series([True]), WHOLE),
        (pd.Series([1]), TEXT),
        (pd.Series([1], dtype="int8"), ib.RandomizedResponse([1, 300], epsilon=1.0)),
        (pd.Series([pd.Timestamp("2024-01-01")]), TEXT),
        (pd.Series([1.0], dtype=pd.ArrowDtype(pa.float64())), WHOLE),
    ],
)
def test_other_types_are_refused_by_name(values: Any, mechanism: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"^column 'x' must hold"):
        privatize(pd.DataFrame({"x": values}), {"x": mechanism})
