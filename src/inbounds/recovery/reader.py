"""How the outputs of a mechanism are read for the mean: without bias where that is possible."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from inbounds._types import Floats
from inbounds.mechanisms.clamped_laplace import ClampedLaplace
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.mechanisms.optimal import Optimal
from inbounds.mechanisms.window import Window
from inbounds.recovery.capital import ProvedMean, Tally
from inbounds.recovery.mean import Reader, Readings

_NEGLIGIBLE = 1e-6  # of the width: a bias that does not matter
_VALUES = 33  # over which the largest deviation of a reading is taken


class Reads(Protocol):
    """What counts outputs, block by block, and reads them when all are seen."""

    def add(self, outputs: Floats, times: Floats | None) -> None:
        """Count outputs, each as often as `times` says."""

    def read(self) -> Readings:
        """Return the readings of all outputs."""


def reader_of(mechanism: Mechanism) -> Reads:
    """Return a reader without bias where there is one, or the one with the shortest interval.

    Any reader is allowed: docs/proofs/deconvolution.md, theorem 9.
    """
    width = float(mechanism.domain.widths[0])
    if mechanism.has_unbiased and mechanism.reading_bias <= _NEGLIGIBLE * width:
        return UnbiasedReader(mechanism)
    return Reader(mechanism)


def _is_proved(mechanism: Mechanism) -> bool:
    """Tell whether docs/proofs/deconvolution.md, theorem 16, bounds the bias of a reading."""
    if isinstance(mechanism, ClampedLaplace):
        return mechanism.domain.steps[0] is None
    return isinstance(mechanism, Window | Optimal)


class UnbiasedReader:
    """Sums of powers of the unbiased readings of outputs; see `Mechanism.unbiased`.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.Window(ib.Box(0, 1), 1, epsilon=3.0)
    >>> reader = UnbiasedReader(m)
    >>> reader.add(m.release([0.0] * 9000 + [1.0] * 1000), None)
    >>> low, high = reader.read().interval(0.999999)
    >>> low < 0.1 < high, reader.read().bias
    (True, 0.0)
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self._mechanism = mechanism
        self._bounds = float(mechanism.domain.lower), float(mechanism.domain.upper)
        self._middle = self._bounds[0] / 2 + self._bounds[1] / 2
        self._moments = np.zeros((4, 1))
        low, high = mechanism.unbiased(np.array(self._bounds)) - self._middle
        self._reach = float(low), float(high)
        self._tally = Tally(*self._reach)

    def add(self, outputs: Floats, times: Floats | None) -> None:
        """Add the readings of outputs, each as often as `times` says."""
        off = self._mechanism.unbiased(outputs) - self._middle
        self._tally.add(off, times)
        weight = np.ones_like(off) if times is None else times
        for power in range(4):
            self._moments[power] += float(weight @ off**power)

    def read(self) -> Readings:
        """Return the readings; their spread is at most half of their range.

        Their least deviation and their proof: docs/proofs/deconvolution.md, theorems 12 and 13.
        """
        mechanism, (low, high) = self._mechanism, self._reach
        corrections, middles = np.zeros(1), np.array([self._middle])
        spread, least = (high - low) / 2, mechanism.least_reading_deviation
        values = np.linspace(*self._bounds, _VALUES)
        most = math.sqrt(np.max(mechanism.reading_variance(values))) + (values[-1] - values[0]) / 2
        known = (
            self._middle,
            self._bounds,
            self._reach,
            mechanism.reading_error,
            (least, float(most)),
        )
        proved = ProvedMean(self._tally.sample(), *known) if _is_proved(mechanism) else None
        rest = mechanism.reading_bias, spread, self._bounds, least, proved
        return Readings(self._moments, middles, corrections, *rest)
