"""Chi-square tests of drawn answers against probabilities from ball arithmetic.

Cells are ranges of grid indices, so their ends are exact cuts of the grid; quantiles computed in
floating point only say where to put them. Each cell expects at least 50 answers. The threshold is
ten times below the stated false-alarm rate: room for the error of the chi-square approximation.
"""

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri
from scipy.stats import chi2

from inbounds._types import Floats
from inbounds.numerics import ball
from inbounds.numerics.normal import NORMAL
from inbounds.sampling.grid import Grid
from inbounds.sampling.sampler import Sampler

FALSE_ALARM = 1e-6
THRESHOLD = FALSE_ALARM / 10
_FEWEST = 50.0  # answers expected in a cell
_PRECISION = 200
_RARE = np.geomspace(6e-6, 1 / 40, 9)
_LEVELS = np.unique(np.concatenate([_RARE, np.linspace(0, 1, 51)[1:-1], 1 - _RARE]))


@dataclass(frozen=True)
class Cells:
    """Consecutive ranges of the answers to one value."""

    sampler: Sampler
    coordinate: int
    value: float
    draws: int

    @cached_property
    def _kept(self) -> tuple[NDArray[np.int64], Floats]:
        """Last indices of all cells but the last, and the probabilities of all cells."""
        grid = self.sampler.grid(self.coordinate)
        wanted = (self._quantiles() - grid.lower) / float(grid.spacing)
        ends = np.unique(np.clip(wanted, 0, grid.intervals - 1).astype(np.int64))
        if self.sampler.clamped:  # a cell for each atom
            ends = np.union1d(ends, [0, grid.intervals - 1])
        ends = np.unique([_last_alike(grid, k) for k in ends.tolist()])
        ends = ends[ends < grid.intervals]
        with ctx.workprec(_PRECISION):
            levels = [float(self._below(arb(grid.cut(k)))) for k in ends.tolist()]
            rest = float(1 - self._below(arb(grid.cut(int(ends[-1])))))
        return _merge(ends, np.append(np.diff([0.0, *levels]), rest), _FEWEST / self.draws)

    @property
    def probabilities(self) -> Floats:
        return self._kept[1]

    def count(self, answers: NDArray[np.float64] | NDArray[np.int64]) -> NDArray[np.int64]:
        """Count the answers in every cell."""
        first = np.asarray(self.sampler.grid(self.coordinate).points(self._kept[0] + 1))
        cell = np.searchsorted(first, answers, side="right")
        return np.bincount(cell, minlength=first.size + 1)

    def _quantiles(self) -> Floats:
        """Return about evenly likely answers, and a few rare ones."""
        s, j = self.sampler, self.coordinate
        scale = s.scale[j]
        ends = np.array([s.lower[j] - self.value, s.upper[j] - self.value]) / scale
        normal = s.noise == NORMAL
        low, high = (0.0, 1.0) if s.clamped else (ndtr(ends) if normal else _laplace_below(ends))
        level = low + _LEVELS * (high - low)
        return self.value + scale * (ndtri(level) if normal else _laplace_quantile(level))

    def _below(self, x: arb) -> arb:
        """Return the exact probability of an answer below the cut x."""
        s, j = self.sampler, self.coordinate
        lower, upper, centre, scale = (
            arb(ball.exact(number)) for number in (s.lower[j], s.upper[j], self.value, s.scale[j])
        )
        exact_below = _exact_normal_below if s.noise == NORMAL else _exact_laplace_below
        below, *ends = (exact_below((y - centre) / scale) for y in (x, lower, upper))
        return below if s.clamped else (below - ends[0]) / (ends[1] - ends[0])


def p_value(
    law: Sampler, drawn: NDArray[np.float64] | NDArray[np.int64], values: Floats, j: int = 0
) -> float:
    """Return the chance of a fit no better than that of `drawn` if their law were `law`.

    Row i of `drawn` holds answers to values[i].
    """
    statistic, freedom = 0.0, 0
    for answers, value in zip(drawn, values.tolist(), strict=True):
        cells = Cells(law, j, value, answers.size)
        expected = answers.size * cells.probabilities
        counts = cells.count(answers)
        assert counts.size == expected.size >= 2
        statistic += float(((counts - expected) ** 2 / expected).sum())
        freedom += counts.size - 1
    return float(chi2.sf(statistic, freedom))


def two_sample_p_value(first: NDArray[np.int64], second: NDArray[np.int64]) -> float:
    """Return the same for two counts of the same cells, if both had one law."""
    total = first + second
    kept = total > 0
    first, second, total = first[kept], second[kept], total[kept]
    up = np.sqrt(second.sum() / first.sum())
    statistic = ((first * up - second / up) ** 2 / total).sum()
    return float(chi2.sf(statistic, total.size - 1))


def _last_alike(grid: Grid, k: int) -> int:
    """Return the last index whose number is that of k: far from zero, doubles are few."""
    if k < grid.intervals and grid.points(k) < grid.points(k + 1):
        return k
    return k + bisect_right(range(k, grid.intervals + 1), grid.points(k), key=grid.points) - 1


def _merge(
    ends: NDArray[np.int64], chances: Floats, least: float
) -> tuple[NDArray[np.int64], Floats]:
    """Join neighbouring cells until each is likely enough."""
    kept_ends, kept_chances, open_chance = [], [], 0.0
    for end, chance in zip(ends.tolist(), chances[:-1].tolist(), strict=True):
        open_chance += chance
        if open_chance >= least:
            kept_ends.append(end)
            kept_chances.append(open_chance)
            open_chance = 0.0
    open_chance += float(chances[-1])
    if open_chance < least:
        kept_ends.pop()
        open_chance += kept_chances.pop()
    return np.array(kept_ends, np.int64), np.array([*kept_chances, open_chance])


def _laplace_below(z: Floats) -> Floats:
    return np.where(z < 0, np.exp(-np.abs(z)) / 2, 1 - np.exp(-np.abs(z)) / 2)


def _laplace_quantile(level: Floats) -> Floats:
    return np.where(level < 0.5, np.log(2 * level), -np.log(2 * (1 - level)))


def _exact_normal_below(z: arb) -> arb:
    return (1 + (z / arb(2).sqrt()).erf()) / 2


def _exact_laplace_below(z: arb) -> arb:
    tail = (-abs(z)).exp() / 2
    return tail if z < 0 else 1 - tail
