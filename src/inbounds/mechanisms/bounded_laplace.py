"""The bounded Laplace mechanism of Holohan, Antonatos, Braghin and Mac Aonghusa.

Its epsilon is proved in docs/proofs/laplace.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from inbounds import _check
from inbounds._types import Floats, Number, Vector
from inbounds.calibration.exact import PureLoss
from inbounds.calibration.laplace import as_l1, interval_delta, pure_loss, smallest_scale
from inbounds.domain import Box
from inbounds.mechanisms.argument import (
    check_box,
    check_pure,
    checked_calibration,
    checked_constructor,
)
from inbounds.mechanisms.truncated import TruncatedMechanism
from inbounds.numerics.laplace import LAPLACE
from inbounds.numerics.noise import Noise
from inbounds.profile import response_delta
from inbounds.reach import Reach
from inbounds.sensitivity import Sensitivity, as_sensitivity


@checked_constructor
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BoundedLaplace(TruncatedMechanism):
    """Release numbers with Laplace noise truncated to a box.

    Under pure epsilon, where a neighbour can change only a small part of the range, this is the
    better mechanism; see `compare`.

    On an interval every element of an array is a release of its own. On an m-dimensional box the
    last axis has length m and is one joint release at epsilon.

    Parameters
    ----------
    domain
        The box that values and answers live in.
    sensitivity
        What one neighbour may change. `L1` and bounds per coordinate are used exactly; an l2 norm
        on several coordinates is read as the l1 norm that contains it.
    scale
        Scale of the Laplace noise before truncation: one number, or one per coordinate.

    Examples
    --------
    >>> m = BoundedLaplace.calibrated(Box(0, 120), 2.5, epsilon=1.0)
    >>> m
    BoundedLaplace(Box(0, 120), L2(2.5), scale=4.0315...)
    >>> 0 <= m.release(41.3) <= 120
    True
    """

    scale: float | Floats = field()  # or the inherited property would be its default

    noise: ClassVar[Noise] = LAPLACE

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
    ) -> BoundedLaplace:
        """Return the mechanism with the smallest scale that gives `epsilon`.

        Pure epsilon holds for every delta, so `delta` may be left out and must be zero.

        Examples
        --------
        >>> BoundedLaplace.calibrated(Box(0, 1), 1, epsilon=2.0).scale
        0.5000000000000...
        """
        check_box(domain)
        sensitivity = as_sensitivity(sensitivity)
        epsilon = check_pure(epsilon=epsilon, delta=delta)
        widths = domain.widths
        unit = math.ldexp(1.0, math.frexp(float(widths.max()))[1] - 1)  # against underflow
        reach = as_l1(sensitivity.within(widths))
        small = Reach(reach.caps / unit, reach.order, reach.radius / unit)
        scale, loss = smallest_scale(widths / unit, small, np.ones_like(widths), epsilon)
        mechanism = cls(domain, sensitivity, float(scale[0]) * unit)
        loss = PureLoss(loss.epsilon, loss.change * unit, loss.multiplier / unit)
        object.__setattr__(mechanism, "_loss", loss)
        return mechanism

    def delta(self, epsilon: float) -> float:
        """Return an upper bound on delta: (`epsilon`, delta)-privacy holds for the same release.

        Within about a percent of the worst pair on an interval.

        Examples
        --------
        >>> m = BoundedLaplace(Box(0, 1), 0.1, scale=0.2)
        >>> m.delta(m.epsilon), 0 < m.delta(0.5) < 0.2
        (0.0, True)
        """
        epsilon = _check.not_negative(epsilon=epsilon)
        bound = response_delta(self.epsilon, epsilon)
        if bound and self.domain.dimension == 1:
            sides = (self.domain.widths, self._reach.caps, self.scales)
            width, change, scale = (float(side[0]) for side in sides)
            bound = min(bound, interval_delta(width, change, scale, epsilon))
        return bound

    @property
    def _reach(self) -> Reach:
        return as_l1(self.sensitivity.within(self.domain.widths))

    def _find_loss(self) -> PureLoss:
        return pure_loss(*self._setting)

    def _stated_caps(self) -> Floats:
        caps = self._reach.caps
        return np.where(caps < self.domain.widths, caps, np.inf)  # widths are rounded
