"""The Gaussian mechanism, with answers that leave the box moved to its bounds.

What clamping adds to the privacy of the Gaussian is proved in docs/proofs/clamped.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, cast

from inbounds import _check
from inbounds._types import Floats, Number, Vector
from inbounds.calibration import clamped
from inbounds.calibration.approximate import gaussian_delta, gaussian_mu
from inbounds.calibration.quotient import largest_l2
from inbounds.domain import Box
from inbounds.errors import ArgumentError, Hint
from inbounds.guarantee import check_delta, check_epsilon
from inbounds.mechanisms.argument import check_box, checked_calibration, checked_constructor
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.numerics.noise import Noise
from inbounds.numerics.normal import NORMAL
from inbounds.profile import pure_rho
from inbounds.sensitivity import Sensitivity, as_sensitivity

Method = Literal["analytic", "classical", "exact"]
_UP = 1 + 2.0**-50  # covers the rounding of a quotient


@checked_constructor
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ClampedGaussian(Mechanism):
    """Release numbers with Gaussian noise, and move what leaves the box to its nearest bound.

    On an interval every element of an array is a release of its own. On an m-dimensional box the
    last axis has length m and is one joint release.

    Parameters
    ----------
    domain
        The box that values and answers live in.
    sensitivity
        What one neighbour may change; its largest l2 norm counts.
    sigma
        Standard deviation of the noise before clamping: one number, or one per coordinate.

    Examples
    --------
    >>> m = ClampedGaussian.calibrated(Box(0, 120), 2.5, epsilon=1.0, delta=1e-6)
    >>> 0 <= m.release(41.3) <= 120
    True
    """

    sigma: float | Floats

    noise: ClassVar[Noise] = NORMAL
    _clamped: ClassVar[bool] = True

    def __init__(
        self, domain: Box, sensitivity: Sensitivity | Number, sigma: Number | Vector
    ) -> None:
        self._keep(domain, sensitivity, sigma)

    @classmethod
    @checked_calibration
    def calibrated(
        cls,
        domain: Box,
        sensitivity: Sensitivity | Number,
        *,
        epsilon: float,
        delta: float,
        method: Method = "analytic",
    ) -> ClampedGaussian:
        """Return the mechanism with the smallest sigma, by one method, that gives the guarantee.

        Parameters
        ----------
        domain, sensitivity
            As for `ClampedGaussian`.
        epsilon, delta
            The approximate differential privacy to give. `delta` may be zero only for
            ``method="exact"``.
        method
            ``"analytic"``: the exact sigma of the Gaussian mechanism, by Balle and Wang.
            ``"classical"``: the textbook Δ√(2 ln(1.25/δ))/ε, for epsilon up to 1.
            ``"exact"``: on an interval, counts the privacy that clamping itself adds.

        Examples
        --------
        >>> def sigma(method):
        ...     m = ClampedGaussian.calibrated(Box(0, 2), 1, epsilon=1, delta=1e-6, method=method)
        ...     return round(m.sigma, 3)
        >>> sigma("classical"), sigma("analytic"), sigma("exact")
        (5.299, 4.225, 1.518)
        """
        check_box(domain)
        sensitivity = as_sensitivity(sensitivity)
        epsilon, delta = check_epsilon(epsilon), check_delta(delta)
        options = ("analytic", "classical", "exact")
        method = cast("Method", _check.one_of(options, method=method))
        if delta == 0 and method != "exact":
            words = "for delta=0 use {} or {}, or {}."
            hint = Hint(words, "BoundedGaussian", "BoundedLaplace", "method='exact'")
            raise _check.refusal("above 0 and below 1", hint, delta=delta)
        reach = sensitivity.within(domain.widths)
        if method == "classical":
            if epsilon > 1:
                raise _check.refusal("at most 1 for method='classical'", epsilon=epsilon)
            sigma = reach.diameter * math.sqrt(2 * math.log(1.25 / delta)) / epsilon * _UP**2
        elif method == "analytic":
            sigma = reach.diameter / gaussian_mu(epsilon, delta) * _UP**2
        elif domain.dimension > 1:
            requirement = "'analytic' or 'classical' on several coordinates"
            raise ArgumentError.must_be("method", requirement)
        else:
            unit = math.ldexp(1.0, math.frexp(float(domain.widths[0]))[1] - 1)
            width, change = float(domain.widths[0]) / unit, float(reach.caps[0]) / unit
            sigma = clamped.interval_sigma(width, change, epsilon, delta) * unit
        return cls(domain, sensitivity, sigma)

    @property
    def epsilon(self) -> float:
        """The pure epsilon of the clamped answer: finite, but large where the box is wide."""
        widths = self.domain.widths
        return clamped.pure_epsilon(widths, self.sensitivity.within(widths), self.scales)

    def delta(self, epsilon: float) -> float:
        """Return an upper bound on delta: (`epsilon`, delta)-privacy holds for the same release.

        Exact on an interval; the plain Gaussian's on several coordinates.
        """
        epsilon = _check.not_negative(epsilon=epsilon)
        widths = self.domain.widths
        reach = self.sensitivity.within(widths)
        if widths.size == 1:
            width, change, sigma = (float(side[0]) for side in (widths, reach.caps, self.scales))
            return clamped.interval_delta(width, change, sigma, epsilon)
        if epsilon >= self.epsilon:
            return 0.0
        return gaussian_delta(self.gdp, epsilon)

    @property
    def gdp(self) -> float:
        """The mu of the Gaussian that was clamped: the largest l2 norm of a change over sigma."""
        return largest_l2(self.sensitivity.within(self.domain.widths), self.scales)

    @property
    def rho(self) -> float:
        """The rho of the Gaussian that was clamped, or of its pure epsilon if that is less."""
        return min(self.gdp**2 / 2 * _UP, pure_rho(self.epsilon))
