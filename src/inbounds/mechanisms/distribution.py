"""The distribution of a mechanism's outputs: moments, density, quantiles."""

from __future__ import annotations

import math
import warnings
from typing import Any, ClassVar, overload

import numpy as np

from inbounds import _check
from inbounds._number import fits_in_memory
from inbounds._types import Floats, Number, Numbers
from inbounds.domain import Box
from inbounds.errors import ArgumentError
from inbounds.numerics.noise import Clamped, Noise


class Distribution:
    """The distribution of an output: its moments, density and quantiles.

    Coordinates are independent, so each method describes each coordinate separately, before the
    rounding to the output grid. A number gives a number; arrays and columns give arrays.
    """

    __slots__ = ()

    domain: Box

    noise: ClassVar[Noise]
    """The distribution of the noise, before it meets the bounds of the box."""

    _clamped: ClassVar[bool] = False

    @overload
    def mean(self, values: Number) -> float: ...
    @overload
    def mean(self, values: Numbers) -> Floats: ...
    def mean(self, values: Any) -> Any:
        """Return the expected output for `values`."""
        inside, left, right, scale = self._standardised(values)
        return scalar_or_array(inside + scale * self._bounded.bias(left, right))

    @overload
    def bias(self, values: Number) -> float: ...
    @overload
    def bias(self, values: Numbers) -> Floats: ...
    def bias(self, values: Any) -> Any:
        """Return the expected output minus the value."""
        _, left, right, scale = self._standardised(values)
        return scalar_or_array(scale * self._bounded.bias(left, right))

    @overload
    def variance(self, values: Number) -> float: ...
    @overload
    def variance(self, values: Numbers) -> Floats: ...
    @np.errstate(over="ignore")  # an infinite result is correct, and a warning might be private
    def variance(self, values: Any) -> Any:
        """Return the variance of the output."""
        _, left, right, scale = self._standardised(values)
        bias = self._bounded.bias(left, right)
        return scalar_or_array(
            scale * (scale * (self._bounded.second_moment(left, right) - bias**2))
        )

    @overload
    def mse(self, values: Number) -> float: ...
    @overload
    def mse(self, values: Numbers) -> Floats: ...
    @np.errstate(over="ignore")  # as above
    def mse(self, values: Any) -> Any:
        """Return the mean squared difference between the output and the value."""
        _, left, right, scale = self._standardised(values)
        return scalar_or_array(scale * (scale * self._bounded.second_moment(left, right)))

    @overload
    def mass_at_bounds(self, values: Number) -> tuple[float, float]: ...
    @overload
    def mass_at_bounds(self, values: Numbers) -> tuple[Floats, Floats]: ...
    def mass_at_bounds(self, values: Any) -> tuple[Any, Any]:
        """Return the probabilities that the output is the lower bound, and the upper bound.

        They are zero for truncated noise, except for the rounding to the output grid.

        Examples
        --------
        >>> import inbounds as ib
        >>> ib.ClampedLaplace(ib.Box(0, 1), 1, scale=1.0).mass_at_bounds(0.0)[0]
        0.5
        """
        _, left, right, _ = self._standardised(values)
        low, high = self._bounded.atoms(left, right)
        return scalar_or_array(low), scalar_or_array(high)

    @overload
    def pdf(self, x: Number, values: Number) -> float: ...
    @overload
    def pdf(self, x: Numbers, values: Number | Numbers) -> Floats: ...
    @overload
    def pdf(self, x: Number, values: Numbers) -> Floats: ...
    @np.errstate(over="ignore")  # as above
    def pdf(self, x: Any, values: Any) -> Any:
        """Return the density at `x` of the output for `values`, without `mass_at_bounds`."""
        inside, left, right, scale = self._standardised(values)
        point = _fitting(inside, x=x)
        near = self._clip(point)
        density = self._bounded.density((near - inside) / scale, left, right) / scale
        return scalar_or_array(np.where(point == near, density, 0.0))

    @overload
    def cdf(self, x: Number, values: Number) -> float: ...
    @overload
    def cdf(self, x: Numbers, values: Number | Numbers) -> Floats: ...
    @overload
    def cdf(self, x: Number, values: Numbers) -> Floats: ...
    def cdf(self, x: Any, values: Any) -> Any:
        """Return the probability that the output for `values` is at most `x`."""
        inside, left, right, scale = self._standardised(values)
        point = _fitting(inside, x=x)
        fraction = self._bounded.cumulative((self._clip(point) - inside) / scale, left, right)
        return scalar_or_array(np.where(point < self.domain.lower, 0.0, fraction))

    @overload
    def quantile(self, q: Number, values: Number) -> float: ...
    @overload
    def quantile(self, q: Numbers, values: Number | Numbers) -> Floats: ...
    @overload
    def quantile(self, q: Number, values: Numbers) -> Floats: ...
    def quantile(self, q: Any, values: Any) -> Any:
        """Return the point that the output for `values` does not exceed with probability `q`."""
        inside, left, right, scale = self._standardised(values)
        level = _fitting(inside, q=q)
        if not ((level >= 0) & (level <= 1)).all():
            raise ArgumentError.must_be("q", "between 0 and 1")
        return scalar_or_array(
            self._clip(inside + scale * self._bounded.quantile(level, left, right))
        )

    @overload
    def output_interval(self, values: Number, level: Number) -> tuple[float, float]: ...
    @overload
    def output_interval(self, values: Numbers, level: Number) -> tuple[Floats, Floats]: ...
    def output_interval(self, values: Any, level: Number) -> tuple[Any, Any]:
        """Return the ends of the central interval that holds the output with probability `level`.

        This is about the outputs of *known* values, for planning. For the true value behind an
        output that was released, see `confidence`.

        See Also
        --------
        confidence : an interval for the true value, given an output.

        Examples
        --------
        >>> import inbounds as ib
        >>> low, high = ib.BoundedGaussian(ib.Box(0, 1), 0.1, sigma=0.1).output_interval(0.5, 0.95)
        >>> round(low, 3), round(high, 3)
        (0.304, 0.696)
        """
        level = check_level(level)
        return self.quantile((1 - level) / 2, values), self.quantile((1 + level) / 2, values)

    @overload
    def interval(self, values: Number, level: Number) -> tuple[float, float]: ...
    @overload
    def interval(self, values: Numbers, level: Number) -> tuple[Floats, Floats]: ...
    def interval(self, values: Any, level: Number) -> tuple[Any, Any]:
        """Return `output_interval`, under its old name."""
        warnings.warn(
            "interval is now called output_interval; for the true value behind an output, "
            "use confidence(output, level).",
            DeprecationWarning,
            stacklevel=2,
        )
        return self.output_interval(values, level)

    @property
    def scale(self) -> float | Floats:
        """The scale of the noise, which is sigma for a Gaussian: one number, or one per coordinate.

        Examples
        --------
        >>> import inbounds as ib
        >>> ib.BoundedGaussian(ib.Box(0, 1), 1, sigma=0.5).scale
        0.5
        """
        scale: float | Floats = getattr(self, self.noise.scale_name)
        return scale

    @property
    def scales(self) -> Floats:
        """The scale of each coordinate, always as a vector."""
        return np.broadcast_to(self.scale, self.domain.dimension).astype(float)

    @property
    def _bounded(self) -> Noise | Clamped:
        """The noise after truncation or clamping."""
        return self.noise.clamped if self._clamped else self.noise

    def _standardised(self, values: Any) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the clamped values, their distances to both bounds over the scale, the scale."""
        inside = self.domain.clamp(_check.private_values(values=values))
        scale = np.asarray(self.scale)
        left, right = (inside - self.domain.lower) / scale, (self.domain.upper - inside) / scale
        return inside, left, right, scale

    def _clip(self, x: Floats) -> Floats:
        return np.clip(x, self.domain.lower, self.domain.upper)


def check_level(level: object) -> float:
    """Return a checked level. Errors do not show it, because it may be a misplaced value."""
    number = _check.public_values(level=level)
    if number.ndim or not 0 < number < 1:
        raise ArgumentError.must_be("level", "a number strictly between 0 and 1")
    return float(number)


def scalar_or_array(result: Any) -> Any:
    """Return an array without dimensions as a float, and any other array unchanged."""
    return result if np.ndim(result) else float(result)


def _fitting(values: Floats, **labelled: Any) -> Floats:
    """Return the only keyword argument as public numbers whose shape broadcasts with values."""
    (name,), numbers = labelled, _check.public_values(**labelled)
    try:
        shape = np.broadcast_shapes(numbers.shape, values.shape)
    except ValueError:
        got = f"{numbers.shape} and {values.shape}"
        raise ArgumentError.must(
            name, "have a shape that broadcasts with values", got=got
        ) from None
    fits_in_memory(math.prod(shape), f"{name} beside values")
    return numbers
