"""Coordinates of a box, their changes, and the concave functions maximised over changes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from inbounds._types import Floats
from inbounds.numerics import partition

_BLOCK = 1 << 14  # coordinates handled at a time, so that temporaries stay in cache

Slopes = Callable[[Floats, Floats], tuple[Floats, Floats]]


@dataclass(frozen=True, slots=True, eq=False)
class Coordinates:
    """Distinct coordinates of a box, their numbers, and the norm that bounds a change."""

    width: Floats
    cap: Floats
    count: Floats
    order: Literal[1, 2] | None
    radius: float


@dataclass(frozen=True, slots=True, eq=False)
class WorstChange:
    """A change c with (nearly) the largest privacy loss, and its multiplier.

    Proof: docs/proofs/box.md, theorem 3.
    """

    change: Floats
    multiplier: float


@dataclass(frozen=True, slots=True)
class Concave:
    """A concave function of one coordinate's change: its slopes and a guess for `slope = a γ`.

    Proof: docs/proofs/box.md, theorem 2.
    """

    slopes: Slopes
    guess: Callable[[Floats, Floats], Floats]


def _guess_loss(u: Floats, a: Floats) -> Floats:
    """Return a guess that is exact as u → 0 and as u → ∞."""
    q = u * u / (12 + u * u)
    return u / 2 * (1 + q) / (a + q)


def _guess_ratio(u: Floats, a: Floats) -> Floats:
    q = 12 / (12 + u * u)
    return u / 2 * q / (a + q)


LOSS = Concave(partition.loss_slopes, _guess_loss)
RATIO = Concave(partition.ratio_slopes, _guess_ratio)


def blocks(size: int) -> Iterator[slice]:
    """Yield slices that cut a long range into blocks, so that temporaries stay in cache."""
    for first in range(0, size, _BLOCK):
        yield slice(first, min(size, first + _BLOCK))


def inside(nu: float, low: float, high: float) -> float:
    """Keep Newton's proposal if it is inside the bracket, else halve (or double) the bracket."""
    if low < nu < high:
        return nu
    return (low + high) / 2 if np.isfinite(high) else 2 * max(low, 1e-300)
