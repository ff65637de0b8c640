"""Statistics of columns that are no quantities: fractions of rows that are true, and categories.

Levels are arguments because they must be public, as groups are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from inbounds import _check
from inbounds._entry import called
from inbounds.frames.central import moment
from inbounds.frames.central.argument import Column, check_column, check_levels
from inbounds.frames.central.estimate import Estimate, Released
from inbounds.frames.central.statistic import _Mean
from inbounds.frames.central.statistic_type import Statistic
from inbounds.frames.central.tally import add_up


@dataclass(frozen=True, slots=True, repr=False)
class _Proportion(_Mean):
    holds: ClassVar[Literal["numbers", "truths", "levels"]] = "truths"

    def __repr__(self) -> str:
        return f"{self.kind}({self.column!r})"


@dataclass(frozen=True, slots=True, repr=False)
class _Categories(Statistic):
    listed: tuple[Any, ...] = ()
    complete: bool = True

    holds: ClassVar[Literal["numbers", "truths", "levels"]] = "levels"

    @property
    def levels(self) -> tuple[Any, ...]:
        return self.listed

    @property
    def labels(self) -> list[dict[str, Any]]:
        return [{"level": level} for level in self.listed]

    def moments(self, *, counted: bool) -> list[moment.Moment]:
        return [moment.LevelCounts(self.column, levels=self.listed)]

    def estimate(self, released: Released) -> list[Estimate]:
        return add_up(released, self.moments(counted=True)[0], complete=self.complete)

    def influences(self, released: Sequence[moment.Moment]) -> dict[moment.Moment, float]:
        (counts,) = self.moments(counted=True)
        return {counts: float(len(self.listed))}  # the l2 error of all levels

    def __repr__(self) -> str:
        more = "" if self.complete else ", complete=False"
        return f"{self.kind}({self.column!r}, {list(self.listed)!r}{more})"


@called()
def proportion(column: Column) -> Statistic:
    """Ask for the fraction of rows in which a column is true.

    Parameters
    ----------
    column
        The name of a column of booleans, or of the numbers 0 and 1, or its index in an array. Other
        numbers count as they do in ``mean(column, 0, 1)``, unless `summarize` is told otherwise by
        `outside`.

    Returns
    -------
    A statistic to pass to `summarize`, whose estimates stay in [0, 1].

    Raises
    ------
    ArgumentTypeError
        If `column` is not a name.

    See Also
    --------
    summarize, categories, mean

    Notes
    -----
    How it follows from released sums: docs/proofs/statistics.md, theorem 13.

    Examples
    --------
    >>> from inbounds.frames import proportion
    >>> proportion("smoker")
    proportion('smoker')
    """
    return _Proportion(check_column(column), (0.0, 1.0))


@called()
def categories(column: Column, levels: Sequence[Any], *, complete: bool = True) -> Statistic:
    """Ask for the number of rows with each of the levels of a column.

    Parameters
    ----------
    column
        The name of a column of strings, integers, booleans or dates, or of a categorical column, or
        its index in an array.
    levels
        The public values to count, in a list, an array or anything else that has an order. They
        are of the type of the column's values, and compared as groups are: strings by their bytes
        (docs/proofs/statistics.md, theorem 3). Rows with other values belong to none of them. A
        misspelt level is an empty one.
    complete
        Whether every row has one of the levels. Where the number of rows is public, the counts then
        add up to it. If not, they add up to that number at most.

    Returns
    -------
    statistic
        To pass to `summarize`, which writes one row for each level, with the level in the column
        ``level``. The counts of a group are whole numbers of at least 0.

    Raises
    ------
    ArgumentError
        If there is no level, or one is listed twice.
    ArgumentTypeError
        If `column` is not a name, or the levels are not values of one of these types.

    See Also
    --------
    summarize, histogram, proportion

    Notes
    -----
    How it follows from released sums: docs/proofs/statistics.md, theorems 10 and 13.

    Examples
    --------
    >>> from inbounds.frames import categories
    >>> categories("education", ["school", "college", "university"])
    categories('education', ['school', 'college', 'university'])
    """
    checked = _check.yes_or_no(complete=complete)
    return _Categories(check_column(column), (), check_levels(levels), checked)
