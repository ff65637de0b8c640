"""Values that cannot be used: which ones a table holds, and which rows are left without them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple

from inbounds._extra import optional
from inbounds.errors import ArgumentError, Hint
from inbounds.frames.binding import BoundTable
from inbounds.frames.central.outside import Outside, inside, policy_of
from inbounds.frames.central.statistic_type import Statistic

with optional():
    import narwhals as nw

NullPolicy = Literal["error", "skip"]


class Checks(NamedTuple):
    """What to look for in a table.

    Attributes
    ----------
    flags
        Expressions that are true for rows whose values cannot be used, by name.
    conditions
        Expressions that are true for rows that are used.
    refuse
        Refuses a table, given how many rows each flag is true for.
    """

    flags: dict[str, nw.Expr]
    conditions: list[nw.Expr]
    refuse: Callable[[Mapping[str, int]], None]


def checks(
    table: BoundTable,
    numbers: Iterable[str],
    person: str | None,
    nulls: NullPolicy,
    called: Callable[[str], Any] = str,
    *,
    outside: Outside = "clip",
    statistics: Iterable[Statistic] = (),
) -> Checks:
    """Return what to look for in a table; nothing is evaluated.

    A row alone decides whether it is used: docs/proofs/statistics.md, theorem 11.

    Parameters
    ----------
    table, numbers, person
        A table, and the names of its columns of numbers, truths and levels, and of people.
    nulls
        Whether nulls in `numbers` are refused, or their rows are left out.
    called
        Returns the name that errors show for a column.
    outside, statistics
        Whether rows with numbers outside the bounds of these statistics are used, left out or
        refused. Numbers that are not finite are outside; unless they are left out, they are
        refused.

    Examples
    --------
    >>> import pandas as pd
    >>> table = nw.from_native(pd.DataFrame({"age": [17.0, None]}))
    >>> found = checks(table, ["age"], None, "skip")
    >>> list(found.flags), len(found.conditions)
    (['null0', 'infinite0'], 1)
    """
    names = list(dict.fromkeys(numbers))
    columns = names if person is None else [*names, person]
    within = inside(table, [s for s in statistics if policy_of(outside, s.column) != "clip"])
    flags = {f"null{i}": nw.col(name).is_null() for i, name in enumerate(columns)}
    for i, name in enumerate(columns):
        bounded = within.get(name) if i < len(names) else None
        is_refused = policy_of(outside, name) == "error"
        if bounded is not None and is_refused:
            flags[f"outside{i}"] = ~bounded & ~nw.col(name).is_null()
        if (bounded is None or is_refused) and _may_be_infinite(table, name, number=i < len(names)):
            finite = nw.col(name).cast(nw.Float64()).is_finite()
            flags[f"infinite{i}"] = ~finite & ~nw.col(name).is_null()
    conditions = [~nw.col(name).is_null() for name in names] if nulls == "skip" else []
    conditions += [held for name, held in within.items() if policy_of(outside, name) == "skip"]

    def refuse(counts: Mapping[str, int]) -> None:
        for i, name in enumerate(columns):
            _refuse(counts, i, f"column {called(name)!r}", nulls, of_people=i == len(names))

    return Checks(flags, conditions, refuse)


def check_table(
    table: BoundTable,
    numbers: Iterable[str],
    person: str | None,
    nulls: NullPolicy,
    called: Callable[[str], Any] = str,
    *,
    outside: Outside = "clip",
    statistics: Iterable[Statistic] = (),
) -> tuple[int, BoundTable]:
    """Refuse values that cannot be used, and return the number of rows and the rows to use.

    The arguments are those of `checks`. A lazy table is evaluated once.

    Examples
    --------
    >>> import pandas as pd
    >>> table = nw.from_native(pd.DataFrame({"age": [17.0, None]}))
    >>> rows, rest = check_table(table, ["age"], None, "skip")
    >>> rows, len(rest)
    (2, 1)
    """
    bounds: Any = {"outside": outside, "statistics": statistics}
    found = checks(table, numbers, person, nulls, called, **bounds)
    flagged = [flag.cast(nw.Int64()).sum().alias(name) for name, flag in found.flags.items()]
    counted = table.select(nw.len().alias("rows"), *flagged)
    eager = counted.collect() if isinstance(counted, nw.LazyFrame) else counted
    (counts,) = eager.rows(named=True)
    found.refuse(counts)
    for condition in found.conditions:
        table = table.filter(condition)
    return counts["rows"], table


def _may_be_infinite(table: BoundTable, name: str, *, number: bool) -> bool:
    """Whether a column may hold NaN or infinities; decimals may exceed all doubles."""
    dtype = table.collect_schema()[name]
    return dtype.is_float() or (number and dtype.is_numeric() and not dtype.is_integer())


def _refuse(
    counts: Mapping[str, int], i: int, subject: str, nulls: NullPolicy, *, of_people: bool
) -> None:
    """Refuse a column that holds values which cannot be used, given how many there are."""
    if counts[f"null{i}"] and of_people:
        raise ArgumentError.must(
            subject, "have no nulls, because every row must belong to a person"
        )
    if counts[f"null{i}"] and nulls == "error":
        hint = Hint("{} leaves out rows with nulls.", 'nulls="skip"')
        raise ArgumentError.must(subject, "have no nulls", hint=hint)
    if counts.get(f"infinite{i}"):
        raise ArgumentError.must_be(subject, "finite, without NaN and infinities")
    if counts.get(f"outside{i}"):
        words = "{} moves values to the bounds, {} leaves out rows."
        hint = Hint(words, 'outside="clip"', 'outside="skip"')
        raise ArgumentError.must(subject, "have no values outside its bounds", hint=hint)
