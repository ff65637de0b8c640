"""Maps of which mechanism has the lowest error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds._types import Floats
from inbounds.plots.style import blank, look_of, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from inbounds.analysis.regimes import Regimes

_MIDDLE_RMSE = 12**-0.5  # of answering the middle of the box, in widths


def regimes_figure(maps: Sequence[Regimes]) -> Figure:
    """Draw one map for each, two in a row.

    A cell's shade is the mechanism with the least average RMSE; its number, by how many percent
    that is below the runner-up's. The dashed line divides the best of the truncated mechanisms,
    the ones that never answer a bound itself. Below the thick line every mechanism errs more than
    the middle of the box would, whatever the data: the budget is too small for the question.

    Examples
    --------
    >>> from inbounds.analysis.regimes import regimes
    >>> figure = regimes_figure([regimes(delta=0.0, shares=[0.1, 1], epsilons=[0.1, 1])])
    >>> figure.axes[0].get_title()
    'm = 1 coordinate, δ = 0'
    """
    columns = min(2, len(maps))
    rows = -(-len(maps) // columns)
    figure = blank(7.2 * columns, 5.0 * rows + 1.1)
    figure.suptitle("Which mechanism has the least average RMSE at the same guarantee", fontsize=12)
    for index, one in enumerate(maps):
        _draw(figure.add_subplot(rows, columns, index + 1), one)
    _legend(figure, maps)
    return figure


def _draw(axes: Axes, one: Regimes) -> None:
    from matplotlib.colors import to_rgb  # noqa: PLC0415 - optional

    fills = np.array([[to_rgb(look_of(str(name)).fill) for name in row] for row in one.best])
    axes.pcolormesh(_edges(one.shares), _edges(one.epsilons), fills, edgecolors="white", lw=0.4)
    truncated = _log_ratio_of_truncated(one)
    _line(axes, one, truncated, "--", 1.6)
    _line(axes, one, np.log(one.rmse.min(axis=0) / _MIDDLE_RMSE), "-", 2.4)
    _write_margins(axes, one, fills)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_title(_title(one, truncated), fontsize=10)
    axes.set_xlabel("l2 sensitivity Δ, in widths of one coordinate")
    axes.set_ylabel("privacy budget ε")


def _write_margins(axes: Axes, one: Regimes, fills: Floats) -> None:
    from matplotlib.patheffects import withStroke  # noqa: PLC0415 - optional

    for (row, column), margin in np.ndenumerate(one.margin):
        fill = fills[row, column]
        text = axes.text(
            float(one.shares[column]),
            float(one.epsilons[row]),
            f"{margin:.0f}",
            fontsize=7,
            ha="center",
            va="center",
            color="white" if fill.mean() < 0.4 else "black",
        )
        text.set_path_effects([withStroke(linewidth=2, foreground=tuple(fill))])


def _log_ratio_of_truncated(one: Regimes) -> Floats:
    gaussian, laplace = (
        one.rmse[one.names.index(name)] for name in ("BoundedGaussian", "BoundedLaplace")
    )
    return np.asarray(np.log(gaussian / laplace))


def _title(one: Regimes, truncated: Floats) -> str:
    coordinates = "coordinate" if one.dimension == 1 else "coordinates together"
    notes = [
        f"no {name} at this guarantee"
        for name, errors in zip(one.names, one.rmse, strict=True)
        if np.isinf(errors).all()
    ]
    if truncated.max() < 0:
        notes.append("of the truncated two, BoundedGaussian throughout")
    elif truncated.min() > 0:
        notes.append("of the truncated two, BoundedLaplace throughout")
    return "\n".join([f"m = {one.dimension} {coordinates}, δ = {plain(one.delta)}", *notes])


def _edges(points: Floats) -> Floats:
    """Return the borders between points, halfway on a logarithmic axis."""
    logs = np.log(points)
    if logs.size == 1:
        return np.asarray(np.exp(logs[0] + np.array([-0.5, 0.5])))
    inner = (logs[1:] + logs[:-1]) / 2
    return np.asarray(np.exp([2 * logs[0] - inner[0], *inner, 2 * logs[-1] - inner[-1]]))


def _line(axes: Axes, one: Regimes, level: Floats, style: str, width: float) -> None:
    """Draw where `level` is zero, black with a white rim so that it shows on every shade."""
    if min(level.shape) < 2 or not level.min() < 0 < level.max():
        return
    for colour, extra in (("white", 2.4), ("black", 0.0)):
        axes.contour(
            one.shares,
            one.epsilons,
            level,
            levels=[0.0],
            colors=colour,
            linewidths=width + extra,
            linestyles="-" if colour == "white" else style,
        )


def _legend(figure: Figure, maps: Sequence[Regimes]) -> None:
    from matplotlib.lines import Line2D  # noqa: PLC0415 - optional
    from matplotlib.patches import Patch  # noqa: PLC0415 - optional

    seen = {str(name) for one in maps for name in one.best.ravel()}
    handles: list[Any] = [
        Patch(facecolor=look_of(name).fill, edgecolor="black", label=f"{name} is best")
        for name in maps[0].names
        if name in seen
    ]
    handles += [
        Line2D(
            [], [], color="black", ls="--", lw=1.6,
            label="of the truncated two: BoundedGaussian better beneath",
        ),
        Line2D(
            [], [], color="black", lw=2.4,
            label="below: answering the middle of the box errs less than all",
        ),
    ]  # fmt: skip
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=3 if len(maps) > 1 else 2,
        fontsize=8.5,
        title="number in a cell: percent by which its RMSE is below the runner-up's",
        title_fontsize=8.5,
    )
