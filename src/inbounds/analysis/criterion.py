"""Which error is to be low, and the arguments that say so."""

from __future__ import annotations

from typing import Literal

from inbounds import _check
from inbounds.analysis.error import ErrorSummary
from inbounds.domain import Box
from inbounds.errors import ArgumentError
from inbounds.mechanisms.argument import check_box

Criterion = Literal["average_rmse", "worst_rmse", "worst_bias", "bound_mass", "mean_rmse"]
CRITERIA: tuple[Criterion, ...] = (
    *("average_rmse", "worst_rmse", "worst_bias", "bound_mass"),
    "mean_rmse",
)

_MOST_PEOPLE = 10**12  # beyond that, doubles cannot tell the bias from rounding


def rank(error: ErrorSummary, criterion: Criterion) -> tuple[float, float]:
    """Return the key that sorts errors by a criterion; the average error breaks ties.

    Examples
    --------
    >>> rank(
    ...     ErrorSummary(worst_rmse=3.0, average_rmse=2.0, worst_bias=1.0, bound_mass=0.0),
    ...     "bound_mass",
    ... )
    (0.0, 2.0)
    """
    return getattr(error, criterion), error.average_rmse


def check_setting(domain: object) -> None:
    """Refuse anything but a box, and boxes too narrow or too wide for errors to be compared."""
    check_box(domain)
    widths = domain.widths  # type: ignore[attr-defined]
    if not (widths.min() > 1e-100 and widths.max() < 1e100):
        requirement = "have widths between 1e-100 and 1e100 to be compared"
        raise ArgumentError.must("domain", requirement)


def check_people(people: object, domain: Box) -> int | None:
    """Return the number of people as an integer, or None if it is not given."""
    if people is None:
        return None
    number = _check.whole(1, _MOST_PEOPLE, people=people)
    if not domain.is_interval:
        raise ArgumentError.must_be(
            "people",
            "left out on a box of several coordinates",
            hint="compare one interval at a time.",
        )
    return number


def check_criterion(criterion: object, people: int | None) -> Criterion:
    """Return the criterion; by default the error of one output, or of a mean over `people`."""
    if criterion is None:
        return "average_rmse" if people is None else "mean_rmse"
    checked: Criterion = _check.one_of(CRITERIA, criterion=criterion)  # type: ignore[assignment]
    if checked == "mean_rmse" and people is None:
        raise ArgumentError.must("criterion", "not be 'mean_rmse' unless people is given")
    return checked
