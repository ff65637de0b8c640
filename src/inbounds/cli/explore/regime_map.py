"""The map of the best mechanism, by epsilon and by sensitivity, whole or row by row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from inbounds.analysis.known_error import EPSILONS, FRACTIONS
from inbounds.analysis.regimes import NAMES, ON_AN_INTERVAL, regimes
from inbounds.cli.explore.field import named_as_on_the_page, number
from inbounds.cli.explore.question import MOST_COORDINATES
from inbounds.cli.output import jsonable
from inbounds.errors import ArgumentError

ROWS = len(EPSILONS)
"""How many rows `regime_rows` yields."""


def regime_map(delta: object, dimension: object = 1) -> dict[str, Any]:
    """Return the whole map: about 10 milliseconds for a delta of 0, and a second for any other.

    Examples
    --------
    >>> found = regime_map(0, 1)
    >>> (
    ...     found["best"][0][0],
    ...     len(found["epsilons"]),
    ...     len(found["fractions"]),
    ...     found["useless"][0][-1],
    ... )
    ('Optimal', 13, 16, True)
    """
    *_, last = regime_rows(delta, dimension)
    whole: dict[str, Any] = last["map"]
    return whole


def regime_rows(delta: object, dimension: object = 1) -> Iterator[dict[str, Any]]:
    """Yield a row of the map for each epsilon, in rising order; arguments are checked at once.

    Each row says how many are done, and of how many. The last one holds the whole map, too.

    Examples
    --------
    >>> row = next(regime_rows(0))
    >>> row["done"], row["of"], row["map"], row["best"][0]
    (1, 13, None, 'Optimal')
    """
    return _rows(*_checked(delta, dimension))


def _rows(delta: float, dimension: int) -> Iterator[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for epsilon in EPSILONS.tolist():
        with named_as_on_the_page():
            found = regimes(delta=delta, dimension=dimension, epsilons=[epsilon])
        rows.append(
            {
                "epsilon": epsilon,
                "best": found.best[0].tolist(),
                "margin": jsonable(found.margin[0]),
                "useless": (found.over_the_middle[0] >= 1).tolist(),
            }
        )
        whole = joined(delta, dimension, rows) if len(rows) == ROWS else None
        yield {"done": len(rows), "of": ROWS, "map": whole, **rows[-1]}


def joined(delta: float, dimension: int, rows: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return the map that consists of the rows of `regime_rows`.

    Examples
    --------
    >>> joined(0.0, 1, regime_rows(0)) == regime_map(0)
    True
    """
    kept = list(rows)
    return {
        "delta": delta,
        "dimension": dimension,
        "fractions": FRACTIONS.tolist(),
        "epsilons": [row["epsilon"] for row in kept],
        **{key: [row[key] for row in kept] for key in ("best", "margin", "useless")},
        "names": list(NAMES + ON_AN_INTERVAL if dimension == 1 else NAMES),
    }


def _checked(delta: object, dimension: object) -> tuple[float, int]:
    from inbounds.guarantee import check_delta  # noqa: PLC0415 - help must be quick

    coordinates = number("dimension", dimension)
    if not (coordinates.is_integer() and 1 <= coordinates <= MOST_COORDINATES):
        requirement = f"a whole number from 1 to {MOST_COORDINATES}"
        raise ArgumentError.must_be("dimension", requirement, got=f"{coordinates:g}")
    return check_delta(number("delta", delta)), int(coordinates)
