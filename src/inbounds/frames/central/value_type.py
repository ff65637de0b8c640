"""Which plain Python type the values of a column have, however its engine stores them.

Categories are what they stand for, and objects are looked at one by one. Values themselves appear
nowhere: errors name types, and of objects not even these.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from types import NoneType
from typing import Any

import numpy as np

from inbounds._extra import optional
from inbounds._kind import type_name
from inbounds.errors import ArgumentTypeError
from inbounds.frames.binding import Table

with optional():
    import narwhals as nw

KEYS = (str, int, bool, date)
"""What can be grouped by."""

PEOPLE = (*KEYS, float, Decimal, bytes)
"""What can tell people apart; objects and categories of pandas that are floats cannot."""

_TYPES: dict[Any, type] = {
    nw.String: str,
    nw.Categorical: str,
    nw.Enum: str,
    nw.Boolean: bool,
    nw.Date: date,
    nw.Decimal: Decimal,
    nw.Binary: bytes,
}


def plain(value: Any) -> Any:
    """Return a string, bytes or a whole number as a plain one, and anything else as it is.

    A subclass may have an equality of its own, which is not to be trusted.

    Examples
    --------
    >>> class Id(str):
    ...     __eq__, __hash__ = object.__eq__, object.__hash__
    >>> Id("ann") == Id("ann"), plain(Id("ann")) == plain(Id("ann"))
    (False, True)
    """
    if isinstance(value, np.bool_ | np.integer | np.str_ | np.bytes_):
        return value.item()
    if type(value) in (str, bytes, int, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bytes):
        return b"".join([value])
    return int.__int__(value) if isinstance(value, int) else value


def value_type(table: Table, name: str) -> tuple[type | None, str]:
    """Return the type of a column's values, None if it is no plain one, and what to call it.

    A column of objects without any value has the type of None.

    Examples
    --------
    >>> import pandas as pd
    >>> years = nw.from_native(pd.DataFrame({"year": pd.Categorical([2021, 2022])}))
    >>> value_type(years, "year")
    (<class 'int'>, 'categories of int64')
    """
    kind = table.collect_schema()[name]
    if table.implementation.is_pandas() and not kind.is_numeric():
        return _in_pandas(table.to_native()[name], kind)
    if table.implementation.is_pyarrow() and isinstance(kind, nw.Categorical):
        return None, "a dictionary of other values"
    if kind.is_integer() or kind.is_float():
        return (int if kind.is_integer() else float), type_name(kind)
    return (bytes, "UUID") if _is_uuid(table, name) else (_TYPES.get(type(kind)), type_name(kind))


def _in_pandas(series: Any, kind: Any) -> tuple[type | None, str]:
    """Return the type of a column of pandas that holds no numbers, and what to call it."""
    if (categories := getattr(series, "cat", None)) is not None:
        index = categories.categories
        return _of_objects(index.tolist()), f"categories of {type_name(index.dtype)}"
    if series.dtype == object:
        return _of_objects(series[series.notna()].tolist()), "objects of other or several types"
    if isinstance(kind, nw.Unknown | nw.Categorical):  # a dictionary that is not decoded
        return None, type_name(series.dtype)
    return _TYPES.get(type(kind)), type_name(kind)


def check_keys(table: Table, name: str, called: str, values: list[Any]) -> None:
    """Refuse a column that cannot be grouped by, and values that it cannot have.

    They would silently match nothing.

    Parameters
    ----------
    name, called
        The column's name in the table, and in errors.
    values
        What is asked for.

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
        raise ArgumentTypeError(
            f"column {called!r} must hold strings, whole numbers, booleans or dates to group by, "
            f"got {got}.\n{_hint(table, fitting, got)}"
        )
    if fitting is not NoneType and any(type(value) is not fitting for value in values):
        raise ArgumentTypeError(
            f"groups must list values of type {fitting.__name__} for column {called!r}."
        )


def check_person(table: Table, name: str, called: str | None = None) -> None:
    """Refuse a column of people whose values have no equality that is the same in every engine.

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
        raise ArgumentTypeError(
            f"column {called or name!r} must hold strings, numbers, booleans, dates or bytes to "
            f"tell people apart, got {got}.\nHint: cast it to strings first."
        )


def _of_objects(values: list[Any]) -> type | None:
    """Return the one type of all values; a float among objects may be a NaN, which equals none."""
    kinds = {type(plain(value)) for value in values} or {NoneType}
    kind = kinds.pop()
    return kind if not kinds and kind in {*PEOPLE, NoneType} - {float} else None


def _hint(table: Table, fitting: type | None, got: str) -> str:
    """Say how a column that is often met becomes one that can be grouped by."""
    in_pandas = table.implementation.is_pandas()
    if fitting is float:
        how = ', such as .astype("Int64")' if in_pandas else ""
        return f"Hint: cast it to integers first{how}, or to strings."
    if got.startswith(("Datetime", "period", "categories of datetime", "categories of period")):
        how = ', such as .dt.strftime("%Y-%m-%d")' if in_pandas else ""
        return f"Hint: cast it to strings first{how}, or to dates."
    return f"Hint: cast it to strings first{', such as .astype(str)' if in_pandas else ''}."


def _is_uuid(table: Table, name: str) -> bool:
    """Whether a column is one of DuckDB's UUIDs, which narwhals does not know."""
    native = table.to_native()
    return (
        table.implementation.is_duckdb() and str(native.types[native.columns.index(name)]) == "UUID"
    )
