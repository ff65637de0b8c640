"""A figure of what `summarize` returned."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inbounds._entry import called
from inbounds._extra import optional
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.frames.central.request import MECHANISM
from inbounds.frames.central.statistic_type import LABELS
from inbounds.frames.native import NUMBERS
from inbounds.frames.silence import in_our_words
from inbounds.plots.summary import SummaryRow, summary_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FORMATS = (".pdf", ".png", ".svg")
_KINDS = (
    *("count", "total", "mean", "variance", "proportion"),
    *("histogram", "categories", "median", "quantile"),
)
_NEEDED = ("statistic", "column", *NUMBERS, MECHANISM)
MOST_GROUPS = 200
"""The most groups that a figure shows."""


@called()
def plot_summary(result: Any, path: str | os.PathLike[str] | None = None) -> Figure:
    """Draw the statistics of a summary with their 95 % intervals; needs matplotlib.

    Every statistic of a column has a panel with all groups. The quantiles of a column share one.
    Histograms and categories have a panel for each group.

    Parameters
    ----------
    result
        What `summarize` returned, of any kind of frame, or some of its rows.
    path
        A file to save the figure to, which ends in .pdf, .png or .svg.

    Returns
    -------
    matplotlib.figure.Figure
        A notebook shows it by itself.

    Raises
    ------
    ArgumentError
        If `result` is not a summary, has no rows or more than 200 groups, or `path` has another
        ending.
    ArgumentTypeError
        If `result` is not a data frame.
    MissingPackageError
        If matplotlib is not installed.

    See Also
    --------
    summarize

    Examples
    --------
    >>> import pandas as pd
    >>> import inbounds as ib
    >>> from inbounds.frames import count, mean, plot_summary
    >>> table = pd.DataFrame({"age": [17, 41, 68] * 100, "town": ["Ulm", "Rom", "Ulm"] * 100})
    >>> asked = [count(), mean("age", 0, 120)]
    >>> result = ib.summarize(table, asked, by="town", groups=["Rom", "Ulm"], epsilon=2.0)
    >>> figure = plot_summary(result)
    >>> [axes.get_title() for axes in figure.axes]
    ['count', 'mean of age']
    """
    target = None if path is None else Path(path)
    if target is not None and target.suffix.lower() not in _FORMATS:
        requirement = f"a file that ends in one of {', '.join(_FORMATS)}"
        raise ArgumentError.must_be("path", requirement, got=repr(target.name))
    rows, by = _read(result)
    figure = summary_figure(rows, by)
    if target is not None:
        figure.savefig(target, bbox_inches="tight")
    return figure


def _read(result: Any) -> tuple[list[SummaryRow], str]:
    """Return the rows of a summary, and the names of the columns that split it."""
    with optional():
        import narwhals as nw  # noqa: PLC0415 - statistics are named without it

    got = type(result).__name__
    frame = in_our_words(
        lambda: nw.from_native(result),
        lambda error: (
            ArgumentTypeError.must_be("result", "what summarize returned", got=got)
            if isinstance(error, TypeError)
            else _no_summary()
        ),
        TypeError,
        nw.exceptions.NarwhalsError,
    )
    names = frame.collect_schema().names()
    if not set(_NEEDED) <= set(names) or len(set(names)) < len(names):
        raise _no_summary()
    first = names.index("statistic")  # before it are the columns that split the rows
    by = [name for i, name in enumerate(names) if i < first or name not in (*_NEEDED, *LABELS)]
    eager = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    found = eager.rows(named=True)
    if not found:
        raise ArgumentError.must("result", "have at least one row")
    rows = [_row(row, by) for row in found]
    if len({row.group for row in rows}) > MOST_GROUPS:
        requirement = f"have at most {MOST_GROUPS} groups to be drawn"
        raise ArgumentError.must("result", requirement, hint="draw some of its rows at a time.")
    return rows, ", ".join(by)


def _row(row: Mapping[str, Any], by: Sequence[str]) -> SummaryRow:
    kind, value = row["statistic"], _number(row["value"])
    if kind not in _KINDS or value is None:
        raise _no_summary()
    column = row["column"] if isinstance(row["column"], str) else ""
    group = ", ".join(str(row[name]) for name in by)
    lower, upper = _number(row["lower"]), _number(row["upper"])
    return SummaryRow(group, kind, column, _label(kind, row), value, lower, upper)


def _label(kind: str, row: Mapping[str, Any]) -> Any:
    """Return what tells the rows of a statistic apart."""
    label: Any = None
    if kind == "histogram":
        label = _number(row.get("bin_lower")), _number(row.get("bin_upper"))
    elif kind == "quantile":
        label = _number(row.get("q"))
    elif kind == "categories":
        label = str(row.get("level"))
    else:
        return 0.5 if kind == "median" else None
    if label is None or (isinstance(label, tuple) and None in label):
        raise _no_summary()
    return label


def _number(cell: Any) -> float | None:
    """Return a number; an empty cell, which pandas writes as NaN, is None."""
    if cell is None or isinstance(cell, str):
        return None
    number = float(cell)
    return number if math.isfinite(number) else None


def _no_summary() -> ArgumentError:
    return ArgumentError.must_be("result", "a table that summarize returned, with all its columns")
