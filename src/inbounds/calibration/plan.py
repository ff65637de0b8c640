"""A table before it is made of integers: where values are told apart, and a mixture of columns."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from inbounds._types import Floats
from inbounds.calibration.column import Mixture

MOST_ROWS = 1024
"""Rows of the largest table: a larger one takes seconds to build."""


@dataclass(frozen=True, eq=False)
class TablePlan:
    """Cells or knots, and a mixture of columns on them.

    Attributes
    ----------
    kind, boundaries, reach
        As in `LevelTable`.
    mixture
        The columns, with weights in doubles and outputs as positions.
    limited
        Whether a finer table would have a clearly lower error, but would be too large.
    """

    kind: Literal["cells", "knots"]
    boundaries: tuple[float, ...]
    reach: int
    mixture: Mixture
    limited: bool = False

    def marked_limited(self) -> "TablePlan":
        """Return the plan, marked as coarser than it should be."""
        return replace(self, limited=True)


def nearest(positions: Floats, grid: Floats | None) -> Floats:
    """Return the nearest points of a sorted grid, or the positions themselves without a grid."""
    if grid is None:
        return positions
    right = np.clip(np.searchsorted(grid, positions), 1, max(1, grid.size - 1))
    left = right - 1
    right = np.minimum(right, grid.size - 1)
    result: Floats = np.where(
        positions - grid[left] <= grid[right] - positions, grid[left], grid[right]
    )
    return result
