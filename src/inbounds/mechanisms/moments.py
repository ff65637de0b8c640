"""The moments of a mechanism's outputs: mean, bias, variance, squared error, mass at the bounds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, overload

import numpy as np

from inbounds import _check
from inbounds._entry import unwarned
from inbounds._types import Floats, Number, Numbers
from inbounds.domain import Box


class Moments(ABC):
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

    @overload
    def mean(self, values: Number) -> float: ...
    @overload
    def mean(self, values: Numbers) -> Floats: ...
    @unwarned
    def mean(self, values: Any) -> Any:
        """Return the expected output for `values`.

        Never publish it for a private value: see `Mechanism`.

        Parameters
        ----------
        values
            True values: a number or an array. Those outside the box count as its nearest point.

        Returns
        -------
        float or numpy.ndarray
            E[Y] for the output Y of each value; the class of the mechanism states the formula.
            It is computed without cancellation: docs/proofs/moments.md, theorems 1, 3 and 4.

        Raises
        ------
        ArgumentError
            If a value is NaN or infinite.
        ArgumentTypeError
            If a value is not a real number.
        """
        inside = self._inside(values)
        return scalar_or_array(inside + self._bias(inside))

    @overload
    def bias(self, values: Number) -> float: ...
    @overload
    def bias(self, values: Numbers) -> Floats: ...
    @unwarned
    def bias(self, values: Any) -> Any:
        """Return the expected output minus the value.

        Never publish it for a private value: see `Mechanism`.

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
        return scalar_or_array(self._bias(self._inside(values)))

    @overload
    def variance(self, values: Number) -> float: ...
    @overload
    def variance(self, values: Numbers) -> Floats: ...
    @unwarned
    def variance(self, values: Any) -> Any:
        """Return the variance of the output.

        Never publish it for a private value: see `Mechanism`.

        Parameters
        ----------
        values
            True values: a number or an array. Those outside the box count as its nearest point.

        Returns
        -------
        float or numpy.ndarray
            E[(Y - E[Y])²] for the output Y of each value.
            It is computed without cancellation: docs/proofs/moments.md, theorems 1, 3 and 4.

        Raises
        ------
        ArgumentError
            If a value is NaN or infinite.
        ArgumentTypeError
            If a value is not a real number.
        """
        return scalar_or_array(self._variance(self._inside(values)))

    @overload
    def mse(self, values: Number) -> float: ...
    @overload
    def mse(self, values: Numbers) -> Floats: ...
    @unwarned
    def mse(self, values: Any) -> Any:
        """Return the mean squared difference between the output and the value.

        Never publish it for a private value: see `Mechanism`.

        Parameters
        ----------
        values
            True values: a number or an array. Those outside the box count as its nearest point.

        Returns
        -------
        float or numpy.ndarray
            E[(Y - x)²], which is the variance plus bias², for the output Y of each value x. That
            noise is rounded to a step is not counted: it moves an output by up to half a step.

        Raises
        ------
        ArgumentError
            If a value is NaN or infinite.
        ArgumentTypeError
            If a value is not a real number.
        """
        return scalar_or_array(self._mse(self._inside(values)))

    @overload
    def mass_at_bounds(self, values: Number) -> tuple[float, float]: ...
    @overload
    def mass_at_bounds(self, values: Numbers) -> tuple[Floats, Floats]: ...
    @unwarned
    def mass_at_bounds(self, values: Any) -> tuple[Any, Any]:
        """Return the probabilities that the output is the lower bound, and the upper bound.

        Never publish them for a private value: see `Mechanism`.

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
        low, high = self._mass_at_bounds(self._inside(values))
        return scalar_or_array(low), scalar_or_array(high)

    # For clamped values, one array of outputs' moments each.

    @abstractmethod
    def _bias(self, inside: Floats) -> Floats: ...

    @abstractmethod
    def _variance(self, inside: Floats) -> Floats: ...

    @abstractmethod
    def _mse(self, inside: Floats) -> Floats: ...

    @abstractmethod
    def _mass_at_bounds(self, inside: Floats) -> tuple[Floats, Floats]: ...

    def _inside(self, values: Any) -> Floats:
        """Return values that were checked and moved into the box."""
        return self.domain.clamp(_check.private_values(values=values))

    def _clip(self, x: Floats) -> Floats:
        return np.clip(x, self.domain.lower, self.domain.upper)


def scalar_or_array(result: Any) -> Any:
    """Return an array without dimensions as a float, and any other array unchanged."""
    return result if np.ndim(result) else float(result)
