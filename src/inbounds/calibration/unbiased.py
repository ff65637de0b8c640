"""Tables whose output is unbiased after an affine reading, with the least average variance.

The mean reading at every knot is the knot, so random rounding between knots makes the mean affine.
Readings may lie far outside the box; outputs are the readings, shrunk towards the middle until they
fit. Readings that are unbiased exist for every box, sensitivity and ε: the clamped geometric
distribution has one, in closed form, which is used where ε is small. Where a program would be too
large, the columns are those of the staircase.
"""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from inbounds._types import Floats
from inbounds.calibration.column import Mixture
from inbounds.calibration.lattice_staircase import relative_error, staircase_plan
from inbounds.calibration.plan import TablePlan
from inbounds.calibration.spacing import Interval
from inbounds.calibration.unbiased_points import on_grid, points_plan, shrunk, with_exact_means
from inbounds.calibration.unbiased_program import UnbiasedProgram
from inbounds.errors import CertificateError
from inbounds.numerics.staircase import least_variance

_CLOSED_FORM = 0.01  # the largest epsilon of the closed form; it is 0.01 % above the least variance
_FEWEST_KNOTS, _MOST_KNOTS = 24, 64
_ROUNDING = 0.02  # the variance that random rounding may add, relative to the rest
_BETWEEN = 1 / 6  # the variance that it adds on average, in squared distances of knots
_GAIN = 0.7  # times the sensitivity in widths: what a program gains at the bounds at most
_IRREGULAR = 2.0**-44  # knots that are less precise than this need readings of their own


def unbiased_plan(
    interval: Interval, epsilon: float, grid: Floats | None, *, free: bool = False
) -> TablePlan:
    """Return the plan with the least average variance among unbiased ones.

    There is one: docs/proofs/optimal.md, theorem 6.

    Parameters
    ----------
    interval
        The box and the distance of neighbours.
    epsilon
        The pure ε.
    grid
        The positions of all possible values and outputs, or None for the whole box. If there are
        many of them, values may be anywhere, and outputs between two positions are rounded at
        random, which keeps their mean.
    free
        Whether outputs may be any numbers in the box even if there is a grid.
    """
    if grid is not None and epsilon > _CLOSED_FORM:
        on_points = points_plan(interval, epsilon, grid, free=free)
        if on_points is not None:
            return on_points
    plan = _free_plan(interval, epsilon)
    room = 0.5 if grid is None or free else min(-float(grid[0]), float(grid[-1]))
    mixture = shrunk(plan.mixture, room)
    mixture = mixture if grid is None or free else on_grid(mixture, grid)
    return TablePlan(plan.kind, plan.boundaries, plan.reach, mixture, plan.limited)


def _free_plan(interval: Interval, epsilon: float) -> TablePlan:
    """Return the plan with the least variance; its outputs are readings, in the box or not."""
    if epsilon <= _CLOSED_FORM:
        return _clamped_geometric(interval, epsilon)
    wanted = 1 / math.sqrt(3 * _ROUNDING * interval.ratio**2 * least_variance(epsilon))
    count = math.ceil(min(max(wanted, _FEWEST_KNOTS), _MOST_KNOTS))
    large = _staircase(interval, epsilon) if wanted > _MOST_KNOTS else None
    if interval.ratio * _MOST_KNOTS < 1:  # a program would have more knots than that
        return _clamped_geometric(interval, epsilon) if large is None else large
    expected = relative_error(max(1, round(count * interval.ratio)), epsilon, _BETWEEN)
    reduced = expected / (1 + _GAIN * interval.ratio)
    if large is not None and reduced > relative_error(large.reach, epsilon, _BETWEEN):
        return large
    solved = _solved(interval, epsilon, count)
    if large is not None and _variance(interval, large, epsilon) < _variance(
        interval, solved, epsilon
    ):
        return large
    return solved.marked_limited() if 0.5 * wanted > _MOST_KNOTS else solved


def _solved(interval: Interval, epsilon: float, count: int) -> TablePlan:
    """Return the plan of a program with about `count` knots, or with fewer if that fails."""
    scale = max(interval.ratio**2 * least_variance(epsilon), 1 / (6 * count**2))
    while count > 1:
        boundaries, reach = interval.fine_knots(count)
        knots = _positions(interval, boundaries)
        even = (knots - knots[::-1]) / 2
        try:
            mixture, _ = UnbiasedProgram(even, _masses(even), reach, epsilon, scale).solve()
            return TablePlan("knots", boundaries, reach, with_exact_means(mixture, knots, epsilon))
        except CertificateError:
            count = count * 3 // 4
    return _clamped_geometric(interval, epsilon)


def _staircase(interval: Interval, epsilon: float) -> TablePlan | None:
    """Return the plan of the staircase on as many knots as it needs, or None if none fit.

    Its means and its variance: docs/proofs/optimal.md, theorem 11.
    """
    plan = staircase_plan(interval, epsilon, _BETWEEN)
    if plan is None:
        return None
    noise, knots = plan.mixture, _positions(interval, plan.boundaries)
    spacing = float(knots[-1] - knots[0]) / (knots.size - 1)
    readings = noise.outputs * spacing + float(knots[-1] + knots[0]) / 2
    chances = np.exp(-epsilon * noise.levels).T * noise.weights
    bias = knots - chances @ readings
    if np.abs(bias).max() > _IRREGULAR:
        readings = readings + np.linalg.lstsq(chances, bias)[0]
    return replace(plan, mixture=replace(noise, outputs=readings))


def _clamped_geometric(interval: Interval, epsilon: float) -> TablePlan:
    """Return the truncated geometric distribution; beyond an end it goes on for 1/(e^ε - 1).

    Knots that are doubles may be unequally spaced, which readings correct for where they can.
    Proof: docs/proofs/optimal.md, theorem 6.
    """
    boundaries, reach = interval.fine_knots(1)
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
    mixture = Mixture(np.abs(row[:, None] - row), weights, readings)
    return TablePlan("knots", boundaries, reach, mixture)


def _positions(interval: Interval, boundaries: tuple[float, ...]) -> Floats:
    return np.array([interval.position(knot) for knot in boundaries])


def _masses(knots: Floats) -> Floats:
    """Return the average fraction of values that are rounded to each knot."""
    inside = np.clip(knots, -0.5, 0.5)
    low, high, gap = inside[:-1], inside[1:], np.diff(knots)
    upward = (high - low) * ((high + low) / 2 - knots[:-1]) / gap
    masses = np.zeros(knots.size)
    masses[1:] += upward
    masses[:-1] += (high - low) - upward
    return masses


def _variance(interval: Interval, plan: TablePlan, epsilon: float) -> float:
    """Return the average variance of the readings of a plan."""
    knots = _positions(interval, plan.boundaries)
    chances = np.exp(-epsilon * plan.mixture.levels).T * plan.mixture.weights
    squares = (chances * (plan.mixture.outputs - knots[:, None]) ** 2).sum(axis=1)
    between = float((np.diff(knots) ** 3).sum()) * _BETWEEN
    return float(_masses(knots) @ squares) + between
