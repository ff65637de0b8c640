"""Outputs as they are counted, group by group, and what is computed once for all groups."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from inbounds._types import Floats
from inbounds.errors import ArgumentError
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.recovery.cells import Cells
from inbounds.recovery.compatible import Compatible
from inbounds.recovery.deconvolution import Deconvolution
from inbounds.recovery.mean import Readings
from inbounds.recovery.narrow import Near
from inbounds.recovery.places import Places, are_enough
from inbounds.recovery.plausible import Plausible
from inbounds.recovery.reader import reader_of
from inbounds.recovery.smoothing import Model, Recovered


class Refits(NamedTuple):
    """A bootstrap: weights and atoms recovered from resampled counts, a row for each."""

    weights: Floats
    atoms: Floats


class Decoder:
    """What reading outputs of a mechanism needs, whatever they are.

    Examples
    --------
    >>> import inbounds as ib
    >>> decoder = Decoder(ib.Window(ib.Box(0, 1), 1, epsilon=2.0), 16)
    >>> len(decoder.cells.edges), decoder.model.response.shape
    (17, (18, 32))
    """

    def __init__(self, mechanism: Mechanism, bins: int) -> None:
        self.mechanism = mechanism
        self.cells = Cells.of(mechanism, bins)

    @cached_property
    def model(self) -> Model:
        """The likelihood of the counts."""
        return Model.of(self.cells, self.mechanism)

    @cached_property
    def places(self) -> Places:
        """The points that distributions are made of, for intervals."""
        return Places.of(self.mechanism, self.cells)


class Tally:
    """Outputs of one group, counted.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.Window(ib.Box(0, 1), 1, epsilon=2.0)
    >>> tally = Tally(Decoder(m, 16))
    >>> tally.add(m.release(np.full(1000, 0.5)))
    >>> tally.count, bool(0.3 < tally.readings.mean < 0.7)
    (1000, True)
    """

    def __init__(self, decoder: Decoder) -> None:
        self.decoder = decoder
        self.seen = np.zeros(len(decoder.cells.cuts) + 1)
        self._reader = reader_of(decoder.mechanism)

    def add(self, outputs: Floats, times: Floats | None = None) -> None:
        """Count checked outputs, each as often as `times` says."""
        self.decoder.cells.add(self.seen, outputs, times)
        self._reader.add(outputs, times)

    @property
    def count(self) -> int:
        """The number of outputs."""
        return int(self.seen.sum())

    @cached_property
    def readings(self) -> Readings:
        """The readings of all outputs, whose average is the mean."""
        return self._reader.read()

    def recover(self, smooth: float | None) -> Recovered:
        """Return the most plausible distribution; refuse outputs that the mechanism cannot have."""
        model = self.decoder.model
        if self.seen[~model.response.any(axis=0)].any():
            hint = "pass the mechanism that released them."
            raise ArgumentError.must_be("outputs", "possible outputs of the mechanism", hint=hint)
        return model.recover(self.seen, model.candidates(smooth))

    def deconvolution(
        self, best: Recovered, refits: Refits | None = None, kinds: int | None = None
    ) -> Deconvolution:
        """Return what was recovered, with what its intervals need."""
        cells, size = self.decoder.cells, len(self.decoder.cells.edges) - 1
        refits = refits or Refits(np.empty((0, size)), np.empty((0, 2)))
        return Deconvolution(
            self.decoder.mechanism,
            cells.edges,
            best.weights,
            np.bincount(cells.home, self.seen, size) / self.seen.sum(),
            self.count,
            best.gap,
            refits.weights,
            best.atoms,
            refits.atoms,
            cells.points,
            self.readings,
            best.smoothing,
            kinds,
            self._compatible,
        )

    def _compatible(self) -> Compatible:
        """Return the distributions that the outputs do not speak against."""
        return self._all_compatible

    @cached_property
    def _all_compatible(self) -> Compatible:
        mechanism, cells = self.decoder.mechanism, self.decoder.cells
        if not are_enough(mechanism, cells):
            return Near.of(mechanism, cells, self.seen)
        places = self.decoder.places
        return Plausible(places, places.merged(self.seen))
