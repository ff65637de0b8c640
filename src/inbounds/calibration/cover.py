"""The δ of a bounded Gaussian on an interval, bounded by cells that cover every position of a pair.

`interval_delta` bounds δ on each cell and divides the cells whose bound is too large, until all are
within `TIGHT` of the δ of an actual pair. `attained_delta` looks at pairs only: it is quick, and no
bound.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from inbounds._types import Floats
from inbounds.numerics import divergence

SMALLEST_DELTA = 1e-300
"""Added to every δ that is not exactly zero, to cover underflow."""

TIGHT = 1e-4
"""Relative distance of a bound to the worst pair found at which its cell is not divided."""

_EDGE = 10.0  # in units of sigma: further inside, the bounds of the interval hardly matter
_FRACTIONS = np.linspace(0.0, 1.0, 11)  # of the edge, or of half the interval
_INSIDE = np.linspace(0.0, 1.0, 12)[1:-1]
_ROUNDS, _MOST_PARTS, _MOST_CELLS = 16, 32, 1 << 14
_MORE = 1.2  # times as many parts as would be enough if the excess of a bound fell like its cell


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Positions of the left of two neighbours, H there (`divergence.mean_slope`), and their δ."""

    place: Floats
    slope: Floats
    delta: Floats

    @classmethod
    def at(cls, u: float, gamma: float, epsilon: float, place: Floats) -> Self:
        slope = divergence.mean_slope(u, gamma, place)
        return cls(place, slope, divergence.delta_of_cells(u, gamma, epsilon, place, slope))

    def __getitem__(self, chosen: slice | NDArray[np.bool_]) -> Self:
        return type(self)(self.place[chosen], self.slope[chosen], self.delta[chosen])

    def next_ones(self, last: NDArray[np.intp], ends: Self) -> Self:
        """Return the pair after each pair, which is one of `ends` for those at `last`."""

        def after(column: Floats, end: Floats) -> Floats:
            shifted = np.empty_like(column)
            shifted[:-1] = column[1:]
            shifted[last] = end  # including the very last
            return shifted

        return type(self)(
            after(self.place, ends.place),
            after(self.slope, ends.slope),
            after(self.delta, ends.delta),
        )


def interval_delta(
    width: float, change: float, sigma: float, epsilon: float, dominating: float = 1.0
) -> float:
    """Bound δ on an interval from above; `dominating` is a bound that is already known.

    The result covers every cell, including those that the search stopped dividing. Proof:
    docs/proofs/approximate.md, theorems 1, 3 and 8.

    Examples
    --------
    >>> interval_delta(10.0, 1.0, 2.75, 1.0)
    1.94...e-07
    """
    u, gamma = width / sigma, change / sigma
    edges = _Pairs.at(u, gamma, epsilon, _first_places((width - change) / sigma))
    low, high, attained, settled = edges[:-1], edges[1:], float(edges.delta.max()), 0.0
    for _ in range(_ROUNDS):
        enough = attained * (1 + TIGHT)
        if dominating <= enough:
            return dominating
        bound = _cell_bounds(u, gamma, epsilon, low, high, enough=enough)
        open_ = bound > enough
        settled = max(settled, float(bound[~open_].max(initial=0.0)))
        if not open_.any() or open_.sum() > _MOST_CELLS:
            break
        low, high = low[open_], high[open_]
        parts = _parts(bound[open_], np.maximum(low.delta, high.delta), enough)
        place, last = _divided(low.place, high.place, parts)
        low, ends = _Pairs.at(u, gamma, epsilon, place), high
        high = low.next_ones(last, ends)
        attained = max(attained, float(low.delta.max()))
    remaining = float(bound[open_].max(initial=0.0))
    return min(dominating, max(settled, remaining) + SMALLEST_DELTA)


def attained_delta(width: float, change: float, sigma: float, epsilon: float) -> float:
    """Return about the largest δ of an actual pair on an interval, without a proof.

    Examples
    --------
    >>> attained_delta(10.0, 1.0, 2.75, 1.0) <= interval_delta(10.0, 1.0, 2.75, 1.0)
    True
    """
    u, gamma = width / sigma, change / sigma
    pairs = _Pairs.at(u, gamma, epsilon, _first_places((width - change) / sigma))
    best = int(pairs.delta.argmax())
    low, high = pairs.place[max(best - 1, 0)], pairs.place[min(best + 1, pairs.place.size - 1)]
    near = _Pairs.at(u, gamma, epsilon, low + (high - low) * _INSIDE).delta
    best = int(near.argmax())
    peak = _peak(*near[best - 1 : best + 2].tolist()) if 0 < best < near.size - 1 else near[best]
    return max(float(pairs.delta.max()), float(peak))


def _peak(before: float, largest: float, after: float) -> float:
    """Return the maximum of the parabola through three values, the second of them the largest."""
    curvature = 2 * largest - before - after
    return largest + (after - before) ** 2 / (8 * curvature) if curvature > 0 else largest


def _first_places(last: float) -> Floats:
    """Return positions from 0 to `last`, close to each other where a bound of the box is near."""
    near = min(last / 2, _EDGE) * _FRACTIONS
    return np.concatenate([near[:-1] if last <= 2 * _EDGE else near, last - near[::-1]])


def _cell_bounds(
    u: float, gamma: float, epsilon: float, low: _Pairs, high: _Pairs, *, enough: float
) -> Floats:
    """Bound δ at all positions from `low` to `high`: by the second bound if the first is large.

    Both are proved in docs/proofs/approximate.md, theorem 3.
    """
    bound = divergence.delta_of_cells(u, gamma, epsilon, low.place, high.slope)
    rest = bound > enough
    first, last = low[rest], high[rest]
    centred = divergence.delta_of_centred_cells(
        u, gamma, epsilon, first.place, last.place, slope=first.slope
    )
    bound[rest] = np.minimum(bound[rest], centred)
    return bound


def _parts(bound: Floats, attained: Floats, enough: float) -> NDArray[np.intp]:
    """Return into how many parts to divide cells, so that the bounds on these may be `enough`."""
    excess = (bound - attained) / np.maximum(enough - attained, SMALLEST_DELTA)
    return np.clip(np.ceil(_MORE * excess), 2, _MOST_PARTS).astype(np.intp)


def _divided(low: Floats, high: Floats, parts: NDArray[np.intp]) -> tuple[Floats, NDArray[np.intp]]:
    """Return where the parts of the cells begin, and the index of the last part of each cell."""
    end = np.cumsum(parts)
    cell = np.repeat(np.arange(parts.size), parts)
    fraction = (np.arange(cell.size) - (end - parts)[cell]) / parts[cell]
    return np.minimum(low[cell] + (high - low)[cell] * fraction, high[cell]), end - 1
