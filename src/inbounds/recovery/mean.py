"""The mean of the true values behind private outputs, by a moment equation and with its error.

Every output y is read as y + c(y), with a correction c that is chosen from public parameters and
the number of outputs alone, and the readings are averaged. No distribution of the true values is
assumed: the interval allows for the bias at the worst value of the box.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.stats import t as student

from inbounds._types import Floats
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.recovery.capital import ProvedMean
from inbounds.recovery.cells import Cells
from inbounds.recovery.moment_equation import MomentEquation
from inbounds.sampling.grid import Grid

_CELLS = 128  # of outputs in a narrow box
_PER_SCALE = 6  # cells that the noise spreads over, at least
_REACH = 16  # scales from a bound, beyond which no output is corrected
_MOST_STEPS = 256  # of a box whose steps are cells of their own
_CAUTION = (1.0, 10.0, 100.0)  # how much more a squared bias counts than a variance
_ERRORS = 2.0  # standard errors of the interval that a correction is to make short


@dataclass(frozen=True)
class Readings:
    """Cells of outputs, what each holds, and how outputs of a cell are read.

    Attributes
    ----------
    moments
        Of the outputs in each cell: their number, and sums of powers 1, 2 and 3 of their distance
        from the middle of the cell.
    middles, corrections
        Of each cell; an output y of the cell is read as y + correction.
    bias
        Largest difference of the expected reading of an output from the true value, over the box.
    spread
        Largest standard deviation that a reading can have, over populations of the box.
    bounds
        The box, which a mean cannot leave.
    least
        Smallest standard deviation that a reading can have because of the noise alone, if it is
        known. A few outputs may be alike by chance, and then their own spread is smaller.
    proved
        The evidence for an interval whose coverage is proved, if the readings are unbiased.
    """

    moments: Floats
    middles: Floats
    corrections: Floats
    bias: float
    spread: float
    bounds: tuple[float, float]
    least: float = 0.0
    proved: ProvedMean | None = None

    @property
    def mean(self) -> float:
        """The mean of the readings, moved into the box."""
        return float(np.clip(self._average, *self.bounds))

    @property
    def standard_error(self) -> float:
        """The standard deviation of the mean of readings, from their own spread or the noise's."""
        return self._spread / math.sqrt(self._count)

    def interval(self, level: float) -> tuple[float, float]:
        """Return a confidence interval of the mean of the true values.

        The interval uses Student's quantiles, corrected for skewness, and adds the bias on both
        sides. Each end is at least as far out as values too rare to appear in the sample could move
        the mean. Derivation: docs/proofs/deconvolution.md, theorems 9 and 10.
        """
        error, root = self.standard_error, math.sqrt(self._count)
        if self._count < 2:
            return self.bounds
        tail = student.isf((1 - level) / 2, self._count - 1)
        high, low = (error * _unskewed(side * tail, self._skewness / root) for side in (-1, 1))
        unseen = -math.expm1(math.log1p(-level) / self._count)  # (1 - unseen)ⁿ = 1 - level
        lower, upper = self.bounds
        below = min(self._average - low, self.mean - unseen * (self.mean - lower))
        above = max(self._average - high, self.mean + unseen * (upper - self.mean))
        return float(max(lower, below - self.bias)), float(min(upper, above + self.bias))

    @cached_property
    def _count(self) -> float:
        return float(self.moments[0].sum())

    @cached_property
    def _average(self) -> float:
        centre = self.middles + self.corrections
        return float(self.moments[0] @ centre + self.moments[1].sum()) / self._count

    @cached_property
    def _spread(self) -> float:
        """The standard deviation of a reading, at least the noise's.

        Proof: docs/proofs/deconvolution.md, theorem 12.
        """
        if self._count < 2:
            return self.spread
        n, first, second, _ = self.moments
        off = self.middles + self.corrections - self._average
        square = float((second + 2 * off * first + off**2 * n).sum())
        return max(self.least, math.sqrt(max(square, 0.0) / (self._count - 1)))

    @cached_property
    def _skewness(self) -> float:
        if self._spread == 0:
            return 0.0
        n, first, second, third = self.moments
        off = self.middles + self.corrections - self._average
        cube = float((third + 3 * off * second + 3 * off**2 * first + off**3 * n).sum())
        return cube / self._count / self._spread**3


def _unskewed(quantile: float, skewness: float) -> float:
    """Return the quantile of a studentised mean whose summands are skewed, over root n.

    Hall (1992), On the removal of skewness by transformation: the inverse of x + a x²/3 + a² x³/27
    + a/6 is exact up to terms of order 1/n, and is monotone.

    Examples
    --------
    >>> _unskewed(2.0, 0.0), round(_unskewed(2.0, 0.1), 3)
    (2.0, 1.865)
    """
    if abs(skewness) < 1e-6:
        return quantile
    inside = 1 + skewness * (quantile - skewness / 6)
    return float(3 * (np.cbrt(inside) - 1) / skewness)


class Reader:
    """Cells in which the outputs of a mechanism are counted, to be read when all are seen.

    The correction and its bias: docs/proofs/deconvolution.md, theorem 9.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.ClampedLaplace.calibrated(ib.Box(0, 1), 1, epsilon=1.0)
    >>> reader = Reader(m)
    >>> reader.add(m.release([0.0] * 9000 + [1.0] * 1000), None)
    >>> readings = reader.read()
    >>> low, high = readings.interval(0.999999)
    >>> low < 0.1 < high, readings.bias < 0.003
    (True, True)
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self._mechanism = mechanism
        box = mechanism.domain
        self._lower, self._upper = float(box.lower), float(box.upper)
        self._scale = float(mechanism.spread[0])
        self._clamped = float(mechanism.mass_at_bounds(self._lower)[0]) > 0
        step = box.steps[0]
        self._grid = None if step is None else Grid.fit(self._lower, self._upper, step, self._scale)
        self._by_step = self._grid is not None and self._grid.intervals < _MOST_STEPS
        ends = np.array([self._lower, self._upper])
        self._cells = Cells(ends, self._cuts(), atoms=self._clamped and self._grid is None)
        self._moments = np.zeros((4, len(self._cells.cuts) + 1))

    def add(self, outputs: Floats, times: Floats | None) -> None:
        """Count outputs, each as often as `times` says."""
        cell = np.searchsorted(self._cells.cuts, outputs)
        off = outputs - self._middles[cell]
        weight = np.ones_like(off) if times is None else times
        for power in range(4):
            size = len(self._moments[power])
            self._moments[power] += np.bincount(cell, weight * off**power, size)

    def read(self) -> Readings:
        """Choose the correction for as many outputs as were counted, whatever they are."""
        count = float(self._moments[0].sum())
        values = self._values()
        equation = MomentEquation.of(
            self._mechanism, self._cells, values, self._middles, by_step=self._by_step
        )
        chosen = min(
            (equation.corrections(1 / (caution * count)) for caution in _CAUTION),
            key=lambda c: equation.bias(c) + _ERRORS * equation.deviation(c) / math.sqrt(count),
        )
        rounding = 0.0
        if self._grid is not None and not self._by_step:
            rounding = float(self._grid.spacing) / 2
        bounds = self._lower, self._upper
        spread = math.hypot(equation.deviation(chosen), (bounds[1] - bounds[0]) / 2)
        bias = equation.bias(chosen) + rounding
        return Readings(self._moments, self._middles, chosen, bias, spread, bounds)

    @property
    def _middles(self) -> Floats:
        if self._by_step and self._grid is not None:
            return np.asarray(self._grid.points(np.arange(self._grid.intervals + 1)), np.float64)
        ends = np.concatenate([[self._lower], self._cells.cuts, [self._upper]])
        middles: Floats = (ends[1:] + ends[:-1]) / 2
        return middles

    def _cuts(self) -> Floats:
        """Return where cells of outputs end: fine all over a narrow box, or near its bounds."""
        lower, upper, grid = self._lower, self._upper, self._grid
        if self._by_step and grid is not None:
            between = lower + float(grid.spacing) * (np.arange(grid.intervals) + 0.5)
            return np.asarray(between, np.float64)
        cuts = self._spaced(1.0)[1:-1]
        if grid is not None:  # between two steps
            spacing = float(grid.spacing)
            between = np.floor((cuts - lower) / spacing) + 0.5
            return np.asarray(np.unique(lower + spacing * between), np.float64)
        if self._clamped:
            cuts = np.array([lower, *cuts, np.nextafter(upper, lower)])
        return np.unique(cuts)

    def _values(self) -> Floats:
        """Return the true values that a correction is chosen for and its bias is taken over."""
        if self._by_step:
            return self._middles
        values = self._spaced(0.5)
        if self._grid is not None:
            spacing = float(self._grid.spacing)
            values = self._lower + spacing * np.rint((values - self._lower) / spacing)
        return np.unique(np.clip(values, self._lower, self._upper))

    def _spaced(self, size: float) -> Floats:
        lower, upper = self._lower, self._upper
        width = upper - lower
        cell = min(width / _CELLS, self._scale / _PER_SCALE)
        near = np.arange(0, _REACH * _PER_SCALE + size / 2, size) * cell
        if 2 * near[-1] >= width:
            return np.linspace(lower, upper, math.ceil(width / cell / size) + 1)
        return np.concatenate([lower + near, upper - near[::-1]])
