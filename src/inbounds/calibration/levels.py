"""The best table of probabilities for a box, a sensitivity and ε.

The search runs in doubles and a solver whose results are not trusted: they only choose which table
is built. Its integers are then checked.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from inbounds._check import format_numbers
from inbounds._types import Floats
from inbounds.calibration.average import average_plan
from inbounds.calibration.column import Mixture
from inbounds.calibration.entries import Entries
from inbounds.calibration.integral import integral_rows
from inbounds.calibration.objective import Objective
from inbounds.calibration.plan import MOST_ROWS, TablePlan, nearest
from inbounds.calibration.risk import Risk
from inbounds.calibration.spacing import Interval, distance_bound
from inbounds.calibration.table import LevelTable, growth_below
from inbounds.calibration.unbiased import unbiased_plan
from inbounds.calibration.worst import MOST_KNOTS, worst_plan
from inbounds.errors import ArgumentError

_SATURATED = {"average": 30.0, "worst": 15.0, "unbiased": 15.0}  # a larger ε gains nothing visible
_DIGITS = 13  # of an output, relative to the width
_NEGLIGIBLE = 2.0**-24  # ε between the bounds below which no output says anything


@dataclass(frozen=True)
class Design:
    """A checked table, and what is known about it.

    Attributes
    ----------
    table
        The table.
    slope
        How far the mean output moves with the value, if the table was made for unbiased readings:
        the reading of an output y is middle + (y - middle)/slope.
    bias
        How far from the value the mean reading is at most, if the table was made for unbiased
        readings. It comes from outputs that are doubles: about one unit in the last place of the
        bounds, divided by the slope.
    limited
        Whether the table would have to be larger than is practical to come close to the limit, so
        that another mechanism may have a lower error.
    """

    table: LevelTable
    slope: float | None
    bias: float | None
    limited: bool


def design(
    lower: float,
    upper: float,
    sensitivity: float,
    epsilon: float,
    objective: Objective,
    *,
    grid: Floats | None = None,
    free: bool = False,
) -> Design:
    """Return the best table for one of three objectives, checked.

    The check is complete: docs/proofs/optimal.md, theorem 4.

    Parameters
    ----------
    lower, upper
        The bounds.
    sensitivity
        The largest distance between neighbours.
    epsilon
        The pure ε.
    objective
        ``"average"``: the least squared error for a value that is uniform on the box;
        ``"worst"``: the least squared error at the worst value; ``"unbiased"``: the least average
        variance of an unbiased reading.
    grid
        All possible outputs in ascending order, or None for any number in the box. For the average
        error, values are then uniform on the grid.
    free
        Whether outputs may be any numbers in the box although there is a grid; for unbiased
        readings only.

    Raises
    ------
    ArgumentError
        If the sensitivity is so small that the table would be too large.

    Examples
    --------
    >>> design(0.0, 1.0, 0.25, 1.0, "average").table
    LevelTable('cells', rows=..., outputs=..., reach=...)
    """
    lower, upper = float(lower), float(upper)
    sensitivity, epsilon = float(sensitivity), float(epsilon)
    interval = Interval(lower, upper, distance_bound(lower, upper, sensitivity))
    positions = None if grid is None else np.array([interval.position(y) for y in grid.tolist()])
    used = min(epsilon, _SATURATED[objective])
    plan = _plan(interval, sensitivity, used, objective, positions, free=free)
    rows = integral_rows(plan.mixture, used)
    outputs = [interval.place(position) for position in (*plan.mixture.outputs.tolist(), 0.0)]
    if grid is not None and not free:
        outputs = nearest(np.array(outputs), grid).tolist()
    elif objective != "unbiased":
        outputs = _short(outputs, interval)
    rows, distinct = _merged(rows, outputs)
    ratio = growth_below(used)
    table = LevelTable(plan.kind, lower, upper, plan.boundaries, plan.reach, rows, distinct, *ratio)
    table.check(sensitivity, epsilon)
    slope, bias = reading_of(table) if objective == "unbiased" else (None, None)
    return Design(table, slope, bias, plan.limited or (epsilon > used and grid is None))


def _merged(rows: Entries, outputs: list[float]) -> tuple[Entries, tuple[float, ...]]:
    """Return the rows with one column for each distinct output, and these outputs.

    A sum of columns has no larger ratio than its columns: docs/proofs/optimal.md, theorem 1.
    """
    columns: dict[float, list[int]] = {}
    for j, output in enumerate(outputs):
        columns.setdefault(output, []).append(j)
    return rows.joined(columns.values()), tuple(columns)


def _short(outputs: list[float], interval: Interval) -> list[float]:
    """Return short decimals near outputs, in the box: 0.25 for 0.25000000000000006.

    Any output in the box is as private, and the error hardly changes.
    """
    digits = _DIGITS - math.floor(math.log10(interval.upper - interval.lower))
    rounded = (round(output, digits) for output in outputs)
    return [min(max(output, interval.lower), interval.upper) for output in rounded]


def reading_of(table: LevelTable) -> tuple[float, float]:
    """Return how far the mean output moves with the value, and the largest bias of the reading.

    The mean is affine between knots, so no bias exceeds the largest one at a knot. Proof:
    docs/proofs/optimal.md, theorem 6.
    """
    means, knots = Risk(table).row_means, [Fraction(knot) for knot in table.boundaries]
    slope = float((means[-1] - means[0]) / (knots[-1] - knots[0]))
    if not slope:
        requirement = "larger for an unbiased reading: at this one, outputs tell nothing"
        raise ArgumentError.must_be("epsilon", requirement)
    middle = (Fraction(table.lower) + Fraction(table.upper)) / 2
    pairs = zip(means, knots, strict=True)
    biases = [(mean - middle) / Fraction(slope) + middle - knot for mean, knot in pairs]
    return slope, math.nextafter(float(max(map(abs, biases))), math.inf)


def _plan(
    interval: Interval,
    sensitivity: float,
    epsilon: float,
    objective: Objective,
    grid: Floats | None,
    *,
    free: bool,
) -> TablePlan:
    if objective != "unbiased" and epsilon < _NEGLIGIBLE * interval.ratio:
        return _constant(interval)
    most = MOST_KNOTS if objective == "worst" else MOST_ROWS - 2
    if interval.ratio * most < 1:
        raise ArgumentError.must_be(
            "sensitivity",
            f"at least {format_numbers(float(interval.exact_width) / most)}, which is "
            f"(upper - lower)/{most}, for a table of this kind",
            got=f"sensitivity={format_numbers(sensitivity)}",
            hint="for a smaller one, ClampedStaircase is nearly as good as any mechanism.",
        )
    if objective == "unbiased":
        return unbiased_plan(interval, epsilon, grid, free=free)
    return (worst_plan if objective == "worst" else average_plan)(interval, epsilon, grid)


def _constant(interval: Interval) -> TablePlan:
    """Return the plan whose output is always the middle."""
    mixture = Mixture(np.zeros((1, 1), np.int64), np.ones(1), np.zeros(1))
    return TablePlan("cells", (interval.lower, interval.upper), 1, mixture)
