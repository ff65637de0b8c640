"""How far the mean of many people's values, read back from their outputs, is from the truth.

The mean of the outputs themselves is biased, since noise that stays in the box pulls every output
towards its middle. A function of one output, averaged over all people, does better: the best one
balances its bias against its variance.
"""

from __future__ import annotations

import math

import numpy as np

from inbounds._types import Floats
from inbounds.domain import Box
from inbounds.mechanisms.clamped_staircase import ClampedStaircase
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.mechanisms.noise_mechanism import NoiseMechanism
from inbounds.mechanisms.optimal import Optimal
from inbounds.recovery.cells import Cells
from inbounds.recovery.moment_equation import MomentEquation

_COARSEST, _FINEST = 64, 256  # cells of values
_PER_SCALE = 4  # cells that the noise spreads over, at least
_EDGES = _FINEST / _PER_SCALE  # scales, beyond which a box has a middle unaffected by the bounds


def mean_rmse(mechanism: Mechanism, people: int) -> float:
    """Return the root mean squared error of a mean over `people`, by the best function of outputs.

    The error is averaged over values anywhere in the box (on its steps, if it has any), and each
    time all people have that same value. This is the hardest kind of population: nobody's bias
    makes up for another's. Derivation: docs/proofs/deconvolution.md, theorem 7.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.ClampedLaplace.calibrated(ib.Box(0, 1), 1, epsilon=1.0)
    >>> round(mean_rmse(m, 1), 3), round(mean_rmse(m, 10_000), 4)
    (0.279, 0.0114)
    """
    box = mechanism.domain
    lower, width, scale = float(box.lower), float(box.widths[0]), float(mechanism.spread[0])
    step = box.steps[0]
    if isinstance(mechanism, NoiseMechanism | ClampedStaircase):
        least = _shortest(mechanism)
        few_are_enough = step is not None and scale < step and least <= _FINEST * step
        if step is not None and few_are_enough and width > 2 * _FINEST * step:
            few = Box(lower, lower + _FINEST * step, step=step)  # noise hardly leaves its step
            return mean_rmse(on_box(mechanism, few), people)
        reach = max(_EDGES * scale, least)
        reach = reach if step is None else math.ceil(reach / step) * step
        if reach < width / 2 and (step is None or scale >= step):
            near = on_box(mechanism, Box(lower, lower + reach, step=step))
            middle = float(mechanism.variance(lower + width / 2)) / people
            fraction = reach / width
            return math.sqrt(fraction * mean_rmse(near, people) ** 2 + (1 - fraction) * middle)
    if step is not None:
        cells = Cells.of(mechanism, _FINEST + 1)
        values = _steps(box)
        weights = np.ones_like(values)
    else:
        cells, edges = _cells(mechanism, width / scale)
        values, weights = _nodes(edges)
    unit = (values - lower) / width - 0.5
    response = cells.probabilities(mechanism, values)
    equation = MomentEquation.of_cells(response, unit, weights / weights.sum())
    return equation.rmse(equation.corrections(1 / people), people) * width


def middle_rmse(box: Box) -> float:
    """Return the error of the middle of an interval over the same values.

    Examples
    --------
    >>> middle_rmse(Box(0, 1, step=1)), round(middle_rmse(Box(0, 1)), 4)
    (0.5, 0.2887)
    """
    width = float(box.widths[0])
    if box.steps[0] is None:
        return width / math.sqrt(12)
    return math.sqrt(float(np.mean((_steps(box) - float(box.lower) - width / 2) ** 2)))


def _cells(mechanism: Mechanism, widths: float) -> tuple[Cells, Floats]:
    """Return cells of outputs, and the ends of cells of values in which nothing jumps."""
    if isinstance(mechanism, Optimal):  # each output is a cell
        ends = np.array([float(mechanism.domain.lower), float(mechanism.domain.upper)])
        edges = np.unique(np.concatenate([ends, mechanism.breaks]))
        return Cells(ends, mechanism.outputs[:-1], atoms=False), edges
    cells = Cells.of(mechanism, int(np.clip(_PER_SCALE * widths, _COARSEST, _FINEST)))
    return cells, cells.edges


def _nodes(edges: Floats) -> tuple[Floats, Floats]:
    """Return two values in each cell, and weights that integrate cubic functions exactly."""
    middles, halves = (edges[:-1] + edges[1:]) / 2, np.diff(edges) / 2
    off = halves / math.sqrt(3)
    return np.concatenate([middles - off, middles + off]), np.concatenate([halves, halves])


def _steps(box: Box) -> Floats:
    """Return the steps of an interval, or some that stand for many."""
    lower, width, step = float(box.lower), float(box.widths[0]), float(box.steps[0] or 0.0)
    last = math.floor(width / step * (1 + 1e-9))
    chosen: Floats = np.unique(np.rint(np.linspace(0, last, min(last, _FINEST) + 1)))
    return lower + step * chosen


def _shortest(mechanism: NoiseMechanism | ClampedStaircase) -> float:
    """Return the width of the smallest box on which the noise is the same."""
    if isinstance(mechanism, NoiseMechanism):
        return 0.0
    return 2 * mechanism.sensitivity.within(mechanism.domain.widths).diameter


def on_box(mechanism: NoiseMechanism | ClampedStaircase, box: Box) -> Mechanism:
    """Return the same noise on another box.

    Examples
    --------
    >>> import inbounds as ib
    >>> on_box(ib.ClampedLaplace(ib.Box(0, 9), 1, scale=2.0), ib.Box(0, 5))
    ClampedLaplace(Box(0, 5), L2(1), scale=2)
    """
    return type(mechanism)(box, mechanism.sensitivity, *mechanism.parameters.values())
