"""Statistics of a table, or of its groups, in one release."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from inbounds._entry import called, unwarned, warn_if_weak
from inbounds.errors import ArgumentError
from inbounds.frames.central import person
from inbounds.frames.central.change import Neighbours
from inbounds.frames.central.charge import check_ledger, unit_of
from inbounds.frames.central.check import NullPolicy
from inbounds.frames.central.choice import best_noise, check_kind, error
from inbounds.frames.central.drawing import ColumnGrid, Drawing, grids
from inbounds.frames.central.grid import Counts
from inbounds.frames.central.joint import JointRelease
from inbounds.frames.central.measure import Measured, measure
from inbounds.frames.central.moment import moments
from inbounds.frames.central.noise import Noise
from inbounds.frames.central.outside import Outside
from inbounds.frames.central.quantile import Quantile
from inbounds.frames.central.request import Opened, Request, check_request, open_table
from inbounds.frames.central.split import check_weights, importances
from inbounds.frames.central.statistic import Statistic
from inbounds.frames.central.summary import Summary
from inbounds.frames.silence import quietly
from inbounds.guarantee import Guarantee, check_delta
from inbounds.mechanisms.asked import noted
from inbounds.mechanisms.noise_mechanism import NoiseMechanism
from inbounds.unit import Adjacency


@called()
@unwarned
def summarize(
    frame: Any,
    statistics: Sequence[Statistic] | Statistic,
    by: str | int | Sequence[str | int] | None = None,
    groups: Iterable[Any] | None = None,
    *,
    epsilon: float | None = None,
    delta: float = 0.0,
    rho: float | None = None,
    adjacency: Adjacency = "replace",
    rows: int = 1,
    id: str | int | None = None,
    size: int | None = None,
    nulls: NullPolicy = "error",
    outside: Outside = "clip",
    weights: Sequence[float] | None = None,
    mechanism: type[NoiseMechanism] | str | None = None,
    ledger: Any = None,
    dataset: str | None = None,
    label: str | None = None,
) -> Any:
    """Release statistics of a table, or of groups of its rows, jointly and each in its range.

    Parameters
    ----------
    frame
        A pandas or Polars data frame (even a lazy one), a PyArrow table, a DuckDB relation, a
        PySpark data frame or a NumPy array. Its engine computes the sums; a lazy frame is evaluated
        once. Columns of an array are given by their index, as in ``mean(0, 0, 120)``, and those of
        a structured array by name; NaN is a null there.
    statistics
        One or more statistics, made by `count`, `total`, `mean`, `variance`, `proportion`,
        `histogram`, `categories`, `quantile` and `median` of `inbounds.frames`.
    by
        One or more columns that split the rows. Their names are public; the group that a row
        belongs to is hidden like its other values. Values are strings, integers, booleans or dates;
        in a categorical column they have the type of its categories. Strings are compared by their
        bytes, regardless of a column's collation.
    groups
        The values of `by` (or tuples of values) to report, in a list, an array or anything else
        that has an order. The list must be public; if it is not public which groups there are,
        `find_groups` finds them. Rows with other values, or with nulls, belong to no group. A
        misspelt group is an empty one.
    epsilon
        The epsilon of the whole release: all statistics of all groups together.
    delta
        The delta that goes with `epsilon`. If it is 0, the guarantee is pure epsilon.
    rho
        The rho of the whole release, for zero-concentrated privacy in place of `epsilon`.
    adjacency
        Which tables are neighbours. ``"replace"``: up to `rows` rows have other values, and the
        number of rows is public. ``"add-remove"``: up to `rows` rows are added or removed.
    rows
        How many rows may belong to one person. With `id`, at most this many rows of each person are
        used. They are chosen at random, evenly spaced among that person's rows in the order of
        their values, so that each of them is equally likely to be used. Totals and counts are those
        of the rows that are used.
    id
        The column that identifies each row's person. Privacy is then for people: all rows of one
        person may change, or be added or removed. Ids are strings, which are compared by their
        bytes, numbers, booleans, dates or bytes.
    size
        A public upper bound on the number of rows of a group (of the table, without `by`). It is
        required where the number of rows is private: with ``"add-remove"`` or `id`; quantiles do
        without. A bound that is not tight costs next to nothing. It counts rows, not people. If a
        group is larger, its privacy holds, but every sum of it is wrong, and so is its interval.
    nulls
        ``"error"``: refuse columns with nulls. ``"skip"``: leave out rows with a null in any column
        that a statistic describes; the number of rows that are left is then private.
    outside
        What becomes of numbers outside the bounds of a statistic (for `proportion`: other than 0
        and 1). ``"clip"``: they are moved to the nearest bound. ``"skip"``: rows with such a number
        in any column are left out, as if it were a null; the number of rows that are left is then
        private. This is for codes of missing values, such as 999, and for infinities. ``"error"``:
        the column is refused, which reveals that it holds such a number. A mapping such as
        ``{"age": "skip"}`` says it for the columns that it names; others are clipped. Rows whose
        values are none of the levels of `categories` are used as before.
    weights
        One positive number for each of the `statistics`, in their order: how much its squared
        relative error counts when the privacy is divided between them. All are 1 by default. They
        are not weights of rows, such as those of a survey, which are refused.
    mechanism
        The class of the mechanism, or its name: `ClampedLaplace`, `ClampedGaussian`,
        `BoundedLaplace` or `BoundedGaussian`. By default the one whose estimates have the least
        error.
    ledger
        A `Ledger` that is charged before anything is drawn. The charge states its unit:
        ``Unit(adjacency, "person")`` with `id`, and ``Unit(adjacency, "row", rows)`` without. A
        dataset of another unit converts or refuses it.
    dataset
        The dataset of the ledger whose budget is charged.
    label
        A note for the history of the ledger, which names the statistics by default.

    Returns
    -------
    data frame
        A small frame of the same kind (a Polars data frame for a lazy one, a PyArrow table for
        DuckDB, a pandas data frame for an array). It has one row for each group, statistic and bin,
        with the columns of `by`, ``statistic``, ``column``, for histograms ``bin_lower`` and
        ``bin_upper``, for categories ``level``, for quantiles ``q``, ``value``,
        ``standard_error``, which is empty for quantiles, ``lower`` and ``upper``, between which the
        truth is with probability 0.95 or more, and ``mechanism``, which released the row and is
        null if the row is exact.

    Raises
    ------
    ArgumentError
        If an argument is not valid, the frame lacks a column, a column has nulls or infinite
        values, or the engine fails. The message shows no values.
    ArgumentTypeError
        If an argument or a column has a type that cannot be used.
    BudgetExceededError
        If the ledger has no room for the charge. Nothing is charged or drawn then.

    See Also
    --------
    find_groups : Find the groups of a table privately, to list them here.
    privatize : Release every person's values instead, without trusting whoever collects them.
    count, total, mean, variance, proportion, histogram, categories, quantile, median

    Guarantees
    ----------
    All values together are one release at `epsilon` (and `delta`), or at `rho`, for any two tables
    that are neighbours: docs/proofs/statistics.md, theorems 1 to 6 and 11, and for quantiles
    docs/proofs/quantiles.md, theorem 11. A ledger is charged once, before anything is drawn. Sums
    are exact, so rounding adds nothing to what one row changes. Errors show no value, but an error
    reveals that a column holds nulls or infinite values.

    Notes
    -----
    What is released are sums: of ones, of t = (x - lower)/(upper - lower) - 1/2, of 4t² - 1/2, and
    of the rows in each bin, all divided by the size of a group. One mechanism releases them for all
    groups, calibrated to how far a neighbour moves them in the l1 or in the l2 norm. It is the one
    with the least error Σ vₖrₖ², where vₖ is the weight of a statistic and rₖ its error, relative
    to the number of rows (count, and the l2 error of all bins or levels together), to that times
    the largest value (total), to the width of the bounds (mean), or to a quarter of its square
    (variance). The same sum decides how noise is divided between the statistics
    (docs/proofs/statistics.md, theorems 8 and 14). Usually it is plain Laplace or Gaussian noise,
    and statistics are moved into their range after they are computed from the outputs. For all of
    this nothing is used but the arguments and public numbers.

    Quantiles are drawn from the points of a public grid. If there are quantiles, each statistic
    that needs noise has a part of the guarantee in proportion to its weight.

    "The truth" is the statistic of the rows that are used, with values moved to the bounds.
    Standard errors and intervals describe the noise; they do not treat the table as a sample of a
    population. Without `by`, under ``"replace"``, the number of rows is public, and `count` is
    exact.

    Where the size of a group is private, a mean is a released sum divided by a released count. Its
    interval is valid for any amount of noise; its standard error is a first-order approximation,
    which is only a rough guide if a group is not much larger than its noise. Intervals:
    docs/proofs/statistics.md, theorems 7, 9 and 12.

    Examples
    --------
    >>> import pandas as pd
    >>> import inbounds as ib
    >>> from inbounds.frames import count, mean
    >>> table = pd.DataFrame({"age": [17, 41, 68] * 100, "town": ["Ulm", "Rom", "Ulm"] * 100})
    >>> statistics = [count(), mean("age", 0, 120)]
    >>> result = ib.summarize(table, statistics, by="town", groups=["Rom", "Ulm"], epsilon=2.0)
    >>> result[["town", "statistic"]].values.tolist()
    [['Rom', 'count'], ['Rom', 'mean'], ['Ulm', 'count'], ['Ulm', 'mean']]
    >>> result.query("statistic == 'mean'")["value"].between(0, 120).all().item()
    True
    """
    guarantee = Guarantee(epsilon, check_delta(delta), rho)
    warn_if_weak(epsilon=epsilon, delta=delta, rho=rho)
    request = check_request(
        statistics=statistics,
        by=by,
        groups=groups,
        adjacency=adjacency,
        rows=rows,
        person=id,
        size=size,
        nulls=nulls,
        outside=outside,
    )
    weights, kind = check_weights(weights, request.statistics), check_kind(mechanism)
    check_ledger(ledger, dataset, label, "release")
    opened = quietly(lambda: open_table(frame, request))
    measured, counts = quietly(lambda: _measured(opened))
    size = request.size or measured.rows  # without a size, the number of rows is public
    if not (size or request.row_count_private):
        raise ArgumentError.must("frame", "have at least one row")
    needed = moments(request.statistics, sizes_public=request.sizes_public)
    neighbours = _neighbours(request, size)
    importance = importances(needed, request.statistics, weights)

    def noise_at(guarantee: Guarantee) -> Noise:
        return best_noise(needed, importance, neighbours, guarantee, kind)

    def deviation(guarantee: Guarantee) -> float:
        return math.sqrt(error(needed, importance, noise_at(guarantee)))

    for_sums, drawing = Drawing.planned(opened, neighbours, guarantee, weights, deviation)
    noise, values = None, np.zeros(1)
    if needed and for_sums is not None:
        noise = noise_at(for_sums)
        values = noise.values(measured.sums, size)
    summary = Summary(opened.table, request, needed, size, noise, drawing)
    trial = quietly(summary.trial)  # fails before anything is charged
    if noise is None and not drawing.plans:  # only the public number of rows is asked for
        return trial
    priced: Any = None if noise is None else noted(noise.mechanism, guarantee)
    if drawing.plans:
        asked = [statistic for statistic in request.statistics if isinstance(statistic, Quantile)]
        priced = JointRelease(priced, drawing.plans, asked, guarantee)
    if ledger is None:
        outputs = priced.release(values)
    else:  # the charge is durable before anything is drawn, even the quantiles
        label = ", ".join(map(repr, request.statistics)) if label is None else label
        unit = unit_of(request.adjacency, request.rows, request.person)
        outputs = ledger.release(priced, values, dataset=dataset, label=label, unit=unit)
    return summary.written(outputs, drawing.draw(counts))


def _measured(opened: Opened) -> tuple[Measured, dict[ColumnGrid, list[Counts]]]:
    """Return what the frame holds, and the rows at the points of each grid."""
    request = opened.request
    needed = moments(request.statistics, sizes_public=request.sizes_public)
    asked = list(dict.fromkeys(grids(opened)))
    secret = b"" if request.person is None else person.new_key()
    measured = measure(opened, needed, asked, secret)
    return measured, dict(zip(asked, measured.counts, strict=True))


def _neighbours(request: Request, size: int) -> Neighbours:
    """Return the tables that are neighbours, as a request states them."""
    return Neighbours(
        groups=len(request.groups),
        adjacency=request.adjacency,
        sizes_public=request.sizes_public,
        rows=request.rows,
        size=size,
    )
