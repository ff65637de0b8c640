"""Every bounded mechanism at the same guarantee, and which of them errs least."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from inbounds import _check
from inbounds._check import short
from inbounds._extra import optional
from inbounds.analysis.error import Error
from inbounds.domain import Box
from inbounds.errors import ArgumentError
from inbounds.mechanisms.bounded_gaussian import BoundedGaussian
from inbounds.mechanisms.bounded_laplace import BoundedLaplace
from inbounds.mechanisms.clamped_gaussian import ClampedGaussian
from inbounds.mechanisms.clamped_laplace import ClampedLaplace
from inbounds.mechanisms.guarantee import check_box
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.sensitivity import Sensitivity, as_sensitivity

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure
    from rich.table import Table

Criterion = Literal["average_rmse", "worst_rmse", "worst_bias", "bound_mass"]
CRITERIA: tuple[Criterion, ...] = ("average_rmse", "worst_rmse", "worst_bias", "bound_mass")


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
class Comparison:
    """Mechanisms at the same guarantee, side by side. `print` shows the table.

    Attributes
    ----------
    domain, sensitivity, epsilon, delta
        What was asked for.
    contenders
        Every mechanism that can give it, the least average error first.
    """

    domain: Box
    sensitivity: Sensitivity
    epsilon: float
    delta: float
    contenders: tuple[Contender, ...]

    def __getitem__(self, name: str) -> Contender:
        for contender in self.contenders:
            if contender.name == name:
                return contender
        names = ", ".join(contender.name for contender in self.contenders)
        raise KeyError(f"{name!r} is not among {names}")

    def best(self, criterion: Criterion = "average_rmse") -> Contender:
        """Return the mechanism that is best by one criterion.

        Among equals by it (no truncated noise lands on a bound), the least average error decides.

        Examples
        --------
        >>> compare(Box(0, 120), 1, epsilon=1.0).best().name  # a small change of a wide range
        'ClampedLaplace'
        """
        criterion = _check.one_of(CRITERIA, criterion=criterion)  # type: ignore[assignment]
        return min(
            self.contenders, key=lambda c: (getattr(c.error, criterion), c.error.average_rmse)
        )

    def reductions(self) -> dict[str, dict[str, float]]:
        """Return by how many percent the average squared error of the first is below the second."""
        errors = {c.name: c.error.average_rmse for c in self.contenders}
        return {
            name: {other: 100 * (1 - (mine / its) ** 2) for other, its in errors.items()}
            for name, mine in errors.items()
        }

    def advice(self) -> str:
        """Say in a sentence which mechanism to use, and by how much it is better."""
        first, *rest = self.contenders
        text = f"Least error: {first.name} (RMSE {first.error.average_rmse:.4g} on average"
        if rest:
            gain = self.reductions()[first.name][rest[0].name]
            text += f"; {gain:.1f} % less squared error than {rest[0].name}"
        text += ")."
        if first.error.bound_mass > 0.05:
            inside = min(
                (c for c in self.contenders if c.error.bound_mass == 0),
                key=lambda c: c.error.average_rmse,
            )
            text += (
                f" Up to {first.error.bound_mass:.0%} of its answers are the bounds themselves; "
                f"without that: {inside.name} (RMSE {inside.error.average_rmse:.4g})."
            )
        return text

    def rows(self) -> list[dict[str, Any]]:
        """Return one dictionary a mechanism: what the table and the data frame show."""
        least = self.contenders[0].error.average_rmse
        return [
            {
                "mechanism": c.name,
                "scale": c.mechanism._scale,
                "average_rmse": c.error.average_rmse,
                "worst_rmse": c.error.worst_rmse,
                "worst_bias": c.error.worst_bias,
                "bound_mass": c.error.bound_mass,
                "true_epsilon": c.epsilon,
                "variance_below_liu_percent": c.variance_reduction,
                "mse_above_best_percent": 100 * ((c.error.average_rmse / least) ** 2 - 1),
            }
            for c in self.contenders
        ]

    def to_frame(self) -> pd.DataFrame:
        """Return the rows as a pandas data frame."""
        with optional():
            import pandas as pd  # noqa: PLC0415 - optional

        return pd.DataFrame(self.rows()).set_index("mechanism")

    def plot(self) -> Figure:
        """Draw the errors and the laws of the answers; needs matplotlib."""
        from inbounds.plots.comparison import comparison_figure  # noqa: PLC0415 - optional

        return comparison_figure(self)

    def __rich__(self) -> Table:
        with optional():
            from rich.table import Table  # noqa: PLC0415 - optional

        table = Table(title=self._title(), caption=self.advice())
        headings = (
            *("scale", "RMSE", "RMSE, worst", "bias, worst"),
            *("at a bound", "true ε", "σ² below Liu", "MSE above best"),
        )
        table.add_column("mechanism", no_wrap=True)
        for heading in headings:
            table.add_column(heading, justify="right")
        for row in self.rows():
            liu = row["variance_below_liu_percent"]
            table.add_row(
                row["mechanism"],
                f"{row['scale']:.4g}" if np.ndim(row["scale"]) == 0 else short(row["scale"]),
                *(f"{row[key]:.4g}" for key in ("average_rmse", "worst_rmse", "worst_bias")),
                f"{row['bound_mass']:.1%}",
                f"{row['true_epsilon']:.4g}",
                "" if liu is None else f"{liu:.1f} %",
                f"{row['mse_above_best_percent']:.1f} %",
            )
        return table

    def _title(self) -> str:
        guarantee = f"epsilon={short(self.epsilon)}, delta={short(self.delta)}"
        return f"{self.domain!r}, {self.sensitivity!r}, {guarantee}"

    def __str__(self) -> str:
        with optional():
            from rich.console import Console  # noqa: PLC0415 - optional

        text = io.StringIO()
        Console(file=text, width=120).print(self)
        return text.getvalue()

    def __repr__(self) -> str:
        return f"Comparison({self._title()}, best={self.contenders[0].name!r})"


def compare(
    domain: Box, sensitivity: Sensitivity | float, *, epsilon: float, delta: float = 0.0
) -> Comparison:
    """Calibrate every mechanism to the same guarantee and compare the errors of their answers.

    Parameters
    ----------
    domain
        The box that values and answers live in.
    sensitivity
        What one neighbour may change.
    epsilon, delta
        The guarantee. A mechanism that gives pure epsilon gives (epsilon, delta) too.

    Examples
    --------
    >>> from inbounds import PerCoordinate
    >>> result = compare(Box([0, 1], [10, 9]), PerCoordinate([4, 2]), epsilon=1.0)
    >>> result.best().name
    'BoundedGaussian'
    >>> result["ClampedLaplace"].error.average_rmse > result.best().error.average_rmse
    True
    """
    check_box(domain)
    sensitivity = as_sensitivity(sensitivity)
    epsilon = _check.within(1e-100, 1e100, epsilon=_check.positive(epsilon=epsilon))
    delta = _check.not_negative(delta=delta)
    if delta >= 1:
        raise ArgumentError(f"delta must be below 1, got delta={delta!r}.")
    if not (domain.widths.min() > 1e-100 and domain.widths.max() < 1e100):
        raise ArgumentError("domain must have widths between 1e-100 and 1e100 to be compared.")
    named = dict(calibrations(domain, sensitivity, epsilon, delta))
    liu = named.get("BoundedGaussian (Liu)")
    contenders = [
        Contender(name, m, Error.of(m), min(epsilon, epsilon_at(m, delta)), _below(m, liu))
        for name, m in named.items()
    ]
    contenders.sort(key=lambda contender: contender.error.average_rmse)
    return Comparison(domain, sensitivity, epsilon, delta, tuple(contenders))


def calibrations(
    box: Box, sensitivity: Sensitivity, epsilon: float, delta: float
) -> Iterator[tuple[str, Mechanism]]:
    """Yield the name and the mechanism, calibrated, of all that can give the guarantee."""
    if delta > 0:
        yield (
            "BoundedGaussian",
            BoundedGaussian.calibrated(box, sensitivity, epsilon=epsilon, delta=delta),
        )
    else:
        yield "BoundedGaussian", BoundedGaussian.calibrated(box, sensitivity, epsilon=epsilon)
    paper = BoundedGaussian.calibrated(box, sensitivity, epsilon=epsilon, method="paper")
    yield "BoundedGaussian (paper)", paper
    if box.dimension == 1 or sensitivity.has_caps:
        liu = BoundedGaussian.calibrated(box, sensitivity, epsilon=epsilon, method="liu")
        yield "BoundedGaussian (Liu)", liu
    yield "BoundedLaplace", BoundedLaplace.calibrated(box, sensitivity, epsilon=epsilon)
    yield "ClampedLaplace", ClampedLaplace.calibrated(box, sensitivity, epsilon=epsilon)
    if delta > 0 or box.dimension == 1:
        clamped = ClampedGaussian.calibrated(
            box,
            sensitivity,
            epsilon=epsilon,
            delta=delta,
            method="exact" if box.dimension == 1 else "analytic",
        )
        yield "ClampedGaussian", clamped


def _below(mechanism: Mechanism, liu: Mechanism | None) -> float | None:
    if liu is None or not isinstance(mechanism, BoundedGaussian):
        return None
    mine, its = (float(np.mean(m._scales**2)) for m in (mechanism, liu))
    return 100 * (1 - mine / its)


def epsilon_at(mechanism: Mechanism, delta: float) -> float:
    """Return the smallest epsilon, to a relative 1e-6, that the mechanism gives at `delta`."""
    high = mechanism.epsilon
    if delta == 0 or mechanism.delta(0.0) <= delta:
        return high if delta == 0 else 0.0
    low = 0.0
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if mechanism.delta(middle) <= delta else (middle, high)
    return high
