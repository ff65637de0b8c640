"""The pure epsilon of a bounded Gaussian, and the smallest scale that gives it.

`pure_loss` bounds epsilon from above at given scales; `smallest_sigma` inverts it by Newton's
method in (ln sigma, ln epsilon), where the slope is at most -2, and always ends on a scale whose
bound is at most the request.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from inbounds._types import Floats
from inbounds.calibration.concave import Coordinates, WorstChange, blocks
from inbounds.calibration.waterfill import gap, with_best_multiplier, worst_change
from inbounds.errors import ArgumentError
from inbounds.numerics import partition
from inbounds.numerics.doubles import power_of_two_below
from inbounds.numerics.partition import ROUNDING
from inbounds.numerics.search import newton_admissible, next_admissible
from inbounds.reach import Reach

_LARGE = _REPRESENTATIVES = (
    1 << 13
)  # coordinates: a problem with more has a sketch of at most these
_CLASSES = 1 << 7, 1 << 9  # of widths and caps
_STEPS = 60
_AIM, _ACCEPT = 6e-15, 3e-14  # relative distances below the request: the target, and when to stop


@dataclass(frozen=True, slots=True, eq=False)
class PureLoss:
    """An upper bound on epsilon, with the worst change and the multiplier that prove it."""

    epsilon: float
    change: Floats
    multiplier: float


def pure_loss(widths: Floats, reach: Reach, sigma: Floats) -> PureLoss:
    """Return a bound on the pure epsilon at `sigma`, above the exact value by rounding only.

    Proof: docs/proofs/box.md, theorem 1.
    """
    if widths.size == 1:
        width, change, scale = float(widths[0]), float(reach.caps[0]), float(sigma[0])
        return PureLoss(interval_epsilon(width, change, scale), reach.caps, 0.0)
    problem = _Problem.of(widths, reach, sigma)
    return problem.expand(problem.evaluate(1.0))


def smallest_sigma(
    widths: Floats, reach: Reach, shape: Floats, epsilon: float
) -> tuple[Floats, PureLoss]:
    """Return the smallest multiple of `shape` whose epsilon is at most `epsilon`."""
    if widths.size == 1:
        sigma, loss = smallest_interval_sigma(float(widths[0]), float(reach.caps[0]), epsilon)
        return np.array([sigma]), loss
    problem = _Problem.of(widths, reach, shape)
    smallest = problem.smallest_scale(epsilon)
    return smallest.scale * shape, problem.expand(smallest)


def smallest_interval_sigma(width: float, change: float, epsilon: float) -> tuple[float, PureLoss]:
    """Return the smallest sigma for one interval of any width, and its loss."""
    sigma, loss = interval_scale(_smallest_on_interval, width, change, epsilon)
    if not 0 < sigma < math.inf:
        requirement = "give a sigma that a double can represent"
        raise ArgumentError.must("epsilon", requirement, got=f"epsilon={epsilon!r}")
    return sigma, loss


def interval_scale(
    smallest: Callable[[float, float, float], tuple[float, float]],
    width: float,
    change: float,
    epsilon: float,
) -> tuple[float, PureLoss]:
    """Return the scale that `smallest` finds for one interval, and its loss.

    Lengths are in units of a power of two, so that squares stay in range and every quotient is the
    same double.
    """
    power = power_of_two_below(width)
    in_units, bound = smallest(width / power, change / power, epsilon)
    scale = in_units * power
    if scale / power != in_units:  # it was rounded, and no mechanism accepts such a scale
        bound = math.inf
    return scale, PureLoss(bound, np.array([change]), 0.0)


def interval_epsilon(width: float, change: float, sigma: float) -> float:
    """Bound the pure epsilon of one interval from above; `change` is at most `width`.

    Proofs: docs/proofs/interval.md, theorem 1, and docs/proofs/rounding.md, theorem 3.
    """
    return _rounded_up(partition.loss(width / sigma, change / sigma, (width - change) / sigma))


def interval_sigma(width: float, change: float, epsilon: float) -> float:
    """Return the smallest sigma for one interval; `change` is at most `width`."""
    return _smallest_on_interval(width, change, epsilon)[0]


def _smallest_on_interval(width: float, change: float, epsilon: float) -> tuple[float, float]:
    """Return the smallest sigma for one interval, and its `interval_epsilon`.

    Proof: docs/proofs/interval.md, theorems 4 to 6.
    """
    rest = width - change

    def evaluate(sigma: float) -> tuple[float, float]:
        loss, steepness = partition.loss_and_steepness(width / sigma, change / sigma, rest / sigma)
        return _rounded_up(loss), -2 - min(2.0, steepness / loss)

    start = width * math.sqrt(_variance_guess(change / width, epsilon))
    return newton_admissible(evaluate, start, epsilon)


@dataclass(frozen=True, slots=True, eq=False)
class _Evaluation:
    """The bound `epsilon` at one scale; `slope` is d ln ε / d ln σ."""

    scale: float
    epsilon: float
    slope: float
    worst: WorstChange


@dataclass(frozen=True, slots=True, eq=False)
class _Problem:
    """A box, what a neighbour may change, and the relative noise `shape` of each coordinate.

    Equal coordinates are kept once, with their number, so that a million equal widths take no more
    time than one. `sketch` is a small problem close to a large one, used for first guesses only.
    """

    coordinates: Coordinates
    shape: Floats
    group: NDArray[np.intp]  # of each original coordinate
    sketch: _Problem | None

    @classmethod
    def of(cls, widths: Floats, reach: Reach, shape: Floats) -> _Problem:
        """Group equal coordinates; if there are more than a few thousand groups, sketch them."""
        group = np.empty(widths.size, np.intp)
        order = np.argsort(widths)
        width = widths[order]
        if np.diff(width).all():  # no two are equal
            cap, scale, count = reach.caps[order], shape[order], np.ones(widths.size)
            group[order] = np.arange(widths.size)
        else:
            keys = np.stack([widths, reach.caps, shape])
            order = np.lexsort(keys[::-1])
            keys = keys[:, order]
            new = np.concatenate([[True], (np.diff(keys) != 0).any(axis=0)])
            first = np.flatnonzero(new)
            count = np.diff(np.append(first, widths.size)).astype(float)
            group[order] = np.cumsum(new) - 1
            width, cap, scale = np.ascontiguousarray(keys[:, first])
        coordinates = Coordinates(width, cap, count, reach.order, reach.radius)
        return cls(coordinates, scale, group, _sketch(coordinates, scale))

    def expand(self, at: _Evaluation) -> PureLoss:
        """Return the loss with one change per original coordinate, in place of one per group."""
        return PureLoss(at.epsilon, at.worst.change[self.group], at.worst.multiplier)

    def evaluate(self, scale: float) -> _Evaluation:
        """Bound epsilon from above at sigma = scale * shape; nothing else affects the result.

        Proofs: docs/proofs/box.md, theorem 4, and docs/proofs/rounding.md, theorem 2.
        """
        if self.coordinates.width.size == 1:
            return self._evaluate_one(scale)
        start = None if self.sketch is None else self.sketch.evaluate(scale).worst.multiplier
        sigma = scale * self.shape
        worst = worst_change(self.coordinates, sigma, start)
        width, count = self.coordinates.width, self.coordinates.count
        slope, loss, steepness = np.empty_like(width), np.empty_like(width), 0.0
        for i in blocks(width.size):
            u, gamma = width[i] / sigma[i], worst.change[i] / sigma[i]
            loss[i], steep = partition.losses(u, gamma, (width[i] - worst.change[i]) / sigma[i])
            steepness += float(np.sum(count[i] * steep))
            if self.coordinates.order is not None:
                slope[i] = partition.loss_slopes(u, gamma)[0] / sigma[i]
        worst = with_best_multiplier(self.coordinates, worst, slope)
        total = float(np.sum(count * loss)) + gap(self.coordinates, worst, slope)
        return _Evaluation(scale, _rounded_up(total), -2 - steepness / total, worst)

    def _evaluate_one(self, scale: float) -> _Evaluation:
        # Equal coordinates change equally: docs/proofs/box.md, theorem 3.
        # The factor in `single` covers all rounding: docs/proofs/rounding.md, theorem 3.
        worst = worst_change(self.coordinates, scale * self.shape)
        width, change = float(self.coordinates.width[0]), float(worst.change[0])
        single = interval_epsilon(width, change, scale * float(self.shape[0]))
        total = math.nextafter(float(self.coordinates.count[0]) * single, math.inf)
        return _Evaluation(scale, total, -2.0, worst)

    def smallest_scale(self, epsilon: float) -> _Evaluation:
        """Return the smallest scale whose bound is at most `epsilon`, to within 6e-14.

        Proof: docs/proofs/box.md, theorem 5.
        """
        if self.coordinates.width.size == 1:
            return self._smallest_of_one(epsilon)
        scale = self._first_guess(epsilon)
        for _ in range(_STEPS):
            at = self.evaluate(scale)
            error = math.log(at.epsilon / epsilon) if at.epsilon < math.inf else 700.0
            if at.epsilon <= epsilon and error >= -_ACCEPT:
                return at
            scale *= math.exp(min(50.0, max(-50.0, -(error + _AIM) / at.slope)))
        return self._increased(scale, epsilon, 1e-13)  # rounding errors exceed _ACCEPT

    def _smallest_of_one(self, epsilon: float) -> _Evaluation:
        group = self.coordinates
        change = float(worst_change(group, self.shape).change[0])
        sigma = interval_sigma(float(group.width[0]), change, epsilon / float(group.count[0]))
        return self._increased(sigma / float(self.shape[0]), epsilon, 2.0**-52)

    def _increased(self, scale: float, epsilon: float, step: float) -> _Evaluation:
        evaluate = lru_cache(maxsize=1)(self.evaluate)
        scale = next_admissible(scale, lambda scale: evaluate(scale).epsilon <= epsilon, step=step)
        return evaluate(scale)

    def _first_guess(self, epsilon: float) -> float:
        if self.sketch is not None:
            return self.sketch.smallest_scale(epsilon).scale
        groups = self.coordinates
        weight = groups.width / self.shape**2
        linear = float(groups.count @ (groups.cap * weight))
        if groups.order == 1:
            linear = min(linear, groups.radius * float(weight.max()))
        elif groups.order == 2:
            linear = min(linear, groups.radius * math.sqrt(float(groups.count @ weight**2)))
        return math.sqrt(0.7 * linear / epsilon)


def split_by_width(widths: Floats, caps: Floats, epsilon: float) -> Floats:
    """Return scales that split epsilon among coordinates bounded one by one.

    Each coordinate gets a fraction of epsilon in proportion to √K, K = d(1 - d/2), where d is its
    cap in units of its width. For low noise this minimises the sum of squares of the noise relative
    to the widths (docs/proofs/box.md, theorem 6). Newton's method converges from every start
    (docs/proofs/interval.md, theorem 6).
    """
    change = caps / widths
    root = np.sqrt(change * (1 - change / 2))
    part = epsilon * root / root.sum()
    sigma = np.sqrt(0.7 * change / part)
    for i in blocks(widths.size):
        for _ in range(_STEPS):
            sizes = 1 / sigma[i], change[i] / sigma[i], (1 - change[i]) / sigma[i]
            loss, steepness = partition.losses(*sizes)
            error = np.log(loss / part[i]) + ROUNDING
            sigma[i] *= np.exp((error + _AIM) / (2 + steepness / loss))
            if np.abs(error).max() < 1e-9:  # the step just taken squares the error
                break
    result: Floats = sigma * widths
    return result


def _variance_guess(change: float, epsilon: float) -> float:
    """Return σ² on [0, 1] within 4 %, from σ²ε ≈ c/2 + ½c(1-c)/(12σ²+1), a quadratic in σ².

    The limits for σ → ∞ and σ → 0 are exact: docs/proofs/interval.md, theorem 3.
    """
    load = change * (2 - change)
    middle = epsilon - 6 * change
    root = math.hypot(middle, math.sqrt(24 * epsilon * load))
    return load / (middle + root) if middle > 0 else (root - middle) / (24 * epsilon)


def _sketch(coordinates: Coordinates, shape: Floats) -> _Problem | None:
    """Return a problem in which the means of similar coordinates replace them.

    Coordinates are similar in their widths, and then in their caps, as fractions of the widths.
    """
    size = coordinates.width.size
    if size <= _LARGE:
        return None
    representatives = min(_REPRESENTATIVES, size // 4)
    width_class = np.arange(size) * _CLASSES[0] // size
    cap_class = np.minimum(coordinates.cap / coordinates.width, 1.0) * (_CLASSES[1] - 1)
    similar = width_class * _CLASSES[1] + cap_class.astype(np.intp)
    order = np.argsort(similar.astype(np.uint16), kind="stable")  # by counting, so it is fast
    runs = np.linspace(0, size, representatives + 1).astype(np.intp)[:-1]
    weight = coordinates.count[order]
    count = np.add.reduceat(weight, runs)
    width, cap, scale = (
        np.add.reduceat(side[order] * weight, runs) / count
        for side in (coordinates.width, coordinates.cap, shape)
    )
    means = Coordinates(width, cap, count, coordinates.order, coordinates.radius)
    return _Problem(means, scale, np.arange(representatives), None)


def _rounded_up(total: float) -> float:
    """Return a number that covers every rounding error of a positive sum.

    Proof: docs/proofs/rounding.md, theorem 3.
    """
    return math.nextafter(total * (1 + ROUNDING), math.inf)
