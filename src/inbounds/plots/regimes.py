"""Maps of which mechanism has the lowest error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds._types import Floats
from inbounds.plots.style import blank, look_of, short_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from inbounds.analysis.regimes import Regimes


def regimes_figure(maps: Sequence[Regimes]) -> Figure:
    """Draw one map for each of `maps`, two in a row.

    The shade of a cell shows the mechanism with the lowest average RMSE; its number is how many
    percent lower that is than the second lowest. The dashed line separates where each of the two
    truncated mechanisms, which never output a bound itself, is better. Below the thick line, no
    mechanism has an error clearly (by a percent) below that of always publishing the middle of the
    box: the budget is too small.

    Parameters
    ----------
    maps
        What `inbounds.regimes` returned, for one setting or several.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import inbounds as ib
    >>> result = ib.regimes(delta=0.0, fractions=[0.1, 1], epsilons=[0.1, 1])
    >>> figure = ib.plots.regimes_figure([result])
    >>> figure.axes[0].get_title()
    'm = 1 coordinate, δ = 0'
    """
    columns = min(2, len(maps))
    rows = -(-len(maps) // columns)
    figure = blank(7.2 * columns, 5.0 * rows + 1.1)
    figure.suptitle("The mechanism with the lowest average RMSE at the guarantee", fontsize=12)
    for index, regimes in enumerate(maps):
        _draw(figure.add_subplot(rows, columns, index + 1), regimes)
    _legend(figure, maps)
    return figure


def _draw(axes: Axes, regimes: Regimes) -> None:
    from matplotlib.colors import to_rgb  # noqa: PLC0415 - optional

    fills = np.array([[to_rgb(look_of(str(name)).fill) for name in row] for row in regimes.best])
    x, y = _edges(regimes.fractions), _edges(regimes.epsilons)
    axes.pcolormesh(x, y, fills, edgecolors="white", lw=0.4)
    truncated = _log_ratio_of_truncated(regimes)
    _line(axes, regimes, truncated, "--", 1.6)
    _line(axes, regimes, _log_ratio_to_middle(regimes), "-", 2.4)
    _write_margins(axes, regimes, fills)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_title(_title(regimes, truncated), fontsize=10)
    axes.set_xlabel("l2 sensitivity Δ, in widths of one coordinate")
    axes.set_ylabel("privacy budget ε")


def _write_margins(axes: Axes, regimes: Regimes, fills: Floats) -> None:
    from matplotlib.patheffects import withStroke  # noqa: PLC0415 - optional

    for (row, column), margin in np.ndenumerate(regimes.margin):
        fill = fills[row, column]
        text = axes.text(
            float(regimes.fractions[column]),
            float(regimes.epsilons[row]),
            f"{margin:.0f}",
            fontsize=7,
            ha="center",
            va="center",
            color="white" if fill.mean() < 0.4 else "black",
        )
        text.set_path_effects([withStroke(linewidth=2, foreground=tuple(fill))])


def _log_ratio_of_truncated(regimes: Regimes) -> Floats:
    gaussian, laplace = (
        regimes.rmse[regimes.names.index(name)] for name in ("BoundedGaussian", "BoundedLaplace")
    )
    return np.asarray(np.log(gaussian / laplace))


def _log_ratio_to_middle(regimes: Regimes) -> Floats:
    return np.asarray(np.log(regimes.over_the_middle))


def _title(regimes: Regimes, truncated: Floats) -> str:
    coordinates = "coordinate" if regimes.dimension == 1 else "coordinates together"
    notes = [
        f"no {name} at this guarantee"
        for name, errors in zip(regimes.names, regimes.rmse, strict=True)
        if np.isinf(errors).all()
    ]
    if truncated.max() < 0:
        notes.append("BoundedGaussian is better than BoundedLaplace everywhere")
    elif truncated.min() > 0:
        notes.append("BoundedLaplace is better than BoundedGaussian everywhere")
    return "\n".join(
        [f"m = {regimes.dimension} {coordinates}, δ = {short_number(regimes.delta)}", *notes]
    )


def _edges(points: Floats) -> Floats:
    """Return the borders between points, halfway between them on a logarithmic axis."""
    logs = np.log(points)
    if logs.size == 1:
        return np.asarray(np.exp(logs[0] + np.array([-0.5, 0.5])))
    inner = (logs[1:] + logs[:-1]) / 2
    return np.asarray(np.exp([2 * logs[0] - inner[0], *inner, 2 * logs[-1] - inner[-1]]))


def _line(axes: Axes, regimes: Regimes, level: Floats, style: str, width: float) -> None:
    """Draw a line where `level` is zero, with a white rim, so that it shows on every shade."""
    if not _crosses_zero(level):
        return
    for colour, extra in (("white", 2.4), ("black", 0.0)):
        axes.contour(
            regimes.fractions,
            regimes.epsilons,
            level,
            levels=[0.0],
            colors=colour,
            linewidths=width + extra,
            linestyles="-" if colour == "white" else style,
        )


def _crosses_zero(level: Floats) -> bool:
    return min(level.shape) > 1 and bool(level.min() < 0 < level.max())


def _legend(figure: Figure, maps: Sequence[Regimes]) -> None:
    from matplotlib.lines import Line2D  # noqa: PLC0415 - optional
    from matplotlib.patches import Patch  # noqa: PLC0415 - optional

    seen = {str(name) for regimes in maps for name in regimes.best.ravel()}
    handles: list[Any] = [
        Patch(facecolor=look_of(name).fill, edgecolor="black", label=f"{name} is best")
        for name in maps[0].names
        if name in seen
    ]
    lines = [
        (_log_ratio_of_truncated, "--", 1.6, "BoundedGaussian is better than BoundedLaplace"),
        (_log_ratio_to_middle, "-", 2.4, "no clearly lower error than the middle of the box"),
    ]
    handles += [
        Line2D([], [], color="black", ls=style, lw=width, label=f"below: {label}")
        for level, style, width, label in lines
        if any(_crosses_zero(level(regimes)) for regimes in maps)
    ]
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=3 if len(maps) > 1 else 2,
        fontsize=8.5,
        title="number in a cell: percent by which the lowest RMSE is below the second lowest",
        title_fontsize=8.5,
    )
