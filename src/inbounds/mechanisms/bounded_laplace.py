"""The bounded Laplace mechanism: Laplace noise truncated to the box."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from inbounds import _check
from inbounds._types import Floats, Number, Vector
from inbounds.calibration.exact import PureLoss, interval_scale
from inbounds.calibration.laplace import (
    as_l1,
    laplace_delta,
    laplace_loss,
    smallest_on_interval,
    smallest_scale,
)
from inbounds.domain import Box
from inbounds.mechanisms.argument import (
    check_box,
    check_pure,
    checked_calibration,
    checked_constructor,
)
from inbounds.mechanisms.truncated import TruncatedMechanism
from inbounds.numerics.doubles import power_of_two_below
from inbounds.numerics.laplace import LAPLACE
from inbounds.numerics.noise import Noise
from inbounds.pure import response_delta
from inbounds.reach import Reach
from inbounds.sensitivity import Sensitivity, as_sensitivity


@checked_constructor
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BoundedLaplace(TruncatedMechanism):
    """Release numbers with Laplace noise that is truncated to a box.

    Under pure epsilon it has a lower error than `BoundedGaussian` if a neighbour can change only a
    small part of the range; see `compare`.

    On an interval every element of an array is a separate release. On an m-dimensional box the last
    axis has length m and is one joint release.

    Parameters
    ----------
    domain
        The box that contains values and outputs.
    sensitivity
        What one neighbour may change. `L1` and bounds per coordinate are used exactly; an l2 norm
        on several coordinates is replaced by the smallest l1 norm that contains it.
    scale
        The scale of the Laplace noise before truncation: one number, or one per coordinate.

    Raises
    ------
    ArgumentError
        If `scale` is not positive, is extreme for this box, or does not have one entry per
        coordinate, or if `sensitivity` does not.
    ArgumentTypeError
        If an argument is missing or of a wrong type.

    Guarantees
    ----------
    For any two values that differ by what `sensitivity` allows, and any set of outputs, the
    probabilities differ by a factor of at most exp(`epsilon`). Values outside the box are first
    moved to its nearest point, which never makes two values differ more.

    See Also
    --------
    BoundedGaussian, ClampedGaussian, ClampedLaplace, calibrate, compare

    Notes
    -----
    The output y for a value x has, in each coordinate and independently, the density

        p(y | x) = e^(−|y − x|/b) / (b [2 − e^(−s) − e^(−t)])  for l ≤ y ≤ u,  and 0 elsewhere,

    where b is the scale, [l, u] are the bounds, s = (x − l)/b and t = (u − x)/b. Its mean is
    x + b [(1 + s)e^(−s) − (1 + t)e^(−t)] / [2 − e^(−s) − e^(−t)].

    On an interval of width w with sensitivity Δ, let c = min(Δ, w). Then

        epsilon = c/b + ln(1 + (1 − e^(−c/b))(1 − e^(−(w − c)/b)) / (1 − e^(−w/b))).

    On a box it is the largest sum of these terms over all differences that `sensitivity` allows
    (docs/proofs/laplace.md, theorems 1 and 4), with the l1 norm that contains an l2 norm, and
    raised by what rounding can cost (docs/proofs/laplace.md, theorems 6 and 7).

    References
    ----------
    .. [1] Holohan, Antonatos, Braghin and Mac Aonghusa (2020), "The Bounded Laplace Mechanism in
       Differential Privacy", Journal of Privacy and Confidentiality 10(1).

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.BoundedLaplace.calibrated(ib.Box(0, 120), 2.5, epsilon=1.0)
    >>> m
    BoundedLaplace(Box(0, 120), L2(2.5), scale=4.0315...)
    >>> 0 <= m.release(41.3) <= 120
    True
    """

    scale: float | Floats = field()  # else the inherited property would be the default

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

        Parameters
        ----------
        domain
            The box that contains values and outputs.
        sensitivity
            What one neighbour may change; a number is an l2 norm.
        epsilon
            The pure epsilon of one release.
        delta
            Zero, which is the default: Laplace noise is not calibrated for a positive delta.

        Returns
        -------
        BoundedLaplace
            With the scale b at which the `epsilon` in the notes of the class is the one asked for,
            rounded up: docs/proofs/laplace.md, theorems 3 and 5, and
            docs/proofs/search.md, theorem 1.

        Raises
        ------
        ArgumentError
            If `epsilon` is not positive or is extreme, `delta` is not 0, or `sensitivity` does not
            fit the box.
        ArgumentTypeError
            If an argument is missing or of a wrong type.

        Examples
        --------
        >>> import inbounds as ib
        >>> ib.BoundedLaplace.calibrated(ib.Box(0, 1), 1, epsilon=2.0).scale
        0.5000000000000...
        """
        check_box(domain)
        sensitivity = as_sensitivity(sensitivity)
        epsilon = check_pure(epsilon=epsilon, delta=delta)
        if domain.dimension == 1:
            width = float(domain.widths[0])
            change = sensitivity.within_interval(width)
            scale, loss = interval_scale(smallest_on_interval, width, change, epsilon)
        else:
            scale, loss = _joint_scale(domain.widths, sensitivity, epsilon)
        mechanism = cls(domain, sensitivity, scale)
        object.__setattr__(mechanism, "_loss", loss)
        return mechanism

    def delta(self, epsilon: float) -> float:
        """Return a delta such that the same release is (`epsilon`, delta)-private.

        Parameters
        ----------
        epsilon
            A finite number of zero or more.

        Returns
        -------
        float
            An upper bound, within about 1 % of the smallest such delta on an interval. Proof:
            docs/proofs/laplace.md, theorem 8.

        Raises
        ------
        ArgumentError
            If `epsilon` is negative or not finite.

        Examples
        --------
        >>> import inbounds as ib
        >>> m = ib.BoundedLaplace(ib.Box(0, 1), 0.1, scale=0.2)
        >>> m.delta(m.epsilon), 0 < m.delta(0.5) < 0.2
        (0.0, True)
        """
        epsilon = _check.not_negative(epsilon=epsilon)
        bound = response_delta(self.epsilon, epsilon)
        if bound and self.domain.dimension == 1:
            sides = (self.domain.widths, self._reach.caps, self.scales)
            width, change, scale = (float(side[0]) for side in sides)
            bound = min(bound, laplace_delta(width, change, scale, epsilon))
        return bound

    @property
    def total_variation(self) -> float:
        """An upper bound on the total variation between neighbours, which is `delta` at 0."""
        return self.delta(0.0)

    @property
    def _reach(self) -> Reach:
        return as_l1(self.sensitivity.within(self.domain.widths))

    def _find_loss(self) -> PureLoss:
        return laplace_loss(*self._setting)

    def _stated_caps(self) -> Floats:
        caps = self._reach.caps
        return np.where(caps < self.domain.widths, caps, np.inf)  # the widths are rounded


def _joint_scale(
    widths: Floats, sensitivity: Sensitivity, epsilon: float
) -> tuple[float, PureLoss]:
    """Return the smallest scale for several coordinates, and its loss."""
    power = power_of_two_below(float(widths.max()))  # against underflow
    reach = as_l1(sensitivity.within(widths)) / power
    scale, loss = smallest_scale(widths / power, reach, np.ones_like(widths), epsilon)
    in_units = PureLoss(loss.epsilon, loss.change * power, loss.multiplier / power)
    return float(scale[0]) * power, in_units
