"""Local privacy: what a mean over many people is worth, who release one value each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inbounds.analysis.error import ErrorSummary


def many(error: ErrorSummary, people: int | None) -> dict[str, Any] | None:
    """Return the errors of a mean over many people, or None if the question is about one output.

    Parameters
    ----------
    error
        The errors of the mechanism, computed for that many people.
    people
        Their number, or None.

    Returns
    -------
    dict or None
        ``mean_rmse`` is the error of the mean as it is read back from the outputs. ``plain_bias``
        is how far the plain average of the outputs can be off, however many people there are: noise
        that stays in bounds pulls every output towards the middle.

    Examples
    --------
    >>> import inbounds as ib
    >>> from inbounds.analysis.error import ErrorSummary
    >>> m = ib.Window(ib.Box(0, 120), 120, epsilon=1.0)
    >>> numbers = many(ErrorSummary.of(m, 10_000), 10_000)
    >>> numbers["count"], round(numbers["mean_rmse"], 1), round(numbers["plain_bias"])
    (10000, 1.2, 45)
    """
    if people is None:
        return None
    return {"count": people, "mean_rmse": error.mean_rmse, "plain_bias": error.worst_bias}
