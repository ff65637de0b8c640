"""Columns of integers, whose sums are exact.

A sum of doubles depends on their order, and one row can change it by more than the width of its
bounds. A sum of integers does neither. Every value becomes an integer by itself before anything is
added up, and integers are summed in two halves, so that 64 bits never overflow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from inbounds._extra import optional
from inbounds.frames.binding import BoundTable

with optional():
    import narwhals as nw

_HALF = 2**20  # sums of halves of 20 bits stay below 2**63 for 2**42 rows


def nearest_doubles(table: BoundTable, names: Sequence[str]) -> BoundTable:
    """Round integers of Arrow to doubles, as other engines do; Arrow's own cast fails above 2⁵³.

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
        of_arrow = {name: a for name, a in arrays.items() if hasattr(a.dtype, "pyarrow_dtype")}
        rounded = {name: type(a)(_rounded(a.__arrow_array__())) for name, a in of_arrow.items()}
        native = native.assign(**rounded)
    else:
        return table
    return cast("BoundTable", nw.from_native(native))


def _rounded(values: Any) -> Any:
    with optional():
        import pyarrow as pa  # noqa: PLC0415 - only Arrow columns need it

    return values.cast(pa.float64(), safe=False) if pa.types.is_integer(values.type) else values


class IntegerColumns:
    """A table that grows by columns of integers, whose sums are exact.

    Proof: docs/proofs/statistics.md, theorem 4.

    Parameters
    ----------
    table
        Holds values as doubles without nulls, NaN and infinities.

    Examples
    --------
    >>> import pandas as pd
    >>> columns = IntegerColumns(nw.from_native(pd.DataFrame({"x0": [0.5, 7.0]})))
    >>> columns.add_flags([nw.col("x0") >= 1.0])
    >>> columns.table[columns.names[0]].to_list(), columns.totals({"integer0": 1})
    ([0, 1], [1])
    """

    def __init__(self, table: BoundTable) -> None:
        self.table = table
        self._weights: list[dict[str, int]] = []  # of the columns that an integer is split into

    @property
    def names(self) -> list[str]:
        """The columns to be summed."""
        return [name for weights in self._weights for name in weights]

    def add_flags(self, conditions: Sequence[nw.Expr]) -> None:
        """Add integers that are 1 where a condition holds, and 0 elsewhere."""
        start = len(self._weights)
        flags = {f"integer{i}": flag for i, flag in enumerate(conditions, start)}
        if flags:
            integers = [flag.cast(nw.Int64()).alias(name) for name, flag in flags.items()]
            self.table = self.table.with_columns(*integers)
        self._weights += [{name: 1} for name in flags]

    def add_rounded(self, number: nw.Expr, steps: int) -> nw.Expr:
        """Add a number that is rounded to an integer from 0 to `steps`, and return the integer.

        Doubles hold all of these integers exactly. Adding 1/2 and cutting off rounds the same way
        in every engine.
        """
        name = f"integer{len(self._weights)}"
        nearest = (number + 0.5).floor().cast(nw.Float64()).clip(0.0, float(steps))
        table = self.table.with_columns(nearest.alias(name))
        high = (nw.col(name) / float(_HALF)).floor().cast(nw.Int64())
        table = table.with_columns(high.alias(f"{name}_high"))
        low = nw.col(name) - nw.col(f"{name}_high").cast(nw.Float64()) * float(_HALF)
        self.table = table.with_columns(low.cast(nw.Int64()).alias(f"{name}_low"))
        self._weights.append({f"{name}_high": _HALF, f"{name}_low": 1})
        return nw.col(name)

    def totals(self, sums: Mapping[str, int]) -> list[int]:
        """Return the total of each integer, given the sums of the columns; no rows have no sums."""
        return [
            sum(weight * sums.get(name, 0) for name, weight in weights.items())
            for weights in self._weights
        ]
