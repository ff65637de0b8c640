"""Outputs as people see them: noise that is not in whole steps is rounded to a step at the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds.mechanisms.clamped_staircase import ClampedStaircase
from inbounds.mechanisms.noise_mechanism import NoiseMechanism
from inbounds.recovery.cells import Cells
from inbounds.sampling.grid import Grid

if TYPE_CHECKING:
    from inbounds._types import Floats
    from inbounds.mechanisms.mechanism import Mechanism

MOST_STEPS = 512
"""The number of steps up to which outputs are counted one by one, as in the chart."""

_HALFWAY = 2.0**-20  # of a step: so near to the middle between two steps, an end goes outwards


@dataclass(frozen=True, slots=True)
class Rounded:
    """The outputs of a mechanism on an interval, and how likely they are, after rounding.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.ClampedLaplace(ib.Box(0, 120, step=7), 2.5, scale=2.5)
    >>> rounded = Rounded.of(m)
    >>> rounded.points[:3], seen_interval(m, 60.0, 0.95)
    (array([ 0.,  7., 14.]), (56.0, 70.0))
    >>> rmse = rounded.moments(np.array([60.0]))["rmse"]
    >>> round(float(m.mse(60.0) ** 0.5), 2), rmse.round(2)
    (3.54, array([4.32]))
    """

    mechanism: Mechanism
    cells: Cells
    points: Floats

    @classmethod
    def of(cls, mechanism: Mechanism) -> Rounded | None:
        """Return the outputs, or None if nothing is rounded, or if there are too many of them."""
        box = mechanism.domain
        if not (is_rounded_after(mechanism) and box.is_interval) or box.steps[0] is None:
            return None
        if float(box.widths[0]) >= MOST_STEPS * box.steps[0]:
            return None
        cells = Cells.of(mechanism, MOST_STEPS + 1)
        return None if cells.points is None else cls(mechanism, cells, cells.points)

    def moments(self, values: Floats) -> dict[str, Floats]:
        """Return the root mean squared error, the bias and the variance for each value."""
        chances = self.cells.probabilities(self.mechanism, values)
        errors = self.points - values[:, None]
        mse, bias = ((chances * errors**power).sum(axis=1) for power in (2, 1))
        return {"rmse": np.sqrt(mse), "bias": bias, "variance": np.maximum(mse - bias**2, 0.0)}


def seen_interval(mechanism: Mechanism, values: Any, level: float) -> tuple[Any, Any]:
    """Return intervals that hold the outputs with at least so high a probability, once rounded.

    Rounding keeps the order of numbers, so a rounded number lies between the rounded ends of an
    interval that holds it. An end halfway between two steps is rounded outwards.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.ClampedLaplace(ib.Box([0, 0], [120, 1], step=(7, None)), 2.5, scale=2.5)
    >>> low, high = seen_interval(m, np.array([60, 0.5]), 0.95)
    >>> low.tolist(), high.tolist()
    ([56.0, 0.0], [70.0, 1.0])
    """
    low, high = mechanism.output_interval(values, level)
    if not is_rounded_after(mechanism):
        return low, high
    box = mechanism.domain
    low, high = np.array(low), np.array(high)
    for index, step in enumerate(box.steps):
        place: Any = ... if box.is_interval else (..., index)
        if step is not None:
            lower, upper = (float(np.ravel(bound)[index]) for bound in (box.lower, box.upper))
            grid = Grid.fit(lower, upper, step, 1.0)
            low[place] = _at_step(low[place], grid, -_HALFWAY)
            high[place] = _at_step(high[place], grid, _HALFWAY)
    return (low, high) if low.ndim else (float(low), float(high))


def _at_step(ends: Floats, grid: Grid, outwards: float) -> Floats:
    """Return the steps that numbers are rounded to."""
    places = np.floor((ends - grid.lower) / float(grid.spacing) + 0.5 + outwards)
    steps = np.clip(places, 0, grid.intervals).astype(np.int64)
    return np.asarray(grid.points(steps), np.float64)


def is_rounded_after(mechanism: Any) -> bool:
    """Return whether moments are those before rounding to the step: of noise not in whole steps."""
    if isinstance(mechanism, ClampedStaircase):
        return mechanism.reading_bias == 0
    return isinstance(mechanism, NoiseMechanism)
