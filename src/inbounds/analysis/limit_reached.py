"""Errors that simple mechanisms reach: the upper end of the bracket on the least error.

Lengths are in units of the width of the interval. All numbers are computed in doubles and raised by
a part in 10⁹, which covers their rounding errors.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from inbounds._types import Floats
from inbounds.calibration.lattice_staircase import staircase
from inbounds.calibration.levels import design
from inbounds.calibration.limit_problem import Problem
from inbounds.calibration.objective import Objective
from inbounds.calibration.risk import Risk
from inbounds.domain import Box
from inbounds.errors import ArgumentError
from inbounds.mechanisms.optimal import Optimal
from inbounds.numerics.staircase import least_variance
from inbounds.sampling.grid import Grid
from inbounds.sensitivity import Sensitivity

_CELLS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 24, 28)  # for each sensitivity
_MOST_CELLS = 500
_ROUNDING = 1 + 1e-9
_BINS = 60
_LLOYD = 400


def upper_end(problem: Problem, epsilon: float, objective: Objective) -> float:
    """Return a mean squared error that some ε-private mechanism reaches, in squared widths.

    Proof: docs/proofs/limit.md, theorem 10.

    Examples
    --------
    >>> from fractions import Fraction
    >>> local = Problem(Fraction(1), Fraction(1))
    >>> round(upper_end(local, 1.0, "average"), 6), round(upper_end(local, 1.0, "worst"), 6)
    (0.069986, 0.196612)
    """
    sensitivity = float(problem.reachable / problem.width)
    errors = [sensitivity**2 * least_variance(epsilon)]
    if objective == "unbiased":
        errors += _unbiased(problem, sensitivity, epsilon)
    else:
        errors.append(_middle(problem, objective))
        errors += (
            float((weights * mse).sum() if objective == "average" else mse.max())
            for weights, mse in _tables(problem, epsilon, objective)
        )
    return min(errors) * _ROUNDING


def reached_by_table(
    domain: Box, sensitivity: Sensitivity, epsilon: float, objective: Objective
) -> float:
    """Return the error of the best table of integers, or infinity if it would be too large.

    Proof: docs/proofs/limit.md, theorem 10.

    Examples
    --------
    >>> from inbounds.sensitivity import L2
    >>> round(reached_by_table(Box(0, 1), L2(0.25), 1.0, "average"), 6)
    0.042454
    """
    try:
        if objective == "unbiased" and domain.steps[0] is not None:
            return _variance_on_steps(domain, sensitivity, epsilon) * _ROUNDING
        built = Optimal(domain, sensitivity, epsilon, objective)
    except ArgumentError:
        return math.inf
    if objective == "unbiased":
        return _variance_of_readings(built) * _ROUNDING
    if domain.steps[0] is None:
        risk = Risk(built.table)
        return float(risk.average if objective == "average" else risk.worst) * _ROUNDING
    errors = built.mse(_steps(domain))
    return float(errors.mean() if objective == "average" else errors.max()) * _ROUNDING


def _steps(domain: Box) -> Floats:
    """Return the values of a box with a step."""
    step = domain.steps[0]
    assert step is not None
    grid = Grid.fit(float(domain.lower), float(domain.upper), step, 1.0)
    return np.asarray(grid.points(np.arange(grid.intervals + 1)), np.float64)


def _variance_on_steps(domain: Box, sensitivity: Sensitivity, epsilon: float) -> float:
    """Return the average variance of the unbiased reading of a table whose outputs are free."""
    steps = _steps(domain)
    if steps.size > _MOST_CELLS:
        return math.inf
    reach = sensitivity.within(domain.widths)
    change = min(float(reach.caps[0]), reach.radius)
    bounds = float(domain.lower), float(domain.upper)
    built = design(*bounds, change, epsilon, "unbiased", grid=steps, free=True)
    assert built.slope is not None
    _, variances = Risk(built.table).means_and_variances(steps)
    return float(variances.mean()) / built.slope**2


def _variance_of_readings(built: Optimal) -> float:
    """Return the average variance of the unbiased reading."""
    table = built.table
    slope = built.slope or math.nan
    ends = np.unique([table.lower, *built.breaks.tolist(), table.upper])
    widths, middles = np.diff(ends), (ends[:-1] + ends[1:]) / 2
    low, middle, high = (built.variance(side) for side in (ends[:-1], middles, ends[1:]))
    return float((widths * (low + 4 * middle + high)).sum() / 6 / widths.sum()) / slope**2


def _middle(problem: Problem, objective: Objective) -> float:
    """Return the error of always publishing the middle."""
    if problem.step is None:
        return 1 / 12 if objective == "average" else 1 / 4
    step = float(problem.step / problem.width)
    squares = problem.points**2 - 1 if objective == "average" else 3 * (problem.points - 1) ** 2
    return step**2 * squares / 12


def _tables(
    problem: Problem, epsilon: float, objective: Objective
) -> Iterator[tuple[Floats, Floats]]:
    """Yield the weights and the errors of the cells of some mechanisms with finitely many outputs.

    The error of a cell is the average over its values, or the largest. Proof that they are
    private: docs/proofs/limit.md, theorem 10.
    """
    if problem.has_neighbours and problem.reachable >= problem.width * (1 - 1e-12):
        if problem.step is None:
            yield from _bins(epsilon, objective)
        if problem.step is None and objective == "worst":
            yield np.ones(1), np.array([_one_bit(epsilon)])
    for edges, reach in _cells(problem):
        if reach >= len(edges) - 1:
            yield from _errors(edges, _randomised_response(len(edges), epsilon), objective)
        noise = staircase(len(edges), reach, epsilon)
        table = np.exp(-epsilon * noise.levels).T * noise.weights
        between = (edges[-1].mean() - edges[0].mean()) / max(len(edges) - 1, 1)
        yield from _errors(edges, table, objective, noise.outputs * between + 0.5)


def _randomised_response(count: int, epsilon: float) -> Floats:
    rise = math.expm1(min(epsilon, 300.0))
    return np.asarray((1 + rise * np.eye(count)) / (rise + count))


def _cells(problem: Problem) -> Iterator[tuple[Floats, int]]:
    """Yield the lower and upper ends of cells, of which some number in a row spans neighbours."""
    if problem.step is not None:
        if problem.points <= _MOST_CELLS and problem.has_neighbours:
            places = np.arange(problem.points) * float(problem.step / problem.width)
            yield np.column_stack([places, places]), problem.jump
        return
    sensitivity = float(problem.reachable / problem.width)
    for reach in _CELLS:
        size = sensitivity / reach * (1 + 1e-12)
        if 1 / size > _MOST_CELLS:
            return
        for count in {math.ceil(1 / size), math.ceil(1 / size) + 1}:
            inner = size * (np.arange(count - 1) - (count - 2) / 2) + 0.5
            bounds = np.concatenate([[0.0], inner, [1.0]])
            if count > 1 and (np.diff(bounds) > 0).all():
                yield np.column_stack([bounds[:-1], bounds[1:]]), reach


def _errors(
    edges: Floats, table: Floats, objective: Objective, places: Floats | None = None
) -> Iterator[tuple[Floats, Floats]]:
    """Yield the errors of a table of probabilities with several choices of its outputs.

    One of them are `places`, or the middles of the cells if there is one output for each.
    Formulas: docs/proofs/limit.md, theorem 10.
    """
    lower, upper = edges.T
    widths, middles = upper - lower, (lower + upper) / 2
    weights = widths / widths.sum() if widths.any() else np.full(len(edges), 1 / len(edges))
    means = (weights * middles) @ table / np.maximum(weights @ table, 1e-300)
    if objective == "average":
        yield weights, (table * np.subtract.outer(middles, means) ** 2).sum(axis=1) + widths**2 / 12
        return
    middle = middles.mean()
    for outputs in (means, middles if places is None else places):
        for stretch in np.linspace(0.6, 1.6, 41):
            moved = np.clip(middle + stretch * (outputs - middle), lower[0], upper[-1])
            sides = [(table * np.subtract.outer(s, moved) ** 2).sum(axis=1) for s in edges.T]
            yield weights, np.maximum(*sides)


def _bins(epsilon: float, objective: Objective) -> Iterator[tuple[Floats, Floats]]:
    """Yield the errors of randomised response on bins, with the best bounds for the average."""
    rise = math.expm1(min(epsilon, 300.0))
    for count in range(2, min(_BINS, 6 + math.ceil(2 * math.exp(min(epsilon, 30.0) / 3)))):
        bounds = np.linspace(0, 1, count + 1)
        for _ in range(_LLOYD):
            widths, middles = np.diff(bounds), (bounds[1:] + bounds[:-1]) / 2
            outputs = (0.5 + rise * widths * middles) / (1 + rise * widths)
            before, bounds = bounds, np.concatenate([[0], (outputs[1:] + outputs[:-1]) / 2, [1]])
            if np.abs(bounds - before).max() < 1e-14:
                break
        table = _randomised_response(count, epsilon)
        yield from _errors(np.column_stack([bounds[:-1], bounds[1:]]), table, objective)


def _one_bit(epsilon: float) -> float:
    """Return the worst error of the best single bit: 1/2 ± λ/2, or 1/2 ± 1/(4λ) for large ε."""
    slope = math.tanh(epsilon / 2)
    return (1 - slope**2) / 4 if slope**2 <= 0.5 else 1 / (16 * slope**2)


def _unbiased(problem: Problem, sensitivity: float, epsilon: float) -> Iterator[float]:
    """Yield average variances of unbiased readings; for values with a step, the worst ones.

    Formulas: docs/proofs/limit.md, theorem 10.
    """
    spread = 0.0 if problem.step is not None else 1 / 12
    scale = sensitivity / epsilon
    inside = scale * -math.expm1(-1 / scale) if problem.step is None else 0.0
    yield 2 * scale**2 - scale**2 * inside  # the clamped Laplace's
    if problem.reachable >= problem.width * (1 - 1e-12):
        yield 1 / (4 * math.tanh(epsilon / 2) ** 2) - spread  # one bit
        rise = math.expm1(min(epsilon, 600.0) / 2)  # a window
        yield (4 * spread / rise + (rise + 4) / (3 * rise**2)) / 4 if spread else math.inf
