"""The pairs of neighbouring values that an audit tries.

Any pair of neighbours gives a valid audit. Truncated or clamped noise hides those at the ends and
in the middle of the box worst.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from inbounds import _check
from inbounds._types import Floats
from inbounds.domain import Box
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.reach import Reach
from inbounds.sensitivity import Sensitivity

Pair = tuple[Floats, Floats]
_ROOM = 1 + 1e-9  # b - (b - c) is c only up to rounding
RANDOM = 6  # pairs that are added to those at the ends and in the middle
AXES = 16  # coordinates that are changed alone, at most
_SEED = 2026


def candidates(box: Box, change: Floats) -> list[Pair]:
    """Return pairs that differ by `change`: at the lower end, at the upper end, in the middle.

    Why these: docs/proofs/audit.md, theorem 4.

    Examples
    --------
    >>> [(float(s), float(t)) for s, t in candidates(Box(0, 8), np.array([2.0]))]
    [(0.0, 2.0), (6.0, 8.0), (3.0, 5.0)]
    """
    lower, upper = np.asarray(box.lower), np.asarray(box.upper)
    if np.allclose(change, box.widths, rtol=1e-9, atol=0):
        return [(lower, upper)]
    change = change.reshape(lower.shape)
    middle = lower + (upper - lower - change) / 2
    return [(lower, lower + change), (upper - change, upper), (middle, middle + change)]


def random_pairs(box: Box, reach: Reach) -> list[Pair]:
    """Return random pairs in the box, some as far apart as is allowed, the others closer.

    They are random, so that a mechanism cannot be private only where an audit looks, but drawn from
    a public seed, so that an audit can be repeated: docs/proofs/audit.md, theorem 4.

    Examples
    --------
    >>> from inbounds.sensitivity import L2
    >>> pairs = random_pairs(Box(0, 8), L2(2).within(np.array([8.0])))
    >>> len(pairs), all(0 <= s <= 8 and 0 <= t <= 8 and abs(t - s) <= 2 for s, t in pairs)
    (6, True)
    """
    rng = np.random.default_rng(_SEED)
    pairs: list[Pair] = []
    for part in (*rng.uniform(0.05, 1.0, RANDOM // 2), *[1.0] * (RANDOM - RANDOM // 2)):
        signs = rng.choice([-1.0, 1.0], box.dimension)
        if abs(signs.sum()) == box.dimension > 1:  # the diagonal is among the other pairs
            signs[rng.integers(box.dimension)] *= -1
        spread = box.widths * rng.uniform(0.2, 1.0, box.dimension)
        pairs.append(_placed(box, part * signs * reach.along(spread), rng))
    return pairs


def axis_pairs(box: Box, reach: Reach) -> list[Pair]:
    """Return pairs that differ as far as allowed in one coordinate, for at most `AXES` of them.

    Why these: docs/proofs/audit.md, theorem 4.

    Examples
    --------
    >>> from inbounds.sensitivity import L2
    >>> pairs = axis_pairs(Box([0, 0], [8, 8]), L2(2).within(np.array([8.0, 8.0])))
    >>> [abs(t - s).round(6).tolist() for s, t in pairs]
    [[2.0, 0.0], [0.0, 2.0]]
    """
    rng = np.random.default_rng(_SEED)
    axes = np.sort(rng.permutation(box.dimension)[:AXES])
    farthest = np.minimum(reach.caps, reach.radius)
    return [_placed(box, np.eye(1, box.dimension, axis)[0] * farthest, rng) for axis in axes]


def _placed(box: Box, change: Floats, rng: np.random.Generator) -> Pair:
    """Return two values that differ by `change`, at a random place in the box."""
    lower, upper = np.asarray(box.lower), np.asarray(box.upper)
    change = change.reshape(lower.shape)
    low, high = lower - np.minimum(change, 0), upper - np.maximum(change, 0)
    start = np.clip(low + rng.uniform(size=lower.shape) * (high - low), lower, upper)
    return start, np.clip(start + change, lower, upper)


def check_pair(pair: Any, box: Box | None, sensitivity: Sensitivity | None) -> Pair:
    """Return two values as arrays, and refuse them if they are not neighbours in the box.

    Examples
    --------
    >>> [float(value) for value in check_pair((0, 1), Box(0, 2), None)]
    [0.0, 1.0]
    """
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise ArgumentTypeError.must_be("pair", "two values")
    first, second = (np.asarray(_check.finite_vector(pair=value)) for value in pair)
    if first.shape != second.shape or (first == second).all():
        raise ArgumentError.must_be("pair", "two different values of the same shape")
    if box is not None:
        for value in (first, second):
            box.check_shape(value, "pair")
            if value.shape != np.shape(box.lower) or (box.clamp(value) != value).any():
                raise ArgumentError.must("pair", f"lie in {box!r}")
    if sensitivity is not None:
        change = np.atleast_1d(np.abs(first - second))
        reach = sensitivity.limits(change.size)
        size = 0.0 if reach.order is None else float(np.linalg.norm(change, reach.order))
        if (change > reach.caps * _ROOM).any() or size > reach.radius * _ROOM:
            raise ArgumentError.must("pair", f"differ by at most {sensitivity!r}")
    return first, second
