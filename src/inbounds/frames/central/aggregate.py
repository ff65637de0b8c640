"""Exact sums of a table's columns, computed by the engine that holds the table.

Only one row per group leaves the engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from operator import getitem
from typing import Any, NamedTuple

from inbounds._extra import optional
from inbounds.frames.binding import BoundTable
from inbounds.frames.central import person as person_module
from inbounds.frames.central.fixed_point import IntegerColumns, nearest_doubles
from inbounds.frames.central.key import Places, places, with_plain_keys, without_signed_zero
from inbounds.frames.central.moment import LevelCounts, Moment

with optional():
    import narwhals as nw

Key = tuple[Any, ...]

_TOGETHER = 64  # columns


def sums(
    table: BoundTable,
    moments: Sequence[Moment],
    *,
    by: Sequence[str] = (),
    groups: Sequence[Key] = ((),),
    person: str | None = None,
    rows: int = 1,
    secret: bytes | None = None,
    columns: Sequence[str] = (),
) -> list[list[Fraction]]:
    """Return, for each group, the exact sum of what its rows add to each moment.

    Parameters
    ----------
    table
        A table without nulls in the columns of the moments. Its names are plain identifiers, such
        as those that `inbounds.frames.binding` gives.
    by, groups
        Rows whose values in the columns `by` are none of the `groups` are left out.
    person, rows, secret
        The column that holds each row's person, how many rows of a person are used, and the secret
        by which they are chosen; without it, a new one is drawn.
    columns
        The columns by whose values a person's rows are ordered before those of the moments.

    Examples
    --------
    >>> import pandas as pd
    >>> from inbounds.frames.central.moment import moments
    >>> from inbounds.frames.central.statistic import count, mean
    >>> needed = moments([count(), mean("age", 0, 100)], sizes_public=False)
    >>> sums(nw.from_native(pd.DataFrame({"age": [75, 60]})), needed)
    [[Fraction(2, 1), Fraction(7, 20)]]
    """
    numbers = [m.column for m in moments if m.column and not isinstance(m, LevelCounts)]
    counted = [moment for moment in moments if isinstance(moment, LevelCounts)]
    used = used_rows(
        table,
        [*columns, *numbers],
        counted,
        by=by,
        groups=groups,
        person=person,
        rows=rows,
        secret=secret,
    )
    integers, listed = IntegerColumns(used.table), used.listed
    for moment in moments:
        moment.write(integers, nw.col(used.name_of(moment)) if moment.column else None)
    totals_of = _totals(integers.table, list(listed), integers.names)
    keys = [tuple(map(getitem, listed.values(), group)) for group in groups]
    return [exact_sums(moments, integers, totals_of.get(key, {})) for key in keys]


def _totals(
    table: BoundTable, keys: Sequence[str], names: Sequence[str]
) -> dict[tuple[int, ...], dict[str, int]]:
    """Return the number of rows and the sums of columns, for each key that occurs.

    A lazy table is evaluated once. Others are summed some columns at a time, because pandas warns
    of results with more than 100 columns.
    """
    width = _TOGETHER if isinstance(table, nw.DataFrame) else len(names)
    totals_of: dict[tuple[int, ...], dict[str, int]] = {}
    for start in range(0, max(1, len(names)), max(1, width)):
        sums = [nw.col(name).sum() for name in names[start : start + width]]
        asked = [nw.len().alias("rows"), *sums]
        result = table.group_by(*keys).agg(*asked) if keys else table.select(*asked)
        for row in _collected(result):
            key = tuple(int(row.pop(name)) for name in keys)
            found = totals_of.setdefault(key, {})
            found |= {name: int(value or 0) for name, value in row.items()}
    return totals_of


def exact_sums(
    moments: Sequence[Moment], columns: IntegerColumns, totals: Mapping[str, int]
) -> list[Fraction]:
    """Turn the totals of a group's columns into the sums of its moments; no rows have no totals."""
    integers, rows = iter(columns.totals(totals)), totals.get("rows", 0)
    return [number for moment in moments for number in moment.read(rows, integers)]


def keep_rows(table: BoundTable, order: Sequence[str], rows: int) -> BoundTable:
    """Keep at most `rows` rows of each ``person``, evenly spaced among theirs in the given order.

    Examples
    --------
    >>> import pandas as pd
    >>> people = {"person": [7, 7, 7, 8], "chance": [0.5, 0.5, 0.5, 0.9]}
    >>> table = nw.from_native(pd.DataFrame(people | {"x0": [1.0, 5.0, 2.0, 9.0]}))
    >>> keep_rows(table, ["x0"], 1)["x0"].to_list()
    [2.0, 9.0]
    """
    placed = with_places(table, order, ["person"])
    return placed.filter(is_kept(rows))


def with_places(table: BoundTable, order: Sequence[str], among: Sequence[str]) -> BoundTable:
    """Add the place of each row among those that are equal in some columns, and their number."""
    if isinstance(table, nw.DataFrame):  # PyArrow has no ordered windows
        table = table.sort(*among, *order).with_row_index("index")
        first = nw.col("index").min().over(*among)
        place = nw.col("index").cast(nw.Float64()) - first.cast(nw.Float64()) + 1.0
    else:
        place = nw.col(among[0]).cum_count().over(*among, order_by=order or among)
    table = table.with_columns(place.cast(nw.Float64()).alias("place"))
    return table.with_columns(nw.col("place").count().over(*among).alias("row_count"))


def is_kept(rows: int) -> nw.Expr:
    """Return whether a row of a table from `with_places` is one of `rows` that are kept.

    Row r of m is kept if floor(rows·r/m + c) rises there, where c is the person's ``chance``. So
    every row is kept with the same probability, and which ones are kept depends on that person's
    rows and chance alone; rows that tie are equal in everything that is used. Proof:
    docs/proofs/statistics.md, theorem 3.
    """
    row_count = nw.col("row_count").cast(nw.Float64())
    up_to_row, before_row = (
        (nw.col("place") - back) * float(rows) / row_count + nw.col("chance") for back in (0.0, 1.0)
    )
    return up_to_row.floor() > before_row.floor()


class UsedRows(NamedTuple):
    """The rows that statistics are computed from.

    Attributes
    ----------
    table
        The rows, as plain keys and doubles under new names.
    names
        The new name of each column of numbers.
    levels
        The new name of the column that holds the places of each moment's levels.
    listed
        The new name of each column of keys, and the places of its values.
    """

    table: BoundTable
    names: dict[str, str]
    levels: dict[Moment, str]
    listed: dict[str, Places]

    @property
    def order(self) -> list[str]:
        """The columns by which the rows of a person are ordered."""
        return [*self.names.values(), *self.levels.values(), *self.listed]

    def name_of(self, moment: Moment) -> str:
        """Return the new name of the column that a moment reads."""
        return self.levels[moment] if moment in self.levels else self.names[moment.column]


def used_rows(
    table: BoundTable,
    columns: Sequence[str],
    counted: Sequence[LevelCounts] = (),
    *,
    by: Sequence[str] = (),
    groups: Sequence[Key] = ((),),
    person: str | None = None,
    rows: int = 1,
    secret: bytes | None = None,
) -> UsedRows:
    """Select the rows and columns that are used; the arguments are those of `sums`.

    Why the choice of rows is private: docs/proofs/statistics.md, theorem 3.

    Examples
    --------
    >>> import pandas as pd
    >>> table = nw.from_native(pd.DataFrame({"who": [1, 1], "age": [75, 60]}))
    >>> len(used_rows(table, ["age"], person="who").table)
    1
    """
    grouped: Any = {"by": by, "groups": groups, "person": person, "secret": secret}
    used = plain_columns(table, columns, counted, **grouped)
    table = used.table
    for name in used.listed:
        table = table.filter(nw.col(name) > 0)
    if person is not None:
        table = keep_rows(table, used.order, rows)
    return used._replace(table=table)


def plain_columns(
    table: BoundTable,
    columns: Sequence[str],
    counted: Sequence[LevelCounts] = (),
    *,
    by: Sequence[str] = (),
    groups: Sequence[Key] = ((),),
    person: str | None = None,
    secret: bytes | None = None,
    carried: Sequence[str] = (),
) -> UsedRows:
    """Select the columns that are used, of all rows, and those to be `carried` along unchanged.

    Examples
    --------
    >>> import pandas as pd
    >>> table = nw.from_native(pd.DataFrame({"who": [1, 1], "age": [75, 60]}))
    >>> plain_columns(table, ["age"]).table.rows()
    [(75.0,), (60.0,)]
    """
    listed: dict[str, Places] = {
        f"key{i}": places(key[i] for key in groups) for i in range(len(by))
    }
    names = {name: f"x{i}" for i, name in enumerate(dict.fromkeys(columns))}
    levels: dict[Moment, str] = {moment: f"level{i}" for i, moment in enumerate(counted)}
    selected = [nw.col(name) for name in carried]
    selected += [nw.col(name).alias(new) for name, new in zip(by, listed, strict=True)]
    selected += [nw.col(name).alias(new) for name, new in names.items()]
    selected += [nw.col(moment.column).alias(new) for moment, new in levels.items()]
    if person is not None:
        selected.append(nw.col(person).alias("person"))
    table = table.select(*selected) if selected else table
    table = nearest_doubles(table, list(names.values()))
    table = table.with_columns(without_signed_zero(name) for name in names.values())
    keys = {**listed, **{levels[moment]: moment.places for moment in counted}}
    secret = person_module.new_key() if secret is None else secret
    table = with_plain_keys(table, keys, None if person is None else "person", secret)
    return UsedRows(table, names, levels, listed)


def _collected(table: BoundTable) -> list[dict[str, Any]]:
    """Return the rows of a small result."""
    eager = table.collect() if isinstance(table, nw.LazyFrame) else table
    return eager.rows(named=True)
