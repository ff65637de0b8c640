"""Central privacy for data frames: statistics of a table, or of its groups, in one release."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, cast

import numpy as np

from inbounds._entry import warn_if_weak
from inbounds._extra import optional
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.frames.binding import Table
from inbounds.frames.central import aggregate
from inbounds.frames.central.aggregate import Nulls
from inbounds.frames.central.estimate import NUMBERS, Released
from inbounds.frames.central.moment import Adjacency, Moment, box, moments, sensitivities
from inbounds.frames.central.request import (
    NAMES,
    Opened,
    Request,
    check_request,
    open_table,
)
from inbounds.frames.central.silence import quietly
from inbounds.frames.central.statistic import Statistic
from inbounds.guarantee import Guarantee, check_delta
from inbounds.mechanisms.bounded_gaussian import BoundedGaussian
from inbounds.unit import Unit

with optional():
    import narwhals as nw


def summarize(
    frame: Any,
    statistics: Sequence[Statistic] | Statistic,
    by: str | Sequence[str] | None = None,
    groups: Iterable[Any] | None = None,
    *,
    epsilon: float | None = None,
    delta: float = 0.0,
    rho: float | None = None,
    adjacency: Adjacency = "replace",
    rows: int = 1,
    id: str | None = None,
    size: int | None = None,
    nulls: Nulls = "error",
    ledger: Any = None,
    dataset: str | None = None,
    label: str | None = None,
) -> Any:
    """Release statistics of a table, or of groups of its rows, all at once, each in its range.

    Parameters
    ----------
    frame
        A pandas or Polars data frame (lazy too), a PyArrow table, a DuckDB relation or a PySpark
        data frame. The engine that holds it works out the sums; a lazy one runs twice.
    statistics
        What to ask, made by `count`, `total`, `mean`, `variance` and `histogram` of
        inbounds.frames.central.statistic.
    by, groups
        One or more columns that split the rows, and the values (or tuples of them) to tell
        about, in a list, an array or anything else that has an order; they must be public. Rows
        with other values, or none, count nowhere. Values are strings, whole numbers, booleans or
        dates, and those of a categorical column are of the type of its categories. Strings are
        compared by their bytes, whatever the collation of a column.
    epsilon, delta, rho
        The guarantee of the whole release: `epsilon`, `epsilon` and `delta`, or `rho`.
    adjacency
        What neighbours are. ``"replace"``: up to `rows` rows have other values, and the number of
        rows is public. ``"add-remove"``: up to `rows` rows are added or removed.
    rows, id
        How many rows may be about one person. With `id`, the column that tells whose row it is,
        privacy is for people: at most `rows` rows of each are used, evenly spaced among their
        rows in order of value, and all of one person's rows may change, come or go. **Of two rows
        the lower one is used**: statistics are of the rows used, and low where people have many
        more rows than `rows`. Ids are strings, compared by their bytes, numbers, booleans, dates
        or bytes; anything else is refused.
    size
        Public upper bound on how many rows a group has (the table, without `by`). Needed where
        the number of rows is private: with ``"add-remove"`` or `id`. A tight bound gives less
        noise. Sums above it are cut off, at no cost to privacy.
    nulls
        ``"error"``: refuse columns with nulls. ``"skip"``: leave out rows with a null in any
        column asked about; how many are left is then private.
    ledger, dataset, label
        A `Ledger` to charge, before anything is drawn, and what to write there. By default the
        label names the statistics. The charge states its unit: ``Unit(adjacency, "person")`` with
        `id`, and ``Unit(adjacency, "row", rows)`` without. A dataset of another unit converts or
        refuses it.

    Returns
    -------
    A small frame of the same kind: a Polars data frame for a lazy one, a PyArrow table for
    DuckDB. One row for each group, statistic and bin, with the columns of `by`, ``statistic``,
    ``column``, for histograms ``bin_lower`` and ``bin_upper``, ``value``, ``standard_error``, and
    ``lower`` and ``upper``, between which the truth is with probability 0.95 or more.

    Guarantees
    ----------
    All values together are one release at `epsilon` (and `delta`), or at `rho`, for any two tables
    that are neighbours: docs/proofs/statistics.md. Sums are exact, so no rounding adds to what one
    row changes. Errors show no value; that a column holds nulls or infinities is told by the error.

    Notes
    -----
    "The truth" is the statistic of the rows that are used, their values moved to the bounds. Errors
    and intervals are about the noise; they do not know of which population the table is a sample.
    Without `by`, under ``"replace"``, the number of rows is public, and `count` is exact.

    Pure `epsilon` is dear: relative to the range, the noise of this mechanism shrinks with the
    square root of the number of rows only. With a small `delta`, or `rho`, it shrinks with the
    number of rows.

    Where the size of a group is private, a mean is a released sum over a released count. Its
    interval holds whatever the noise is; its standard error is a first-order one, at best a rough
    guide when a group is not much larger than its noise.

    Examples
    --------
    >>> import pandas as pd
    >>> from inbounds.frames.central.statistic import count, mean
    >>> table = pd.DataFrame({"age": [17, 41, 68] * 100, "town": ["Ulm", "Rom", "Ulm"] * 100})
    >>> asked = [count(), mean("age", 0, 120)]
    >>> result = summarize(table, asked, by="town", groups=["Rom", "Ulm"], epsilon=2.0)
    >>> result[["town", "statistic"]].values.tolist()
    [['Rom', 'count'], ['Rom', 'mean'], ['Ulm', 'count'], ['Ulm', 'mean']]
    >>> result.query("statistic == 'mean'")["value"].between(0, 120).all().item()
    True
    """
    guarantee = Guarantee(epsilon, check_delta(delta), rho)
    warn_if_weak(epsilon=epsilon, delta=delta)
    request = check_request(
        statistics=statistics,
        by=by,
        groups=groups,
        adjacency=adjacency,
        rows=rows,
        person=id,
        size=size,
        nulls=nulls,
    )
    if (ledger is None) != (dataset is None) or (ledger is None and label is not None):
        raise ArgumentError("ledger and dataset must be given together, and label only with them.")
    if ledger is not None and not hasattr(ledger, "release"):
        raise ArgumentTypeError.must_be("ledger", "a Ledger", got=type(ledger).__name__)
    row_count, opened = quietly(lambda: _checked(frame, request))
    largest = request.size or row_count  # without a size, the number of rows is public
    if not largest:
        raise ArgumentError.must("frame", "have at least one row")
    found = moments(request.statistics, sizes_public=request.sizes_public)
    if not found:  # a public number of rows is all that is asked for
        return _written(opened.table, request, Released(None, np.empty((1, 0)), found, largest))
    exact = quietly(lambda: _sums(opened))
    values = np.array([float(one / largest) for group in exact for one in group])
    mechanism = _mechanism(found, request, largest, guarantee)
    middle = np.reshape(mechanism.domain.lower, (len(request.groups), -1)) + 0.5
    trial = Released(mechanism, middle, found, largest)
    quietly(
        lambda: _written(opened.table, request, trial)
    )  # what it cannot hold is found out in time
    if ledger is None:
        answers = mechanism.release(values)
    else:
        label = ", ".join(map(repr, request.statistics)) if label is None else label
        unit = _unit(request)
        answers = ledger.release(mechanism, values, dataset=dataset, label=label, unit=unit)
    shaped = np.reshape(answers, (len(request.groups), -1))
    return _written(opened.table, request, Released(mechanism, shaped, found, largest))


def _unit(request: Request) -> Unit:
    """Return which change of the table the release hides."""
    if request.person is not None:
        return Unit(request.adjacency, "person")
    return Unit(request.adjacency, "row", request.rows)


def _checked(frame: Any, request: Request) -> tuple[int, Opened]:
    """Return the number of rows, and the table of those that are used."""
    opened = open_table(frame, request)
    ours = opened.request
    row_count, table = aggregate.checked(
        opened.table, ours.columns, ours.person, ours.nulls, opened.called.__getitem__
    )
    return row_count, replace(opened, table=table)


def _sums(opened: Opened) -> list[list[Fraction]]:
    """Return the exact sums of each group."""
    request = opened.request
    return aggregate.sums(
        opened.table,
        moments(request.statistics, sizes_public=request.sizes_public),
        by=request.by,
        groups=request.groups,
        person=request.person,
        rows=request.rows,
    )


def _mechanism(
    found: Sequence[Moment], request: Request, size: int, guarantee: Guarantee
) -> BoundedGaussian:
    """Return the mechanism with the least noise; a change is bounded in l1 and in l2."""
    domain = box(found, len(request.groups))
    bounds = sensitivities(
        found,
        len(request.groups),
        adjacency=request.adjacency,
        sizes_public=request.sizes_public,
        rows=request.rows,
        size=size,
    )
    fitted = [
        BoundedGaussian.calibrated(domain, bound, scaling="width", **guarantee.stated())
        for bound in bounds
    ]
    return min(fitted, key=lambda mechanism: float(np.max(mechanism.sigma)))


def _written(table: Table, request: Request, released: Released) -> Any:
    """Write estimates as a frame of the user's kind."""
    estimates = [
        ({"statistic": asked.kind, "column": asked.column or None, **label}, estimate)
        for asked in request.statistics
        for label, estimate in zip(asked.labels, asked.estimate(released), strict=True)
    ]
    rows = [
        dict(zip(request.by, key, strict=True)) | about | estimate.numbers(group)
        for group, key in enumerate(request.groups)
        for about, estimate in estimates
    ]
    names = [n for n in (*request.by, *NAMES, *NUMBERS) if any(n in row for row in rows)]
    columns = {name: [row.get(name) for row in rows] for name in names}
    engine = table.implementation
    if engine.is_pyspark():
        with optional():
            import pyarrow as pa  # noqa: PLC0415 - Spark's own way from Python needs it

        return table.to_native().sparkSession.createDataFrame(pa.table(columns))
    eager = isinstance(table, nw.DataFrame) or engine.is_polars()
    backend = engine if eager else "pyarrow"
    return nw.from_dict(columns, backend=cast("Any", backend)).to_native()
