"""Every bounded mechanism at the same guarantee, and which of them has the least error."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds._check import short
from inbounds._entry import entry
from inbounds._extra import optional
from inbounds._table import Printed, Table
from inbounds._types import Floats, Number
from inbounds.analysis.calibrate import (
    CRITERIA,
    Criterion,
    calibrations,
    check_criterion,
    check_people,
    check_setting,
    published,
    rank,
)
from inbounds.analysis.error import Error
from inbounds.domain import Box
from inbounds.guarantee import Guarantee, check_delta
from inbounds.mechanisms.bounded_gaussian import BoundedGaussian
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.sensitivity import Sensitivity, as_sensitivity

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

__all__ = ["CRITERIA", "Comparison", "Contender", "Criterion", "compare"]

MIDDLE = "middle of the box"
"""The row for an output that is the same whatever the data."""

_CLEARLY = 0.99  # of the error of the middle: less of a difference is no use to anybody


@dataclass(frozen=True, slots=True)
class Contender:
    """One mechanism calibrated to the guarantee, its error, and the epsilon it really gives."""

    name: str
    mechanism: Mechanism
    error: Error
    epsilon: float
    variance_reduction: float | None
    """Percent by which sigma² is below Liu's, for Gaussian noise where Liu's bound applies."""


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Printed):
    """Mechanisms at the same guarantee, side by side. `print` shows the table.

    Attributes
    ----------
    domain, sensitivity, epsilon, delta, rho, people
        What was asked for; `epsilon` is None where it was `rho`.
    contenders
        Every mechanism that can give it, the least error first.
    baseline
        The error of the middle of the box as the output, whatever the data. It costs no privacy, so
        a mechanism whose error is higher tells less about the value than nothing does.
    """

    domain: Box
    sensitivity: Sensitivity
    epsilon: float | None
    delta: float
    contenders: tuple[Contender, ...]
    baseline: Error
    rho: float | None = None
    people: int | None = None

    def __getitem__(self, name: str) -> Contender:
        for contender in self.contenders:
            if contender.name == name:
                return contender
        names = ", ".join(contender.name for contender in self.contenders)
        raise KeyError(f"{name!r} is not among {names}")

    def best(self, criterion: Criterion | None = None) -> Contender:
        """Return the mechanism that is best by one criterion.

        By default that is the average error, or the error of the mean of `people`. Among equals (no
        truncated noise lands on a bound) the average error decides.

        Examples
        --------
        >>> compare(Box(0, 120), 1, epsilon=1.0).best().name  # a small change of a wide range
        'ClampedLaplace'
        """
        checked = check_criterion(criterion, self.people)
        return min(self.contenders, key=lambda c: rank(c.error, checked))

    @property
    def beats_the_middle(self) -> bool:
        """Whether any mechanism has less error (by a percent) than the middle of the box.

        Examples
        --------
        >>> compare(Box(0, 200_000), 200_000, epsilon=1.0).beats_the_middle
        False
        >>> compare(Box(0, 200_000), 200_000, epsilon=1.0, people=1000).beats_the_middle
        True
        """
        return self._error(self.contenders[0].error) < _CLEARLY * self._error(self.baseline)

    def reductions(self) -> dict[str, dict[str, float]]:
        """Return by how many percent the average squared error of the first is below the second."""
        errors = {c.name: c.error.average_rmse for c in self.contenders}
        return {
            name: {other: 100 * (1 - (mine / its) ** 2) for other, its in errors.items()}
            for name, mine in errors.items()
        }

    def advice(self) -> str:
        """Say in a sentence or two which mechanism to use, and by how much it is better."""
        first, *rest = self.contenders
        least = self._error(first.error)
        kind = "on average" if self.people is None else f"of the mean of {self.people:,} people"
        text = f"Least error: {first.name} (RMSE {_shown(least)} {kind}"
        if rest:
            gain = 100 * (1 - _ratio(least, self._error(rest[0].error)) ** 2)
            text += f"; {gain:.1f} % less squared error than {rest[0].name}"
        text += ")."
        if not self.beats_the_middle:
            text += (
                f" Nothing here beats publishing the {MIDDLE} whatever the data, which has RMSE "
                f"{_shown(self._error(self.baseline))} and costs no privacy: one output says next "
                "to nothing at this guarantee."
            )
        if first.error.bound_mass > 0.05:
            inside = next(c for c in self.contenders if c.error.bound_mass == 0)
            text += (
                f" Up to {first.error.bound_mass:.0%} of its outputs are the bounds themselves; "
                f"without that: {inside.name} (RMSE {_shown(self._error(inside.error))})."
            )
        return text

    def rows(self) -> list[dict[str, Any]]:
        """Return one dictionary for each mechanism, and one for the middle of the box."""
        entries: list[tuple[str, float | Floats | None, Error, float]] = [
            (c.name, c.mechanism.scale, c.error, c.epsilon) for c in self.contenders
        ]
        entries.append((MIDDLE, None, self.baseline, 0.0))
        entries.sort(key=lambda entry: self._error(entry[2]))
        least = self._error(entries[0][2])
        reductions = {c.name: c.variance_reduction for c in self.contenders}
        return [
            {"mechanism": name, "scale": scale}
            | ({} if self.people is None else {"mean_rmse": error.mean_rmse})
            | {
                "average_rmse": error.average_rmse,
                "worst_rmse": error.worst_rmse,
                "worst_bias": error.worst_bias,
                "bound_mass": error.bound_mass,
                "true_epsilon": epsilon,
                "variance_below_liu_percent": reductions.get(name),
                "mse_above_best_percent": 100 * (_ratio(self._error(error), least) ** 2 - 1),
            }
            for name, scale, error, epsilon in entries
        ]

    def to_frame(self) -> pd.DataFrame:
        """Return the rows as a pandas data frame; needs pandas."""
        with optional():
            import pandas as pd  # noqa: PLC0415 - optional

        return pd.DataFrame(self.rows()).set_index("mechanism")

    def plot(self) -> Figure:
        """Draw the errors and the distributions of the outputs; needs matplotlib."""
        from inbounds.plots.comparison import comparison_figure  # noqa: PLC0415 - optional

        return comparison_figure(self)

    @property
    def guarantee(self) -> str:
        """What every mechanism gives, in words."""
        if self.rho is not None:
            return f"rho={short(self.rho)}"
        return f"epsilon={short(self.epsilon)}, delta={short(self.delta)}"

    def _error(self, error: Error) -> float:
        """Return the error that the rows are ordered by."""
        return error.average_rmse if error.mean_rmse is None else error.mean_rmse

    def _table(self) -> Table:
        numbers = ["average_rmse", "worst_rmse", "worst_bias"]
        headings = ["RMSE", "RMSE, worst", "bias, worst"]
        if self.people is not None:
            numbers, headings = ["mean_rmse", *numbers], ["RMSE of the mean", *headings]
        headings = ["mechanism", "scale", *headings]
        headings += ["at a bound", "true ε", "σ² below Liu", "MSE above best"]
        cells = []
        for row in self.rows():
            liu, scale = row["variance_below_liu_percent"], row["scale"]
            shown = "" if scale is None else short(scale) if np.ndim(scale) else _shown(scale)
            cells.append(
                (
                    *(row["mechanism"], shown, *(_shown(row[key]) for key in numbers)),
                    *(f"{row['bound_mass']:.1%}", f"{row['true_epsilon']:.4g}"),
                    *("" if liu is None else f"{liu:.1f} %",),
                    _excess(row["mse_above_best_percent"]),
                )
            )
        aligned = tuple(range(1, len(headings)))
        return Table(self._title(), tuple(headings), tuple(cells), self.advice(), aligned)

    def _title(self) -> str:
        people = "" if self.people is None else f", people={self.people}"
        return f"{self.domain!r}, {self.sensitivity!r}, {self.guarantee}{people}"

    def __repr__(self) -> str:
        return f"Comparison({self._title()}, best={self.contenders[0].name!r})"


@entry("compare")
def compare(
    domain: Box,
    sensitivity: Sensitivity | Number,
    *,
    epsilon: float | None = None,
    delta: float = 0.0,
    rho: float | None = None,
    people: int | None = None,
) -> Comparison:
    """Calibrate every mechanism to the same guarantee and compare the errors of their outputs.

    Parameters
    ----------
    domain
        The box that values and outputs live in.
    sensitivity
        What one neighbour may change.
    epsilon, delta
        The guarantee. A mechanism that gives pure epsilon gives (epsilon, delta) too.
    rho
        The zero-concentrated guarantee, in place of `epsilon`.
    people
        In local privacy: how many people release one value each. Mechanisms are then ranked by the
        error of the mean of all, by the best function of an output. The mean of `deconvolve`, whose
        interval also covers the bias, comes within about a quarter of it.

    See Also
    --------
    calibrate : The best of them, ready to use.

    Examples
    --------
    >>> from inbounds import PerCoordinate
    >>> result = compare(Box([0, 1], [10, 9]), PerCoordinate([4, 2]), epsilon=1.0)
    >>> result.best().name
    'BoundedGaussian'
    >>> result["ClampedLaplace"].error.average_rmse > result.best().error.average_rmse
    True
    >>> compare(Box(0, 200_000), 200_000, epsilon=1.0, people=100_000).best().name
    'ClampedLaplace'
    """
    guarantee = Guarantee(epsilon, check_delta(delta), rho)
    check_setting(domain)
    sensitivity = as_sensitivity(sensitivity)
    people = check_people(people, domain)
    named = dict(calibrations(domain, sensitivity, guarantee))
    if guarantee.epsilon is not None:
        named |= dict(published(domain, sensitivity, guarantee.epsilon))
    liu = named.get("BoundedGaussian (Liu)")
    contenders = [
        Contender(name, m, Error.of(m, people), _true_epsilon(m, guarantee), _below(m, liu))
        for name, m in named.items()
    ]
    criterion = check_criterion(None, people)
    contenders.sort(key=lambda contender: rank(contender.error, criterion))
    return Comparison(
        domain,
        sensitivity,
        guarantee.epsilon,
        guarantee.delta or 0.0,
        tuple(contenders),
        Error.of_middle(domain, people),
        guarantee.rho,
        people,
    )


def _ratio(error: float, least: float) -> float:
    """Return how many times as large an error is; none is as large as none."""
    return error / least if least else 1.0 if error == 0 else math.inf


def _excess(percent: float) -> str:
    return f"{percent:.1f} %" if percent < 1000 else f"× {_shown(1 + percent / 100)}"


def _shown(number: float) -> str:
    return f"{number:,.0f}" if 1e4 <= abs(number) < 1e12 else f"{number:.4g}"


def _true_epsilon(mechanism: Mechanism, guarantee: Guarantee) -> float:
    if guarantee.rho is not None:
        return mechanism.epsilon
    epsilon, delta = guarantee.pair
    return min(epsilon, mechanism.epsilon_at(delta))


def _below(mechanism: Mechanism, liu: Mechanism | None) -> float | None:
    if liu is None or not isinstance(mechanism, BoundedGaussian):
        return None
    mine, its = (float(np.mean(m.scales**2)) for m in (mechanism, liu))
    return 100 * (1 - mine / its)
