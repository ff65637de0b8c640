"""The clamped Gaussian mechanism: normal noise, with outputs moved into the box."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, cast

from inbounds import _check
from inbounds._types import Floats, Number, Vector
from inbounds.calibration.approximate import gaussian_delta, gaussian_mu
from inbounds.calibration.clamped import clamped_delta, clamped_epsilon, clamped_sigma
from inbounds.calibration.quotient import largest_l2
from inbounds.domain import Box
from inbounds.errors import Hint
from inbounds.guarantee import check_delta, check_epsilon
from inbounds.mechanisms.argument import check_box, checked_calibration, checked_constructor
from inbounds.mechanisms.noise_mechanism import NoiseMechanism
from inbounds.numerics.doubles import power_of_two_below
from inbounds.numerics.noise import Noise
from inbounds.numerics.normal import NORMAL
from inbounds.pure import pure_rho
from inbounds.sensitivity import Sensitivity, as_sensitivity

ClampedMethod = Literal["analytic", "classical", "exact"]
_UP = 1 + 2.0**-50  # covers the rounding of a quotient


@checked_constructor
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ClampedGaussian(NoiseMechanism):
    """Release numbers with Gaussian noise, and move outputs outside the box to its nearest bound.

    On an interval every element of an array is a separate release. On an m-dimensional box the last
    axis has length m and is one joint release.

    Parameters
    ----------
    domain
        The box that contains values and outputs.
    sensitivity
        What one neighbour may change; the noise depends on its largest l2 norm.
    sigma
        The standard deviation of the noise before clamping: one number, or one per coordinate.

    Raises
    ------
    ArgumentError
        If `sigma` is not positive, is extreme for this box, or does not have one entry per
        coordinate, or if `sensitivity` does not.
    ArgumentTypeError
        If an argument is missing or of a wrong type.

    Guarantees
    ----------
    For any two values that differ by what `sensitivity` allows, any set of outputs and any ε ≥ 0,
    one probability is at most exp(ε) times the other plus ``delta(ε)``. Values outside the box are
    first moved to its nearest point, which never makes two values differ more.

    See Also
    --------
    BoundedGaussian, BoundedLaplace, ClampedLaplace, calibrate, compare

    Notes
    -----
    The output for a value x is min(max(x + σZ, l), u) with Z ~ N(0, 1), in each coordinate and
    independently. With a = (l − x)/σ and b = (u − x)/σ, it has

        the probability Φ(a) at l and Φ(−b) at u, and the density φ((y − x)/σ)/σ for l < y < u.

    Its mean is x + σ [φ(a) − φ(b) + aΦ(a) + bΦ(−b)].

    On an interval of width w with sensitivity Δ, let c = min(Δ, w), γ = c/σ and v = w/σ. Then

        epsilon = ln(Φ(γ − v) / Φ(−v)),
        delta(ε) = max(0, Φ(−z) − e^ε Φ(−z − γ)),  z = min(ε/γ − γ/2, v − γ).

    Without the second entry of the minimum, this is the delta of the Gaussian mechanism [1]_
    (docs/proofs/clamped.md, theorems 3 and 4).

    References
    ----------
    .. [1] Balle and Wang (2018), "Improving the Gaussian Mechanism for Differential Privacy:
       Analytical Calibration and Optimal Denoising", ICML.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.ClampedGaussian.calibrated(ib.Box(0, 120), 2.5, epsilon=1.0, delta=1e-6)
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
        method: ClampedMethod = "analytic",
    ) -> ClampedGaussian:
        """Return the mechanism with the smallest sigma that a method finds for a guarantee.

        Parameters
        ----------
        domain, sensitivity
            As for `ClampedGaussian`.
        epsilon
            The epsilon to give.
        delta
            The delta to allow beside `epsilon`. It may be zero only for ``method="exact"``.
        method
            ``"analytic"``: the exact sigma of the Gaussian mechanism, by Balle and Wang [1]_.
            ``"classical"``: the textbook formula Δ√(2 ln(1.25/δ))/ε [2]_, for epsilon up to 1.
            ``"exact"``: on an interval, the smallest sigma, which uses the privacy of clamping.

        Returns
        -------
        ClampedGaussian
            Proof: docs/proofs/approximate.md, theorem 7, and for ``"exact"``
            docs/proofs/clamped.md, theorem 4.

        Raises
        ------
        ArgumentError
            If a number is out of range, or `method` does not support it.

        References
        ----------
        .. [1] Balle and Wang (2018), "Improving the Gaussian Mechanism for Differential Privacy:
           Analytical Calibration and Optimal Denoising", ICML.
        .. [2] Dwork and Roth (2014), "The Algorithmic Foundations of Differential Privacy",
           Theorem A.1.

        Examples
        --------
        >>> import inbounds as ib
        >>> def sigma(method):
        ...     noise, box = ib.ClampedGaussian, ib.Box(0, 2)
        ...     m = noise.calibrated(box, 1, epsilon=1.0, delta=1e-6, method=method)
        ...     return round(m.sigma, 3)
        >>> sigma("classical"), sigma("analytic"), sigma("exact")
        (5.299, 4.225, 1.518)
        """
        check_box(domain)
        sensitivity = as_sensitivity(sensitivity)
        epsilon, delta = check_epsilon(epsilon), check_delta(delta)
        options = ("analytic", "classical", "exact")
        method = cast("ClampedMethod", _check.one_of(options, method=method))
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
            raise _check.refusal("'analytic' or 'classical' on several coordinates", method=method)
        else:
            power = power_of_two_below(float(domain.widths[0]))
            width, change = float(domain.widths[0]) / power, float(reach.caps[0]) / power
            sigma = clamped_sigma(width, change, epsilon, delta) * power
        return cls(domain, sensitivity, sigma)

    @property
    def epsilon(self) -> float:
        """The pure epsilon of the clamped output, which is finite, but large if the box is wide."""
        widths = self.domain.widths
        return clamped_epsilon(widths, self.sensitivity.within(widths), self.scales)

    def delta(self, epsilon: float) -> float:
        """Return a delta such that the same release is (`epsilon`, delta)-private.

        Parameters
        ----------
        epsilon
            A finite number of zero or more.

        Returns
        -------
        float
            The smallest such delta on an interval. On several coordinates it is the delta before
            clamping, Φ(−ε/μ + μ/2) − e^ε Φ(−ε/μ − μ/2), where μ is `gdp`. Proof:
            docs/proofs/clamped.md, theorems 4 and 5.

        Raises
        ------
        ArgumentError
            If `epsilon` is negative or not finite.
        """
        epsilon = _check.not_negative(epsilon=epsilon)
        widths = self.domain.widths
        reach = self.sensitivity.within(widths)
        if widths.size == 1:
            width, change, sigma = (float(side[0]) for side in (widths, reach.caps, self.scales))
            return clamped_delta(width, change, sigma, epsilon)
        if epsilon >= self.epsilon:
            return 0.0
        return gaussian_delta(self.gdp, epsilon)

    @property
    def total_variation(self) -> float:
        """An upper bound on the total variation between neighbours, which is `delta` at 0."""
        return self.delta(0.0)

    @property
    def gdp(self) -> float:
        """The mu of the Gaussian before clamping, which is the largest l2 norm of change / sigma.

        Proof: docs/proofs/clamped.md, theorems 1 and 7.
        """
        return largest_l2(self.sensitivity.within(self.domain.widths), self.scales)

    @property
    def rho(self) -> float:
        """The rho of the Gaussian before clamping, or the rho of pure epsilon if that is less."""
        return min(self.gdp**2 / 2 * _UP, pure_rho(self.epsilon))
