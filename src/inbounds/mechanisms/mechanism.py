"""What every mechanism has in common: a box, a sensitivity, a scale, exact release and moments."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from inbounds import _check
from inbounds._check import short
from inbounds._column import open_column
from inbounds._table import HasHtml, Table
from inbounds._types import Column, Floats, Nested, Number, Numbers, SeriesT, Vector
from inbounds.domain import Box
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.loss import PrivacyLoss
from inbounds.mechanisms.argument import check_box, check_order
from inbounds.mechanisms.confidence import confidence_interval
from inbounds.mechanisms.distribution import Distribution, check_level, like
from inbounds.mechanisms.overview import overview
from inbounds.numerics.search import smallest_admissible
from inbounds.profile import pure_mu, pure_rho, response_delta, tabulated
from inbounds.sampling.entropy import SYSTEM, Entropy
from inbounds.sampling.sampler import Sampler
from inbounds.sensitivity import Sensitivity, as_sensitivity
from inbounds.unit import Unit

_ELSEWHERE = {
    "certificate": "; BoundedGaussian and BoundedLaplace have it.",
    "denoise": "; BoundedGaussian has it.",
    "sigma": "; its scale is called scale.",
}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Mechanism(Distribution, HasHtml, ABC):
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

    def _keep(self, domain: Box, sensitivity: Sensitivity | Number, given: Number | Vector) -> None:
        """Check and set the fields, for the constructor of each kind."""
        check_box(domain)
        checked = as_sensitivity(sensitivity)
        checked.limits(domain.dimension)
        name = self.noise.scale_name
        scale = _check.positive_vector(**{name: given})
        if np.ndim(scale) and (domain.is_interval or np.size(scale) != domain.dimension):
            raise ArgumentError.must_be(
                name,
                "one number, or one per coordinate of a box of several",
                got=f"{np.size(scale)} for {domain!r}",
            )
        with np.errstate(over="ignore"):
            share = np.asarray(scale) / domain.widths
        if not ((share > 2.0**-250) & (share < 2.0**250)).all():
            raise ArgumentError.must_be(name, "within a factor of 2**250 of the box's width")
        if np.min(scale) < 2.0**-1022:  # rounded so coarsely that it may miss the guarantee
            raise ArgumentError.must_be(name, "at least 2**-1022", hint="use smaller units.")
        for field, value in (("domain", domain), ("sensitivity", checked), (name, scale)):
            object.__setattr__(self, field, value)

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

    def epsilon_at(self, delta: float) -> float:
        """Return the smallest epsilon for which (epsilon, `delta`)-privacy holds by `delta`.

        It is found to a relative 1e-6, and is never below the truth.

        Examples
        --------
        >>> import inbounds as ib
        >>> m = ib.BoundedGaussian.calibrated(ib.Box(0, 100), 1, epsilon=1.0, delta=1e-6)
        >>> round(m.epsilon_at(1e-6), 5), m.epsilon_at(0) == m.epsilon
        (1.0, True)
        """
        delta = _check.not_negative(delta=delta)
        if delta == 0:
            return self.epsilon

        def holds(epsilon: float) -> bool:
            return self.delta(epsilon) <= delta

        if holds(0.0):
            return 0.0
        start = self.epsilon if math.isfinite(self.epsilon) else 1.0
        return smallest_admissible(holds, start, tolerance=1e-6)

    @overload
    def confidence(self, outputs: Number, level: Number) -> tuple[float, float]: ...
    @overload
    def confidence(self, outputs: Numbers, level: Number) -> tuple[Floats, Floats]: ...
    def confidence(self, outputs: Any, level: Number) -> tuple[Any, Any]:
        """Return the ends of an interval for the true value behind each output.

        It reads published outputs only, so it costs no privacy.

        Guarantees
        ----------
        Whatever the true value is, the interval holds it with probability `level` or more
        (docs/proofs/confidence.md). On a box of several coordinates this is so for each coordinate
        by itself. Values that were moved into the box count as the bound they were moved to.

        Examples
        --------
        >>> import inbounds as ib
        >>> m = ib.BoundedGaussian(ib.Box(0, 1), 0.1, sigma=0.1)
        >>> low, high = m.confidence(0.05, 0.95)
        >>> round(low, 3), round(high, 3)
        (0.0, 0.24)
        """
        published = _check.public_values(outputs=outputs)
        self.domain.check_shape(published, "outputs")
        if not ((published >= self.domain.lower) & (published <= self.domain.upper)).all():
            raise ArgumentError.must("outputs", "lie in the box, as everything released does")
        low, high = confidence_interval(self, published, check_level(level))
        return like(low), like(high)

    @property
    def worst_change(self) -> Floats:
        """A change of the value that is allowed and hard to hide, one number per coordinate."""
        widths = self.domain.widths
        return self.sensitivity.within(widths).along(widths)

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

    def loss(self, unit: Unit | None = None) -> PrivacyLoss:
        """Describe what one release may cost, as data that `compose` and `Ledger` read.

        Parameters
        ----------
        unit
            Which change of the data the sensitivity was stated for, if that is to be said.

        Examples
        --------
        >>> import inbounds as ib
        >>> ib.BoundedLaplace.calibrated(ib.Box(0, 1), 1, epsilon=0.5).loss()
        PrivacyLoss(epsilon=0.5, mu=0.62..., rho=0.125...)
        """
        points = tabulated(self.delta, self.epsilon)
        return PrivacyLoss(self.epsilon, self.gdp, self.rho, points, unit)

    @overload
    def release(
        self, values: Number, *, equal_time: bool = ..., entropy: Entropy = ...
    ) -> float: ...
    @overload
    def release(
        self, values: Nested, *, equal_time: bool = ..., entropy: Entropy = ...
    ) -> NDArray[Any]: ...
    @overload
    def release(
        self, values: SeriesT, *, equal_time: bool = ..., entropy: Entropy = ...
    ) -> SeriesT: ...
    @overload
    def release(self, values: Column, *, equal_time: bool = ..., entropy: Entropy = ...) -> Any: ...
    def release(self, values: Any, *, equal_time: bool = True, entropy: Entropy = SYSTEM) -> Any:
        """Return private answers for `values`, of the same shape; a number for a number.

        On an interval each element is answered by itself at `epsilon`. On a box the last axis is
        one joint answer at `epsilon`; every further row costs another `epsilon`.

        Parameters
        ----------
        values
            A number or an array of finite numbers. Those outside the box are moved to it. On an
            interval also a Series of pandas or Polars or an Arrow array, which comes back as such.
            Numbers that are no doubles (integers beyond 2⁵³, decimals, fractions) are taken as
            they are: the lower bound is subtracted before anything is rounded.
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
            source = "a source with bits() and words(), as in inbounds.sampling.entropy"
            raise ArgumentTypeError.must_be("entropy", source)
        column = open_column(values) if self.domain.is_interval else None
        given = _check.private_array(values=column[0] if column else values)
        self.domain.check_shape(given)
        answers = self.sampler(equal_time=equal_time).draw(given, entropy)
        if column:
            return column[1](answers)
        return answers if given.ndim else answers.item()

    def sampler(self, *, equal_time: bool = True) -> Sampler:
        """Return what draws outputs; it takes its numbers unchecked.

        Examples
        --------
        >>> import numpy as np
        >>> import inbounds as ib
        >>> sampler = ib.BoundedGaussian(ib.Box(0, 1), 1, sigma=0.5).sampler()
        >>> 0 <= float(sampler.draw(np.array(0.5), SYSTEM)) <= 1
        True
        """
        box = self.domain
        bounds = np.atleast_1d(box.lower), np.atleast_1d(box.upper)
        return Sampler(self.noise, *bounds, self.scales, box.steps, self._clamped, equal_time)

    if not TYPE_CHECKING:  # or every attribute would be there, of any type

        def __getattr__(self, name: str) -> object:
            """Say who has what only some mechanisms have."""
            hint = _ELSEWHERE.get(name, "")
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}{hint}")

    def __reduce__(self) -> tuple[object, ...]:
        """Copy through the constructor: what is derived is derived again."""
        return type(self), (self.domain, self.sensitivity, self.scale)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mechanism):
            return NotImplemented
        return (
            type(self) is type(other)
            and self.domain == other.domain
            and self.sensitivity == other.sensitivity
            and np.array_equal(self.scale, other.scale)
        )

    def __hash__(self) -> int:
        scale = np.asarray(self.scale).tobytes()
        return hash((type(self), self.domain, self.sensitivity, scale))

    def _table(self) -> Table:
        return overview(self)

    def __repr__(self) -> str:
        scale = f"{self.noise.scale_name}={short(self.scale)}"
        return f"{type(self).__name__}({self.domain!r}, {self.sensitivity!r}, {scale})"
