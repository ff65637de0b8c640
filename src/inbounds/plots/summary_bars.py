"""Counts of bins and of categories, one panel for each group, with 95 % intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds._extra import optional
from inbounds.plots.style import plain_text, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import SubFigure

    from inbounds.plots.summary import SummaryRow

_ACROSS = 4  # panels beside each other
_HEADING = 0.55  # inches
_PANEL = 1.9  # inches of a histogram
_LEVEL, _AROUND = 0.2, 0.75  # inches of a level, and around all of them
_ROOM = 1.04  # above the highest bar
_MANY = 60  # bins, whose lines are thinner
_FILL, _LINE, _INTERVAL = "#c9d7e6", "#1f4e79", "#444444"


def bar_height(rows: Sequence[SummaryRow], groups: Sequence[str]) -> float:
    """Return the height in inches of all panels of one histogram, or of one list of levels."""
    lines = math.ceil(len(groups) / _ACROSS)
    levels = len(dict.fromkeys(row.label for row in rows))
    is_histogram = rows[0].statistic == "histogram"
    panel = _PANEL if is_histogram else _AROUND + _LEVEL * max(3, levels)
    return _HEADING + lines * (panel + (0.6 if len(groups) == 1 and is_histogram else 0.0))


def draw_bars(part: SubFigure, rows: Sequence[SummaryRow], groups: Sequence[str]) -> None:
    """Draw the counts of each group in a panel of its own; all have the same scale."""
    is_histogram = rows[0].statistic == "histogram"
    what = "bin" if is_histogram else "level"
    title = f"{rows[0].statistic} of {plain_text(rows[0].column, 60)}: rows in each {what}"
    part.suptitle(title, fontsize=10.5)
    levels = list(dict.fromkeys(row.label for row in rows))
    across = min(_ACROSS, len(groups))
    lines = math.ceil(len(groups) / across)
    grid = part.subplots(lines, across, squeeze=False, sharex=True, sharey=True)
    for place, axes in enumerate(grid.ravel().tolist()):
        if place >= len(groups):
            axes.remove()
            continue
        is_last = place + across >= len(groups)
        tidy(axes, "", "", "")
        axes.set_title(plain_text(groups[place]), fontsize=9)
        axes.tick_params(labelsize=8, labelbottom=is_last, labelleft=place % across == 0)
        axes.spines["right"].set_visible(False)
        chosen = [row for row in rows if row.group == groups[place]]
        if is_histogram:
            _draw_bins(axes, chosen)
        else:
            _draw_levels(axes, chosen, levels)
        if is_last:
            axes.set_xlabel(plain_text(rows[0].column) if is_histogram else "rows", fontsize=8.5)
    highest = _ROOM * max([row.value for row in rows] + [row.upper or 0.0 for row in rows])
    first = grid[0, 0]  # all others have the same scale
    (first.set_ylim if is_histogram else first.set_xlim)(0, highest or 1.0)


def _draw_bins(axes: Axes, rows: Sequence[SummaryRow]) -> None:
    """Draw steps, and around them a band of the intervals."""
    with optional():
        from matplotlib.ticker import MaxNLocator  # noqa: PLC0415

    width = 1.1 if len(rows) <= _MANY else 0.7
    for run in _runs(sorted((row.label, row.value, row.lower, row.upper) for row in rows)):
        edges = np.array([*(label[0] for label, *_ in run), run[-1][0][1]])
        values, lowers, uppers = (np.array([row[i] for row in run], float) for i in (1, 2, 3))
        axes.stairs(values, edges, fill=True, color=_FILL)
        band: dict[str, Any] = {"fill": True, "color": "#8a8a8a", "alpha": 0.6, "linewidth": 0}
        axes.stairs(np.nan_to_num(uppers), edges, baseline=np.nan_to_num(lowers), **band)
        axes.stairs(values, edges, color=_LINE, linewidth=width)
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.yaxis.set_major_locator(MaxNLocator(4))


def _runs(ends: Sequence[Any]) -> list[list[Any]]:
    """Split bins where one does not begin at the end of the one before."""
    runs: list[list[Any]] = []
    for row in ends:
        if runs and runs[-1][-1][0][1] == row[0][0]:
            runs[-1].append(row)
        else:
            runs.append([row])
    return runs


def _draw_levels(axes: Axes, rows: Sequence[SummaryRow], levels: Sequence[Any]) -> None:
    """Draw one bar for each level, and its interval as a line."""
    with optional():
        from matplotlib.ticker import MaxNLocator  # noqa: PLC0415

    places = [levels.index(row.label) for row in rows]
    look: dict[str, Any] = {"color": _FILL, "edgecolor": _LINE, "linewidth": 0.8}
    axes.barh(places, [row.value for row in rows], height=0.7, **look)
    ends = [(place, row.lower, row.upper) for place, row in zip(places, rows, strict=True)]
    if ends := [end for end in ends if None not in end]:
        heights, lowers, uppers = zip(*ends, strict=True)
        axes.hlines(heights, lowers, uppers, color=_INTERVAL, linewidth=1.4)
        for edge in (lowers, uppers):
            axes.plot(edge, heights, "|", color=_INTERVAL, markersize=5, markeredgewidth=1.1)
    axes.set_yticks(range(len(levels)), [plain_text(str(level), 24) for level in levels])
    axes.set_ylim(len(levels) - 0.4, -0.6)
    axes.xaxis.set_major_locator(MaxNLocator(4))
