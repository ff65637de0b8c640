"""What a mechanism gives: every guarantee, delta at each epsilon, and the risk in plain words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds._check import format_numbers
from inbounds._entry import LARGEST_DELTA, LARGEST_EPSILON
from inbounds.profile import LARGEST

if TYPE_CHECKING:
    from inbounds.guarantee import Guarantee
    from inbounds.mechanisms.mechanism import Mechanism

PRIORS = (0.01, 0.5)
"""How sure somebody is of a guess before the output, in the rows of a risk."""

_POINTS = 25  # of a curve
_NEGLIGIBLE = 1e-12  # a delta below which a curve need not go
_HALVINGS = 60
_DELTA = 1e-6  # at which the epsilon of a rho is stated


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


def risk(mechanism: Mechanism, guarantee: Guarantee) -> dict[str, Any]:
    """Return by how much an output can change a guess about one person, in the worst case.

    Examples
    --------
    >>> import inbounds as ib
    >>> from inbounds.cli.arguments import read_guarantee
    >>> m = ib.Window(ib.Box(0, 1), 1, epsilon=1.0)
    >>> result = risk(m, read_guarantee(1.0))
    >>> round(result["odds"], 3), [round(after, 3) for _, after in result["rows"]]
    (2.718, [0.027, 0.731])
    >>> result["sentence"]
    'Whoever was 50 % sure of a guess about one person before can be at most 73.2 % sure after
    seeing the output (worst case).'
    """
    epsilon, delta = _pair(mechanism, guarantee)
    rows = [[prior, _after(prior, epsilon)] for prior in PRIORS]
    odds = math.exp(epsilon) if epsilon < math.log(1e308) else None
    return {"odds": odds, "rows": rows, "sentence": _sentence(epsilon, delta, guarantee)}


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


def _pair(mechanism: Mechanism, guarantee: Guarantee) -> tuple[float, float]:
    """Return an epsilon and a delta that the release has: pure, if it has the same epsilon pure."""
    if guarantee.rho is None:
        epsilon, delta = guarantee.pair
    else:
        epsilon, delta = mechanism.epsilon_at(_DELTA), _DELTA
    return epsilon, 0.0 if mechanism.epsilon <= epsilon else delta


def _after(prior: float, epsilon: float) -> float:
    """Return how sure a guess can be at most, if the odds grow by the factor e^epsilon."""
    return 1 / (1 + (1 - prior) / prior * math.exp(-epsilon))


def _sentence(epsilon: float, delta: float, guarantee: Guarantee) -> str:
    percent = math.ceil(1000 * _after(0.5, epsilon)) / 10
    sure = f"at most {percent:.1f} % sure" if percent < 100 else "all but certain"
    text = (
        f"Whoever was 50 % sure of a guess about one person before can be {sure} after seeing the "
        "output (worst case)"
    )
    if guarantee.rho is not None:
        stated = f"epsilon {epsilon:.4g}" + (f" and delta {delta:g}" if delta else "")
        text += f", by the {stated} that rho {format_numbers(guarantee.rho)} gives here"
    if delta:
        text += f". This holds but for a probability of about {delta:g}"
    return f"{text}."
