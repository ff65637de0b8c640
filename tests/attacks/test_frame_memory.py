"""Attacks on the memory of published pandas and Polars frames, of whatever type their columns are.

A cell that was set to null, a row outside a slice and the old order of rows may stay in the memory
of a frame, and so in its pickle. The control of each attack is the frame as it was given.
"""

import io
import pickle
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import inbounds as ib

AGE = ib.ClampedLaplace(ib.Box(0, 120), 120, scale=120.0)
SECRET = 0x1122334455667788
TEXT = "the-row-that-nobody-may-see"


def memory(frame: Any) -> bytes:
    """Everything that a frame would carry into a file of its own format."""
    if isinstance(frame, pd.DataFrame):
        return pickle.dumps(frame)
    file = io.BytesIO()
    frame.write_ipc_stream(file)
    written = [pickle.dumps(frame), file.getvalue()]
    if "128" not in str(frame.schema):  # which Arrow does not have
        chunks = [chunk for column in frame.to_arrow().columns for chunk in column.chunks]
        written += [b.to_pybytes() for chunk in chunks for b in chunk.buffers() if b is not None]
    return b"".join(written)


def masked_later(kind: str, secret: Any) -> Any:
    """A nullable array whose third cell was set to null after it had a value."""
    array = pd.array([secret, secret, secret], dtype=kind)
    array[:2] = pd.array([True, False] if kind == "boolean" else [1, 0], dtype=kind)
    array[2] = pd.NA
    return array


NULLABLE = {
    "Int64": (SECRET, np.int64(SECRET).tobytes()),
    "UInt64": (SECRET, np.uint64(SECRET).tobytes()),
    "Int32": (0x11223344, np.int32(0x11223344).tobytes()),
    "Float64": (1.2345678901234567, np.float64(1.2345678901234567).tobytes()),
    "boolean": (True, None),
}


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("kind", NULLABLE)
def test_what_a_nullable_column_of_pandas_held_before_is_not_published(
    kind: str, shuffle: bool
) -> None:
    secret, written = NULLABLE[kind]
    given = pd.DataFrame({"age": [1.0, 2.0, 3.0], "x": masked_later(kind, secret)})
    published = ib.privatize(given, {"age": AGE}, shuffle=shuffle)
    assert published["x"].isna().sum() == 1
    assert sorted(published["x"].dropna()) == [0, 1]
    assert given["x"].array._data[2] == secret
    assert not published["x"].array._data[published["x"].isna().to_numpy()].any()
    if written is not None:
        assert written in memory(given)
        assert written not in memory(published)


def test_what_a_nullable_index_held_before_is_not_published() -> None:
    index = pd.Index(masked_later("Int64", SECRET))
    given = pd.DataFrame({"age": [1.0, 2.0, 3.0]}, index=index)
    assert np.int64(SECRET).tobytes() in memory(given)
    published = ib.privatize(given, {"age": AGE})
    assert np.int64(SECRET).tobytes() not in memory(published)
    assert published.index.isna().tolist() == [False, False, True]


LEAVES: list[tuple[Any, Any]] = [
    (pl.Null(), None),
    (pl.Categorical(), "u"),
    (pl.Enum(["u"]), "u"),
    (pl.Int128(), 2**100),
    (pl.UInt128(), 2**100),
    (pl.Int8(), 1),
    (pl.Date(), None),
    (pl.List(pl.Enum(["u"])), ["u"]),
]


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize(("kind", "value"), LEAVES, ids=str)
def test_what_stood_beside_any_type_in_a_null_struct_of_polars_is_not_published(
    kind: Any, value: Any, shuffle: bool
) -> None:
    cells = [{"name": name, "n": n, "t": value} for name, n in (("a", 1), ("b", 2), (TEXT, SECRET))]
    struct = pl.Struct({"name": pl.String, "n": pl.Int64, "t": kind})
    given = pl.DataFrame({"age": [1.0, 2.0, 3.0], "x": pl.Series(cells, dtype=struct)})
    given = given.with_columns(pl.when(pl.col("age") < 3).then("x").alias("x"))
    assert TEXT.encode() in memory(given)
    published = ib.privatize(given, {"age": AGE}, shuffle=shuffle)
    assert TEXT.encode() not in memory(published)
    assert np.int64(SECRET).tobytes() not in memory(published)
    kept = [cell for cell in published["x"].to_list() if cell is not None]
    assert sorted(kept, key=lambda cell: cell["n"]) == cells[:2]


@pytest.mark.parametrize("kind", [pl.Categorical(), pl.Null(), pl.Int128()], ids=str)
def test_rows_outside_a_slice_of_lists_of_polars_are_not_published(kind: Any) -> None:
    value = {"Categorical": "u", "Null": None, "Int128": 1}[str(kind).split("(")[0]]
    rows = [[{"n": n, "t": value}] for n in (1, 2, SECRET)]
    dtype = pl.List(pl.Struct({"n": pl.Int64, "t": kind}))
    given = pl.DataFrame({"age": [1.0, 2.0, 3.0], "x": pl.Series(rows, dtype=dtype)}).head(2)
    published = ib.privatize(given, {"age": AGE})
    assert published["x"].to_list() == rows[:2]
    assert np.int64(SECRET).tobytes() not in memory(published)


def test_what_cannot_be_rebuilt_is_refused_if_something_stands_beside_it() -> None:
    struct = pl.Struct({"n": pl.Int64, "t": pl.Array(pl.Int8, 0)})
    frame = pl.DataFrame({"age": [1.0], "x": pl.Series([{"n": SECRET, "t": []}], dtype=struct)})
    times = pl.struct(pl.lit(1).cast(pl.Datetime("ns")).alias("t"), pl.lit([]).alias("n"))
    views = pl.Series("x", [np.arange(9)[:1]], dtype=pl.Object)  # with eight numbers behind it
    for given in (frame, frame.with_columns(views), frame.with_columns(times.alias("x"))):
        with pytest.raises(ib.ArgumentTypeError, match="column 'x' must be of a type that can be"):
            ib.privatize(given, {"age": AGE})


def test_the_category_of_an_enum_that_was_set_to_null_is_not_published() -> None:
    kind = pl.Enum([f"c{i}" for i in range(300)])  # two bytes for a place
    values = pl.Series(["c0", "c1", "c258"], dtype=kind)  # the third place is 0x0102
    given = pl.DataFrame({"age": [1.0, 2.0, 3.0], "x": values})
    given = given.with_columns(pl.when(pl.col("age") < 3).then("x").alias("x"))
    published = ib.privatize(given, {"age": AGE})
    assert published["x"].to_list() == ["c0", "c1", None]
    assert published["x"].to_physical().to_arrow().buffers()[1].to_pybytes()[:6][4:] == b"\0\0"


def test_the_value_of_a_wide_integer_that_was_set_to_null_is_not_published() -> None:
    given = pl.DataFrame({"age": [1.0, 2.0], "x": pl.Series([1, SECRET << 64], dtype=pl.Int128)})
    given = given.with_columns(pl.when(pl.col("age") < 2).then("x").alias("x"))
    assert np.int64(SECRET).tobytes() in pickle.dumps(given)
    assert np.int64(SECRET).tobytes() not in pickle.dumps(ib.privatize(given, {"age": AGE}))


def test_cells_that_are_arrays_are_not_parts_of_the_old_column() -> None:
    lists = pa.table({"age": np.ones(3), "x": [[1, 2], [3, 4], [SECRET, 5]]}).to_pandas()
    given = lists.iloc[:2]
    assert given["x"].iloc[0].base is not None
    published = ib.privatize(given, {"age": AGE}, shuffle=True)
    assert all(cell.base is None or cell.base.size == 2 for cell in published["x"])
    assert sorted(map(list, published["x"])) == [[1, 2], [3, 4]]
    whole = pa.array([1, SECRET])
    parts = pd.DataFrame({"age": [1.0], "x": pd.Series([whole.slice(0, 1)], dtype=object)})
    assert np.int64(SECRET).tobytes() in pickle.dumps(parts)
    assert np.int64(SECRET).tobytes() not in pickle.dumps(ib.privatize(parts, {"age": AGE}))


def texts(kind: Any, *, chunks: int) -> pd.DataFrame:
    """Equal texts, which are one object for each chunk of a file that they were read from."""
    towns = [town for _ in range(chunks) for town in ["".join(["U", "lm"])] * (12 // chunks)]
    index = pd.Index([f"{town}-" for town in towns], dtype=object)
    return pd.DataFrame({"age": np.ones(12), "town": pd.Series(towns, index, kind)}, index)


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize(
    "kind", [object, "string[python]", pd.StringDtype("python", np.nan)], ids=str
)
def test_which_equal_cells_are_one_object_is_not_published(kind: Any, shuffle: bool) -> None:
    """A pickle writes an object once, so it would tell the chunks, and so the old order."""
    given = [texts(kind, chunks=chunks) for chunks in (1, 3, 12)]
    assert len({len(pickle.dumps(frame)) for frame in given}) == 3
    published = [ib.privatize(frame, {"age": AGE}, shuffle=shuffle) for frame in given]
    pickles = {pickle.dumps(frame.assign(age=0.0)) for frame in published}
    assert len(pickles) == 1
    assert all((frame["town"] == "Ulm").all() for frame in published)


@pytest.mark.parametrize("lazy", [False, True])
def test_lists_of_nothing_stay_lists_of_nothing(lazy: bool) -> None:
    frame = pl.DataFrame({"age": [1.0, 2.0, 3.0], "x": pl.Series([[], [None], None])})
    published = ib.privatize(frame.lazy() if lazy else frame, {"age": AGE}).lazy().collect()
    assert published.schema["x"] == frame.schema["x"] == pl.List(pl.Null)
    assert published["x"].to_list() == [[], [None], None]


ORDERED: dict[str, Callable[[], Any]] = {
    "float16": lambda: pa.array([np.float16(1), np.float16(2)], pa.float16()),
    "decimal": lambda: pa.array([Decimal("1.5"), Decimal("2.5")], pa.decimal32(5, 2)),
    "nan": lambda: pa.array([float("nan"), 2.0]),
    "empty struct": lambda: pa.array([{}, {}], pa.struct([])),
    "text": lambda: pa.array(["u", "v"]),
    "time": lambda: pa.array([1, 2], pa.timestamp("us", "UTC")),
}


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("kind", ORDERED)
def test_public_columns_of_several_batches_stay_as_they_are(kind: str, shuffle: bool) -> None:
    """Arrow's own way to give all batches one dictionary turned float16 into other numbers."""
    count, values = 150_000, ORDERED[kind]()
    places = pa.array((np.arange(count) % 2).astype(np.int8))
    column = pa.DictionaryArray.from_arrays(places, values, ordered=True)
    table = pa.table({"age": np.ones(count), "x": column, "row": np.arange(count)})
    published = ib.privatize(table, {"age": AGE}, shuffle=shuffle).sort_by("row")
    assert list(map(str, published["x"][:4].to_pylist())) == list(map(str, column[:4].to_pylist()))
    assert published["x"].combine_chunks().validate(full=True) is None


@pytest.mark.parametrize("shuffle", [False, True])
def test_numbers_in_the_other_byte_order_are_published_as_the_same_numbers(shuffle: bool) -> None:
    given = pd.DataFrame(
        {"age": np.arange(6, dtype=">i4"), "x": np.arange(6, dtype=">i4"), "y": range(6)}
    )
    whole = ib.BoundedGaussian.calibrated(ib.Box(0, 120, step=1), 120, epsilon=1.0)
    published = ib.privatize(given, {"age": whole}, shuffle=shuffle)
    assert (published["x"] == published["y"]).all()
    assert published["age"].dtype == published["x"].dtype == np.dtype("=i4")


def test_the_index_is_not_shared_with_the_frame_that_was_given() -> None:
    given = pd.DataFrame({"age": [1.0, 2.0]})
    published = ib.privatize(given, {"age": AGE})
    published.index.name = "row"
    assert given.index.name is None
