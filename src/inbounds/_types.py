"""Types of what callers may pass and of what they get back.

No optional package is named here, since users who have none of them also check their code. The
columns of pandas and Polars are therefore recognised by their methods.
"""

from collections.abc import Hashable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

Number = float | Fraction | Decimal | np.integer[Any] | np.floating[Any]
"""A number. Type checkers accept an int or a bool as a float."""

Array = NDArray[np.integer[Any] | np.floating[Any]]
"""An array of numbers of any width; an array without dimensions is treated as a number."""


class SeriesLike(Protocol):
    """An object with a ``to_numpy`` method: a column of any package, or a frame of numbers."""

    def to_numpy(self) -> Any:
        """Return the numbers as an array."""
        ...


class Series(SeriesLike, Protocol):
    """A Series of pandas or Polars; no other column has both a `name` and `pct_change`.

    To mypy, a pandas DataFrame has every attribute, since its columns are attributes. It does not
    match this protocol, because a column cannot be hashed and a name can.
    """

    @property
    def name(self) -> Hashable:
        """The name of the column."""
        ...

    @property
    def pct_change(self) -> Any:
        """A method that is never called here."""
        ...


Vector = Array | Sequence[Number] | SeriesLike
"""One number per coordinate."""

Nested = Array | Sequence[Number | Sequence[Number] | Array]
"""Arrays of any shape, and lists that are nested at most once."""

Numbers = Nested | SeriesLike
"""Anything that is read as an array of numbers."""

Step = Number | Sequence[Number | None] | Array
"""One step for all coordinates, or one per coordinate, which is None for no step."""

Labels = str | int | Sequence[str] | Sequence[int] | NDArray[Any]
"""Levels of a category: one, or a list or an array of them."""

SeriesT = TypeVar("SeriesT", bound=Series)
