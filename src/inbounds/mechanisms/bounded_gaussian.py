"""The bounded Gaussian mechanism: normal noise truncated to the box.

Its epsilon is proved in docs/proofs/interval.md and docs/proofs/box.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from inbounds import _check
from inbounds._check import Floats, short
from inbounds.calibration.certificate import Certificate, certify
from inbounds.calibration.exact import PureLoss, pure_loss
from inbounds.calibration.pure import Method, Scaling, sigma_for_epsilon
from inbounds.domain import Box
from inbounds.errors import ArgumentError, ArgumentTypeError, CertificateError
from inbounds.numerics import truncated_normal as law
from inbounds.sampling.entropy import SYSTEM, Entropy
from inbounds.sampling.sampler import Sampler
from inbounds.sensitivity import Sensitivity, as_sensitivity

_EXTREME = 2.0**250


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BoundedGaussian:
    """Release numbers with Gaussian noise truncated to a box, so that answers are always valid.

    On an interval (``Box(0, 120)``) every element of an array is a release of its own: n people's
    values at epsilon each, or one person's n answers at n·epsilon together. On an m-dimensional
    box (``Box([0, 1], [10, 9])``) the last axis has length m and is one joint release at epsilon.

    Parameters
    ----------
    domain
        The box that values and answers live in.
    sensitivity
        What one neighbour may change: a number (an l2 norm) or `L2`, `L1`, `LInf`,
        `PerCoordinate` and their intersections.
    sigma
        Scale of the Gaussian before truncation: one number, or one per coordinate. Use
        `calibrated` to get the smallest that gives a wanted epsilon.

    Guarantees
    ----------
    For any two values that differ by what `sensitivity` allows, and any set of answers, the
    probabilities differ by a factor of at most exp(`epsilon`). Values outside the box are moved to
    its nearest point first, which never makes two values differ more.

    Notes
    -----
    Coordinates are independent, so moments, `pdf`, `cdf`, `quantile` and `interval` speak of each
    coordinate by itself. They describe the law before rounding to the output grid, which moves an
    answer by at most half a step.

    Examples
    --------
    >>> m = BoundedGaussian.calibrated(Box(0, 120), 2.5, epsilon=1.0)
    >>> m
    BoundedGaussian(Box(0, 120), L2(2.5), sigma=16.318...)
    >>> 0 <= m.release(41.3) <= 120
    True
    """

    domain: Box
    sensitivity: Sensitivity
    sigma: float | Floats
    _loss: PureLoss | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        _check_box(self.domain)
        sensitivity = as_sensitivity(self.sensitivity)
        sensitivity.limits(self.domain.dimension)
        sigma = _check.positive_vector(sigma=self.sigma)
        if np.ndim(sigma) and (self.domain.is_interval or np.size(sigma) != self.domain.dimension):
            raise ArgumentError(
                f"sigma must be one number, or one per coordinate of a box of several, "
                f"got {np.size(sigma)} for {self.domain!r}."
            )
        with np.errstate(over="ignore"):
            share = np.asarray(sigma) / self.domain.widths
        if not ((share > 1 / _EXTREME) & (share < _EXTREME)).all():
            raise ArgumentError("sigma must be within a factor of 2**250 of the width of the box.")
        object.__setattr__(self, "sensitivity", sensitivity)
        object.__setattr__(self, "sigma", sigma)

    @classmethod
    def calibrated(
        cls,
        domain: Box,
        sensitivity: Sensitivity | float,
        *,
        epsilon: float,
        method: Method = "exact",
        scaling: Scaling = "isotropic",
    ) -> BoundedGaussian:
        """Return the mechanism with the least noise that gives `epsilon`.

        Parameters
        ----------
        domain, sensitivity
            As for `BoundedGaussian`.
        epsilon
            The pure differential privacy to give. The result's own `epsilon` never exceeds it.
        method
            ``"exact"``: the smallest sigma. ``"paper"``: Theorems 1 and 2 of Chen and Hale, up to
            3.25 times the variance. ``"liu"``: the bound they compare with; it needs the
            sensitivity of each coordinate.
        scaling
            ``"isotropic"``: the same sigma for every coordinate. ``"width"``: sigma follows the
            width, so that an age in [0, 120] and an income in [0, 10⁶] can share one release.

        Examples
        --------
        >>> from inbounds import PerCoordinate
        >>> box, changes = Box([0, 1], [10, 9]), PerCoordinate([4, 2])
        >>> round(BoundedGaussian.calibrated(box, changes, epsilon=1.0).sigma ** 2, 3)
        31.72
        >>> round(BoundedGaussian.calibrated(box, changes, epsilon=1.0, method="liu").sigma ** 2, 3)
        132.0
        """
        _check_box(domain)
        sensitivity = as_sensitivity(sensitivity)
        epsilon = _check.within(1e-100, 1e100, epsilon=_check.positive(epsilon=epsilon))
        method = cast("Method", _check.one_of(("exact", "paper", "liu"), method=method))
        scaling = cast("Scaling", _check.one_of(("isotropic", "width"), scaling=scaling))
        sigma, loss = sigma_for_epsilon(domain.widths, sensitivity, epsilon, method, scaling)
        joint = scaling == "width" and not domain.is_interval
        mechanism = cls(domain, sensitivity, sigma if joint else float(sigma[0]))
        object.__setattr__(mechanism, "_loss", loss)
        return mechanism

    @property
    def epsilon(self) -> float:
        """The pure epsilon this sigma gives: exact up to 6e-14, and never below the truth."""
        return self._pure_loss().epsilon

    def certificate(self) -> Certificate:
        """Prove `epsilon` in ball arithmetic at the very doubles in use.

        Takes about 40 µs for each distinct coordinate. The certificate can be written to JSON and
        checked by code that shares nothing with the one that made it.

        Examples
        --------
        >>> m = BoundedGaussian(Box(0, 1), 0.1, sigma=0.5)
        >>> m.certificate().epsilon <= m.epsilon
        True
        """
        loss, size = self._pure_loss(), self.domain.dimension
        stated = self.sensitivity.limits(size)
        reach = self.sensitivity.within(self.domain.widths)
        proof = certify(
            lower=np.broadcast_to(self.domain.lower, size),
            upper=np.broadcast_to(self.domain.upper, size),
            sigma=self._sigmas,
            caps=stated.caps,
            order=reach.order,
            radius=reach.radius,
            change=loss.change,
            multiplier=loss.multiplier,
        )
        if proof.epsilon > loss.epsilon:
            raise CertificateError(
                f"epsilon={loss.epsilon!r} could not be certified: the proof gives "
                f"{proof.epsilon!r}. Please report this with the mechanism's parameters."
            )
        return proof

    def release(self, values: Any, *, equal_time: bool = True, entropy: Entropy = SYSTEM) -> Any:
        """Return private answers for `values`, of the same shape; a number for a number.

        On an interval each element is answered by itself at `epsilon`. On a box the last axis is
        one joint answer at `epsilon`; every further row costs another `epsilon`.

        Parameters
        ----------
        values
            A number or an array of finite numbers. Those outside the box are moved to it.
        equal_time
            Whether the work done must not depend on the values (by default it does not, from 1024
            values on). Turn it off where nobody can watch the clock, for a few percent of speed.
        entropy
            Source of random bits; the operating system's unless a test says otherwise.

        Guarantees
        ----------
        Each answer is the ideal real-valued output rounded to a grid that does not depend on the
        value, exactly in law: no rounding error ever decides. The grid has 2²² points per sigma
        or per width, whichever is smaller (2⁴⁰ per width at most), or the box's `step`.

        Examples
        --------
        >>> import numpy as np
        >>> m = BoundedGaussian.calibrated(Box(0, 120, step=1), 120, epsilon=1.0)
        >>> answers = m.release(np.array([3.0, 41.0, 250.0]))
        >>> bool(((answers >= 0) & (answers <= 120)).all()), answers.dtype.kind
        (True, 'i')
        """
        if not (hasattr(entropy, "bits") and hasattr(entropy, "words")):
            raise ArgumentTypeError(
                "entropy must be a source with bits() and words(), as in inbounds.sampling.entropy."
            )
        given = _check.private_array(values=values)
        self.domain.check_shape(given)
        sampler = Sampler(
            "normal",
            np.atleast_1d(self.domain.lower),
            np.atleast_1d(self.domain.upper),
            self._sigmas,
            self.domain.steps,
            equal_time=equal_time,
        )
        answers = sampler.draw(given, entropy)
        return answers if given.ndim else answers.item()

    def mean(self, values: Any) -> Any:
        """Return the expected answer for `values`."""
        inside, left, right, sigma = self._standardised(values)
        return _like(inside + sigma * law.bias(left, right))

    def bias(self, values: Any) -> Any:
        """Return the expected answer minus the value."""
        _, left, right, sigma = self._standardised(values)
        return _like(sigma * law.bias(left, right))

    def variance(self, values: Any) -> Any:
        """Return the variance of the answer."""
        _, left, right, sigma = self._standardised(values)
        return _like(sigma**2 * (law.second_moment(left, right) - law.bias(left, right) ** 2))

    def mse(self, values: Any) -> Any:
        """Return the mean squared distance of the answer from the value."""
        _, left, right, sigma = self._standardised(values)
        return _like(sigma**2 * law.second_moment(left, right))

    def pdf(self, x: Any, values: Any) -> Any:
        """Return the density at `x` of the answer for `values`; zero outside the box."""
        inside, left, right, sigma = self._standardised(values)
        point = self._point(x, inside)
        near = self._clip(point)
        density = law.density((near - inside) / sigma, left, right) / sigma
        return _like(np.where(point == near, density, 0.0))

    def cdf(self, x: Any, values: Any) -> Any:
        """Return the probability that the answer for `values` is at most `x`."""
        inside, left, right, sigma = self._standardised(values)
        point = self._point(x, inside)
        share = law.cumulative((self._clip(point) - inside) / sigma, left, right)
        return _like(np.where(point < self.domain.lower, 0.0, share))

    def quantile(self, q: Any, values: Any) -> Any:
        """Return the point that the answer for `values` does not exceed with probability `q`."""
        inside, left, right, sigma = self._standardised(values)
        level = _check.public_values(q=q)
        if not ((level >= 0) & (level <= 1)).all():
            raise ArgumentError("q must be between 0 and 1.")
        _check_fit("q", level, inside)
        return _like(self._clip(inside + sigma * law.quantile(level, left, right)))

    def interval(self, values: Any, level: float) -> tuple[Any, Any]:
        """Return the ends of the central interval that holds the answer with probability `level`.

        Examples
        --------
        >>> low, high = BoundedGaussian(Box(0, 1), 0.1, sigma=0.1).interval(0.5, 0.95)
        >>> round(low, 3), round(high, 3)
        (0.304, 0.696)
        """
        share = _check.public_values(level=level)  # never shown: it may be a value out of place
        if share.ndim or not 0 < share < 1:
            raise ArgumentError("level must be one number strictly between 0 and 1.")
        return self.quantile((1 - share) / 2, values), self.quantile((1 + share) / 2, values)

    def denoise(self, output: Any) -> Any:
        """Return the posterior mean of the value given an answer, all values equally likely before.

        It reads the answer only, so it costs no privacy. At high noise (sigma above the width) it
        halves the mean squared error; at low noise it gains a few percent.

        Examples
        --------
        >>> round(BoundedGaussian(Box(0, 1), 1, sigma=1.0).denoise(0.35), 6)
        0.487538
        """
        outside = _check.public_values(output=output)
        self.domain.check_shape(outside, "output")
        inside, lower, width = self._clip(outside), np.asarray(self.domain.lower), self._widths
        sigma = np.asarray(self.sigma)
        centre = law.posterior_mean(
            (inside - lower) / sigma, np.broadcast_to(width / sigma, inside.shape)
        )
        return _like(self._clip(lower + sigma * centre))

    @property
    def _widths(self) -> Floats:
        """Widths in the shape that broadcasts against values."""
        return np.subtract(self.domain.upper, self.domain.lower)

    @property
    def _sigmas(self) -> Floats:
        return np.broadcast_to(self.sigma, self.domain.dimension).astype(float)

    def _pure_loss(self) -> PureLoss:
        if self._loss is None:
            widths = self.domain.widths
            loss = pure_loss(widths, self.sensitivity.within(widths), self._sigmas)
            object.__setattr__(self, "_loss", loss)
        return cast("PureLoss", self._loss)

    def _standardised(self, values: Any) -> tuple[Floats, Floats, Floats, Floats]:
        """Return values moved into the box, their distances to both bounds in sigma, and sigma."""
        inside = self.domain.clamp(_check.private_values(values=values))
        sigma = np.asarray(self.sigma)
        left, right = (inside - self.domain.lower) / sigma, (self.domain.upper - inside) / sigma
        return inside, left, right, sigma

    def _point(self, x: Any, inside: Floats) -> Floats:
        point = _check.public_values(x=x)
        _check_fit("x", point, inside)
        return point

    def _clip(self, x: Floats) -> Floats:
        return np.clip(x, self.domain.lower, self.domain.upper)

    def __reduce__(self) -> tuple[object, ...]:
        """Copy through the constructor: what is derived is derived again."""
        return BoundedGaussian, (self.domain, self.sensitivity, self.sigma)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BoundedGaussian):
            return NotImplemented
        return (
            self.domain == other.domain
            and self.sensitivity == other.sensitivity
            and np.array_equal(self.sigma, other.sigma)
        )

    def __hash__(self) -> int:
        return hash((self.domain, self.sensitivity, np.asarray(self.sigma).tobytes()))

    def __repr__(self) -> str:
        return f"BoundedGaussian({self.domain!r}, {self.sensitivity!r}, sigma={short(self.sigma)})"


def _check_box(domain: object) -> None:
    if not isinstance(domain, Box):
        raise ArgumentTypeError(f"domain must be a Box, got domain={domain!r}.")
    widths = domain.widths
    if widths.size > 1 and not (widths.min() > 1e-100 and widths.max() < 1e100):
        raise ArgumentError("domain must have widths between 1e-100 and 1e100 to be joint.")


def _check_fit(name: str, given: Floats, values: Floats) -> None:
    try:
        np.broadcast_shapes(given.shape, values.shape)
    except ValueError:
        raise ArgumentError(
            f"{name} must have a shape that fits that of values, "
            f"got {given.shape} and {values.shape}."
        ) from None


def _like(result: Any) -> Any:
    """Give a number for a number."""
    return result if np.ndim(result) else float(result)
