"""Where answers live: a product of closed intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from inbounds import _check, _exact
from inbounds._check import short
from inbounds._entry import constructed
from inbounds._types import Array, Floats, Number, Step, Vector
from inbounds.errors import ArgumentError


@constructed()
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Box:
    """An interval, or a product of intervals, that every answer stays in.

    Parameters
    ----------
    lower, upper
        Two numbers make an interval: each element of an array is then a release of its own.
        Two sequences of length m make an m-dimensional box: the last axis of the values has
        length m and is one joint release. A number beside a sequence holds for every coordinate.
        A bound that is no double (an integer beyond 2⁵³, a fraction) becomes the next one inside.
    step
        If given, answers are multiples of `step` counted from `lower` (``step=1`` on integer
        bounds gives integers); where steps do not divide the width, the last one below `upper` is
        the largest answer. One number, or one per coordinate with None for "no step".
        Rounding happens after the noise, so it costs no privacy.

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
                got=f"lower={short(lower)}, upper={short(upper)}",
            )
        if not np.isfinite(widths).all():
            requirement = "close enough to lower that upper - lower is finite"
            raise ArgumentError.must_be("upper", requirement)
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)
        object.__setattr__(self, "step", _checked_step(step, widths))

    @property
    def is_interval(self) -> bool:
        """Whether bounds are plain numbers, so that every element is a release of its own."""
        return np.ndim(self.lower) == 0

    @property
    def dimension(self) -> int:
        """Number of coordinates of one release; 1 for an interval."""
        return int(np.size(self.lower))

    @property
    def widths(self) -> Floats:
        """Upper minus lower, always as a vector of length `dimension`."""
        return np.atleast_1d(np.asarray(self.upper) - np.asarray(self.lower))

    @property
    def steps(self) -> tuple[float | None, ...]:
        """The step of each coordinate, None where there is none."""
        return self.step if isinstance(self.step, tuple) else (self.step,) * self.dimension

    def clamp(self, values: Array) -> Floats:
        """Move each value to the nearest point of the box (which never adds sensitivity)."""
        self.check_shape(values)
        return np.clip(values, self.lower, self.upper)

    def check_shape(self, values: Array, name: str = "values") -> None:
        """Refuse an array whose last axis does not hold one number per coordinate."""
        if not self.is_interval and (values.ndim == 0 or values.shape[-1] != self.dimension):
            raise ArgumentError.must(
                name,
                f"have a last axis of length {self.dimension}, one entry per coordinate of the box",
                got=f"shape {values.shape}",
            )

    def __reduce__(self) -> tuple[object, ...]:
        """Copy through the constructor, so that a copy is checked and read-only too."""
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
        step = "" if self.step is None else f", step={short(self.step)}"
        return f"Box({short(self.lower)}, {short(self.upper)}{step})"


def _inside(move: Callable[[Any, float], float], **labelled: object) -> float | Floats:
    """Return checked bounds, of which those that are no doubles were moved into the box."""
    (given,) = labelled.values()
    moved: float | Floats = _exact.each(move, given, _check.finite_vector(**labelled))
    return _check.frozen(moved) if isinstance(moved, np.ndarray) else moved


def _checked_step(step: object, widths: Floats) -> float | tuple[float | None, ...] | None:
    if step is None:
        return None
    given = _check.several(step=step)
    if given.ndim == 0:
        steps: tuple[float | None, ...] = (_check.positive(step=given.item()),) * widths.size
    elif given.shape == widths.shape:
        steps = tuple(None if s is None else _check.positive(step=s) for s in given)
    else:
        requirement = "one number, or one per coordinate on a box of several"
        raise ArgumentError.must_be("step", requirement, got=f"shape {given.shape}")
    for one, width in zip(steps, widths.ravel().tolist(), strict=True):
        if one is not None and one / (1 + 1e-9) > width:
            raise ArgumentError.must_be("step", "at most upper - lower", got=f"step={short(one)}")
        if one is not None and width * 2.0**-52 > one:
            requirement = "divide the box into at most 2**52 parts"
            raise ArgumentError.must("step", requirement, got=f"step={short(one)}")
    return steps[0] if given.ndim == 0 else steps
