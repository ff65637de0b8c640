"""The charge for values that are released row by row."""

from __future__ import annotations

from typing import Any

from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.unit import Unit

ROW = Unit("replace", "row")
"""What a local release hides: any change of one row."""


def check_ledger(estimator: Any) -> None:
    """Refuse a ledger without a dataset, the reverse, and a label without both.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> check_ledger(SimpleNamespace(ledger=None, dataset="survey", label=None))
    Traceback (most recent call last):
    inbounds.errors.ArgumentError: ledger must be given together with dataset.
    """
    ledger, dataset = estimator.ledger, estimator.dataset
    if (ledger is None) != (dataset is None):
        missing, other = ("ledger", "dataset") if ledger is None else ("dataset", "ledger")
        raise ArgumentError.must_be(missing, f"given together with {other}")
    if ledger is None and estimator.label is not None:
        raise ArgumentError.must_be("label", "given only together with ledger and dataset")
    if ledger is not None and not hasattr(ledger, "release"):
        raise ArgumentTypeError.must_be("ledger", "a Ledger", got=type(ledger).__name__)


def label_of(estimator: Any, about: str) -> str | None:
    """Return the label of a charge, which says by default what was released; None without ledger.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> label_of(SimpleNamespace(ledger="any", label=None), "3 features")
    'SimpleNamespace: 3 features'
    """
    if estimator.ledger is None or estimator.label is not None:
        label: str | None = estimator.label
        return label
    return f"{type(estimator).__name__}: {about}"


def release_rows(estimator: Any, mechanism: Any, values: Any, about: str) -> Any:
    """Release rows at the cost of one, after a charge if there is a ledger.

    Parameters
    ----------
    estimator
        Has a ``ledger``, a ``dataset`` and a ``label``.
    mechanism, values
        What releases each row at once, and one row for each person.
    about
        What is released, for the label.
    """
    if estimator.ledger is None:
        return mechanism.release(values)
    label, dataset = label_of(estimator, about), estimator.dataset
    return estimator.ledger.release(
        mechanism, values, dataset=dataset, label=label, parallel=True, unit=ROW
    )
