"""The table that a notebook shows of a mechanism: its parameters, guarantees and errors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds._table import Table
from inbounds._types import Floats

if TYPE_CHECKING:
    from inbounds.mechanisms.mechanism import Mechanism

_QUICK = 2048  # with at most this many coordinates, everything takes about 50 ms
_SHOWN = 6  # numbers of a parameter, if there are more


def overview(mechanism: Mechanism) -> Table:
    """Return a table of what is public; a mechanism does not store the values it released.

    Guarantees and errors are left out if there are so many coordinates that they take long.

    Examples
    --------
    >>> import inbounds as ib
    >>> print(overview(ib.BoundedLaplace.calibrated(ib.Box(0, 1), 1, epsilon=2.0)))
    BoundedLaplace
    ─────────────────────────────
    domain              Box(0, 1)
    sensitivity         L2(1)
    scale               0.5
    pure ε              2
    ρ (zCDP)            0.92...
    μ (GDP)             1.54...
    RMSE in the middle  0.25...
    RMSE at a bound     0.43...
    """
    box = mechanism.domain
    facts = [("domain", repr(box)), ("sensitivity", repr(mechanism.sensitivity))]
    facts += [(name, _shown(value)) for name, value in mechanism.parameters.items()]
    if box.dimension > _QUICK:
        return Table.of_facts(type(mechanism).__name__, facts)
    middle = np.asarray(box.lower) / 2 + np.asarray(box.upper) / 2
    facts += [
        ("pure ε", _number(mechanism.epsilon)),
        ("ρ (zCDP)", _number(mechanism.rho)),
        ("μ (GDP)", _number(mechanism.gdp)),
        ("RMSE in the middle", _rmse(mechanism, middle)),
        ("RMSE at a bound", _rmse(mechanism, np.asarray(box.lower))),
    ]
    note = "" if box.is_interval else "RMSE: root mean squared error over all coordinates."
    return Table.of_facts(type(mechanism).__name__, facts, note)


def _shown(parameter: Any) -> str:
    if isinstance(parameter, str):
        return parameter
    flat = np.atleast_1d(parameter)
    return ", ".join(map(_number, flat[:_SHOWN].tolist())) + ", …" * (flat.size > _SHOWN)


def _rmse(mechanism: Mechanism, place: Floats) -> str:
    """Return the root mean squared error at a place in the box, over all coordinates."""
    with np.errstate(over="ignore"):  # an infinite result is correct
        return _number(math.sqrt(float(np.mean(mechanism.mse(place)))))


def _number(number: float) -> str:
    return "∞" if number == math.inf else f"{number:.6g}"
