"""One column of any frame: the type of its outputs, the treatment of nulls, and the release."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from inbounds._check import format_numbers
from inbounds._entry import guess
from inbounds._kind import type_name
from inbounds._types import Floats
from inbounds.errors import ArgumentError, ArgumentTypeError, Hint
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.sampling.entropy import SYSTEM, Entropy
from inbounds.sampling.grid import Grid
from inbounds.sampling.sampler import Draws

Nulls = Literal["error", "keep", "uniform"]
Numbers = NDArray[Any]
_INT64 = np.iinfo(np.int64)


@dataclass(eq=False)
class PrivateColumn:
    """A column to replace, its mechanism, and what to do about its nulls.

    Parameters
    ----------
    name
        Its name in the frame, which errors show. They never show a value.
    mechanism
        A mechanism on an interval that hides any change of a value in it.
    nulls
        ``"error"``, ``"keep"`` or ``"uniform"``, as for `privatize`.
    untyped
        Whether the numbers come from text. If so, outputs that are whole numbers become 64-bit
        integers.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.BoundedGaussian.calibrated(ib.Box(0, 120, step=1), 120, epsilon=1.0)
    >>> column = PrivateColumn("age", m, "error")
    >>> column.keeps(np.dtype("int16")), column.keeps(np.dtype("float32"))
    (True, False)
    >>> outputs = column.release(np.array([17, 41], dtype="int16"))
    >>> outputs.dtype, bool(((outputs >= 0) & (outputs <= 120)).all())
    (dtype('int16'), True)
    """

    name: Hashable
    mechanism: Mechanism
    nulls: Nulls
    untyped: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.mechanism, Mechanism):
            raise ArgumentTypeError.must(
                "mechanisms",
                f"give column {self.name!r} an inbounds mechanism",
                got=type(self.mechanism).__name__,
            )
        subject = f"mechanism of column {self.name!r}"
        box, stated = self.mechanism.domain, self.mechanism.sensitivity
        if not box.is_interval:
            hint = "use one mechanism for each column, each on a box such as Box(0, 120)."
            raise ArgumentError.must_be(subject, "on an interval", got=repr(box), hint=hint)
        width = box.widths
        if stated.within(width).caps[0] < width[0]:
            name, wide = type(self.mechanism).__name__, format_numbers(width[0])
            known = "Window" if name == "Optimal" else name  # whose outputs can be read back
            raise ArgumentError.must(
                subject,
                f"hide any change of a value in its box, with a sensitivity of {wide} or more",
                got=repr(stated),
                hint=f"use {known}.calibrated({box!r}, {wide}, epsilon=...).",
            )

    def keeps(self, dtype: np.dtype[Any]) -> bool:
        """Whether the outputs have the type of the column; otherwise they are doubles.

        Doubles stay doubles, and integers stay integers if the outputs are whole numbers. Narrower
        floats become doubles, because rounding to them could leave the box.
        """
        if dtype.kind == "f" or not self._grid.integral:
            return dtype == np.float64
        limits = np.iinfo(dtype)
        if self.outputs_within(limits.min, limits.max):
            return True
        raise ArgumentError.must(
            f"column {self.name!r}",
            f"have a type that can hold every output in {self.mechanism.domain!r}",
            got=dtype.name,
            hint="cast it to a wider type first.",
        )

    def outputs_within(self, lower: int, upper: int) -> bool:
        """Whether all outputs are whole numbers from `lower` to `upper`."""
        grid = self._grid
        if not grid.integral:
            return False
        ends = (int(grid.points(i)) for i in (0, grid.intervals))  # numpy would round the limits
        return all(lower <= end <= upper for end in ends)

    @property
    def becomes_integer(self) -> bool:
        """Whether the numbers come from text and their outputs become 64-bit integers."""
        return self.untyped and self.outputs_within(_INT64.min, _INT64.max)

    def release(self, values: Numbers, missing: NDArray[np.bool_] | None = None) -> Numbers:
        """Return private outputs for integers or floats of any width.

        Parameters
        ----------
        values
            The numbers. Those at the places of nulls are never read.
        missing
            Where the nulls are, if there are any. With ``nulls="keep"`` the outputs at these places
            mean nothing, and the caller puts nulls there.
        """
        dtype = bare_dtype(values.dtype) if self.keeps(values.dtype) else np.dtype(np.float64)
        if self.becomes_integer:
            dtype = np.dtype(np.int64)
        numbers = self._filled(values, missing)
        if numbers.dtype.kind == "f" and not np.isfinite(numbers).all():
            raise self._infinite()
        return self._sampler.draw(numbers, SYSTEM).astype(dtype, copy=False)

    def _filled(self, values: Numbers, missing: NDArray[np.bool_] | None) -> Numbers:
        """Replace every null: by a uniform number, or by zero if nulls are kept."""
        if missing is None or not missing.any():
            return values
        if self.nulls == "error":
            raise self._null()
        numbers = values.astype(np.float64)  # may round, but any two values in the box are hidden
        count = int(missing.sum())
        numbers[missing] = draw_uniform(self._grid, count) if self.nulls == "uniform" else 0.0
        return numbers

    def refusals(self) -> tuple[ArgumentError, ...]:
        """Return every error that `release` raises because of the values."""
        return self._null(), self._infinite()

    def _null(self) -> ArgumentError:
        words = "{} treats them as random numbers from the box, {} publishes where they are."
        hint = Hint(words, 'nulls="uniform"', 'nulls="keep"')
        return ArgumentError.must(f"column {self.name!r}", "have no nulls", hint=hint)

    def _infinite(self) -> ArgumentError:
        requirement = "finite: NaN and infinities cannot be released"
        return ArgumentError.must_be(f"column {self.name!r}", requirement)

    @cached_property
    def _sampler(self) -> Draws:
        return self.mechanism.sampler()

    @cached_property
    def _grid(self) -> Grid:
        """The possible outputs if the box has a step; otherwise 2²² points of the box."""
        box = self.mechanism.domain
        width = float(box.widths[0])
        return Grid.fit(float(box.lower), float(box.upper), box.steps[0], scale=width)


class Named(Protocol):
    """A column of a frame, of any kind."""

    @property
    def name(self) -> Hashable:
        """Its name in the frame."""
        ...


Column = TypeVar("Column", bound=Named)


def bare_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return a dtype in the machine's byte order, without metadata, which may hold private values.

    Examples
    --------
    >>> print(bare_dtype(np.dtype("i4", metadata={"true": [17, 41]})).metadata)
    None
    """
    return (dtype if dtype.metadata is None else np.dtype(dtype.str)).newbyteorder("=")


def draw_uniform(grid: Grid, count: int, entropy: Entropy = SYSTEM) -> Floats:
    """Draw points of a grid, all with exactly the same probability.

    Examples
    --------
    >>> sorted(set(draw_uniform(Grid.fit(0.0, 3.0, 1.0, scale=1.0), 200).tolist()))
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
    """Return the columns by their places among the `names` of a frame's columns.

    Examples
    --------
    >>> locate([], ["age", "town"])
    {}
    """
    names = list(names)
    places: dict[int, Column] = {}
    for column in columns:
        matches = [i for i, name in enumerate(names) if _is_same(name, column.name)]
        if len(matches) != 1:
            count = f"{len(matches)} columns named" if matches else "no column"
            labels = [str(name) for name in names if isinstance(name, str)]
            hint = "" if matches else guess(str(column.name), labels)
            raise ArgumentError(f"frame has {count} {column.name!r}.", argument="frame", hint=hint)
        places[matches[0]] = column
    return places


def _is_same(label: Hashable, name: Hashable) -> bool:
    """Compare labels; some, such as pandas' NA, equal nothing and raise an error if compared."""
    if label is name:
        return True
    try:
        return bool(label == name)
    except (TypeError, ValueError):
        return False


def number_type(column: PrivateColumn, given: object, known: dict[str, str]) -> np.dtype[Any]:
    """Return the numpy type of a column whose type has the name `given` in its engine.

    Examples
    --------
    >>> import inbounds as ib
    >>> column = PrivateColumn("age", ib.ClampedLaplace(ib.Box(0, 1), 1, scale=1.0), "error")
    >>> number_type(column, "bigint", {"bigint": "int64"})
    dtype('int64')
    """
    if str(given) not in known:
        raise type_refusal(column, given)
    return np.dtype(known[str(given)])


def type_refusal(column: PrivateColumn, given: object) -> ArgumentTypeError:
    """Return the error that a column has the type `given`, which cannot be used."""
    return ArgumentTypeError.must(
        f"column {column.name!r}",
        "hold integers or floats of at most 64 bits",
        got=type_name(given),
        hint="cast it to one of these types first.",
    )
