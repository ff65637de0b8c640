"""Mechanisms at the same guarantee: their errors, and the distributions of their outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from inbounds._text import shown
from inbounds.plots.release import Curve, draw_curves, marginal, show
from inbounds.plots.style import blank, look_of, short_number, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from inbounds.analysis.comparison import Comparison, Contender


_NEAR = 2.0  # lengths of the longest bar within which a line is drawn


def comparison_figure(comparison: Comparison) -> Figure:
    """Draw average and worst RMSE, and the outputs for the middle and for the lower bound.

    Of several calibrations of the same mechanism, the outputs of the best are drawn. For a box of
    several coordinates, the outputs of the first one are drawn.

    Parameters
    ----------
    comparison
        What `inbounds.compare` returned.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import inbounds as ib
    >>> figure = ib.plots.comparison_figure(ib.compare(ib.Box(0, 120), 30, epsilon=1.0))
    >>> figure.axes[0].get_title()
    'Error of the outputs'
    """
    figure = blank(13, 6.2)
    box = comparison.domain
    where = f"{box!r}" if box.dimension <= 3 else f"a box of {box.dimension} coordinates"
    figure.suptitle(
        f"Mechanisms on {where} at the same guarantee: {comparison.guarantee}", fontsize=12
    )
    panels = figure.subplot_mosaic([["errors", "middle"], ["errors", "bound"]])
    _bars(panels["errors"], comparison)
    first = "" if box.dimension == 1 else " (first coordinate)"
    interval = marginal(comparison.contenders[0].mechanism, 0).domain
    middle, bound = (float(interval.lower) + float(interval.upper)) / 2, float(interval.lower)
    for panel, value, place in (("middle", middle, "middle"), ("bound", bound, "lower bound")):
        tidy(
            panels[panel],
            f"Outputs when the value is the {place}, {short_number(value)}{first}",
            "output",
            "density",
        )
        _curves(panels[panel], _one_of_each(comparison.contenders), value)
    panels["bound"].legend(loc="upper center", bbox_to_anchor=(0.5, -0.22), ncols=2, fontsize=8.5)
    return figure


def _bars(axes: Axes, comparison: Comparison) -> None:
    """Draw two bars per mechanism, the best at the top, and a line for the middle of the box."""
    contenders = comparison.contenders
    what = "outputs" if comparison.people is None else f"mean of {comparison.people:,} people"
    tidy(axes, f"Error of the {what}", "RMSE, in the unit of the output", "")
    places = np.arange(len(contenders))
    bars_of = [("average over values", "average_rmse", ""), ("worst value", "worst_rmse", "///")]
    if comparison.people is not None:
        bars_of = [(f"mean of {comparison.people:,} people", "mean_rmse", "")]
    for shift, (label, field, hatch) in zip((-0.2, 0.2), bars_of, strict=False):
        lengths = [getattr(contender.error, field) for contender in contenders]
        bars = axes.barh(
            places + shift,
            lengths,
            height=0.38,
            color="white" if hatch else "#7f9fbf",
            edgecolor="#1f4e79",
            hatch=hatch,
            label=label,
        )
        axes.bar_label(bars, [shown(length) for length in lengths], padding=3, fontsize=8.5)
    middle = comparison.baseline.average_rmse
    if middle < _NEAR * axes.get_xlim()[1]:
        label = "always the middle of the box"
        axes.axvline(middle, color="#444444", linestyle=(0, (4, 2)), linewidth=1.2, label=label)
    else:  # the bars would shrink to nothing
        axes.set_xlabel(f"RMSE (always publishing the middle of the box has {middle:,.4g})")
    if comparison.limit is not None:
        least, label = comparison.limit.rmse[0], "least possible average"
        axes.axvline(least, color="#b03a2e", linestyle=(0, (1, 1.5)), linewidth=1.6, label=label)
    axes.set_yticks(places, [contender.name.replace(" (", "\n(") for contender in contenders])
    axes.invert_yaxis()
    axes.margins(x=0.14)
    axes.spines["right"].set_visible(False)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.09), ncols=2, fontsize=8.5)


def _one_of_each(contenders: Sequence[Contender]) -> list[Contender]:
    """Return the best calibration of each mechanism."""
    best: dict[type, Contender] = {}
    for contender in contenders:
        best.setdefault(type(contender.mechanism), contender)
    return list(best.values())


def _curves(axes: Axes, contenders: Sequence[Contender], value: float) -> None:
    curves = {}
    for contender in contenders:
        look = look_of(contender.name)
        first = marginal(contender.mechanism, 0)
        curves[contender.name] = Curve(first, value, look.colour, look.line, look.marker)
    show(axes, *draw_curves(axes, curves))
