"""What every mechanism has in common: a box, a sensitivity, a scale, exact release and moments."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from inbounds import _check
from inbounds._check import Floats, short
from inbounds.domain import Box
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.loss import PrivacyLoss, profile, pure_mu, pure_rho, response_delta
from inbounds.mechanisms.column import open_column
from inbounds.mechanisms.guarantee import check_box, check_order
from inbounds.numerics.clamped import Noise
from inbounds.sampling.entropy import SYSTEM, Entropy
from inbounds.sampling.sampler import Sampler
from inbounds.sampling.strips import Law
from inbounds.sensitivity import Sensitivity, as_sensitivity


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Mechanism(ABC):
    """Noise of one scale per coordinate around a value in a box; the answer stays in the box.

    On an interval every element of an array is a release of its own: n people's values at epsilon
    each, or one person's n answers at n·epsilon together. On an m-dimensional box the last axis
    has length m and is one joint release at epsilon.

    Coordinates are independent, so moments, `pdf`, `cdf`, `quantile` and `interval` speak of each
    coordinate by itself. They describe the law before rounding to the output grid, which moves an
    answer by at most half a step.
    """

    domain: Box
    sensitivity: Sensitivity

    _law: ClassVar[Law]
    _noise: ClassVar[Noise]
    _clamped: ClassVar[bool] = False
    _scale_name: ClassVar[str] = "sigma"

    def __post_init__(self) -> None:
        check_box(self.domain)
        sensitivity = as_sensitivity(self.sensitivity)
        sensitivity.limits(self.domain.dimension)
        name = self._scale_name
        scale = _check.positive_vector(**{name: self._scale})
        if np.ndim(scale) and (self.domain.is_interval or np.size(scale) != self.domain.dimension):
            raise ArgumentError(
                f"{name} must be one number, or one per coordinate of a box of several, "
                f"got {np.size(scale)} for {self.domain!r}."
            )
        with np.errstate(over="ignore"):
            share = np.asarray(scale) / self.domain.widths
        if not ((share > 2.0**-250) & (share < 2.0**250)).all():
            raise ArgumentError(f"{name} must be within a factor of 2**250 of the box's width.")
        if np.min(scale) < 2.0**-1022:  # rounded so coarsely that it may miss the guarantee
            raise ArgumentError(f"{name} must be at least 2**-1022.\nHint: use smaller units.")
        object.__setattr__(self, "sensitivity", sensitivity)
        object.__setattr__(self, name, scale)

    @property
    @abstractmethod
    def epsilon(self) -> float:
        """The pure epsilon this scale gives, never below the truth."""

    def delta(self, epsilon: float) -> float:
        """Return an upper bound on delta: (`epsilon`, delta)-privacy holds for the same release.

        Whatever is purely private at `self.epsilon` is no worse than randomised response there.

        Examples
        --------
        >>> import inbounds as ib
        >>> m = ib.BoundedLaplace.calibrated(ib.Box(0, 1), 1, epsilon=1.0)
        >>> m.delta(1.0), 0 < m.delta(0.5) < 0.3
        (0.0, True)
        """
        epsilon = _check.not_negative(epsilon=epsilon)
        return response_delta(self.epsilon, epsilon)

    @property
    def rho(self) -> float:
        """The zero-concentrated privacy of the same release: an upper bound on rho."""
        return pure_rho(self.epsilon)

    @property
    def gdp(self) -> float:
        """The Gaussian privacy of the same release: the mu of a plain Gaussian that is no safer."""
        return pure_mu(self.epsilon)

    def renyi(self, alpha: float) -> float:
        """Return an upper bound on the Rényi divergence of order `alpha` >= 1."""
        return min(self.epsilon, check_order(alpha) * self.rho)

    def loss(self) -> PrivacyLoss:
        """Describe what one release may cost, as data that `compose` and `Ledger` read.

        Examples
        --------
        >>> import inbounds as ib
        >>> ib.BoundedLaplace.calibrated(ib.Box(0, 1), 1, epsilon=0.5).loss()
        PrivacyLoss(epsilon=0.5, mu=0.62..., rho=0.125...)
        """
        return PrivacyLoss(self.epsilon, self.gdp, self.rho, profile(self.delta, self.epsilon))

    def release(self, values: Any, *, equal_time: bool = True, entropy: Entropy = SYSTEM) -> Any:
        """Return private answers for `values`, of the same shape; a number for a number.

        On an interval each element is answered by itself at `epsilon`. On a box the last axis is
        one joint answer at `epsilon`; every further row costs another `epsilon`.

        Parameters
        ----------
        values
            A number or an array of finite numbers. Those outside the box are moved to it. On an
            interval also a Series of pandas or Polars or an Arrow array, which comes back as such.
        equal_time
            Whether the work done must not depend on the values (by default it does not, from 1024
            values on). Turn it off where nobody can watch the clock, for a few percent of speed.
        entropy
            Source of random bits; the operating system's unless a test says otherwise.

        Guarantees
        ----------
        Each answer is the ideal real-valued output rounded to a grid that does not depend on the
        value, exactly in law: no rounding error ever decides. The grid has 2²² points per scale
        or per width, whichever is smaller (2⁴⁰ per width at most), or the box's `step`.

        Examples
        --------
        >>> import numpy as np
        >>> import inbounds as ib
        >>> m = ib.BoundedGaussian.calibrated(ib.Box(0, 120, step=1), 120, epsilon=1.0)
        >>> answers = m.release(np.array([3.0, 41.0, 250.0]))
        >>> bool(((answers >= 0) & (answers <= 120)).all()), answers.dtype.kind
        (True, 'i')
        """
        if not (hasattr(entropy, "bits") and hasattr(entropy, "words")):
            raise ArgumentTypeError(
                "entropy must be a source with bits() and words(), as in inbounds.sampling.entropy."
            )
        column = open_column(values) if self.domain.is_interval else None
        given = _check.private_array(values=column[0] if column else values)
        self.domain.check_shape(given)
        answers = self._sampler(equal_time=equal_time).draw(given, entropy)
        if column:
            return column[1](answers)
        return answers if given.ndim else answers.item()

    def mean(self, values: Any) -> Any:
        """Return the expected answer for `values`."""
        inside, left, right, scale = self._standardised(values)
        return like(inside + scale * self._noise.bias(left, right))

    def bias(self, values: Any) -> Any:
        """Return the expected answer minus the value."""
        _, left, right, scale = self._standardised(values)
        return like(scale * self._noise.bias(left, right))

    @np.errstate(over="ignore")  # infinite where no double is as large, whatever the values
    def variance(self, values: Any) -> Any:
        """Return the variance of the answer."""
        _, left, right, scale = self._standardised(values)
        bias = self._noise.bias(left, right)
        return like(scale * (scale * (self._noise.second_moment(left, right) - bias**2)))

    @np.errstate(over="ignore")  # as above
    def mse(self, values: Any) -> Any:
        """Return the mean squared distance of the answer from the value."""
        _, left, right, scale = self._standardised(values)
        return like(scale * (scale * self._noise.second_moment(left, right)))

    def mass_at_bounds(self, values: Any) -> tuple[Any, Any]:
        """Return the probabilities that the answer is the lower bound, and the upper bound.

        Zero for truncated noise, up to the rounding to the output grid.

        Examples
        --------
        >>> import inbounds as ib
        >>> ib.ClampedLaplace(ib.Box(0, 1), 1, scale=1.0).mass_at_bounds(0.0)[0]
        0.5
        """
        _, left, right, _ = self._standardised(values)
        low, high = self._noise.atoms(left, right)
        return like(low), like(high)

    @np.errstate(over="ignore")  # as above
    def pdf(self, x: Any, values: Any) -> Any:
        """Return the density at `x` of the answer for `values`; atoms have none, see above."""
        inside, left, right, scale = self._standardised(values)
        point = _fitting(inside, x=x)
        near = self._clip(point)
        density = self._noise.density((near - inside) / scale, left, right) / scale
        return like(np.where(point == near, density, 0.0))

    def cdf(self, x: Any, values: Any) -> Any:
        """Return the probability that the answer for `values` is at most `x`."""
        inside, left, right, scale = self._standardised(values)
        point = _fitting(inside, x=x)
        share = self._noise.cumulative((self._clip(point) - inside) / scale, left, right)
        return like(np.where(point < self.domain.lower, 0.0, share))

    def quantile(self, q: Any, values: Any) -> Any:
        """Return the point that the answer for `values` does not exceed with probability `q`."""
        inside, left, right, scale = self._standardised(values)
        level = _fitting(inside, q=q)
        if not ((level >= 0) & (level <= 1)).all():
            raise ArgumentError("q must be between 0 and 1.")
        return like(self._clip(inside + scale * self._noise.quantile(level, left, right)))

    def interval(self, values: Any, level: float) -> tuple[Any, Any]:
        """Return the ends of the central interval that holds the answer with probability `level`.

        Examples
        --------
        >>> import inbounds as ib
        >>> low, high = ib.BoundedGaussian(ib.Box(0, 1), 0.1, sigma=0.1).interval(0.5, 0.95)
        >>> round(low, 3), round(high, 3)
        (0.304, 0.696)
        """
        share = _check.public_values(level=level)  # never shown: it may be a value out of place
        if share.ndim or not 0 < share < 1:
            raise ArgumentError("level must be one number strictly between 0 and 1.")
        return self.quantile((1 - share) / 2, values), self.quantile((1 + share) / 2, values)

    def _sampler(self, *, equal_time: bool = True) -> Sampler:
        """Return what draws answers; it takes its numbers unchecked."""
        box = self.domain
        bounds = np.atleast_1d(box.lower), np.atleast_1d(box.upper)
        return Sampler(self._law, *bounds, self._scales, box.steps, self._clamped, equal_time)

    @property
    def _scale(self) -> Any:
        return getattr(self, self._scale_name)

    @property
    def _scales(self) -> Floats:
        """The scale of each coordinate, always a vector."""
        return np.broadcast_to(self._scale, self.domain.dimension).astype(float)

    def _standardised(self, values: Any) -> tuple[Floats, Floats, Floats, Floats]:
        """Return values moved into the box, their distances to both bounds in scales, the scale."""
        inside = self.domain.clamp(_check.private_values(values=values))
        scale = np.asarray(self._scale)
        left, right = (inside - self.domain.lower) / scale, (self.domain.upper - inside) / scale
        return inside, left, right, scale

    def _clip(self, x: Floats) -> Floats:
        return np.clip(x, self.domain.lower, self.domain.upper)

    def __reduce__(self) -> tuple[object, ...]:
        """Copy through the constructor: what is derived is derived again."""
        return type(self), (self.domain, self.sensitivity, self._scale)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mechanism):
            return NotImplemented
        return (
            type(self) is type(other)
            and self.domain == other.domain
            and self.sensitivity == other.sensitivity
            and np.array_equal(self._scale, other._scale)
        )

    def __hash__(self) -> int:
        scale = np.asarray(self._scale).tobytes()
        return hash((type(self), self.domain, self.sensitivity, scale))

    def __repr__(self) -> str:
        scale = f"{self._scale_name}={short(self._scale)}"
        return f"{type(self).__name__}({self.domain!r}, {self.sensitivity!r}, {scale})"


def like(result: Any) -> Any:
    """Give a number for a number."""
    return result if np.ndim(result) else float(result)


def _fitting(values: Floats, **labelled: Any) -> Floats:
    """Return published numbers, the one keyword argument, if their shape fits that of values."""
    (name,), given = labelled, _check.public_values(**labelled)
    try:
        shape = np.broadcast_shapes(given.shape, values.shape)
    except ValueError:
        raise ArgumentError(
            f"{name} must have a shape that fits that of values, "
            f"got {given.shape} and {values.shape}."
        ) from None
    _check.fits_in_memory(math.prod(shape), f"{name} beside values")
    return given
