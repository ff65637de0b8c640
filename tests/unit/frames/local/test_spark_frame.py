"""Tests without a session: the executors' function, and the schema.

The other tests of Spark are in tests/integration.
"""

import pickle
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import types
from pyspark.sql.types import StructField, StructType

import inbounds as ib
from inbounds.errors import ArgumentTypeError
from inbounds.frames.local.column import PrivateColumn
from inbounds.frames.local.spark_frame import _releaser, privatize_frame

WHOLE = ib.BoundedGaussian.calibrated(ib.Box(0, 120, step=1), 120, epsilon=1.0)
FINE = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 120, epsilon=1.0)


class Frame:
    """Stands for a Spark data frame, and records the calls of `mapInArrow`."""

    def __init__(self, kind: types.DataType) -> None:
        town = StructField("town", types.StringType(), False, {"note": "public"})
        self.schema = StructType([town, StructField("age", kind, True, {"unit": "a"})])
        self.columns = ["town", "age"]
        self.calls: list[Any] = []

    def toDF(self, *names: str) -> "Frame":  # noqa: N802 - Spark's name
        assert len(names) == len(self.columns)
        return self

    def mapInArrow(self, function: Any, schema: Any) -> str:  # noqa: N802 - Spark's name
        self.calls.append((function, schema))
        return "planned"


@pytest.mark.parametrize(
    "kind",
    [types.ByteType, types.ShortType, types.IntegerType, types.LongType, types.DoubleType],
)
def test_whole_outputs_keep_the_schema(kind: Any) -> None:
    frame = Frame(kind())
    assert privatize_frame(frame, [PrivateColumn("age", WHOLE, "error")], lazy=True) == "planned"
    assert frame.calls[0][1].simpleString() == frame.schema.simpleString()
    assert [field.nullable for field in frame.calls[0][1]] == [False, True]
    assert [field.metadata for field in frame.calls[0][1]] == [{}, {}]


def test_metadata_inside_nested_types_is_left_out() -> None:
    inner = StructType([StructField("x", types.LongType(), True, {"max": 77})])
    frame = Frame(types.LongType())
    for nested in (inner, types.ArrayType(inner), types.MapType(types.StringType(), inner)):
        frame.schema = StructType([StructField("deep", nested), frame.schema["age"]])
        frame.columns = ["deep", "age"]
        privatize_frame(frame, [PrivateColumn("age", WHOLE, "error")], lazy=True)
        assert "77" in frame.schema.json()
        assert "77" not in frame.calls[-1][1].json()


@pytest.mark.parametrize("kind", [types.ByteType, types.FloatType, types.DoubleType])
def test_fine_outputs_are_doubles(kind: Any) -> None:
    frame = Frame(kind())
    privatize_frame(frame, [PrivateColumn("age", FINE, "error")], lazy=True)
    assert frame.calls[0][1]["age"].dataType == types.DoubleType()
    assert frame.calls[0][1]["town"] == StructField("town", types.StringType(), False)


@pytest.mark.parametrize(
    "kind",
    [types.StringType(), types.BooleanType(), types.DecimalType(5, 2), types.TimestampType()],
)
def test_other_types_than_numbers_are_refused_by_name(kind: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"^column 'age' must hold integers"):
        privatize_frame(Frame(kind), [PrivateColumn("age", WHOLE, "error")], lazy=True)


def test_batches_are_released_one_by_one_as_they_are_read() -> None:
    read: list[int] = []

    def batches() -> Any:
        for i in range(2):
            read.append(i)
            yield pa.record_batch({"town": ["Ulm"], "age": pa.array([None], pa.int16())})

    column = pickle.loads(pickle.dumps(PrivateColumn("age", WHOLE, "uniform")))
    released = _releaser({1: column})(batches())
    assert read == []
    first = next(released)
    assert read == [0]
    assert first.schema.types == [pa.string(), pa.int16()]
    assert 0 <= first.column(1)[0].as_py() <= 120
