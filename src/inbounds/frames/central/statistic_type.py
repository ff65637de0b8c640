"""What a statistic is: which moments it needs, and how it is estimated from them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from inbounds._check import format_numbers
from inbounds.frames.central import moment
from inbounds.frames.central.argument import AnyColumn
from inbounds.frames.central.estimate import Estimate, Released

LABELS = ("bin_lower", "bin_upper", "level", "q")
"""Columns of a summary that tell the rows of one statistic apart."""


@dataclass(frozen=True, slots=True, repr=False)
class Statistic(ABC):
    """A statistic of the rows of each group, made by a function such as `count`.

    Attributes
    ----------
    column
        The name of the column that it describes, or its index in an array; "" for a count.
    edges
        The public bounds of the column, and between them the inner edges of a histogram.

    Examples
    --------
    >>> from inbounds.frames import mean
    >>> mean("age", 0, 120).edges
    (0.0, 120.0)
    """

    column: AnyColumn = ""
    edges: tuple[float, ...] = ()

    holds: ClassVar[Literal["numbers", "truths", "levels"]] = "numbers"
    """What the column must hold: numbers, booleans or numbers, or values that are compared."""

    @property
    def kind(self) -> str:
        """The name of the statistic in a summary, which is that of its class."""
        return type(self).__name__.strip("_").lower()

    @property
    def has_column(self) -> bool:
        """Whether it describes a column, as all statistics but a count do; 0 is an index."""
        return bool(self.column != "")

    @property
    def lower(self) -> float:
        """The lower bound of the column."""
        return self.edges[0]

    @property
    def upper(self) -> float:
        """The upper bound of the column."""
        return self.edges[-1]

    @property
    def levels(self) -> tuple[Any, ...]:
        """The public values that are counted; empty if the column holds numbers."""
        return ()

    @property
    def labels(self) -> list[dict[str, Any]]:
        """What tells the rows of this statistic apart, one entry for each row of a group."""
        return [{}]

    @abstractmethod
    def moments(self, *, counted: bool) -> list[moment.Moment]:
        """Return the moments that it needs.

        `counted` says that the number of rows is public, or released for another statistic.
        """

    @abstractmethod
    def estimate(self, released: Released) -> list[Estimate]:
        """Return one estimate for each label, computed from the released moments."""

    @abstractmethod
    def influences(self, released: Sequence[moment.Moment]) -> dict[moment.Moment, float]:
        """Return what squared errors of sums add to the squared relative error of this statistic.

        Sums are divided by the size of a group. Errors are relative to the size (the average size,
        for bins), to the size times the largest value, to the width of the bounds, or to a quarter
        of its square. Where they depend on the truth, they are averaged over groups whose values
        are all equal, anywhere between the bounds (docs/proofs/statistics.md, theorem 14).
        """

    def __repr__(self) -> str:
        arguments = [repr(self.column), *map(format_numbers, self.edges)]
        return f"{self.kind}({', '.join(arguments if self.has_column else [])})"
