"""The checked arguments of `summarize`, all of which are public, and the frame they describe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from inbounds import _check
from inbounds._kind import type_name
from inbounds.errors import ArgumentError, ArgumentTypeError, quoted
from inbounds.frames.binding import BoundTable, bind_columns
from inbounds.frames.central.aggregate import Key
from inbounds.frames.central.argument import AnyColumn, is_column, listed, plain_column
from inbounds.frames.central.check import NullPolicy
from inbounds.frames.central.outside import Outside, check_outside
from inbounds.frames.central.quantile import LABEL, Quantile
from inbounds.frames.central.statistic_type import LABELS, Statistic
from inbounds.frames.central.value_type import check_keys, check_person, plain_value, value_type
from inbounds.frames.native import NUMBERS
from inbounds.unit import Adjacency, check_adjacency

NAMES = ("statistic", "column", *LABELS)
"""Columns of a summary that say what a row describes; labels that no row has are left out."""

MECHANISM = "mechanism"
"""The column of a summary that says which mechanism released a row."""

_LIST = "a list of values of the columns in by"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The arguments of `summarize` that say what to estimate, and which neighbours to hide.

    Examples
    --------
    >>> from inbounds.frames.central.statistic import count
    >>> plain = {"adjacency": "replace", "rows": 1, "person": None, "size": None, "nulls": "error"}
    >>> request = check_request(statistics=count(), by="town", groups=["Ulm"], **plain)
    >>> request.by, request.groups, request.sizes_public
    (('town',), (('Ulm',),), False)
    """

    statistics: tuple[Statistic, ...]
    by: tuple[AnyColumn, ...]
    groups: tuple[Key, ...]
    adjacency: Adjacency
    rows: int
    person: AnyColumn | None
    size: int | None
    nulls: NullPolicy
    outside: Outside = "clip"

    @property
    def sizes_public(self) -> bool:
        """Whether all rows are one group, whose size is the same for all neighbours."""
        says = self.outside.values() if isinstance(self.outside, Mapping) else [self.outside]
        all_rows_used = self.person is None and self.nulls == "error" and "skip" not in says
        return not self.by and self.adjacency == "replace" and all_rows_used

    @property
    def row_count_private(self) -> bool:
        """Whether even the number of rows of the table is private."""
        return self.adjacency == "add-remove" or self.person is not None

    @property
    def columns(self) -> list[AnyColumn]:
        """The columns that the statistics describe."""
        return [statistic.column for statistic in self.statistics if statistic.has_column]

    @property
    def numbers(self) -> list[AnyColumn]:
        """The columns of numbers among them."""
        return [s.column for s in self.statistics if s.has_column and s.holds != "levels"]

    def under(self, names: Mapping[AnyColumn, str]) -> Request:
        """Return the same request for a table whose columns have new names."""
        return replace(
            self,
            statistics=tuple(
                replace(statistic, column=names[statistic.column])
                if statistic.has_column
                else statistic
                for statistic in self.statistics
            ),
            by=tuple(names[name] for name in self.by),
            outside=(
                {names[name]: policy for name, policy in self.outside.items()}
                if isinstance(self.outside, Mapping)
                else self.outside
            ),
            person=None if self.person is None else names[self.person],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """The columns of a frame that are used, under new names.

    Attributes
    ----------
    table
        The columns.
    request
        The request, under the new names.
    called
        The user's name of each column.
    """

    table: BoundTable
    request: Request
    called: Mapping[str, AnyColumn]


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
    outside: object = "clip",
) -> Request:
    """Check the arguments of `summarize`.

    Examples
    --------
    >>> from inbounds.frames.central.statistic import mean
    >>> plain = {"adjacency": "replace", "rows": 1, "person": None, "size": None, "nulls": "error"}
    >>> asked = [mean("age", 0, 120)]
    >>> check_request(statistics=asked, by=None, groups=None, **plain).columns
    ['age']
    """
    names, keys = _check_groups(by, groups)
    asked = _check_statistics(statistics)
    _check_names(names, asked)
    if not (person is None or is_column(person)):
        requirement = "the name of a column, or its index in an array"
        raise ArgumentTypeError.must_be("id", requirement, got=quoted(person))
    neighbours = check_adjacency(adjacency=adjacency)
    request = Request(
        statistics=asked,
        by=names,
        groups=keys,
        adjacency=neighbours,
        rows=_check.positive_integer(rows=rows),
        person=None if person is None else plain_column(person),
        size=None if size is None else _check.positive_integer(size=size),
        nulls=cast("NullPolicy", _check.one_of(("error", "skip"), nulls=nulls)),
        outside=check_outside(outside, [s.column for s in asked if s.has_column]),
    )
    has_sums = not all(isinstance(statistic, Quantile) for statistic in request.statistics)
    if size is None and request.row_count_private and has_sums:
        raise ArgumentError.must_be(
            "size",
            "given where the number of rows is private",
            hint="pass a public upper bound on the number of rows of a group, or of the table.",
        )
    if size is not None and request.sizes_public:
        raise ArgumentError.must_be("size", "left out here, because the number of rows is public")
    return request


def open_table(frame: Any, request: Request) -> Opened:
    """Open a frame, and check that it has the columns that are used, with fitting types.

    Examples
    --------
    >>> import pandas as pd
    >>> from inbounds.frames.central.statistic import mean
    >>> plain = {"adjacency": "replace", "rows": 1, "person": None, "size": None, "nulls": "error"}
    >>> asked = [mean("my age", 0, 120)]
    >>> request = check_request(statistics=asked, by=None, groups=None, **plain)
    >>> opened = open_table(pd.DataFrame({"town": ["Ulm"], "my age": [17]}), request)
    >>> opened.table.columns, opened.request.statistics
    (['c0'], (mean('c0', 0, 120),))
    """
    used = [("statistics", name) for name in request.columns]
    used += [("by", name) for name in request.by]
    if request.person is not None:
        used.append(("id", request.person))
    keys = [s.column for s in request.statistics if s.holds == "levels"]
    table, names = bind_columns(frame, used, keys=[*keys, *request.by])
    for statistic in request.statistics:
        if statistic.has_column:
            _check_values(table, names[statistic.column], statistic)
    for i, name in enumerate(request.by):
        check_keys(table, names[name], name, [key[i] for key in request.groups])
    if request.person is not None:
        check_person(table, names[request.person], request.person)
    called = {new: name for name, new in names.items()}
    return Opened(table=table, request=request.under(names), called=called)


def _check_values(table: BoundTable, name: str, statistic: Statistic) -> None:
    """Refuse a column whose values are not what a statistic describes."""
    if statistic.holds == "levels":
        check_keys(table, name, statistic.column, statistic.levels, "levels")
        return
    dtype = table.collect_schema()[name]
    if dtype.is_numeric():
        return
    if statistic.holds == "numbers":
        requirement, hint = "hold numbers", "cast it to integers or floats first."
    elif value_type(table, name)[0] is bool:
        return
    else:
        requirement, hint = "hold booleans, or the numbers 0 and 1", "cast it to booleans first."
    raise ArgumentTypeError.must(
        f"column {statistic.column!r}", requirement, got=type_name(dtype), hint=hint
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


def _check_groups(by: object, groups: object) -> tuple[tuple[AnyColumn, ...], tuple[Key, ...]]:
    if (by is None) != (groups is None):
        missing, other = ("by", "groups") if by is None else ("groups", "by")
        raise ArgumentError.must_be(
            missing,
            f"given together with {other}",
            hint="which groups exist must be public, so they are not read from the frame: list "
            "them, or find them privately with find_groups.",
        )
    if by is None:
        return (), ((),)
    names, alone = check_by(by), is_column(by)
    keys = tuple(_key(group, alone=alone) for group in listed("groups", groups, _LIST))
    if not keys or len(set(keys)) < len(keys) or any(len(key) != len(names) for key in keys):
        raise ArgumentError.must(
            "groups", "hold at least one group, none twice, each with one value per column in by"
        )
    return names, keys


def check_by(by: object) -> tuple[AnyColumn, ...]:
    """Return the columns to group by.

    Examples
    --------
    >>> check_by("town"), check_by(["town", "year"]), check_by(2)
    (('town',), ('town', 'year'), (2,))
    """
    names = (by,) if is_column(by) else by
    if not isinstance(names, Sequence) or isinstance(names, str) or not all(map(is_column, names)):
        requirement = "the name of a column or its index in an array, or a list of these"
        raise ArgumentTypeError.must_be("by", requirement)
    if not names or len(set(names)) < len(names):
        raise ArgumentError.must("by", "name at least one column, and none twice")
    return tuple(map(plain_column, names))


def _check_names(by: tuple[AnyColumn, ...], statistics: tuple[Statistic, ...]) -> None:
    """Refuse to group by a column whose name the result needs."""
    labels = {name for statistic in statistics for label in statistic.labels for name in label}
    added = {*NAMES, *NUMBERS, MECHANISM} - ({LABEL} - labels)  # "q" is fine without quantiles
    if taken := sorted({*by} & added):
        raise ArgumentError.must(
            "by", "not have the name of a column that the result adds", got=repr(taken[0])
        )


def _key(group: Any, *, alone: bool) -> Key:
    """Return the values of a group; an empty key if several are needed and no list is given."""
    if not (alone or isinstance(group, tuple | list | np.ndarray)):
        return ()
    values = [group] if alone else [*group]
    if any(value.__hash__ is None for value in values):
        raise ArgumentTypeError.must_be("groups", _LIST)
    return tuple(
        plain_value(value.item() if isinstance(value, np.generic) else value) for value in values
    )
