"""The staircase on a lattice: columns that are translations of one plateau, with known weights.

Far from both bounds the best columns are all alike: plateaus of one length, one for each place. If
they are continued beyond the bounds, every row sums to the same number, so that no linear program
is needed. Beyond a bound, columns that are `reach` places apart are multiples of one another on all
rows, and are joined to one. Such a table can be much larger than a linear program, and is the best
one except for what can be gained near the bounds.
"""

import math

import numpy as np

from inbounds.calibration.column import Mixture
from inbounds.calibration.plan import TablePlan
from inbounds.calibration.spacing import Interval
from inbounds.numerics.staircase import best_plateau, least_variance

_ROWS = 816  # of a table with random rounding between knots
_ENOUGH = 1.01  # times the least variance: a smaller table is preferred
_COARSE = 1.03  # times the least variance: a finer table would be clearly better
_NEARBY = 2  # lengths around that of the continuous staircase, one of which is the best
_HARDLY = 1.001


def lattice_variance(reach: int, length: int, epsilon: float) -> float:
    """Return the variance of the staircase with plateaus of some length, in squared places.

    Formula: docs/proofs/optimal.md, theorem 11.

    Examples
    --------
    >>> round(lattice_variance(1, 1, 1.0), 6)  # the two-sided geometric distribution
    1.841347
    """
    fall, gone = math.exp(-epsilon), -math.expm1(-epsilon)
    none, first, second = fall / gone, (fall / gone) ** 2, fall**2 * (1 + fall) / gone**3
    half = (length - 1) / 2
    once = reach * (reach + 1) / 2 + reach * half
    twice = reach * (reach + 1) * (2 * reach + 1) / 6 + reach * half * (reach + 1 + half)
    beside = none * twice + 2 * reach * first * once + reach**3 * second
    inside = length * (length**2 - 1) / 12
    return (inside + 2 * beside) / (length + 2 * reach * none)


def best_length(reach: int, epsilon: float) -> int:
    """Return the length of plateau with the least variance.

    Examples
    --------
    >>> best_length(1, 1.0), best_length(16, 1.0)
    (1, 13)
    """
    near = round(2 * reach * best_plateau(epsilon))
    lengths = range(max(1, near - _NEARBY), near + _NEARBY + 1)
    return min(lengths, key=lambda length: lattice_variance(reach, length, epsilon))


def relative_error(reach: int, epsilon: float, rounding: float) -> float:
    """Return the squared error in squared sensitivities.

    Proof: docs/proofs/optimal.md, theorem 11.

    Parameters
    ----------
    reach
        The number of places per sensitivity.
    epsilon
        The pure ε.
    rounding
        What the way from a value to its place adds to the variance, in squared places.
    """
    length = best_length(reach, epsilon)
    return (lattice_variance(reach, length, epsilon) + rounding) / reach**2


def best_reach(
    most: int, epsilon: float, rounding: float, *, enough: float = 1.003, largest: bool = False
) -> int:
    """Return the smallest or the largest reach up to `most` whose error is close to the least.

    Close is at most `enough` times the variance of the continuous staircase; if none is as close,
    those are that are hardly worse than the best of them.

    Examples
    --------
    >>> best_reach(20, 5.0, 1 / 12), best_reach(20, 5.0, 1 / 12, largest=True)
    (7, 20)
    """
    errors = [relative_error(reach, epsilon, rounding) for reach in range(1, most + 1)]
    highest = max(enough * least_variance(epsilon), _HARDLY * min(errors))
    close = [reach for reach, error in enumerate(errors, start=1) if error <= highest]
    return close[-1 if largest else 0]


def staircase(rows: int, reach: int, epsilon: float) -> Mixture:
    """Return the staircase on some rows; outputs are places, counted from the middle row.

    The mean output of a row is its place: outputs beyond the rows are the means of those that are
    joined. Proof: docs/proofs/optimal.md, theorem 11.

    Examples
    --------
    >>> noise = staircase(4, 2, 1.0)
    >>> noise.residual(1.0) < 1e-15
    True
    >>> (np.exp(-1.0 * noise.levels).T @ (noise.weights * noise.outputs)).round(12).tolist()
    [-1.5, -0.5, 0.5, 1.5]
    """
    length = best_length(reach, epsilon)
    row, first = np.arange(rows), np.arange(1 - length, rows)[:, None]
    apart = np.maximum(np.maximum(first - row, row - (first + length - 1)), 0)
    beyond = np.arange(1, reach + 1)[:, None]
    left = -(-(row + beyond) // reach) - 1  # levels of plateaus that end so far below the first row
    again = math.exp(-epsilon) / -math.expm1(-epsilon)  # for all that are joined
    half = (length - 1) / 2
    ends = -(beyond[:, 0] + half + reach * again) - (rows - 1) / 2
    weight = 1 / (length + 2 * reach * again)
    return Mixture(
        np.concatenate([left, -(-apart // reach), left[::-1, ::-1]]),
        np.concatenate(
            [
                np.full(size, weight * part)
                for size, part in ((reach, again), (len(first), 1.0), (reach, again))
            ]
        ),
        np.concatenate([ends, first[:, 0] + half - (rows - 1) / 2, -ends[::-1]]),
    )


def staircase_plan(interval: Interval, epsilon: float, rounding: float) -> TablePlan | None:
    """Return the staircase on as many knots as it needs, or None if they do not fit.

    Parameters
    ----------
    interval
        The box and the distance of neighbours.
    epsilon
        The pure ε.
    rounding
        What random rounding adds to the variance, in squared distances of knots.

    Returns
    -------
    TablePlan or None
        Its outputs are places, counted from the middle knot.
    """
    most = int(_ROWS * interval.ratio)
    if most < 1 or interval.all_are_neighbours:
        return None
    reach = best_reach(most, epsilon, rounding, enough=_ENOUGH)
    boundaries = interval.knots(reach)
    if boundaries is None:
        return None
    plan = TablePlan("knots", boundaries, reach, staircase(len(boundaries), reach, epsilon))
    coarse = relative_error(reach, epsilon, rounding) > _COARSE * least_variance(epsilon)
    return plan.marked_limited() if coarse else plan
