"""A private column: the outputs, and the distribution that was recovered from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds import _check
from inbounds._types import Floats
from inbounds.errors import ArgumentError
from inbounds.plots.style import blank, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from inbounds.recovery.deconvolution import Deconvolution

_FEWEST_REPLICATES = 20  # for a 95 % band to be drawn
_HEADROOM = 1.2


def deconvolution_figure(result: Deconvolution, raw: Any = None) -> Figure:
    """Draw private outputs, the recovered distribution with its 95 % band, and true values.

    Parameters
    ----------
    result
        What `inbounds.deconvolve` returned.
    raw
        True values, if any, for demonstrations: a figure of them is not private.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ArgumentError
        If `raw` is empty or not finite.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.BoundedGaussian(ib.Box(0, 1), 1, sigma=0.2)
    >>> result = ib.deconvolve(m.release([0.1, 0.7] * 500), m, bootstrap=20)
    >>> figure = ib.plots.deconvolution_figure(result)
    >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    ['private outputs', 'recovered, 95 % of bootstrap', 'recovered']
    """
    figure = blank(8.2, 4.6)
    axes = figure.add_subplot()
    name = type(result.mechanism).__name__
    tidy(
        axes, f"Distribution recovered from {result.count:,} outputs of {name}", "value", "density"
    )
    widths = np.diff(result.edges)
    private, recovered = result.private / widths, result.weights / widths
    hatched: dict[str, Any] = {
        "fill": True,
        "facecolor": "#f4f4f4",
        "edgecolor": "#b5b5b5",
        "hatch": "////",
    }
    axes.stairs(private, result.edges, label="private outputs", **hatched)
    tops = [private[1:-1], recovered]
    if raw is not None:
        tops.append(_draw_truth(axes, raw, result.edges))
    if len(result.replicates) >= _FEWEST_REPLICATES:
        low, high = np.quantile(result.replicates / widths, [0.025, 0.975], axis=0)
        style: dict[str, Any] = {"fill": True, "color": "#7f9fbf", "alpha": 0.75}
        label = "recovered, 95 % of bootstrap"
        axes.stairs(high, result.edges, baseline=low, label=label, **style)
        tops.append(high)
    axes.stairs(recovered, result.edges, color="#1f4e79", linewidth=2.2, label="recovered")
    height = _HEADROOM * max(float(np.max(top, initial=0.0)) for top in tops)
    axes.set_ylim(0, height)
    axes.set_xlim(float(result.edges[0]), float(result.edges[-1]))
    _name_atoms(axes, result, private > height)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=4, fontsize=8.5)
    axes.spines["right"].set_visible(False)
    return figure


def _draw_truth(axes: Axes, raw: Any, edges: Floats) -> Floats:
    """Draw the true values in the same cells, dashed, so that they differ even in grey."""
    inside = np.clip(_check.private_values(raw=raw).ravel(), edges[0], edges[-1])
    if not inside.size:
        raise ArgumentError.must("raw", "hold at least one value")
    truth: Floats = np.histogram(inside, edges)[0] / inside.size / np.diff(edges)
    style: dict[str, Any] = {
        "color": "#c46a00",
        "linewidth": 1.5,
        "linestyle": (0, (4, 1.5)),
        "zorder": 3,
    }
    axes.stairs(truth, edges, label="true values (not private)", **style)
    return truth


def _name_atoms(axes: Axes, result: Deconvolution, cut: Any) -> None:
    """Write the fraction of the outputs in an end cell that is too high to be drawn."""
    for end, place, side in ((0, 0.02, "left"), (-1, 0.98, "right")):
        if cut[end]:
            text = f"{result.private[end]:.0%} of outputs ↑"
            axes.text(place, 0.97, text, transform=axes.transAxes, ha=side, va="top", fontsize=8.5)
