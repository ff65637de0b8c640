"""The distribution of one coordinate's output: a density, and outputs with a probability."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from inbounds.mechanisms.clamped_staircase import ClampedStaircase
from inbounds.mechanisms.optimal import Optimal
from inbounds.mechanisms.window import Window
from inbounds.recovery.cells import Cells

if TYPE_CHECKING:
    from inbounds._types import Floats
    from inbounds.mechanisms.mechanism import Mechanism

_MOST_OUTPUTS = 512  # that are drawn one by one
_NEAR, _EVEN, _QUANTILES = 201, 101, 64  # points around the value, over the box, and by probability
_REACH = 12  # times the spread: farther from the value, points are even
_INSIDE = 1e-9  # of the width: a bound itself has a probability and no density
_LEAST_ATOM = 1e-4
_JUMPING = (Window, ClampedStaircase)
_LEAST_STEM, _LEFT_OUT = 0.01, 0.01  # of the highest stem; of all probability
_JUMPS, _HALVINGS = 24, 12  # jumps that are drawn upright, to within 2⁻¹² of the distance of points


def density_and_stems(
    mechanism: Mechanism, value: float
) -> tuple[dict[str, list[float]] | None, list[dict[str, float]]]:
    """Return points of the density, or None if there is none, and outputs with a probability.

    A mechanism on an interval with at most 512 possible outputs has a probability for each of them.
    Otherwise, only the bounds of clamped noise have one. Unlikely outputs are left out, if all of
    them together have a probability below 0.01.

    Examples
    --------
    >>> import inbounds as ib
    >>> density, stems = density_and_stems(ib.ClampedLaplace(ib.Box(0, 1), 1, scale=1.0), 0.0)
    >>> stems[0], len(density["x"]) == len(density["y"])
    ({'at': 0.0, 'probability': 0.5}, True)
    >>> density_and_stems(ib.Window(ib.Box(0, 1, step=1), 1, epsilon=0.0001), 0.0)[0] is None
    True
    """
    finite = _outputs(mechanism, value)
    if finite is not None:
        return None, _likely(*finite)
    x = _points(mechanism, value)
    return {"x": x.tolist(), "y": _heights(mechanism, x, value).tolist()}, _atoms(mechanism, value)


def visible_range(mechanism: Mechanism, value: float) -> list[float]:
    """Return where all but 1 in 5000 outputs are; an end close to a bound is that bound.

    Examples
    --------
    >>> import inbounds as ib
    >>> visible_range(ib.ClampedLaplace(ib.Box(0, 1), 1, scale=1.0), 0.0)
    [0.0, 1.0]
    """
    lower, upper = float(mechanism.domain.lower), float(mechanism.domain.upper)
    low, high = mechanism.output_interval(value, 0.9998)
    near = 0.05 * (upper - lower)
    return [lower if low - lower < near else low, upper if upper - high < near else high]


def _outputs(mechanism: Mechanism, value: float) -> tuple[Floats, Floats] | None:
    """Return the possible outputs and their probabilities, if they are few."""
    if isinstance(mechanism, Optimal):
        outputs = mechanism.outputs
        return outputs, np.diff(mechanism.cdf(outputs, value), prepend=0.0)
    step, width = mechanism.domain.steps[0], float(mechanism.domain.widths[0])
    if step is None or width > _MOST_OUTPUTS * step:
        return None
    cells = Cells.of(mechanism, _MOST_OUTPUTS + 1)
    if cells.points is None:
        return None
    return cells.points, cells.probabilities(mechanism, np.array([value]))[0]


def _likely(outputs: Floats, chances: Floats) -> list[dict[str, float]]:
    """Return all outputs but unlikely ones, whose probability together is small."""
    order = np.argsort(chances, kind="stable")
    left_out = np.cumsum(chances[order]) < _LEFT_OUT
    left_out &= chances[order] < _LEAST_STEM * chances.max()
    kept = np.sort(order[~left_out])
    return [
        {"at": at, "probability": chance}
        for at, chance in zip(outputs[kept].tolist(), chances[kept].tolist(), strict=True)
    ]


def _atoms(mechanism: Mechanism, value: float) -> list[dict[str, float]]:
    bounds = float(mechanism.domain.lower), float(mechanism.domain.upper)
    return [
        {"at": bound, "probability": mass}
        for bound, mass in zip(bounds, mechanism.mass_at_bounds(value), strict=True)
        if mass >= _LEAST_ATOM
    ]


def _heights(mechanism: Mechanism, x: Floats, value: float) -> Floats:
    """Return the density, without that of a bound's own step, which `_atoms` shows."""
    y = np.asarray(mechanism.pdf(x, value))
    step = mechanism.domain.steps[0]
    if step is None or not isinstance(mechanism, Window):
        return y
    lower, upper = float(mechanism.domain.lower), float(mechanism.domain.upper)
    low, high = (mass >= _LEAST_ATOM for mass in mechanism.mass_at_bounds(value))
    at_bound = (low & (x < lower + step / 2)) | (high & (x > upper - step / 2))
    return np.where(at_bound, 0.0, y)


def _points(mechanism: Mechanism, value: float) -> Floats:
    """Return places that are dense where the density bends or jumps."""
    lower, upper = float(mechanism.domain.lower), float(mechanism.domain.upper)
    inside = _INSIDE * (upper - lower)
    near = _REACH * np.linspace(-1, 1, _NEAR) * np.abs(np.linspace(-1, 1, _NEAR))
    places = (
        value + float(mechanism.spread[0]) * near,
        np.linspace(lower, upper, _EVEN),
        np.asarray(mechanism.quantile((np.arange(_QUANTILES) + 0.5) / _QUANTILES, value)),
    )
    x = np.unique(np.clip(np.concatenate(places), lower + inside, upper - inside))
    return _at_jumps(mechanism, value, x) if isinstance(mechanism, _JUMPING) else x


def _at_jumps(mechanism: Mechanism, value: float, x: Floats) -> Floats:
    """Return the places and some more, on both sides of the largest jumps of the density."""
    y = _heights(mechanism, x, value)
    largest = np.argsort(np.abs(np.diff(y)) * np.diff(x))[-_JUMPS:]
    low, high, at_low, at_high = x[largest], x[largest + 1], y[largest], y[largest + 1]
    for _ in range(_HALVINGS):
        middle = low / 2 + high / 2
        at_middle = _heights(mechanism, middle, value)
        is_low = np.abs(at_middle - at_low) < np.abs(at_middle - at_high)
        low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
        at_low = np.where(is_low, at_middle, at_low)
        at_high = np.where(is_low, at_high, at_middle)
    return np.unique(np.concatenate([x, low, high]))
