"""The set of valid outputs: an interval, or a product of intervals."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from inbounds import _check, _exact
from inbounds._check import format_numbers
from inbounds._entry import constructed
from inbounds._types import Array, Floats, Number, Step, Vector
from inbounds.errors import ArgumentError


@constructed()
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Box:
    """An interval, or a product of intervals, that contains every output.

    Parameters
    ----------
    lower, upper
        The bounds. Two numbers make an interval, and each element of an array is then a separate
        release. Two sequences of length m make an m-dimensional box; the last axis of the values
        then has length m and is one joint release. A number beside a sequence applies to every
        coordinate. A bound that a double cannot represent exactly (an integer beyond 2⁵³, a
        fraction) becomes the next double inside the box.
    step
        The distance between possible outputs: one number, or one per coordinate, where None means
        no step. Outputs are then ``lower + k * step`` for whole numbers k, so ``step=1`` on integer
        bounds gives integers. If the steps do not divide the width, the largest output is the last
        multiple below `upper`. Rounding happens after the noise, so it costs no privacy, or it is
        part of the mechanism and covered by its guarantee.

    Raises
    ------
    ArgumentError
        If a bound is not finite, `upper` is not above `lower`, their lengths differ, or `step` is
        not positive, exceeds the width, or is below 2⁻⁵² of it.
    ArgumentTypeError
        If a bound or the step is not a number or a sequence of numbers.

    See Also
    --------
    BoundedGaussian, BoundedLaplace, ClampedGaussian, ClampedLaplace : mechanisms on a box.
    ClampedStaircase : a mechanism on an interval.

    Notes
    -----
    The box is the set {x : lowerᵢ ≤ xᵢ ≤ upperᵢ for every coordinate i}. It must follow from public
    knowledge, never from the data. Values outside it are moved to the nearest point,
    min(max(xᵢ, lowerᵢ), upperᵢ), which never makes two values differ more.

    Examples
    --------
    >>> import inbounds as ib
    >>> ib.Box(0, 120)
    Box(0, 120)
    >>> ib.Box([0, 1], [10, 9]).dimension
    2
    >>> ib.Box(0, 120, step=1)
    Box(0, 120, step=1)
    """

    lower: float | Floats
    upper: float | Floats
    step: float | tuple[float | None, ...] | None = field(kw_only=True)
    _widths: Floats = field(init=False)

    def __init__(
        self, lower: Number | Vector, upper: Number | Vector, *, step: Step | None = None
    ) -> None:
        low, high = _plain_bounds(lower, upper) or _checked_bounds(lower, upper)
        object.__setattr__(self, "lower", low)
        object.__setattr__(self, "upper", high)
        object.__setattr__(self, "step", None if step is None else self._checked_step(step))

    @property
    def widths(self) -> Floats:
        """``upper - lower``, always as a read-only vector of length `dimension`."""
        try:
            return self._widths
        except AttributeError:
            widths = _widths(self.lower, self.upper)
            widths.flags.writeable = False
            object.__setattr__(self, "_widths", widths)
            return widths

    @property
    def is_interval(self) -> bool:
        """Whether the bounds are two numbers, so that every element is a separate release."""
        return isinstance(self.lower, float)

    @property
    def dimension(self) -> int:
        """The number of coordinates of one release, which is 1 for an interval."""
        return 1 if isinstance(self.lower, float) else self.lower.size

    @property
    def steps(self) -> tuple[float | None, ...]:
        """The step of each coordinate, or None for no step."""
        return self.step if isinstance(self.step, tuple) else (self.step,) * self.dimension

    def _checked_step(self, step: object) -> float | tuple[float | None, ...]:
        numbers = None if _exact.plain(step) is not None else _check.several(step=step)
        if numbers is None or numbers.ndim == 0:
            one = _check.positive(step=step if numbers is None else numbers.item())
            for width in self.widths.tolist():
                _check_step(one, width)
            return one
        if self.is_interval or numbers.shape != self.widths.shape:
            requirement = "one number, or one per coordinate of a box with several coordinates"
            raise ArgumentError.must_be("step", requirement, got=f"shape {numbers.shape}")
        steps = tuple(None if size is None else _check.positive(step=size) for size in numbers)
        for size, width in zip(steps, self.widths.tolist(), strict=True):
            if size is not None:
                _check_step(size, width)
        return steps

    def clamp(self, values: Array) -> Floats:
        """Return the nearest point of the box to each value, which never adds sensitivity."""
        self.check_shape(values)
        return np.clip(values, self.lower, self.upper)

    def check_shape(self, values: Array, name: str = "values") -> None:
        """Refuse an array whose last axis does not have one entry per coordinate."""
        if not self.is_interval and (values.ndim == 0 or values.shape[-1] != self.dimension):
            raise ArgumentError.must(
                name,
                f"have a last axis of length {self.dimension}, one entry per coordinate of the box",
                got=f"shape {values.shape}",
            )

    def __reduce__(self) -> tuple[object, ...]:
        """Copy through the constructor, which checks the copy and makes it read-only."""
        return partial(Box, step=self.step), (self.lower, self.upper)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Box):
            return NotImplemented
        return (
            np.array_equal(self.lower, other.lower)
            and np.array_equal(self.upper, other.upper)
            and self.is_interval == other.is_interval
            and self.steps == other.steps
        )

    def __hash__(self) -> int:
        bounds = (np.asarray(self.lower) + 0.0, np.asarray(self.upper) + 0.0)  # -0.0 == 0.0
        return hash((*(bound.tobytes() for bound in bounds), self.steps))

    def __repr__(self) -> str:
        step = "" if self.step is None else f", step={format_numbers(self.step)}"
        return f"Box({format_numbers(self.lower)}, {format_numbers(self.upper)}{step})"


def _plain_bounds(lower: object, upper: object) -> tuple[float, float] | None:
    """Return what `_checked_bounds` does, for two plain numbers that make an interval."""
    low, high = _exact.plain(lower), _exact.plain(upper)
    if low is None or high is None or not 0 < high - low < math.inf:
        return None
    return low, high


def _checked_bounds(
    lower: Number | Vector, upper: Number | Vector
) -> tuple[float | Floats, float | Floats]:
    """Return the bounds, both numbers or both vectors."""
    low = _inside(_exact.not_below, lower=lower)
    high = _inside(_exact.not_above, upper=upper)
    if np.ndim(low) and np.ndim(high) and np.shape(low) != np.shape(high):
        got = f"{np.size(high)} and {np.size(low)}"
        raise ArgumentError.must("upper", "have as many coordinates as lower", got=got)
    if np.ndim(low) != np.ndim(high):
        low, high = (_check.frozen(side) for side in np.broadcast_arrays(low, high))
    widths = _widths(low, high)
    if not (widths > 0).all():
        raise ArgumentError.must_be(
            "upper",
            "above lower in every coordinate" if np.ndim(low) else "above lower",
            got=f"lower={format_numbers(low)}, upper={format_numbers(high)}",
        )
    if not np.isfinite(widths).all():
        requirement = "close enough to lower that upper - lower is finite"
        raise ArgumentError.must_be("upper", requirement)
    return low, high


def _widths(lower: float | Floats, upper: float | Floats) -> Floats:
    with np.errstate(over="ignore"):
        return np.atleast_1d(np.subtract(upper, lower))


def _inside(move: Callable[[Any, float], float], **labelled: object) -> float | Floats:
    """Return the checked bounds; doubles that were rounded out of the box are moved into it."""
    (bound,) = labelled.values()
    inside: float | Floats = _exact.moved(move, bound, _check.finite_vector(**labelled))
    return _check.frozen(inside) if isinstance(inside, np.ndarray) else inside


def _check_step(size: float, width: float) -> None:
    if size / (1 + 1e-9) > width:
        raise ArgumentError.must_be(
            "step", "at most upper - lower", got=f"step={format_numbers(size)}"
        )
    if width * 2.0**-52 > size:
        requirement = "divide the box into at most 2**52 parts"
        raise ArgumentError.must("step", requirement, got=f"step={format_numbers(size)}")
