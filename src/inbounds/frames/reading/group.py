"""Outputs of every group, counted block by block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from inbounds.errors import ArgumentError
from inbounds.frames.local.column import Nulls
from inbounds.frames.reading.block import Block, check_codes, check_outputs
from inbounds.frames.reading.level import MISSING, LevelTally
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.mechanisms.randomized_response import RandomizedResponse
from inbounds.recovery.tally import Decoder, Tally

Key = tuple[Any, ...]
MOST_GROUPS = 10_000
_BINS = 64  # cells of true values, as in `deconvolve`


class Groups:
    """The tallies of all private columns, for every group.

    Parameters
    ----------
    mechanisms, nulls
        The mechanism of each private column, and what was done about missing values.
    by, listed
        The columns that split the rows; the groups to keep, or None to find them.

    Examples
    --------
    >>> import inbounds as ib
    >>> import pandas as pd
    >>> from inbounds.frames.reading.block import blocks
    >>> groups = Groups({"age": ib.Window(ib.Box(0, 120), 120, 1.0)}, "error", ["town"], None)
    >>> frame = pd.DataFrame({"age": [17.5, 41.0, 3.0], "town": ["Ulm", "Rom", "Ulm"]})
    >>> for block in blocks(frame, ["age"], ["town"], [])[1]:
    ...     groups.add(block)
    >>> groups.keys, groups.tally(("Ulm",), "age").count
    ([('Rom',), ('Ulm',)], 2)
    """

    def __init__(
        self,
        mechanisms: Mapping[str, Mechanism | RandomizedResponse],
        nulls: Nulls,
        by: Sequence[str],
        listed: Sequence[Key] | None,
    ) -> None:
        self._readers = {
            name: Decoder(m, _BINS) if isinstance(m, Mechanism) else m
            for name, m in mechanisms.items()
        }
        self._nulls, self._by, self._listed = nulls, by, listed
        self._tallies: dict[Key, dict[str, Tally | LevelTally]] = {}
        for key in listed or ([] if by else [()]):
            self._open(key)

    @property
    def keys(self) -> list[Key]:
        """The groups: as listed, or those found, in order; a missing value comes last."""
        if self._listed is not None:
            return list(self._listed)
        return sorted(self._tallies, key=lambda key: [(value is None, value) for value in key])

    def tally(self, key: Key, column: str) -> Tally | LevelTally:
        """Return the tally of a column in a group."""
        return self._tallies[key][column]

    def add(self, block: Block) -> None:
        """Count the outputs of a block."""
        place, keys = block.keys(self._by)
        if self._listed is None:
            for key in keys:
                self._open(key)
        order = np.argsort(place, kind="stable")
        starts = np.searchsorted(place[order], np.arange(len(keys) + 1))
        rows_of = {
            key: order[starts[i] : starts[i + 1]]
            for i, key in enumerate(keys)
            if key in self._tallies
        }
        for name in self._readers:
            self._add_column(name, block, rows_of)

    def _add_column(self, name: str, block: Block, rows_of: Mapping[Key, Any]) -> None:
        outputs, missing = self._outputs(name, block)
        if missing.any() and self._nulls != "keep":
            hint = 'if privatize left them missing, say nulls="keep".'
            raise ArgumentError.must(f"column {name!r}", "have no nulls", hint=hint)
        for key, rows in rows_of.items():
            present = rows[~missing[rows]]
            if present.size:
                self._tallies[key][name].add(outputs[present])

    def _outputs(self, name: str, block: Block) -> tuple[Any, Any]:
        """Return checked outputs of a column, or codes of levels, and where they are missing."""
        reader = self._readers[name]
        if isinstance(reader, RandomizedResponse):
            codes = block.levels(name, reader.levels)
            check_codes(name, codes)
            return codes, codes == MISSING
        outputs, missing = block.outputs(name)
        box = reader.mechanism.domain
        check_outputs(name, outputs[~missing], (float(box.lower), float(box.upper)))
        return outputs, missing

    def _open(self, key: Key) -> None:
        if key in self._tallies:
            return
        if len(self._tallies) >= MOST_GROUPS:
            hint = "name the groups to estimate in groups."
            raise ArgumentError.must(
                "by", f"split the rows into at most {MOST_GROUPS:,} groups", hint=hint
            )
        self._tallies[key] = {
            name: LevelTally(reader) if isinstance(reader, RandomizedResponse) else Tally(reader)
            for name, reader in self._readers.items()
        }
