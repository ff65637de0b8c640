"""All that a request needs of a table, which is evaluated once if it is lazy.

A lazy table is not first checked and then summed, because its engine would run the whole query for
each of these. Instead, no row is left out: a column says whether a row is used, further ones count
what must be refused, and all of them are summed together. Numbers that cannot be used are replaced
by zero, so that the engine can finish; they are refused afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from operator import and_, getitem
from typing import Any, NamedTuple, cast

import numpy as np

from inbounds._extra import optional
from inbounds.frames.binding import BoundTable
from inbounds.frames.central import aggregate, grid
from inbounds.frames.central.aggregate import UsedRows, is_kept, plain_columns, with_places
from inbounds.frames.central.check import Checks, check_table, checks
from inbounds.frames.central.fixed_point import IntegerColumns
from inbounds.frames.central.grid import Counts, by_group, nearest_point
from inbounds.frames.central.moment import LevelCounts, Moment
from inbounds.frames.central.points import Grid
from inbounds.frames.central.rank import Integers
from inbounds.frames.central.request import Opened, Request

with optional():
    import narwhals as nw

_USED, _GRID, _POINT, _ROWS = "used", "grid", "point", "rows"


class Measured(NamedTuple):
    """What a table holds.

    Attributes
    ----------
    rows
        The number of its rows, including those that are not used.
    sums
        For each group, the exact sums of the moments.
    counts
        For each grid and each group, the rows at its points.
    """

    rows: int
    sums: list[list[Fraction]]
    counts: list[list[Counts]]


def measure(
    opened: Opened, moments: Sequence[Moment], grids: Sequence[tuple[str, Grid]], secret: bytes
) -> Measured:
    """Refuse values that cannot be used, and sum and count the others.

    The sums are those of docs/proofs/statistics.md, theorems 3, 4 and 11.

    Parameters
    ----------
    opened
        A table, and what is asked of it.
    moments, grids
        The moments to be summed, and columns with the grids on which their values are counted.
    secret
        The key by which the rows of a person are chosen.

    Examples
    --------
    >>> import polars as pl
    >>> from inbounds.frames.central.moment import RowCount
    >>> from inbounds.frames.central.request import check_request, open_table
    >>> from inbounds.frames.central.statistic import mean
    >>> plain = {"adjacency": "replace", "rows": 1, "person": None, "size": None, "nulls": "skip"}
    >>> request = check_request(statistics=mean("age", 0, 120), by=None, groups=None, **plain)
    >>> opened = open_table(pl.LazyFrame({"age": [17, None, 41]}), request)
    >>> measure(opened, [RowCount()], [], b"")
    Measured(rows=3, sums=[[Fraction(2, 1)]], counts=[])
    """
    lazy = isinstance(opened.table, nw.LazyFrame)
    return (_in_one_pass if lazy else _in_memory)(opened, moments, grids, secret)


def _in_memory(
    opened: Opened, moments: Sequence[Moment], grids: Sequence[tuple[str, Grid]], secret: bytes
) -> Measured:
    request = opened.request
    rows, table = check_table(*_checked(opened), **_bounds(request))
    used: dict[str, Any] = _grouped(request) | {"rows": request.rows, "secret": secret}
    sums = aggregate.sums(table, moments, columns=request.numbers, **used)
    counts = grid.counts(table, list(grids), request.numbers, **used) if grids else []
    return Measured(rows, sums, counts)


def _in_one_pass(
    opened: Opened, moments: Sequence[Moment], grids: Sequence[tuple[str, Grid]], secret: bytes
) -> Measured:
    request = opened.request
    found = checks(*_checked(opened), **_bounds(request))
    plain = plain_columns(
        _flagged(opened.table, found),
        request.numbers,
        [moment for moment in moments if isinstance(moment, LevelCounts)],
        **_grouped(request),
        secret=secret,
        carried=[_USED, *found.flags],
    )
    plain = plain._replace(table=_with_finite(plain.table, plain.names.values()))
    integers = IntegerColumns(_with_used(plain, request))
    for moment in moments:
        moment.write(integers, nw.col(plain.name_of(moment)) if moment.column else None)
    points = [nearest_point(plain.names[column], grid) for column, grid in grids]
    totals = _totals(integers, [*plain.listed, _USED], list(found.flags), points)
    once = totals[_GRID] == 0  # every row is there once for each grid
    found.refuse({name: int(totals[name][once].sum()) for name in found.flags})
    place = {
        tuple(map(getitem, plain.listed.values(), group)): i
        for i, group in enumerate(request.groups)
    }
    used = {name: column[totals[_USED] == 1] for name, column in totals.items()}
    keys = [used[name] for name in plain.listed]
    counts = [
        by_group([column[used[_GRID] == i] for column in (*keys, used[_POINT], used[_ROWS])], place)
        for i in range(len(grids))
    ]
    return Measured(
        int(totals[_ROWS][once].sum()), _sums(moments, integers, used, keys, place), counts
    )


def _checked(opened: Opened) -> tuple[Any, ...]:
    request = opened.request
    return opened.table, request.columns, request.person, request.nulls, opened.called.__getitem__


def _bounds(request: Request) -> dict[str, Any]:
    return {"outside": request.outside, "statistics": request.statistics}


def _grouped(request: Request) -> dict[str, Any]:
    return {"by": request.by, "groups": request.groups, "person": request.person}


def _flagged(table: BoundTable, found: Checks) -> BoundTable:
    """Add what was found about each row as integers."""
    flags = [flag.cast(nw.Int64()).alias(name) for name, flag in found.flags.items()]
    used = _one_if(found.conditions) if found.conditions else nw.lit(1, nw.Int64())
    return table.with_columns(used.alias(_USED), *flags)


def _with_finite(table: BoundTable, doubles: Iterable[str]) -> BoundTable:
    """Replace doubles that are not finite, or null, by zero."""
    finite = {name: nw.col(name).is_finite() for name in doubles}
    return table.with_columns(
        nw.when(usable).then(nw.col(name)).otherwise(nw.lit(0.0)).alias(name)
        for name, usable in finite.items()
    )


def _with_used(plain: UsedRows, request: Request) -> BoundTable:
    """Say of each row whether it is used: by its values, by its group, and among its person's."""
    table = plain.table
    if plain.listed:
        listed = [nw.col(name) > 0 for name in (_USED, *plain.listed)]
        table = table.with_columns(_one_if(listed).alias(_USED))
    if request.person is None:
        return table
    table = with_places(table, plain.order, ["person", _USED])
    return table.with_columns(_one_if([nw.col(_USED) > 0, is_kept(request.rows)]).alias(_USED))


def _one_if(conditions: Sequence[nw.Expr]) -> nw.Expr:
    """Return 1 where all conditions hold, and 0 where one of them does not or is null."""
    one, zero = (nw.lit(number, nw.Int64()) for number in (1, 0))
    return nw.when(reduce(and_, conditions)).then(one).otherwise(zero)


def _totals(
    integers: IntegerColumns, keys: Sequence[str], flags: Sequence[str], points: Sequence[nw.Expr]
) -> dict[str, Integers]:
    """Return the sums of all integers and flags by keys and, if any, by grids and their points.

    If there are several grids, each row is there once for each of them.
    """
    names = [*integers.names, *flags]
    placed = {f"{_POINT}{i}": point for i, point in enumerate(points)}
    columns = [nw.col(name) for name in (*keys, *names)]
    table = integers.table.select(*columns, *(p.alias(name) for name, p in placed.items()))
    where = [*keys, *placed]
    if len(points) > 1:
        table, where = _once_for_each(table, list(placed)), [*keys, _GRID, _POINT]
    sums = [nw.col(name).sum().cast(nw.Int64()) for name in names]  # below 2⁶³ for 2⁴² rows
    summed = table.group_by(*where).agg(nw.len().alias(_ROWS), *sums)
    eager = summed.collect() if isinstance(summed, nw.LazyFrame) else summed
    none = np.zeros(len(eager), np.int64)
    found = {name: eager[name].to_numpy().astype(np.int64) for name in (*where, *names, _ROWS)}
    return {_GRID: none, _POINT: found.get(f"{_POINT}0", none)} | found


def _once_for_each(table: BoundTable, points: list[str]) -> BoundTable:
    """Repeat each row for each of its points, with the place of the grid; rows are read once."""
    native, engine = table.to_native(), table.implementation
    numbers, listed = ", ".join(map(str, range(len(points)))), ", ".join(points)
    if engine.is_duckdb():
        repeated = f"*, unnest([{numbers}]) AS {_GRID}, unnest([{listed}]) AS {_POINT}"
        return cast("BoundTable", nw.from_native(native.project(repeated)))
    if engine.is_spark_like():
        repeated = f"posexplode(array({listed})) AS ({_GRID}, {_POINT})"
        return cast("BoundTable", nw.from_native(native.selectExpr("*", repeated)))
    plain = [name for name in table.collect_schema() if name not in points]
    renamed = table.rename({name: str(i) for i, name in enumerate(points)})
    on = list(map(str, range(len(points))))
    melted = renamed.unpivot(on, index=plain, variable_name=_GRID, value_name=_POINT)
    return melted.with_columns(nw.col(_GRID).cast(nw.Int64()))


def _sums(
    moments: Sequence[Moment],
    integers: IntegerColumns,
    used: Mapping[str, Integers],
    keys: Sequence[Integers],
    place: Mapping[tuple[int, ...], int],
) -> list[list[Fraction]]:
    """Return the exact sums of each group, given those of the rows that are used."""
    once = used[_GRID] == 0
    rows = list(zip(*(key[once].tolist() for key in keys), strict=True)) or [()] * int(once.sum())
    group = np.array([place.get(row, len(place)) for row in rows], np.int64)
    totals = {name: np.zeros(len(place) + 1, np.int64) for name in (*integers.names, _ROWS)}
    for name, total in totals.items():
        np.add.at(total, group, used[name][once])
    return [
        aggregate.exact_sums(moments, integers, {name: int(totals[name][i]) for name in totals})
        for i in range(len(place))
    ]
