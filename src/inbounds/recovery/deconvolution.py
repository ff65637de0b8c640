"""The distribution of the true values that was recovered from many private answers.

How: `inbounds.recovery.deconvolve`. Limits: docs/proofs/deconvolution.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from inbounds import _check
from inbounds._table import Printed, Table
from inbounds._types import Floats, Number, Numbers, Vector
from inbounds.errors import ArgumentError
from inbounds.mechanisms.distribution import scalar_or_array
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.recovery.mean import Readings
from inbounds.recovery.overview import deconvolution_table
from inbounds.recovery.stairs import Stairs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MANY = 1 << 20
Statistic = Literal["mean", "variance", "median"] | float


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Deconvolution(Printed):
    """A distribution of true values: `weights` on the cells between `edges`, even within a cell.

    Values that lie exactly on a bound are not spread: `atoms` says how much of the first and of
    the last cell they are. On a box with few enough steps every cell is one step.

    Attributes
    ----------
    mechanism
        What the answers came from.
    edges, weights
        Cells of true values and their shares, which sum to one.
    private
        Shares of the answers themselves in the same cells, for comparison.
    count
        How many answers were read.
    gap
        Nats by which the objective of another distribution could be higher, at most.
    replicates
        Weights recovered from resampled answers, one row each: the bootstrap.
    atoms
        Shares that lie exactly on the lower and on the upper bound, parts of `weights`.
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

    @property
    def values(self) -> Floats:
        """The middles of the cells, or the steps if every cell is one."""
        return self._stairs.middles

    @property
    def mean(self) -> float:
        """The mean of the true values.

        It rests on a moment equation and not on the distribution: every answer is read by a
        function whose expectation is close to the true value wherever that lies, and the readings
        are averaged. So it may differ a little from the mean of `weights`, which are smoothed.
        """
        return self._stairs.mean if self._readings is None else self._readings.mean

    @property
    def variance(self) -> float:
        """The variance of the recovered distribution, that within cells included."""
        return self._stairs.variance

    @overload
    def cdf(self, x: Number) -> float: ...
    @overload
    def cdf(self, x: Numbers) -> Floats: ...
    def cdf(self, x: Any) -> Any:
        """Return the share of true values that are at most `x`."""
        return scalar_or_array(self._stairs.upto(_check.public_values(x=x)))

    @overload
    def quantile(self, q: Number) -> float: ...
    @overload
    def quantile(self, q: Numbers) -> Floats: ...
    def quantile(self, q: Any) -> Any:
        """Return the value that a share `q` of the true values does not exceed."""
        return scalar_or_array(self._stairs.quantile(_levels(q)))

    def histogram(self, bins: int | np.integer[Any] | Vector) -> tuple[Floats, Floats]:
        """Return the shares of the true values in `bins`, a number of them or edges, and edges.

        As for NumPy, a value on an edge counts above it, and on the last one below it.

        Examples
        --------
        >>> import inbounds as ib
        >>> m = ib.BoundedGaussian(ib.Box(0, 1), 1, sigma=0.2)
        >>> result = ib.deconvolve(m.release([0.1] * 500 + [0.7] * 500), m, bootstrap=0)
        >>> shares, edges = result.histogram(2)
        >>> edges.tolist(), bool(0.2 < shares[0] < 0.8)
        ([0.0, 0.5, 1.0], True)
        """
        if isinstance(bins, int | np.integer):
            bins = np.linspace(self.edges[0], self.edges[-1], whole(2, _MANY, bins=bins) + 1)
        edges = _check.public_values(bins=bins)
        upto = np.append(self._stairs.below(edges[:-1]), self._stairs.upto(edges[-1:]))
        return np.diff(upto), edges

    def standard_error(self, statistic: Statistic) -> float:
        """Return the standard deviation of a statistic; see `interval` for what it leaves out.

        That of the mean comes from the spread of its readings, others from the bootstrap.
        """
        if self._readings is not None and _is_mean(statistic):
            return self._readings.standard_error
        return float(np.std(self._resampled(statistic), ddof=1))

    def interval(self, statistic: Statistic, level: float) -> tuple[float, float]:
        """Return an interval for a statistic of the people that the table was drawn from.

        **The mean** has a confidence interval: it allows for chance in the noise and in who is in
        the table, for skewness, for the bias of the readings at the worst value of the box, and for
        values so rare that none is in the table. Its coverage at 0.95 was measured to be 0.93 or
        more, from 30 people on: in eight shapes (ages, 85 % at either bound, exponential,
        lognormal, four values, two humps, uniform), and where 1 %, 5 % or 20 % are at one bound and
        the others at the other one, at epsilons from 1 to 100. It needs no bootstrap.

        **Other statistics** have the central interval of the bootstrap, which speaks of chance
        only and not of the bias of smoothing: it may hold the truth far less often.

        Parameters
        ----------
        statistic
            "mean", "variance", "median", or a number between 0 and 1: that quantile.
        level
            Confidence for the mean, else the share of the bootstrap inside.

        Examples
        --------
        >>> import inbounds as ib
        >>> m = ib.BoundedGaussian(ib.Box(0, 1), 1, sigma=0.2)
        >>> result = ib.deconvolve(m.release([0.0, 0.8] * 500), m, bootstrap=50)
        >>> low, high = result.interval("mean", 0.999999)
        >>> 0 <= low < 0.4 < high <= 1
        True
        """
        level = _check.within(0, 1, level=level)
        if self._readings is not None and _is_mean(statistic):
            return self._readings.interval(level)
        ends = np.quantile(self._resampled(statistic), [(1 - level) / 2, (1 + level) / 2])
        return float(ends[0]), float(ends[1])

    def plot(self, raw: Numbers | None = None) -> Figure:
        """Draw the answers and the distribution behind them; needs matplotlib.

        `raw` are the true values, for a demonstration. A figure that shows them is not private.
        """
        from inbounds.plots.deconvolution import deconvolution_figure  # noqa: PLC0415 - optional

        return deconvolution_figure(self, raw)

    @property
    def _stairs(self) -> Stairs:
        return Stairs(self.edges, self.weights, self.atoms, self._points)

    def _resampled(self, statistic: Statistic) -> Floats:
        if len(self.replicates) < 2:
            raise ArgumentError("Errors need a bootstrap.\nHint: deconvolve(..., bootstrap=200)")
        atoms = self._replicate_atoms
        atoms = np.zeros((len(self.replicates), 2)) if atoms is None else atoms
        drawn = [
            Stairs(self.edges, weights, held, self._points)
            for weights, held in zip(self.replicates, atoms, strict=True)
        ]
        return np.array([_statistic(statistic, stairs) for stairs in drawn])

    def _table(self) -> Table:
        return deconvolution_table(self, proper_mean=self._readings is not None)

    def __repr__(self) -> str:
        shown = f"mean={self.mean:.4g}, gap={self.gap:.1g}"
        return f"Deconvolution({self.mechanism!r}, count={self.count}, {shown})"


def _is_mean(statistic: Statistic) -> bool:
    return isinstance(statistic, str) and statistic == "mean"


def _statistic(statistic: Statistic, stairs: Stairs) -> float:
    if not isinstance(statistic, str):
        return float(stairs.quantile(_levels(statistic)))
    name = _check.one_of(("mean", "variance", "median"), statistic=statistic)
    if name == "median":
        return float(stairs.quantile(np.asarray(0.5)))
    return stairs.mean if name == "mean" else stairs.variance


def _levels(q: Any) -> Floats:
    level = _check.public_values(q=q)
    if not ((level >= 0) & (level <= 1)).all():
        raise ArgumentError.must_be("q", "between 0 and 1")
    return level


def whole(least: int, most: int, **labelled: Any) -> int:
    """Check that a number is whole and in a range.

    Examples
    --------
    >>> whole(2, 9, bins=4)
    4
    """
    ((name, value),) = labelled.items()
    number = _check.finite(**{name: value})
    if number < least or number != int(number):
        raise _check.refusal(f"a whole number of at least {least}", **labelled)
    if number > most:
        raise _check.refusal(f"at most {most}", **labelled)
    return int(number)
