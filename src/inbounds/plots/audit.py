"""An audit: the outputs for both values, the event that was counted, and the ratio."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds._types import Floats
from inbounds.plots.style import blank, short_number, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from inbounds.auditing.audit import Audit
    from inbounds.auditing.event import Event

_FEWEST = 5  # outputs in a bin, for each value, for a ratio to be worth drawing
_LOOKS = (("#1f4e79", "-", "#9db8d2"), ("#c46a00", "--", "none"))


def audit_figure(audit: Audit) -> Figure:
    """Draw the outputs for both values with the event, and below the logarithm of their ratio.

    Parameters
    ----------
    audit
        What `inbounds.audit` returned.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.BoundedGaussian.calibrated(ib.Box(0, 1), 1, epsilon=1.0)
    >>> ib.plots.audit_figure(ib.audit(m, releases=10_000)).axes[0].get_ylabel()
    'fraction of the outputs'
    """
    figure = blank(7.6, 6.4)
    name = audit.mechanism if len(audit.mechanism) <= 70 else f"{audit.mechanism[:67]}..."
    verdict = "not refuted" if audit.passed else "REFUTED"
    figure.suptitle(f"Audit of {name}\n{verdict}: {_statement(audit)}", fontsize=11)
    upper, lower = figure.subplots(2, 1, sharex=True, gridspec_kw={"height_ratios": [3, 2]})
    what = "output" if audit.event.weights is None else "weighted sum of the output's coordinates"
    tidy(upper, "", "", "fraction of the outputs")
    tidy(lower, "", what, "ln of the ratio")
    _draw_histograms(upper, audit)
    _draw_ratio(lower, audit)
    for axes in (upper, lower):
        _shade(axes, audit.event, label=axes is upper)
    upper.legend(loc="upper center", fontsize=8.5)
    lower.legend(loc="best", fontsize=8.5)
    return figure


def _statement(audit: Audit) -> str:
    claim = f"ε = {short_number(audit.claimed_epsilon)}" + f", δ = {short_number(audit.delta)}" * (
        audit.delta > 0
    )
    return f"ε ≥ {audit.epsilon_lower:.4g} at confidence {audit.confidence:.12g}, claimed {claim}"


def _draw_histograms(axes: Axes, audit: Audit) -> None:
    """Draw one histogram filled, the other as a dashed outline, to be told apart in grey."""
    highest = 0.0
    for value, bins, count, (colour, line, fill) in zip(
        audit.pair, audit.histograms, audit.counts, _LOOKS, strict=True
    ):
        heights = np.asarray(bins) / max(sum(bins), 1)
        highest = max(highest, float(heights.max()))
        label = f"value {_named(value)}: {count / audit.trials:.3g} of the outputs in the event"
        axes.stairs(heights, audit.edges, fill=fill != "none", color=fill, alpha=0.8)
        axes.stairs(heights, audit.edges, color=colour, linestyle=line, linewidth=1.4, label=label)
    axes.set_ylim(0, 1.4 * highest)  # room for the legend


def _draw_ratio(axes: Axes, audit: Audit) -> None:
    """Draw how much more likely each bin is for the first value, with one standard error."""
    first, second = (np.asarray(bins, dtype=float) for bins in audit.histograms)
    kept = (first >= _FEWEST) & (second >= _FEWEST)
    edges: Floats = np.asarray(audit.edges)
    middles = ((edges[1:] + edges[:-1]) / 2)[kept]
    ratio = np.log(first[kept] / second[kept])
    error = np.sqrt(1 / first[kept] + 1 / second[kept])
    axes.errorbar(
        middles, ratio, error, fmt="o", markersize=2.5, linewidth=0.8, color="#444444", label="bins"
    )
    claim, bound = audit.claimed_epsilon, audit.epsilon_lower
    axes.axhline(claim, color="#1f4e79", linewidth=1.4, label=f"ε claimed, {short_number(claim)}")
    axes.axhline(
        bound, color="#b03a2e", linestyle=":", linewidth=1.8, label=f"ε ≥ {bound:.4g}, by the event"
    )
    axes.axhline(-claim, color="#1f4e79", linewidth=0.7)


def _shade(axes: Axes, event: Event, *, label: bool) -> None:
    """Shade the event and mark its ends, as it may be too narrow to be seen."""
    low, high = axes.get_xlim()
    ends: tuple[float, ...] = (event.threshold,)
    if event.kind == "near":
        start, stop = event.centre - event.threshold, event.centre + event.threshold
        ends = (start, stop)
    else:
        start, stop = (low, ends[0]) if event.kind == "below" else (ends[0], high)
    text = f"event: {event}" if label else None
    axes.axvspan(start, stop, facecolor="#d9d9d9", edgecolor="#777777", hatch="///", alpha=0.5)
    for end in ends:
        axes.axvline(end, color="#333333", linewidth=1.0, label=text)
        text = None
    axes.set_xlim(min(low, start), max(high, stop))


def _named(value: Any) -> str:
    if np.ndim(value) == 0:
        return short_number(float(value))
    shown = [short_number(float(number)) for number in value[:3]] + ["…"] * (len(value) > 3)
    return f"({', '.join(shown)})"
