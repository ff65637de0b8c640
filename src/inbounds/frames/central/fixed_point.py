"""Values as whole numbers on a grid between their bounds, and their exact sums.

A sum of doubles depends on their order, and one row can change it by more than the width of its
bounds; a sum of integers does not. Every value becomes an integer by itself before anything is
added, and integers are summed in two halves, so that 64 bits never overflow. Why that is enough:
docs/proofs/statistics.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, cast

from inbounds._extra import optional
from inbounds.frames.binding import Table
from inbounds.frames.central.moment import Moment

with optional():
    import narwhals as nw

_FINEST = 2**40  # grid steps between two bounds
_HALF = 2**20  # sums of halves of 20 bits stay below 2**63 for 2**42 rows


def grid_steps(lower: float, upper: float) -> int:
    """Return how many steps of the grid are between two bounds, at most 2⁴⁰.

    Where the width is a whole number, numbers a whole number above `lower` are on the grid.

    Examples
    --------
    >>> grid_steps(0.0, 120.0) == 120 * 2**33, grid_steps(0.0, 0.3) == 2**40
    (True, True)
    """
    width = upper - lower
    if not (width.is_integer() and width <= _FINEST):
        return _FINEST
    whole = int(width)
    return whole << (40 - (whole - 1).bit_length())


def nearest_doubles(table: Table, names: Sequence[str]) -> Table:
    """Round integers of Arrow to doubles, as other engines do; its own cast fails beyond 2⁵³.

    Examples
    --------
    >>> import pyarrow as pa
    >>> nearest_doubles(nw.from_native(pa.table({"x": [2**53 + 1]})), ["x"])["x"].to_list()
    [9007199254740992.0]
    """
    native: Any = table.to_native()
    if table.implementation.is_pyarrow():
        for name in names:
            place = native.schema.names.index(name)
            native = native.set_column(place, name, _rounded(native.column(place)))
    elif table.implementation.is_pandas():
        arrays = {name: native[name].array for name in names}
        held = {name: a for name, a in arrays.items() if hasattr(a.dtype, "pyarrow_dtype")}
        native = native.assign(
            **{name: type(a)(_rounded(a.__arrow_array__())) for name, a in held.items()}
        )
    else:
        return table
    return cast("Table", nw.from_native(native))


def _rounded(values: Any) -> Any:
    with optional():
        import pyarrow as pa  # noqa: PLC0415 - only Arrow columns need it

    return values.cast(pa.float64(), safe=False) if pa.types.is_integer(values.type) else values


def with_integers(table: Table, one: Moment, column: str, name: str) -> tuple[Table, list[str]]:
    """Add the columns of integers to be summed for a moment, and return their names.

    Parameters
    ----------
    table
        Holds the values in `column`, as doubles without nulls, NaN and infinities.
    one, name
        The moment, and what the new columns' names end in.

    Examples
    --------
    >>> import pandas as pd
    >>> from inbounds.frames.central.moment import moment
    >>> from inbounds.frames.central.statistic import histogram
    >>> table = nw.from_native(pd.DataFrame({"x0": [0.5, 7.0]}))
    >>> table, names = with_integers(table, moment("bins", histogram("x", [0, 1, 2])), "x0", "0")
    >>> table[names[0]].to_list()
    [0, 1]
    """
    if one.kind == "bins":
        above = {f"above{j}_{name}": nw.col(column) >= e for j, e in enumerate(one.edges[1:-1])}
        flags = [flag.cast(nw.Int64()).alias(new) for new, flag in above.items()]
        return (table.with_columns(*flags) if flags else table), list(above)
    lower, upper = one.edges[0], one.edges[-1]
    steps = grid_steps(lower, upper)
    place = (nw.col(column).clip(lower, upper) - lower) * (steps / (upper - lower))
    table, names = _halved(table, place, steps, f"first_{name}")
    if one.kind == "second":
        centred = (nw.col(f"first_{name}") * 2.0 - float(steps)) / float(steps)
        table, more = _halved(table, centred * centred * float(_FINEST), _FINEST, f"second_{name}")
        names += more
    return table, names


def exact_sums(moments: Sequence[Moment], totals: Mapping[str, int]) -> list[Fraction]:
    """Turn the sums of a group's integers into the sums of its moments.

    Parameters
    ----------
    moments
        Moment i was written by `with_integers` under the name ``str(i)``.
    totals
        The number of rows, as ``"rows"``, and the sum of each column of integers; empty where
        there are no rows.

    Examples
    --------
    >>> from inbounds.frames.central.moment import moment
    >>> from inbounds.frames.central.statistic import histogram
    >>> exact_sums([moment("bins", histogram("x", [0, 1, 2]))], {"rows": 5, "above0_0": 2})
    [Fraction(3, 1), Fraction(2, 1)]
    """
    rows = Fraction(totals.get("rows", 0))
    result: list[Fraction] = []
    for i, one in enumerate(moments):
        if one.kind == "count":
            result.append(rows)
            continue
        if one.kind == "bins":
            inner = [totals.get(f"above{j}_{i}", 0) for j in range(len(one.edges) - 2)]
            above = [rows, *map(Fraction, inner), Fraction(0)]
            result += [above[j] - above[j + 1] for j in range(len(inner) + 1)]
            continue
        place = _joined(totals, f"first_{i}") / grid_steps(one.edges[0], one.edges[-1])
        if one.kind == "sum":
            lower, upper = Fraction(one.edges[0]), Fraction(one.edges[-1])
            width = max(Fraction(0), upper) - min(Fraction(0), lower)
            result.append((rows * lower + place * (upper - lower)) / width)
            continue
        result.append(place - rows / 2)
        if one.kind == "second":
            result.append(_joined(totals, f"second_{i}") / _FINEST - rows / 2)
    return result


def _halved(table: Table, place: nw.Expr, steps: int, name: str) -> tuple[Table, list[str]]:
    """Round to a whole number from 0 to `steps` and split it; doubles hold all of these exactly.

    Adding 1/2 and cutting off rounds the same way in every engine.
    """
    nearest = (place + 0.5).floor().cast(nw.Float64()).clip(0.0, float(steps))
    table = table.with_columns(nearest.alias(name))
    high = (nw.col(name) / float(_HALF)).floor().cast(nw.Int64())
    table = table.with_columns(high.alias(f"{name}_high"))
    low = nw.col(name) - nw.col(f"{name}_high").cast(nw.Float64()) * float(_HALF)
    table = table.with_columns(low.cast(nw.Int64()).alias(f"{name}_low"))
    return table, [f"{name}_high", f"{name}_low"]


def _joined(totals: Mapping[str, int], name: str) -> Fraction:
    return Fraction(totals.get(f"{name}_high", 0) * _HALF + totals.get(f"{name}_low", 0))
