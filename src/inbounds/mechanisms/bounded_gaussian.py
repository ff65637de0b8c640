"""The bounded Gaussian mechanism: normal noise truncated to the box."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np

from inbounds import _check
from inbounds._types import Floats, Number, Vector
from inbounds.calibration.approximate import delta_upper_bound, sigma_for_delta
from inbounds.calibration.concentrated import (
    mu_upper_bound,
    renyi_upper_bound,
    rho_upper_bound,
    sigma_for_rho,
)
from inbounds.calibration.exact import (
    PureLoss,
    pure_loss,
    smallest_interval_sigma,
    split_by_width,
)
from inbounds.calibration.pure import PureMethod, Scaling, sigma_for_epsilon
from inbounds.domain import Box
from inbounds.guarantee import Guarantee, check_delta
from inbounds.mechanisms.argument import (
    check_box,
    check_order,
    checked_calibration,
    checked_constructor,
)
from inbounds.mechanisms.truncated import TruncatedMechanism
from inbounds.numerics.doubles import power_of_two_below
from inbounds.numerics.noise import Noise
from inbounds.numerics.normal import NORMAL
from inbounds.sensitivity import Sensitivity, as_sensitivity


@checked_constructor
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BoundedGaussian(TruncatedMechanism):
    """Release numbers with Gaussian noise that is truncated to a box.

    On an interval (``Box(0, 120)``) every element of an array is a separate release: values of n
    people at epsilon each, or n values of one person at n·epsilon together. On an m-dimensional
    box (``Box([0, 1], [10, 9])``) the last axis has length m and is one joint release at epsilon.

    Parameters
    ----------
    domain
        The box that contains values and outputs.
    sensitivity
        What one neighbour may change: a number (an l2 norm) or `L2`, `L1`, `LInf`,
        `PerCoordinate` and their intersections.
    sigma
        The scale of the Gaussian before truncation: one number, or one per coordinate. Use
        `calibrated` to get the smallest sigma that gives a guarantee.

    Raises
    ------
    ArgumentError
        If `sigma` is not positive, is extreme for this box, or does not have one entry per
        coordinate, or if `sensitivity` does not.
    ArgumentTypeError
        If an argument is missing or of a wrong type.

    Guarantees
    ----------
    For any two values that differ by what `sensitivity` allows, and any set of outputs, the
    probabilities differ by a factor of at most exp(`epsilon`). Values outside the box are first
    moved to its nearest point, which never makes two values differ more
    (docs/proofs/interval.md, theorem 7).

    See Also
    --------
    BoundedLaplace, ClampedGaussian, ClampedLaplace, calibrate, compare

    Notes
    -----
    The output y for a value x has, in each coordinate and independently, the density

        p(y | x) = φ((y − x)/σ) / (σ [Φ(b) − Φ(a)])  for l ≤ y ≤ u,  and 0 elsewhere,

    where [l, u] are the bounds, a = (l − x)/σ, b = (u − x)/σ, and φ and Φ are the density and the
    distribution function of N(0, 1). Its mean is x + σ [φ(a) − φ(b)] / [Φ(b) − Φ(a)], so outputs
    are biased towards the middle of the box.

    On an interval of width w with sensitivity Δ, let c = min(Δ, w). Then

        epsilon = c(2w − c)/(2σ²) − ln([Φ₀(c/σ) + Φ₀((w − c)/σ)] / Φ₀(w/σ)),  Φ₀ = Φ − 1/2

    (docs/proofs/interval.md, theorem 1). On a box it is the largest sum of these terms over all
    differences that `sensitivity` allows (docs/proofs/box.md, theorem 1). It is computed without
    cancellation, and raised by what rounding can cost (docs/proofs/interval.md, theorem 8;
    docs/proofs/rounding.md, theorem 3).

    References
    ----------
    .. [1] Chen and Hale (2022), "The Bounded Gaussian Mechanism for Differential Privacy",
       arXiv:2211.17230.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 2.5, epsilon=1.0)
    >>> m
    BoundedGaussian(Box(0, 120), L2(2.5), sigma=16.318...)
    >>> 0 <= m.release(41.3) <= 120
    True
    """

    sigma: float | Floats

    noise: ClassVar[Noise] = NORMAL

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
        epsilon: float | None = None,
        delta: float = 0.0,
        rho: float | None = None,
        method: PureMethod = "exact",
        scaling: Scaling = "isotropic",
    ) -> BoundedGaussian:
        """Return the mechanism with the smallest sigma that gives a guarantee.

        Parameters
        ----------
        domain, sensitivity
            As for `BoundedGaussian`.
        epsilon
            The epsilon to give. If `delta` is zero, the `epsilon` of the result never exceeds it.
        delta
            The delta to allow beside `epsilon`. The ``delta(epsilon)`` of the result never exceeds
            it.
        rho
            The zero-concentrated differential privacy to give, instead of `epsilon`.
        method
            ``"exact"``: the smallest sigma. ``"paper"``: Theorems 1 and 2 of Chen and Hale [1]_,
            with up to 3.25 times the variance. ``"liu"``: the bound by Liu [2]_ that they compare
            with, which needs the sensitivity of each coordinate.
        scaling
            ``"isotropic"``: the same sigma for every coordinate. ``"width"``: sigma grows with the
            width, so that an age in [0, 120] and an income in [0, 10⁶] can share one release.

        Returns
        -------
        BoundedGaussian

        Raises
        ------
        ArgumentError
            If a number is out of range, or `method` does not support the guarantee.
        ArgumentTypeError
            If both or neither of `epsilon` and `rho` are given.

        Notes
        -----
        The sigma that is returned was evaluated and found to be sufficient
        (docs/proofs/search.md, theorem 1). How it is found:
        docs/proofs/interval.md, theorems 4 to 6, and docs/proofs/box.md, theorems 2 to 6. What the
        other methods guarantee, and how much noise they add: docs/proofs/paper.md, theorems 1 to 6.

        References
        ----------
        .. [1] Chen and Hale (2022), "The Bounded Gaussian Mechanism for Differential Privacy",
           arXiv:2211.17230.
        .. [2] Liu (2019), "Generalized Gaussian Mechanism for Differential Privacy", IEEE TKDE.

        Examples
        --------
        >>> import inbounds as ib
        >>> box, changes = ib.Box([0, 1], [10, 9]), ib.PerCoordinate([4, 2])
        >>> m = ib.BoundedGaussian.calibrated(box, changes, epsilon=1.0)
        >>> liu = ib.BoundedGaussian.calibrated(box, changes, epsilon=1.0, method="liu")
        >>> round(m.sigma**2, 3), round(liu.sigma**2, 3)
        (31.72, 132.0)
        >>> m = ib.BoundedGaussian.calibrated(ib.Box(0, 100), 1, epsilon=1.0, delta=1e-6)
        >>> round(m.sigma, 3)
        4.225
        >>> round(ib.BoundedGaussian.calibrated(ib.Box(0, 100), 1, rho=0.1).sigma, 3)
        2.236
        """
        check_box(domain)
        sensitivity = as_sensitivity(sensitivity)
        method = cast("PureMethod", _check.one_of(("exact", "paper", "liu"), method=method))
        scaling = cast("Scaling", _check.one_of(("isotropic", "width"), scaling=scaling))
        guarantee = Guarantee(epsilon, check_delta(delta) or None, rho)
        if guarantee.is_pure and domain.is_interval and method == "exact":
            return cls._on_interval(domain, sensitivity, guarantee.pair[0])
        if guarantee.is_pure:
            sigma, loss = sigma_for_epsilon(
                domain.widths, sensitivity, guarantee.pair[0], method, scaling
            )
        elif method != "exact":
            raise _check.refusal("'exact' for a guarantee with delta or rho", method=method)
        else:
            sigma, loss = _relaxed_sigma(domain.widths, sensitivity, guarantee, scaling), None
        joint = scaling == "width" and not domain.is_interval
        mechanism = cls(domain, sensitivity, sigma if joint else float(sigma[0]))
        object.__setattr__(mechanism, "_loss", loss)
        return mechanism

    @classmethod
    def _on_interval(cls, domain: Box, sensitivity: Sensitivity, epsilon: float) -> BoundedGaussian:
        """Return the mechanism of `calibrated` for pure epsilon on an interval, without arrays."""
        width = float(domain.widths[0])
        change = sensitivity.within_interval(width)
        sigma, loss = smallest_interval_sigma(width, change, epsilon)
        mechanism = cls(domain, sensitivity, sigma)
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
            An upper bound, within 1 % of the smallest such delta on an interval. It is never above
            the delta of the Gaussian mechanism without truncation. Proof:
            docs/proofs/approximate.md, theorems 1 to 8.

        Raises
        ------
        ArgumentError
            If `epsilon` is negative or not finite.

        Examples
        --------
        >>> import inbounds as ib
        >>> m = ib.BoundedGaussian(ib.Box(0, 10), 1, sigma=2.75)
        >>> 1e-7 < m.delta(1.0) < 2e-7, m.delta(m.epsilon)
        (True, 0.0)
        """
        epsilon = _check.not_negative(epsilon=epsilon)
        return delta_upper_bound(*self._setting, epsilon)

    @property
    def total_variation(self) -> float:
        """An upper bound on the total variation between neighbours, which is `delta` at 0."""
        return self.delta(0.0)

    @property
    def rho(self) -> float:
        """A rho such that the same release is rho-zCDP.

        Proof: docs/proofs/concentrated.md, theorems 5, 7 and 8.
        """
        return rho_upper_bound(*self._setting)

    @property
    def gdp(self) -> float:
        """A mu such that the same release is mu-GDP.

        Proof: docs/proofs/approximate.md, theorem 5.
        """
        return mu_upper_bound(*self._setting)

    def renyi(self, alpha: float) -> float:
        """Return an upper bound on the Rényi divergence of order `alpha` >= 1.

        Proof: docs/proofs/concentrated.md, theorems 5, 6, 9 and 10.

        Examples
        --------
        >>> import inbounds as ib
        >>> m = ib.BoundedGaussian(ib.Box(0, 10), 1, sigma=2.75)
        >>> m.renyi(2.0) <= 2 * m.rho <= 2 * m.gdp**2 / 2
        True
        """
        return renyi_upper_bound(*self._setting, check_order(alpha))

    def _find_loss(self) -> PureLoss:
        return pure_loss(*self._setting)

    def _stated_caps(self) -> Floats:
        return self.sensitivity.limits(self.domain.dimension).caps


def _relaxed_sigma(
    widths: Floats, sensitivity: Sensitivity, guarantee: Guarantee, scaling: Scaling
) -> Floats:
    """Return the sigma of each coordinate that gives (epsilon, delta) or rho."""
    power = power_of_two_below(float(widths.max()))  # squares stay in range
    reach, widths = sensitivity.within(widths) / power, widths / power
    shape = widths if scaling == "width" else np.ones_like(widths)
    if guarantee.rho is not None:
        return sigma_for_rho(widths, reach, shape, guarantee.rho) * power
    epsilon, delta = guarantee.pair
    if scaling == "width" and reach.order is None:
        shape = split_by_width(widths, reach.caps, epsilon)  # never above the pure sigma
    return sigma_for_delta(widths, reach, shape, epsilon, delta) * power
