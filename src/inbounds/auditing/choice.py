"""Choose the pair of values and the event that an audit counts.

Any choice is valid, as the outputs that it is based on are not counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inbounds.auditing.event import Event, best_event, project, readings
from inbounds.auditing.neighbour import Pair
from inbounds.auditing.subject import Subject


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """The most promising pair and event, and the numbers that they were chosen by."""

    promise: float
    event: Event
    pair: Pair
    seen: Pair


def choose(
    subject: Subject,
    pairs: list[Pair],
    weights: tuple[float, ...] | None,
    explored: int,
    *,
    every: bool,
    **options: float,
) -> Choice:
    """Return the pair and the event that promise the largest bound on epsilon.

    Coordinates are summed with `weights`, or with `every` weighting that `readings` returns. Any
    choice is valid: docs/proofs/audit.md, theorem 1.

    Examples
    --------
    >>> subject = Subject(lambda value: (0.5, value[0]), None, None, lambda size: None)
    >>> pair = (np.array([0.0, 0.0]), np.array([1.0, 1.0]))
    >>> options = {"confidence": 0.9, "delta": 0.0}
    >>> choose(subject, [pair], (1.0, 1.0), 50, every=True, **options).promise > 2
    True
    """
    choices = []
    for values in pairs:
        drawn = [subject.draw(value, explored, None if every else weights) for value in values]
        weightings = readings(drawn[0], drawn[1], _along(values)) if every else [weights]
        for sums in weightings:
            seen = [project(side, sums) for side in drawn] if every else drawn
            for i, j in ((0, 1), (1, 0)):
                centre = float(project(values[i], sums))
                best = best_event(seen[i], seen[j], centre=centre, weights=sums, **options)
                choices.append(Choice(*best, (values[i], values[j]), (seen[i], seen[j])))
    return max(choices, key=lambda choice: choice.promise)


def _along(values: Pair) -> tuple[float, ...]:
    """Return the direction in which two values differ."""
    change = values[1] - values[0]
    return tuple((change / np.abs(change).max()).tolist())
