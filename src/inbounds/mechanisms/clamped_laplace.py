"""The clamped Laplace mechanism: Laplace noise, with outputs moved into the box."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

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
from inbounds.mechanisms.noise_mechanism import NoiseMechanism
from inbounds.numerics.laplace import LAPLACE
from inbounds.numerics.noise import Noise
from inbounds.pure import pure_delta
from inbounds.sensitivity import Sensitivity, as_sensitivity

_UP = 1 + 2.0**-50  # covers the rounding of a quotient and a sum
_SMALLEST = 5e-324  # covers underflow


@checked_constructor
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ClampedLaplace(NoiseMechanism):
    """Release numbers with Laplace noise, and move outputs outside the box to its nearest bound.

    Moving an output costs no privacy. The scale is smaller than that of `BoundedLaplace`, but many
    outputs are equal to a bound.

    On an interval every element of an array is a separate release. On an m-dimensional box the last
    axis has length m and is one joint release.

    Parameters
    ----------
    domain
        The box that contains values and outputs.
    sensitivity
        What one neighbour may change; the noise depends on its largest l1 norm.
    scale
        The scale of the Laplace noise before clamping: one number, or one per coordinate.

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
    BoundedGaussian, BoundedLaplace, ClampedGaussian, calibrate, compare

    Notes
    -----
    The output for a value x is min(max(x + bZ, l), u), where b is the scale and Z has the density
    e^(−|z|)/2, in each coordinate and independently. With s = (x − l)/b and t = (u − x)/b, it has

        the probability e^(−s)/2 at l and e^(−t)/2 at u,
        and the density e^(−|y − x|/b)/(2b) for l < y < u.

    Its mean is x + b [e^(−s) − e^(−t)]/2. Its epsilon is the largest Σᵢ cᵢ/bᵢ over the differences
    c that `sensitivity` allows inside the box: min(Δ, w)/b on an interval of width w with
    sensitivity Δ (docs/proofs/clamped.md, theorems 1 and 2).

    References
    ----------
    .. [1] Dwork, McSherry, Nissim and Smith (2006), "Calibrating Noise to Sensitivity in Private
       Data Analysis", TCC.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.ClampedLaplace.calibrated(ib.Box(0, 120), 2.5, epsilon=1.0)
    >>> 0 <= m.release(41.3) <= 120
    True
    """

    scale: float | Floats = field()  # else the inherited property would be the default

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
        ClampedLaplace
            With the scale b = max Σᵢ cᵢ / epsilon, rounded up, over the differences c that
            `sensitivity` allows inside the box: min(Δ, w)/epsilon on an interval of width w. Proof:
            docs/proofs/clamped.md, theorem 7.

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
        >>> ib.ClampedLaplace.calibrated(ib.Box(0, 120), 2.5, epsilon=1.0).scale
        2.50000000000...
        """
        check_box(domain)
        sensitivity = as_sensitivity(sensitivity)
        epsilon = check_pure(epsilon=epsilon, delta=delta)
        if domain.dimension == 1:
            total = sensitivity.within_interval(float(domain.widths[0]))
        else:
            total = sensitivity.within(domain.widths).total
        return cls(domain, sensitivity, total / epsilon * _UP**2)

    def delta(self, epsilon: float) -> float:
        """Return a delta such that the same release is (`epsilon`, delta)-private.

        Parameters
        ----------
        epsilon
            A finite number of zero or more.

        Returns
        -------
        float
            An upper bound. On an interval it is the delta of the Laplace mechanism before clamping,
            1 − e^((epsilon − p)/2), where p is the pure epsilon; on several coordinates it is
            (1 − e^(−p/2)) (e^p − e^epsilon)/(e^p − 1). Proofs:
            docs/proofs/clamped.md, theorem 2, and docs/proofs/pure.md, theorem 2.

        Raises
        ------
        ArgumentError
            If `epsilon` is negative or not finite.
        """
        epsilon = _check.not_negative(epsilon=epsilon)
        bound = pure_delta(self.epsilon, self.total_variation, epsilon)
        if bound and self.domain.dimension == 1:
            bound = min(bound, -math.expm1((epsilon - self.epsilon) / 2) * _UP)
        return bound

    def _unbiased(self, outputs: Floats) -> Floats:
        """Read a bound as the mean of the noise beyond it, which is one scale away.

        The last step stands for the upper bound. Proof: docs/proofs/readings.md, theorem 1.
        """
        lower, upper = np.asarray(self.domain.lower), np.asarray(self.domain.upper)
        sampler = self.sampler()
        grids = [sampler.grid(j) for j in range(self.domain.dimension)]
        last = np.reshape([float(grid.points(grid.intervals)) for grid in grids], upper.shape)
        below = np.where(outputs == lower, lower - self.scale, outputs)
        return np.where(outputs >= last, upper + self.scale, below)

    @property
    def least_reading_deviation(self) -> float:
        """The standard deviation of `unbiased` at a bound (docs/proofs/readings.md, theorem 8)."""
        scale, width = float(self.scales[0]), float(self.domain.widths[0])
        return scale * math.sqrt(2 - (1 + math.exp(-width / scale)) / 2)

    @property
    def reading_bias(self) -> float:
        """How far the expectation of `unbiased` may be from the value.

        Proof: docs/proofs/readings.md, theorem 1.
        """
        steps = zip(self.domain.steps, self.scales.tolist(), strict=True)
        return max(0.0 if step is None else _step_bias(step, scale) for step, scale in steps)

    @property
    def _grid_bias(self) -> float:
        if self.domain.steps[0] is not None:
            return 0.0
        return _step_bias(float(self.sampler().grid(0).spacing), float(self.scales[0]))

    def _reading_variance(self, inside: Floats) -> Floats:
        """Return the variance before outputs are rounded (docs/proofs/readings.md, theorem 1)."""
        beyond = (inside - self.domain.lower, self.domain.upper - inside)
        masses = sum(np.exp(-distance / self.scale) for distance in beyond)
        return np.asarray(self.scale * self.scale * (2 - masses / 2))

    @property
    def total_variation(self) -> float:
        """An upper bound on the total variation between neighbours, 1 − e^(−epsilon/2).

        Proof: docs/proofs/pure.md, theorem 9.
        """
        return -math.expm1(-self.epsilon / 2) * _UP + _SMALLEST

    @property
    def epsilon(self) -> float:
        """The pure epsilon that this scale gives, which is the largest l1 norm of change / scale.

        Proof: docs/proofs/clamped.md, theorem 7.
        """
        return largest_l1(self.sensitivity.within(self.domain.widths), self.scales)


def _step_bias(step: float, scale: float) -> float:
    """Return the largest bias of readings of outputs that are rounded to a step.

    Proof: docs/proofs/readings.md, theorem 1.
    """
    first = (scale + step / 2) * min(1.0, step / (4 * scale))
    last = (scale + 1.5 * step) * min(1.0, 3 * step / (4 * scale))
    return step / 2 + first + last
