"""What one neighbour may change: the set of differences that privacy must hide.

Bounds that a double cannot represent exactly are rounded up, so that no difference is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from inbounds import _check, _exact, _kind
from inbounds._check import format_numbers
from inbounds._types import Floats, Number, Vector
from inbounds.errors import ArgumentError, ArgumentTypeError, Hint
from inbounds.reach import Reach

SMALLEST_CAP = 2.0**-250
"""The smallest cap as a fraction of the width; smaller ones are raised to it, which is private."""

SMALLEST_RADIUS = 2.0**-120
"""The smallest norm as a fraction of the largest width, so that squares stay normal numbers."""


class Sensitivity:
    """Base of `L1`, `L2`, `LInf`, `PerCoordinate` and their intersections.

    Examples
    --------
    >>> L2(4) & PerCoordinate([4, 2])
    L2(4) & PerCoordinate([4, 2])
    """

    __slots__ = ()

    def __and__(self, other: Sensitivity) -> Sensitivity:
        if not isinstance(other, Sensitivity):
            return NotImplemented
        return _Intersection((*self._parts(), *other._parts()))

    def _parts(self) -> tuple[_Part, ...]:
        raise NotImplementedError

    @property
    def has_caps(self) -> bool:
        """Whether each coordinate has a bound, not only a norm of all of them."""
        return any(part.order is None for part in self._parts())

    def check_dimension(self, dimension: int) -> None:
        """Refuse bounds per coordinate of another number of coordinates."""
        for part in self._parts():
            if isinstance(part.bound, np.ndarray) and part.bound.size != dimension:
                raise ArgumentError.must(
                    "sensitivity",
                    "have one entry per coordinate of the box",
                    got=f"{part.bound.size} entries for {dimension} coordinates",
                )

    def limits(self, dimension: int) -> Reach:
        """Return the stated differences without any box; a cap that was not stated is infinite."""
        self.check_dimension(dimension)
        if dimension == 1:  # every norm is the absolute value
            return Reach(np.array([self._limit()]), None, np.inf)
        caps, order, radius = np.full(dimension, np.inf), None, np.inf
        for part in self._parts():
            if part.order is not None:
                order, radius = part.order, float(part.bound)
                continue
            caps = np.minimum(caps, part.bound)
        if order == 1:  # one coordinate may take up the whole norm
            caps = np.minimum(caps, radius)
        return Reach(caps, order, radius)

    def within(self, widths: Floats) -> Reach:
        """Return the differences that are possible between two points of a box of these widths."""
        if widths.size == 1:
            return Reach(np.array([self.within_interval(float(widths[0]))]), None, np.inf)
        stated = self.limits(widths.size)
        caps = np.maximum(np.minimum(stated.caps, widths), widths * SMALLEST_CAP)
        if stated.order is None:
            return Reach(caps, None, np.inf)
        radius = max(stated.radius, float(widths.max()) * SMALLEST_RADIUS)
        if np.linalg.norm(caps, stated.order) <= radius:
            return Reach(caps, None, np.inf)
        return Reach(caps, stated.order, radius)

    def within_interval(self, width: float) -> float:
        """Return the largest difference between two points of an interval of this width."""
        self.check_dimension(1)
        return max(min(self._limit(), width), width * SMALLEST_CAP)

    def _limit(self) -> float:
        """Return the smallest bound on the only coordinate."""
        return min(part._limit() for part in self._parts())


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Part(Sensitivity):
    """One bound on a difference: a norm, or a bound for each coordinate."""

    bound: float | Floats

    def __init__(self, bound: Number) -> None:
        checked = _check.positive(sensitivity=bound)
        if type(bound) is not float:
            checked = _exact.rounded_up(bound, checked)
        object.__setattr__(self, "bound", checked)

    @property
    def order(self) -> Literal[1, 2] | None:
        """The norm that is bounded, or None if each coordinate has its own bound."""
        return None

    def _parts(self) -> tuple[_Part, ...]:
        return (self,)

    def _limit(self) -> float:
        return self.bound if isinstance(self.bound, float) else float(self.bound[0])

    def __reduce__(self) -> tuple[object, ...]:
        """Copy through the constructor, which checks the copy and makes it read-only."""
        return type(self), (self.bound,)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Part):
            return NotImplemented
        return type(self) is type(other) and np.array_equal(self.bound, other.bound)

    def __hash__(self) -> int:
        return hash((type(self), np.asarray(self.bound).tobytes()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({format_numbers(self.bound)})"


class L2(_Part):
    """A sensitivity: the Euclidean norm of a difference is at most `bound`.

    A bare number as a sensitivity means this.

    Parameters
    ----------
    bound
        A positive number; one that a double cannot represent exactly is rounded up.

    Raises
    ------
    ArgumentError
        If `bound` is not positive and finite.
    ArgumentTypeError
        If `bound` is not a number.

    See Also
    --------
    L1, LInf, PerCoordinate

    Notes
    -----
    The differences between two neighbours f(D) and f(D') are the set
    {c : (Σᵢ cᵢ²)^(1/2) ≤ bound}. ``L2(a) & PerCoordinate(b)`` is the intersection of two sets.

    Examples
    --------
    >>> import inbounds as ib
    >>> ib.L2(2.5)
    L2(2.5)
    """

    __slots__ = ()

    @property
    def order(self) -> Literal[1, 2] | None:
        """The norm that is bounded."""
        return 2


class L1(_Part):
    """A sensitivity: the absolute differences of all coordinates add up to at most `bound`.

    Parameters
    ----------
    bound
        A positive number; one that a double cannot represent exactly is rounded up.

    Raises
    ------
    ArgumentError
        If `bound` is not positive and finite.
    ArgumentTypeError
        If `bound` is not a number.

    See Also
    --------
    L2, LInf, PerCoordinate

    Notes
    -----
    The differences between two neighbours are the set {c : Σᵢ |cᵢ| ≤ bound}.

    Examples
    --------
    >>> import inbounds as ib
    >>> ib.L1(1)
    L1(1)
    """

    __slots__ = ()

    @property
    def order(self) -> Literal[1, 2] | None:
        """The norm that is bounded."""
        return 1


class LInf(_Part):
    """A sensitivity: no coordinate differs by more than `bound`.

    Parameters
    ----------
    bound
        A positive number; one that a double cannot represent exactly is rounded up.

    Raises
    ------
    ArgumentError
        If `bound` is not positive and finite.
    ArgumentTypeError
        If `bound` is not a number.

    See Also
    --------
    L1, L2, PerCoordinate

    Notes
    -----
    The differences between two neighbours are the set {c : maxᵢ |cᵢ| ≤ bound}.

    Examples
    --------
    >>> import inbounds as ib
    >>> ib.LInf(1)
    LInf(1)
    """

    __slots__ = ()


class PerCoordinate(_Part):
    """A sensitivity: coordinate i differs by at most ``bound[i]``.

    Parameters
    ----------
    bound
        One positive number per coordinate, or one for all of them, rounded up as in `L2`.

    Raises
    ------
    ArgumentError
        If `bound` is not positive and finite.
    ArgumentTypeError
        If `bound` is not a number or a sequence of numbers.

    See Also
    --------
    L1, L2, LInf

    Notes
    -----
    The differences between two neighbours are the set {c : |cᵢ| ≤ boundᵢ for every i}.

    Examples
    --------
    >>> import inbounds as ib
    >>> ib.PerCoordinate([4, 2])
    PerCoordinate([4, 2])
    """

    __slots__ = ()

    def __init__(self, bound: Number | Vector) -> None:
        checked = _exact.rounded_up(bound, _check.positive_vector(sensitivity=bound))
        object.__setattr__(self, "bound", _check.frozen(checked) if np.ndim(checked) else checked)


@dataclass(frozen=True, slots=True, repr=False)
class _Intersection(Sensitivity):
    """The differences that satisfy every part."""

    parts: tuple[_Part, ...]

    def __post_init__(self) -> None:
        if len([part for part in self.parts if part.order is not None]) > 1:
            raise ArgumentError.must(
                "sensitivity",
                "combine at most one of L1 and L2 with bounds per coordinate",
                got=repr(self),
                hint="each norm alone is valid; keep the tighter one.",
            )

    def _parts(self) -> tuple[_Part, ...]:
        return self.parts

    def __repr__(self) -> str:
        return " & ".join(map(repr, self.parts))


def as_sensitivity(sensitivity: object) -> Sensitivity:
    """Return a sensitivity; a bare number is read as an l2 norm."""
    if isinstance(sensitivity, Sensitivity):
        return sensitivity
    if isinstance(sensitivity, float | int):
        return L2(sensitivity)
    is_vector = isinstance(sensitivity, np.ndarray) and sensitivity.ndim > 0
    if is_vector or (
        isinstance(sensitivity, Sequence) and not isinstance(sensitivity, str | bytes)
    ):
        raise ArgumentTypeError.must_be(
            "sensitivity",
            "a number or one of L2, L1, LInf, PerCoordinate",
            got=_kind.described(sensitivity)[0],
            hint=Hint("write {} for one bound per coordinate.", "PerCoordinate([...])"),
        )
    return L2(sensitivity)  # type: ignore[arg-type]
