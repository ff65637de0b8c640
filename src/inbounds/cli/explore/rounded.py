"""Outputs as people see them: noise that is not in whole steps is rounded to a step at the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds.mechanisms.clamped_staircase import ClampedStaircase
from inbounds.mechanisms.noise_mechanism import NoiseMechanism
from inbounds.recovery.cells import Cells

if TYPE_CHECKING:
    from inbounds._types import Floats
    from inbounds.mechanisms.mechanism import Mechanism

MOST_STEPS = 512
"""The number of steps up to which outputs are counted one by one, as in the chart."""


@dataclass(frozen=True, slots=True)
class Rounded:
    """The outputs of a mechanism on an interval, and how likely they are, after rounding.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.ClampedLaplace(ib.Box(0, 120, step=7), 2.5, scale=2.5)
    >>> rounded = Rounded.of(m)
    >>> rounded.points[:3], rounded.interval(60.0, 0.95)
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

    def interval(self, value: float, level: float) -> tuple[float, float]:
        """Return an interval that holds an output with at least so high a probability."""
        upto = np.cumsum(self.cells.probabilities(self.mechanism, np.array([value]))[0])
        tails = (1 - level) / 2, (1 + level) / 2
        places = np.minimum(np.searchsorted(upto, tails), self.points.size - 1)
        low, high = self.points[places].tolist()
        return low, high


def is_rounded_after(mechanism: Any) -> bool:
    """Return whether moments are those before rounding to the step: of noise not in whole steps."""
    if isinstance(mechanism, ClampedStaircase):
        return mechanism.reading_bias == 0
    return isinstance(mechanism, NoiseMechanism)
