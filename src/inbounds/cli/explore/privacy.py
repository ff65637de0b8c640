"""What a mechanism gives: delta at each epsilon, and notes about guarantees that are weak."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from inbounds._entry import LARGEST_DELTA, LARGEST_EPSILON
from inbounds.profile import LARGEST

if TYPE_CHECKING:
    from inbounds.guarantee import Guarantee
    from inbounds.mechanisms.mechanism import Mechanism

_POINTS = 25  # of a curve
_NEGLIGIBLE = 1e-12  # a delta below which a curve need not go
_HALVINGS = 60


def curve(mechanism: Mechanism) -> dict[str, list[float]]:
    """Return delta at epsilons from 0 to the pure epsilon, or to where delta is below 1e-12.

    Examples
    --------
    >>> import inbounds as ib
    >>> points = curve(ib.Window(ib.Box(0, 1), 1, epsilon=1.0))
    >>> len(points["epsilon"]), points["epsilon"][-1], points["delta"][-1]
    (25, 1.0, 0.0)
    """
    top = min(mechanism.epsilon, LARGEST)
    for _ in range(_HALVINGS):
        if mechanism.delta(top / 2) > _NEGLIGIBLE:
            break
        top /= 2
    epsilons = np.linspace(0.0, top, _POINTS).tolist()
    return {"epsilon": epsilons, "delta": [mechanism.delta(epsilon) for epsilon in epsilons]}


def weaknesses(guarantee: Guarantee) -> list[str]:
    """Return what is to be said about a guarantee that protects hardly anybody.

    Examples
    --------
    >>> from inbounds.cli.arguments import read_guarantee
    >>> weaknesses(read_guarantee(1.0, 1e-6))
    []
    >>> weaknesses(read_guarantee(30.0))
    ['Epsilon 30 allows an output to change the odds of any guess about a person by a factor of
    e^30: this protects hardly anything.']
    """
    notes = []
    if guarantee.delta is not None and guarantee.delta >= LARGEST_DELTA:
        shown = f"{guarantee.delta:g}"
        notes.append(
            f"Delta {shown} would allow even a mechanism that publishes everything with probability"
            f" {shown}: choose a delta well below 1/n for n people."
        )
    if guarantee.epsilon is not None and guarantee.epsilon > LARGEST_EPSILON:
        shown = f"{guarantee.epsilon:g}"
        notes.append(
            f"Epsilon {shown} allows an output to change the odds of any guess about a person by a "
            f"factor of e^{shown}: this protects hardly anything."
        )
    if guarantee.rho is not None and guarantee.rho > LARGEST_EPSILON:
        shown = f"{guarantee.rho:g}"
        notes.append(
            f"Rho {shown} allows an epsilon of {shown} or more: this protects hardly anything."
        )
    return notes
