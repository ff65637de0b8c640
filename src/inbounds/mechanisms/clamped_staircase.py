"""The clamped staircase mechanism: staircase noise, with outputs moved into the interval."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from inbounds._entry import constructed
from inbounds._types import Floats, Number
from inbounds.domain import Box
from inbounds.errors import ArgumentError
from inbounds.guarantee import check_epsilon
from inbounds.mechanisms.argument import check_interval, check_pure, checked_calibration
from inbounds.mechanisms.cell_outputs import CellOutputs
from inbounds.mechanisms.confidence import confidence_interval
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.mechanisms.step_outputs import StepOutputs
from inbounds.sampling.lattice import NARROWEST
from inbounds.sampling.staircase import StaircaseSampler
from inbounds.sampling.step_lattice import StepLattice, lattice_for
from inbounds.sensitivity import Sensitivity, as_sensitivity

_UP = 1 + 2.0**-45  # covers the rounding of a total variation

_checked_constructor = constructed(
    scale="the staircase has no scale: epsilon and the sensitivity determine it.",
    sigma="the staircase has no scale: epsilon and the sensitivity determine it.",
    delta="the staircase gives pure epsilon, which holds for every delta.",
)


@_checked_constructor
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ClampedStaircase(Mechanism):
    """Release numbers of an interval with staircase noise, and move outputs to its bounds.

    If the sensitivity is much smaller than the interval, no other noise that is added to a value
    has a smaller variance at the same pure epsilon. Compared with `ClampedLaplace`, the squared
    error is 4 % lower at epsilon = 1, 15 % at 2, 31 % at 3 and 63 % at 5.

    Every element of an array is a separate release.

    Parameters
    ----------
    domain
        The interval that contains values and outputs. A box with several coordinates is refused: a
        staircase costs a whole epsilon for any change of a coordinate, however small.
    sensitivity
        What one neighbour may change: a number.
    epsilon
        The pure epsilon of one release.

    Raises
    ------
    ArgumentError
        If `epsilon` is not positive or is extreme, or `domain` is not an interval or is narrower
        than 2⁻⁹⁰⁰.
    ArgumentTypeError
        If an argument is missing or of a wrong type.

    Guarantees
    ----------
    For any two values that differ by at most `sensitivity`, and any set of outputs, the
    probabilities differ by a factor of at most exp(`epsilon`). This holds for what is computed: the
    value is rounded to a cell of a lattice or to a step of the box, noise of whole cells or steps
    is drawn exactly, and one period of the staircase covers the sensitivity and all rounding on the
    way to the cell or step, including that of decimal numbers to doubles. Proof:
    docs/proofs/staircase.md, theorems 1 to 3 and 6.

    See Also
    --------
    ClampedLaplace, BoundedLaplace, BoundedGaussian, calibrate, compare

    Notes
    -----
    The output for a value x is min(max(x + cZ, l), u), where c is the smaller of the sensitivity
    and the width of the interval, and Z has the density

        A e^(−ε⌈|z| − γ⌉) for |z| > γ, and A for |z| ≤ γ,

    with α = e^(−ε), A = (1 − α)/(2(γ + α(1 − γ))) and the γ between 0 and ½ that gives the smallest
    variance of cZ, c²[2^(−2/3) α^(2/3) (1 + α)^(2/3) + α]/(1 − α)². This is Geng's and Viswanath's
    γ = −α/(1 − α) + (α − 2α² + 2α⁴ − α⁵)^(1/3) / (2^(1/3) (1 − α)²). It is used to within 0.4 %,
    which costs less than 0.01 % of the variance (docs/proofs/staircase.md, theorem 5).

    c is longer than the sensitivity by the rounding that it covers, which includes one unit in the
    last place of the larger bound. If doubles near the bounds are not much finer than the
    sensitivity, shift the interval towards zero.

    The probabilities of both bounds and all moments are sums of geometric series in closed form
    (docs/proofs/staircase.md, theorem 4; on steps docs/proofs/staircase.md, theorems 7 to 9).
    They are those of the formula above. An actual output is at most one cell from that; a cell is
    about γc/2²², or larger if the interval then had more than 2⁵⁶ cells.

    On a box with a step, values are rounded to the nearest step and noise is drawn in whole steps,

        P(n) ∝ e^(−ε⌈(|n| − h)/r⌉) for |n| > h, and 1 for |n| ≤ h,

    where r is the number of steps that rounded values of neighbours can be apart, the sensitivity
    over the step, rounded up, and h gives the smallest variance. If the sensitivity is one step, as
    for counts of up to 16 million, this is the two-sided geometric distribution, and there is an
    unbiased reading (beyond that, rounding in doubles needs a second step). All
    numbers are then those of the outputs as they are drawn; `pdf` is the probability of the nearest
    step over its length. The rule: if the noise above, rounded to steps, has a smaller variance
    for values on steps, it is used instead. That is so if the sensitivity is well below a step or
    well below r steps. Cells are also used if doubles near a bound are not 16 times as fine as
    steps, or there are more than 2⁴⁰ of them.

    References
    ----------
    .. [1] Geng and Viswanath (2014), "The Optimal Mechanism in Differential Privacy", ISIT.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.ClampedStaircase(ib.Box(0, 120), 2.5, epsilon=3.0)
    >>> 0 <= m.release(41.3) <= 120
    True
    >>> laplace = ib.ClampedLaplace.calibrated(ib.Box(0, 120), 2.5, epsilon=3.0)
    >>> round(1 - m.mse(60) / laplace.mse(60), 2)
    0.31
    >>> counts = ib.ClampedStaircase(ib.Box(0, 1000, step=1), 1, epsilon=1.0)
    >>> counts.unbiased([0.0, 7.0, 1000.0]).round(3).tolist()  # 1/(e - 1) beyond the bounds
    [-0.582, 7.0, 1000.582]
    """

    epsilon: float
    _outputs: CellOutputs | StepOutputs = field(init=False)

    _no_reading: ClassVar[str] = "none is known, except for whole steps of the sensitivity's length"

    def __init__(self, domain: Box, sensitivity: Sensitivity | Number, epsilon: Number) -> None:
        check_interval(domain, "ClampedStaircase")
        if domain.widths[0] < NARROWEST:
            requirement = "have a width of at least 2**-900"
            raise ArgumentError.must("domain", requirement, hint="use smaller units.")
        checked = as_sensitivity(sensitivity)
        checked.limits(domain.dimension)
        strength = check_epsilon(epsilon)
        change = checked.within(domain.widths).diameter
        bounds = float(domain.lower), float(domain.upper)
        lattice = lattice_for(*bounds, domain.steps[0], change, strength)
        outputs: CellOutputs | StepOutputs = (
            StepOutputs(lattice, strength)
            if isinstance(lattice, StepLattice)
            else CellOutputs(lattice, strength)
        )
        fields = {"domain": domain, "sensitivity": checked, "epsilon": strength}
        for name, value in (*fields.items(), ("_outputs", outputs)):
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
    ) -> ClampedStaircase:
        """Return the mechanism that gives `epsilon`, like the constructor.

        Parameters
        ----------
        domain
            The interval that contains values and outputs.
        sensitivity
            What one neighbour may change: a number.
        epsilon
            The pure epsilon of one release.
        delta
            Zero, which is the default: the staircase is not calibrated for a positive delta.

        Returns
        -------
        ClampedStaircase
            With the plateau γ that gives the smallest variance.

        Raises
        ------
        ArgumentError
            If `epsilon` is not positive or is extreme, `delta` is not 0, or `domain` is not an
            interval.
        ArgumentTypeError
            If an argument is missing or of a wrong type.

        Examples
        --------
        >>> import inbounds as ib
        >>> ib.ClampedStaircase.calibrated(ib.Box(0, 120), 2.5, epsilon=1.0)
        ClampedStaircase(Box(0, 120), L2(2.5), epsilon=1)
        """
        checked = check_pure(epsilon=epsilon, delta=delta, noise="staircase noise")
        return cls(domain, sensitivity, checked)

    @property
    def gamma(self) -> float:
        """The fraction of a step of the staircase that the plateau covers on each side."""
        return self._outputs.lattice.gamma

    @property
    def total_variation(self) -> float:
        """The largest total variation distance between the outputs of two neighbours, rounded up.

        Proof: docs/proofs/staircase.md, theorems 2 and 6.

        Examples
        --------
        >>> import inbounds as ib
        >>> round(ib.ClampedStaircase(ib.Box(0, 1), 0.02, epsilon=1.0).total_variation, 3)
        0.448
        """
        return self._outputs.noise.total_variation * _UP

    @property
    def spread(self) -> Floats:
        """The standard deviation of the noise before clamping."""
        return np.array([self._outputs.deviation])

    @property
    def parameters(self) -> dict[str, Any]:
        """Epsilon."""
        return {"epsilon": self.epsilon}

    def sampler(self, *, equal_time: bool = True) -> StaircaseSampler:
        """Return the sampler, as `Mechanism.sampler` does; it does not check its input.

        It takes the same time for all values, whatever `equal_time` is.

        Examples
        --------
        >>> import numpy as np
        >>> import inbounds as ib
        >>> from inbounds.sampling.entropy import SYSTEM
        >>> sampler = ib.ClampedStaircase(ib.Box(0, 1), 1, epsilon=1.0).sampler()
        >>> 0 <= float(sampler.draw(np.array(0.5), SYSTEM)) <= 1
        True
        """
        return _sampler(self._outputs.lattice, self.epsilon, self.domain.steps[0])

    # What depends on whether noise is in cells or in whole steps.

    def _bias(self, inside: Floats) -> Floats:
        return self._outputs.bias(inside)

    def _mse(self, inside: Floats) -> Floats:
        return self._outputs.mse(inside)

    def _variance(self, inside: Floats) -> Floats:
        return self._outputs.variance(inside)

    def _mass_at_bounds(self, inside: Floats) -> tuple[Floats, Floats]:
        return self._outputs.mass_at_bounds(inside)

    def _pdf(self, x: Floats, inside: Floats) -> Floats:
        return self._outputs.pdf(x, inside)

    def _cdf(self, x: Floats, inside: Floats) -> Floats:
        return self._outputs.cdf(x, inside)

    def _quantile(self, q: Floats, inside: Floats) -> Floats:
        return self._outputs.quantile(q, inside)

    # Readings.

    @property
    def has_unbiased(self) -> bool:
        """Whether `unbiased` works, as it does if one step of the box is one period of the noise.

        Examples
        --------
        >>> import inbounds as ib
        >>> ib.ClampedStaircase(ib.Box(0, 100, step=1), 1, epsilon=1.0).has_unbiased
        True
        >>> ib.ClampedStaircase(ib.Box(0, 100), 1, epsilon=1.0).has_unbiased
        False
        """
        return self._beyond is not None

    @property
    def reading_bias(self) -> float:
        """How far the expectation of `unbiased` may be from a value that is not on a step."""
        return self._outputs.rounding if isinstance(self._outputs, StepOutputs) else 0.0

    @property
    def least_reading_deviation(self) -> float:
        """The standard deviation of `unbiased` at a bound (docs/proofs/staircase.md, theorem 8)."""
        if isinstance(self._outputs, StepOutputs) and self.has_unbiased:
            return self._outputs.least_reading_deviation
        return Mechanism.least_reading_deviation.fget(self)  # type: ignore[attr-defined, no-any-return]

    def _reading_variance(self, inside: Floats) -> Floats:
        if isinstance(self._outputs, StepOutputs) and self.has_unbiased:
            return self._outputs.reading_variance(inside)
        return Mechanism._reading_variance(self, inside)

    @property
    def _beyond(self) -> float | None:
        return self._outputs.beyond if isinstance(self._outputs, StepOutputs) else None

    def _denoise(self, outputs: Floats) -> Floats:
        if isinstance(self._outputs, StepOutputs):
            return self._outputs.denoise(outputs)
        return self._outputs.denoise(outputs, self.sampler().grid(0))

    def _unbiased(self, outputs: Floats) -> Floats:
        if isinstance(self._outputs, StepOutputs) and self._beyond is not None:
            return self._outputs.unbiased(outputs, self._beyond)
        return Mechanism._unbiased(self, outputs)

    def _confidence(self, outputs: Floats, level: float) -> tuple[Floats, Floats]:
        if isinstance(self._outputs, StepOutputs):
            return self._outputs.confidence(outputs, level)
        return confidence_interval(self, outputs, level, self._outputs.lattice.rounding)


_sampler = lru_cache(maxsize=64)(StaircaseSampler)  # public parameters only; its tables take 6 ms
