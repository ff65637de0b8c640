"""The distribution of an output: its density, and outputs with a probability of their own.

Densities belong to the left axis and probabilities to the right one: mass is not density.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds import _check
from inbounds._entry import warn_caller
from inbounds._types import Floats
from inbounds.domain import Box
from inbounds.errors import ArgumentError
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.mechanisms.optimal import Optimal
from inbounds.plots.style import LineStyle, blank, short_number, shown_parameters, tidy, title_lines
from inbounds.sensitivity import L2

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_COORDINATES = 3
_LEAST_ATOM = 1e-3  # smaller atoms could not be seen
_LEAST_STEM = 1e-2  # of the highest stem
_LINES: tuple[tuple[str, LineStyle, str], ...] = (
    ("#1f4e79", "-", "o"),
    ("#c46a00", "--", "s"),
    ("#2e86c1", "-.", "D"),
    ("#6b6b6b", ":", "^"),
)


def release_figure(
    mechanism: Mechanism, values: Any = None, output: Any = None, *, answer: Any = None
) -> Figure:
    """Draw the distribution of a mechanism's outputs, and the interval that holds 95 % of them.

    Parameters
    ----------
    mechanism
        Any mechanism; for a box of several coordinates, the first three are drawn.
    values
        One value, or at most four along the first axis; by default, the lower bound, the middle and
        the upper bound. The figure shows them, so do not publish it if they are private.
    output
        A released output to mark.
    answer
        The old name of `output`; deprecated.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ArgumentError
        If there are no values or more than four, or a shape does not fit the box.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.BoundedGaussian(ib.Box(0, 120), 2.5, sigma=16.3)
    >>> figure = ib.plots.release_figure(m, output=41.3)
    >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    ['value 0', 'value 60', 'value 120', 'output 41.3']
    """
    rows = _rows(mechanism, values)
    if answer is not None:
        warn_caller(DeprecationWarning("answer is now called output."))
        output = answer
    marks = None if output is None else _checked_output(mechanism, output)
    count = min(mechanism.domain.dimension, _MOST_COORDINATES)
    figure = blank(6.8 if count == 1 else 5.2 * count, 5.2)
    figure.suptitle(_title(mechanism), fontsize=11)
    panels = figure.subplots(
        2, count, sharex="col", squeeze=False, gridspec_kw={"height_ratios": [4, 1]}
    )
    for index in range(count):
        mark = None if marks is None else float(marks[index])
        coordinate = marginal(mechanism, index)
        _draw(panels[0, index], panels[1, index], coordinate, rows[:, index].tolist(), mark)
        if mechanism.domain.dimension > 1:
            panels[1, index].set_xlabel(f"output, coordinate {index + 1}")
    return figure


def marginal(mechanism: Mechanism, coordinate: int) -> Mechanism:
    """Return a mechanism with the distribution of one coordinate; coordinates are independent.

    Its sensitivity is a stand-in, so that its privacy means nothing.

    Examples
    --------
    >>> import inbounds as ib
    >>> marginal(ib.BoundedGaussian(ib.Box([0, 1], [10, 9]), 1, sigma=2.0), 1).domain
    Box(1, 9)
    """
    box = mechanism.domain
    if box.is_interval:
        return mechanism
    lower, upper = (float(np.asarray(side)[coordinate]) for side in (box.lower, box.upper))
    interval = Box(lower, upper, step=box.steps[coordinate])
    scale = float(mechanism.spread[coordinate])
    return type(mechanism)(interval, L2(upper - lower), scale)  # type: ignore[call-arg]


@dataclass(frozen=True, slots=True)
class Curve:
    """The outputs of an interval's mechanism for one value, and how to draw them.

    Examples
    --------
    >>> import inbounds as ib
    >>> Curve(ib.ClampedLaplace(ib.Box(0, 1), 1, scale=1.0), 0.0, "black", "-", "o").atoms
    (0.5, 0.18...)
    """

    mechanism: Mechanism
    value: float
    colour: str
    line: LineStyle
    marker: str

    @property
    def bounds(self) -> tuple[float, float]:
        """The two ends of the box."""
        return float(self.mechanism.domain.lower), float(self.mechanism.domain.upper)

    @property
    def atoms(self) -> tuple[float, float]:
        """The probabilities of the two bounds themselves."""
        low, high = self.mechanism.mass_at_bounds(self.value)
        return float(low), float(high)

    @property
    def stems(self) -> tuple[Floats, Floats] | None:
        """The possible outputs and their probabilities, if there are finitely many; or None."""
        if not isinstance(self.mechanism, Optimal):
            return None
        outputs = self.mechanism.outputs
        return outputs, np.diff(self.mechanism.cdf(outputs, self.value), prepend=0.0)

    @property
    def ends(self) -> tuple[float, float]:
        """The interval of all but 1 in 5000 outputs; an end close to a bound is that bound."""
        (lower, upper), (low, high) = (
            self.bounds,
            self.mechanism.output_interval(self.value, 0.9998),
        )
        near = 0.05 * (upper - lower)
        return (
            lower if low - lower < near else float(low),
            upper if upper - high < near else float(high),
        )


def draw_curves(axes: Axes, curves: Mapping[str, Curve]) -> tuple[float, float]:
    """Draw the labelled densities and atoms, and return the range that is worth showing.

    Examples
    --------
    >>> import inbounds as ib
    >>> curve = Curve(ib.BoundedLaplace(ib.Box(0, 1), 1, scale=1.0), 0.5, "black", "-", "o")
    >>> draw_curves(blank(4, 3).add_subplot(), {"Laplace": curve})
    (0.0, 1.0)
    """
    for label, curve in curves.items():
        style: dict[str, Any] = {"color": curve.colour, "linestyle": curve.line, "label": label}
        if curve.stems is not None:  # for the legend: stems are drawn on the other axis
            axes.plot([], [], linewidth=1.8, marker=curve.marker, mfc="white", **style)
            continue
        x = _points(curve.mechanism, curve.value)
        (line,) = axes.plot(x, curve.mechanism.pdf(x, curve.value), linewidth=1.8, **style)
        if max(curve.atoms) >= _LEAST_ATOM:  # the marker is for the legend only
            line.set(marker=curve.marker, markevery=[], markerfacecolor="white")
    low, high = zip(*(curve.ends for curve in curves.values()), strict=True)
    ends = min(low), max(high)
    axes.set_ylim(bottom=0)
    _draw_masses(axes, list(curves.values()), *ends)
    return ends


def _draw_masses(axes: Axes, curves: Sequence[Curve], low: float, high: float) -> None:
    """Draw what has a probability of its own on a separate axis: outputs, or bounds alone."""
    shown = [c for c in curves if c.stems is not None or max(c.atoms) >= _LEAST_ATOM]
    if not shown:
        return
    twin = axes
    if any(curve.stems is None for curve in curves):
        twin = axes.twinx()
        twin.spines["top"].set_visible(False)
    finite = [curve for curve in shown if curve.stems is not None]
    others = [curve for curve in shown if curve.stems is None]
    twin.set_ylabel("probability of an output" if finite else "probability of a bound itself")
    masses = [mass for curve in shown for mass in _masses(curve)]
    twin.set_ylim(0, 1.08 * max([0.1, *masses]))
    for place, curve in enumerate(others):
        _draw_atoms(twin, curve, place, low, high)
    for place, curve in enumerate(finite):
        _draw_stems(twin, curve, (place - (len(finite) - 1) / 2) * 0.004 * (high - low))


def _masses(curve: Curve) -> Sequence[float]:
    return curve.atoms if curve.stems is None else curve.stems[1].tolist()


def _draw_stems(axes: Axes, curve: Curve, shift: float) -> None:
    """Draw a stem at each output, beside those of other values at the same output."""
    assert curve.stems is not None  # for type checkers
    outputs, masses = curve.stems
    seen = masses >= _LEAST_STEM * masses.max()
    x, y = outputs[seen] + shift, masses[seen]
    axes.vlines(x, 0, y, color=curve.colour, linewidth=1.4)
    axes.plot(
        x, y, color=curve.colour, linestyle="none", marker=curve.marker, markersize=5, mfc="white"
    )


def _draw_atoms(axes: Axes, curve: Curve, place: int, low: float, high: float) -> None:
    """Draw the atoms at the bounds as stems just outside of them."""
    for side, bound, mass in zip((-1, 1), curve.bounds, curve.atoms, strict=True):
        if low <= bound <= high and mass >= _LEAST_ATOM:
            x = bound + side * (0.008 + 0.018 * place) * (high - low)
            axes.vlines(x, 0, mass, color=curve.colour, linewidth=1.6)
            axes.plot([x], [mass], color=curve.colour, marker=curve.marker, mfc="white")


def show(axes: Axes, low: float, high: float) -> None:
    """Set the limits to a little more than the range, as atoms are drawn beside it."""
    axes.set_xlim(low - 0.05 * (high - low), high + 0.05 * (high - low))


def _points(mechanism: Mechanism, value: float) -> Floats:
    """Return places, including the value, that are dense where the density bends."""
    lower, upper = float(mechanism.domain.lower), float(mechanism.domain.upper)
    near = value + float(mechanism.spread[0]) * np.linspace(-8, 8, 321)
    inside = 1e-9 * (upper - lower)  # an atom at a bound has no density
    x = np.concatenate([near, np.linspace(lower, upper, 200), [value]])
    return np.unique(np.clip(x, lower + inside, upper - inside))


def _checked_output(mechanism: Mechanism, output: Any) -> Floats:
    numbers = _check.public_values(output=output)
    mechanism.domain.check_shape(numbers, "output")
    if numbers.size != mechanism.domain.dimension:
        raise ArgumentError.must_be("output", "a single output", got=f"shape {numbers.shape}")
    return numbers.reshape(-1)


def _rows(mechanism: Mechanism, values: Any) -> Floats:
    """Return the values to draw, with one row per value and one column per coordinate."""
    box = mechanism.domain
    if values is None:
        lower, upper = np.atleast_1d(box.lower), np.atleast_1d(box.upper)
        return np.array([lower, (lower + upper) / 2, upper])
    rows = box.clamp(_check.private_values(values=values)).reshape(-1, box.dimension)
    if not 1 <= len(rows) <= len(_LINES):
        requirement = f"hold from 1 to {len(_LINES)} values"
        raise ArgumentError.must("values", requirement, got=str(len(rows)))
    return rows


def _title(mechanism: Mechanism) -> str:
    box = mechanism.domain
    where = f"{box!r}" if box.dimension <= 3 else f"a box of {box.dimension} coordinates"
    kind = type(mechanism).__name__
    text = title_lines(f"Outputs of {kind} on {where}", *shown_parameters(mechanism))
    rounded = box.step is not None and not isinstance(mechanism, Optimal)
    return text + "\n(before rounding to the step)" * rounded


def _draw(
    top: Axes, bottom: Axes, mechanism: Mechanism, values: list[float], output: float | None
) -> None:
    tidy(top, "", "", "density of the output")  # or of single outputs: see `draw_curves`
    tidy(bottom, "", "output", "95 %\ninterval")
    looks = zip(values, _LINES, strict=False)
    curves = {f"value {short_number(v)}": Curve(mechanism, v, *look) for v, look in looks}
    low, high = draw_curves(top, curves)
    low, high = min(low, *values), max(high, *values)
    for row, curve in enumerate(curves.values()):
        ends = mechanism.output_interval(curve.value, 0.95)
        bottom.plot(ends, [row, row], color=curve.colour, linewidth=2, marker="|", markersize=10)
        bottom.plot([curve.value], [row], color=curve.colour, marker=curve.marker)
    if output is not None:
        low, high = min(low, output), max(high, output)
        top.axvline(output, color="black", linewidth=1, label=f"output {short_number(output)}")
        bottom.axvline(output, color="black", linewidth=1)
    bottom.set_yticks([])
    bottom.set_ylim(len(curves) - 0.5, -0.5)
    show(bottom, low, high)
    top.legend(fontsize=8.5, loc="upper center", bbox_to_anchor=(0.5, 1.13), ncols=5, frameon=False)
