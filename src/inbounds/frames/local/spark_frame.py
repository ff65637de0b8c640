"""PySpark data frames."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from inbounds._extra import optional
from inbounds.errors import ArgumentError, Hint
from inbounds.frames.binding import own_name
from inbounds.frames.local import arrow_frame
from inbounds.frames.local.category import CategoryColumn, LocalColumn
from inbounds.frames.local.column import locate, number_type
from inbounds.frames.local.once import drawn_once
from inbounds.frames.local.order import random_keys

with optional():
    import pyarrow as pa
    from pyspark.sql.types import (
        ArrayType,
        DoubleType,
        LongType,
        MapType,
        StringType,
        StructField,
        StructType,
    )

_TYPES = {
    "tinyint": "int8",
    "smallint": "int16",
    "int": "int32",
    "bigint": "int64",
    "float": "float32",
    "double": "float64",
}


def privatize_frame(
    frame: Any, columns: Sequence[LocalColumn], *, shuffle: bool = False, lazy: bool = False
) -> Any:
    """Return a data frame whose executors replace columns, batch by batch, in a checkpoint.

    If `lazy`, they do so each time that it is evaluated. Nothing passes through the driver. Spark
    cannot analyse the step, so it moves no filter past it. Metadata of fields are left out. Columns
    get new names first, by their places, because PySpark would look them up by name and read a dot
    in a name as a field of a struct.

    Examples
    --------
    >>> privatize_frame.__name__  # a session takes seconds to start: see the tests
    'privatize_frame'
    """
    places = locate(columns, frame.columns)
    fields = list(_bare(frame.schema).fields)
    for i, column in places.items():
        fields[i] = _output_field(column, fields[i])
    frame = frame.toDF(*map(own_name, range(len(fields))))
    key = f"inbounds_{secrets.token_hex(8)}" if shuffle else None
    keys = [] if key is None else [StructField(key, LongType(), False)]
    released = frame.mapInArrow(_releaser(places, key), StructType([*fields, *keys]))
    if not lazy:
        released = _checkpoint(released, places.values())
    return released if key is None else released.orderBy(key).drop(key)


def _checkpoint(released: Any, columns: Iterable[LocalColumn]) -> Any:
    """Draw all rows now, into storage from which Spark reads them and never computes them again.

    A reliable directory outlives executors. Without one, rows are stored by the executors, and if
    one of them is lost, Spark raises an error. Both end the plan: `cache()` does not, and Spark
    would draw lost rows again. An order of rows is applied afterwards, because Spark draws rows
    twice to sort them, and again if it loses some that it has sorted.

    Two attempts of one task at the same time may both be stored, so speculation is refused.
    """
    session = released.sparkSession
    if str(session.conf.get("spark.speculation", "false")).lower() == "true":
        raise ArgumentError.must_be(
            "frame",
            "of a session without speculation, which may draw a row twice",
            hint=Hint(
                "start the session with spark.speculation=false, or use {} and write the result "
                "to storage once.",
                "lazy=True",
            ),
        )
    is_reliable = _checkpoint_directory(session) is not None
    keep = released.checkpoint if is_reliable else released.localCheckpoint
    return drawn_once(keep, columns)


def _checkpoint_directory(session: Any) -> str | None:
    """Return the directory for checkpoints, if the session has one; Spark Connect has settings."""
    context = getattr(session, "_sc", None)
    if context is None:
        directory: str | None = session.conf.get("spark.checkpoint.dir", None)
        return directory
    return context.getCheckpointDir()  # type: ignore[no-any-return]


def _output_field(column: LocalColumn, field: StructField) -> StructField:
    if isinstance(column, CategoryColumn):
        return _category_field(column, field)
    kept = column.keeps(number_type(column, field.dataType.simpleString(), _TYPES))
    kind = field.dataType if kept else DoubleType()
    return StructField(field.name, kind, field.nullable)


def _category_field(column: CategoryColumn, field: StructField) -> StructField:
    kind = field.dataType.simpleString()
    numpy_type = "bool" if kind == "boolean" else _TYPES.get(kind, "float64")
    is_text = isinstance(field.dataType, StringType)  # of any collation: levels are compared here
    if not (column.mechanism.family == "text" if is_text else column.fits(np.dtype(numpy_type))):
        raise column.refused_type(kind)
    return StructField(field.name, field.dataType, field.nullable)


def _bare(kind: Any) -> Any:
    """Return a type without the metadata of its fields, at any depth."""
    if isinstance(kind, StructType):
        fields = kind.fields
        return StructType([StructField(f.name, _bare(f.dataType), f.nullable) for f in fields])
    if isinstance(kind, ArrayType):
        return ArrayType(_bare(kind.elementType), kind.containsNull)
    if isinstance(kind, MapType):
        return MapType(_bare(kind.keyType), _bare(kind.valueType), kind.valueContainsNull)
    return kind


def _releaser(
    places: dict[int, LocalColumn], key: str | None = None
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return the function that executors run; it adds a column `key` of random words, if given."""

    def release_batches(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            released = batch
            for i, column in places.items():
                outputs = arrow_frame.release(column, batch.column(i))
                released = released.set_column(i, batch.schema.field(i).name, outputs)
            if key is not None:
                words = random_keys(batch.num_rows).view(np.int64)
                released = released.append_column(key, pa.array(words))
            yield released

    return release_batches
