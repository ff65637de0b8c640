"""Columns of a table of probabilities: e^(-ε·level), one level per row of the table.

Levels are integers that differ by at most one between rows that are at most `reach` apart, so
probabilities that are multiples of a column satisfy ε. The columns here are plateaus: level 0 from
row p to row q, and one level more with every further `reach` rows on both sides.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inbounds._types import Floats
from inbounds.errors import CertificateError

Levels = NDArray[np.int64]

# 10⁻¹⁰ is the smallest tolerance that the solver accepts, 10⁻⁷ its own choice.
_METHODS: tuple[tuple[Any, float], ...] = (
    ("highs-ds", 1e-10),
    ("highs-ipm", 1e-10),
    ("highs-ds", 1e-7),
)
_MOST_STEPS = 4000  # of the solver; programs that it solves take fewer than 2000
_DROPPED = 1e-9  # the solver ignores smaller entries of a matrix
_LONGEST = 1.3  # in units of the reach: a longer plateau was never part of a best table


@dataclass(frozen=True, eq=False)
class Mixture:
    """Columns with weights and outputs: P(output j | row i) = weight j · e^(-ε·level j i).

    Outputs are positions: distances from the middle of the box in units of its width. Such a
    mixture satisfies ε: docs/proofs/optimal.md, theorem 1.
    """

    levels: Levels  # outputs × rows
    weights: Floats
    outputs: Floats

    def positive(self) -> "Mixture":
        """Return the mixture without the columns that have no weight."""
        kept = self.weights > 1e-13 * self.weights.max()
        return Mixture(self.levels[kept], self.weights[kept], self.outputs[kept])

    def mirrored(self) -> "Mixture":
        """Return the mixture beside its mirror image, equal columns joined."""
        return Mixture(
            np.concatenate([self.levels, self.levels[:, ::-1]]),
            np.concatenate([self.weights, self.weights]),
            np.concatenate([self.outputs, 0.0 - self.outputs]),  # no negative zeros
        ).joined()

    def joined(self) -> "Mixture":
        """Return the mixture with columns of the same levels and output joined to one."""
        keys = np.column_stack([self.levels, self.outputs.view(np.int64)])
        _, first, which = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        weights: Floats = np.bincount(which.reshape(-1), self.weights).astype(np.float64)
        return Mixture(self.levels[first], weights, self.outputs[first])

    def polished(self, epsilon: float, *, mirrored: bool = False) -> "Mixture":
        """Return the mixture with weights that sum to one in every row more precisely.

        Parameters
        ----------
        epsilon
            The pure ε.
        mirrored
            Whether the mirror image, which is to be added, counts for the sums.
        """
        columns = np.exp(-epsilon * self.levels).T
        columns = folded(columns) if mirrored else columns
        missing = 1 - columns @ self.weights
        weights = self.weights + _correction(columns, missing)
        better = np.abs(columns @ weights - 1).max() < np.abs(missing).max()
        return Mixture(self.levels, weights, self.outputs) if better and weights.min() > 0 else self

    def residual(self, epsilon: float) -> float:
        """Return how far from one the sum of a row is at most."""
        sums = np.exp(-epsilon * self.levels).T @ self.weights
        return float(np.abs(sums - 1).max())


def _correction(columns: Floats, missing: Floats) -> Floats:
    """Return the weights of columns that add what is missing, as nearly as possible."""
    result: Floats
    try:
        result = np.linalg.solve(columns, missing).astype(np.float64, copy=False)
    except np.linalg.LinAlgError:  # it is not square, or has no inverse
        result = np.linalg.lstsq(columns, missing)[0].astype(np.float64, copy=False)
    return result


def plateaus(rows: int, reach: int, lengths: tuple[int, int] | None = None) -> Levels:
    """Return the levels of every plateau that is not too long, one column of the table each.

    Their levels satisfy ε: docs/proofs/optimal.md, theorem 1.

    Parameters
    ----------
    rows, reach
        The number of rows, and the largest distance of rows of neighbours.
    lengths
        The shortest and the longest plateau away from the ends, or None for all.

    Examples
    --------
    >>> plateaus(3, 1).tolist()
    [[0, 1, 2], [0, 0, 1], [0, 0, 0], [1, 0, 1], [1, 0, 0], [2, 1, 0]]
    >>> len(plateaus(8, 3)), len(plateaus(8, 3, (2, 3)))
    (33, 21)
    """
    first, last = np.triu_indices(rows)
    length = last - first + 1
    kept = length < _LONGEST * reach + 3
    if lengths is not None:
        usual = (lengths[0] <= length) & (length <= lengths[1])
        kept &= usual | (first == 0) | (last == rows - 1)
    first, last, row = first[kept, None], last[kept, None], np.arange(rows)
    levels: Levels = -(-np.maximum(np.maximum(first - row, row - last), 0) // reach)
    return levels


def left_half(levels: Levels) -> Levels:
    """Return which plateaus lie in the left half or in the middle: one of each mirrored pair."""
    rows = levels.shape[1]
    first = (levels == 0).argmax(axis=1)
    last = rows - 1 - (levels[:, ::-1] == 0).argmax(axis=1)
    left: Levels = np.flatnonzero(first + last <= rows - 1)
    return left


def folded(matrix: Floats) -> Floats:
    """Return the upper half of a matrix beside whose columns stand their mirror images."""
    result: Floats = (matrix + matrix[::-1])[: (len(matrix) + 1) // 2]
    return result


def unfolded(prices: Floats, rows: int) -> Floats:
    """Return the prices of all rows, given those of a folded matrix."""
    full = np.zeros(rows)
    full[: prices.size] += prices
    full[::-1][: prices.size] += prices
    return full


def minimise(
    cost: Floats,
    equal: Floats,
    to: Floats,
    below: Floats | None = None,
    limits: Floats | None = None,
) -> tuple[Floats, float, Floats, Floats]:
    """Solve a linear program in nonnegative variables.

    The costs should be near 1, because the solver's tolerances are absolute. The solver stops after
    a number of steps and not after a time, so that a slow machine finds what a fast one does.

    Returns
    -------
    tuple
        The variables, the least cost, and the dual variables of the rows `equal` and `below`.

    Raises
    ------
    CertificateError
        If the solver finds no solution.
    """
    from scipy.optimize import linprog  # noqa: PLC0415 - takes longer to load than most tables

    for method, tolerance in _METHODS:
        solution: Any = linprog(
            cost,
            A_eq=_sparse(equal),
            b_eq=to,
            A_ub=None if below is None else _sparse(below),
            b_ub=limits,
            bounds=(0, None),
            method=method,
            options={
                "primal_feasibility_tolerance": tolerance,
                "dual_feasibility_tolerance": tolerance,
                "maxiter": _MOST_STEPS,
                "presolve": below is not None,  # otherwise it removes nothing, and takes longest
            },
        )
        if solution.status == 0:
            unpriced = np.zeros(0) if below is None else solution.ineqlin.marginals
            return solution.x, float(solution.fun), solution.eqlin.marginals, unpriced
    raise CertificateError("the linear program of the table has no solution in doubles.")


def _sparse(matrix: Floats) -> Any:
    """Return a matrix without the entries that the solver ignores."""
    from scipy.sparse import csc_array  # noqa: PLC0415 - comes with linprog

    return csc_array(np.where(np.abs(matrix) > _DROPPED, matrix, 0.0))
