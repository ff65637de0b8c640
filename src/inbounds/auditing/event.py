"""Events that tell two distributions of outputs apart, and what counts of them prove.

If an event has probability P(E) for one value and Q(E) for a neighbouring one, (ε, δ)-privacy
requires P(E) <= e^ε Q(E) + δ. Counts bound both probabilities, for any distributions, and so ε.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainccinv, betaincinv, ndtr, ndtri

from inbounds._check import format_numbers
from inbounds._types import Floats

Weights = tuple[float, ...]
Kind = Literal["below", "above", "near"]
KINDS: tuple[Kind, ...] = ("below", "above", "near")
_THRESHOLDS = 300  # tried for each kind
_ROUNDING = 1e-9  # covers the error of the inverse beta function, which is far smaller
_ALONE = 8  # coordinates that are tried alone, at most
_CORRELATED = 500  # coordinates whose covariance is computed, at most
_RIDGE = 1e-9  # keeps covariances invertible where noise is shared
_SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")
_SEARCH = 3.0  # standard errors by which the best of many events looks better than it is


@dataclass(frozen=True, slots=True)
class Event:
    """A set of outputs: those up to a threshold, from a threshold on, or near a value.

    Which of them are best: docs/proofs/audit.md, theorem 3.

    Parameters
    ----------
    kind
        ``"below"``: at most `threshold`. ``"above"``: at least `threshold`. ``"near"``: at most
        `threshold` away from `centre`.
    threshold, centre
        Where the event ends; `centre` matters only for ``"near"``.
    weights
        For outputs of several coordinates: the event is about their sum with these weights.

    Examples
    --------
    >>> event = Event("below", 0.25)
    >>> event.holds(np.array([0.1, 0.25, 0.3])).tolist(), str(event)
    ([True, True, False], 'output ≤ 0.25')
    """

    kind: Kind
    threshold: float
    centre: float = 0.0
    weights: tuple[float, ...] | None = None

    def read(self, outputs: NDArray[Any]) -> Floats:
        """Return the number of each output that decides whether it is in the event."""
        return project(outputs, self.weights)

    def holds(self, outputs: NDArray[Any]) -> NDArray[np.bool_]:
        """Return whether each output is in the event."""
        limit = -self.threshold if self.kind == "above" else self.threshold
        return np.asarray(_score(self.kind, self.read(outputs), self.centre) <= limit)

    def __str__(self) -> str:
        name = "output" if self.weights is None else f"output·{format_numbers(self.weights)}"
        if self.kind == "near":
            return f"|{name} - {self.centre:.6g}| ≤ {self.threshold:.6g}"
        return f"{name} {'≤' if self.kind == 'below' else '≥'} {self.threshold:.6g}"


def project(outputs: NDArray[Any], weights: tuple[float, ...] | None) -> Floats:
    """Return the weighted sums of the outputs' coordinates; without weights, the outputs.

    Examples
    --------
    >>> project(np.array([[1.0, 2.0]]), (1.0, 10.0)).tolist()
    [21.0]
    """
    numbers = np.asarray(outputs, dtype=float)
    # Not a matrix product: its rounding may depend on how many rows there are.
    return numbers if weights is None else (numbers * weights).sum(axis=-1)


def readings(first: Floats, second: Floats, direction: tuple[float, ...]) -> list[Weights]:
    """Return the weights of sums by which two samples of several coordinates are compared.

    They are a direction, each coordinate alone (of many, those that differ most), and the weights
    that tell the samples apart best if the noise is normal, even if it is correlated (Fisher).
    Proof: docs/proofs/audit.md, theorem 3.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> first, second = rng.normal(size=(2, 1000, 2)) + [[[0, 0]], [[0, 3]]]
    >>> [tuple(np.round(weights, 1).tolist()) for weights in readings(first, second, (1.0, 1.0))]
    [(1.0, 1.0), (1.0, 0.0), (0.0, 1.0), (-0.0, -1.0)]
    """
    size = first.shape[-1]
    axes = np.arange(size)
    if size > _ALONE:
        axes = np.sort(np.argsort(-_distances(first, second), kind="stable")[:_ALONE])
    alone = [tuple(np.eye(1, size, int(axis))[0].tolist()) for axis in axes]
    fisher = _fisher(first, second) if size <= _CORRELATED else None
    return [direction, *alone, *([] if fisher is None else [fisher])]


def _distances(first: Floats, second: Floats) -> Floats:
    """Return the Kolmogorov–Smirnov distance between the samples, for each coordinate."""
    count = len(first)
    fractions = np.arange(1, count + 1) / count
    distances = []
    for ours, theirs in zip(np.sort(first, axis=0).T, np.sort(second, axis=0).T, strict=True):
        below, until = (np.searchsorted(theirs, ours, side=side) / count for side in _SIDES)
        distances.append(max(np.max(below - fractions + 1 / count), np.max(fractions - until)))
    return np.array(distances)


def _fisher(first: Floats, second: Floats) -> Weights | None:
    """Return the inverse covariance times the difference of means, None if it is not finite."""
    with np.errstate(all="ignore"):
        shift = first.mean(axis=0) - second.mean(axis=0)
        deviations = np.concatenate([first - first.mean(axis=0), second - second.mean(axis=0)])
        spread = deviations.std(axis=0)
        spread = np.where(spread > 0, spread, np.abs(shift) + (shift == 0))
        scaled = deviations / spread
        covariance = scaled.T @ scaled / len(deviations) + _RIDGE * np.eye(shift.size)
        if not (np.isfinite(covariance).all() and np.isfinite(shift).all() and shift.any()):
            return None
        weights = np.linalg.solve(covariance, shift / spread) / spread
        weights /= np.abs(weights).max()
    return tuple(weights.tolist()) if np.isfinite(weights).all() else None


def epsilon_lower_bound(
    first: Any, second: Any, trials: int, *, confidence: float, delta: float
) -> Any:
    """Return a lower bound on epsilon, at a confidence, from counts of an event.

    Proof: docs/proofs/audit.md, theorem 1.

    Parameters
    ----------
    first, second
        How many of `trials` independent outputs for each value were in the event.
    confidence
        The bound holds with at least this probability. Half of the rest goes to each count.
    delta
        The delta of (ε, δ)-privacy; zero for pure epsilon.

    Examples
    --------
    >>> round(epsilon_lower_bound(600, 200, 1000, confidence=0.95, delta=0.0), 3)  # ln 3 = 1.099
    0.922
    """
    miss = (1 - confidence) / 2
    low = chance_lower_bound(first, trials, miss) - delta
    high = chance_upper_bound(second, trials, miss)
    bound = np.log(np.maximum(low / high, 1.0))  # a bound below zero would say nothing
    return bound if bound.ndim else float(bound)


def chance_lower_bound(count: Any, trials: int, miss: float) -> Floats:
    """Return a lower bound on an event's probability that is wrong with probability `miss`.

    This is Clopper and Pearson's bound: at it, `count` or more hits have probability `miss`.
    Proof: docs/proofs/audit.md, theorem 1.

    Examples
    --------
    >>> round(float(chance_lower_bound(1, 1, 0.05)), 6)
    0.05
    """
    hits = np.asarray(count, dtype=float)
    clipped = np.maximum(hits, 1)
    least = betaincinv(clipped, trials - clipped + 1, miss) * (1 - _ROUNDING)
    return np.where(hits > 0, least, 0.0)


def chance_upper_bound(count: Any, trials: int, miss: float) -> Floats:
    """Return an upper bound on an event's probability that is wrong with probability `miss`.

    Proof: docs/proofs/audit.md, theorem 1.

    Examples
    --------
    >>> round(float(chance_upper_bound(0, 1, 0.05)), 6)
    0.95
    """
    hits = np.asarray(count, dtype=float)
    clipped = np.minimum(hits, trials - 1)
    most = betainccinv(clipped + 1, trials - clipped, miss) * (1 + _ROUNDING)
    return np.where(hits < trials, np.minimum(most, 1.0), 1.0)


def caution(confidence: float, explored: int, tested: int) -> float:
    """Return the confidence at which to choose an event by `explored` outputs, to test `tested`.

    It allows for chance as the test will, and for the luck of the best of many events. It need not
    be exact: it only decides which event is tested.

    Examples
    --------
    >>> caution(0.999, 100, 400) < caution(0.999, 400, 400)
    True
    """
    errors = -float(ndtri((1 - confidence) / 2)) * float(np.sqrt(explored / tested))
    return 1 - 2 * float(ndtr(-errors - _SEARCH))


def best_event(
    first: Floats,
    second: Floats,
    *,
    centre: float,
    confidence: float,
    delta: float,
    weights: tuple[float, ...] | None = None,
) -> tuple[float, Event]:
    """Return the largest lower bound on epsilon and its event, from samples of equal size.

    The bound has no confidence, as the event was chosen to make it large: count the event again in
    fresh outputs, which any choice allows (docs/proofs/audit.md, theorem 1).

    Examples
    --------
    >>> bound, event = best_event(
    ...     np.linspace(0, 1, 1000),
    ...     np.linspace(0.5, 1.5, 1000),
    ...     centre=0.0,
    ...     confidence=0.95,
    ...     delta=0,
    ... )
    >>> event.kind, round(event.threshold, 2)
    ('below', 0.5)
    """
    size = first.size
    ranks = np.unique(np.geomspace(1, size, _THRESHOLDS).astype(np.int64)) - 1
    # Sorted once; every score then consists of a few sorted runs, which a stable sort merges.
    first, second = np.sort(first), np.sort(second)
    candidates = []
    for kind in KINDS:
        scores, others = (
            np.sort(_score(kind, side, centre), kind="stable") for side in (first, second)
        )
        limits = scores[ranks]
        hits, misses = (np.searchsorted(side, limits, side="right") for side in (scores, others))
        bounds = epsilon_lower_bound(hits, misses, size, confidence=confidence, delta=delta)
        best = int(np.argmax(bounds))
        limit = float(limits[best])
        threshold = -limit if kind == "above" else limit
        candidates.append(
            (
                float(bounds[best]),
                Event(kind, threshold, centre if kind == "near" else 0.0, weights),
            )
        )
    return max(candidates, key=lambda candidate: candidate[0])


def _score(kind: Kind, numbers: Floats, centre: float) -> Floats:
    """Return how far each number is from the middle of the event."""
    if kind == "near":
        return np.abs(numbers - centre)
    return numbers if kind == "below" else -numbers
