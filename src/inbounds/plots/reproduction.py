"""The paper's Figure 1, and the same for the error of the outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inbounds._types import Floats
from inbounds.plots.style import blank, look_of, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from inbounds.analysis.reproduction import Figure1

_METHODS = {
    "Liu": look_of("BoundedGaussian (Liu)"),
    "Chen and Hale": look_of("BoundedGaussian (paper)"),
    "exact": look_of("BoundedGaussian"),
}


def figure1_figure(data: Figure1) -> Figure:
    """Draw sigma² and the RMSE of the outputs, each with the percent reduction against Liu.

    Parameters
    ----------
    data
        What `inbounds.analysis.reproduction.figure1` returned.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import inbounds as ib
    >>> from inbounds.analysis.reproduction import figure1
    >>> figure = ib.plots.figure1_figure(figure1([0.5, 1.0]))
    >>> [axes.get_ylabel() for axes in figure.axes[:2]]
    ['σ² (squared scale before truncation)', 'average RMSE of the outputs']
    """
    figure = blank(12.5, 5.4)
    left, right = figure.subplots(1, 2)
    tidy(left, "(a) Scale of the noise", "privacy budget ε", "σ² (squared scale before truncation)")
    left.set_yscale("log")
    _curves(left, data.epsilons, (data.liu, data.paper, data.exact))
    _reductions(left, data.epsilons, (data.paper_below_liu, data.exact_below_liu), "σ²")
    tidy(right, "(b) Error of the outputs", "privacy budget ε", "average RMSE of the outputs")
    _curves(right, data.epsilons, (data.liu_rmse, data.paper_rmse, data.exact_rmse))
    middle = "always the middle of the box"
    right.axhline(data.middle_rmse, color="black", linewidth=0.9, label=middle)
    right.set_ylim(0, 1.08 * float(data.liu_rmse.max()))
    _reductions(
        right, data.epsilons, (data.paper_rmse_below_liu, data.exact_rmse_below_liu), "RMSE"
    )
    figure.suptitle("Bounded Gaussian on the paper's graph query, at the same ε", fontsize=12)
    return figure


def _curves(axes: Axes, epsilons: Floats, curves: tuple[Floats, ...]) -> None:
    for (name, look), curve in zip(_METHODS.items(), curves, strict=True):
        axes.plot(epsilons, curve, color=look.colour, linestyle=look.line, linewidth=2, label=name)


def _reductions(axes: Axes, epsilons: Floats, reductions: tuple[Floats, ...], what: str) -> None:
    """Draw the percentages as markers on a separate axis, and one legend for both axes."""
    twin = axes.twinx()
    twin.set_ylabel(f"percent reduction of {what} against Liu")
    twin.set_ylim(0, 100)
    twin.spines["top"].set_visible(False)
    marked = zip(("Chen and Hale", "exact"), ("^", "o"), reductions, strict=True)
    for name, marker, percent in marked:
        twin.plot(
            epsilons,
            percent,
            linestyle="none",
            marker=marker,
            markersize=5,
            markerfacecolor="white" if name == "exact" else _METHODS[name].colour,
            markeredgecolor=_METHODS[name].colour,
            clip_on=False,
            label=f"{name}: reduction (right axis)",
        )
    handles = [*axes.get_lines(), *twin.get_lines()]
    axes.legend(
        handles=handles,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.13),
        ncols=2,
        fontsize=8.5,
        frameon=False,
    )
