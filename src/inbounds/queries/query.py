"""A question about data, with everything that a mechanism needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, overload

import numpy as np

from inbounds import _check, _exact
from inbounds._table import HasHtml, Table
from inbounds._types import Floats, Number, Vector
from inbounds.domain import Box
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.sensitivity import PerCoordinate, Sensitivity, as_sensitivity
from inbounds.unit import Unit, check_same, check_unit

ValueT_co = TypeVar("ValueT_co", bound=float | Floats, covariant=True)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Query(HasHtml, Generic[ValueT_co]):
    """The true answer to a question, the box that contains it, and what a neighbour may change.

    Parameters
    ----------
    name
        The name of the question; after `stack`, one name per coordinate.
    value
        The true answer. It is **private**: pass it to a mechanism only. Neither `repr` nor any
        error shows it. A number that a double cannot represent exactly, such as a long integer, is
        not rounded.
    box
        The range of true answers. It must follow from public knowledge, never from the data.
    sensitivity
        How much the answers of two neighbours may differ: a number (an l2 norm) or `L2`, `L1`,
        `LInf`, `PerCoordinate` and their intersections.
    unit
        What a neighbour is, or None. Pass it to ``Ledger.release`` or ``m.loss``.

    Raises
    ------
    ArgumentError
        If `value` is not finite, or `value` or `sensitivity` does not fit the coordinates of `box`.
    ArgumentTypeError
        If an argument is of a wrong type.

    See Also
    --------
    stack : several queries as one joint release.
    inbounds.queries.graph : queries on graphs.

    Notes
    -----
    For a question f and neighbouring data D and D', the query states that f(D) is in `box` and that
    f(D) − f(D') is in the set of differences that `sensitivity` describes. Both are promises of the
    caller: privacy depends on the second.

    Examples
    --------
    >>> import inbounds as ib
    >>> from inbounds.queries import Query
    >>> query = Query("mean age", 41.3, ib.Box(0, 120), 2.5)
    >>> query
    Query('mean age', Box(0, 120), L2(2.5))
    >>> m = ib.BoundedGaussian.calibrated(query.box, query.sensitivity, epsilon=1.0)
    >>> 0 <= m.release(query.value) <= 120
    True
    """

    name: str | tuple[str, ...]
    value: ValueT_co
    box: Box
    sensitivity: Sensitivity
    unit: Unit | None

    @overload
    def __init__(
        self: Query[float],
        name: str | tuple[str, ...],
        value: Number,
        box: Box,
        sensitivity: Sensitivity | Number,
        unit: Unit | None = ...,
    ) -> None: ...
    @overload
    def __init__(
        self: Query[Floats],
        name: str | tuple[str, ...],
        value: Vector,
        box: Box,
        sensitivity: Sensitivity | Number,
        unit: Unit | None = ...,
    ) -> None: ...
    def __init__(
        self,
        name: str | tuple[str, ...],
        value: Any,
        box: Box,
        sensitivity: Sensitivity | Number,
        unit: Unit | None = None,
    ) -> None:
        if not isinstance(box, Box):
            raise ArgumentTypeError.must_be("box", "a Box", got=type(box).__name__)
        checked = _check.private_array(value=value)
        if checked.dtype != np.float64:
            checked = _exact.rationals(checked)
        if checked.shape != np.shape(box.lower):
            raise ArgumentError.must(
                "value", "have one entry per coordinate of the box", got=f"shape {checked.shape}"
            )
        answer = _check.frozen(checked) if checked.ndim else checked.item()
        differences = as_sensitivity(sensitivity)
        differences.limits(box.dimension)  # refuses a wrong number of coordinates
        fields = {"name": name, "value": answer, "box": box, "sensitivity": differences}
        fields["unit"] = check_unit(unit)
        for field, content in fields.items():
            object.__setattr__(self, field, content)

    def _table(self) -> Table:
        name = ", ".join(map(str, self.name)) if isinstance(self.name, tuple) else str(self.name)
        facts = [("asks", name), ("box", repr(self.box)), ("sensitivity", repr(self.sensitivity))]
        facts += [] if self.unit is None else [("unit", str(self.unit))]
        return Table.of_facts("Query", facts, "The value is private and never shown.")

    def __repr__(self) -> str:
        unit = "" if self.unit is None else f", {self.unit!r}"
        return f"Query({self.name!r}, {self.box!r}, {self.sensitivity!r}{unit})"


def stack(queries: Sequence[Query[float | Floats]]) -> Query[Floats]:
    """Return one query with the coordinates of several queries, for one joint release.

    Parameters
    ----------
    queries
        Queries about the same data and the same neighbours: for graphs, pass the same `edges` to
        each. A query without a unit is assumed to have the unit that the others state.

    Returns
    -------
    Query
        Its box is the product of the boxes, and its sensitivity is `PerCoordinate`.

    Raises
    ------
    ArgumentError
        If there are no queries, or they state different units.
    ArgumentTypeError
        If one of them is not a `Query`.

    Notes
    -----
    The bound of coordinate i is the largest |fᵢ(D) − fᵢ(D')| that its own query allows. The joint
    sensitivity thus allows every combination of changes, including combinations that no neighbour
    can make, so it errs on the private side (docs/proofs/graph.md, theorem 4).

    Examples
    --------
    >>> import inbounds as ib
    >>> from inbounds.queries import Query, stack
    >>> age, height = Query("age", 41.0, ib.Box(0, 120), 1), Query("height", 1.7, ib.Box(0, 3), 0.1)
    >>> stack([age, height])
    Query(('age', 'height'), Box([0, 0], [120, 3]), PerCoordinate([1, 0.1]))
    """
    if not isinstance(queries, Iterable):
        raise ArgumentTypeError.must_be("queries", "a sequence of Query")
    queries = tuple(queries)
    if not all(isinstance(query, Query) for query in queries):
        raise ArgumentTypeError.must_be("queries", "a sequence of Query")
    if not queries:
        raise ArgumentError.must("queries", "hold at least one Query")
    hint = "state every sensitivity for the same change of the data."
    unit = check_same({query.unit for query in queries}, "queries", hint)
    names: list[str] = []
    for query in queries:
        names += [query.name] if isinstance(query.name, str) else query.name
    steps = [step for query in queries for step in query.box.steps]
    box = Box(
        np.hstack([query.box.lower for query in queries]),
        np.hstack([query.box.upper for query in queries]),
        step=None if set(steps) == {None} else tuple(steps),
    )
    values = np.hstack([np.asarray(query.value, dtype=object) for query in queries])
    bounds = PerCoordinate(np.hstack([_bounds(query) for query in queries]))
    return Query(tuple(names), values, box, bounds, unit)


def _bounds(query: Query[float | Floats]) -> Floats:
    """Return the largest change of each coordinate, which is at most the norm of all changes."""
    limits = query.sensitivity.limits(query.box.dimension)
    return np.minimum(limits.caps, limits.radius)
