"""The distribution of the true values, as recovered from many private outputs.

`inbounds.recovery.deconvolve` makes it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from inbounds import _check
from inbounds._entry import called, unwarned
from inbounds._table import Printed, Table
from inbounds._types import Floats, Number, Numbers, Vector
from inbounds.errors import ArgumentError
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.mechanisms.moments import scalar_or_array
from inbounds.recovery.compatible import Compatible, fraction_intervals
from inbounds.recovery.mean import Readings
from inbounds.recovery.overview import deconvolution_table
from inbounds.recovery.stairs import Stairs
from inbounds.recovery.statistic import (
    STATISTICS,
    Summary,
    check_order,
    checked_levels,
    compatible_interval,
    is_mean,
    proved_mean,
    resampled_statistics,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MANY = 1 << 20


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Deconvolution(Printed):
    """A distribution of true values: `weights` on the cells between `edges`, uniform in each cell.

    Values that lie exactly on a bound are not spread over a cell: `atoms` is their part of the
    first and of the last weight. On a box with few enough steps, every cell is one step.

    Attributes
    ----------
    mechanism
        The mechanism that the outputs came from.
    edges, weights
        Cells of true values and the fractions of the values in them, which sum to one.
    private
        Fractions of the private outputs in the same cells, for comparison.
    count
        The number of outputs.
    gap
        The most, in nats, by which the objective of another distribution could be higher, for any
        of the distributions that were averaged.
    replicates
        The bootstrap: weights recovered from resampled outputs, one row per resample.
    atoms
        Fractions that lie exactly on the lower and on the upper bound, parts of `weights`.
    smoothing
        The prices of curvature that were averaged, in nats, and the weight of each.
    kinds
        How many kinds of true values the outputs tell apart, if these are too few to show a shape,
        or None: see `FewOutputsWarning`.

    See Also
    --------
    deconvolve : Makes it from outputs.

    Notes
    -----
    For one price of curvature, `weights` w are the maximum of
    F(w) = Σⱼ nⱼ ln(Σᵢ wᵢ Pᵢⱼ) − ½wᵀQw − rᵀw, where nⱼ outputs are in cell j, Pᵢⱼ is the
    probability that a value of cell i has its output there, Q is the price of curvature and r that
    of values on a bound. `gap` bounds how far F is below its maximum. If there are several prices,
    `weights` are the average of their maxima: docs/proofs/deconvolution.md, theorems 3 and 11.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.BoundedGaussian(ib.Box(0, 1), 1, sigma=0.2)
    >>> result = ib.deconvolve(m.release([0.1, 0.7] * 500), m, bootstrap=0)
    >>> result.count, round(result.weights.sum(), 9), 0.2 < result.mean < 0.6
    (1000, np.float64(1.0), True)
    """

    mechanism: Mechanism
    edges: Floats
    weights: Floats
    private: Floats
    count: int
    gap: float
    replicates: Floats
    atoms: Floats = field(default_factory=lambda: np.zeros(2))
    _replicate_atoms: Floats | None = None
    _points: Floats | None = None
    _readings: Readings | None = None
    smoothing: dict[float, float] = field(default_factory=dict)
    kinds: int | None = None
    _compatible: Callable[[], Compatible] | None = None

    @property
    def values(self) -> Floats:
        """The middles of the cells, or the steps if every cell is one step."""
        return self._stairs.middles

    @property
    @unwarned
    def mean(self) -> float:
        """The mean of the true values.

        It does not come from the distribution: a function whose expectation is close to the true
        value, wherever that lies, is applied to every output, and these readings are averaged. So
        it may differ a little from the mean of `weights`, which are smoothed. Its error:
        docs/proofs/deconvolution.md, theorems 7 and 9.
        """
        return self._stairs.mean if self._readings is None else self._readings.mean

    @property
    @unwarned
    def variance(self) -> float:
        """The variance of the recovered distribution, including that within cells."""
        return self._stairs.variance

    @overload
    def cdf(self, x: Number) -> float: ...
    @overload
    def cdf(self, x: Numbers) -> Floats: ...
    @unwarned
    def cdf(self, x: Any) -> Any:
        """Return the fraction of true values that are at most `x`, a number or an array."""
        return scalar_or_array(self._stairs.upto(_check.public_values(x=x)))

    @overload
    def quantile(self, q: Number) -> float: ...
    @overload
    def quantile(self, q: Numbers) -> Floats: ...
    @unwarned
    def quantile(self, q: Any) -> Any:
        """Return the value that a fraction `q` of the true values does not exceed."""
        return scalar_or_array(self._stairs.quantile(checked_levels(q)))

    @unwarned
    def histogram(self, bins: int | np.integer[Any] | Vector) -> tuple[Floats, Floats]:
        """Return the fractions of the true values in `bins`, and the edges of the bins.

        `bins` is a number of bins, or their edges. As in NumPy, a value on an edge belongs to the
        bin above it, and a value on the last edge to the last bin.

        Examples
        --------
        >>> import inbounds as ib
        >>> m = ib.BoundedGaussian(ib.Box(0, 1), 1, sigma=0.2)
        >>> result = ib.deconvolve(m.release([0.1] * 500 + [0.7] * 500), m, bootstrap=0)
        >>> fractions, edges = result.histogram(2)
        >>> edges.tolist(), bool(0.2 < fractions[0] < 0.8)
        ([0.0, 0.5, 1.0], True)
        """
        if isinstance(bins, int | np.integer):
            bins = np.linspace(self.edges[0], self.edges[-1], _check.whole(2, _MANY, bins=bins) + 1)
        edges = _check.public_values(bins=bins)
        upto = np.append(self._stairs.below(edges[:-1]), self._stairs.upto(edges[-1:]))
        return np.diff(upto), edges

    @called("standard_error")
    @unwarned
    def standard_error(self, statistic: Summary) -> float:
        """Return the standard error of a statistic; see `interval` for what it leaves out.

        For the mean it comes from the spread of the readings, otherwise from the bootstrap.
        """
        if self._readings is not None and is_mean(statistic):
            return self._readings.standard_error
        return float(np.std(self._resampled(statistic), ddof=1))

    @called("interval")
    @unwarned
    def interval(
        self, statistic: Summary, level: float, *, proved: bool = False
    ) -> tuple[float, float]:
        """Return an interval for a statistic of the people that the table was drawn from.

        **The mean** has a confidence interval: it allows for chance in the noise and in who is in
        the table, for skewness, for the bias of the readings at the worst value of the box, and for
        values so rare that none is in the table. Its coverage at 0.95 was measured to be 0.93 or
        more, from 30 people on: in eight shapes (ages, 85 % at either bound, exponential,
        lognormal, four values, two humps, uniform), and where 1 %, 5 % or 20 % are at one bound and
        the others at the other one, at epsilons from 1 to 100. It needs no bootstrap. What it is
        made of: docs/proofs/deconvolution.md, theorems 9, 10 and 12.

        On a box with a step, "the mean" is that of the values rounded to the steps.

        **The mean, proved.** With ``proved=True``, a theorem guarantees the coverage, for any
        people with any values; for 100 or more, the interval is 1.2 to 1.6 times as long. This is
        for unbiased readings: `Window`, unbiased `Optimal`, and `ClampedLaplace` without a step.

        **Other statistics** have the values that they take for all distributions that are
        plausible, given the outputs, whether smooth or not. With much noise this interval is long,
        because different distributions have nearly the same outputs. Its coverage at 0.95 was
        measured to be 0.93 or more: of quantiles, fractions and the variance, in five shapes, for
        300 to 100,000 people (docs/proofs/deconvolution.md, theorems 17 and 18).

        Parameters
        ----------
        statistic
            "mean", "variance", "median", or a number between 0 and 1, which means that quantile.
        level
            The confidence, between 0 and 1.
        proved
            Whether the coverage must be proved, not only measured.

        Returns
        -------
        The lower and the upper end.

        Raises
        ------
        ArgumentError
            If `statistic` or `level` has an impossible value, a bootstrap is needed and missing, or
            `proved` is True and nothing is proved for this statistic or this mechanism.
        ArgumentTypeError
            If an argument is missing or of a wrong type.

        Guarantees
        ----------
        With ``proved=True``, the interval holds the mean of these people's values, moved into the
        box, with a probability of at least `level`. The same is true of the mean of the population
        that they were drawn from, with or without replacement. Outputs must be independent, and
        the number of people must not depend on them. Proof:
        docs/proofs/deconvolution.md, theorems 13 to 16.

        Examples
        --------
        >>> import inbounds as ib
        >>> m = ib.Window(ib.Box(0, 1), 1, epsilon=2.0)
        >>> result = ib.deconvolve(m.release([0.0, 0.8] * 500), m, bootstrap=0)
        >>> low, high = result.interval("mean", 0.999999, proved=True)
        >>> 0 <= low < 0.4 < high <= 1
        True
        """
        check_order(level)
        if isinstance(statistic, str):
            _check.one_of(STATISTICS, statistic=statistic)
        level = _check.within(0, 1, level=level)
        if _check.yes_or_no(proved=proved):
            return proved_mean(statistic, self._readings, self.mechanism).interval(level)
        if self._readings is not None and is_mean(statistic):
            return self._readings.interval(level)
        if self._compatible is not None and statistic != "mean":
            found = self._compatible()
            return compatible_interval(found, statistic, self._stairs, self.mean, level)
        ends = np.quantile(self._resampled(statistic), [(1 - level) / 2, (1 + level) / 2])
        return float(ends[0]), float(ends[1])

    @unwarned
    def histogram_interval(
        self, bins: int | np.integer[Any] | Vector, level: float
    ) -> tuple[Floats, Floats]:
        """Return the ends of intervals, as in `interval`, for the fractions in `bins`.

        Examples
        --------
        >>> import inbounds as ib
        >>> m = ib.Window(ib.Box(0, 1), 1, epsilon=4.0)
        >>> result = ib.deconvolve(m.release([0.1] * 500 + [0.7] * 500), m, bootstrap=0)
        >>> lower, upper = result.histogram_interval(2, 0.999999)
        >>> bool(lower[0] < 0.5 < upper[0])
        True
        """
        fractions, edges = self.histogram(bins)
        level = _check.within(0, 1, level=level)
        if self._compatible is None:
            raise ArgumentError.must_be("outputs", "known, as deconvolve knows them")
        lower, upper = fraction_intervals(self._compatible(), edges, level)
        return np.minimum(lower, fractions), np.maximum(upper, fractions)

    def plot(self, raw: Numbers | None = None) -> Figure:
        """Draw the outputs and the recovered distribution; needs matplotlib.

        `raw` are the true values, for demonstrations: a figure that shows them is not private.
        """
        from inbounds.plots.deconvolution import deconvolution_figure  # noqa: PLC0415 - optional

        return deconvolution_figure(self, raw)

    @property
    def _stairs(self) -> Stairs:
        return Stairs(self.edges, self.weights, self.atoms, self._points)

    def _resampled(self, statistic: Summary) -> Floats:
        atoms = self._replicate_atoms
        atoms = np.zeros((len(self.replicates), 2)) if atoms is None else atoms
        resamples = (
            Stairs(self.edges, weights, at_bounds, self._points)
            for weights, at_bounds in zip(self.replicates, atoms, strict=True)
        )
        return resampled_statistics(statistic, list(resamples))

    def _table(self) -> Table:
        return deconvolution_table(self, proper=self._compatible is not None)

    def __repr__(self) -> str:
        shown = f"mean={self.mean:.4g}, gap={self.gap:.1g}"
        return f"Deconvolution({self.mechanism!r}, count={self.count}, {shown})"
