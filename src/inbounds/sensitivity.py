"""What one neighbour may change: the set of differences that privacy must hide.

Bounds that are no doubles are rounded up, so that nothing stated is left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from inbounds import _check, _exact, _kind
from inbounds._check import short
from inbounds._types import Floats, Number, Vector
from inbounds.errors import ArgumentError, ArgumentTypeError, Hint

SMALLEST_SHARE = 2.0**-250
"""Changes below this share of a width are treated as this large, which is on the private side."""

SMALLEST_RADIUS = 2.0**-120
"""The same for a norm and the largest width, so that squares stay normal numbers."""

_HALVINGS = 60


@dataclass(frozen=True, slots=True, eq=False)
class Reach:
    """The differences c two neighbours inside a box may show, in absolute value.

    The set is ``{c : 0 <= c_i <= caps_i, norm(c) <= radius}``; without a binding norm `order` is
    None and the set is the whole product of caps. Caps never exceed the widths.
    """

    caps: Floats
    order: Literal[1, 2] | None
    radius: float

    @property
    def diameter(self) -> float:
        """Largest l2 norm of a difference."""
        norm = math.hypot(*self.caps.tolist())  # right to the last digit for any number of caps
        return norm if self.order is None else min(norm, self.radius)

    @property
    def total(self) -> float:
        """Largest l1 norm of a difference."""
        most = math.fsum(self.caps.tolist())
        if self.order != 2:
            return min(most, self.radius)
        # The best c is min(caps, t) for one t; sorted, the k smallest caps are used up. Proof:
        # docs/proofs/laplace.md, part 6.
        caps = np.sort(self.caps)
        used = np.concatenate([[0.0], np.cumsum(caps**2)[:-1]])
        many = np.arange(caps.size, 0, -1)
        level = np.sqrt(np.maximum(self.radius**2 - used, 0.0) / many)
        free = int(np.argmax(level <= caps))
        total = float(caps[:free].sum() + level[free] * many[free])
        return min(most, total * (1 + 2.0**-45 + caps.size * 2.0**-52))  # the sum runs along m

    def along(self, direction: Floats) -> Floats:
        """Return the largest difference along a direction, cut at the caps.

        Examples
        --------
        >>> widths = np.array([3.0, 1.0])
        >>> L1(2).within(widths).along(widths).round(6).tolist()
        [1.5, 0.5]
        """
        if self.order is None:
            return self.caps
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            size = np.linalg.norm(np.minimum(self.caps, middle * direction), self.order)
            low, high = (middle, high) if size <= self.radius else (low, middle)
        return np.minimum(self.caps, low * direction)


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
        """Whether coordinates are bounded one by one, not only through a norm."""
        return any(part.order is None for part in self._parts())

    def limits(self, dimension: int) -> Reach:
        """Return what was stated, before any box: caps are infinite where none was given."""
        caps, order, radius = np.full(dimension, np.inf), None, np.inf
        for part in self._parts():
            if part.order is not None:
                order, radius = part.order, float(part.bound)
                continue
            if np.ndim(part.bound) and np.size(part.bound) != dimension:
                raise ArgumentError.must(
                    "sensitivity",
                    "have one entry per coordinate of the box",
                    got=f"{np.size(part.bound)} entries for {dimension} coordinates",
                )
            caps = np.minimum(caps, part.bound)
        if dimension == 1:  # every norm is the absolute value
            return Reach(np.minimum(caps, radius), None, np.inf)
        if order == 1:  # one coordinate may take it all; of an l2 norm none quite does
            caps = np.minimum(caps, radius)
        return Reach(caps, order, radius)

    def within(self, widths: Floats) -> Reach:
        """Return the differences that can occur between two points of a box of these widths."""
        stated = self.limits(widths.size)
        caps = np.maximum(np.minimum(stated.caps, widths), widths * SMALLEST_SHARE)
        if stated.order is None:
            return Reach(caps, None, np.inf)
        radius = max(stated.radius, float(widths.max()) * SMALLEST_RADIUS)
        if np.linalg.norm(caps, stated.order) <= radius:
            return Reach(caps, None, np.inf)
        return Reach(caps, stated.order, radius)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Part(Sensitivity):
    """One bound on a difference: a norm, or a bound for each coordinate."""

    bound: float | Floats

    def __init__(self, bound: Number) -> None:
        checked = _check.positive(sensitivity=bound)
        object.__setattr__(self, "bound", _exact.rounded_up(bound, checked))

    @property
    def order(self) -> Literal[1, 2] | None:
        """Which norm is bounded; None when coordinates are bounded one by one."""
        return None

    def _parts(self) -> tuple[_Part, ...]:
        return (self,)

    def __reduce__(self) -> tuple[object, ...]:
        """Copy through the constructor, so that a copy is checked and read-only too."""
        return type(self), (self.bound,)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Part):
            return NotImplemented
        return type(self) is type(other) and np.array_equal(self.bound, other.bound)

    def __hash__(self) -> int:
        return hash((type(self), np.asarray(self.bound).tobytes()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({short(self.bound)})"


class L2(_Part):
    """The Euclidean norm of a difference is at most `bound`; a bare number means this.

    Examples
    --------
    >>> L2(2.5)
    L2(2.5)
    """

    __slots__ = ()

    @property
    def order(self) -> Literal[1, 2] | None:
        """Which norm is bounded."""
        return 2


class L1(_Part):
    """The absolute differences of all coordinates add up to at most `bound`.

    Examples
    --------
    >>> L1(1)
    L1(1)
    """

    __slots__ = ()

    @property
    def order(self) -> Literal[1, 2] | None:
        """Which norm is bounded."""
        return 1


class LInf(_Part):
    """No coordinate differs by more than `bound`.

    Examples
    --------
    >>> LInf(1)
    LInf(1)
    """

    __slots__ = ()


class PerCoordinate(_Part):
    """Coordinate i differs by at most ``bound[i]``.

    Examples
    --------
    >>> PerCoordinate([4, 2])
    PerCoordinate([4, 2])
    """

    __slots__ = ()

    def __init__(self, bound: Number | Vector) -> None:
        checked = _exact.rounded_up(bound, _check.positive_vector(sensitivity=bound))
        object.__setattr__(self, "bound", _check.frozen(checked) if np.ndim(checked) else checked)


@dataclass(frozen=True, slots=True, repr=False)
class _Intersection(Sensitivity):
    """Differences that satisfy every part."""

    parts: tuple[_Part, ...]

    def __post_init__(self) -> None:
        if len([part for part in self.parts if part.order is not None]) > 1:
            raise ArgumentError.must(
                "sensitivity",
                "combine at most one of L1 and L2 with bounds per coordinate",
                got=repr(self),
                hint="either norm alone is valid; keep the tighter one.",
            )

    def _parts(self) -> tuple[_Part, ...]:
        return self.parts

    def __repr__(self) -> str:
        return " & ".join(map(repr, self.parts))


def as_sensitivity(sensitivity: object) -> Sensitivity:
    """Read a bare number as an l2 sensitivity and pass the named kinds through."""
    if isinstance(sensitivity, Sensitivity):
        return sensitivity
    several = isinstance(sensitivity, np.ndarray) and sensitivity.ndim > 0
    if several or (isinstance(sensitivity, Sequence) and not isinstance(sensitivity, str | bytes)):
        raise ArgumentTypeError.must_be(
            "sensitivity",
            "a number or one of L2, L1, LInf, PerCoordinate",
            got=_kind.described(sensitivity)[0],
            hint=Hint("write {} for one bound per coordinate.", "PerCoordinate([...])"),
        )
    return L2(sensitivity)  # type: ignore[arg-type]
