"""How many rows of each group are at each point of a public grid.

A row's point is computed from its own value by IEEE operations alone, so every engine finds the
same one. Only the points that hold rows leave the engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from operator import getitem
from typing import Any, NamedTuple

import numpy as np

from inbounds._extra import optional
from inbounds.frames.binding import BoundTable
from inbounds.frames.central.aggregate import Key, used_rows
from inbounds.frames.central.points import Grid
from inbounds.frames.central.rank import Integers

with optional():
    import narwhals as nw


class Counts(NamedTuple):
    """The points that hold rows of a group, in order, and how many rows each of them holds."""

    points: Integers
    rows: Integers


def counts(
    table: BoundTable,
    asked: list[tuple[str, Grid]],
    columns: list[str],
    *,
    by: tuple[str, ...] = (),
    groups: tuple[Key, ...] = ((),),
    person: str | None = None,
    rows: int = 1,
    secret: bytes | None = None,
) -> list[list[Counts]]:
    """Count rows at the points of grids.

    Parameters
    ----------
    table, columns, by, groups, person, rows
        As in `inbounds.frames.central.aggregate.used_rows`.
    asked
        Columns and their grids.

    Returns
    -------
    The counts of each group, for each of the columns that are asked for.

    Examples
    --------
    >>> import pandas as pd
    >>> table = nw.from_native(pd.DataFrame({"c0": [7, 3, 7, 900]}))
    >>> [[found]] = counts(table, [("c0", Grid(0.0, 9.0, 9, True))], ["c0"])
    >>> found.points.tolist(), found.rows.tolist()
    ([3, 7, 9], [1, 2, 1])
    """
    who: dict[str, Any] = {"person": person, "rows": rows, "secret": secret}
    used = used_rows(table, columns, by=by, groups=groups, **who)
    keys = [tuple(map(getitem, used.listed.values(), group)) for group in groups]
    place = {key: i for i, key in enumerate(keys)}
    return [
        by_group(_counted(used.table, used.names[column], grid, list(used.listed)), place)
        for column, grid in asked
    ]


def _counted(table: BoundTable, column: str, grid: Grid, keys: list[str]) -> list[Integers]:
    """Return keys, points and numbers of rows, one column each; the engine counts."""
    point = nearest_point(column, grid).alias("point")
    grouped = table.select(*(nw.col(key) for key in keys), point).group_by(*keys, "point")
    found = grouped.agg(nw.len().alias("rows"))
    eager = found.collect() if isinstance(found, nw.LazyFrame) else found
    return [eager[name].to_numpy().astype(np.int64) for name in (*keys, "point", "rows")]


def nearest_point(column: str, grid: Grid) -> nw.Expr:
    """Return the place on a grid of each value of a column of finite doubles.

    A row alone decides its place, as docs/proofs/quantiles.md, theorem 5, needs.

    Examples
    --------
    >>> import pandas as pd
    >>> table = nw.from_native(pd.DataFrame({"x": [-5.0, 3.7]}))
    >>> table.select(nearest_point("x", Grid(0.0, 9.0, 9, False)))["x"].to_list()
    [0, 4]
    """
    value = nw.col(column).clip(grid.lower, grid.upper) - grid.lower
    index = value * (grid.steps / (grid.upper - grid.lower)) + 0.5
    return index.floor().clip(0.0, float(grid.steps)).cast(nw.Int64())


def by_group(columns: Sequence[Integers], place: Mapping[tuple[int, ...], int]) -> list[Counts]:
    """Split counted points by group, and sort them; groups without rows have no points.

    Parameters
    ----------
    columns
        The keys of the groups, points, and the numbers of rows there.
    place
        The place of each group in the result.

    Examples
    --------
    >>> [found] = by_group([np.array([7, 3]), np.array([2, 1])], {(): 0})
    >>> found.points.tolist(), found.rows.tolist()
    ([3, 7], [1, 2])
    """
    *keys, points, rows = columns
    empty = np.empty(0, np.int64)
    result = [Counts(empty, empty) for _ in place]
    order = np.lexsort((points, *keys[::-1]))
    points, rows, keys = points[order], rows[order], [key[order] for key in keys]
    changed = np.zeros(points.size, bool)
    for key in keys:
        changed[1:] |= key[1:] != key[:-1]
    starts = [0, *np.flatnonzero(changed).tolist(), points.size] if points.size else []
    for start, end in pairwise(starts):
        group = place.get(tuple(int(key[start]) for key in keys))
        if group is not None:  # a combination of listed values that is not itself listed
            result[group] = Counts(points[start:end], rows[start:end])
    return result
