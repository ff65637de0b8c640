"""The window mechanism: an output is uniform in a window around the value, or in the whole box."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from inbounds import _check
from inbounds._entry import constructed
from inbounds._types import Floats, Number
from inbounds.calibration.spacing import distance_bound
from inbounds.domain import Box
from inbounds.errors import ArgumentError, CertificateError
from inbounds.guarantee import check_epsilon
from inbounds.mechanisms.argument import (
    check_interval,
    check_pure,
    checked_calibration,
)
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.numerics.window import WindowShape, posterior_place, posterior_start
from inbounds.sampling.lattice import NARROWEST
from inbounds.sampling.window import WindowSampler
from inbounds.sensitivity import Sensitivity, as_sensitivity

_STEEP = 1e-6  # with a smaller slope, the rounding of a reading counts as its bias
_TINY = 2.0**-46
_NEAR = 1e-6  # of a step: as near as that is on the step
_UP = 1 + 2.0**-30  # covers rounding, and places that are not quite equally likely


_checked_constructor = constructed(
    scale="Window has no scale: epsilon determines the window.",
    sigma="Window has no scale: epsilon determines the window.",
    delta="Window gives pure epsilon, which holds for every delta.",
)


@_checked_constructor
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Window(Mechanism):
    """Release one number per person, where that number may be anything in an interval.

    An output is drawn uniformly from a window around the value, or, with a probability of about
    e^(−epsilon/2), from the whole box. This is the mechanism for local privacy, where a value may
    change by the whole width. The expected output is a straight line in the value, which `unbiased`
    undoes, so that a mean over many people converges; `deconvolve` recovers their distribution.

    Parameters
    ----------
    domain
        The interval that contains values and outputs.
    sensitivity
        What one neighbour may change. A small sensitivity does not reduce the noise, it only
        improves the guarantees other than `epsilon`: for it, use `ClampedStaircase` or `Optimal`.
    epsilon
        The pure epsilon of one release.

    Raises
    ------
    ArgumentError
        If `epsilon` is not positive or is extreme, or `domain` has several coordinates.
    ArgumentTypeError
        If an argument is missing or of a wrong type.

    Guarantees
    ----------
    For any two values of the box and any set of outputs, the probabilities differ by a factor of at
    most exp(`epsilon`). The probabilities are ratios of integers, and one comparison of integers,
    which the constructor makes, proves the bound for the outputs as they are drawn, however the
    values were rounded (docs/proofs/window.md, theorem 1).

    See Also
    --------
    ClampedLaplace, calibrate, compare, deconvolve, privatize

    Notes
    -----
    On [0, 1], with h = e^(epsilon/2), the output for a value z is uniform on [0, 1] with
    probability 1/h, and otherwise (hz + U)/(h + 1) for a uniform U in [0, 1]. It has the density

        e^(epsilon/2) on [hz, hz + 1]/(h + 1), and e^(−epsilon/2) elsewhere.

    Its mean is 1/2 + κ(z − 1/2) with κ = tanh(epsilon/4), so 1/2 + (y − 1/2)/κ is unbiased, with
    the variance [(2z − 1)²/(h − 1) + (h + 3)/(3(h − 1)²)]/4. On a box with a step, the window
    consists of whole steps; with two possible outputs this is randomised response. Proofs of these
    formulas, and of the intervals: docs/proofs/window.md, theorems 2 to 7.

    References
    ----------
    .. [1] Wang et al. (2019), "Collecting and Analyzing Multidimensional Data with Local
       Differential Privacy", ICDE: the piecewise mechanism, of which this is the affine image in
       the box.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.Window.calibrated(ib.Box(0, 120), 120, epsilon=1.0)
    >>> m
    Window(Box(0, 120), L2(120), epsilon=1)
    >>> 0 <= m.release(41.3) <= 120
    True
    >>> round(m.mean(41.3), 3), round(m.unbiased(m.mean(41.3)), 3)
    (55.42, 41.3)
    """

    epsilon: float = field()  # a bound that `privacy_holds` proves; it overrides the property
    _sampler: WindowSampler = field(init=False)

    def __init__(self, domain: Box, sensitivity: Sensitivity | Number, epsilon: float) -> None:
        lower, upper = check_interval(domain, "Window")
        if upper - lower < NARROWEST:
            requirement = "have a width of at least 2**-900"
            raise ArgumentError.must("domain", requirement, hint="use smaller units.")
        checked = as_sensitivity(sensitivity)
        checked.limits(1)
        epsilon = check_epsilon(epsilon)
        sampler = WindowSampler.of(lower, upper, domain.steps[0], epsilon=epsilon)
        if not sampler.privacy_holds(epsilon):
            raise CertificateError(f"epsilon={epsilon!r} could not be proved. Please report this.")
        fields = {"domain": domain, "sensitivity": checked, "epsilon": epsilon, "_sampler": sampler}
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @classmethod
    @checked_calibration
    def calibrated(
        cls,
        domain: Box,
        sensitivity: Sensitivity | Number,
        *,
        epsilon: float,
        delta: float = 0.0,
    ) -> Window:
        """Return the mechanism with the window of least variance that gives `epsilon`.

        Parameters
        ----------
        domain
            The interval that contains values and outputs.
        sensitivity
            What one neighbour may change.
        epsilon
            The pure epsilon of one release.
        delta
            Zero, which is the default: a window gives pure epsilon.

        Returns
        -------
        Window

        Raises
        ------
        ArgumentError
            If `epsilon` is not positive or is extreme, `delta` is not 0, or `domain` has several
            coordinates.
        ArgumentTypeError
            If an argument is missing or of a wrong type.

        Examples
        --------
        >>> import inbounds as ib
        >>> yes_or_no = ib.Window.calibrated(ib.Box(0, 1, step=1), 1, epsilon=1.0)
        >>> round(yes_or_no.mean(1), 6)  # randomised response: e/(1 + e)
        0.731059
        """
        return cls(domain, sensitivity, check_pure(epsilon=epsilon, delta=delta, noise="Window"))

    @property
    def parameters(self) -> dict[str, Any]:
        """The epsilon, by its name."""
        return {"epsilon": self.epsilon}

    @property
    def spread(self) -> Floats:
        """The length of the window."""
        return np.array([self._spacing * self._sampler.length])

    @property
    def total_variation(self) -> float:
        """An upper bound on the total variation between the outputs of two neighbours.

        Proof: docs/proofs/window.md, theorem 5.
        """
        window = self._sampler
        change = self.sensitivity.within(self.domain.widths).total
        change = float(distance_bound(*_ends(self.domain), change))  # after rounding to doubles
        moved = change / self._spacing * (window.places - window.length) / (window.places - 1) + 1
        return min(1.0, window.inside * min(1.0, moved / window.length * _UP) * _UP)

    def sampler(self, *, equal_time: bool = True) -> WindowSampler:
        """Return the sampler, as `Mechanism.sampler` does; its time never depends on the values."""
        return self._sampler

    # Numbers and places. A value at place i has the fraction z = i/(places - 1).

    @property
    def _spacing(self) -> float:
        return float(self._sampler.grid.spacing)

    @property
    def _last(self) -> int:
        return self._sampler.places - 1

    @property
    def _shape(self) -> WindowShape:
        """The distribution of the ideal output, of which the output drawn is the nearest place."""
        window = self._sampler
        return WindowShape(window.fraction, window.inside, window.length / window.places)

    @property
    def _half(self) -> float:
        """How far, in places, the ideal output goes beyond the first and the last step."""
        return 0.0 if self._sampler.grid.step is None else 0.5

    def _number(self, index: Floats) -> Floats:
        return np.asarray(float(self.domain.lower) + self._spacing * index)

    def _index(self, numbers: Floats) -> Floats:
        return np.asarray((numbers - float(self.domain.lower)) / self._spacing)

    def _fraction(self, inside: Floats) -> Floats:
        return np.minimum(self._index(inside) / self._last, 1.0)

    def _position(self, x: Floats) -> Floats:
        """Return numbers as fractions of the range of the ideal output."""
        total = self._last + 2 * self._half
        return np.clip((self._index(x) + self._half) / total, 0.0, 1.0)

    # Moments of the outputs as they are drawn.

    def _bias(self, inside: Floats) -> Floats:
        z = self._fraction(inside)
        beyond = z * self._last - self._index(inside)  # zero, unless above the last step
        return self._spacing * (self._pull(z) + beyond)

    def _variance(self, inside: Floats) -> Floats:
        z = self._fraction(inside)
        return self._second_moment(z, z * self._last + self._pull(z))

    def _mse(self, inside: Floats) -> Floats:
        return self._second_moment(self._fraction(inside), self._index(inside))

    def _pull(self, z: Floats) -> Floats:
        """Return the bias of an output in places, towards the middle.

        Formula: docs/proofs/window.md, theorem 3.
        """
        window = self._sampler
        return (0.5 - z) * (self._last - window.inside * (window.places - window.length))

    def _second_moment(self, z: Floats, about: Floats) -> Floats:
        """Return the mean squared distance of the output from a place, as a squared number.

        Formula: docs/proofs/window.md, theorem 3.
        """
        window = self._sampler
        start = z * (window.places - window.length)
        part = start - np.floor(start) if self._half else 0.0  # the start is rounded at random
        inside = (window.length**2 - 1) / 12 + part * (1 - part)
        inside = inside + (start + (window.length - 1) / 2 - about) ** 2
        outside = (window.places**2 - 1) / 12 + (self._last / 2 - about) ** 2
        places = window.fraction * outside + window.inside * inside
        return np.asarray(self._spacing * (self._spacing * places))

    # The distribution of the outputs: on a fine grid that of ideal ones, with a step as drawn.

    def _mass_at_bounds(self, inside: Floats) -> tuple[Floats, Floats]:
        none = np.zeros(np.shape(inside))
        if not self._half:
            return none, none
        z, places = self._fraction(inside), self._sampler.places
        high = none
        if self._sampler.grid.reaches_upper:
            high = 1 - self._shape.below(np.asarray(1 - 1 / places), z)
        return self._shape.below(np.asarray(1 / places), z), high

    def _pdf(self, x: Floats, inside: Floats) -> Floats:
        total = self._spacing * (self._last + 2 * self._half)
        return self._shape.density(self._position(x), self._fraction(inside)) / total

    def _cdf(self, x: Floats, inside: Floats) -> Floats:
        position = self._position(x)
        if self._half:  # up to the last step that is at most x
            places = self._sampler.places
            position = np.minimum(np.floor(self._index(x) + _NEAR) + 1, places) / places
        below = self._shape.below(position, self._fraction(inside))
        return np.where(x < float(self.domain.upper), below, 1.0)

    def _quantile(self, q: Floats, inside: Floats) -> Floats:
        position = self._shape.quantile(q, self._fraction(inside))
        if not self._half:
            return self._number(position * self._last)
        index = np.clip(np.ceil(position * self._sampler.places - 1 - _NEAR), 0, self._last)
        return np.asarray(self._sampler.grid.points(index.astype(np.int64)), np.float64)

    # Readings.

    @property
    def reading_bias(self) -> float:
        """The largest bias of `unbiased`, zero unless the width is no multiple of the step."""
        grid, width = self._sampler.grid, float(self.domain.widths[0])
        beyond = max(0.0, float(self.domain.upper) - float(grid.points(grid.intervals)))
        slope = self._sampler.slope
        if slope > _STEEP:
            return beyond
        return beyond + _TINY * width / slope if slope else math.inf

    @property
    def _grid_bias(self) -> float:
        """Without a step, the start of a window is a whole place: at most one place of bias."""
        window = self._sampler
        return self._spacing * window.inside / window.slope if window.grid.step is None else 0.0

    def _unbiased(self, outputs: Floats) -> Floats:
        if self._sampler.slope == 0:
            raise _check.refusal("large enough for outputs to differ", epsilon=self.epsilon)
        middle = self._last / 2  # docs/proofs/window.md, theorem 4
        return self._number(middle + (self._index(outputs) - middle) / self._sampler.slope)

    def _denoise(self, outputs: Floats) -> Floats:
        index, window = np.rint(self._index(outputs)), self._sampler
        if self._half:
            mean = posterior_place(index, window.places, window.length, window.fraction)
            return self._number(mean)
        mean = posterior_start(index, window.places, window.length, window.fraction)
        return self._number(mean / (window.places - window.length) * self._last)

    def _confidence(self, outputs: Floats, level: float) -> tuple[Floats, Floats]:
        places = self._sampler.places
        # An output is not quite the ideal one: docs/proofs/window.md, theorem 7.
        margin = (1 + self._rounding) / places
        low, high = self._shape.values(self._position(outputs), level, margin)
        low, high = (self._number(z * self._last) for z in (low, high))
        top = self._number(np.asarray(float(self._last)))
        return self._clip(low), np.where(high >= top, self.domain.upper, self._clip(high))

    @property
    def _rounding(self) -> float:
        """How far, in places, a number of the grid may be from its exact place."""
        grid = self._sampler.grid
        drift = abs(float(grid.points(grid.intervals)) - float(self._number(np.array(self._last))))
        return (drift + 4 * math.ulp(max(map(abs, _ends(self.domain))))) / self._spacing


def _ends(domain: Box) -> tuple[float, float]:
    return float(domain.lower), float(domain.upper)
