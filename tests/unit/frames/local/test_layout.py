import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.frames.local import layout
from inbounds.frames.local.layout import Rebuilt, batch_rows, joined, rebatched, rebuilt_column


def test_the_number_of_rows_depends_on_the_number_and_types_of_columns():
    numbers = pa.schema({f"x{i}": pa.int8() for i in range(64)})
    assert batch_rows(numbers) == 1 << 16
    assert batch_rows(pa.schema({"x": pa.float64()})) == 1 << 19
    assert batch_rows(pa.schema({"x": pa.float64(), "y": pa.string()})) == 1 << 16
    assert batch_rows(pa.schema([])) == 1 << 19


@pytest.mark.parametrize("sizes", [[10], [1] * 10, [0, 7, 0, 3], [4, 4, 2]])
def test_batches_are_cut_and_joined_in_order(sizes):
    whole = pa.record_batch({"x": range(10)})
    ends = np.cumsum(sizes)
    parts = [whole.slice(end - size, size) for size, end in zip(sizes, ends, strict=True)]
    batches = list(rebatched(parts, whole.schema, 4))
    assert [batch.num_rows for batch in batches] == [4, 4, 2]
    assert pa.Table.from_batches(batches)["x"].to_pylist() == list(range(10))


def test_nothing_is_left_in_the_places_of_nulls():
    valid = pa.py_buffer(b"\x01")
    values = pa.Array.from_buffers(pa.int64(), 2, [valid, pa.py_buffer(np.array([1, 77]))])
    assert values.null_count == 1
    clean = joined([values], pa.field("x", pa.int64()))
    assert np.frombuffer(clean.buffers()[1], np.int64)[:2].tolist() == [1, 0]


def test_views_runs_and_inner_dictionaries_are_undone():
    batch = pa.record_batch(
        {
            "view": pa.array(["a", None], pa.string_view()),
            "runs": pc.run_end_encode(pa.array([1, 1])),
            "inner": pa.array([["a"], []], pa.list_(pa.dictionary(pa.int8(), pa.string()))),
        }
    )
    rebuilt = Rebuilt(batch.schema)
    assert rebuilt.schema.types == [pa.string(), pa.int64(), pa.list_(pa.string())]
    (plain,) = rebuilt.batches([batch])
    assert plain.to_pylist() == batch.to_pylist()


def test_ordered_categories_must_be_the_same_throughout():
    def batch(categories):
        coded = pa.DictionaryArray.from_arrays(pa.array([0, 1]), categories, ordered=True)
        return pa.record_batch({"x": coded})

    low = batch(["low77", "high77"])
    (joined_batch,) = Rebuilt(low.schema).batches([low, low])
    assert joined_batch["x"].dictionary.to_pylist() == ["low77", "high77"]
    with pytest.raises(ArgumentError, match=r"^column 'x' must have the same ordered") as caught:
        list(Rebuilt(low.schema).batches([low, batch(["high77", "low77"])]))
    assert "77" not in str(caught.value)


@pytest.mark.parametrize(
    "kind", [pa.dense_union([pa.field("a", pa.int8())]), pa.list_view(pa.int8())], ids=str
)
def test_types_of_many_layouts_are_refused_by_name(kind):
    with pytest.raises(ArgumentTypeError, match=r"^column 'x' must be of a type with one layout"):
        Rebuilt(pa.schema({"x": kind}))


def structs(*nulls):
    return pa.StructArray.from_arrays([pa.array([7, 8])], ["x"], mask=pa.array(nulls))


@pytest.mark.parametrize(
    "array",
    [
        structs(True, False),
        pa.ListArray.from_arrays([0, 1, 2], structs(True, False)),
        pa.LargeListArray.from_arrays([0, 1, 2], structs(True, False)),
        pa.FixedSizeListArray.from_arrays(structs(True, False), 1),
        pa.MapArray.from_arrays([0, 1, 2], ["a", "b"], structs(True, False)),
        pa.StructArray.from_arrays([structs(False, False)], ["y"], mask=pa.array([True, False])),
    ],
    ids=lambda array: str(array.type),
)
def test_nothing_is_left_below_a_null_struct(array):
    clean = joined([array], pa.field("s", array.type))
    clean.validate(full=True)
    assert clean.equals(array)
    held = b"".join(bytes(buffer) for buffer in clean.buffers() if buffer is not None)
    assert (7).to_bytes(8, "little") not in held
    assert (8).to_bytes(8, "little") in held


def test_lists_of_length_zero_are_rebuilt():
    """Arrow's own `take` crashes the process for an array of these lists."""
    array = pa.array([[], None, []], pa.list_(pa.int64(), 0))
    assert joined([array, array], pa.field("s", array.type)).to_pylist() == [[], None, []] * 2


def test_rebuilding_twice_changes_nothing_more():
    batch = pa.record_batch(
        {
            "text": pa.array(["b", "a", "b"]).dictionary_encode(),
            "runs": pc.run_end_encode(pa.array([1, 1, None])),
            "size": pa.DictionaryArray.from_arrays(pa.array([0, 1, 1]), ["s", "m"], ordered=True),
        }
    )
    once = Rebuilt(batch.schema)
    twice = Rebuilt(once.schema)
    assert twice.schema == once.schema
    (first,) = once.batches([batch])
    (second,) = twice.batches([first])
    assert second.equals(first)


def test_rows_in_another_order_have_sorted_dictionaries():
    batch = pa.record_batch({"text": pa.array(["b", "a", None, "c"]).dictionary_encode()})
    rebuilt = Rebuilt(batch.schema)
    (reordered,) = rebuilt.reordered([batch], lambda count: np.arange(count)[::-1])
    assert reordered["text"].to_pylist() == ["c", None, "a", "b"]
    assert reordered["text"].dictionary.to_pylist() == ["a", "b", "c"]


@pytest.mark.parametrize("categories", [["low77", "low77"], ["low77", None]])
def test_ordered_categories_that_repeat_or_are_null_are_refused(categories):
    coded = pa.DictionaryArray.from_arrays(pa.array([0, 1]), categories, ordered=True)
    batch = pa.record_batch({"x": coded})
    with pytest.raises(
        ArgumentError, match=r"^column 'x' must have ordered categories that"
    ) as caught:
        list(Rebuilt(batch.schema).batches([batch]))
    assert "77" not in str(caught.value)


def test_arrays_that_arrow_cannot_join_are_refused_without_its_error():
    lost = pa.DictionaryArray.from_arrays(pa.array([5]), ["secret"], safe=False)
    with pytest.raises(ArgumentTypeError, match=r"^column 'x' must be of a type") as caught:
        joined([lost], pa.field("x", pa.string()))
    assert caught.value.__context__ is None


@pytest.mark.parametrize("is_chunked", [False, True])
def test_a_rebuilt_column_keeps_its_class(is_chunked, monkeypatch):
    monkeypatch.setattr(layout, "_MOST_OF_TEXT", 2)
    monkeypatch.setattr(layout, "_FEWEST", 1)
    coded = pa.array(["b", "a", None, "c"]).dictionary_encode()
    values = pa.chunked_array([coded[:1], coded[1:]]) if is_chunked else coded
    for sort, listed in ((False, ["b", "a", "c"]), (True, ["a", "b", "c"])):
        column = rebuilt_column(values, "x", sort=sort)
        assert type(column) is type(values)
        assert column.to_pylist() == coded.to_pylist()
        first = column.chunk(0) if is_chunked else column
        assert first.dictionary.to_pylist() == listed
        assert not is_chunked or [len(chunk) for chunk in column.chunks] == [2, 2]
