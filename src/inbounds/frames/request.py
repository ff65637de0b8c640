"""What a summary was asked for, checked: everything in it is public."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, cast

import numpy as np

from inbounds import _check
from inbounds._extra import optional
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.frames.aggregate import Key, Nulls
from inbounds.frames.column import kind_of
from inbounds.frames.fixed_point import Table
from inbounds.frames.key import check_person
from inbounds.frames.moment import Adjacency
from inbounds.frames.statistic import Statistic

with optional():
    import narwhals as nw

NAMES = ("statistic", "column", "bin_lower", "bin_upper")
"""Columns of a summary that say what a row is about."""

NUMBERS = ("value", "standard_error", "lower", "upper")
"""Columns of a summary that hold numbers."""

_ENGINES = tuple(
    nw.Implementation[name]
    for name in ("PANDAS", "POLARS", "PYARROW", "DUCKDB", "PYSPARK", "PYSPARK_CONNECT")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The arguments of `summarize` that say what to work out and for which neighbours.

    Examples
    --------
    >>> from inbounds.frames.statistic import count
    >>> plain = {"adjacency": "replace", "rows": 1, "person": None, "size": None, "nulls": "error"}
    >>> request = check_request(statistics=count(), by="town", groups=["Ulm"], **plain)
    >>> request.by, request.groups, request.sizes_public
    (('town',), (('Ulm',),), False)
    """

    statistics: tuple[Statistic, ...]
    by: tuple[str, ...]
    groups: tuple[Key, ...]
    adjacency: Adjacency
    rows: int
    person: str | None
    size: int | None
    nulls: Nulls

    @property
    def sizes_public(self) -> bool:
        """Whether all rows are one group, of a size that neighbours share."""
        plain = self.person is None and self.nulls == "error"
        return not self.by and self.adjacency == "replace" and plain

    @property
    def columns(self) -> list[str]:
        """The columns that statistics are about."""
        return [statistic.column for statistic in self.statistics if statistic.column]


def check_request(
    *,
    statistics: object,
    by: object,
    groups: object,
    adjacency: object,
    rows: object,
    person: object,
    size: object,
    nulls: object,
) -> Request:
    """Read the arguments of `summarize`.

    Examples
    --------
    >>> from inbounds.frames.statistic import mean
    >>> plain = {"adjacency": "replace", "rows": 1, "person": None, "size": None, "nulls": "error"}
    >>> asked = [mean("age", 0, 120)]
    >>> check_request(statistics=asked, by=None, groups=None, **plain).columns
    ['age']
    """
    names, keys = _check_groups(by, groups)
    if not (person is None or isinstance(person, str)):
        raise ArgumentTypeError.must_be("id", "the name of a column", got=repr(person))
    kind = _check.one_of(("replace", "add-remove"), adjacency=adjacency)
    request = Request(
        statistics=_check_statistics(statistics),
        by=names,
        groups=keys,
        adjacency=cast("Adjacency", kind),
        rows=_positive_integer(rows=rows),
        person=person,
        size=None if size is None else _positive_integer(size=size),
        nulls=cast("Nulls", _check.one_of(("error", "skip"), nulls=nulls)),
    )
    if size is None and (kind == "add-remove" or person is not None):
        raise ArgumentError.must_be(
            "size",
            "given where the number of rows is private",
            hint="a public number of rows that no group, or the table, has more of.",
        )
    if size is not None and request.sizes_public:
        raise ArgumentError.must_be("size", "left out here: the number of rows is public")
    return request


def open_table(frame: Any, request: Request) -> Table:
    """Open a frame, and check that the columns that are used are there and of fitting types.

    Examples
    --------
    >>> import pandas as pd
    >>> from inbounds.frames.statistic import mean
    >>> plain = {"adjacency": "replace", "rows": 1, "person": None, "size": None, "nulls": "error"}
    >>> asked = [mean("age", 0, 120)]
    >>> request = check_request(statistics=asked, by=None, groups=None, **plain)
    >>> open_table(pd.DataFrame({"age": [17]}), request).columns
    ['age']
    """
    opened = nw.from_native(frame, pass_through=True)
    known = isinstance(opened, nw.DataFrame | nw.LazyFrame)
    if not known or opened.implementation not in _ENGINES:
        raise ArgumentTypeError.must_be(
            "frame",
            "a pandas or Polars data frame, a PyArrow table, a DuckDB relation or a PySpark data "
            "frame",
            got=type(frame).__name__,
        )
    table = cast("Table", opened)
    schema = table.collect_schema()
    person = [] if request.person is None else [request.person]
    used = {"statistics": request.columns, "by": request.by, "id": person}
    for argument, names in used.items():
        for name in names:
            if name not in schema:
                raise ArgumentError.must(argument, "name columns of the frame", got=repr(name))
            if table.implementation.is_duckdb():
                _refuse_alike(argument, name, schema)
    for name in request.columns:
        if not schema[name].is_numeric():
            raise ArgumentTypeError(
                f"column {name!r} must hold numbers, got {kind_of(schema[name])}.\n"
                "Hint: cast it to integers or floats first."
            )
    for i, name in enumerate(request.by):
        _check_keys(name, schema[name], [key[i] for key in request.groups])
    for name in person:
        check_person(table, name)
    return table


def _refuse_alike(argument: str, name: str, names: Iterable[str]) -> None:
    """Refuse a name that differs from another in case only: DuckDB would take either."""
    if sum(other.casefold() == name.casefold() for other in names) > 1:
        raise ArgumentError.must(
            argument, "name columns that differ from others by more than case", got=repr(name)
        )


def _check_keys(name: str, kind: Any, values: list[Any]) -> None:
    """Refuse values that a column cannot have: they would silently match nothing."""
    kinds: dict[Any, type] = {nw.Boolean: bool, nw.Date: date}
    kinds |= dict.fromkeys((nw.String, nw.Categorical, nw.Enum), str)
    fitting = int if kind.is_integer() else kinds.get(type(kind))
    if fitting is None:
        raise ArgumentTypeError(
            f"column {name!r} must hold strings, whole numbers, booleans or dates to group by, "
            f"got {kind_of(kind)}."
        )
    if any(type(value) is not fitting for value in values):
        raise ArgumentTypeError.must(
            "groups", f"list values of type {fitting.__name__} for column {name!r}"
        )


def _check_statistics(statistics: object) -> tuple[Statistic, ...]:
    listed = [statistics] if isinstance(statistics, Statistic) else statistics
    if not isinstance(listed, Sequence) or not all(isinstance(s, Statistic) for s in listed):
        raise ArgumentTypeError.must_be(
            "statistics", "a list of statistics, such as [count(), mean('age', 0, 120)]"
        )
    if not listed or len(set(listed)) < len(listed):
        raise ArgumentError.must("statistics", "hold at least one statistic, and none twice")
    return tuple(listed)


def _check_groups(by: object, groups: object) -> tuple[tuple[str, ...], tuple[Key, ...]]:
    if (by is None) != (groups is None):
        raise ArgumentError(
            "by and groups must be given together: which groups there are must be public, "
            "so it is not read from the frame."
        )
    if by is None:
        return (), ((),)
    names = (by,) if isinstance(by, str) else by
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise ArgumentTypeError.must_be("by", "the name of a column, or a list of names")
    if not names or len(set(names)) < len(names):
        raise ArgumentError.must("by", "name at least one column, and none twice")
    if taken := sorted({*names} & {*NAMES, *NUMBERS}):
        raise ArgumentError.must(
            "by", "not be called like a column of the result", got=repr(taken[0])
        )
    if isinstance(groups, str) or not isinstance(groups, Sequence):
        raise ArgumentTypeError.must_be("groups", "a list of values of the columns in by")
    listed = [(group,) if isinstance(by, str) else group for group in groups]
    keys: tuple[Key, ...] = tuple(
        tuple(value.item() if isinstance(value, np.generic) else value for value in group)
        if isinstance(group, tuple | list)
        else ()
        for group in listed
    )
    if not keys or len(set(keys)) < len(keys) or any(len(key) != len(names) for key in keys):
        raise ArgumentError.must(
            "groups", "hold at least one group, none twice, each with one value per column in by"
        )
    return tuple(names), keys


def _positive_integer(**labelled: object) -> int:
    ((name, value),) = labelled.items()
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ArgumentError.must_be(name, "a positive integer", got=f"{name}={value!r}")
    return int(value)
