"""How one release is divided between moments: the factors with the least error of what is asked.

The error is Σ vₖ (relative squared error of statistic k) = Σ wᵢ eᵢ², where eᵢ is the error of each
number of moment i. If noise of scale b is added to numbers that are multiplied by a factor fᵢ, eᵢ
is in proportion to b/fᵢ. Everything here is public, and any factors are valid: they decide
accuracy, never privacy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from inbounds import _check
from inbounds._types import Floats
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.frames.central.change import Neighbours
from inbounds.frames.central.moment import Moment
from inbounds.frames.central.statistic import Statistic

_LEAST = 2.0**-20  # of the largest importance and of the largest factor
_HALVINGS = 40
_OF_ROWS = (
    "weights of rows, such as those of a survey, are not offered, nor are weighted means; a "
    "weighted total is total() of a column that holds weight times value, with bounds for that "
    "product."
)


def check_weights(weights: Any, statistics: Sequence[Statistic]) -> tuple[float, ...]:
    """Return one positive number for each statistic, which are all 1 by default.

    Examples
    --------
    >>> from inbounds.frames.central.statistic import count, mean
    >>> check_weights([4, 1], [count(), mean("age", 0, 120)])
    (4.0, 1.0)
    """
    if weights is None:
        return (1.0,) * len(statistics)
    requirement = "one positive number for each of the statistics"
    is_one = not hasattr(weights, "__len__") or getattr(weights, "ndim", 1) == 0
    if isinstance(weights, str | bytes) or is_one:
        raise ArgumentTypeError.must_be("weights", f"a list: {requirement}", hint=_OF_ROWS)
    if len(weights) > len(statistics):  # they may be weights of rows, which are private
        raise ArgumentError.must("weights", f"have {requirement}, and no more", hint=_OF_ROWS)
    numbers = np.atleast_1d(_check.positive_vector(weights=weights))
    if numbers.size != len(statistics):
        got = f"{numbers.size} for {len(statistics)}"
        raise ArgumentError.must("weights", f"have {requirement}", got=got)
    return tuple(numbers.tolist())


def importances(
    moments: Sequence[Moment], statistics: Sequence[Statistic], weights: Sequence[float]
) -> Floats:
    """Return for each moment what the squared error of its numbers adds to the error of all.

    The numbers are derived in docs/proofs/statistics.md, theorem 14.

    Examples
    --------
    >>> from inbounds.frames.central.moment import RowCount
    >>> from inbounds.frames.central.statistic import count
    >>> importances([RowCount()], [count()], [3.0])
    array([3.])
    """
    found = np.zeros(len(moments))
    for statistic, weight in zip(statistics, weights, strict=True):
        for moment, influence in statistic.influences(moments).items():
            for i, released in enumerate(moments):
                found[i] += weight * influence if released.covers(moment) else 0.0
    return np.maximum(found, _LEAST * float(found.max(initial=0.0)))


def best_factors(
    importance: Floats, moments: Sequence[Moment], neighbours: Neighbours, norm: Literal[1, 2]
) -> list[float]:
    """Return the factors of the moments with the least error, of which the largest is 1.

    Proof: docs/proofs/statistics.md, theorem 8.

    Parameters
    ----------
    importance
        As `importances` returns it.
    moments, neighbours
        The moments, and the tables whose sums are compared.
    norm
        The norm of the change to which the noise is calibrated.

    Examples
    --------
    >>> from inbounds.frames.central.moment import FirstMoment, RowCount
    >>> one_more = dict(groups=1, adjacency="add-remove", sizes_public=False, rows=1, size=9)
    >>> asked = [RowCount(), FirstMoment("age", (0.0, 120.0))]
    >>> best_factors(np.array([4.0, 1.0]), asked, Neighbours(**one_more), 1)  # 2 : 1 in weight
    [1.0, 0.79...]
    """
    limits = [moment.limits for moment in moments]
    pairs = np.array([limit.l1 if norm == 1 else limit.squares for limit in limits]).T
    costs = [times * pairs[i] for i, times in neighbours.ways]
    # With z = fⁿ for the norm n, minimise Σ w z^(-2/n) while Σ cost·z <= 1 for every way.
    order = 2.0 / norm
    powers = _under(importance, _worst_mixture(importance, costs, order), order)
    factors = powers ** (1 / norm)
    return [float(factor) for factor in np.maximum(factors / factors.max(), _LEAST)]


def _under(importance: Floats, cost: Floats, order: float) -> Floats:
    """Return the z that minimises Σ w z^-order while Σ cost·z = 1."""
    powers = (importance / cost) ** (1 / (order + 1))
    return np.asarray(powers / (cost @ powers))


def _worst_mixture(importance: Floats, costs: Sequence[Floats], order: float) -> Floats:
    """Return the mixture of the costs under which the least error is largest.

    By duality, the best z for this mixture is the best under both costs. The least error is concave
    in the mixture, so it is largest where both costs of its z are equal, or at an end. Proof:
    docs/proofs/statistics.md, theorem 8.
    """
    if len(costs) == 1:
        return costs[0]
    first, second = costs
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        powers = _under(importance, _mixed(first, second, middle), order)
        low, high = (middle, high) if second @ powers > first @ powers else (low, middle)
    return _mixed(first, second, (low + high) / 2)


def _mixed(first: Floats, second: Floats, part: float) -> Floats:
    """Return a mixture of two costs; a moment that costs nothing is given a tiny cost."""
    mixture = (1 - part) * first + part * second
    return np.maximum(mixture, _LEAST**2 * float(mixture.max()))
