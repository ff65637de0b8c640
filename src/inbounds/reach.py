"""The differences between two neighbours inside a box, as a set."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from inbounds._types import Floats

_HALVINGS = 60


@dataclass(frozen=True, slots=True, eq=False)
class Reach:
    """The absolute differences c that are possible between two neighbours inside a box.

    The set is {c : 0 ≤ cᵢ ≤ capsᵢ, ‖c‖ ≤ radius} for the norm of this `order`. If `order` is None,
    the caps alone bound the differences. Caps never exceed the widths.
    """

    caps: Floats
    order: Literal[1, 2] | None
    radius: float

    def __truediv__(self, length: float) -> Reach:
        """Return the same reach in units of `length`."""
        return Reach(self.caps / length, self.order, self.radius / length)

    @property
    def diameter(self) -> float:
        """The largest l2 norm of a difference."""
        norm = math.hypot(*self.caps.tolist())  # accurate for any number of caps
        return norm if self.order is None else min(norm, self.radius)

    @property
    def total(self) -> float:
        """The largest l1 norm of a difference."""
        most = math.fsum(self.caps.tolist())
        if self.order != 2:
            return min(most, self.radius)
        # The largest is at c = min(caps, t) for some t, which uses up the k smallest caps. Proof:
        # docs/proofs/laplace.md, theorem 6.
        caps = np.sort(self.caps)
        used = np.concatenate([[0.0], np.cumsum(caps**2)[:-1]])
        remaining = np.arange(caps.size, 0, -1)
        level = np.sqrt(np.maximum(self.radius**2 - used, 0.0) / remaining)
        free = int(np.argmax(level <= caps))
        total = float(caps[:free].sum() + level[free] * remaining[free])
        return min(most, total * (1 + 2.0**-45 + caps.size * 2.0**-52))  # covers the rounding

    def along(self, direction: Floats) -> Floats:
        """Return the largest difference along a direction, with each coordinate cut at its cap.

        Examples
        --------
        >>> widths = np.array([3.0, 1.0])
        >>> Reach(np.array([2.0, 1.0]), 1, 2.0).along(widths).round(6).tolist()
        [1.5, 0.5]
        """
        if self.order is None:
            return self.caps
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            size = np.linalg.norm(np.minimum(self.caps, middle * direction), self.order)
            low, high = (middle, high) if size <= self.radius else (low, middle)
        return np.minimum(self.caps, low * direction)
