"""What callers may pass and what they get back, as type checkers see it.

No optional package is named here: a user who has none of them must be able to check their code, so
the columns of pandas and Polars are known by what they can do.
"""

from collections.abc import Hashable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

Number = float | Fraction | Decimal | np.integer[Any] | np.floating[Any]
"""A number. To a type checker an int is a float, and so is a bool."""

Array = NDArray[np.integer[Any] | np.floating[Any]]
"""An array of numbers of any width; one of no dimension is treated as a number."""


class Column(Protocol):
    """Whatever has a ``to_numpy``: columns of any package, and frames of numbers."""

    def to_numpy(self) -> Any:
        """Return the numbers as an array."""
        ...


class Series(Column, Protocol):
    """A Series of pandas or Polars: of all columns, only theirs have a name and `pct_change`.

    A frame of pandas has an attribute for every column, which to mypy means every attribute; but
    these are columns, and no column can be hashed.
    """

    @property
    def name(self) -> Hashable:
        """What the column is called."""
        ...

    @property
    def pct_change(self) -> Any:
        """A method of theirs, never called here."""
        ...


Vector = Array | Sequence[Number] | Column
"""One number per coordinate."""

Nested = Array | Sequence[Number | Sequence[Number] | Array]
"""Arrays and lists of any shape; a list is nested once at most, beyond that use an array."""

Numbers = Nested | Column
"""Whatever is read as an array of numbers."""

Step = Number | Sequence[Number | None] | Array
"""A step for every coordinate, or one for each, None where there is none."""

SeriesT = TypeVar("SeriesT", bound=Series)
