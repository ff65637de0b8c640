"""Tables with the least squared error at the worst value: knots, and random rounding between them.

A linear program bounds the error at the knots, at the bounds and between them. Its columns are
generated: the dual solution is a prior, whose posterior means are the outputs worth adding. Random
rounding adds a quarter of the squared distance of two knots. Where a program with knots that are
close enough would be too large, the columns are those of the staircase.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from inbounds._types import Floats
from inbounds.calibration.average import average_plan
from inbounds.calibration.column import (
    Mixture,
    folded,
    left_half,
    minimise,
    plateaus,
    unfolded,
)
from inbounds.calibration.lattice_staircase import relative_error, staircase_plan
from inbounds.calibration.plan import TablePlan, nearest
from inbounds.calibration.spacing import Interval
from inbounds.errors import CertificateError
from inbounds.numerics.staircase import least_variance

_USUAL_ROWS = 80  # more knots take longer than about a second
_BETWEEN = 1 / 4  # the variance that random rounding adds at most, in squared distances of knots
_GAIN = 0.7  # times the sensitivity in widths: what a program gains at the bounds at most
MOST_KNOTS = 128
"""A box more than this many times as wide as Δ would need too many knots."""

_FEWEST_KNOTS = 16
_ROUNDING = 0.02  # the error that random rounding may add, relative to the rest
_ROUNDS = 24
_ADDED = 2  # columns per knot and round
_CLOSE = 2e-3  # relative: how far from the best mixture of these columns the search may stop


@dataclass(frozen=True, eq=False)
class _Points:
    """Values at which the error is bounded, and how random rounding spreads them over knots."""

    values: Floats
    spread: Floats  # points × knots

    @classmethod
    def of(cls, knots: Floats) -> "_Points":
        """Return the bounds, the knots inside and the values midway between them."""
        inside = np.concatenate([[-0.5], knots[1:-1], [0.5]])
        values = np.sort(np.concatenate([inside, (inside[1:] + inside[:-1]) / 2]))
        left = np.clip(np.searchsorted(knots, values, side="right") - 1, 0, knots.size - 2)
        upward = (values - knots[left]) / (knots[left + 1] - knots[left])
        spread = np.zeros((values.size, knots.size))
        rows = np.arange(values.size)
        spread[rows, left], spread[rows, left + 1] = 1 - upward, upward
        return cls(values, spread)

    def errors(self, columns: Floats, outputs: Floats) -> Floats:
        """Return the squared error at each point that each column adds, points × columns."""
        result: Floats = self.spread @ columns.T * (self.values[:, None] - outputs) ** 2
        return result

    def outputs(self, columns: Floats, prior: Floats, grid: Floats | None) -> Floats:
        """Return the output of each column that has the least error under a prior."""
        mass = columns @ (prior @ self.spread)
        first = columns @ ((prior * self.values) @ self.spread)
        return nearest(np.clip(first / np.maximum(mass, 1e-300), -0.5, 0.5), grid)


def worst_plan(interval: Interval, epsilon: float, grid: Floats | None) -> TablePlan:
    """Return the plan with the least error at the worst value.

    If the solver fails, which happens rarely, fewer knots are tried. Random rounding between
    knots is private: docs/proofs/optimal.md, theorem 3.

    Parameters
    ----------
    interval
        The box and the distance of neighbours.
    epsilon
        The pure ε.
    grid
        The positions of all possible outputs, or None for the whole box.
    """
    scale = 1 / (4 + 1 / (interval.ratio**2 * least_variance(epsilon)))
    wanted = max(1 / (2 * math.sqrt(_ROUNDING * scale)), _FEWEST_KNOTS)
    count = math.ceil(min(wanted, _USUAL_ROWS))
    large = _staircase(interval, epsilon) if wanted > _USUAL_ROWS and grid is None else None
    expected = relative_error(max(1, round(count * interval.ratio)), epsilon, _BETWEEN)
    reduced = expected / (1 + _GAIN * interval.ratio)
    if large is not None and reduced > relative_error(large.reach, epsilon, _BETWEEN):
        return large
    solved = _solved(interval, epsilon, count, scale, grid)
    limited = 0.5 * wanted > _USUAL_ROWS
    if large is not None and _worst(interval, large, epsilon) < _worst(interval, solved, epsilon):
        return large
    return solved.marked_limited() if limited else solved


def _solved(
    interval: Interval, epsilon: float, count: int, scale: float, grid: Floats | None
) -> TablePlan:
    """Return the plan of a program with about `count` knots, or with fewer if that fails."""
    scale = max(scale, 1 / (4 * _USUAL_ROWS**2))  # what rounding adds at least
    while count >= _FEWEST_KNOTS / 4:
        boundaries, reach = interval.fine_knots(count)
        knots = _positions(interval, boundaries)
        try:
            mixture = _solve((knots - knots[::-1]) / 2, reach, epsilon, scale, grid)
        except CertificateError:
            count = count * 3 // 4
            continue
        return TablePlan("knots", boundaries, reach, mixture)
    return average_plan(interval, epsilon, grid)


def _staircase(interval: Interval, epsilon: float) -> TablePlan | None:
    """Return the plan of the staircase on as many knots as it needs, or None if none fit.

    Its error: docs/proofs/optimal.md, theorem 11.
    """
    plan = staircase_plan(interval, epsilon, _BETWEEN)
    if plan is None:
        return None
    outputs = np.clip(plan.mixture.outputs * interval.ratio / plan.reach, -0.5, 0.5)
    return replace(plan, mixture=replace(plan.mixture, outputs=outputs))


def _worst(interval: Interval, plan: TablePlan, epsilon: float) -> float:
    """Return the largest error of a plan at knots and midway between them."""
    points = _Points.of(_positions(interval, plan.boundaries))
    columns = np.exp(-epsilon * plan.mixture.levels)
    return float((points.errors(columns, plan.mixture.outputs) @ plan.mixture.weights).max())


def _positions(interval: Interval, boundaries: tuple[float, ...]) -> Floats:
    return np.array([interval.position(knot) for knot in boundaries])


def _solve(knots: Floats, reach: int, epsilon: float, scale: float, grid: Floats | None) -> Mixture:
    """Return the mixture with the least largest error, by generating columns.

    Columns: docs/proofs/optimal.md, theorem 1.
    """
    points = _Points.of(knots)
    mirrored = grid is None or bool(np.abs(grid + grid[::-1]).max() < 1e-9)
    candidates = plateaus(knots.size, reach)
    candidates = candidates[left_half(candidates)] if mirrored else candidates
    shapes = np.exp(-epsilon * candidates)
    sizes = shapes.sum(axis=1) / knots.size
    prior = np.full(points.values.size, 1 / points.values.size)
    which = np.arange(len(candidates))
    outputs = points.outputs(shapes, prior, grid)
    for _ in range(_ROUNDS):
        weights, prices, prior = _program(shapes[which], outputs, points, scale, mirrored=mirrored)
        kept = weights > 0
        which, weights, outputs = which[kept], weights[kept], outputs[kept]
        best = points.outputs(shapes, prior, grid)
        gains = (shapes @ prices - prior @ points.errors(shapes, best) / scale) / sizes
        added = np.argsort(-gains)[: _ADDED * knots.size]
        added = added[gains[added] > _CLOSE]
        if not added.size:
            break
        which = np.concatenate([which, added])
        weights = np.concatenate([weights, np.zeros(added.size)])
        outputs = np.concatenate([outputs, best[added]])
    mixture = Mixture(candidates[which], weights, outputs).positive()
    mixture = mixture.polished(epsilon, mirrored=mirrored)
    return mixture.mirrored() if mirrored else mixture


def _program(
    columns: Floats, outputs: Floats, points: _Points, scale: float, *, mirrored: bool
) -> tuple[Floats, Floats, Floats]:
    """Return the best weights of some columns, the prices of the rows, and the worst prior."""
    sums, errors = columns.T, points.errors(columns, outputs) / scale
    if mirrored:
        sums, errors = folded(sums), folded(errors)
    cost = np.zeros(len(columns) + 1)
    cost[-1] = 1.0  # the bound on all errors
    sums = np.column_stack([sums, np.zeros(len(sums))])
    errors = np.column_stack([errors, np.full(len(errors), -1.0)])
    weights, _, prices, against = minimise(
        cost, sums, np.ones(len(sums)), errors, np.zeros(len(errors))
    )
    prior = np.maximum(-against, 0.0)
    if mirrored:
        prices = unfolded(prices, columns.shape[1])
        prior = unfolded(prior, points.values.size)
    return weights[:-1], prices, prior
