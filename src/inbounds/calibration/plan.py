"""A table before it is made of integers: where values are told apart, and a mixture of columns."""

from dataclasses import dataclass, replace
from typing import Literal

from inbounds.calibration.column import Mixture

MOST_ROWS = 1024
"""Rows of the largest table: a larger one takes seconds to build."""


@dataclass(frozen=True, eq=False)
class Plan:
    """Cells or knots, and a mixture of columns on them.

    Attributes
    ----------
    kind, boundaries, reach
        As in `LevelTable`.
    mixture
        The columns, with weights in doubles and outputs as positions.
    slope
        How far the mean output moves with the value. An output y is read without bias as
        middle + (y - middle)/slope, if the plan was made for that.
    limited
        Whether a finer table would have a clearly lower error, but would be too large.
    """

    kind: Literal["cells", "knots"]
    boundaries: tuple[float, ...]
    reach: int
    mixture: Mixture
    slope: float | None = None
    limited: bool = False

    def marked_limited(self) -> "Plan":
        """Return the plan, marked as coarser than it should be."""
        return replace(self, limited=True)
