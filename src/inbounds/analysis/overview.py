"""How results are printed: as tables, and as advice in a sentence or two."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np

from inbounds._check import format_numbers
from inbounds._table import Table
from inbounds._text import shown
from inbounds.analysis.error import times_least

if TYPE_CHECKING:
    from inbounds.analysis.comparison import Comparison
    from inbounds.analysis.regimes import Regimes
    from inbounds.analysis.reproduction import Table1Row

MIDDLE = "middle of the box"
"""The name of the row for the error of always publishing the middle of the box."""

LIMIT = "limit"
"""The name of the row for the least error that any mechanism can have."""


def comparison_table(comparison: Comparison) -> Table:
    """Return a table with a row for each mechanism and for the middle of the box, and the advice.

    Examples
    --------
    >>> import inbounds as ib
    >>> comparison_table(ib.compare(ib.Box(0, 120), 2.5, epsilon=1.0)).title
    'Box(0, 120), L2(2.5), epsilon=1, delta=0'
    """
    columns = _COLUMNS
    if comparison.people is not None:
        columns = {"mean_rmse": ("RMSE of the mean", shown)} | columns
    columns = columns | (_EXCESS if comparison.limit is None else _ABOVE_LIMIT)
    headings = ("mechanism", "scale", *(heading for heading, _ in columns.values()))
    cells = []
    for row in comparison.rows():
        scale = row["scale"]
        text = "" if scale is None else format_numbers(scale) if np.ndim(scale) else shown(scale)
        numbers = ("" if row[key] is None else show(row[key]) for key, (_, show) in columns.items())
        cells.append((row["mechanism"], text, *numbers))
    aligned = tuple(range(1, len(headings)))
    return Table(setting(comparison), headings, tuple(cells), advice(comparison), aligned)


def setting(comparison: Comparison) -> str:
    """Return, in words, for which box, sensitivity and guarantee mechanisms are compared.

    Examples
    --------
    >>> import inbounds as ib
    >>> setting(ib.compare(ib.Box(0, 1), 1, epsilon=2.0, people=10))
    'Box(0, 1), L2(1), epsilon=2, delta=0, people=10'
    """
    people = "" if comparison.people is None else f", people={comparison.people}"
    where = f"{comparison.domain!r}, {comparison.sensitivity!r}"
    return f"{where}, {comparison.guarantee}{people}"


def advice(comparison: Comparison) -> str:
    """Return a sentence or two about which mechanism to use, and how much better it is.

    Examples
    --------
    >>> import inbounds as ib
    >>> advice(ib.compare(ib.Box(0, 120), 30, epsilon=1.0))
    'Lowest error: Optimal (RMSE ...
    """
    first, least = comparison.contenders[0], comparison.contenders[0].error.rmse
    kind = (
        "on average"
        if comparison.people is None
        else f"of the mean of {comparison.people:,} people"
    )
    text = f"Lowest error: {first.name} (RMSE {shown(least)} {kind}"
    other = next((c for c in comparison.contenders if _kind(c.name) != _kind(first.name)), None)
    if other is not None:
        gain = 100 * (1 - times_least(least, other.error.rmse) ** 2)
        text += f"; {gain:.1f} % less squared error than {other.name}"
    text += ")."
    if comparison.limit is not None:
        lowest = comparison.limit.rmse[0]
        if lowest > 0:  # that no error is below 0 needs no proof
            text += (
                f" No private function of the value has an RMSE below {shown(lowest)} on average."
            )
    elif any(comparison.domain.steps) and comparison.why_no_limit is not None:
        text += f" {comparison.why_no_limit}"
    if not comparison.beats_the_middle:
        text += (
            f" None of these mechanisms beats always publishing the {MIDDLE}, which has RMSE "
            f"{shown(comparison.baseline.rmse)} and costs no privacy: at this guarantee, one "
            "output carries almost no information."
        )
    if first.error.bound_mass > 0.05 and not any(comparison.domain.steps):
        inside = next(c for c in comparison.contenders if c.error.bound_mass == 0)
        text += (
            f" Up to {first.error.bound_mass:.0%} of its outputs are the bounds themselves; to "
            f"avoid that, use {inside.name} (RMSE {shown(inside.error.rmse)})."
        )
    return text


def _kind(name: str) -> str:
    """Return the name of a mechanism without how it was calibrated."""
    return name.partition(" ")[0]


def _excess(percent: float) -> str:
    return f"{percent:.1f} %" if percent < 1000 else f"× {shown(1 + percent / 100)}"


_COLUMNS: dict[str, tuple[str, Callable[[float], str]]] = {
    "average_rmse": ("RMSE", shown),
    "worst_rmse": ("RMSE, worst", shown),
    "worst_bias": ("bias, worst", shown),
    "bound_mass": ("at a bound", "{:.1%}".format),
    "true_epsilon": ("true ε", "{:.4g}".format),
    "variance_below_liu_percent": ("σ² below Liu", "{:.1f} %".format),
}
_EXCESS = {"mse_above_best_percent": ("MSE above best", _excess)}
_ABOVE_LIMIT = {
    "mse_above_limit_percent": ("above limit", _excess),
    "read_mse_above_limit_percent": ("if read best", _excess),
}


def regimes_table(regimes: Regimes) -> Table:
    """Return a table of the best mechanism's initials, by epsilon and fraction of the range.

    Examples
    --------
    >>> from inbounds.analysis.regimes import regimes
    >>> regimes_table(regimes(delta=0.0, fractions=[0.01, 1.0], epsilons=[1.0, 10.0])).rows
    (('1', 'O', 'O'), ('10', 'CS', 'O'))
    """
    rows = zip(regimes.epsilons, regimes.best.tolist(), strict=True)
    return Table(
        f"Lowest average RMSE at δ = {regimes.delta:g}, dimension {regimes.dimension}",
        ("ε", *(f"{float(f'{100 * part:.2g}'):g}" for part in regimes.fractions)),
        tuple((f"{epsilon:.3g}", *map(_initials, names)) for epsilon, names in rows),
        caption="Columns: sensitivity in percent of the width. BG, BL: bounded Gaussian, Laplace. "
        "CG, CL: clamped. CS: clamped staircase. W: Window. O: Optimal.",
        numbers=tuple(range(regimes.fractions.size + 1)),
    )


def _initials(name: str) -> str:
    return "".join(filter(str.isupper, name))


def table1_table(rows: Iterable[Table1Row]) -> Table:
    """Return the rows as a table that can be printed, or shown by rich or a notebook.

    Examples
    --------
    >>> from inbounds.analysis.reproduction import table1
    >>> print(table1_table(table1()).title)
    Table 1: σ² needed for ε on Box([0, 1], [10, 9])
    """
    headings = (
        *("ε", "Liu", "paper", "paper below Liu", "exact, l2 ball", "exact below Liu"),
        *("exact, per coordinate", "ε the paper's σ gives"),
    )
    cells = tuple(
        (
            f"{row.epsilon:g}",
            f"{row.liu:.1f}",
            f"{row.paper:.1f}",
            f"{row.paper_below_liu:.1f} %",
            f"{row.exact:.1f}",
            f"{row.exact_below_liu:.1f} %",
            f"{row.exact_per_coordinate:.1f}",
            f"{row.paper_epsilon:.4f}",
        )
        for row in rows
    )
    title = "Table 1: σ² needed for ε on Box([0, 1], [10, 9])"
    return Table(title, headings, cells, numbers=tuple(range(len(headings))))
