"""Errors on the grid that `regimes` has by default, computed once: they depend on nothing private.

`scripts/known_errors.py` computes them again, which takes a minute, nearly all of it for the tables
of `Optimal`. A test recomputes some.
"""

import json
from functools import cache
from importlib.resources import files

import numpy as np

from inbounds import _check
from inbounds._types import Floats

FRACTIONS: Floats = _check.frozen(np.logspace(-3, 0, 16))
EPSILONS: Floats = _check.frozen(np.logspace(-2, 1, 13))

_BY_DELTA = ("BoundedGaussian", "ClampedGaussian")  # the others give the same pure epsilon


def known_errors(fraction: float, epsilon: float, delta: float) -> dict[str, float]:
    """Return the average RMSE on [0, 1] of every mechanism for which it is known, by name.

    It is known for numbers of the grid only, and for Gaussian noise only if `delta` is zero.

    Examples
    --------
    >>> known_errors(1.0, 10.0, 0.0)["Optimal"] < known_errors(1.0, 10.0, 0.0)["Window"]
    True
    >>> "BoundedGaussian" in known_errors(1.0, 10.0, 1e-6), known_errors(0.123, 10.0, 0.0)
    (False, {})
    """
    column, row = (
        _index(grid, number) for grid, number in ((FRACTIONS, fraction), (EPSILONS, epsilon))
    )
    if column is None or row is None:
        return {}
    return {
        name: errors[row][column]
        for name, errors in _known().items()
        if delta == 0 or name not in _BY_DELTA
    }


def _index(grid: Floats, number: float) -> int | None:
    places = np.flatnonzero(grid == number)
    return int(places[0]) if places.size else None


@cache
def _known() -> dict[str, list[list[float]]]:
    text = (files(__package__) / "known_errors.json").read_text(encoding="utf-8")
    known: dict[str, list[list[float]]] = json.loads(text)
    return known
