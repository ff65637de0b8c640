"""Columns of any frame by their place, under names of our own.

A name is a program to some engines: a dot is a field of a struct in Spark, ``^…$`` is a pattern in
Polars, and SQL takes names apart. A name may also be that of two columns. So a column is looked up
here, once, by its exact name; from then on only its place and a plain name of ours are used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

from inbounds._extra import optional
from inbounds.errors import ArgumentError, ArgumentTypeError

with optional():
    import narwhals as nw
    from narwhals import dependencies

Table = nw.DataFrame[Any] | nw.LazyFrame[Any]

_LEFT_CODED = ("halffloat", "float", "double", "string_view", "binary_view")
"""Values of dictionaries that are refused: they equal themselves not always, or cannot be read."""


def bound(frame: Any, used: Iterable[tuple[str, str]]) -> tuple[Table, dict[str, str]]:
    """Open a frame with the columns that are used, and return what each name is called there.

    Parameters
    ----------
    frame
        A frame of any engine that `summarize` knows.
    used
        Arguments, and the names of columns they give. Where there are none, some column is taken:
        a table without columns has no rows.

    Examples
    --------
    >>> import polars as pl
    >>> table, called = bound(pl.DataFrame({"x": [1], "^x$": [2]}), [("by", "^x$")])
    >>> called, table.rows(named=True)
    ({'^x$': 'c0'}, [{'c0': 2}])
    """
    native = nw.to_native(frame, pass_through=True)
    names, select = _engine(native)
    places = {name: _place(argument, name, names) for argument, name in used}
    if dependencies.is_duckdb_relation(native):
        _refuse_alike(used, names)
    if not names:
        raise ArgumentError("frame must have at least one column.")
    opened = nw.from_native(select(list(places.values()) or [0]))
    return cast("Table", opened), {name: own_name(i) for i, name in enumerate(places)}


def own_name(i: int) -> str:
    """Return our name of a column, which is the same in any case and needs no quotes anywhere.

    Examples
    --------
    >>> own_name(3)
    'c3'
    """
    return f"c{i}"


def _engine(frame: Any) -> tuple[list[Any], Callable[[list[int]], Any]]:
    """Return a frame's names, and how to take columns of it by their places."""
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
    raise ArgumentTypeError(
        "frame must be a pandas or Polars data frame, a PyArrow table, a DuckDB relation or a "
        f"PySpark data frame, got {type(frame).__name__}."
    )


def _place(argument: str, name: str, names: Sequence[Any]) -> int:
    found = [i for i, other in enumerate(names) if isinstance(other, str) and other == name]
    if not found:
        raise ArgumentError(f"{argument} must name columns of the frame, got {name!r}.")
    if len(found) > 1:
        raise ArgumentError(
            f"{argument} must name columns that the frame has once, "
            f"got {name!r} and {len(found)} of them."
        )
    return found[0]


def _refuse_alike(used: Iterable[tuple[str, str]], names: Sequence[str]) -> None:
    """Refuse a name that differs from another in case only: to DuckDB they are one name."""
    folded = [name.casefold() for name in names]
    for argument, name in used:
        if folded.count(name.casefold()) > 1:
            raise ArgumentError(
                f"{argument} must name columns that differ from others by more than case, "
                f"got {name!r}."
            )


def _of_pandas(frame: Any, places: list[int]) -> Any:
    """Take columns without the index, which says nothing here."""
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
    """Rename all columns first: that goes by place, and what is selected then are our names."""
    every = [own_name(place) for place in range(len(frame.columns))]
    taken = frame.toDF(*every).select(*(every[place] for place in places))
    return taken.toDF(*(own_name(i) for i in range(len(places))))


def _is_decoded(kind: Any) -> bool:
    """Whether an Arrow type is a dictionary that can be read as a plain column."""
    is_dictionary = str(kind).startswith("dictionary<")
    return is_dictionary and str(kind.value_type) not in _LEFT_CODED


def _decoded(column: Any) -> Any:
    """Write the values of a dictionary out; a null among them is then a null of the column."""
    chunks = [chunk.dictionary_decode() for chunk in getattr(column, "chunks", [column])]
    return dependencies.get_pyarrow().chunked_array(chunks, column.type.value_type)
