"""The cost of releases: one release's delta by epsilon, and many releases' epsilon."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from inbounds import _check
from inbounds.accounting.bound import Bound
from inbounds.accounting.composition import compose
from inbounds.calibration.gaussian import gaussian_delta
from inbounds.errors import ArgumentError
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.plots.style import (
    LineStyle,
    blank,
    look_of,
    short_number,
    shown_parameters,
    tidy,
    title_lines,
)
from inbounds.pure import response_delta

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LEAST = 1e-12  # delta at the bottom of the figure
_POINTS = 129
_COUNTS = (1, 3, 10, 30, 100, 300, 1000)
_BOUNDS: dict[Bound, tuple[str, LineStyle, str, str]] = {
    "basic": ("#6b6b6b", ":", "^", "basic: ε adds up"),
    "optimal pure": ("#8c6d00", (0, (3, 1, 1, 1, 1, 1)), "P", "optimal, from pure ε alone"),
    "total variation": ("#4d7f3a", (0, (5, 1)), "v", "optimal, from pure ε and total variation"),
    "zCDP": ("#c46a00", "--", "s", "zCDP: ρ adds up"),
    "GDP": ("#2e86c1", "-.", "D", "GDP: μ² adds up"),
    "PLD": ("#1f4e79", "-", "o", "PLD: profiles convolved"),
}


def profile_figure(mechanism: Mechanism) -> Figure:
    """Draw delta against epsilon for one release, beside a plain Gaussian with the same μ.

    Parameters
    ----------
    mechanism
        The mechanism of the release.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import inbounds as ib
    >>> figure = ib.plots.profile_figure(ib.BoundedGaussian(ib.Box(0, 10), 1, sigma=2.75))
    >>> figure.axes[0].get_yscale()
    'log'
    """
    pure, mu = mechanism.epsilon, mechanism.gdp
    top = _where_small(mu, 1.15 * pure)
    near = pure * (1 - np.geomspace(1e-9, 1e-2, 15))  # where delta falls to zero
    epsilons = np.sort(np.append(np.linspace(0.0, top, _POINTS), near[near < top]))
    name = type(mechanism).__name__
    curves: list[tuple[str, str, LineStyle, float, Callable[[float], float]]] = [
        (f"plain Gaussian, μ = {mu:.4g}", "#f2b266", "-", 6.0, lambda x: gaussian_delta(mu, x)),
        ("worst with this pure ε", "#6b6b6b", ":", 2.0, lambda x: response_delta(pure, x)),
        (name, look_of(name).colour, "-", 2.0, mechanism.delta),
    ]
    figure = blank(7.2, 4.8)
    axes = figure.add_subplot()
    tidy(axes, _title("Privacy of one release", mechanism), "ε", "δ")
    for label, colour, line, width, curve in curves:
        deltas = np.array([curve(x) for x in epsilons.tolist()])
        shown = np.where(deltas > 0, deltas, np.nan)
        axes.plot(epsilons, shown, color=colour, linestyle=line, linewidth=width, label=label)
    if pure <= top:
        axes.axvline(pure, color="black", linewidth=0.9, label=f"pure ε = {pure:.4g}: δ = 0")
    axes.set_yscale("log")
    axes.set_ylim(_LEAST, 2.0)
    axes.set_xlim(0.0, top)
    axes.legend(loc="lower left", fontsize=8.5)
    return figure


def _title(what: str, mechanism: Mechanism) -> str:
    kind, changes = type(mechanism).__name__, f"changes within {mechanism.sensitivity!r}"
    where = f"{kind} on {mechanism.domain!r}"
    return f"{what}\n" + title_lines(where, changes, *shown_parameters(mechanism))


def _where_small(mu: float, most: float) -> float:
    """Return the epsilon, at most `most`, up to which the Gaussian's delta is shown."""
    if not np.isfinite(mu):
        return most
    return min(most, mu * (mu / 2 + 7.2))


def composition_figure(
    mechanism: Mechanism, *, delta: float, counts: Sequence[int] = _COUNTS
) -> Figure:
    """Draw the epsilon that many releases cost together, at `delta`, by each bound.

    Parameters
    ----------
    mechanism
        The mechanism of every release.
    delta
        The delta at which the cost is stated.
    counts
        The numbers of releases.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ArgumentError
        If `delta` is not between 0 and 1, or `counts` is empty.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.BoundedLaplace(ib.Box(0, 1), 1, scale=10.0)
    >>> figure = ib.plots.composition_figure(m, delta=1e-6, counts=[1, 10])
    >>> len(figure.axes[0].get_lines())
    6
    """
    delta = _check.within(0, 1, delta=delta)
    if not counts:
        raise ArgumentError.must("counts", "not be empty")
    costs = [compose([(mechanism, count)]).epsilons(delta) for count in counts]
    figure = blank(7.2, 5.2)
    axes = figure.add_subplot()
    title = _title("What many releases cost together", mechanism)
    tidy(axes, title, "number of releases", f"ε at δ = {short_number(delta)}")
    for bound, (colour, line, marker, label) in _BOUNDS.items():
        epsilons = np.array([cost.get(bound, np.inf) for cost in costs])
        shown = np.where(np.isfinite(epsilons) & (epsilons > 0), epsilons, np.nan)
        axes.plot(
            counts, shown, color=colour, linestyle=line, marker=marker, markersize=5,
            markerfacecolor="white", linewidth=2 if bound == "PLD" else 1.5, label=label,
        )  # fmt: skip
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.legend(loc="upper left", fontsize=8.5)
    return figure
