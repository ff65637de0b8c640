"""One column of any frame: which type its answers have, what a null means, and the answers."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from inbounds._check import format_numbers
from inbounds._kind import type_name
from inbounds._types import Floats
from inbounds.errors import ArgumentError, ArgumentTypeError, Hint
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.sampling.entropy import SYSTEM, Entropy
from inbounds.sampling.grid import Grid
from inbounds.sampling.sampler import SMALL, Sampler

Nulls = Literal["error", "keep", "uniform"]
Numbers = NDArray[Any]
_INT64 = np.iinfo(np.int64)


@dataclass(eq=False)
class Column:
    """What is to be done with one column.

    Parameters
    ----------
    name
        Its name in the frame; errors show it, and never a value.
    mechanism
        What answers each value, on an interval and for any change of a value in it.
    nulls
        ``"error"``, ``"keep"`` or ``"uniform"``, as for `privatize`.
    untyped
        Whether the numbers come from text: whole answers are 64-bit integers then.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.BoundedGaussian.calibrated(ib.Box(0, 120, step=1), 120, epsilon=1.0)
    >>> column = Column("age", m, "error")
    >>> column.keeps(np.dtype("int16")), column.keeps(np.dtype("float32"))
    (True, False)
    >>> answers = column.answer(np.array([17, 41], dtype="int16"))
    >>> answers.dtype, bool(((answers >= 0) & (answers <= 120)).all())
    (dtype('int16'), True)
    """

    name: Hashable
    mechanism: Mechanism
    nulls: Nulls
    untyped: bool = False
    _answered: int = field(default=0, init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.mechanism, Mechanism):
            raise ArgumentTypeError(
                f"mechanisms must give column {self.name!r} a mechanism, "
                f"got {type(self.mechanism).__name__}."
            )
        box, stated = self.mechanism.domain, self.mechanism.sensitivity
        if not box.is_interval:
            raise ArgumentError(
                f"mechanism of column {self.name!r} must be on an interval, got {box!r}.\n"
                "Hint: Box(0, 120) answers each value by itself; one mechanism for each column."
            )
        width = box.widths
        if stated.within(width).caps[0] < width[0]:
            kind, wide = type(self.mechanism).__name__, format_numbers(width[0])
            raise ArgumentError(
                f"mechanism of column {self.name!r} must hide any change of a value in its box, "
                f"so sensitivity must be {wide} or more, got {stated!r}.\n"
                f"Hint: {kind}.calibrated({box!r}, {wide}, epsilon=...)"
            )

    def keeps(self, kind: np.dtype[Any]) -> bool:
        """Whether answers have the type of the column; otherwise they are doubles.

        Doubles stay doubles, and integers stay integers where answers are whole numbers. Narrower
        floats become doubles: rounding to them could leave the box.
        """
        if kind.kind == "f" or not self._grid.integral:
            return kind == np.float64
        limits = np.iinfo(kind)
        if self.answers_within(limits.min, limits.max):
            return True
        raise ArgumentError(
            f"column {self.name!r} must have a type that holds every answer in "
            f"{self.mechanism.domain!r}, got {kind.name}.\nHint: cast it to a wider type first."
        )

    def answers_within(self, lower: int, upper: int) -> bool:
        """Whether all answers are whole numbers between two others."""
        grid = self._grid
        if not grid.integral:
            return False
        ends = (int(grid.points(i)) for i in (0, grid.intervals))  # as doubles would be rounded
        return all(lower <= end <= upper for end in ends)

    @property
    def becomes_whole(self) -> bool:
        """Whether answers to numbers in text are integers."""
        return self.untyped and self.answers_within(_INT64.min, _INT64.max)

    def answer(self, values: Numbers, missing: NDArray[np.bool_] | None = None) -> Numbers:
        """Return private answers for integers or floats of any width.

        Parameters
        ----------
        values
            The numbers; what stands at missing places is never looked at.
        missing
            Where nulls are, if there are any. With ``nulls="keep"`` the answers at these places
            mean nothing, and the caller puts nulls there.
        """
        kind = bare_dtype(values.dtype) if self.keeps(values.dtype) else np.dtype(np.float64)
        if self.becomes_whole:
            kind = np.dtype(np.int64)
        numbers = self._filled(values, missing)
        if numbers.dtype.kind == "f" and not np.isfinite(numbers).all():
            raise ArgumentError(
                f"column {self.name!r} must be finite: NaN and infinities have no answer."
            )
        return self._draw(numbers).astype(kind, copy=False)

    def _filled(self, values: Numbers, missing: NDArray[np.bool_] | None) -> Numbers:
        """Put a number at the place of every null: any if it is kept, else a uniform one."""
        if missing is None or not missing.any():
            return values
        if self.nulls == "error":
            words = "{} answers them like any value, {} publishes them."
            hint = Hint(words, 'nulls="uniform"', 'nulls="keep"')
            raise ArgumentError.must(f"column {self.name!r}", "have no nulls", hint=hint)
        numbers = values.astype(np.float64)  # may round, but any two values in the box are hidden
        count = int(missing.sum())
        numbers[missing] = uniform(self._grid, count) if self.nulls == "uniform" else 0.0
        return numbers

    def _draw(self, numbers: Numbers) -> Numbers:
        """Answer a batch. One of many small ones is filled up, which takes the fast path."""
        size = numbers.size
        self._answered += size
        if 0 < size < SMALL <= self._answered:
            numbers = np.pad(numbers, (0, SMALL - size))
        return self._sampler.draw(numbers, SYSTEM)[:size]

    @cached_property
    def _sampler(self) -> Sampler:
        return self.mechanism.sampler()

    @cached_property
    def _grid(self) -> Grid:
        """The possible answers if the box has a step; otherwise 2²² points of the box."""
        box = self.mechanism.domain
        width = float(box.widths[0])
        return Grid.fit(float(box.lower), float(box.upper), box.steps[0], scale=width)


def bare_dtype(kind: np.dtype[Any]) -> np.dtype[Any]:
    """Return a dtype in the machine's byte order, without metadata, which may hold anything.

    Examples
    --------
    >>> print(bare_dtype(np.dtype("i4", metadata={"true": [17, 41]})).metadata)
    None
    """
    return (kind if kind.metadata is None else np.dtype(kind.str)).newbyteorder("=")


def uniform(grid: Grid, count: int, entropy: Entropy = SYSTEM) -> Floats:
    """Draw points of a grid, all exactly equally likely.

    Examples
    --------
    >>> sorted(set(uniform(Grid.fit(0.0, 3.0, 1.0, scale=1.0), 200).tolist()))
    [0.0, 1.0, 2.0, 3.0]
    """
    unused = np.uint64(64 - grid.intervals.bit_length())
    indices = np.empty(0, np.int64)
    while indices.size < count:
        words = entropy.words(2 * (count - indices.size) + 8)
        drawn = (words >> unused).astype(np.int64)
        indices = np.concatenate([indices, drawn[drawn <= grid.intervals]])
    return np.asarray(grid.points(indices[:count]), np.float64)


def locate(columns: Iterable[Column], names: Iterable[Hashable]) -> dict[int, Column]:
    """Return each column under its place among the `names` of a frame.

    Examples
    --------
    >>> locate([], ["age", "town"])
    {}
    """
    names = list(names)
    places: dict[int, Column] = {}
    for column in columns:
        found = [i for i, name in enumerate(names) if _is_same(name, column.name)]
        if len(found) != 1:
            many = "none of that name" if not found else f"{len(found)} of them"
            raise ArgumentError(
                f"mechanisms must name columns that the frame has once, "
                f"got {column.name!r} and {many}."
            )
        places[found[0]] = column
    return places


def _is_same(label: Hashable, name: Hashable) -> bool:
    """Compare labels; some, such as pandas' NA, are equal to nothing and say so by an error."""
    if label is name:
        return True
    try:
        return bool(label == name)
    except (TypeError, ValueError):
        return False


def number_type(column: Column, given: object, known: dict[str, str]) -> np.dtype[Any]:
    """Return the numpy type of a column whose engine calls its type `given`.

    Examples
    --------
    >>> import inbounds as ib
    >>> column = Column("age", ib.ClampedLaplace(ib.Box(0, 1), 1, scale=1.0), "error")
    >>> number_type(column, "bigint", {"bigint": "int64"})
    dtype('int64')
    """
    if str(given) not in known:
        raise wrong_type(column, given)
    return np.dtype(known[str(given)])


def wrong_type(column: Column, given: object) -> ArgumentTypeError:
    """Return the error about a column whose type is `given`."""
    return ArgumentTypeError(
        f"column {column.name!r} must hold integers or floats of at most 64 bits, "
        f"got {type_name(given)}.\n"
        "Hint: cast it to such a type first."
    )
