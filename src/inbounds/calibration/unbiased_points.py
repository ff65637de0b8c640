"""Unbiased readings of values on a few points, such as counts or yes and no.

The knots are the points, so nothing is lost by random rounding between them. Outputs are points as
well. An output y is read as y/λ, counted from the middle of the box. A program finds the best
probabilities for a slope λ, and several slopes are tried.
"""

import math

import numpy as np

from inbounds._types import Floats
from inbounds.calibration.column import Mixture
from inbounds.calibration.lattice_staircase import best_length, lattice_variance
from inbounds.calibration.plan import TablePlan, nearest
from inbounds.calibration.spacing import Interval
from inbounds.calibration.unbiased_program import UnbiasedProgram
from inbounds.errors import CertificateError

_MOST_POINTS = 64
_FEW_POINTS = 16  # programs for these are fast
_CHEAP = 1.003  # times the least variance: random rounding of readings costs little
_BELOW = 1e-5  # how far below the largest slope, as a logarithm, a program can be solved
_CORRECTIONS = 4
_BIAS = 1e-9  # of a width: the largest bias that is left to another plan
_WHOLE = 1e-9  # how far from a whole number of steps the sensitivity may be


def points_plan(
    interval: Interval, epsilon: float, grid: Floats, *, free: bool
) -> TablePlan | None:
    """Return the plan with the least average variance over the points, or None if it has no form.

    There is a plan for at most 64 points that reach from bound to bound, if the sensitivity is a
    whole number of steps. Proof: docs/proofs/optimal.md, theorem 6.

    Parameters
    ----------
    interval
        The box and the distance of neighbours.
    epsilon
        The pure ε.
    grid
        The positions of the values.
    free
        Whether outputs may be any numbers in the box, and not only points.
    """
    knots = _knots(interval, grid)
    if knots is None:
        return None
    boundaries, reach = knots
    places = np.array([interval.position(knot) for knot in boundaries])
    even = (places - places[::-1]) / 2
    step = 1 / (grid.size - 1)
    reached = min(reach, grid.size - 1)
    scale = step**2 * lattice_variance(reached, best_length(reached, epsilon), epsilon)
    masses = np.full(grid.size, 1 / grid.size)
    program = UnbiasedProgram(even, masses, reach, epsilon, scale)
    try:
        mixture, least = program.solve()
    except CertificateError:
        return None
    slope = 0.5 / float(np.abs(mixture.outputs).max())
    if not free:
        mixture, slope = _on_points(program, grid, mixture, least)
    mixture = with_exact_means(mixture, places, epsilon)
    chances = np.exp(-epsilon * mixture.levels).T * mixture.weights
    if np.abs(chances @ mixture.outputs - places).max() > _BIAS:
        return None
    outputs = np.clip(mixture.outputs * slope, -0.5, 0.5)
    outputs = outputs if free else nearest(outputs, grid)
    return TablePlan("knots", boundaries, reach, Mixture(mixture.levels, mixture.weights, outputs))


def _knots(interval: Interval, grid: Floats) -> tuple[tuple[float, ...], int] | None:
    """Return knots at the points and their reach, or None if there are no such knots."""
    steps = interval.ratio * (grid.size - 1)
    spans = max(abs(grid[0] + 0.5), abs(grid[-1] - 0.5)) < _WHOLE / grid.size
    if not 2 <= grid.size <= _MOST_POINTS or not spans:
        return None
    if interval.all_are_neighbours:
        knots: tuple[float, ...] | None = interval.even_knots(grid.size - 1)
        reach = grid.size
    else:
        reach = round(steps)
        knots = interval.knots(reach) if reach >= 1 and abs(steps - reach) < _WHOLE else None
    return None if knots is None or len(knots) != grid.size else (knots, reach)


def _on_points(
    program: UnbiasedProgram, grid: Floats, mixture: Mixture, least: float
) -> tuple[Mixture, float]:
    """Return the best mixture whose outputs are points, as readings, and its slope.

    The readings of any mixture can be rounded to outputs at random. If that costs much, programs
    for several slopes are solved.
    """
    slope = 0.5 / float(np.abs(mixture.outputs).max())
    split = on_grid(shrunk(mixture, 0.5), grid)
    best = Mixture(split.levels, split.weights, split.outputs / slope), slope
    lowest = program.variance(best[0])
    few = grid.size <= _FEW_POINTS
    if lowest < _CHEAP * least and not few:
        return best
    for trial in _slopes(program, slope, few=few):
        try:
            found, variance = program.solve(grid / trial)
        except CertificateError:  # too steep
            continue
        if variance < lowest:
            best, lowest = (found, trial), variance
    return best


def _slopes(program: UnbiasedProgram, slope: float, *, few: bool) -> list[float]:
    """Return slopes around one, up to the largest that any unbiased reading has."""
    sensitivity = float(program.knots[-1]) * 2 * min(1.0, program.reach / (program.knots.size - 1))
    flat = math.log(slope / (1 - slope))
    steep = math.log(math.expm1(program.epsilon) / (2 * sensitivity)) - _BELOW
    shares = (-0.5, -0.1, 0.0, 0.25, 0.5, 0.75, 0.9, 1.0) if few else (0.0, 0.5, 1.0)
    size = max(steep - flat, 0.2)
    trials = {min(flat + share * size, steep) for share in shares}
    return [1 / (1 + math.exp(-trial)) for trial in sorted(trials)]


def with_exact_means(mixture: Mixture, knots: Floats, epsilon: float) -> Mixture:
    """Return the mixture with more precise sums and means, at knots that need not be symmetric.

    Columns whose weights would become negative are left out.
    """
    kept = np.arange(mixture.weights.size)
    for _ in range(_CORRECTIONS):
        part = Mixture(mixture.levels[kept], mixture.weights[kept], mixture.outputs[kept])
        columns = np.exp(-epsilon * part.levels).T
        far = float(np.abs(part.outputs).max())
        rows = np.concatenate([columns, columns * (part.outputs / far)])
        to = np.concatenate([np.ones(knots.size), knots / far])
        weights = part.weights + np.linalg.lstsq(rows, to - rows @ part.weights)[0]
        if weights.min() > 0:
            return Mixture(part.levels, weights, part.outputs)
        kept = kept[weights > 0]
    return mixture


def shrunk(mixture: Mixture, room: float) -> Mixture:
    """Return the mixture with readings as outputs between -room and room, which are reached."""
    far = float(np.abs(mixture.outputs).max())
    outputs = np.clip(mixture.outputs * (room / far), -room, room)
    ends = np.abs(mixture.outputs) == far
    outputs[ends] = np.copysign(room, outputs[ends])
    return Mixture(mixture.levels, mixture.weights, outputs)


def on_grid(mixture: Mixture, grid: Floats) -> Mixture:
    """Return the mixture with each output split between the two points of the grid around it."""
    right = np.clip(np.searchsorted(grid, mixture.outputs), 1, grid.size - 1)
    low, high = grid[right - 1], grid[right]
    upward = np.clip((mixture.outputs - low) / (high - low), 0.0, 1.0)
    return Mixture(
        np.concatenate([mixture.levels, mixture.levels]),
        np.concatenate([mixture.weights * (1 - upward), mixture.weights * upward]),
        np.concatenate([low, high]),
    ).positive()
