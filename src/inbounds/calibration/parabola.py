"""The worst change under an l2 norm, by Newton's method for all changes and the multiplier.

Every loss is replaced by its parabola at the last change, and the sum of parabolas is
maximised exactly. The result is used only together with `waterfill.gap`, so that a poor one costs
accuracy but never privacy.
"""

import math

import numpy as np

from inbounds._types import Floats
from inbounds.calibration.concave import LOSS, Coordinates, WorstChange, blocks, inside

_MET = 1e-8  # relative tolerance of the norm, which the last factor removes
_PASSES = 80
_JOINT_PASSES = 8
_GAINED = 1e-11  # of the loss: what a last step may gain, since the next would gain its square


def fill_l2(coordinates: Coordinates, sigma: Floats, nu: float | None) -> WorstChange | None:
    """Return the worst change, or None if the steps do not converge; `nu` is a first guess.

    The worst change is that of docs/proofs/box.md, theorem 3.
    """
    width, cap, count = coordinates.width, coordinates.cap, coordinates.count
    if not nu:
        squares = count * (width / (sigma * sigma)) ** 2
        nu = 0.75 * math.sqrt(float(np.sum(squares))) / coordinates.radius
    change = _guess(coordinates, sigma, nu)
    level, bend = np.empty_like(width), np.empty_like(width)
    for _ in range(_JOINT_PASSES):
        for i in blocks(width.size):
            slope, curvature = LOSS.slopes(width[i] / sigma[i], change[i] / sigma[i])
            bend[i] = curvature / (sigma[i] * sigma[i])
            level[i] = slope / sigma[i] + bend[i] * change[i]  # the parabola's slope at zero
        nu, factor = _level_l2(coordinates, level, bend, nu)
        gain = total = 0.0
        for i in blocks(width.size):
            free = level[i] / (bend[i] + nu)
            moved = np.where(free < cap[i], np.minimum(free * factor, cap[i]), cap[i])
            step = moved - change[i]
            gain += float(np.sum(count[i] * (bend[i] + nu) * step * step))
            total += float(np.sum(count[i] * level[i] * moved))
            change[i] = moved
        if gain <= _GAINED * total:
            return WorstChange(change, nu)
    return None


def _guess(coordinates: Coordinates, sigma: Floats, nu: float) -> Floats:
    """Return a guess for the worst change at a multiplier."""
    change = np.empty_like(sigma)
    for i in blocks(sigma.size):
        free = LOSS.guess(coordinates.width[i] / sigma[i], nu * sigma[i] * sigma[i]) * sigma[i]
        change[i] = np.minimum(free, coordinates.cap[i])
    return change


def _level_l2(
    coordinates: Coordinates, level: Floats, bend: Floats, nu: float
) -> tuple[float, float]:
    """Return ν at which the best changes of the parabolas meet the norm, by Newton's method.

    The factor by which the changes below their caps then still miss it is returned as well.
    """
    cap, count, radius = coordinates.cap, coordinates.count, coordinates.radius
    low, high = 0.0, np.inf
    for _ in range(_PASSES):
        free_square = descent = capped = 0.0
        for i in blocks(cap.size):
            stiffness = bend[i] + nu
            free = level[i] / stiffness
            is_free = free < cap[i]
            squares = count[i] * (np.where(is_free, free, 0.0) / radius) ** 2  # they add up to 1
            free_square += float(squares.sum())
            descent += float((squares / stiffness).sum())
            capped += float(np.sum(count[i] * (np.where(is_free, 0.0, cap[i]) / radius) ** 2))
        wanted = 1 - capped
        ratio = free_square / wanted if wanted > 0 else np.inf
        if abs(ratio - 1) <= _MET or high - low <= 1e-15 * nu:
            break
        low, high = (nu, high) if ratio > 1 else (low, nu)
        step = (np.sqrt(ratio) - 1) * free_square / descent if descent > 0 else np.inf
        nu = inside(nu + step, low, high)
    return nu, float(np.sqrt(max(0.0, wanted) / free_square)) if free_square > 0 else 1.0
