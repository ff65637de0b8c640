"""Draw how time and memory grow: a panel for each kind of size, memory below time.

Run: python -m benchmarks.growth_figure, to draw docs/growth.json again.
"""

import json
from itertools import groupby

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from benchmarks.growth import FIGURE, LEAST_MEMORY, SAVED, Curve
from inbounds.plots.style import blank

_COLOURS = ("#1f4e79", "#c46a00")
_RIVAL, _GREY, _GRID = "#8a8a8a", "#444444", "#e6e6e6"
_TIMES = {
    1e-5: "10 µs",
    1e-4: "0.1 ms",
    1e-3: "1 ms",
    1e-2: "10 ms",
    0.1: "0.1 s",
    1.0: "1 s",
    10.0: "10 s",
}
_SIZES = {1e5: "0.1 MB", 1e6: "1 MB", 1e7: "10 MB", 1e8: "100 MB", 1e9: "1 GB", 1e10: "10 GB"}
_COLUMNS = 3


def growth_figure(curves: list[Curve]) -> Figure:
    """Draw all curves, with the slope of each over its two largest decades."""
    panels = [(name, list(group)) for name, group in groupby(curves, lambda curve: curve.panel)]
    lines = -(-len(panels) // _COLUMNS)
    figure = blank(13.5, 4.9 * lines)
    heights = [3.0, 1.25, 0.35] * lines  # time, memory, and room for the label below
    grid = figure.add_gridspec(
        *(3 * lines, _COLUMNS),
        height_ratios=[*heights[:-1], 0.02],
        **{"left": 0.065, "right": 0.985, "top": 0.955, "bottom": 0.03},
        **{"hspace": 0.13, "wspace": 0.24},
    )
    for k, (name, group) in enumerate(panels):
        row, column = divmod(k, _COLUMNS)
        time = figure.add_subplot(grid[3 * row, column])
        memory = figure.add_subplot(grid[3 * row + 1, column], sharex=time)
        _draw(time, memory, name, group)
    return figure


def _draw(time: Axes, memory: Axes, name: str, curves: list[Curve]) -> None:
    for axes in (time, memory):
        axes.set_xscale("log")
        axes.set_yscale("log")
    for curve, colour in zip(curves, _COLOURS, strict=False):
        drawn = _RIVAL if curve.name.startswith("numpy") else colour
        style = {"color": drawn, "linewidth": 1.8, "marker": "o", "markersize": 3.6}
        time.plot(curve.sizes, curve.seconds, **style, label=_label(curve, curve.seconds))
        known = [np.nan if each is None else each for each in curve.memory]
        memory.plot(curve.sizes, known, **style)
    time.set_title(f"by {name}", loc="left", fontsize=12, fontweight="bold", color="#222222")
    time.legend(
        **{"loc": "upper left", "frameon": False, "fontsize": 9.5, "handlelength": 0},
        **{"labelcolor": "linecolor", "borderaxespad": 0.1, "labelspacing": 0.3},
    )
    seconds = [each for curve in curves for each in curve.seconds]
    room = (max(seconds) / min(seconds)) ** 0.32  # for the labels
    time.set_ylim(min(seconds) / 2, max(seconds) * max(room, 6))
    used = [each for curve in curves for each in curve.memory if each]
    memory.set_ylim(LEAST_MEMORY / 1.6, 3 * max([*used, 2e6]))
    memory.set_xlabel(f"{name}", fontsize=10, color=_GREY)
    _ticks(time, _TIMES)
    _ticks(memory, _SIZES if max([*used, 0.0]) < 2e7 else _every_second(_SIZES))
    time.tick_params(labelbottom=False)


def _label(curve: Curve, values: tuple[float, ...]) -> str:
    slope = curve.slope(values)
    return curve.name if slope is None else f"{curve.name}: slope {abs(round(slope, 2)):.2f}"


def _every_second(ticks: dict[float, str]) -> dict[float, str]:
    return dict(list(ticks.items())[1::2])


def _ticks(axes: Axes, named: dict[float, str]) -> None:
    """Name a few round values, and draw no other lines."""
    axes.yaxis.set_major_locator(FixedLocator(list(named)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: named[value]))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_locator(NullLocator())
    axes.grid(color=_GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, labelsize=9.5, labelcolor=_GREY)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color("#bbbbbb")


def main() -> None:
    rows = json.loads(SAVED.read_text(encoding="utf-8"))["curves"]
    curves = [Curve(**{key: _tuple(value) for key, value in row.items()}) for row in rows]
    growth_figure(curves).savefig(FIGURE, dpi=150)


def _tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


if __name__ == "__main__":
    main()
