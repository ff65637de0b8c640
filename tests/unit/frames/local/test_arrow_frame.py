from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import inbounds as ib
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.frames.local import layout
from inbounds.frames.local.privatize import privatize

WHOLE = ib.BoundedGaussian.calibrated(ib.Box(0, 120, step=1), 120, epsilon=1.0)
FINE = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 120, epsilon=1.0)


def table(values: Any, **others: Any) -> pa.Table:
    return pa.table({"town": ["Ulm"] * len(values), "age": values, **others})


def test_a_table_keeps_everything_but_metadata() -> None:
    fields = [pa.field("town", pa.string()), pa.field("age", pa.int16(), metadata={"unit": "a"})]
    before = pa.table(
        [["Ulm", "Rom"], [17, 41]], schema=pa.schema(fields, metadata={"source": "survey"})
    )
    after = privatize(before, {"age": WHOLE})
    assert type(after) is pa.Table
    assert after.schema.equals(before.schema)
    assert after.schema.metadata is None
    assert [field.metadata for field in after.schema] == [None, None]
    assert after["town"].equals(before["town"])
    assert before["age"].to_pylist() == [17, 41]


def test_a_fine_box_turns_integers_and_narrow_floats_into_doubles() -> None:
    for kind in (pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.float64()):
        assert privatize(table(pa.array([1, 2], kind)), {"age": FINE})["age"].type == pa.float64()


def test_chunks_and_slices_are_released_row_by_row() -> None:
    """False alarm below 1e-6: noise of a hundredth moves nothing by more than a tenth."""
    sharp = ib.BoundedGaussian(ib.Box(0, 120), 120, sigma=0.01)
    chunks = pa.chunked_array([[1.0, 2.0, 3.0], [], [4.0, None, 6.0], [7.0]])
    column = privatize(table(chunks).slice(1, 5), {"age": sharp}, nulls="keep")["age"]
    assert column.null_count == 1
    differences = pc.abs(pc.subtract(column, chunks.slice(1, 5)))
    assert pc.max(differences).as_py() < 0.1


def test_nulls_are_refused_kept_or_replaced() -> None:
    frame = table([17, None, 41])
    with pytest.raises(ArgumentError, match=r"^column 'age' must have no nulls"):
        privatize(frame, {"age": WHOLE})
    kept = privatize(frame, {"age": WHOLE}, nulls="keep")["age"]
    assert kept.is_null().to_pylist() == [False, True, False]
    replaced = privatize(frame, {"age": WHOLE}, nulls="uniform")["age"]
    assert replaced.null_count == 0
    assert kept.type == replaced.type == pa.int64()


def test_a_column_of_nulls_alone_is_released() -> None:
    frame = table(pa.array([None] * 5, pa.float64()))
    assert privatize(frame, {"age": FINE}, nulls="uniform")["age"].null_count == 0
    assert privatize(frame, {"age": FINE}, nulls="keep")["age"].null_count == 5


def test_nan_is_a_value_that_cannot_be_released() -> None:
    for nulls in ("error", "keep", "uniform"):
        with pytest.raises(ArgumentError, match=r"^column 'age' must be finite"):
            privatize(table([1.0, float("nan")]), {"age": FINE}, nulls=nulls)  # type: ignore[arg-type]


def test_a_dictionary_never_leaves_with_its_true_values() -> None:
    encoded = pa.array([17, 41, 17, None]).dictionary_encode()
    released = privatize(table(encoded), {"age": WHOLE}, nulls="keep")["age"]
    assert released.type == pa.int64()
    assert released.null_count == 1
    assert privatize(table(encoded), {"age": FINE}, nulls="keep")["age"].type == pa.float64()


@pytest.mark.parametrize(
    "values",
    [
        pa.array(["17"]),
        pa.array([True]),
        pa.array([17], pa.timestamp("s")),
        pa.array([17], pa.date32()),
        pa.array([17], pa.duration("s")),
        pa.array([[17]]),
        pa.array([None]),
        pa.array(["17"]).dictionary_encode(),
    ],
    ids=lambda values: str(values.type),
)
def test_other_types_than_numbers_are_refused_by_name_and_type(values: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"^column 'age' must hold integers") as caught:
        privatize(table(values), {"age": WHOLE})
    assert "17" not in str(caught.value)


def test_runs_of_numbers_are_released_one_by_one() -> None:
    runs = pa.RunEndEncodedArray.from_arrays([2, 4], [17, None])
    published = privatize(table(runs), {"age": WHOLE}, nulls="keep")["age"]
    assert published.type == pa.int64()
    assert published.is_null().to_pylist() == [False, False, True, True]


def test_a_batch_without_rows_keeps_its_types() -> None:
    for other in (pa.uuid(), pa.list_(pa.uuid()), pa.dictionary(pa.int32(), pa.string())):
        schema = pa.schema({"age": pa.int8(), "x": other})
        columns = [pa.nulls(1, kind).slice(1) for kind in schema.types]
        batch = pa.RecordBatch.from_arrays(columns, schema=schema)
        for shuffle in (False, True):
            published = privatize(batch, {"age": WHOLE}, shuffle=shuffle)
            assert type(published) is pa.RecordBatch
            assert published.schema == schema


def test_the_message_of_a_reader_that_fails_is_not_shown() -> None:
    def batches() -> Any:
        yield table([17]).to_batches()[0]
        raise ValueError("secret-41")

    source = pa.RecordBatchReader.from_batches(table([17]).schema, batches())
    with pytest.raises(ValueError, match=r"^frame could not be read: its reader") as caught:
        privatize(source, {"age": WHOLE}).read_all()
    assert "secret" not in str(caught.value)


def test_errors_of_ours_pass_through_a_reader() -> None:
    once = privatize(table([17, None]).to_reader(), {"age": FINE})
    with pytest.raises(ValueError, match=r"column 'age' must have no nulls"):
        privatize(once, {"age": FINE}).read_all()


def test_ordered_categories_are_kept_in_tables_and_other_dictionaries_of_numbers_are_undone() -> (
    None
):
    coded = pa.DictionaryArray.from_arrays(
        pa.array([1, 0, None], pa.int8()), ["low", "high", "none"], ordered=True
    )
    numbers = pa.array([3, 1, 3]).dictionary_encode()
    for shuffle in (False, True):
        published = privatize(
            table([17, 41, 68], size=coded, rank=numbers), {"age": WHOLE}, shuffle=shuffle
        )
        size = published["size"].chunk(0)
        assert size.type == coded.type
        assert size.dictionary.to_pylist() == ["low", "high", "none"]
        assert published.schema.field("rank").type == pa.int64()


def test_a_table_without_rows_keeps_its_types() -> None:
    empty = table(pa.array([], pa.int8()))
    assert privatize(empty, {"age": WHOLE}).schema == empty.schema
    assert privatize(empty, {"age": FINE}).schema.field("age").type == pa.float64()
    no_chunks = pa.table({"age": pa.chunked_array([], pa.int8())})
    assert privatize(no_chunks, {"age": WHOLE}).num_rows == 0


def test_a_batch_gives_a_batch() -> None:
    batch = pa.record_batch({"age": [17, 41]})
    assert type(privatize(batch, {"age": WHOLE})) is pa.RecordBatch


def test_a_reader_is_read_only_as_far_as_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "_MOST", 2)
    read: list[int] = []

    def batches() -> Any:
        for i in range(3):
            read.append(i)
            yield pa.record_batch({"age": pa.array([i, None], pa.int32())})

    schema = pa.schema({"age": pa.int32()})
    source = pa.RecordBatchReader.from_batches(schema, batches())
    reader = privatize(source, {"age": FINE}, nulls="keep")
    assert isinstance(reader, pa.RecordBatchReader)
    assert reader.schema.field("age").type == pa.float64()
    assert read == []
    assert reader.read_next_batch().column(0).null_count == 1
    assert read == [0]
    assert reader.read_all().num_rows == 4


def test_a_reader_raises_our_error_when_it_meets_a_null() -> None:
    source = table([123456.789, None]).to_reader()
    reader = privatize(source, {"age": FINE})
    with pytest.raises(ValueError, match=r"column 'age' must have no nulls") as caught:
        reader.read_all()
    assert "123456" not in str(caught.value)


def test_columns_of_the_same_name_are_refused_only_if_they_are_private() -> None:
    twice = pa.table([[1], [2], [3]], names=["age", "town", "town"])
    with pytest.raises(ArgumentError, match=r"^frame has 2 columns named 'town'\.$"):
        privatize(twice, {"town": WHOLE})
    assert privatize(twice, {"age": WHOLE}).column_names == ["age", "town", "town"]


@pytest.mark.parametrize("kind", [pa.decimal128(4, 1), pa.decimal256(40, 20), pa.decimal32(3, 0)])
def test_decimals_stay_decimals_if_outputs_are_whole_and_fit(kind: Any) -> None:
    values = pa.array([Decimal(17), Decimal(120), None] * 400, kind)
    published = privatize(pa.table({"age": values}), {"age": WHOLE}, nulls="keep")["age"]
    assert published.type == kind
    assert published.null_count == 400
    outputs = {value for value in published.to_pylist() if value is not None}
    assert outputs <= set(range(121))
    assert len(outputs) > 20
    assert privatize(pa.table({"age": values}), {"age": FINE}, nulls="keep")["age"].type == (
        pa.float64()
    )


@pytest.mark.parametrize("kind", [pa.decimal128(3, 1), pa.decimal128(5, -2), pa.decimal128(3, 3)])
def test_decimals_that_hold_too_few_whole_numbers_become_doubles(kind: Any) -> None:
    values = pa.array([Decimal(0)], kind)
    assert privatize(pa.table({"age": values}), {"age": WHOLE})["age"].type == pa.float64()
