"""Find the evidence behind a lower bound on error: column generation over all level functions.

A linear program chooses the best mixture of some columns (level functions with their outputs). Its
dual solution prices all level functions by dynamic programming, and those that violate it become
new columns, until none violates it by much. Plateaus alone would give the right optimum, but a dual
solution that only they accept, which can be far from a proof. Prices are also taken halfway to the
best dual solution so far, which makes the search short.

Nothing here has to be trusted: `limit_proof` checks what is found.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.optimize import linprog

from inbounds._types import Floats
from inbounds.calibration.level_function import least_sum
from inbounds.calibration.limit_lattice import Dual, ValueLattice, least_ratio

_ROUNDS = 5, 60  # fewest and most
_WORK = 900  # places times rounds
_PRICED = 61, 161  # fewest and most outputs at which level functions are priced
_OPTIONS: Any = {
    "primal_feasibility_tolerance": 1e-10,
    "dual_feasibility_tolerance": 1e-10,
    "maxiter": 4_000,  # steps and not seconds, so that a slow machine finds what a fast one does
    "presolve": False,  # finds nothing to remove in dense programs, and takes longest
}


class Search:
    """Column generation for one lattice; subclasses say what is minimised.

    Nothing that it finds has to be trusted: docs/proofs/limit.md, theorem 6.
    """

    def __init__(self, lattice: ValueLattice, tolerance: float) -> None:
        self.lattice, self.tolerance = lattice, tolerance
        self.best: Dual | None = None
        self.optimum = math.inf
        """The optimum over the columns so far: the error of a mechanism on the lattice."""
        self._columns = lattice.plateaus()
        self._outputs = self._first_outputs()

    def run(self) -> Dual | None:
        """Return the best dual solution that was found, or None if the solver gave up at once."""
        fewest, most = _ROUNDS
        for _ in range(max(fewest, min(most, _WORK // self.lattice.places.size))):
            dual = self._solve()
            if dual is None:
                break
            trials = [dual] if self.best is None else [dual, self._halfway(dual)]
            columns, outputs = zip(*(self._price(*trial) for trial in trials), strict=True)
            assert self.best is not None
            new = np.unique(np.column_stack([*map(np.concatenate, (columns, outputs))]), axis=0)
            if not new.size or self.best.bound >= self.optimum * (1 - self.tolerance):
                break
            self._columns = np.concatenate([self._columns, new[:, :-1]])
            self._outputs = np.concatenate([self._outputs, new[:, -1]])
        return self.best

    def _price(self, weights: Floats, slopes: Floats, values: Floats) -> tuple[Floats, Floats]:
        """Return the columns that a dual solution undercuts, and keep it if it is the best."""
        places = self.lattice.places
        fewest, most = _PRICED
        grid = np.linspace(
            0, self.largest_output(weights, slopes), min(max(fewest, places.size), most)
        )
        margin, columns = least_ratio(self.lattice, (weights, slopes, values), grid)
        lowest = float(margin.min(initial=0.0))
        total = values.sum() + lowest * weights.sum() + slopes @ places - weights @ places**2
        bound = float(total / weights.sum())
        if self.best is None or bound > self.best.bound:
            self.best = Dual(weights, slopes, values + lowest * weights, bound)
        columns = columns[margin < -1e-9 * abs(self.optimum)]
        return columns, columns @ slopes / (2 * (columns @ weights))

    def _halfway(self, dual: tuple[Floats, Floats, Floats]) -> tuple[Floats, Floats, Floats]:
        assert self.best is not None
        best = self.best.weights, self.best.slopes, self.best.values
        first, second, third = ((a + b) / 2 for a, b in zip(dual, best, strict=True))
        return first, second, third

    def largest_output(self, weights: Floats, slopes: Floats) -> float:
        """Return the largest output that can be of use."""
        return float(self.lattice.places[-1])

    def _first_outputs(self) -> Floats:
        raise NotImplementedError

    def _solve(self) -> tuple[Floats, Floats, Floats] | None:
        """Solve the program over the columns so far; return weights, slopes and values."""
        raise NotImplementedError

    def _folded(self, rows: Floats, sign: int = 1) -> Floats:
        """Return each column plus its mirror image, up to the middle."""
        return (rows + sign * rows[:, ::-1])[:, : self.lattice.half].T

    def _unfolded(self, prices: Floats, sign: int = 1) -> Floats:
        """Return prices of rows up to the middle as symmetric prices of all places."""
        full = np.zeros(self.lattice.places.size)
        full[: self.lattice.half] += prices / 2
        full[::-1][: self.lattice.half] += sign * prices / 2
        return full


class WeightedSearch(Search):
    """The least average error for given weights of the places.

    Only the first `free` places and their mirror images have values of their own; all places
    between them share one value. Such evidence can be stretched.
    """

    def __init__(
        self, lattice: ValueLattice, weights: Floats, tolerance: float, free: int | None = None
    ) -> None:
        self.weights = weights
        own = lattice.half if free is None else min(free, lattice.half)
        self._rows = np.minimum(np.arange(lattice.half), own)  # the row of each place
        super().__init__(lattice, tolerance)

    def _first_outputs(self) -> Floats:
        return self._columns @ (self.weights * self.lattice.places) / (self._columns @ self.weights)

    def _solve(self) -> tuple[Floats, Floats, Floats] | None:
        places = self.lattice.places
        errors = (self._columns * (places - self._outputs[:, None]) ** 2) @ self.weights
        scale = 1 / float(np.median(errors / self._columns.mean(axis=1)) + 1e-300)
        first = np.flatnonzero(np.diff(self._rows, prepend=-1))
        result = linprog(
            2 * errors * scale,
            A_eq=np.add.reduceat(self._folded(self._columns), first),
            b_eq=np.add.reduceat(np.ones(self.lattice.half), first),
            method="highs-ds",
            options=_OPTIONS,
        )
        if result.status != 0 or result.fun is None:
            return None
        values = self._unfolded(result.eqlin.marginals[self._rows] / scale)
        self.optimum = float(result.fun / scale / self.weights.sum())
        return self.weights, 2 * self.weights * places, values - self.weights * places**2


class WorstSearch(Search):
    """The least error in the worst place, by the weights of the places that are hardest."""

    def _first_outputs(self) -> Floats:
        outputs = self._columns @ self.lattice.places / self._columns.sum(axis=1)
        middles = (self._columns == 1) @ self.lattice.places / (self._columns == 1).sum(axis=1)
        self._columns = np.concatenate([self._columns] * 2)
        return np.concatenate([outputs, middles])

    def _solve(self) -> tuple[Floats, Floats, Floats] | None:
        places, half = self.lattice.places, self.lattice.half
        scale = 16 / places.size**2
        errors = self._columns * (places - self._outputs[:, None]) ** 2 * scale
        columns = self._columns.shape[0]
        result = linprog(
            np.append(np.zeros(columns), 1.0),
            A_eq=np.pad(self._folded(self._columns), ((0, 0), (0, 1))),
            b_eq=np.ones(half),
            A_ub=np.pad(self._folded(errors), ((0, 0), (0, 1)), constant_values=-1.0),
            b_ub=np.zeros(half),
            method="highs-ds",
            options=_OPTIONS,
        )
        if result.status != 0 or result.fun is None:
            return None
        self.optimum = float(result.fun / scale)
        weights = self._unfolded(np.maximum(-result.ineqlin.marginals, 0))
        if not weights.sum() > 0:
            return None
        values = self._unfolded(result.eqlin.marginals / scale)
        total = weights.sum() / places.size  # so that weights are 1 on average
        return weights / total, 2 * weights / total * places, (values - weights * places**2) / total


class UnbiasedSearch(Search):
    """The least average variance of unbiased outputs for given weights of the places."""

    def __init__(self, lattice: ValueLattice, weights: Floats, tolerance: float) -> None:
        self.weights = weights
        super().__init__(lattice, tolerance)

    def _first_outputs(self) -> Floats:
        reading = self.lattice.places[-1] / math.tanh(self.lattice.epsilon / 2)
        means = self._columns @ self.lattice.places / self._columns.sum(axis=1)
        factors = (0.0, 0.5, 1.0, 1.5, 3.0)
        outputs = [means, *(-factor * reading + 0 * means for factor in factors)]
        self._columns = np.concatenate([self._columns] * len(outputs))
        return np.concatenate(outputs)

    def _solve(self) -> tuple[Floats, Floats, Floats] | None:
        places, half = self.lattice.places, self.lattice.half
        squares = self._columns @ self.weights * self._outputs**2
        readings = self._columns * self._outputs[:, None]
        typical = (places[-1] / math.tanh(self.lattice.epsilon / 2)) ** 2
        penalty = np.full(2 * half, 100.0)  # for a bias, so that the program has a solution
        bias = np.hstack([np.eye(half), -np.eye(half)]) * places[-1]
        rows = [
            np.hstack([self._folded(self._columns), np.zeros((half, 2 * half))]),
            np.hstack([self._folded(readings, -1), bias]) / places[-1],
        ]
        result = linprog(
            np.concatenate([2 * squares / typical, penalty * places.size]),
            A_eq=np.concatenate(rows),
            b_eq=np.concatenate([np.ones(half), places[:half] / places[-1]]),
            method="highs-ds",
            options=_OPTIONS,
        )
        if result.status != 0 or result.fun is None:
            return None
        prices = result.eqlin.marginals * typical
        total = self.weights.sum()
        self.optimum = float((result.fun * typical - self.weights @ places**2) / total)
        slopes = self._unfolded(prices[half:] / places[-1], -1)
        return self.weights, slopes, self._unfolded(prices[:half])

    def largest_output(self, weights: Floats, slopes: Floats) -> float:
        """Return an output beyond which no level function has a smaller sum.

        Condition: docs/proofs/limit.md, theorem 5.
        """
        end = float(self.lattice.places[-1])
        while least_sum((2 * end * weights - slopes)[:, None], *self._steps)[0] < 0 and end < 1e12:
            end *= 1.25
        return end

    @property
    def _steps(self) -> tuple[int, float]:
        return self.lattice.reach, math.exp(self.lattice.epsilon)
