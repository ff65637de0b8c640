"""Which rows hold values within the bounds of all statistics of their column, compared exactly.

The value of a row alone decides. Engines would round an integer or a decimal to a double before
they compare it with one. So integers are compared with integers here, and decimals with decimals
of the same scale.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from operator import and_, or_
from typing import Any, Literal, cast, get_args

from inbounds import _check
from inbounds._extra import optional
from inbounds.errors import ArgumentError, quoted
from inbounds.frames.binding import BoundTable
from inbounds.frames.central.statistic_type import Statistic

with optional():
    import narwhals as nw

OutsidePolicy = Literal["clip", "skip", "error"]
Outside = OutsidePolicy | Mapping[Any, OutsidePolicy]
"""What becomes of numbers outside their bounds, in all columns, or in those that are named."""


def policy_of(outside: Outside, column: Any) -> OutsidePolicy:
    """Return what becomes of the numbers of a column.

    Examples
    --------
    >>> policy_of("skip", "age"), policy_of({"age": "skip"}, "age"), policy_of({"age": "skip"}, "x")
    ('skip', 'skip', 'clip')
    """
    return outside.get(column, "clip") if isinstance(outside, Mapping) else outside


def check_outside(outside: object, columns: Collection[Any]) -> Outside:
    """Check what the caller says about numbers outside their bounds.

    Examples
    --------
    >>> check_outside({"pay": "skip"}, ["age"])
    Traceback (most recent call last):
    inbounds.errors.ArgumentError: outside must name columns that a statistic describes, got 'pay'.
    """
    if not isinstance(outside, Mapping):
        return cast("OutsidePolicy", _check.one_of(get_args(OutsidePolicy), outside=outside))
    for name, policy in outside.items():
        if name not in columns:
            requirement = "name columns that a statistic describes"
            raise ArgumentError.must("outside", requirement, got=quoted(name))
        _check.one_of(get_args(OutsidePolicy), outside=policy)
    return dict(outside)


def inside(table: BoundTable, statistics: Iterable[Statistic]) -> dict[str, nw.Expr]:
    """Return, for each column of numbers, an expression that is true within all of its bounds.

    It is not true for nulls, NaN and infinities. For `proportion`, 0 and 1 are within the bounds,
    and nothing else is. Columns of booleans and levels have no bounds. Proof:
    docs/proofs/statistics.md, theorem 11.

    Examples
    --------
    >>> import pandas as pd
    >>> from inbounds.frames.central.statistic import mean
    >>> table = nw.from_native(pd.DataFrame({"age": [17, 999]}))
    >>> table.filter(inside(table, [mean("age", 0, 120)])["age"])["age"].to_list()
    [17]
    """
    schema = table.collect_schema()
    asked: dict[str, list[Statistic]] = {}
    for statistic in statistics:
        name = statistic.column
        if name and statistic.holds != "levels" and schema[name].is_numeric():
            asked.setdefault(name, []).append(statistic)
    return {name: _within(table, name, schema[name], asked[name]) for name in asked}


def _within(table: BoundTable, name: str, dtype: Any, statistics: Sequence[Statistic]) -> nw.Expr:
    lower = max(statistic.lower for statistic in statistics)
    upper = min(statistic.upper for statistic in statistics)
    only = any(statistic.holds == "truths" for statistic in statistics)
    if dtype.is_float():
        number = nw.col(name).cast(nw.Float64())
        if not only:
            return (number >= lower) & (number <= upper)
        return _any(name, [number == truth for truth in (0.0, 1.0) if lower <= truth <= upper])
    steps = _Steps(dtype, exact=table.implementation.is_pyarrow())
    low, high = steps.above(lower), steps.below(upper)
    if only:
        truths = [steps.above(truth) for truth in (0.0, 1.0)]
        held = [
            truth for truth in truths if max(low, steps.least) <= truth <= min(high, steps.most)
        ]
        return _any(name, [nw.col(name) == steps.literal(truth) for truth in held])
    if low > min(high, steps.most) or high < steps.least:
        return _any(name, [])
    conditions = [~nw.col(name).is_null()]
    if low > steps.least:
        conditions.append(nw.col(name) >= steps.literal(low))
    if high < steps.most:
        conditions.append(nw.col(name) <= steps.literal(high))
    return reduce(and_, conditions)


def _any(name: str, conditions: list[nw.Expr]) -> nw.Expr:
    """Return whether one of the conditions holds; without any, an expression that is never true."""
    never = nw.col(name).is_null() & ~nw.col(name).is_null()
    return reduce(or_, conditions, never)


class _Steps:
    """The numbers that an integer or decimal type can hold, as multiples of its smallest step.

    A literal beyond them would change the type, and some engines would then compare doubles.
    """

    def __init__(self, dtype: Any, *, exact: bool) -> None:
        self._dtype, self._is_decimal = dtype, isinstance(dtype, nw.Decimal)
        self._scale = int(dtype.scale) if self._is_decimal else 0
        self._as_decimal = self._is_decimal or exact  # Arrow reads plain integers as Int64
        if self._is_decimal:
            self.most = 10 ** int(dtype.precision) - 1
            self.least = -self.most
        else:
            bits, is_unsigned = int(re.sub(r"\D", "", str(dtype))), dtype.is_unsigned_integer()
            self.least, self.most = (0, 2**bits - 1) if is_unsigned else _signed(bits)

    def above(self, bound: float) -> int:
        """Return the least multiple that is not below a bound."""
        return math.ceil(self._exact(bound))

    def below(self, bound: float) -> int:
        """Return the largest multiple that is not above a bound."""
        return math.floor(self._exact(bound))

    def literal(self, steps: int) -> nw.Expr:
        """Return a multiple as a literal that needs no rounding."""
        if not self._as_decimal:
            return nw.lit(steps, self._dtype)
        digits = tuple(map(int, str(abs(steps))))
        return nw.lit(Decimal((int(steps < 0), digits, -self._scale)))

    def _exact(self, bound: float) -> Fraction:
        """Return a bound in steps; one such as 0.1 is that decimal for decimals, not its double."""
        is_decimal = self._is_decimal and not bound.is_integer()
        number = Fraction(repr(bound)) if is_decimal else Fraction(bound)
        return number * Fraction(10) ** self._scale


def _signed(bits: int) -> tuple[int, int]:
    return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
