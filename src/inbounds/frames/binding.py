"""Columns of any frame, taken by their place and renamed.

Some engines read a name as a program: a dot is a field of a struct in Spark, ``^…$`` is a pattern
in Polars, and SQL takes names apart. Two columns may even have the same name. A column is therefore
looked up here, once, by its exact name; from then on only its place and a plain new name are used.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, cast

import numpy as np

from inbounds._entry import guess
from inbounds._extra import optional
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.frames.array import open_array

with optional():
    import narwhals as nw
    from narwhals import dependencies

BoundTable = nw.DataFrame[Any] | nw.LazyFrame[Any]

_LEFT_CODED = ("halffloat", "float", "double", "string_view", "binary_view")
"""Values of dictionaries that stay as they are, to be refused: not all of them equal themselves, or
they cannot be read."""


def bind_columns(
    frame: Any, used: Collection[tuple[str, str | int]], *, keys: Collection[Any] = ()
) -> tuple[BoundTable, dict[Any, str]]:
    """Return the columns of a frame that are used, and the new name of each of them.

    Parameters
    ----------
    frame
        A frame of any engine that `summarize` supports, or an array of NumPy.
    used
        Pairs of an argument and the name of a column that it gives, or the index of one. If there
        are none, the first column is taken, because a table without columns has no rows.
    keys
        The columns whose values are compared with public ones. In an array of floats, which has one
        type for all columns, they hold integers.

    Examples
    --------
    >>> import polars as pl
    >>> table, new_names = bind_columns(pl.DataFrame({"x": [1], "^x$": [2]}), [("by", "^x$")])
    >>> new_names, table.rows(named=True)
    ({'^x$': 'c0'}, [{'c0': 2}])
    """
    native = nw.to_native(frame, pass_through=True)
    names, select = _engine(native, keys)
    places = {name: _place(argument, name, names) for argument, name in used}
    if dependencies.is_duckdb_relation(native):
        _refuse_alike(used, names)
    if not names:
        raise ArgumentError.must("frame", "have at least one column")
    opened = nw.from_native(select(list(places.values()) or [0]))
    return cast("BoundTable", opened), {name: own_name(i) for i, name in enumerate(places)}


def own_name(i: int) -> str:
    """Return the new name of a column, which has one spelling and needs no quotes in any engine.

    Examples
    --------
    >>> own_name(3)
    'c3'
    """
    return f"c{i}"


def _engine(frame: Any, keys: Collection[Any]) -> tuple[list[Any], Callable[[list[int]], Any]]:
    """Return the names of a frame's columns, and a function that takes columns by their places."""
    if isinstance(frame, np.ndarray):
        names, column = open_array(frame, keys)
        return names, lambda places: _of_array(column, places)
    if dependencies.is_pandas_dataframe(frame):
        return frame.columns.tolist(), lambda places: _of_pandas(frame, places)
    if dependencies.is_polars_dataframe(frame) or dependencies.is_polars_lazyframe(frame):
        return frame.collect_schema().names(), lambda places: _of_polars(frame, places)
    if dependencies.is_pyarrow_table(frame):
        return frame.schema.names, lambda places: _of_arrow(frame, places)
    if dependencies.is_duckdb_relation(frame):
        return frame.columns, lambda places: frame.project(
            ", ".join(f"#{place + 1} AS {own_name(i)}" for i, place in enumerate(places))
        )
    if dependencies.is_pyspark_dataframe(frame) or dependencies.is_pyspark_connect_dataframe(frame):
        return frame.columns, lambda places: _of_spark(frame, places)
    raise ArgumentTypeError.must_be(
        "frame",
        "a pandas or Polars data frame, a PyArrow table, a DuckDB relation, a PySpark data frame "
        "or a NumPy array",
        got=type(frame).__name__,
    )


def _place(argument: str, name: str | int, names: Sequence[Any]) -> int:
    """Return the place of a column: names are texts, and the labels 0, 1, … of arrays integers."""
    kind = str if isinstance(name, str) else int
    matches = [
        i
        for i, other in enumerate(names)
        if isinstance(other, kind) and not isinstance(other, bool) and other == name
    ]
    if not matches:
        requirement = f"name columns of the frame, which has no column {name!r}"
        hint = guess(str(name), (other for other in names if isinstance(other, str)))
        raise ArgumentError.must(argument, requirement, hint=hint)
    if len(matches) > 1:
        requirement = f"name columns that the frame has once, not {len(matches)} times"
        raise ArgumentError.must(argument, requirement, got=repr(name))
    return matches[0]


def _refuse_alike(used: Iterable[tuple[str, Any]], names: Sequence[str]) -> None:
    """Refuse a name that differs from another one only in case: DuckDB does not tell them apart."""
    folded = [name.casefold() for name in names]
    for argument, name in used:
        if folded.count(name.casefold()) > 1:
            raise ArgumentError.must(
                argument, "name columns that differ from others by more than case", got=repr(name)
            )


def _of_array(column: Callable[[int], Any], places: list[int]) -> Any:
    """Make a frame of pandas; columns of objects keep their objects, whatever they are."""
    with optional():
        import pandas as pd  # noqa: PLC0415 - frames of other engines do without

    arrays = {own_name(i): column(place) for i, place in enumerate(places)}
    kinds = {name: object if array.dtype == object else None for name, array in arrays.items()}
    columns = {name: pd.Series(arrays[name], dtype=kinds[name]) for name in arrays}
    for name, array in arrays.items():
        if isinstance(array, np.ma.MaskedArray):
            columns[name] = pd.Series(pd.arrays.IntegerArray(array.data, np.array(array.mask)))
    return pd.DataFrame(columns)


def _of_pandas(frame: Any, places: list[int]) -> Any:
    """Take columns without the index, which has no meaning here."""
    columns = {}
    for i, place in enumerate(places):
        array = frame.iloc[:, place].array
        if _is_decoded(getattr(array.dtype, "pyarrow_dtype", None)):
            array = type(array)(_decoded(dependencies.get_pyarrow().array(array)))
        columns[own_name(i)] = array
    return dependencies.get_pandas().DataFrame(columns)


def _of_polars(frame: Any, places: list[int]) -> Any:
    nth = dependencies.get_polars().nth
    return frame.select(nth(place).alias(own_name(i)) for i, place in enumerate(places))


def _of_arrow(frame: Any, places: list[int]) -> Any:
    columns = [frame.column(place) for place in places]
    columns = [_decoded(column) if _is_decoded(column.type) else column for column in columns]
    names = [own_name(i) for i in range(len(columns))]
    return dependencies.get_pyarrow().Table.from_arrays(columns, names=names)


def _of_spark(frame: Any, places: list[int]) -> Any:
    """Rename all columns first, which goes by place, and then select the new names."""
    every = [own_name(place) for place in range(len(frame.columns))]
    taken = frame.toDF(*every).select(*(every[place] for place in places))
    return taken.toDF(*(own_name(i) for i in range(len(places))))


def _is_decoded(kind: Any) -> bool:
    """Whether an Arrow type is a dictionary that can be read as a plain column."""
    is_dictionary = str(kind).startswith("dictionary<")
    return is_dictionary and str(kind.value_type) not in _LEFT_CODED


def _decoded(column: Any) -> Any:
    """Write out the values of a dictionary; a null among them becomes a null of the column."""
    chunks = [chunk.dictionary_decode() for chunk in getattr(column, "chunks", [column])]
    return dependencies.get_pyarrow().chunked_array(chunks, column.type.value_type)
