"""The public parameters of a trial, for one coordinate or for arrays of them."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from inbounds._types import Floats
from inbounds.numerics.laplace import LAPLACE
from inbounds.numerics.noise import Noise
from inbounds.numerics.normal import NORMAL
from inbounds.sampling.exponential import LEAST, exp, exp_in_place
from inbounds.sampling.strips import STRIPS

NARROW = {NORMAL: 0.42, LAPLACE: 0.05}
"""Windows up to this width in scales are a single strip."""

SPARE, EXCESS = 1.05, {NORMAL: 0.37, LAPLACE: 0.6}
"""Strips beyond STRIPS * mass that a window may need: a constant, and for each scale (squared)."""

ROOT = tuple(
    c * 0.7071067811865476**k
    for k, c in enumerate(
        (1.0, 7.05230784e-2, 4.22820123e-2, 9.2705272e-3, 1.520143e-4, 2.765672e-4, 4.30638e-5)
    )
)
"""Coefficients of the sixteenth root of 1/(1 - erf(x/√2)), accurate to 3e-7 in that fraction."""

FARTHEST = 20.0
"""The largest argument of that polynomial; beyond it, the fraction is one."""

_LEAST_FRACTION = 2.0**-64  # of the width: values closer to the lower bound count as this far
_LEAST, _MOST = 2.0**-890, 2.0**980  # between these widths, all parameters are normal doubles
_MOST_STEPS = 2.0**42  # finer grids leave too many trials undecided in double precision
_MOST_SCALES = 2.0**34  # in wider boxes rounding could leave the end of a window uncovered
_TINY = 2.0**-960  # smaller bounds count as zero
_EVEN = 0.9999  # slightly below the smallest chance of acceptance, so that all values can meet it
_ENDS = 2.1  # strips at the two ends of a window that it may fill in part
_MOST_EXCESS = {NORMAL: 5.9, LAPLACE: 6.0}  # what there is beyond STRIPS * mass in the table


class Parameters(NamedTuple):
    """What a trial needs to know of a coordinate: numbers, or arrays with one of each per value.

    `lower` is subtracted from a value, and `least` the least distance from it that counts; `u` is
    width/scale, `target` the chance of acceptance, `stretch` scale/step and `span` width/step.
    """

    lower: Any
    least: Any
    per_width: Any
    u: Any
    target: Any
    stretch: Any
    span: Any

    @property
    def relative(self) -> "Parameters":
        """The parameters for values that are given by their distances from the lower bound."""
        return self._replace(lower=self.lower * 0.0)


def parameters(
    noise: Noise, lower: Any, upper: Any, scale: Any, spacing: Any, *, equal_time: bool
) -> Parameters:
    """Return the parameters of a coordinate from floats, or of several from arrays.

    Tiny bounds and distances are flushed. Proof: docs/proofs/sampler.md, theorem 2.
    """
    width = upper - lower
    u = width / scale
    target = _EVEN * least_acceptance(noise, u) if equal_time else u * 0.0 + np.inf
    origin = lower * (abs(lower) >= _TINY)
    return Parameters(
        origin, width * _LEAST_FRACTION, 1 / width, u, target, scale / spacing, width / spacing
    )


def is_usable(width: Any, u: Any, span: Any) -> Any:
    """Return whether a coordinate is not too extreme for trials in doubles.

    In wider boxes strips might not cover the window. Proof: docs/proofs/sampler.md, theorem 6.
    """
    return (width > _LEAST) & (width < _MOST) & (span < _MOST_STEPS) & (u < _MOST_SCALES)


def least_acceptance(noise: Noise, u: Any) -> Any:
    """Return a lower bound of the chance of acceptance of any value, for a width of u scales.

    Only time depends on it. Proof: docs/proofs/sampler.md, theorem 12.
    """
    if isinstance(u, float):
        wide = u > NARROW[noise]
        return _least_wide(noise, u) if wide else _least_narrow(noise, u)
    near = np.minimum(u, NARROW[noise])
    return np.where(u > near, _least_wide(noise, u), _least_narrow(noise, near))


def _least_narrow(noise: Noise, u: Any) -> Any:
    square = u * u
    return 1 - square / 6 + square * square / 40 if noise is NORMAL else 1 - u / 2 + square / 6


def _least_wide(noise: Noise, u: Any) -> Any:
    lowest: Any = min if isinstance(u, float) else np.minimum
    if noise is NORMAL:
        x = lowest(u, FARTHEST)
        root: Any = 0.0  # by products and sums, which are the same for numbers and arrays
        for c in reversed(ROOT):
            root = root * x + c
        for _ in range(4):
            root = root * root
        mass, excess = STRIPS * (1 - 1 / root), EXCESS[noise] * x * x
    else:
        lost = exp(max(-u, LEAST)) if isinstance(u, float) else _exps(np.maximum(-u, LEAST))
        mass, excess = STRIPS * (1 - lost), EXCESS[noise] * u
    return mass / (mass + _ENDS + lowest(excess, _MOST_EXCESS[noise]))


def _exps(exponents: Floats) -> Floats:
    """Return exponentials with the same bits as `exp`, on every machine."""
    exp_in_place(exponents, list(np.empty((3, *exponents.shape))))
    return exponents


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """The parameters of each coordinate of a box, and which of them trials in doubles can serve."""

    noise: Noise
    parameters: Parameters
    narrow: NDArray[np.bool_]
    usable: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        noise: Noise,
        lower: Floats,
        upper: Floats,
        scale: Floats,
        spacing: Floats,
        *,
        equal_time: bool,
    ) -> Self:
        """Compute the parameters of all coordinates."""
        with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
            given = parameters(noise, lower, upper, scale, spacing, equal_time=equal_time)
            usable = is_usable(upper - lower, given.u, given.span)
        return cls(noise, given, given.u <= NARROW[noise], usable)

    @property
    def relative(self) -> "Plan":
        """The plan for values that are given by their distances from the lower bounds."""
        return Plan(self.noise, self.parameters.relative, self.narrow, self.usable)
