"""What to read from one output: the most likely value on average, or an unbiased one.

Which mechanisms have an unbiased reading, and why others cannot have one: docs/proofs/readings.md.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, overload

from inbounds import _check
from inbounds._types import Floats, Number, Numbers
from inbounds.errors import ArgumentError, InBoundsError
from inbounds.mechanisms.distribution import Distribution
from inbounds.mechanisms.moments import scalar_or_array


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
    def denoise(self, output: Numbers) -> Floats: ...
    def denoise(self, output: Any) -> Any:
        """Return the posterior mean of the value given its output, under a uniform prior.

        Of all readings of a single output it has the lowest mean squared error, averaged over
        values anywhere in the box. Do not average it over people: it is biased towards the middle.
        For the mean of many values, use `deconvolve`, or `unbiased` where there is one.

        Parameters
        ----------
        output
            Outputs of `release`: a number, or an array of the shape that `release` returned. A
            number outside the box counts as its nearest point.

        Returns
        -------
        float or numpy.ndarray
            ∫ x p(output | x) dx / ∫ p(output | x) dx over the values x of the box, for each
            coordinate.

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
        outputs = _check.public_values(output=output)
        self.domain.check_shape(outputs, "output")
        return scalar_or_array(self._clip(self._denoise(self._clip(outputs))))

    @overload
    def unbiased(self, output: Number) -> float: ...
    @overload
    def unbiased(self, output: Numbers) -> Floats: ...
    def unbiased(self, output: Any) -> Any:
        """Return a reading of each output whose expectation is the value.

        It may leave the box. The mean of the readings of many outputs is an unbiased estimate of
        the mean of their values. On a box with a step, outputs are rounded to the step, which can
        move the expectation by up to `reading_bias`.

        Parameters
        ----------
        output
            Outputs of `release`: a number, or an array of the shape that `release` returned.

        Returns
        -------
        float or numpy.ndarray
            g(output) with E[g(Y)] = x for the output Y of every value x in the box.

        Raises
        ------
        ArgumentError
            If an output is outside the box.
        InBoundsError
            If the mechanism has no unbiased reading: truncated noise and clamped Gaussian noise
            have none (docs/proofs/readings.md).

        Examples
        --------
        >>> import inbounds as ib
        >>> ib.ClampedLaplace(ib.Box(0, 120), 2.5, scale=2.5).unbiased([0.0, 41.0, 120.0])
        array([ -2.5,  41. , 122.5])
        """
        return scalar_or_array(self._unbiased(self._published(output=output)))

    @property
    def has_unbiased(self) -> bool:
        """Whether `unbiased` works."""
        return type(self)._unbiased is not Readable._unbiased

    @property
    def reading_bias(self) -> float:
        """How far the expectation of `unbiased` may be from the value: by the rounding to a step.

        Examples
        --------
        >>> import inbounds as ib
        >>> ib.ClampedLaplace(ib.Box(0, 9), 9, scale=3.0).reading_bias
        0.0
        """
        return 0.0

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
        raise InBoundsError(
            f"{type(self).__name__} has no unbiased reading: {self._no_reading}.\n"
            "Hint: deconvolve estimates the mean of many values; Window and ClampedLaplace have an "
            "unbiased reading."
        )
