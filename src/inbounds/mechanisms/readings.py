"""What to read from one output: the most likely value on average, or an unbiased one."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, overload

import numpy as np

from inbounds import _check
from inbounds._column import open_column
from inbounds._entry import unwarned
from inbounds._types import Floats, Nested, Number, Numbers, SeriesLike, SeriesT
from inbounds.errors import ArgumentError, InBoundsError
from inbounds.mechanisms.distribution import Distribution
from inbounds.mechanisms.moments import scalar_or_array
from inbounds.sampling.grid import Grid

_VALUES = 257  # over which the smallest deviation is taken
_ROUNDING = 2.0**-48  # of the largest number in a reading, which outputs and slopes multiply


class Readable(Distribution):
    """Readings of outputs. They use published outputs only, so they cost no privacy.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.ClampedLaplace(ib.Box(0, 1), 1, scale=1.0)
    >>> round(m.denoise(1.0), 6), m.unbiased(1.0)
    (0.581977, 2.0)
    """

    __slots__ = ()

    _no_reading: ClassVar[str] = "no function of its outputs has the value as its mean"

    @overload
    def denoise(self, output: Number) -> float: ...
    @overload
    def denoise(self, output: Nested) -> Floats: ...
    @overload
    def denoise(self, output: SeriesT) -> SeriesT: ...
    @overload
    def denoise(self, output: SeriesLike) -> Any: ...
    @unwarned
    def denoise(self, output: Any) -> Any:
        """Return the posterior mean of the value given its output, under a uniform prior.

        Of all readings of a single output it has the lowest mean squared error, averaged over
        values anywhere in the box, or over its steps if it has a step. Do not average it over
        people: it is biased towards the middle. For the mean of many values, use `deconvolve`, or
        `unbiased` where there is one.

        Parameters
        ----------
        output
            Outputs of `release`: a number, an array of the shape that `release` returned, or, on an
            interval, a column of pandas, Polars or Arrow. A number outside the box counts as its
            nearest point, and on a box with a step, a number between steps as the nearest step.

        Returns
        -------
        float, numpy.ndarray or column
            ∫ x p(output | x) dx / ∫ p(output | x) dx over the values x of the box, for each
            coordinate. On a box with a step, sums over the steps take the place of the integrals
            (if it has at most 2²⁰ steps, or the mechanism is `Window`). Proofs:
            docs/proofs/moments.md, theorems 2 and 5, and docs/proofs/readings.md, theorems 2 and 7.

        Raises
        ------
        ArgumentError
            If an output is NaN, or the last axis does not fit the box.

        Examples
        --------
        >>> import inbounds as ib
        >>> round(ib.BoundedGaussian(ib.Box(0, 1), 1, sigma=1.0).denoise(0.35), 6)
        0.487538
        """

        def read(outputs: Floats) -> Floats:
            return self._clip(self._denoise(self._clip(outputs)))

        return self._read(output, read, _check.public_values)

    @overload
    def unbiased(self, output: Number) -> float: ...
    @overload
    def unbiased(self, output: Nested) -> Floats: ...
    @overload
    def unbiased(self, output: SeriesT) -> SeriesT: ...
    @overload
    def unbiased(self, output: SeriesLike) -> Any: ...
    @unwarned
    def unbiased(self, output: Any) -> Any:
        """Return a reading of each output whose expectation is the value.

        It may leave the box. The mean of the readings of many outputs is an unbiased estimate of
        the mean of their values. On a box with a step, outputs are rounded to the step, which can
        move the expectation by up to `reading_bias`.

        Parameters
        ----------
        output
            Outputs of `release`: a number, an array of the shape that `release` returned, or, on an
            interval, a column of pandas, Polars or Arrow.

        Returns
        -------
        float, numpy.ndarray or column
            g(output) with E[g(Y)] = x for the output Y of every value x in the box.

        Raises
        ------
        ArgumentError
            If an output is outside the box.
        InBoundsError
            If the mechanism has no unbiased reading: truncated noise and clamped Gaussian noise
            have none, for one output or several (docs/proofs/readings.md, theorems 3 to 6).

        Examples
        --------
        >>> import inbounds as ib
        >>> ib.ClampedLaplace(ib.Box(0, 120), 2.5, scale=2.5).unbiased([0.0, 41.0, 120.0])
        array([ -2.5,  41. , 122.5])
        """
        return self._read(output, self._unbiased, self._published)

    @property
    def has_unbiased(self) -> bool:
        """Whether `unbiased` works."""
        return type(self)._unbiased is not Readable._unbiased

    @property
    def reading_bias(self) -> float:
        """How far the rounding to a step may move the expectation of `unbiased` from the value.

        Examples
        --------
        >>> import inbounds as ib
        >>> ib.ClampedLaplace(ib.Box(0, 9), 9, scale=3.0).reading_bias
        0.0
        """
        return 0.0

    @property
    def least_reading_deviation(self) -> float:
        """The smallest standard deviation of `unbiased` on an interval, at any value.

        Examples
        --------
        >>> import inbounds as ib
        >>> m = ib.Window(ib.Box(0, 1), 1, epsilon=1.0)
        >>> round(m.least_reading_deviation, 3)  # at the middle
        0.959
        """
        lower, upper = float(self.domain.lower), float(self.domain.upper)
        return math.sqrt(np.min(self.reading_variance(np.linspace(lower, upper, _VALUES))))

    @overload
    def reading_variance(self, values: Number) -> float: ...
    @overload
    def reading_variance(self, values: Numbers) -> Floats: ...
    @unwarned
    def reading_variance(self, values: Any) -> Any:
        """Return the variance of `unbiased`, by an exact formula.

        The mean of the readings of n people with values xᵢ has the variance Σᵢ V(xᵢ)/n² because of
        the noise, where V is this function.

        Parameters
        ----------
        values
            True values: a number or an array. Those outside the box count as its nearest point.

        Returns
        -------
        float or numpy.ndarray
            E[(g(Y) − E[g(Y)])²] for the output Y of each value and its reading g(Y).

        Raises
        ------
        ArgumentError
            If a value is NaN or infinite.
        InBoundsError
            If the mechanism has no unbiased reading.

        Examples
        --------
        >>> import inbounds as ib
        >>> m = ib.Window(ib.Box(0, 1), 1, epsilon=1.0)
        >>> m.reading_variance([0.0, 0.5]).round(3)
        array([1.306, 0.921])
        """
        return scalar_or_array(self._reading_variance(self._inside(values)))

    @property
    def reading_error(self) -> float:
        """How far the expectation of `unbiased` may be from the value, including all rounding.

        To `reading_bias` it adds the rounding of outputs to a grid where no step is asked for, and
        that of outputs and readings to doubles (docs/proofs/deconvolution.md, theorem 16). It is
        defined on an interval.

        Examples
        --------
        >>> import inbounds as ib
        >>> 0 < ib.ClampedLaplace(ib.Box(0, 9), 9, scale=3.0).reading_error < 1.1e-6
        True
        """
        lower, upper = float(self.domain.lower), float(self.domain.upper)
        low, high = self.unbiased(np.array([lower, upper]))
        reach = float(high - low)
        largest = max(abs(lower), abs(upper)) + reach
        rounding = _ROUNDING * largest * (1 + reach / (upper - lower))
        return self.reading_bias + self._grid_bias + rounding

    @property
    def _grid_bias(self) -> float:
        """The bias of `unbiased` because outputs are on a grid, if the box has no step."""
        return 0.0

    def _reading_variance(self, inside: Floats) -> Floats:
        """Return the variance of a reading that is a straight line."""
        lower, upper = np.asarray(self.domain.lower), np.asarray(self.domain.upper)
        slope = (self._unbiased(upper) - self._unbiased(lower)) / (upper - lower)
        return np.asarray(slope**2 * self._variance(inside))

    def _read(
        self, output: Any, read: Callable[[Floats], Floats], check: Callable[..., Floats]
    ) -> Any:
        """Return the readings of outputs, in the kind of column that the outputs are."""
        column = open_column(output, "output") if self.domain.is_interval else None
        outputs = check(output=column[0] if column else output)
        self.domain.check_shape(outputs, "output")
        readings = read(outputs)
        return column[1](readings) if column else scalar_or_array(readings)

    def _published(self, **labelled: Any) -> Floats:
        """Return outputs, the only keyword argument, after checking that they can be outputs."""
        (name,), outputs = labelled, _check.public_values(**labelled)
        self.domain.check_shape(outputs, name)
        if not ((outputs >= self.domain.lower) & (outputs <= self.domain.upper)).all():
            raise ArgumentError.must(name, "lie in the box, as all outputs of release do")
        return outputs

    @abstractmethod
    def _denoise(self, outputs: Floats) -> Floats: ...

    def _unbiased(self, outputs: Floats) -> Floats:
        # Nor has any function of several outputs: docs/proofs/readings.md, theorems 3 to 6.
        raise InBoundsError(
            f"{type(self).__name__} has no unbiased reading: {self._no_reading}.\n"
            "Hint: deconvolve estimates the mean of many values; Window and ClampedLaplace have an "
            "unbiased reading."
        )


def read_on_steps(outputs: Floats, grid: Grid, indices: Floats) -> Floats:
    """Return the number at the index, which need not be whole, that each output is read as.

    Examples
    --------
    >>> read_on_steps(np.array([0.0, 3.2, 9.0]), Grid.fit(0.0, 9.0, 3.0, 1.0), np.full(4, 1.5))
    array([4.5, 4.5, 4.5])
    """
    spacing = float(grid.spacing)
    nearest = np.rint((outputs - grid.lower) / spacing)
    place = np.clip(nearest, 0, grid.intervals).astype(np.intp)
    return np.asarray(grid.lower + spacing * indices[place])
