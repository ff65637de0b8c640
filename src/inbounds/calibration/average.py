"""Tables with the least average squared error, for a value that is uniform on the box.

Cells are Δ⁺/r wide. Up to ε = 1/2 a closed form with r = 1 is best to four digits; beyond, a small
linear program chooses among plateau columns, for several r. The best plateau of the staircase must
be nearly a whole number of cells long: for ε = 5, r = 7 is better than r = 12. Where even the
smallest r that fits leads to a large table, its columns are those of the staircase. If any two
values are neighbours, the best table is randomised response on bins, whose ends solve a fixed-point
equation.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

import numpy as np

from inbounds._types import Floats
from inbounds.calibration.column import Mixture, folded, left_half, minimise, plateaus
from inbounds.calibration.lattice_staircase import (
    best_length,
    best_reach,
    relative_error,
    staircase,
)
from inbounds.calibration.plan import MOST_ROWS, TablePlan, nearest
from inbounds.calibration.spacing import Interval
from inbounds.errors import CertificateError
from inbounds.numerics.staircase import least_variance

_CLOSED_FORM = 0.5  # the largest epsilon of the closed form
_FINE = (128, 96, 64, 48, 32, 24, 16, 12, 8, 6, 4, 3, 2)  # cells per Δ on a grid
_TRIED = 2  # of these
_USUAL_ROWS = 132  # programs up to this size, with all plateaus, take at most 0.1 s each
_SOLVED_ROWS = 264  # with few lengths of plateaus, at most 0.4 s
_LARGE_ROWS = 256  # on a grid, for at most 4 cells per Δ
_STAIRCASE_ROWS = 912  # of a table without a program
_LENGTHS = 2, 3  # how much shorter and longer plateaus may be than the staircase's
_COARSE = 1.03  # times the least error: a finer table would be clearly better
_WITHIN_CELL = 1 / 12  # the variance of a value within its cell
_SHORT = 3.0  # plateaus of all lengths matter up to this epsilon
_GRID_CELLS = 48  # cells on a grid if all values are neighbours


@dataclass(frozen=True, eq=False)
class _Prior:
    """The integrals of 1, z and z² over each cell, for a uniform position z."""

    mass: Floats
    first: Floats
    second: Floats

    @classmethod
    def of(cls, ends: Floats, grid: Floats | None) -> "_Prior":
        """Return the integrals over cells with the given ends, or sums over the grid's points."""
        if grid is not None:
            cell = np.searchsorted(ends[1:-1], grid, side="right")
            parts = [np.bincount(cell, grid**n, ends.size - 1) / grid.size for n in range(3)]
            return cls(*parts)
        return cls(*(np.diff(ends ** (n + 1)) / (n + 1) for n in range(3)))

    def means(self, columns: Floats) -> Floats:
        """Return the mean position given each column's output, or 0 if that never comes out."""
        mass = columns @ self.mass
        return np.divide(columns @ self.first, mass, out=np.zeros(mass.shape), where=mass > 0)

    def costs(self, columns: Floats, outputs: Floats) -> Floats:
        """Return the mean squared error of each column with an output, per unit of weight."""
        mass, first, second = (columns @ part for part in (self.mass, self.first, self.second))
        result: Floats = np.maximum(second - 2 * outputs * first + outputs**2 * mass, 0.0)
        return result


def average_plan(interval: Interval, epsilon: float, grid: Floats | None) -> TablePlan:
    """Return the plan with the least average error.

    Parameters
    ----------
    interval
        The box and the distance of neighbours.
    epsilon
        The pure ε.
    grid
        The positions of all possible outputs and values, or None for the whole box.
    """
    if interval.all_are_neighbours and grid is None:
        return _bins(interval, epsilon)
    best: TablePlan | None = None
    least, finest = math.inf, 1
    for reach, count in _geometries(interval, epsilon, grid):
        ends = _ideal_ends(interval.ratio, reach, count)
        boundaries = (
            interval.even_knots(count)
            if interval.all_are_neighbours
            else interval.cells(reach, count)
        )
        if ends is None or boundaries is None:
            continue
        finest = max(finest, reach)
        try:
            mixture, value = _solve(_Prior.of(ends, grid), reach, epsilon, grid)
        except CertificateError:  # other cells may do
            continue
        if value < least * (1 - 1e-6):
            least = value
            best = TablePlan("cells", boundaries, reach, mixture)
    assert best is not None  # one cell per Δ always fits
    best = _fitted(interval, best, epsilon, grid)
    if grid is not None and finest > 0.9 * interval.ratio * (grid.size - 1):
        return best  # one cell per point
    reached = relative_error(finest, epsilon, _WITHIN_CELL)
    limited = epsilon > 1 and reached > _COARSE * least_variance(epsilon)
    return best.marked_limited() if limited else best


def _geometries(
    interval: Interval, epsilon: float, grid: Floats | None
) -> Iterator[tuple[int, int]]:
    """Yield the numbers of cells per Δ and of cells that are worth trying."""
    if interval.all_are_neighbours:
        yield _GRID_CELLS, _GRID_CELLS
        return
    fine: list[int] = []
    if epsilon > _CLOSED_FORM:
        useful = 1.5 * max(12.0, 2.3 * math.exp(epsilon / 3))
        if grid is None:
            fine = _fine(interval.ratio, min(useful, MOST_ROWS), epsilon)
        else:
            most = min(useful, interval.ratio * grid.size)
            fine = [reach for reach in _FINE if reach < most and _fits(reach, interval.ratio)]
    for reach in (1, *fine[:_TRIED]):
        count = math.ceil(reach / interval.ratio * (1 - 1e-12))
        yield reach, count
        yield reach, count + 1


def _fine(ratio: float, useful: float, epsilon: float) -> list[int]:
    """Return the best number of cells per Δ, and the best large one for a program."""
    most = int(min(useful, ratio * _STAIRCASE_ROWS))
    solved = int(min(useful, ratio * (_USUAL_ROWS if epsilon <= _SHORT else _SOLVED_ROWS)))
    chosen = {best_reach(most, epsilon, _WITHIN_CELL)} if most > 1 else set()
    if solved > 1:
        chosen.add(best_reach(solved, epsilon, _WITHIN_CELL, largest=True))
    return sorted(chosen - {1})


def _fits(reach: int, ratio: float) -> bool:
    """Tell whether a program with so many cells per Δ is small enough."""
    return reach < ratio * (_LARGE_ROWS if reach <= 4 else _USUAL_ROWS)


def _ideal_ends(ratio: float, reach: int, count: int) -> Floats | None:
    """Return the ends of cells as positions, before they are rounded to doubles."""
    if ratio >= 1:
        return np.linspace(-0.5, 0.5, count + 1)
    spacing = ratio / reach
    end = (1 - (count - 2) * spacing) / 2
    if count < 2 or not 0 < end <= spacing * (1 + 1e-9):
        return None  # wider ends: another number of cells is finer
    inner = spacing * (np.arange(count - 1) - (count - 2) / 2)
    return np.concatenate([[-0.5], inner, [0.5]])


def _solve(prior: _Prior, reach: int, epsilon: float, grid: Floats | None) -> tuple[Mixture, float]:
    """Return the best mixture on some cells, and its average error.

    Columns: docs/proofs/optimal.md, theorems 1 and 11.
    """
    rows = prior.mass.size
    if reach == 1:
        mixture = _ladder(rows, epsilon)
        columns = np.exp(-epsilon * mixture.levels)
        outputs = nearest(prior.means(columns), grid)
        return mixture, float(prior.costs(columns, outputs) @ mixture.weights)
    if rows > _SOLVED_ROWS + 2 and grid is None:
        mixture = staircase(rows, reach, epsilon)
        columns = np.exp(-epsilon * mixture.levels)
        value = float(prior.costs(columns, prior.means(columns)) @ mixture.weights)
        return mixture, value
    levels = plateaus(rows, reach, _lengths(rows, reach, epsilon))
    mirrored = grid is None
    if mirrored:
        levels = levels[left_half(levels)]
    columns = np.exp(-epsilon * levels)
    outputs = nearest(prior.means(columns), grid)
    costs = prior.costs(columns, outputs)
    scale = float(costs.sum() / columns.sum()) or 1.0
    sums = folded(columns.T) if mirrored else columns.T
    weights, value, _, _ = minimise(costs * (1 + mirrored) / scale, sums, np.ones(len(sums)))
    mixture = Mixture(levels, weights, outputs).positive().polished(epsilon, mirrored=mirrored)
    return mixture.mirrored() if mirrored else mixture, value * scale


def _lengths(rows: int, reach: int, epsilon: float) -> tuple[int, int] | None:
    """Return the lengths of plateaus that a large program considers, or None for all."""
    if rows <= _USUAL_ROWS:
        return None
    length, (shorter, longer) = best_length(reach, epsilon), _LENGTHS
    return length - shorter, length + longer


def _ladder(rows: int, epsilon: float) -> Mixture:
    """Return the truncated geometric distribution, whose rows sum to one for every epsilon.

    It is the case k = p = 1 of docs/proofs/optimal.md, theorem 11.
    """
    row = np.arange(rows)
    weights = np.full(rows, math.tanh(epsilon / 2))
    weights[[0, -1]] = 1 / (1 + math.exp(-epsilon))
    return Mixture(np.abs(row[:, None] - row), weights, np.zeros(rows))


def _fitted(interval: Interval, plan: TablePlan, epsilon: float, grid: Floats | None) -> TablePlan:
    """Return the plan with outputs for the actual cells, which may be fewer at the upper end."""
    levels = plan.mixture.levels[:, : len(plan.boundaries) - 1]
    ends = np.array([interval.position(point) for point in plan.boundaries])
    outputs = nearest(_Prior.of(ends, grid).means(np.exp(-epsilon * levels)), grid)
    return replace(plan, mixture=Mixture(levels, plan.mixture.weights, outputs))


def _bins(interval: Interval, epsilon: float) -> TablePlan:
    """Return randomised response on the best number of bins: docs/proofs/optimal.md, theorem 1."""
    count, ends, outputs = _best_bins(epsilon)
    inner = [interval.place(end) for end in ends[1:-1].tolist()]
    boundaries = (interval.lower, *inner, interval.upper)
    if any(a >= b for a, b in pairwise(boundaries)):
        count, outputs = 1, np.zeros(1)
        boundaries = (interval.lower, interval.upper)
    levels = 1 - np.eye(count, dtype=np.int64)
    weights = np.full(count, 1 / (1 + (count - 1) * math.exp(-epsilon)))
    plan = TablePlan("cells", boundaries, count, Mixture(levels, weights, outputs))
    return plan.marked_limited() if count >= MOST_ROWS // 2 else plan


def _best_bins(epsilon: float) -> tuple[int, Floats, Floats]:
    """Return the number of bins with the least error, their ends, and their outputs."""
    low, high = 2, max(8, min(MOST_ROWS // 2, math.ceil(4 * math.exp(epsilon / 3))))
    while high - low > 2:  # the error falls and then rises
        third = (high - low) // 3
        if _bins_of(low + third, epsilon)[0] <= _bins_of(high - third, epsilon)[0]:
            high -= third
        else:
            low += third
    count = min(range(low, high + 1), key=lambda count: _bins_of(count, epsilon)[0])
    return count, *_bins_of(count, epsilon)[1:]


@lru_cache(maxsize=256)
def _bins_of(count: int, epsilon: float) -> tuple[float, Floats, Floats]:
    """Return the error with bins whose ends are midway between outputs, the ends, and the outputs.

    Newton's method; the output of a bin [a, b] is y = (b² - a²)/2/(1/ρ + b - a), ρ = e^ε - 1.
    """
    from scipy.linalg import solve_banded  # noqa: PLC0415 - takes long to load

    share = math.exp(-epsilon) / -math.expm1(-epsilon)  # 1/ρ
    ends = np.linspace(-0.5, 0.5, count + 1)
    for _ in range(60):
        low, high = ends[:-1], ends[1:]
        spread = share + high - low
        outputs = (high**2 - low**2) / 2 / spread
        to_low, to_high = (outputs - low) / spread, (high - outputs) / spread
        excess = ends[1:-1] - (outputs[:-1] + outputs[1:]) / 2
        slopes = np.zeros((3, count - 1))  # three diagonals
        slopes[0, 1:], slopes[2, :-1] = -to_high[1:-1] / 2, -to_low[1:-1] / 2
        slopes[1] = 1 - (to_high[:-1] + to_low[1:]) / 2
        step = solve_banded((1, 1), slopes, excess)
        ends = np.concatenate([[-0.5], ends[1:-1] - step, [0.5]])
        if np.abs(step).max() < 1e-14:
            break
    if not (np.diff(ends) > 0).all():
        return math.inf, ends, outputs
    kept = math.exp(-epsilon) + -math.expm1(-epsilon) * np.diff(ends)
    mass = kept / (1 + (count - 1) * math.exp(-epsilon))
    return 1 / 12 - float(mass @ outputs**2), ends, outputs
