"""Estimates from private columns, by group, on every engine."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from inbounds import _check
from inbounds._entry import called, unwarned
from inbounds._progress import tracked
from inbounds._types import Vector
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.frames.central.value_type import plain_value
from inbounds.frames.local.column import Nulls
from inbounds.frames.native import NUMBERS, native_frame, of_one_type
from inbounds.frames.reading.block import blocks
from inbounds.frames.reading.group import Groups, Key
from inbounds.frames.reading.row import LABELS, Asked, Row, columns_of
from inbounds.frames.reading.sidecar import PrivateColumns, private_columns
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.mechanisms.randomized_response import RandomizedResponse

Bins = int | Vector


@called()
@unwarned
def estimate(
    frame: Any,
    columns: Mapping[str, Mechanism | RandomizedResponse] | str | os.PathLike[str],
    by: str | Sequence[str] | None = None,
    groups: Iterable[Any] | None = None,
    *,
    quantiles: Vector | float = (),
    histogram: Bins | Mapping[str, Bins] | None = None,
    level: float = 0.95,
    nulls: Nulls | None = None,
    progress: bool = False,
) -> Any:
    """Estimate means, quantiles, histograms and fractions of the values behind private columns.

    The plain average of a private column is biased: noise in a box pulls outputs towards the
    middle, and randomised response makes levels look equally frequent. This function knows the
    mechanism and undoes that. Columns of numbers get means, and those of categories the fraction of
    people at each level; quantiles and histograms of numbers are given if asked for.

    Parameters
    ----------
    frame
        What `privatize` returned, or a table that was read from its file: a pandas or Polars data
        frame (even a lazy one), a PyArrow table, batch or reader, a DuckDB relation or a PySpark
        data frame. A lazy frame is evaluated once.
    columns
        The mechanism of each private column, as for `privatize`, which for categories is a
        `RandomizedResponse`; or the name of the
        ``.privacy.json`` file that `inbounds privatize` wrote.
    by
        One or more columns that split the rows, which must not be private columns.
    groups
        The values of `by` (or tuples of values) to report. By default, those in the frame are
        reported, 10,000 at most, in order.
    quantiles
        Numbers between 0 and 1, for every private column of numbers; 0.5 is the median.
    histogram
        A number of bins, or their edges, for every private column of numbers or for each by its
        name. The result has fractions of the values. As in NumPy, a value on an edge belongs to the
        bin above it, and a value on the last edge to the last bin.
    level
        The confidence of each interval, for each number by itself.
    nulls
        What `privatize` did about missing values, unless a file says it. ``"keep"``: rows with a
        missing output are left out, so that the estimates are about those who gave a value.
        ``"uniform"``: nobody can tell who gave none, so the estimates count each missing value as
        one that is uniform in the box, or among the levels. ``"error"``: there were none.
    progress
        Whether to show a progress bar over groups on standard error; needs rich.

    Returns
    -------
    data frame
        A small frame of the same kind (a Polars data frame for a lazy one, a PyArrow table for
        DuckDB and readers). It has one row for each group, column, statistic and bin or level, with
        the columns of `by`, ``statistic`` (count, mean, quantile, histogram or fraction),
        ``column``, ``q``, ``bin_lower``, ``bin_upper``, ``level``, ``value``, ``standard_error``
        (of means and of fractions; it is missing for others), and ``lower`` and ``upper``, the ends
        of the interval. Labels that no row needs are left out. A listed group without rows has no
        values, and intervals that say nothing.

    Raises
    ------
    ArgumentError
        If an argument is not valid, the frame lacks a column, a column has nulls that `nulls` does
        not explain or values that are no outputs of its mechanism, quantiles or a histogram of
        categories are asked for, or there are too many groups. The message shows no values.
    ArgumentTypeError
        If an argument or a column has a type that cannot be used.

    See Also
    --------
    privatize : Makes private columns.
    deconvolve : The distribution behind one column, with a figure.
    summarize : Statistics of true values instead, with far less noise.

    Guarantees
    ----------
    This reads private outputs and public parameters alone, so it costs no privacy
    (docs/proofs/deconvolution.md, theorem 1). Intervals are those of `Deconvolution.interval`, for
    the people that the rows were drawn from; their coverage is measured, not proved. The coverage
    of intervals of fractions is proved, for each level by itself
    (docs/proofs/response.md, theorem 5).

    Published levels that a file or an engine has turned into another type, such as 1 into "1", are
    recognised by how they are written.

    Examples
    --------
    >>> import pandas as pd
    >>> import inbounds as ib
    >>> frame = pd.DataFrame({"age": [20.0, 60.0] * 2000, "town": ["Rom", "Ulm"] * 2000})
    >>> ages = {"age": ib.Window.calibrated(ib.Box(0, 120), 120, epsilon=2.0)}
    >>> result = ib.estimate(ib.privatize(frame, ages), ages, by="town", level=0.999999)
    >>> result[["town", "statistic"]].values.tolist()
    [['Rom', 'count'], ['Rom', 'mean'], ['Ulm', 'count'], ['Ulm', 'mean']]
    >>> bool(result["lower"][1] < 20 < result["upper"][1])
    True
    """
    known = private_columns(columns, nulls)
    names, listed = _check_groups(by, groups, known)
    asked = Asked.checked(quantiles, histogram, level, known.numbers, known.categories)
    _check.yes_or_no(progress=progress)
    table, rows = blocks(frame, known.numbers, names, listed or [], known.categories)
    found = Groups(known.mechanisms, known.nulls, names, listed)
    for block in rows:
        found.add(block)
    result = list(estimated(found, asked, known, names, progress=progress))
    written = {name: [row.get(name) for row in result] for name in columns_of(result, names)}
    if "level" in written:
        written["level"] = of_one_type(written["level"])
    return native_frame(table, written, {*written} - {*names, "statistic", "column", "level"})


def estimated(
    groups: Groups,
    asked: Asked,
    known: PrivateColumns,
    by: Sequence[str],
    *,
    progress: bool = False,
) -> Iterator[Row]:
    """Yield the rows of the result, group by group.

    Examples
    --------
    >>> import inbounds as ib
    >>> known = PrivateColumns({"age": ib.Window(ib.Box(0, 120), 120, 1.0)}, "error")
    >>> groups = Groups(known.mechanisms, "error", [], None)
    >>> [row["statistic"] for row in estimated(groups, Asked((), {}, 0.95), known, [])]
    ['count', 'mean']
    """
    for key in tracked(groups.keys, "groups", progress=progress):
        label = dict(zip(by, key, strict=True))
        for name in known.mechanisms:
            for row in asked.rows(name, groups.tally(key, name)):
                yield label | row


def _check_groups(
    by: object, groups: object, known: PrivateColumns
) -> tuple[list[str], list[Key] | None]:
    names = [by] if isinstance(by, str) else [] if by is None else by
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise ArgumentTypeError.must_be("by", "the name of a column, or a list of names")
    if len(set(names)) < len(names):
        raise ArgumentError.must("by", "name no column twice")
    if private := [name for name in names if name in known.mechanisms]:
        hint = "a private value does not say to which group a row belongs; ask for a histogram."
        if private[0] in known.categories:
            hint = "a private level does not say to which group a row belongs."
        requirement = "name columns that are not private"
        raise ArgumentError.must("by", requirement, got=repr(private[0]), hint=hint)
    if taken := sorted({*names} & {*LABELS, *NUMBERS}):
        requirement = "not have the name of a column that the result adds"
        raise ArgumentError.must("by", requirement, got=repr(taken[0]))
    if groups is None:
        return list(names), None
    if not names:
        raise ArgumentError.must_be("by", "given together with groups")
    if isinstance(groups, str | bytes | set | frozenset) or not isinstance(groups, Iterable):
        raise ArgumentTypeError.must_be("groups", "a list of the groups to report")
    listed = groups.to_pylist() if hasattr(groups, "to_pylist") else list(groups)
    keys = [_key(group, alone=isinstance(by, str)) for group in listed]
    if not keys or len(set(keys)) < len(keys) or any(len(key) != len(names) for key in keys):
        requirement = "hold at least one group, none twice, each with one value per column in by"
        raise ArgumentError.must("groups", requirement)
    return list(names), keys


def _key(group: Any, *, alone: bool) -> Key:
    values = [group] if alone else list(group) if isinstance(group, list | tuple) else []
    if any(value.__hash__ is None for value in values):
        raise ArgumentTypeError.must_be("groups", "a list of the groups to report")
    return tuple(plain_value(value) for value in values)
