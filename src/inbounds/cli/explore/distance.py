"""How far outputs are from their value, wherever it is: what a goal in years or euros is about."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds.cli.rounded import is_rounded_after, seen_interval

if TYPE_CHECKING:
    from inbounds._types import Floats
    from inbounds.mechanisms.mechanism import Mechanism

_VALUES = 241  # at which the distance of outputs is looked for
_DENSE = 4801  # as many, where it jumps
_NEAR = 60  # of them near each bound


def distance(mechanism: Mechanism, level: float) -> float:
    """Return how far an output is from its value with a probability, at the worst value.

    Half of the interval's width would not do: a release that is always the middle has none. With a
    step or with cells, the distance jumps from one value to another. The ends of the interval do
    not fall as the value grows, so each is compared with the next value.

    Examples
    --------
    >>> import inbounds as ib
    >>> sure = ib.ClampedLaplace(ib.Box(0, 120), 1, scale=1e-3)
    >>> stepped = ib.ClampedLaplace(ib.Box(0, 120, step=30), 1, scale=1e-3)
    >>> round(distance(sure, 0.95), 4), round(distance(stepped, 0.95), 2)
    (0.003, 15.0)
    """
    box = mechanism.domain
    points = _points(mechanism)
    low, high = seen_interval(mechanism, points, level)
    widest = float(max((points - low).max(), (high - points).max()))
    if box.step is None and not mechanism.breaks.size:
        return widest
    widest = max(
        widest, float((points[1:] - low[:-1]).max()), float((high[1:] - points[:-1]).max())
    )
    return min(widest, _near_steps(mechanism, level)) if is_rounded_after(mechanism) else widest


def _points(mechanism: Mechanism) -> Floats:
    """Return values all over the box, more of them near the bounds, and both sides of each jump."""
    box = mechanism.domain
    near = np.geomspace(1e-6, 0.01, _NEAR)
    fractions = [np.linspace(0, 1, _VALUES), near, 1 - near]
    if box.step is not None:
        fractions.append(np.linspace(0, 1, _DENSE))
    parts = np.unique(np.concatenate(fractions))[:, None]
    points = np.clip(box.lower + box.widths * parts, box.lower, box.upper)
    if not box.is_interval:
        return points
    jumps: list[Any] = [mechanism.breaks]
    (step,) = box.steps
    lower, upper = float(box.lower), float(box.upper)
    if step is not None and (count := (upper - lower) / step) < _DENSE:
        jumps.append(lower + step * (np.arange(math.ceil(count)) + 0.5))
    after = np.concatenate(jumps)
    around = np.concatenate([after, np.nextafter(after, -np.inf)])
    return np.unique(np.clip(np.concatenate([points[:, 0], around]), lower, upper))


def _near_steps(mechanism: Mechanism, level: float) -> float:
    """Return the largest distance before rounding, and how far rounding moves an output."""
    box = mechanism.domain
    points = _points(mechanism)
    low, high = mechanism.output_interval(points, level)
    apart = np.maximum(points - low, high - points).reshape(len(points), -1).max(axis=0)
    moves = [
        _moves(width, step) for width, step in zip(box.widths.tolist(), box.steps, strict=True)
    ]
    return float((apart + moves).max())


def _moves(width: float, step: float | None) -> float:
    """Return how far rounding to a step moves an output: beyond the last step, up to the bound."""
    return 0.0 if step is None else max(step / 2, width - step * math.floor(width / step + 1e-9))
