"""Mechanisms side by side at the same guarantee: their errors, and how far above the limit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from inbounds._check import format_numbers
from inbounds._entry import called
from inbounds._extra import optional
from inbounds._table import Printed, Table
from inbounds._types import Floats
from inbounds.analysis.criterion import Criterion, check_criterion, rank
from inbounds.analysis.error import CLEARLY, ErrorSummary, read_rmse, times_least
from inbounds.analysis.limit import Limit, limit
from inbounds.analysis.overview import LIMIT, MIDDLE, advice, comparison_table, setting
from inbounds.domain import Box
from inbounds.errors import ArgumentError
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.mechanisms.noise_mechanism import scale_of
from inbounds.sensitivity import L2, Sensitivity

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_STEPS = (
    "this step, as the box is nearly a whole number of steps wide, or they have too many digits; "
    "use units in which the step is 1"
)


@dataclass(frozen=True, slots=True)
class Contender:
    """One mechanism calibrated to the guarantee, its error, and the epsilon it really gives."""

    name: str
    mechanism: Mechanism
    error: ErrorSummary
    epsilon: float
    variance_reduction: float | None
    """Percent by which sigma² is below Liu's, for Gaussian noise where Liu's bound applies."""

    @property
    def read_rmse(self) -> float | None:
        """The average RMSE after the best reading of an output, if known; see `denoise`."""
        found = read_rmse(self.mechanism)
        return None if found is None else min(found, self.error.average_rmse)


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Printed):
    """Mechanisms at the same guarantee, side by side. `print` shows the table.

    Attributes
    ----------
    domain, sensitivity, epsilon, delta, rho, people
        The arguments of `compare`; `epsilon` is None if `rho` was given.
    contenders
        Every mechanism that can give the guarantee, the one with the lowest error first.
    baseline
        The error of always publishing the middle of the box. That costs no privacy, so a mechanism
        with a higher error is worse than using no data.

    See Also
    --------
    compare : Makes a comparison.

    Notes
    -----
    The squared error for a value x is Σᵢ E[(Yᵢ − xᵢ)²]/m for the output Y on m coordinates. The
    average error is the root of its mean over values spread evenly over the box, and the worst
    error is the root of its maximum. The middle of an interval of width w has w/√12 and w/2.

    At pure epsilon on an interval, `rows` say how far the average squared error of each mechanism
    is above the least that any mechanism can have: at most that far, as the lower end of `limit` is
    used. The outputs are compared as they are, and as the best reading of one output, `denoise`. If
    an interval has steps, values and outputs are its steps. With more than 1024 steps, the error of
    noise that is wider than a few steps is that before rounding, which hardly matters then.

    Examples
    --------
    >>> import inbounds as ib
    >>> result = ib.compare(ib.Box(0, 120), 30, epsilon=1.0)
    >>> result
    Comparison(..., best='Optimal')
    >>> round(result.baseline.average_rmse, 2), round(result.best().error.average_rmse, 2)
    (34.64, 24.73)
    """

    domain: Box
    sensitivity: Sensitivity
    epsilon: float | None
    delta: float
    contenders: tuple[Contender, ...]
    baseline: ErrorSummary
    rho: float | None = None
    people: int | None = None

    def __getitem__(self, name: str) -> Contender:
        for contender in self.contenders:
            if contender.name == name:
                return contender
        names = ", ".join(contender.name for contender in self.contenders)
        raise KeyError(f"{name!r} is not among {names}")

    @called("best", inside='calibrate takes it; best("bound_mass") never puts mass on a bound.')
    def best(self, criterion: Criterion | None = None) -> Contender:
        """Return the mechanism that is best by one criterion of `calibrate`.

        By default that is the average error, or the error of the mean of `people`. The average
        error breaks ties, as for "bound_mass": truncated noise never puts mass on a bound.

        Examples
        --------
        >>> import inbounds as ib
        >>> result = ib.compare(ib.Box(0, 120), 30, epsilon=1.0)
        >>> result.best().name, result.best("worst_rmse").name
        ('Optimal', 'Optimal (worst)')
        """
        checked = check_criterion(criterion, self.people)
        return min(self.contenders, key=lambda c: rank(c.error, checked))

    @property
    def beats_the_middle(self) -> bool:
        """Whether any mechanism has less error (by a percent) than the middle of the box.

        Examples
        --------
        >>> import inbounds as ib
        >>> ib.compare(ib.Box(0, 200_000), 200_000, epsilon=0.1).beats_the_middle
        False
        >>> ib.compare(ib.Box(0, 200_000), 200_000, epsilon=0.1, people=10_000).beats_the_middle
        True
        """
        return self.contenders[0].error.rmse < CLEARLY * self.baseline.rmse

    @property
    def limit(self) -> Limit | None:
        """The least average error that any mechanism can have, if a certified limit is known.

        That is so at pure epsilon on an interval, and not for (epsilon, delta), for rho, for
        several coordinates, or for the mean of many people; `why_no_limit` says it. The limit is
        computed when it is first used, which may take some seconds.

        Examples
        --------
        >>> import inbounds as ib
        >>> result = ib.compare(ib.Box(0, 120), 30, epsilon=1.0)
        >>> result.limit.rmse[0] <= result.best().error.average_rmse <= 1.01 * result.limit.rmse[0]
        True
        """
        if self._unknown() is not None or self.epsilon is None:
            return None
        change = self.sensitivity.within(self.domain.widths).diameter
        return _limit(self.domain, change, self.epsilon)

    @property
    def why_no_limit(self) -> str | None:
        """Why `limit` is None, as a sentence, or None if there is a limit.

        Examples
        --------
        >>> import inbounds as ib
        >>> ib.compare(ib.Box(0, 1), 1, epsilon=1.0, delta=1e-6).why_no_limit
        'No certified limit is known for (epsilon, delta).'
        """
        if self.limit is not None:
            return None
        return f"No certified limit is known for {self._unknown() or _STEPS}."

    def _unknown(self) -> str | None:
        """Return for what no limit is known, whatever the box is."""
        if not self.domain.is_interval:
            return "several coordinates"
        if self.people:
            return "the mean of many people"
        if self.epsilon is None:
            return "zCDP"
        return "(epsilon, delta)" if self.delta else None

    def reductions(self) -> dict[str, dict[str, float]]:
        """Return, as ``[a][b]``, how many percent the average squared error of a is below b's."""
        errors = {c.name: c.error.average_rmse for c in self.contenders}
        return {
            name: {other: 100 * (1 - (mine / its) ** 2) for other, its in errors.items()}
            for name, mine in errors.items()
        }

    def advice(self) -> str:
        """Return a sentence or two about which mechanism to use, and how much better it is."""
        return advice(self)

    def rows(self) -> list[dict[str, Any]]:
        """Return the numbers of the table as dictionaries, one for each of its rows.

        Returns
        -------
        list of dict
            A dictionary for each mechanism and for the middle of the box, those with the lowest
            error first, and then one for the limit, if it is known. What does not apply is None.
            ``mechanism`` is the name, and ``scale`` that of the noise. ``average_rmse``,
            ``worst_rmse``, ``worst_bias``, ``bound_mass`` and, with `people`, ``mean_rmse`` are the
            criteria of `calibrate`, in the units of the box; ``bound_mass`` is a probability.
            ``true_epsilon`` is the epsilon that the mechanism really gives.
            ``variance_below_liu_percent`` is how far the sigma² of a Gaussian is below that of
            Liu's rule, and ``mse_above_best_percent`` how far a squared error is above the lowest
            one here. With a limit, ``mse_above_limit_percent`` is how far it is above that, and
            ``read_mse_above_limit_percent`` the same after `Mechanism.denoise`.

        See Also
        --------
        to_frame : the same as a data frame.

        Examples
        --------
        >>> import inbounds as ib
        >>> rows = ib.compare(ib.Box(0, 120), 30, epsilon=1.0).rows()
        >>> rows[0]["mechanism"], round(rows[0]["average_rmse"], 2), rows[-1]["mechanism"]
        ('Optimal', 24.73, 'limit')
        """
        entries: list[tuple[str, float | Floats | None, ErrorSummary, float]] = [
            (c.name, scale_of(c.mechanism), c.error, c.epsilon) for c in self.contenders
        ]
        entries.append((MIDDLE, None, self.baseline, 0.0))
        entries.sort(key=lambda entry: entry[2].rmse)
        least = entries[0][2].rmse
        reductions = {c.name: c.variance_reduction for c in self.contenders}
        excesses = self._excesses()
        rows: list[dict[str, Any]] = [
            {"mechanism": name, "scale": scale}
            | ({} if self.people is None else {"mean_rmse": error.mean_rmse})
            | {
                "average_rmse": error.average_rmse,
                "worst_rmse": error.worst_rmse,
                "worst_bias": error.worst_bias,
                "bound_mass": error.bound_mass,
                "true_epsilon": epsilon,
                "variance_below_liu_percent": reductions.get(name),
                "mse_above_best_percent": _percent_above(error.rmse, least),
            }
            | excesses.get(name, {})
            for name, scale, error, epsilon in entries
        ]
        if self.limit is None:
            return rows
        limit_row = dict.fromkeys(rows[0]) | {"mechanism": LIMIT, "true_epsilon": self.epsilon}
        return [*rows, limit_row | {"average_rmse": self.limit.rmse[0]}]

    def _excesses(self) -> dict[str, dict[str, float | None]]:
        """Return, for each row, how many percent its squared error is above the limit."""
        if self.limit is None:
            return {}
        middle, least = self.baseline.average_rmse, self.limit.rmse[0]
        errors: dict[str, tuple[float, float | None]] = {
            c.name: (c.error.average_rmse, c.read_rmse) for c in self.contenders
        }
        return {
            name: {
                "mse_above_limit_percent": _percent_above(raw, least),
                "read_mse_above_limit_percent": (
                    None if read is None else _percent_above(read, least)
                ),
            }
            for name, (raw, read) in {**errors, MIDDLE: (middle, middle)}.items()
        }

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
            return f"rho={format_numbers(self.rho)}"
        return f"epsilon={format_numbers(self.epsilon)}, delta={format_numbers(self.delta)}"

    def _table(self) -> Table:
        return comparison_table(self)

    def __repr__(self) -> str:
        return f"Comparison({setting(self)}, best={self.contenders[0].name!r})"


def _percent_above(error: float, least: float) -> float:
    """Return by how many percent a squared error is above another."""
    times = times_least(error, least)
    return 100 * (times * times - 1)  # infinite where the power would raise an OverflowError


@lru_cache(maxsize=64)
def _limit(domain: Box, change: float, epsilon: float) -> Limit | None:
    """Return the limit, or None if none is known for the step of the box."""
    try:
        return limit(domain, L2(change), epsilon=epsilon)
    except ArgumentError:  # see `_STEPS`
        return None
