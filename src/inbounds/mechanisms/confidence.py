"""Confidence intervals for a true value, given the output that was released for it.

A value is excluded if an output at least as far from it as this one has a probability below
1 - level. The values that remain form an interval around the output.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from inbounds._types import Floats
from inbounds.numerics import ball
from inbounds.sampling.grid import Grid

if TYPE_CHECKING:
    from inbounds.mechanisms.clamped_staircase import ClampedStaircase
    from inbounds.mechanisms.noise_mechanism import NoiseMechanism

_HALVINGS = 44  # ends are wider by less than 1e-13 of the width
_ROUNDING = 2.0**-48  # covers the rounding of a probability
_WIDER = 1 + 2.0**-20  # covers the rounding of a grid point


def confidence_interval(
    mechanism: NoiseMechanism | ClampedStaircase,
    outputs: Floats,
    level: float,
    before: float | Floats = 0.0,
) -> tuple[Floats, Floats]:
    """Return the ends of intervals that each hold the true value with probability `level`.

    `before` is how far an output may be from the ideal one before it is rounded to the grid.
    Proof: docs/proofs/confidence.md, theorems 1 and 2.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.BoundedGaussian(ib.Box(0, 1), 0.1, sigma=0.01)
    >>> low, high = confidence_interval(m, np.array([0.5]), 0.95)
    >>> round(low.item(), 3), round(high.item(), 3)
    (0.48, 0.52)
    """
    box, margin = mechanism.domain, before + rounding(mechanism, outputs)
    bounds = np.stack([np.broadcast_to(side, outputs.shape) for side in (box.lower, box.upper)])

    def excluded(values: Floats) -> NDArray[np.bool_]:
        distance = np.maximum(np.abs(outputs - values) - margin, 0.0)
        above = values + distance
        above = np.where(above == box.upper, np.nextafter(box.upper, box.lower), above)
        nearer = mechanism.cdf(above, values) - mechanism.cdf(values - distance, values)
        return np.asarray(nearer > level + _ROUNDING)

    outside, inside = bounds, np.broadcast_to(outputs, bounds.shape)
    reaches = ~excluded(outside)
    for _ in range(_HALVINGS):
        middle = outside / 2 + inside / 2
        is_out = excluded(middle)
        outside, inside = np.where(is_out, middle, outside), np.where(is_out, inside, middle)
    low, high = np.where(reaches, bounds, outside)
    return low, high


def rounding(mechanism: NoiseMechanism | ClampedStaircase, outputs: Floats) -> Floats:
    """Return how far an output may be from the ideal one: half a step, or more at the top.

    Proof: docs/proofs/confidence.md, theorem 3.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.BoundedGaussian(ib.Box(0, 10, step=3), 0.1, sigma=1)
    >>> rounding(m, np.array([3.0, 9.0])).round(3).tolist()
    [1.5, 1.5]
    """
    box, sampler = mechanism.domain, mechanism.sampler()
    grids = [sampler.grid(j) for j in range(box.dimension)]
    shape = np.shape(box.lower)
    half = np.reshape([float(grid.spacing) / 2 + _drift(grid) for grid in grids], shape)
    last = np.reshape([float(grid.points(grid.intervals)) for grid in grids], shape)
    margin = np.where(outputs >= last, np.maximum(half, box.upper - last), half)
    ulps = 2.0**-51 * np.maximum(np.abs(box.lower), np.abs(box.upper))
    return np.asarray(margin * _WIDER + ulps)


def _drift(grid: Grid) -> float:
    """Return how far an output may be from its exact place on the grid.

    If the width is nearly a whole number of steps, the places divide the width evenly, but outputs
    are whole steps from the lower bound, except the last, which is the upper bound. Proof:
    docs/proofs/confidence.md, theorem 3.
    """
    if grid.step is None or not grid.reaches_upper:
        return 0.0
    width = ball.exact(grid.upper) - ball.exact(grid.lower)
    return abs(float(ball.exact(grid.step) * grid.intervals - width))
