"""A budget that remembers: every release is charged, durably, before its noise is drawn."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from typing import Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from inbounds import _check
from inbounds._column import open_column
from inbounds._entry import warn_if_weak
from inbounds._types import Nested, Number, SeriesLike, SeriesT
from inbounds.accounting.book import Book
from inbounds.accounting.budget import Budget
from inbounds.accounting.chain import text
from inbounds.accounting.cost import Cost
from inbounds.accounting.priced import PricedMechanism
from inbounds.accounting.reader import LedgerReader
from inbounds.errors import ArgumentError, ArgumentTypeError, LedgerError
from inbounds.loss import PrivacyLoss
from inbounds.unit import Unit


class Ledger(LedgerReader):
    """Privacy budgets of datasets, and every charge against them, in a file or on a server.

    Parameters
    ----------
    place
        Path of a SQLite file, or the URL of a PostgreSQL database
        (``postgresql+psycopg://user@host/name``) that several machines share.
    create
        Whether `open` may create the ledger. Pass False for a ledger that is already in use, so
        that its loss is reported at once.

    Raises
    ------
    LedgerError
        If `create` is False and there is no ledger at `place`.
    ArgumentError
        If `place` is neither a path nor the URL of a PostgreSQL database.

    See Also
    --------
    compose : tighter bounds for releases that are planned in advance.
    Unit : which change of the data a budget protects against.

    Guarantees
    ----------
    A charge is on disk before the first random bit of its release is drawn, so a crash between the
    two loses budget, never privacy. Processes, threads and machines that share a ledger cannot
    overdraw it together. The history is append-only, and `verify` with a head that was kept
    elsewhere detects every change to the entries up to that head.

    Notes
    -----
    Releases may be chosen after seeing earlier outputs. A budget of ε or ρ admits a charge if
    the exact sum of all charges is at most that. A budget of (ε, δ) does if Σεᵢ ≤ ε, or δ(ε) ≤ δ
    for Σρᵢ-zCDP, or it is the first charge and its own δ(ε) ≤ δ; but if the first charge stated a
    delta, Σεᵢ ≤ ε and Σδᵢ ≤ δ must hold. The proof is in docs/proofs/composition.md.

    References
    ----------
    R. Rogers, A. Roth, J. Ullman and S. Vadhan (2016). Privacy odometers and filters.

    Examples
    --------
    >>> import tempfile
    >>> import inbounds as ib
    >>> ledger = Ledger(tempfile.mkdtemp() + "/budget.db")
    >>> ledger.open("survey-2026", epsilon=3.0, unit=ib.Unit("replace", "person"))
    >>> m = ib.BoundedLaplace.calibrated(ib.Box(0, 120), 2.5, epsilon=1.0)
    >>> 0 <= ledger.release(m, 41.3, dataset="survey-2026", label="mean age") <= 120
    True
    >>> ledger.remaining("survey-2026")
    Amount(epsilon=2.0)
    """

    def __init__(self, place: str | os.PathLike[str], *, create: bool = True) -> None:
        self._book = Book(place)
        self._create = create
        if not (create or self._book.store.exists()):
            raise LedgerError(f"there is no ledger at {self._book.store.shown}.")

    def open(
        self,
        dataset: str,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        rho: float | None = None,
        unit: Unit | None = None,
        exist_ok: bool = False,
    ) -> None:
        """Give a dataset its budget, which cannot be changed later.

        Parameters
        ----------
        dataset
            A name of at most 200 characters that does not look like that of another dataset. The
            rules are in docs/ledger.md.
        epsilon, delta, rho
            The budget: pure epsilon, epsilon and delta, or rho.
        unit
            The change of the data that the budget protects against. A charge with another unit is
            converted or refused; the sensitivity of a charge without a unit must have been stated
            for this one. By default, the first charge that states a unit sets it for the dataset,
            including the charges before it.
        exist_ok
            Whether the dataset may be open already, with the same budget.

        Raises
        ------
        LedgerError
            If the dataset is open already, or its name looks like another's.
        ArgumentError, ArgumentTypeError
            If the name or the budget is not valid.
        """
        exist_ok = _check.yes_or_no(exist_ok=exist_ok)
        budget = Budget(epsilon, delta, rho, unit)
        warn_if_weak(epsilon=epsilon, delta=delta, rho=rho)
        present = self._book.open(text(dataset=dataset), budget, create=self._create)
        if present is None or (exist_ok and budget in (present, replace(present, unit=None))):
            return
        stated = "" if present.unit is None else f" for {str(present.unit)!r}"
        raise LedgerError(
            f"dataset {dataset!r} is open already, with a budget of {present}{stated}, "
            "which cannot be changed."
        )

    @overload
    def release(
        self,
        mechanism: PricedMechanism,
        value: Number,
        *,
        dataset: str,
        label: str = ...,
        parallel: bool = ...,
        unit: Unit | None = ...,
        **options: Any,
    ) -> float: ...
    @overload
    def release(
        self,
        mechanism: PricedMechanism,
        value: Nested,
        *,
        dataset: str,
        label: str = ...,
        parallel: bool = ...,
        unit: Unit | None = ...,
        **options: Any,
    ) -> NDArray[Any]: ...
    @overload
    def release(
        self,
        mechanism: PricedMechanism,
        value: SeriesT,
        *,
        dataset: str,
        label: str = ...,
        parallel: bool = ...,
        unit: Unit | None = ...,
        **options: Any,
    ) -> SeriesT: ...
    @overload
    def release(
        self,
        mechanism: PricedMechanism,
        value: SeriesLike,
        *,
        dataset: str,
        label: str = ...,
        parallel: bool = ...,
        unit: Unit | None = ...,
        **options: Any,
    ) -> Any: ...
    def release(
        self,
        mechanism: PricedMechanism,
        value: Any,
        *,
        dataset: str,
        label: str = "",
        parallel: bool = False,
        unit: Unit | None = None,
        **options: Any,
    ) -> Any:
        """Charge the dataset, then draw and return private outputs, as ``mechanism.release`` does.

        Each element of `value` is charged as one release; on a box of m coordinates, each row of m
        numbers is. Arguments are checked before anything is charged. The number of releases is
        recorded in the ledger, so it must not be private.

        Parameters
        ----------
        mechanism, value
            As in ``mechanism.release(value)``.
        dataset, label
            The dataset whose budget is charged, and a note for the history. Neither may be private.
        parallel
            Pass True only if no two elements (rows) depend on the same person, and no change of a
            person's data could move them from one element to another. Then all elements together
            are charged as one release.
        unit
            The change of the data that the sensitivity was stated for. By default it is the
            dataset's unit; any other unit is converted to that, or refused.
        **options
            Further keywords of ``mechanism.release``.

        Returns
        -------
        float, array or column
            What ``mechanism.release(value)`` returns.

        Raises
        ------
        BudgetExceededError
            If the budget has no room for the charge. Nothing is charged, and nothing is drawn.
        LedgerError
            If the dataset is unknown, or the ledger cannot be read, verified or written.
        ArgumentError, ArgumentTypeError
            If an argument is not valid, or `unit` cannot be converted. Nothing is charged.
        """
        label = text(label=label)
        if not all(hasattr(mechanism, name) for name in ("domain", "loss", "release")):
            raise ArgumentTypeError.must_be(
                "mechanism",
                "an inbounds mechanism",
                got=type(mechanism).__name__,
                hint="ledger.spend(dataset, loss=mechanism.loss()) charges for any other one.",
            )
        column = open_column(value, "value") if mechanism.domain.is_interval else None
        numbers = _check.private_array(value=column[0] if column else value)
        mechanism.domain.check_shape(numbers, "value")
        if numbers.size == 0:
            raise ArgumentError.must("value", "hold at least one number")
        no_rows = np.empty((0, mechanism.domain.dimension))
        mechanism.release(no_rows, **options)  # draws no bit, but checks the options
        if column:
            column[1](np.zeros(numbers.shape))  # rebuilding must not fail after the charge
        count = numbers.size // mechanism.domain.dimension
        entry = repr(mechanism)
        if parallel and count > 1:
            entry, count = f"{entry} in parallel on {count} parts", 1
        cost = self._book.budget(dataset).cost_of(mechanism, unit)
        self._book.charge(dataset, cost, count, label=label, mechanism=entry)
        outputs = mechanism.release(numbers, **options)
        return column[1](outputs) if column else outputs

    def spend(
        self,
        dataset: str,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        rho: float | None = None,
        loss: PrivacyLoss | None = None,
        label: str = "",
        unit: Unit | None = None,
    ) -> None:
        """Charge for something released elsewhere.

        Parameters
        ----------
        dataset, label
            The dataset whose budget is charged, and a note for the history. Neither may be private.
        epsilon, delta, rho
            What it cost: pure epsilon, epsilon and delta, or rho.
        loss
            What it cost, in place of these numbers.
        unit
            As in `release`. A loss may state its own unit instead.

        Raises
        ------
        BudgetExceededError
            If the budget has no room for the charge. Nothing is charged.
        LedgerError
            If the dataset is unknown, or the ledger cannot be read, verified or written.
        ArgumentError, ArgumentTypeError
            If the cost is not valid, unsuitable for the budget, or cannot be converted.
        """
        cost = Cost.stated(epsilon, delta, rho, loss, unit)
        self._book.charge(dataset, cost, 1, label=text(label=label), mechanism="")

    def close(self) -> None:
        """Close the ledger's file, which is kept open between calls. The next call reopens it."""
        self._book.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[object, ...]:
        """Copy the place alone, so that the copy verifies the history again."""
        return partial(type(self), create=self._create), (self._book.store.place,)
