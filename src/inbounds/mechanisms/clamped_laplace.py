"""The Laplace mechanism, with answers that leave the box moved to its bounds.

Its epsilon is proved in docs/proofs/clamped.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

from inbounds import _check
from inbounds._types import Floats, Number, Vector
from inbounds.calibration.quotient import largest_l1
from inbounds.domain import Box
from inbounds.mechanisms.argument import (
    check_box,
    check_pure,
    checked_calibration,
    checked_constructor,
)
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.numerics.laplace import LAPLACE
from inbounds.numerics.noise import Noise
from inbounds.profile import response_delta
from inbounds.sensitivity import Sensitivity, as_sensitivity

_UP = 1 + 2.0**-50  # covers the rounding of a quotient and a sum


@checked_constructor
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ClampedLaplace(Mechanism):
    """Release numbers with Laplace noise, and move what leaves the box to its nearest bound.

    Moving an answer costs no privacy. The smaller scale than `BoundedLaplace`'s is paid for with
    answers that pile up at the bounds.

    Parameters
    ----------
    domain
        The box that values and answers live in.
    sensitivity
        What one neighbour may change; its largest l1 norm counts.
    scale
        Scale of the Laplace noise before clamping: one number, or one per coordinate.

    Examples
    --------
    >>> m = ClampedLaplace.calibrated(Box(0, 120), 2.5, epsilon=1.0)
    >>> 0 <= m.release(41.3) <= 120
    True
    """

    scale: float | Floats = field()  # or the inherited property would be its default

    noise: ClassVar[Noise] = LAPLACE
    _clamped: ClassVar[bool] = True

    def __init__(
        self, domain: Box, sensitivity: Sensitivity | Number, scale: Number | Vector
    ) -> None:
        self._keep(domain, sensitivity, scale)

    @classmethod
    @checked_calibration
    def calibrated(
        cls,
        domain: Box,
        sensitivity: Sensitivity | Number,
        *,
        epsilon: float,
        delta: float = 0.0,
    ) -> ClampedLaplace:
        """Return the mechanism with the smallest scale that gives `epsilon`.

        Pure epsilon holds for every delta, so `delta` may be left out and must be zero.

        Examples
        --------
        >>> ClampedLaplace.calibrated(Box(0, 120), 2.5, epsilon=1.0).scale
        2.50000000000...
        """
        check_box(domain)
        sensitivity = as_sensitivity(sensitivity)
        epsilon = check_pure(epsilon=epsilon, delta=delta)
        total = sensitivity.within(domain.widths).total
        return cls(domain, sensitivity, total / epsilon * _UP**2)

    def delta(self, epsilon: float) -> float:
        """Return an upper bound on delta: (`epsilon`, delta)-privacy holds for the same release.

        On an interval that of the Laplace mechanism, before clamping.
        """
        epsilon = _check.not_negative(epsilon=epsilon)
        bound = response_delta(self.epsilon, epsilon)
        if bound and self.domain.dimension == 1:
            bound = min(bound, -math.expm1((epsilon - self.epsilon) / 2) * _UP)
        return bound

    @property
    def epsilon(self) -> float:
        """The pure epsilon this scale gives: the largest l1 norm of a change over the scale."""
        return largest_l1(self.sensitivity.within(self.domain.widths), self.scales)
