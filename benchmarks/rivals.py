"""What one would write without the library, to calibrate the same noise.

Everything here uses the textbook formula, differences of normal cdfs, and nothing of ours.
"""

import math
from collections.abc import Callable
from time import perf_counter

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr

Floats = NDArray[np.float64]
ThreeFloats = tuple[Floats, Floats, Floats]
Terms = Callable[[Floats, Floats, float], ThreeFloats]
"""Of (widths, changes, sigma): a concave function of each change, its slope, and how it bends."""


# --- one dimension ---


def algorithm_1(width: float, change: float, epsilon: float) -> float:
    """Chen and Hale's Algorithm 1 as printed. Returns its σ²."""
    numerator = (width + change / 2) * change
    shift = min(change, width / 2)

    def right_side(square: float) -> float:
        sigma = math.sqrt(square)
        mass = _cdf((width - shift) / sigma) - _cdf(-shift / sigma)
        log_delta_c = math.log(mass / (_cdf(width / sigma) - _cdf(0.0)))
        return numerator / (epsilon - log_delta_c)

    left = numerator / epsilon
    right = right_side(left)
    return _find_zero(right_side, left, right, (left + right) / 2)


def _cdf(x: float) -> float:
    return (1 + math.erf(x / math.sqrt(2))) / 2


def _find_zero(
    right_side: Callable[[float], float], left: float, right: float, interval: float
) -> float:
    """The loop of Algorithms 1 and 2: halve until the interval no longer shrinks."""
    square = math.nan
    while interval > right - left:
        interval = right - left
        square = (left + right) / 2
        value = right_side(square)
        if value >= square:
            left = square
        if value <= square:
            right = square
    return square


def brent(width: float, change: float, epsilon: float) -> float:
    """Brent's method on the exact epsilon in its textbook form. Returns σ²."""

    def excess(sigma: float) -> float:
        mass = ndtr((width - change) / sigma) - ndtr(-change / sigma)
        log_ratio = math.log(mass / (ndtr(width / sigma) - 0.5))
        return (width - change / 2) * change / sigma**2 - log_ratio - epsilon

    low = math.sqrt(change * width / 2 / epsilon)
    high = math.sqrt(change * (width - change / 2) / epsilon)
    # a little wider than proved, since the formula is rounded
    return float(brentq(excess, low * 0.99, high * 1.01, xtol=1e-300, rtol=1e-14)) ** 2


# --- many dimensions ---


def log_ratio_terms(widths: Floats, change: Floats, sigma: float) -> ThreeFloats:
    """Of each factor of the paper's ΔC: the logarithm, its slope, minus its second derivative."""
    left, right = change / sigma, (widths - change) / sigma
    mass = ndtr(right) - ndtr(-left)
    first = (_pdf(left) - _pdf(right)) / mass
    second = (left * _pdf(left) + right * _pdf(right)) / mass
    value = np.log(mass / (ndtr(widths / sigma) - 0.5))
    return value, first / sigma, (second + first**2) / sigma**2


def loss_terms(widths: Floats, change: Floats, sigma: float) -> ThreeFloats:
    """The same of each coordinate's exact loss, (w - c/2)c/σ² minus the logarithm above."""
    value, slope, bend = log_ratio_terms(widths, change, sigma)
    loss = (widths - change / 2) * change / sigma**2 - value
    return loss, (widths - change) / sigma**2 - slope, np.maximum(1 / sigma**2 - bend, 0.0)


def _pdf(x: Floats) -> Floats:
    return np.exp(-x * x / 2) / math.sqrt(2 * math.pi)


class WorstChange:
    """Maximise a sum of concave terms over 0 <= c <= caps, ‖c‖ <= radius, with cvxpy.

    The variables are the shares c / caps: in plain units Clarabel gives up on a thousand
    coordinates. After a call, `compile_seconds` and `solver_seconds` tell what cvxpy's own work
    took and what Clarabel's did; a problem with parameters is compiled in the constructor only.
    """

    def __init__(self, widths: Floats, caps: Floats, radius: float, terms: Terms) -> None:
        self.widths, self.caps, self.radius, self.terms = widths, caps, radius, terms
        self.compile_seconds = self.solver_seconds = 0.0
        self.forget()

    def forget(self) -> None:
        """Start the next search from equal changes instead of from the last solution."""
        self.change = np.minimum(self.radius / math.sqrt(self.widths.size), self.caps)

    def maximum(self, sigma: float) -> float:
        """Return the sum of the terms at the maximiser."""
        self.solver_seconds = 0.0
        self._search(sigma)
        return self._sum(sigma)

    def _search(self, sigma: float) -> None:
        raise NotImplementedError

    def _sum(self, sigma: float) -> float:
        return float(self.terms(self.widths, self.change, sigma)[0].sum())

    def _limits(self, share: cp.Variable) -> list[cp.Constraint]:
        norm = cp.norm(cp.multiply(self.caps / self.radius, share), 2)
        return [share >= 0, share <= 1, norm <= 1]

    def _compile(self, problem: cp.Problem) -> None:
        for parameter in problem.parameters():
            parameter.value = np.ones(parameter.shape)
        started = perf_counter()
        problem.get_problem_data(cp.CLARABEL)
        self.compile_seconds = perf_counter() - started

    def _solve(self, problem: cp.Problem, share: cp.Variable) -> None:
        problem.solve(solver=cp.CLARABEL)
        self.solver_seconds += problem.solver_stats.solve_time
        self.change = np.clip(share.value, 0.0, 1.0) * self.caps


class ByTangents(WorstChange):
    """One linear program with a cone: each term is replaced by the lowest of its tangents.

    cvxpy's parameters spare recompiling for another sigma, but their bookkeeping grows with the
    square of the tangents (10¹⁰ entries for 1000 coordinates), so only small problems have them.
    """

    tangents = 100

    def __init__(self, widths: Floats, caps: Floats, radius: float, terms: Terms) -> None:
        super().__init__(widths, caps, radius, terms)
        self._shares = (np.arange(self.tangents)[:, None] + 0.5) / self.tangents
        self._parameters: tuple[cp.Parameter, ...] = ()
        shape = self.tangents, widths.size
        if math.prod(shape) <= 1000:
            self._parameters = cp.Parameter(shape), cp.Parameter(shape), cp.Parameter(widths.size)
            self._problem, self._share = self._build(*self._parameters)
            self._compile(self._problem)

    def _build(self, *data: cp.Parameter | Floats) -> tuple[cp.Problem, cp.Variable]:
        slope, height, unit = data
        share, top = cp.Variable(self.caps.size), cp.Variable(self.caps.size)
        each_share, each_top = (
            np.ones((self.tangents, 1)) @ cp.reshape(x, (1, self.caps.size), order="C")
            for x in (share, top)
        )
        below = each_top <= cp.multiply(slope, each_share) + height
        return cp.Problem(cp.Maximize(unit @ top), [below, *self._limits(share)]), share

    def _search(self, sigma: float) -> None:
        value, slope, _ = self.terms(self.widths, self._shares * self.caps, sigma)
        unit = value.max(axis=0)
        slope = slope * self.caps / unit
        data = slope, value / unit - slope * self._shares, unit / unit.mean()
        if self._parameters:
            for parameter, numbers in zip(self._parameters, data, strict=True):
                parameter.value = numbers
            self._solve(self._problem, self._share)
            return
        problem, share = self._build(*data)
        self._solve(problem, share)
        self.compile_seconds = problem.compilation_time


class ByQuadratics(WorstChange):
    """Newton's method: one quadratic program with a cone for each step, compiled once.

    A step maximises the second-order expansion at the last point; the last solution is where the
    next call starts.
    """

    def __init__(self, widths: Floats, caps: Floats, radius: float, terms: Terms) -> None:
        super().__init__(widths, caps, radius, terms)
        size = widths.size
        self._slope, self._pull = cp.Parameter(size), cp.Parameter(size)
        self._root = cp.Parameter(size, nonneg=True)
        self._share = cp.Variable(size)
        bend = cp.sum_squares(cp.multiply(self._root, self._share) - self._pull)
        gain = cp.Maximize(self._slope @ self._share - bend / 2)
        self._problem = cp.Problem(gain, self._limits(self._share))
        self._compile(self._problem)

    def _search(self, sigma: float) -> None:
        best = self._sum(sigma)
        for _ in range(20):
            _, slope, bend = self.terms(self.widths, self.change, sigma)
            self._slope.value, self._root.value = slope * self.caps, np.sqrt(bend) * self.caps
            self._pull.value = np.sqrt(bend) * self.change
            self._solve(self._problem, self._share)
            last, best = best, self._sum(sigma)
            if abs(best - last) <= 1e-8 * best:
                break


def algorithm_2(
    widths: Floats, sensitivity: float, epsilon: float, log_delta_c: Callable[[float], float]
) -> float:
    """Chen and Hale's Algorithm 2 as printed, given a solver of its c* problem. Returns σ²."""
    numerator = (float(np.linalg.norm(widths)) + sensitivity / 2) * sensitivity

    def right_side(square: float) -> float:
        return numerator / (epsilon - log_delta_c(math.sqrt(square)))

    left = numerator / epsilon
    right = right_side(left)
    return _find_zero(right_side, left, right, (left + right) * 2)
