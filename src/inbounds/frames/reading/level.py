"""Private levels of a group, counted, and the places of any column's values among the levels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inbounds.mechanisms.fractions import Fractions
from inbounds.mechanisms.level import Level
from inbounds.mechanisms.randomized_response import RandomizedResponse

Codes = NDArray[np.int64]
MISSING, FOREIGN = -1, -2
"""What stands for a missing value, and for one that is none of the levels."""


class LevelTally:
    """Outputs of randomised response in one group, counted by level.

    Examples
    --------
    >>> tally = LevelTally(RandomizedResponse(["no", "yes"], epsilon=2.0))
    >>> tally.add(np.array([0, 1, 1]))
    >>> tally.count, tally.fractions.counts.tolist()
    (3, [1, 2])
    """

    def __init__(self, mechanism: RandomizedResponse) -> None:
        self.mechanism = mechanism
        self.seen = np.zeros(len(mechanism.levels), np.int64)

    def add(self, codes: Codes) -> None:
        """Count codes, all of which are places of levels."""
        self.seen += np.bincount(codes, minlength=self.seen.size)

    @property
    def count(self) -> int:
        """The number of outputs."""
        return int(self.seen.sum())

    @property
    def fractions(self) -> Fractions:
        """The estimated fractions of people; there must be at least one output."""
        return self.mechanism.estimate_counts(self.seen)


def level_codes(values: Iterable[Any], levels: Sequence[Level]) -> Codes:
    """Return the places of values of any column among the levels.

    Files and engines may have changed the type of published levels: 1 may have become "1" or 1.0,
    and true may have become "True". Such values count as the levels that they are written like.

    Examples
    --------
    >>> level_codes(["1", 2, 3.0, None, "x"], (1, 2, 3)).tolist()
    [0, 1, 2, -1, -2]
    """
    known = {_written(level): i for i, level in enumerate(levels)}
    are_truths = isinstance(levels[0], bool)
    codes = (
        MISSING if value is None else _place(value, known, are_truths=are_truths)
        for value in values
    )
    return np.fromiter(codes, np.int64)


def _place(value: Any, known: dict[str, int], *, are_truths: bool) -> int:
    text = _written(value)
    if are_truths and isinstance(value, str):
        text = value.capitalize() if value in (value.lower(), value.upper()) else value
    spellings = (text, text.lower(), text.upper()) if isinstance(value, bool) else (text,)
    return next((known[spelling] for spelling in spellings if spelling in known), FOREIGN)


def _written(value: Any) -> str:
    is_whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if is_whole else str(value)
