"""The set of valid outputs: an interval, or a product of intervals."""

from __future__ import annotations

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
    >>> Box(0, 120)
    Box(0, 120)
    >>> Box([0, 1], [10, 9]).dimension
    2
    >>> Box(0, 120, step=1)
    Box(0, 120, step=1)
    """

    lower: float | Floats
    upper: float | Floats
    step: float | tuple[float | None, ...] | None = field(kw_only=True)

    def __init__(
        self, lower: Number | Vector, upper: Number | Vector, *, step: Step | None = None
    ) -> None:
        lower = _inside(_exact.not_below, lower=lower)
        upper = _inside(_exact.not_above, upper=upper)
        if np.ndim(lower) and np.ndim(upper) and np.shape(lower) != np.shape(upper):
            got = f"{np.size(upper)} and {np.size(lower)}"
            raise ArgumentError.must("upper", "have as many coordinates as lower", got=got)
        if np.ndim(lower) != np.ndim(upper):
            lower, upper = (_check.frozen(side) for side in np.broadcast_arrays(lower, upper))
        with np.errstate(over="ignore"):
            widths = np.asarray(upper) - np.asarray(lower)
        if not (widths > 0).all():
            raise ArgumentError.must_be(
                "upper",
                "above lower" if widths.ndim == 0 else "above lower in every coordinate",
                got=f"lower={format_numbers(lower)}, upper={format_numbers(upper)}",
            )
        if not np.isfinite(widths).all():
            requirement = "close enough to lower that upper - lower is finite"
            raise ArgumentError.must_be("upper", requirement)
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)
        object.__setattr__(self, "step", _checked_step(step, widths))

    @property
    def is_interval(self) -> bool:
        """Whether the bounds are two numbers, so that every element is a separate release."""
        return np.ndim(self.lower) == 0

    @property
    def dimension(self) -> int:
        """The number of coordinates of one release, which is 1 for an interval."""
        return int(np.size(self.lower))

    @property
    def widths(self) -> Floats:
        """``upper - lower``, always as a vector of length `dimension`."""
        return np.atleast_1d(np.asarray(self.upper) - np.asarray(self.lower))

    @property
    def steps(self) -> tuple[float | None, ...]:
        """The step of each coordinate, or None for no step."""
        return self.step if isinstance(self.step, tuple) else (self.step,) * self.dimension

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


def _inside(move: Callable[[Any, float], float], **labelled: object) -> float | Floats:
    """Return the checked bounds; doubles that were rounded out of the box are moved into it."""
    (bound,) = labelled.values()
    inside: float | Floats = _exact.moved(move, bound, _check.finite_vector(**labelled))
    return _check.frozen(inside) if isinstance(inside, np.ndarray) else inside


def _checked_step(step: object, widths: Floats) -> float | tuple[float | None, ...] | None:
    if step is None:
        return None
    numbers = _check.several(step=step)
    if numbers.ndim == 0:
        steps: tuple[float | None, ...] = (_check.positive(step=numbers.item()),) * widths.size
    elif numbers.shape == widths.shape:
        steps = tuple(None if s is None else _check.positive(step=s) for s in numbers)
    else:
        requirement = "one number, or one per coordinate of a box with several coordinates"
        raise ArgumentError.must_be("step", requirement, got=f"shape {numbers.shape}")
    for size, width in zip(steps, widths.ravel().tolist(), strict=True):
        if size is not None and size / (1 + 1e-9) > width:
            raise ArgumentError.must_be(
                "step", "at most upper - lower", got=f"step={format_numbers(size)}"
            )
        if size is not None and width * 2.0**-52 > size:
            requirement = "divide the box into at most 2**52 parts"
            raise ArgumentError.must("step", requirement, got=f"step={format_numbers(size)}")
    return steps[0] if numbers.ndim == 0 else steps
