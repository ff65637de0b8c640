"""The plain Python type of a column's values, regardless of how its engine stores them.

Categories have the type of what they stand for, and objects are looked at one by one. Errors show
no values: they name types, and for objects not even these.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from types import NoneType
from typing import Any

from inbounds._extra import optional
from inbounds._kind import type_name
from inbounds.errors import ArgumentTypeError
from inbounds.frames.binding import BoundTable
from inbounds.frames.central.argument import plain_value as plain_value  # noqa: PLC0414

with optional():
    import narwhals as nw

KEYS = (str, int, bool, date)
"""Types of values to group by."""

PEOPLE = (*KEYS, float, Decimal, bytes)
"""Types of ids of people; floats among objects or categories of pandas are refused."""

_TYPES: dict[Any, type] = {
    nw.String: str,
    nw.Categorical: str,
    nw.Enum: str,
    nw.Boolean: bool,
    nw.Date: date,
    nw.Decimal: Decimal,
    nw.Binary: bytes,
}


def value_type(table: BoundTable, name: str) -> tuple[type | None, str]:
    """Return the Python type of a column's values, or None for other types, and its description.

    A column of objects without any value has the type of None.

    Examples
    --------
    >>> import pandas as pd
    >>> years = nw.from_native(pd.DataFrame({"year": pd.Categorical([2021, 2022])}))
    >>> value_type(years, "year")
    (<class 'int'>, 'categories of int64')
    """
    dtype = table.collect_schema()[name]
    if table.implementation.is_pandas() and not dtype.is_numeric():
        return _in_pandas(table.to_native()[name], dtype)
    if table.implementation.is_pyarrow() and isinstance(dtype, nw.Categorical):
        return None, "a dictionary of other values"
    if dtype.is_integer() or dtype.is_float():
        return (int if dtype.is_integer() else float), type_name(dtype)
    return (bytes, "UUID") if _is_uuid(table, name) else (_TYPES.get(type(dtype)), type_name(dtype))


def _in_pandas(series: Any, dtype: Any) -> tuple[type | None, str]:
    """Return the type of a column of pandas that does not hold numbers, and its description."""
    if (categories := getattr(series, "cat", None)) is not None:
        index = categories.categories
        return _of_objects(index.tolist()), f"categories of {type_name(index.dtype)}"
    if series.dtype == object:
        return _of_objects(series[series.notna()].tolist()), "objects of other or several types"
    if isinstance(dtype, nw.Unknown | nw.Categorical):  # a dictionary that is not decoded
        return None, type_name(series.dtype)
    return _TYPES.get(type(dtype)), type_name(dtype)


def check_keys(
    table: BoundTable, name: str, called: str | int, values: Sequence[Any], argument: str = "groups"
) -> None:
    """Refuse a column to group by, or values of a type that it cannot have.

    These values would silently match nothing.

    Parameters
    ----------
    name, called
        The column's name in the table, and in errors.
    values
        The public values of the groups, or of levels.
    argument
        What these values are called in errors.

    Examples
    --------
    >>> import pandas as pd
    >>> years = nw.from_native(pd.DataFrame({"c0": pd.Categorical([2021, 2022])}))
    >>> check_keys(years, "c0", "year", ["2021"])
    Traceback (most recent call last):
    inbounds.errors.ArgumentTypeError: groups must list values of type int for column 'year'.
    """
    fitting, got = value_type(table, name)
    if fitting not in (*KEYS, NoneType) or got == "UUID":
        purpose = "to group by" if argument == "groups" else "to count"
        requirement = f"hold strings, integers, booleans or dates {purpose}"
        raise ArgumentTypeError.must(
            f"column {called!r}", requirement, got=got, hint=_hint(table, fitting, got)
        )
    if fitting is not NoneType and any(type(value) is not fitting for value in values):
        requirement = f"list values of type {fitting.__name__} for column {called!r}"
        raise ArgumentTypeError.must(argument, requirement)


def check_person(table: BoundTable, name: str, called: str | int | None = None) -> None:
    """Refuse a column of ids whose values are not compared in the same way by every engine.

    Examples
    --------
    >>> import polars as pl
    >>> check_person(nw.from_native(pl.DataFrame({"who": [[1]]})), "who")
    Traceback (most recent call last):
    inbounds.errors.ArgumentTypeError: column 'who' must hold strings, numbers, booleans, dates or
    bytes to tell people apart, got List.
    Hint: cast it to strings first.
    """
    fitting, got = value_type(table, name)
    if fitting not in (*PEOPLE, NoneType):
        raise ArgumentTypeError.must(
            f"column {name if called is None else called!r}",
            "hold strings, numbers, booleans, dates or bytes to tell people apart",
            got=got,
            hint="cast it to strings first.",
        )


def _of_objects(values: list[Any]) -> type | None:
    """Return the type that all values have; floats are refused, as a NaN does not equal itself."""
    types = {type(plain_value(value)) for value in values} or {NoneType}
    first = types.pop()
    return first if not types and first in {*PEOPLE, NoneType} - {float} else None


def _hint(table: BoundTable, fitting: type | None, got: str) -> str:
    """Say how to turn a column of a common type into one to group by."""
    in_pandas = table.implementation.is_pandas()
    if fitting is float:
        how = ', such as .astype("Int64")' if in_pandas else ""
        return f"cast it to integers first{how}, or to strings."
    if got.startswith(("Datetime", "period", "categories of datetime", "categories of period")):
        how = ', such as .dt.strftime("%Y-%m-%d")' if in_pandas else ""
        return f"cast it to strings first{how}, or to dates."
    return f"cast it to strings first{', such as .astype(str)' if in_pandas else ''}."


def _is_uuid(table: BoundTable, name: str) -> bool:
    """Whether a column holds UUIDs of DuckDB, which narwhals does not know."""
    native = table.to_native()
    return (
        table.implementation.is_duckdb() and str(native.types[native.columns.index(name)]) == "UUID"
    )
