"""How time and memory grow with the size of a job: a panel for each kind of size.

Drawn for docs/growth.md from docs/growth.json, which `python -m benchmarks growth` measures.
"""

import json
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

MEASURED = Path(__file__).parents[1] / "growth.json"
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
_LEAST = 1e5  # bytes that a process can be seen to grow by
_STYLES = (
    {"color": "C0", "marker": "o"},
    {"color": "C1", "marker": "s", "linestyle": "--"},
)
_RIVAL = {"color": "C5", "marker": "^", "linestyle": ":"}
Curve = dict[str, Any]


def draw() -> Figure:
    """Return two columns of panels, each with its memory below its time."""
    return growth(_curves(), columns=2, width=7)


def draw_narrow() -> Figure:
    """Return one column of panels, for a phone."""
    return growth(_curves(), columns=1, width=4.2)


def _curves() -> list[Curve]:
    curves: list[Curve] = json.loads(MEASURED.read_text(encoding="utf-8"))["curves"]
    return curves


def growth(curves: list[Curve], columns: int, width: float) -> Figure:
    """Return the figure of all curves."""
    panels = [(name, list(group)) for name, group in groupby(curves, lambda each: each["panel"])]
    lines = -(-len(panels) // columns)
    figure = Figure(figsize=(width, 3.3 * lines), layout="constrained")
    places = figure.subfigures(lines, columns, squeeze=False).ravel()
    for place in places:
        place.set_facecolor("none")
    for place, (name, group) in zip(places, panels, strict=False):
        time, memory = place.subplots(2, 1, sharex=True, height_ratios=[2.2, 1])
        _draw(time, memory, group)
        memory.set_xlabel(name)
    return figure


def _draw(time: Axes, memory: Axes, curves: list[Curve]) -> None:
    own = iter(_STYLES)
    for curve in curves:
        style = _RIVAL if curve["name"].startswith("numpy") else next(own)
        shown = {**style, "linewidth": 1.6, "markersize": 3.5}
        time.loglog(curve["sizes"], curve["seconds"], label=_label(curve), **shown)
        known = [np.nan if used is None else used for used in curve["memory"]]
        memory.loglog(curve["sizes"], known, **shown)
    seconds = [each for curve in curves for each in curve["seconds"]]
    room = max(6.0, (max(seconds) / min(seconds)) ** 0.4)  # for the legend
    time.set_ylim(min(seconds) / 2, max(seconds) * room)
    time.legend(frameon=False, loc="upper left", borderaxespad=0, fontsize=9)
    used = [each for curve in curves for each in curve["memory"] if each]
    memory.set_ylim(_LEAST / 1.6, 3 * max([*used, 2e6]))
    _name(time, _TIMES)
    _name(memory, _SIZES if max([*used, 0.0]) < 2e7 else dict(list(_SIZES.items())[1::2]))


def _label(curve: Curve) -> str:
    slope = _slope(curve["sizes"], curve["seconds"])
    return curve["name"] if slope is None else f"{curve['name']}: slope {abs(slope):.2f}"


def _slope(sizes: Sequence[int], seconds: Sequence[float]) -> float | None:
    """Return the slope on log axes over the two largest decades."""
    points = [(n, t) for n, t in zip(sizes, seconds, strict=True) if n >= sizes[-1] / 100]
    if len(points) < 2:
        return None
    n, t = np.log(np.array(points)).T
    return round(float(np.polyfit(n, t, 1)[0]), 2)


def _name(axes: Axes, named: dict[float, str]) -> None:
    """Name a few round values, and draw no other lines."""
    axes.yaxis.set_major_locator(FixedLocator(list(named)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: named[value]))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_locator(NullLocator())
    axes.tick_params(length=0)
