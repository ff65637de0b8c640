"""What the figures share: a blank canvas, and one look for each mechanism.

Looks differ in line style, marker and hatch, and fills in lightness, so that figures can be read in
grey.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from inbounds._extra import optional
from inbounds._text import clean

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from inbounds.mechanisms.mechanism import Mechanism

LineStyle = str | tuple[int, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Look:
    """How one mechanism is drawn: a colour for lines, a fill for areas, and styles for grey.

    Examples
    --------
    >>> look_of("BoundedGaussian").line, look_of("BoundedLaplace").line
    ('-', '-.')
    """

    colour: str
    fill: str
    line: LineStyle
    marker: str
    hatch: str


_LOOKS = {
    "BoundedGaussian": Look("#1f4e79", "#1f4e79", "-", "o", ""),
    "BoundedGaussian (paper)": Look("#7a5195", "#b39bc4", "--", "s", "//"),
    "BoundedGaussian (Liu)": Look("#6b6b6b", "#dddddd", ":", "^", ".."),
    "BoundedLaplace": Look("#2e86c1", "#4a90c4", "-.", "D", "xx"),
    "ClampedGaussian": Look("#c46a00", "#f2b266", (0, (8, 2)), "v", "\\\\"),
    "ClampedLaplace": Look("#8c6d00", "#fff2cc", (0, (3, 1, 1, 1, 1, 1)), "P", "++"),
    "ClampedStaircase": Look("#b03a2e", "#d98880", (0, (5, 1, 1, 1)), "X", "--"),
    "Window": Look("#1e8449", "#a9dfbf", (0, (1, 1)), "h", "||"),
    "Optimal": Look("#117a65", "#e8f6f3", "-", "d", "oo"),
    "Optimal (worst)": Look("#48a999", "#c8e6df", "--", "<", "OO"),
    "Optimal (unbiased)": Look("#80b9ad", "#dceee9", ":", ">", ".o"),
}
_OTHER = Look("#444444", "#bbbbbb", "-", "*", "oo")


def look_of(name: str) -> Look:
    """Return how a mechanism is drawn, in the same way in every figure.

    Examples
    --------
    >>> look_of("ClampedGaussian").marker
    'v'
    """
    return _LOOKS.get(name, _OTHER)


def blank(width: float, height: float) -> Figure:
    """Return an empty figure that needs no display and that notebooks show; sizes in inches.

    Examples
    --------
    >>> blank(4, 3).get_size_inches().tolist()
    [4.0, 3.0]
    """
    with optional():
        from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 - optional

        from inbounds.plots.figure import ShownFigure  # noqa: PLC0415 - optional

    figure = ShownFigure(figsize=(width, height), dpi=120, facecolor="white", layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def tidy(axes: Axes, title: str, x: str, y: str) -> None:
    """Set the title and the labels, and draw a faint grid without a top frame.

    Examples
    --------
    >>> axes = blank(4, 3).add_subplot()
    >>> tidy(axes, "Error", "epsilon", "RMSE")
    >>> axes.get_xlabel()
    'epsilon'
    """
    axes.set_title(title, fontsize=10.5)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(visible=True, color="#e3e3e3", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines["top"].set_visible(False)


def shown_parameters(mechanism: Mechanism) -> list[str]:
    """Return the parameters of a mechanism as text, each shortened if it has many numbers.

    Examples
    --------
    >>> import inbounds as ib
    >>> shown_parameters(ib.BoundedGaussian(ib.Box([0] * 4, [1] * 4), 1, sigma=[1, 2, 3, 4]))
    ['sigma = 1, 2, 3, …']
    """
    texts = {}
    for name, value in mechanism.parameters.items():
        numbers = [value] if isinstance(value, str) else np.atleast_1d(value).tolist()
        shown = [n if isinstance(n, str) else short_number(n) for n in numbers[:3]]
        texts[name] = ", ".join(shown) + ", …" * (len(numbers) > 3)
    return [f"{name} = {text}" for name, text in texts.items()]


def title_lines(*parts: str, length: int = 80) -> str:
    r"""Return the parts of a title with commas between them, in lines that fit the figure.

    Examples
    --------
    >>> title_lines("Box(0, 120)", "epsilon = 1", "objective = average", length=30)
    'Box(0, 120), epsilon = 1,\nobjective = average'
    """
    lines = [parts[0]]
    for part in parts[1:]:
        if len(lines[-1]) + len(part) + 2 <= length:
            lines[-1] += f", {part}"
        else:
            lines[-1] += ","
            lines.append(part)
    return "\n".join(lines)


def short_number(number: float) -> str:
    """Return a number as short text, as in 0.5, 120 or 1e-6.

    Examples
    --------
    >>> short_number(1e-06), short_number(2.5), short_number(0.0)
    ('1e-6', '2.5', '0')
    """
    if 0 < abs(number) < 1e-3:
        return np.format_float_scientific(number, precision=3, trim="-", exp_digits=1)
    return f"{number:.4g}"


def plain_text(text: str, longest: int = 30) -> str:
    r"""Return text that matplotlib draws as it is, without formulas; its middle is cut if long.

    Examples
    --------
    >>> plain_text("costs in $"), plain_text("district no. 17", 9)
    ('costs in \\$', 'dist…. 17')
    """
    shown = clean(" ".join(text.split()))
    if len(shown) > longest:
        end = (longest - 1) // 2
        shown = f"{shown[: longest - 1 - end]}…{shown[len(shown) - end :]}"
    return shown.replace("$", r"\$")
