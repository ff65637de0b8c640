"""The error of outputs over the whole box, by which mechanisms are compared."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from inbounds._types import Floats
from inbounds.domain import Box
from inbounds.mechanisms.clamped_staircase import ClampedStaircase
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.mechanisms.noise_mechanism import NoiseMechanism
from inbounds.numerics.quadrature import unit_rule
from inbounds.recovery.cells import Cells
from inbounds.recovery.mean_error import mean_rmse, middle_rmse, on_box

CLEARLY = 0.99
"""Of the error of the middle of the box: a smaller gain is of no use."""

_NODES, _WEIGHTS = unit_rule(32)
_AT_ONCE = 1 << 18  # numbers in one call
_MOST_STEPS = 1024  # of a box whose outputs are compared as they are, after rounding
_REACH = 64  # times the spread of the noise: a box so wide has a middle without bounds
_EDGE = 12.0  # scales from a bound: farther inside, the bound hardly matters


@dataclass(frozen=True, slots=True)
class ErrorSummary:
    """Error of the outputs of one mechanism, over values anywhere in the box.

    With several coordinates, the squared error is averaged over them; bias and bound mass are those
    of the coordinate where they are largest. `mean_rmse` is the error of a mean over many people,
    or None.
    """

    worst_rmse: float
    average_rmse: float
    worst_bias: float
    bound_mass: float
    mean_rmse: float | None = None

    @property
    def rmse(self) -> float:
        """The error that mechanisms are sorted by: that of the mean, if known, or the average."""
        return self.average_rmse if self.mean_rmse is None else self.mean_rmse

    @classmethod
    def of_middle(cls, box: Box, people: int | None = None) -> Self:
        """Return the error of always publishing the middle of the box.

        Examples
        --------
        >>> round(ErrorSummary.of_middle(Box(0, 200_000)).average_rmse)
        57735
        """
        half = box.widths / 2
        worst = float(np.linalg.norm(half)) / math.sqrt(half.size)
        average = middle_rmse(box) if box.is_interval else worst / math.sqrt(3)
        return cls(worst, average, float(half.max()), 0.0, None if people is None else average)

    @classmethod
    def of(cls, mechanism: Mechanism, people: int | None = None) -> Self:
        """Return the error of a mechanism, integrated over values in the lower half of the box.

        By symmetry the upper half is the same. The part near the bound is integrated separately. If
        the distribution of the output jumps, each piece between two jumps of the box is. If an
        interval has steps, values and outputs are its steps, unless there are more than 1024 and
        the noise is so wide that rounding hardly matters.

        Examples
        --------
        >>> import inbounds as ib
        >>> error = ErrorSummary.of(ib.BoundedGaussian(ib.Box(0, 1), 1, sigma=1e6))
        >>> round(error.average_rmse, 6), round(error.worst_rmse, 6)  # √(1/6) and √(1/3): uniform
        (0.408248, 0.57735)
        """
        mean = None if people is None else mean_rmse(mechanism, people)
        few = _narrowed(mechanism)
        if few is not None:
            return cls(*_on_steps(mechanism, few), mean)
        average = np.zeros(mechanism.domain.dimension)
        worst, worst_bias, bound_mass = average, 0.0, 0.0
        for values, weights in _places(mechanism):
            mse = mechanism.mse(values).reshape(weights.shape)
            average = average + (weights * mse).sum(axis=0)
            worst = np.maximum(worst, mse.max(axis=0))
            worst_bias = max(worst_bias, float(np.abs(mechanism.bias(values)).max()))
            bound_mass = max(bound_mass, float(np.max(sum(mechanism.mass_at_bounds(values)))))
        return cls(
            worst_rmse=float(np.sqrt(worst.mean())),
            average_rmse=float(np.sqrt(average.mean())),
            worst_bias=worst_bias,
            bound_mass=bound_mass,
            mean_rmse=mean,
        )


def average_rmse(mechanism: Mechanism) -> float:
    """Return the average RMSE alone: the same number as in an `ErrorSummary`, in half the time.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.BoundedGaussian(ib.Box(0, 1), 1, sigma=1.0)
    >>> average_rmse(m) == ErrorSummary.of(m).average_rmse
    True
    """
    if _narrowed(mechanism) is not None:
        return ErrorSummary.of(mechanism).average_rmse
    average = np.zeros(mechanism.domain.dimension)
    for values, weights in _places(mechanism):
        if weights.any():
            mse = mechanism.mse(values).reshape(weights.shape)
            average = average + (weights * mse).sum(axis=0)
    return float(np.sqrt(average.mean()))


def times_least(error: float, least: float) -> float:
    """Return how many times as large as the least an error is; zero is as large as zero.

    Examples
    --------
    >>> times_least(3.0, 2.0), times_least(0.0, 0.0), times_least(1.0, 0.0)
    (1.5, 1.0, inf)
    """
    return error / least if least else 1.0 if error == 0 else math.inf


def read_rmse(mechanism: Mechanism) -> float | None:
    """Return the average RMSE after the best reading of each output, on an interval.

    It is None for several coordinates, and for more steps than errors are computed for.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.Window(ib.Box(0, 1, step=1), 1, epsilon=1.0)  # randomised response
    >>> round(read_rmse(m), 6) == round(math.sqrt(math.e) / (1 + math.e), 6)
    True
    """
    box = mechanism.domain
    if not box.is_interval:
        return None
    if box.steps[0] is None:
        return mean_rmse(mechanism, 1)
    return _StepErrors.of(mechanism).read if _count(box) <= _MOST_STEPS else None


def _count(box: Box) -> int:
    """Return the number of steps of an interval that has steps."""
    return math.floor(float(box.widths[0]) / float(box.steps[0] or math.nan) * (1 + 1e-9)) + 1


@dataclass(frozen=True, slots=True)
class _StepErrors:
    """Errors of outputs that are rounded to steps, for values on the steps of an interval."""

    mse: Floats
    bias: float
    bound_mass: float
    read: float

    @classmethod
    def of(cls, mechanism: Mechanism) -> Self:
        cells = Cells.of(mechanism, _MOST_STEPS)
        points = np.asarray(cells.points)  # there are enough cells for all steps
        chances = cells.probabilities(mechanism, points)
        errors = points - points[:, None]
        off, seen = points - points.mean(), chances.mean(axis=0)
        explained = (off @ chances / off.size) ** 2 / np.where(seen > 0, seen, 1.0)
        return cls(
            mse=(chances * errors**2).sum(axis=1),
            bias=float(np.abs((chances * errors).sum(axis=1)).max()),
            bound_mass=float(np.max(sum(mechanism.mass_at_bounds(points)))),
            read=math.sqrt(max(0.0, float((off**2).mean() - explained.sum()))),
        )


def _narrowed(mechanism: Mechanism) -> Mechanism | None:
    """Return a mechanism on few steps with the same errors near the bounds and far from them.

    It is the mechanism itself if it has few steps, and None if rounding hardly matters.
    """
    box = mechanism.domain
    step = box.steps[0] if box.is_interval else None
    if step is None or _count(box) <= _MOST_STEPS:
        return None if step is None else mechanism
    if not isinstance(mechanism, NoiseMechanism | ClampedStaircase):
        return None
    change = mechanism.sensitivity.within(box.widths).diameter
    if max(float(mechanism.spread[0]), change) * _REACH > _MOST_STEPS * step:
        return None
    lower = float(box.lower)
    few = Box(lower, lower + (_MOST_STEPS - 1) * step, step=step)
    return on_box(mechanism, few) if _count(few) == _MOST_STEPS else None


def _on_steps(mechanism: Mechanism, few: Mechanism) -> tuple[float, float, float, float]:
    """Return the worst and average RMSE, the worst bias and the bound mass, of rounded outputs.

    Steps that `few` does not have are like its middle.
    """
    errors, more = _StepErrors.of(few), _count(mechanism.domain) - _count(few.domain)
    middle = float(errors.mse[errors.mse.size // 2])
    average = (float(errors.mse.sum()) + more * middle) / (errors.mse.size + more)
    worst = math.sqrt(float(errors.mse.max()))
    return worst, math.sqrt(average), errors.bias, errors.bound_mass


def _places(mechanism: Mechanism) -> Iterator[tuple[Floats, Floats]]:
    """Yield values in the box, and their weights in an average."""
    if mechanism.breaks.size:
        yield from _pieces(mechanism)
        return
    edge = np.minimum(_EDGE * mechanism.spread / mechanism.domain.widths, 0.5)
    ends = np.array([[0.0], [0.5]]) + np.zeros_like(edge)
    yield _values(mechanism, ends), np.zeros_like(ends)
    nodes, weights = _NODES[:, None], _WEIGHTS[:, None]
    block = max(1, _AT_ONCE // edge.size)
    for start, length in ((0.0, edge), (edge, 0.5 - edge)):
        for first in range(0, nodes.size, block):
            part = slice(first, first + block)
            places = start + length * nodes[part]
            yield _values(mechanism, places), 2 * length * weights[part]


def _pieces(mechanism: Mechanism) -> Iterator[tuple[Floats, Floats]]:
    """Yield values of each piece of an interval, and values on both sides of each jump."""
    lower, upper = float(mechanism.domain.lower), float(mechanism.domain.upper)
    breaks = mechanism.breaks
    ends = np.concatenate([[lower], breaks, np.nextafter(breaks, lower), [upper]])
    yield ends, np.zeros((ends.size, 1))
    starts, lengths = np.append(lower, breaks), np.diff(np.concatenate([[lower], breaks, [upper]]))
    values = starts[:, None] + lengths[:, None] * _NODES
    weights = lengths[:, None] / (upper - lower) * _WEIGHTS
    yield values.ravel(), weights.reshape(-1, 1)


def _values(mechanism: Mechanism, fractions: Floats) -> Floats:
    box = mechanism.domain
    values: Floats = np.asarray(box.lower + (np.asarray(box.upper) - box.lower) * fractions)
    if not box.is_interval:
        return values
    step = box.steps[0]
    if step is None:
        return values[:, 0]
    lower, last = float(box.lower), _count(box) - 1
    return np.asarray(lower + step * np.minimum(np.rint((values[:, 0] - lower) / step), last))
