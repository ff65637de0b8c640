"""Statistics of a recovered distribution by their names, and what is known about each of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from inbounds import _check
from inbounds._types import Floats
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.recovery.capital import ProvedMean
from inbounds.recovery.compatible import Compatible
from inbounds.recovery.mean import Readings
from inbounds.recovery.stairs import Stairs

STATISTICS = ("mean", "variance", "median")
Summary = Literal["mean", "variance", "median"] | float
"""A statistic by its name, or a quantile by its level."""


def statistic_of(stairs: Stairs, statistic: Summary) -> float:
    """Return a statistic of a distribution.

    Examples
    --------
    >>> stairs = Stairs(np.array([0.0, 1.0, 2.0]), np.array([0.5, 0.5]), np.zeros(2), None)
    >>> statistic_of(stairs, "mean"), statistic_of(stairs, 0.25)
    (1.0, 0.5)
    """
    if not isinstance(statistic, str):
        return float(stairs.quantile(checked_levels(statistic)))
    if statistic == "median":
        return float(stairs.quantile(np.asarray(0.5)))
    return stairs.mean if statistic == "mean" else stairs.variance


def resampled_statistics(statistic: Summary, resamples: Sequence[Stairs]) -> Floats:
    """Return a statistic of each distribution of a bootstrap, of which there must be two.

    Examples
    --------
    >>> stairs = Stairs(np.array([0.0, 1.0, 2.0]), np.array([0.5, 0.5]), np.zeros(2), None)
    >>> resampled_statistics("mean", [stairs, stairs]).tolist()
    [1.0, 1.0]
    """
    if isinstance(statistic, str):
        _check.one_of(STATISTICS, statistic=statistic)
    if len(resamples) < 2:
        hint = "use deconvolve(..., bootstrap=200)."
        raise ArgumentError.must_be("bootstrap", "at least 2 for this statistic", hint=hint)
    return np.array([statistic_of(stairs, statistic) for stairs in resamples])


def proved_mean(statistic: Summary, readings: Readings | None, mechanism: Mechanism) -> ProvedMean:
    """Return the evidence for a proved interval, or say why there is none.

    Examples
    --------
    >>> import inbounds as ib
    >>> proved_mean("median", None, ib.Window(ib.Box(0, 1), 1, epsilon=1.0))
    Traceback (most recent call last):
    inbounds.errors.ArgumentError: proved must be False for statistics other than the mean, got
    proved=True.
    """
    proved = None if readings is None else readings.proved
    if is_mean(statistic) and proved is not None:
        return proved
    requirement, hint = "False for statistics other than the mean", None
    if is_mean(statistic):
        requirement = f"False, as no bound on the bias of {mechanism!r} is proved"
        hint = 'use Window, Optimal(..., objective="unbiased") or ClampedLaplace without a step.'
    raise ArgumentError.must_be("proved", requirement, got="proved=True", hint=hint)


def compatible_interval(
    compatible: Compatible, statistic: Summary, stairs: Stairs, mean: float, level: float
) -> tuple[float, float]:
    """Return the interval of a statistic other than the mean; it holds the estimate.

    Examples
    --------
    >>> import inbounds as ib
    >>> from inbounds.recovery.cells import Cells
    >>> from inbounds.recovery.plausible import Plausible
    >>> m = ib.Window(ib.Box(0, 1, step=1), 1, epsilon=4.0)
    >>> cells = Cells.of(m, 64)
    >>> found = Plausible.of(m, cells, cells.count(m.release([0] * 300)))
    >>> stairs = Stairs(cells.edges, np.array([1.0, 0.0]), np.zeros(2), cells.points)
    >>> compatible_interval(found, "median", stairs, 0.0, 0.999999)[0]
    0.0
    """
    estimate = statistic_of(stairs, statistic)
    if statistic == "variance":
        low, high = compatible.variance(mean, level)
    else:
        q = 0.5 if isinstance(statistic, str) else float(checked_levels(statistic))
        low, high = compatible.quantile(q, level)
    return min(low, estimate), max(high, estimate)


def is_mean(statistic: Summary) -> bool:
    """Tell whether a statistic is the mean, which does not come from the distribution.

    Examples
    --------
    >>> is_mean("mean"), is_mean(0.5)
    (True, False)
    """
    return isinstance(statistic, str) and statistic == "mean"


def checked_levels(q: Any) -> Floats:
    """Return levels of quantiles, all from 0 to 1.

    Examples
    --------
    >>> checked_levels(0.5)
    array(0.5)
    """
    level = _check.public_values(q=q)
    if not ((level >= 0) & (level <= 1)).all():
        raise ArgumentError.must_be("q", "between 0 and 1")
    return level


def check_order(level: object) -> None:
    """Refuse a statistic in the place of a level.

    Examples
    --------
    >>> check_order("mean")
    Traceback (most recent call last):
    inbounds.errors.ArgumentTypeError: level must be a number, got level='mean'.
    Hint: the statistic comes first, as in interval('mean', 0.95).
    """
    if isinstance(level, str):
        hint = "the statistic comes first, as in interval('mean', 0.95)."
        raise ArgumentTypeError.must_be("level", "a number", got=f"level={level!r}", hint=hint)
