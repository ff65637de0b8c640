"""The moments of a mechanism's outputs: mean, bias, variance, squared error, mass at the bounds."""

from __future__ import annotations

from typing import Any, ClassVar, overload

import numpy as np

from inbounds import _check
from inbounds._types import Floats, Number, Numbers
from inbounds.domain import Box
from inbounds.numerics.noise import Clamped, Noise


class Moments:
    """The moments of an output, for each coordinate separately; see `Distribution`.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.BoundedGaussian(ib.Box(0, 1), 1, sigma=0.5)
    >>> m.bias(0.5), round(m.variance(0.5), 6) == round(m.mse(0.5), 6)
    (0.0, True)
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
        """Return the expected output for `values`.

        Parameters
        ----------
        values
            True values: a number or an array. Those outside the box count as its nearest point.

        Returns
        -------
        float or numpy.ndarray
            E[Y] for the output Y of each value; the class of the mechanism states the formula.

        Raises
        ------
        ArgumentError
            If a value is NaN or infinite.
        ArgumentTypeError
            If a value is not a real number.
        """
        inside, left, right, scale = self._standardised(values)
        return scalar_or_array(inside + scale * self._bounded.bias(left, right))

    @overload
    def bias(self, values: Number) -> float: ...
    @overload
    def bias(self, values: Numbers) -> Floats: ...
    def bias(self, values: Any) -> Any:
        """Return the expected output minus the value.

        Parameters
        ----------
        values
            True values: a number or an array. Those outside the box count as its nearest point.

        Returns
        -------
        float or numpy.ndarray
            E[Y] - x for the output Y of each value x.

        Raises
        ------
        ArgumentError
            If a value is NaN or infinite.
        ArgumentTypeError
            If a value is not a real number.
        """
        _, left, right, scale = self._standardised(values)
        return scalar_or_array(scale * self._bounded.bias(left, right))

    @overload
    def variance(self, values: Number) -> float: ...
    @overload
    def variance(self, values: Numbers) -> Floats: ...
    @np.errstate(over="ignore")  # an infinite result is correct, and a warning might be private
    def variance(self, values: Any) -> Any:
        """Return the variance of the output.

        Parameters
        ----------
        values
            True values: a number or an array. Those outside the box count as its nearest point.

        Returns
        -------
        float or numpy.ndarray
            E[(Y - E[Y])²] for the output Y of each value.

        Raises
        ------
        ArgumentError
            If a value is NaN or infinite.
        ArgumentTypeError
            If a value is not a real number.
        """
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
        """Return the mean squared difference between the output and the value.

        Parameters
        ----------
        values
            True values: a number or an array. Those outside the box count as its nearest point.

        Returns
        -------
        float or numpy.ndarray
            E[(Y - x)²], which is the variance plus bias², for the output Y of each value x.

        Raises
        ------
        ArgumentError
            If a value is NaN or infinite.
        ArgumentTypeError
            If a value is not a real number.
        """
        _, left, right, scale = self._standardised(values)
        return scalar_or_array(scale * (scale * self._bounded.second_moment(left, right)))

    @overload
    def mass_at_bounds(self, values: Number) -> tuple[float, float]: ...
    @overload
    def mass_at_bounds(self, values: Numbers) -> tuple[Floats, Floats]: ...
    def mass_at_bounds(self, values: Any) -> tuple[Any, Any]:
        """Return the probabilities that the output is the lower bound, and the upper bound.

        Parameters
        ----------
        values
            True values: a number or an array. Those outside the box count as its nearest point.

        Returns
        -------
        tuple of two floats or arrays
            P(Y = lower) and P(Y = upper) for the output Y of each value. They are zero for
            truncated noise, except for the rounding to the output grid.

        Raises
        ------
        ArgumentError
            If a value is NaN or infinite.
        ArgumentTypeError
            If a value is not a real number.

        Examples
        --------
        >>> import inbounds as ib
        >>> ib.ClampedLaplace(ib.Box(0, 1), 1, scale=1.0).mass_at_bounds(0.0)[0]
        0.5
        """
        _, left, right, _ = self._standardised(values)
        low, high = self._bounded.atoms(left, right)
        return scalar_or_array(low), scalar_or_array(high)

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


def scalar_or_array(result: Any) -> Any:
    """Return an array without dimensions as a float, and any other array unchanged."""
    return result if np.ndim(result) else float(result)
