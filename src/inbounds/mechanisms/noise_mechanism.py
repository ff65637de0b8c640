"""Mechanisms that add noise to a value, and truncate it to the box or clamp the result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from inbounds._types import Floats, Number, Vector
from inbounds.domain import Box
from inbounds.mechanisms.argument import check_box, check_scale
from inbounds.mechanisms.confidence import confidence_interval
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.mechanisms.readings import read_on_steps
from inbounds.numerics.noise import Clamped, Noise
from inbounds.numerics.panel import odd_about_the_middle
from inbounds.numerics.steps import MOST_STEPS, clamped_posterior, truncated_posterior
from inbounds.sampling.grid import Grid
from inbounds.sampling.sampler import Sampler
from inbounds.sensitivity import Sensitivity, as_sensitivity

_MANY = 1 << 12  # outputs of a coordinate, from which polynomials are quicker than quadrature


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NoiseMechanism(Mechanism):
    """Base of the mechanisms that add independent noise of some scale to each coordinate."""

    noise: ClassVar[Noise]
    """The distribution of the noise, before it meets the bounds of the box."""

    _clamped: ClassVar[bool] = False

    def _keep(self, domain: Box, sensitivity: Sensitivity | Number, scale: Number | Vector) -> None:
        """Check and set the fields, for the constructors of subclasses."""
        check_box(domain)
        checked = as_sensitivity(sensitivity)
        checked.check_dimension(domain.dimension)
        name = self.noise.scale_name
        checked_scale = check_scale(domain, **{name: scale})
        object.__setattr__(self, "domain", domain)
        object.__setattr__(self, "sensitivity", checked)
        object.__setattr__(self, name, checked_scale)

    @property
    def scale(self) -> float | Floats:
        """The scale of the noise, sigma for a Gaussian, as one number or one per coordinate.

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
    def spread(self) -> Floats:
        """The scale of each coordinate."""
        return self.scales

    @property
    def parameters(self) -> dict[str, Any]:
        """The scale of the noise, by its name."""
        return {self.noise.scale_name: self.scale}

    def sampler(self, *, equal_time: bool = True) -> Sampler:
        """Return the sampler that draws outputs; it does not check its input.

        Examples
        --------
        >>> import numpy as np
        >>> import inbounds as ib
        >>> from inbounds.sampling.entropy import SYSTEM
        >>> sampler = ib.BoundedGaussian(ib.Box(0, 1), 1, sigma=0.5).sampler()
        >>> 0 <= float(sampler.draw(np.array(0.5), SYSTEM)) <= 1
        True
        """
        box = self.domain
        bounds = np.atleast_1d(box.lower), np.atleast_1d(box.upper)
        return Sampler(self.noise, *bounds, self.scales, box.steps, self._clamped, equal_time)

    @property
    def _bounded(self) -> Noise | Clamped:
        """The noise after truncation or clamping."""
        return self.noise.clamped if self._clamped else self.noise

    def _sides(self, inside: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the distances of clamped values to both bounds, over the scale, and the scale."""
        scale = np.asarray(self.scale)
        left, right = (inside - self.domain.lower) / scale, (self.domain.upper - inside) / scale
        return left, right, scale

    def _bias(self, inside: Floats) -> Floats:
        left, right, scale = self._sides(inside)
        return scale * self._bounded.bias(left, right)

    def _variance(self, inside: Floats) -> Floats:
        left, right, scale = self._sides(inside)
        bias = self._bounded.bias(left, right)
        return scale * (scale * (self._bounded.second_moment(left, right) - bias**2))

    def _mse(self, inside: Floats) -> Floats:
        left, right, scale = self._sides(inside)
        return scale * (scale * self._bounded.second_moment(left, right))

    def _mass_at_bounds(self, inside: Floats) -> tuple[Floats, Floats]:
        left, right, _ = self._sides(inside)
        return self._bounded.atoms(left, right)

    def _pdf(self, x: Floats, inside: Floats) -> Floats:
        left, right, scale = self._sides(inside)
        return self._bounded.density((x - inside) / scale, left, right) / scale

    def _cdf(self, x: Floats, inside: Floats) -> Floats:
        left, right, scale = self._sides(inside)
        return self._bounded.cumulative((x - inside) / scale, left, right)

    def _confidence(self, outputs: Floats, level: float) -> tuple[Floats, Floats]:
        return confidence_interval(self, outputs, level)

    def _denoise(self, outputs: Floats) -> Floats:
        on_steps = list(self._readings_of_steps())
        whole = len(on_steps) == self.domain.dimension
        readings = np.empty(outputs.shape) if whole else np.array(self._denoise_evenly(outputs))
        for j, grid, means in on_steps:
            place = ... if self.domain.is_interval else (..., j)
            readings[place] = read_on_steps(outputs[place], grid, means)
        return readings

    def _readings_of_steps(self) -> Iterator[tuple[int, Grid, Floats]]:
        """Yield coordinates that have steps, but not too many, and what each step is read as."""
        sampler, widths = self.sampler(), self.domain.widths / self.scales
        for j, step in enumerate(self.domain.steps):
            if step is None or (grid := sampler.grid(j)).intervals > MOST_STEPS:
                continue
            apart = float(grid.spacing) / float(self.scales[j])
            if self._clamped:
                means = clamped_posterior(self.noise, grid.intervals, apart)
            else:
                means = truncated_posterior(self.noise, grid.intervals, apart, float(widths[j]))
            yield j, grid, means

    def _denoise_evenly(self, outputs: Floats) -> Floats:
        """Return the posterior means under a prior on all numbers of the box.

        Proof: docs/proofs/readings.md, theorem 2.
        """
        left, right, scale = self._sides(outputs)
        inside = outputs + scale * self._shift(left, right)
        if not self._clamped:
            return np.asarray(inside)
        lower, upper = self.domain.lower, self.domain.upper
        from_bound = scale * self.noise.tail_mean(self.domain.widths / self.scales)
        if self.domain.is_interval:
            from_bound = from_bound[0]
        at_upper = np.where(right == 0, upper - from_bound, inside)
        return np.where(left == 0, lower + from_bound, at_upper)

    def _shift(self, left: Floats, right: Floats) -> Floats:
        """Return how far posterior means are from outputs inside the box, over the scale."""
        widths = self.domain.widths / self.scales
        if left.size < _MANY * widths.size:
            return self._direct_shift(left, right)
        shift = np.empty(left.shape)
        for j, width in enumerate(widths.tolist()):
            place = ... if self.domain.is_interval else (..., j)

            def direct(places: Floats, width: float = width) -> Floats:
                return self._direct_shift(places, width - places)

            shift[place] = odd_about_the_middle(direct, left[place], width, self.noise.reach)
        return shift

    def _direct_shift(self, left: Floats, right: Floats) -> Floats:
        if self._clamped:
            return self.noise.bias(left, right)
        return self.noise.posterior_mean(left, left + right) - left

    def _quantile(self, q: Floats, inside: Floats) -> Floats:
        left, right, scale = self._sides(inside)
        return inside + scale * self._bounded.quantile(q, left, right)


def scale_of(mechanism: Mechanism) -> float | Floats | None:
    """Return the scale of a mechanism's noise, or None if it does not add noise."""
    return mechanism.scale if isinstance(mechanism, NoiseMechanism) else None
