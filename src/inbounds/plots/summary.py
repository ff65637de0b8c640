"""Statistics of groups with their 95 % intervals: points, and below them histograms and categories.

Points are small multiples, one panel for each statistic of a column, with the groups one below the
other. Histograms and categories have one panel for each group. Quantiles of a column share a panel,
and differ in their markers, so that figures can be read in grey.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from inbounds._extra import optional
from inbounds.plots.style import blank, plain_text, short_number, tidy
from inbounds.plots.summary_bars import bar_height, draw_bars

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

_WIDTH = 11.0  # inches
_ACROSS = 3  # panels of points beside each other
_ROW, _AROUND = 0.23, 1.15  # inches for a group, and for the title and the axis of a panel
_QUANTILES = ("median", "quantile")
BARS = ("histogram", "categories")
"""Statistics that are drawn as bars."""

_MARKERS = "osD^vP<>Xd"
_COLOURS = ("#1f4e79", "#c46a00", "#444444", "#2e86c1", "#7a5195")


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """One row of a summary: what it is of, and an estimate with the ends of its interval.

    Attributes
    ----------
    group
        The name of the group; empty if all rows are one group.
    label
        The ends of a bin, a level, or which quantile it is; None for others.
    lower, upper
        The interval, or None.
    """

    group: str
    statistic: str
    column: str
    label: Any
    value: float
    lower: float | None
    upper: float | None


def summary_figure(rows: Sequence[SummaryRow], by: str = "") -> Figure:
    """Draw the statistics of all groups with their intervals.

    Parameters
    ----------
    rows
        The rows of a summary; groups and statistics are drawn in the order of their first row.
    by
        What the groups are.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> rows = [SummaryRow(town, "mean", "age", None, 41.0, 38.5, 44.0) for town in ("Ulm", "Rom")]
    >>> figure = summary_figure(rows, "town")
    >>> figure.axes[0].get_title(), [text.get_text() for text in figure.axes[0].get_yticklabels()]
    ('mean of age', ['Ulm', 'Rom'])
    """
    panels = panels_of(rows)
    groups = list(dict.fromkeys(row.group for row in rows))
    points = [panel for panel in panels if panel[0].statistic not in BARS]
    bars = [panel for panel in panels if panel[0].statistic in BARS]
    lines = math.ceil(len(points) / _ACROSS)
    heights = [lines * (_AROUND + _ROW * len(groups) + _legend_height(points))] if points else []
    heights += [bar_height(panel, groups) for panel in bars]
    figure = blank(_WIDTH, 0.4 + sum(heights))
    split = f" by {plain_text(by, 60)}" if by else ""
    figure.suptitle(f"Private statistics{split} with 95 % intervals", fontsize=12)
    parts = figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0].tolist()
    if points:
        _draw_points(parts.pop(0), points, groups)
    for part, panel in zip(parts, bars, strict=True):
        draw_bars(part, panel, groups)
    return figure


def panels_of(rows: Sequence[SummaryRow]) -> list[list[SummaryRow]]:
    """Return the rows of each panel: those of a statistic of a column, for all groups.

    Where the same statistic was asked for twice, with other bounds or bins, each has its panel.

    Examples
    --------
    >>> means = [SummaryRow("", "mean", "age", None, value, 0.0, 120.0) for value in (41.0, 42.0)]
    >>> [len(panel) for panel in panels_of(means)]
    [1, 1]
    """
    panels: dict[tuple[str, str, int], list[SummaryRow]] = {}
    labels: dict[tuple[str, str, str], list[Any]] = {}  # of the statistic that rows are now of
    count: dict[tuple[str, str, str], int] = {}
    for row in rows:
        kind = "quantile" if row.statistic in _QUANTILES else row.statistic
        key = row.group, kind, row.column
        seen = labels.setdefault(key, [])
        if seen and (row.label in seen or (kind == "histogram" and row.label[0] < seen[-1][1])):
            count[key] = count.get(key, 0) + 1
            seen.clear()
        seen.append(row.label)
        panels.setdefault((kind, row.column, count.get(key, 0)), []).append(row)
    return list(panels.values())


def _quantiles(rows: Sequence[SummaryRow]) -> list[Any]:
    """Return which quantiles a panel shows; for others, a single None."""
    return sorted({row.label for row in rows}) if rows[0].statistic in _QUANTILES else [None]


def _legend_height(panels: Sequence[Sequence[SummaryRow]]) -> float:
    """Return how many inches the longest legend takes."""
    most = max(len(_quantiles(panel)) for panel in panels)
    return 0.0 if most == 1 else 0.2 * math.ceil(most / 3) + 0.2


def _draw_points(
    part: SubFigure, panels: Sequence[Sequence[SummaryRow]], groups: Sequence[str]
) -> None:
    """Draw one panel for each statistic of a column; only the first of a line names the groups."""
    across = min(_ACROSS, len(panels))
    lines = math.ceil(len(panels) / across)
    grid = part.subplots(lines, across, squeeze=False).ravel().tolist()
    names = [plain_text(group) or "all rows" for group in groups]
    for place, rows in enumerate(panels):
        axes, labels = grid[place], _quantiles(rows)
        tidy(axes, _title(rows[0].statistic, rows[0].column, labels), "", "")
        axes.set_yticks(range(len(groups)), names)
        axes.set_ylim(len(groups) - 0.5, -0.5)
        axes.tick_params(axis="y", labelsize=9, labelleft=place % across == 0)
        axes.tick_params(axis="x", labelsize=8.5)
        axes.spines["right"].set_visible(False)
        for i, label in enumerate(labels):
            chosen = [row for row in rows if row.label == label]
            shift = 0.0 if len(labels) == 1 else 0.5 * (i / (len(labels) - 1) - 0.5)
            _draw_series(axes, chosen, groups, shift, i)
        _show_few_ticks(axes)
        if len(labels) > 1:  # below the numbers of the axis
            below: dict[str, Any] = {"bbox_to_anchor": (0.5, 0.0), "borderaxespad": 2.6}
            axes.legend(loc="upper center", ncols=3, fontsize=8, **below)
    for axes in grid[len(panels) :]:
        axes.remove()


def _draw_series(
    axes: Axes,
    rows: Sequence[SummaryRow],
    groups: Sequence[str],
    shift: float,
    look: int,
) -> None:
    """Draw the values of one statistic, and their intervals where there are any."""
    colour, marker = _COLOURS[look % len(_COLOURS)], _MARKERS[look % len(_MARKERS)]
    places = [groups.index(row.group) + shift for row in rows]
    ends = [(place, row.lower, row.upper) for place, row in zip(places, rows, strict=True)]
    if ends := [end for end in ends if None not in end]:
        heights, lowers, uppers = zip(*ends, strict=True)
        axes.hlines(heights, lowers, uppers, color=colour, linewidth=1.6)
        for edge in (lowers, uppers):  # short strokes at the ends
            axes.plot(edge, heights, "|", color=colour, markersize=5, markeredgewidth=1.2)
    text = None if rows[0].label is None else f"q = {short_number(rows[0].label)}"
    axes.plot(
        [row.value for row in rows],
        places,
        linestyle="",
        marker=marker,
        markersize=5,
        color=colour,
        markeredgecolor="white",
        markeredgewidth=0.6,
        label=text,
    )


def _title(kind: str, column: str, quantiles: Sequence[Any]) -> str:
    if len(quantiles) > 1:
        kind = "quantiles"
    elif kind == "quantile":
        kind = f"quantile {short_number(quantiles[0])}"
    return plain_text(f"{kind} of {column}" if column else kind, 36)


def _show_few_ticks(axes: Axes) -> None:
    """Leave room between the numbers on the axis, however long they are."""
    with optional():
        from matplotlib.ticker import MaxNLocator  # noqa: PLC0415

    axes.margins(x=0.08)
    axes.xaxis.set_major_locator(MaxNLocator(4))
    axes.ticklabel_format(axis="x", style="sci", scilimits=(-4, 6), useOffset=False)
    axes.xaxis.get_offset_text().set_fontsize(8.5)
