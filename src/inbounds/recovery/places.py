"""True values that any distribution is nearly a mixture of, as far as outputs can tell.

Between two neighbouring points, the probability of every cell of outputs is nearly a straight line
in the true value, so a value there has the outputs of a mixture of these points. For tables and
for windows it is exactly a straight line, if the points are chosen as here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inbounds._types import Floats
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.mechanisms.window import Window
from inbounds.recovery.cells import Cells

_FEWEST, _MOST = 64, 128  # parts that the box is divided into
_PER_SPREAD = 16  # points that the noise spreads over, if that is possible
_LEAST_PER_SPREAD = 4  # with fewer, a value between two points is no mixture of them


@dataclass(frozen=True, eq=False)
class Places:
    """Points, the probability of every cell of outputs for each, and which cells were merged.

    Attributes
    ----------
    points
        The true values, increasing.
    response
        One row per point and one column per cell of outputs.
    complete
        Whether there are no other true values.
    cell
        For each cell that outputs were counted in, the one of `response` that it is part of.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.Optimal(ib.Box(0, 1), 1, epsilon=1.0, objective="unbiased")
    >>> cells = Cells.of(m, 64)
    >>> places = Places.of(m, cells)
    >>> right = np.searchsorted(places.points, 0.4321)
    >>> low, high = places.points[right - 1 : right + 1]
    >>> part = (0.4321 - low) / (high - low)
    >>> mixed = (1 - part) * places.response[right - 1] + part * places.response[right]
    >>> drawn = cells.probabilities(m, np.array([0.4321])).ravel()
    >>> bool(np.abs(mixed - places.merged(drawn)).max() < 1e-9)
    True
    """

    points: Floats
    response: Floats
    complete: bool
    cell: NDArray[np.intp]

    @classmethod
    def of(cls, mechanism: Mechanism, cells: Cells) -> Places:
        """Choose the points for a mechanism on an interval whose outputs are counted in `cells`."""
        if cells.points is not None:
            response = cells.probabilities(mechanism, cells.points)
            return cls(cells.points, response, True, np.arange(len(cells.cuts) + 1))
        coarse = cells
        if mechanism.domain.steps[0] is None:
            coarse = _coarse(cells)
        points = _points(mechanism, coarse)
        ends = np.append(cells.cuts, np.inf)
        cell = np.searchsorted(coarse.cuts, ends)
        return cls(points, coarse.probabilities(mechanism, points), False, cell)

    def merged(self, counts: Floats) -> Floats:
        """Return the number of outputs in each cell of `response`."""
        return np.asarray(np.bincount(self.cell, counts, self.response.shape[1]))


def are_enough(mechanism: Mechanism, cells: Cells) -> bool:
    """Return whether points can be close enough for the noise.

    Examples
    --------
    >>> import inbounds as ib
    >>> box = ib.Box(0, 1)
    >>> noises = [ib.ClampedLaplace(box, 1, scale=scale) for scale in (0.1, 0.001)]
    >>> [are_enough(m, Cells.of(m, 64)) for m in noises]
    [True, False]
    """
    if cells.points is not None or isinstance(mechanism, Window) or mechanism.breaks.size:
        return True
    width = float(cells.edges[-1] - cells.edges[0])
    return width * _LEAST_PER_SPREAD <= float(mechanism.spread[0]) * _MOST


def _coarse(cells: Cells) -> Cells:
    """Return cells of outputs as long as those of true values; bounds with mass stay cells."""
    cuts = cells.edges[1:-1]
    if cells.atoms:
        cuts = np.concatenate([cells.cuts[:1], cuts, cells.cuts[-1:]])
    return Cells(cells.edges, cuts, cells.atoms)


def _points(mechanism: Mechanism, cells: Cells) -> Floats:
    lower, upper = cells.edges[0], cells.edges[-1]
    width, spread = upper - lower, float(mechanism.spread[0])
    parts = min(_MOST, max(_FEWEST, math.ceil(_PER_SPREAD * width / spread)))
    special = (mechanism.breaks - lower) / width
    if special.size:
        special = np.concatenate([special, (special[1:] + special[:-1]) / 2])
        parts = _FEWEST
    elif isinstance(mechanism, Window):  # values at which the window ends at a cut
        cuts, length = (cells.cuts - lower) / width, spread / width
        special = np.concatenate([cuts, cuts - length]) / max(1 - length, 1e-12)
        parts = _FEWEST // 4
    inside = special[(special > 0) & (special < 1)]
    places = np.concatenate([np.arange(parts + 1) / parts, inside])
    return np.asarray(np.clip(lower + width * np.unique(places.round(12)), lower, upper))
