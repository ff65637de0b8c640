"""The distribution of a mechanism's outputs: density, distribution function, quantiles."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, overload

import numpy as np

from inbounds import _check
from inbounds._entry import unwarned, warn_caller
from inbounds._number import fits_in_memory
from inbounds._types import Floats, Number, Numbers
from inbounds.errors import ArgumentError
from inbounds.mechanisms.moments import Moments, scalar_or_array


class Distribution(Moments):
    """The distribution of an output: its moments, density and quantiles.

    Coordinates are independent, so each method describes each coordinate separately, before the
    rounding to the output grid. A number gives a number; arrays and columns give arrays.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.BoundedGaussian(ib.Box(0, 1), 1, sigma=0.5)
    >>> m.mean(0.5), m.cdf(0.5, 0.5), m.quantile(1, 0.5), m.pdf(1.5, 0.5)
    (0.5, 0.5, 1.0, 0.0)
    """

    __slots__ = ()

    @overload
    def pdf(self, x: Number, values: Number) -> float: ...
    @overload
    def pdf(self, x: Numbers, values: Number | Numbers) -> Floats: ...
    @overload
    def pdf(self, x: Number, values: Numbers) -> Floats: ...
    @unwarned
    def pdf(self, x: Any, values: Any) -> Any:
        """Return the density at `x` of the output for `values`, without `mass_at_bounds`.

        Never publish it for a private value: see `Mechanism`.

        Parameters
        ----------
        x
            Points at which to evaluate the density.
        values
            True values, which broadcast with `x`. Those outside the box count as its nearest
            point.

        Returns
        -------
        float or numpy.ndarray
            The p(x | value) of the class of the mechanism, which is 0 outside the box.

        Raises
        ------
        ArgumentError
            If `x` is NaN, a value is not finite, or the shapes do not broadcast.
        ArgumentTypeError
            If an argument does not hold real numbers.
        """
        inside = self._inside(values)
        point = _fitting(inside, x=x)
        near = self._clip(point)
        return scalar_or_array(np.where(point == near, self._pdf(near, inside), 0.0))

    @overload
    def cdf(self, x: Number, values: Number) -> float: ...
    @overload
    def cdf(self, x: Numbers, values: Number | Numbers) -> Floats: ...
    @overload
    def cdf(self, x: Number, values: Numbers) -> Floats: ...
    @unwarned
    def cdf(self, x: Any, values: Any) -> Any:
        """Return the probability that the output for `values` is at most `x`.

        Never publish it for a private value: see `Mechanism`.

        Parameters
        ----------
        x
            Points at which to evaluate the distribution function.
        values
            True values, which broadcast with `x`. Those outside the box count as its nearest
            point.

        Returns
        -------
        float or numpy.ndarray
            P(Y ≤ x) for the output Y of each value, including `mass_at_bounds`. It is computed
            without cancellation: docs/proofs/moments.md, theorems 1, 3 and 4.

        Raises
        ------
        ArgumentError
            If `x` is NaN, a value is not finite, or the shapes do not broadcast.
        ArgumentTypeError
            If an argument does not hold real numbers.
        """
        inside = self._inside(values)
        point = _fitting(inside, x=x)
        fraction = self._cdf(self._clip(point), inside)
        return scalar_or_array(np.where(point < self.domain.lower, 0.0, fraction))

    @overload
    def quantile(self, q: Number, values: Number) -> float: ...
    @overload
    def quantile(self, q: Numbers, values: Number | Numbers) -> Floats: ...
    @overload
    def quantile(self, q: Number, values: Numbers) -> Floats: ...
    @unwarned
    def quantile(self, q: Any, values: Any) -> Any:
        """Return the point that the output for `values` does not exceed with probability `q`.

        Never publish it for a private value: see `Mechanism`.

        Parameters
        ----------
        q
            Probabilities from 0 to 1.
        values
            True values, which broadcast with `q`. Those outside the box count as its nearest
            point.

        Returns
        -------
        float or numpy.ndarray
            The smallest x in the box with P(Y ≤ x) ≥ q, for the output Y of each value.

        Raises
        ------
        ArgumentError
            If `q` is not between 0 and 1, a value is not finite, or the shapes do not broadcast.
        ArgumentTypeError
            If an argument does not hold real numbers.
        """
        inside = self._inside(values)
        level = _fitting(inside, q=q)
        if not ((level >= 0) & (level <= 1)).all():
            raise ArgumentError.must_be("q", "between 0 and 1")
        return scalar_or_array(self._clip(self._quantile(level, inside)))

    @overload
    def output_interval(self, values: Number, level: Number) -> tuple[float, float]: ...
    @overload
    def output_interval(self, values: Numbers, level: Number) -> tuple[Floats, Floats]: ...
    @unwarned
    def output_interval(self, values: Any, level: Number) -> tuple[Any, Any]:
        """Return the ends of the central interval that holds the output with probability `level`.

        This is about the outputs of *known* values, for planning. Never publish it for a private
        value: see `Mechanism`. For the true value behind an output that was released, see
        `confidence`.

        Parameters
        ----------
        values
            True values: a number or an array. Those outside the box count as its nearest point.
        level
            The probability of the interval, strictly between 0 and 1.

        Returns
        -------
        tuple of two floats or arrays
            The quantiles (1 - level)/2 and (1 + level)/2 of the output for each value.

        Raises
        ------
        ArgumentError
            If a value is not finite, or `level` is not strictly between 0 and 1.

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
        """Return `output_interval`, under its old name, which gives a `DeprecationWarning`.

        Parameters
        ----------
        values, level
            As for `output_interval`.

        Returns
        -------
        tuple of two floats or arrays
            What `output_interval` returns: ends of an interval for *outputs*. It is no interval
            for the true value behind an output.

        See Also
        --------
        output_interval : the same, without the warning.
        confidence : an interval for the true value, given an output.
        """
        text = (
            "interval is now called output_interval; for the true value behind an output, "
            "use confidence(output, level)."
        )
        warn_caller(DeprecationWarning(text))
        return self.output_interval(values, level)

    # For clamped values, and points in the box.

    @abstractmethod
    def _pdf(self, x: Floats, inside: Floats) -> Floats: ...

    @abstractmethod
    def _cdf(self, x: Floats, inside: Floats) -> Floats: ...

    @abstractmethod
    def _quantile(self, q: Floats, inside: Floats) -> Floats: ...


def check_level(level: object) -> float:
    """Return a checked level. Errors do not show it, because it may be a misplaced value."""
    number = _check.public_values(level=level)
    if number.ndim or not 0 < number < 1:
        raise ArgumentError.must_be(
            "level", "a number strictly between 0 and 1", hint="write 95 % as 0.95."
        )
    return float(number)


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
    fits_in_memory(math.prod(shape), f"{name}, broadcast with values,")
    return numbers
