"""Tables whose output is unbiased after an affine reading, with the least average variance.

The mean reading at every knot is the knot, so random rounding between knots makes the mean affine.
Readings may lie far outside the box; outputs are the readings, shrunk towards the middle until they
fit. Readings that are unbiased exist for every box, sensitivity and ε: the clamped geometric
distribution has one, in closed form, which is used where ε is small or the box is wide.

Proof: docs/proofs/optimal.md, theorem 6.
"""

import math
from fractions import Fraction

import numpy as np

from inbounds._types import Floats
from inbounds.calibration.column import (
    Mixture,
    folded,
    left_half,
    minimise,
    plateaus,
    unfolded,
)
from inbounds.calibration.plan import TablePlan
from inbounds.calibration.spacing import Interval
from inbounds.errors import CertificateError
from inbounds.numerics.staircase import least_variance

_CLOSED_FORM = 0.01  # the largest epsilon of the closed form; it is 0.01 % above the least variance
_FEWEST_KNOTS, _MOST_KNOTS = 24, 64
_ROUNDING = 0.02  # the variance that random rounding may add, relative to the rest
_ROUNDS = 40
_ADDED = 2  # columns per knot and round
_CLOSE = 1e-3


def unbiased_plan(interval: Interval, epsilon: float, grid: Floats | None) -> TablePlan:
    """Return the plan with the least average variance among unbiased ones.

    Parameters
    ----------
    interval
        The box and the distance of neighbours.
    epsilon
        The pure ε.
    grid
        The positions of all possible outputs, or None for the whole box. Outputs in between are
        rounded at random, which keeps their mean.
    """
    scale = interval.ratio**2 * least_variance(epsilon)
    wanted = max(1 / math.sqrt(3 * _ROUNDING * scale), _FEWEST_KNOTS)
    scale = max(scale, 1 / (6 * _MOST_KNOTS**2))  # what rounding adds at least
    closed = epsilon <= _CLOSED_FORM or interval.ratio * _MOST_KNOTS < 1
    count = 1 if closed else math.ceil(min(wanted, _MOST_KNOTS))
    boundaries, reach = interval.fine_knots(count)
    mixture = None if closed else _solve(interval, boundaries, reach, epsilon, scale)
    if mixture is None:
        boundaries, reach = interval.fine_knots(1)
        mixture = _clamped_geometric(interval, boundaries, epsilon)
    room = 0.5 if grid is None else min(-float(grid[0]), float(grid[-1]))
    factor = room / float(np.abs(mixture.outputs).max())
    mixture = Mixture(mixture.levels, mixture.weights, mixture.outputs * factor)
    mixture = mixture if grid is None else _on_grid(mixture, grid)
    return TablePlan("knots", boundaries, reach, mixture, limited=0.5 * wanted > _MOST_KNOTS)


def _clamped_geometric(
    interval: Interval, boundaries: tuple[float, ...], epsilon: float
) -> Mixture:
    """Return the truncated geometric distribution; beyond an end it goes on for 1/(e^ε - 1).

    Knots that are doubles may be unequally spaced, which readings correct for where they can.
    """
    knots = _positions(interval, boundaries)
    row = np.arange(knots.size)
    weights = np.full(row.size, math.tanh(epsilon / 2))
    weights[[0, -1]] = 1 / (1 + math.exp(-epsilon))
    readings = knots.copy()
    beyond = 1 / math.expm1(epsilon)
    readings[0] += (knots[0] - knots[1]) * beyond
    readings[-1] += (knots[-1] - knots[-2]) * beyond
    exact = [Fraction(knot) / interval.exact_width for knot in boundaries]
    bends = [a - 2 * b + c for a, b, c in zip(exact, exact[1:], exact[2:], strict=False)]
    corrections = np.array([float(bend) for bend in bends]) * beyond / -math.expm1(-epsilon)
    if np.abs(corrections).max(initial=0.0) < readings[-1] - knots[-1]:
        readings[1:-1] -= corrections
    return Mixture(np.abs(row[:, None] - row), weights, readings)


def _positions(interval: Interval, boundaries: tuple[float, ...]) -> Floats:
    return np.array([interval.position(knot) for knot in boundaries])


def _solve(
    interval: Interval, boundaries: tuple[float, ...], reach: int, epsilon: float, scale: float
) -> Mixture | None:
    """Return the best mixture on some knots, or None if the solver fails."""
    knots = _positions(interval, boundaries)
    try:
        mixture = _generated((knots - knots[::-1]) / 2, reach, epsilon, scale)
        return _polished(mixture, knots, epsilon)
    except CertificateError:
        return None


def _generated(knots: Floats, reach: int, epsilon: float, scale: float) -> Mixture:
    """Return the mixture with the least average variance, by generating columns.

    A column with reading g is worth adding if f·π g² - f·ρ g - f·ν < 0 for the prices ν and ρ of
    the sums and the means, which is smallest at g = f·ρ/(2 f·π).
    """
    candidates = plateaus(knots.size, reach)
    candidates = candidates[left_half(candidates)]
    shapes = np.exp(-epsilon * candidates)
    sizes = shapes.sum(axis=1) / knots.size
    masses = shapes @ _masses(knots) * 2 / scale
    step = float(np.diff(knots).max()) * min(reach, knots.size - 1)
    far = float(knots[-1]) * 1.25 + 4 * step / math.expm1(epsilon)
    which = np.tile(np.arange(len(candidates)), 3)
    readings = np.repeat([-far, 0.0, far], len(candidates))
    for _ in range(_ROUNDS):
        weights, prices, slopes = _program(shapes[which], readings, masses[which], knots, far)
        kept = weights > 0
        which, weights, readings = which[kept], weights[kept], readings[kept]
        best = shapes @ slopes / (2 * masses)
        gains = (shapes @ prices + masses * best**2) / sizes
        added = np.argsort(-gains)[: _ADDED * knots.size]
        added = added[gains[added] > _CLOSE * float(weights @ (masses[which] * readings**2))]
        if not added.size:
            break
        which = np.concatenate([which, added])
        weights = np.concatenate([weights, np.zeros(added.size)])
        readings = np.concatenate([readings, best[added]])
    return Mixture(candidates[which], weights, readings).positive().mirrored()


def _program(
    columns: Floats, readings: Floats, masses: Floats, knots: Floats, far: float
) -> tuple[Floats, Floats, Floats]:
    """Return the best weights, and the prices of the rows' sums and of their means."""
    half = knots.size // 2
    weighted = columns.T * (readings / far)
    rows = np.concatenate([folded(columns.T), (weighted - weighted[::-1])[:half]])
    to = np.concatenate([np.ones(len(rows) - half), knots[:half] / far])
    weights, _, prices, _ = minimise(masses * readings**2, rows, to)
    slopes = np.zeros(knots.size)
    slopes[:half] += prices[len(rows) - half :] / far
    slopes[::-1][:half] -= prices[len(rows) - half :] / far
    return weights, unfolded(prices[: len(rows) - half], knots.size), slopes


def _masses(knots: Floats) -> Floats:
    """Return the average fraction of values that are rounded to each knot."""
    inside = np.clip(knots, -0.5, 0.5)
    low, high, gap = inside[:-1], inside[1:], np.diff(knots)
    upward = (high - low) * ((high + low) / 2 - knots[:-1]) / gap
    masses = np.zeros(knots.size)
    masses[1:] += upward
    masses[:-1] += (high - low) - upward
    return masses


def _polished(mixture: Mixture, knots: Floats, epsilon: float) -> Mixture:
    """Return the mixture with more precise sums and means, at knots that need not be symmetric."""
    columns = np.exp(-epsilon * mixture.levels).T
    far = float(np.abs(mixture.outputs).max())
    rows = np.concatenate([columns, columns * (mixture.outputs / far)])
    to = np.concatenate([np.ones(knots.size), knots / far])
    weights = mixture.weights + np.linalg.lstsq(rows, to - rows @ mixture.weights)[0]
    return Mixture(mixture.levels, weights, mixture.outputs) if weights.min() > 0 else mixture


def _on_grid(mixture: Mixture, grid: Floats) -> Mixture:
    """Return the mixture with each output split between the two points of the grid around it."""
    right = np.clip(np.searchsorted(grid, mixture.outputs), 1, grid.size - 1)
    low, high = grid[right - 1], grid[right]
    upward = np.clip((mixture.outputs - low) / (high - low), 0.0, 1.0)
    return Mixture(
        np.concatenate([mixture.levels, mixture.levels]),
        np.concatenate([mixture.weights * (1 - upward), mixture.weights * upward]),
        np.concatenate([low, high]),
    ).positive()
