"""Where a release is charged, and which change of the table it hides."""

from __future__ import annotations

from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.unit import Adjacency, Unit


def check_ledger(ledger: object, dataset: object, label: object, method: str) -> None:
    """Refuse a ledger without a dataset, the reverse, and a label without both.

    Parameters
    ----------
    ledger, dataset, label
        The arguments of a release.
    method
        The method of the ledger that will be called.

    Examples
    --------
    >>> check_ledger(None, "survey-2026", None, "release")
    Traceback (most recent call last):
    inbounds.errors.ArgumentError: ledger must be given together with dataset.
    """
    if (ledger is None) != (dataset is None):
        missing, other = ("ledger", "dataset") if ledger is None else ("dataset", "ledger")
        raise ArgumentError.must_be(missing, f"given together with {other}")
    if ledger is None and label is not None:
        raise ArgumentError.must_be("label", "given only together with ledger and dataset")
    if ledger is not None and not hasattr(ledger, method):
        raise ArgumentTypeError.must_be("ledger", "a Ledger", got=type(ledger).__name__)


def unit_of(adjacency: Adjacency, rows: int, person: object) -> Unit:
    """Return which change of the table a release hides; `person` is the column of ids, if any.

    Examples
    --------
    >>> unit_of("replace", 3, None), unit_of("replace", 3, "who")
    (Unit('replace', 'row', 3), Unit('replace', 'person'))
    """
    return Unit(adjacency, "row", rows) if person is None else Unit(adjacency, "person")
