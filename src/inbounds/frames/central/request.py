"""What a summary was asked for, checked: everything in it is public."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from inbounds import _check
from inbounds._kind import kind_of
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.frames.binding import Table, bound
from inbounds.frames.central.aggregate import Key, Nulls
from inbounds.frames.central.estimate import NUMBERS
from inbounds.frames.central.moment import Adjacency
from inbounds.frames.central.statistic import LABELS, Statistic
from inbounds.frames.central.value_type import check_keys, check_person, plain

NAMES = ("statistic", "column", *LABELS)
"""Columns of a summary that say what a row is about; labels are left out where no row has one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The arguments of `summarize` that say what to work out and for which neighbours.

    Examples
    --------
    >>> from inbounds.frames.central.statistic import count
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

    def under(self, called: Mapping[str, str]) -> Request:
        """Return the same request of a table whose columns have other names."""
        return replace(
            self,
            statistics=tuple(
                replace(one, column=called[one.column]) if one.column else one
                for one in self.statistics
            ),
            by=tuple(called[name] for name in self.by),
            person=None if self.person is None else called[self.person],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A frame that was opened, with the columns that are used, under names of our own.

    Attributes
    ----------
    table
        Those columns.
    request
        What is asked for, under the same names.
    called
        What the user calls a column.
    """

    table: Table
    request: Request
    called: Mapping[str, str]


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
    >>> from inbounds.frames.central.statistic import mean
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
        rows=_check.positive_integer(rows=rows),
        person=person,
        size=None if size is None else _check.positive_integer(size=size),
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


def open_table(frame: Any, request: Request) -> Opened:
    """Open a frame, and check that the columns that are used are there and of fitting types.

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
    person = [] if request.person is None else [request.person]
    used = [
        *(("statistics", name) for name in request.columns),
        *(("by", name) for name in request.by),
        *(("id", name) for name in person),
    ]
    table, ours = bound(frame, used)
    schema = table.collect_schema()
    for name in request.columns:
        if not schema[ours[name]].is_numeric():
            raise ArgumentTypeError(
                f"column {name!r} must hold numbers, got {kind_of(schema[ours[name]])}.\n"
                "Hint: cast it to integers or floats first."
            )
    for i, name in enumerate(request.by):
        check_keys(table, ours[name], name, [key[i] for key in request.groups])
    for name in person:
        check_person(table, ours[name], name)
    called = {new: name for name, new in ours.items()}
    return Opened(table=table, request=request.under(ours), called=called)


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
    keys = tuple(_key(group, alone=isinstance(by, str)) for group in _listed(groups))
    if not keys or len(set(keys)) < len(keys) or any(len(key) != len(names) for key in keys):
        raise ArgumentError.must(
            "groups", "hold at least one group, none twice, each with one value per column in by"
        )
    return tuple(names), keys


def _listed(groups: object) -> list[Any]:
    """Read a list, an array, an index, a column, a range or keys of a dict: what has an order."""
    if isinstance(groups, set | frozenset):
        raise ArgumentTypeError(
            "groups must be a list of values of the columns in by: a set has no order.\n"
            "Hint: sorted(groups)"
        )
    if hasattr(groups, "to_pylist"):  # of Arrow, whose scalars are no plain values
        return list(groups.to_pylist())
    no_list = isinstance(groups, str | bytes | Mapping) or hasattr(groups, "columns")
    if no_list or not isinstance(groups, Iterable):
        raise ArgumentTypeError("groups must be a list of values of the columns in by.")
    return list(groups)


def _key(group: Any, *, alone: bool) -> Key:
    """Return the values of a group; none where they are not listed."""
    if not (alone or isinstance(group, tuple | list | np.ndarray)):
        return ()
    values = [group] if alone else [*group]
    if any(value.__hash__ is None for value in values):
        raise ArgumentTypeError("groups must be a list of values of the columns in by.")
    return tuple(
        plain(value.item() if isinstance(value, np.generic) else value) for value in values
    )
