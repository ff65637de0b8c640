"""A budget that remembers: every release is charged, durably, before its noise is drawn."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from typing import Any, overload

from numpy.typing import NDArray

from inbounds import _check
from inbounds._entry import called, warn_if_weak
from inbounds._types import Labels, Nested, Number, SeriesLike, SeriesT
from inbounds.accounting.book import Book
from inbounds.accounting.budget import Budget
from inbounds.accounting.chain import text
from inbounds.accounting.cost import Cost
from inbounds.accounting.offer import asked_of, checked_release, stated_amount
from inbounds.accounting.priced import PricedMechanism, PricedResponse
from inbounds.accounting.reader import LedgerReader
from inbounds.accounting.user import check_user
from inbounds.errors import LedgerError
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
    user
        Who asks for releases, as recorded with each charge. By default, it is the name of the
        operating system's account. It is a note that nothing proves, and anyone who can read the
        ledger can read it.

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
    the exact sum of all charges is at most that. A budget of (ε, δ) does if Σεᵢ ≤ ε, or if
    Σ min(εᵢ, αρᵢ) is at most what gives (ε, δ) for one of a few orders α, or it is the first charge
    and its own δ(ε) ≤ δ; but if the first charge stated a delta, Σεᵢ ≤ ε and Σδᵢ ≤ δ must hold. So
    no release costs more than its pure ε. Proof: docs/proofs/composition.md, theorems 11 to 14.

    References
    ----------
    R. Rogers, A. Roth, J. Ullman and S. Vadhan (2016). Privacy odometers and filters.

    Examples
    --------
    >>> import tempfile
    >>> import inbounds as ib
    >>> ledger = ib.Ledger(tempfile.mkdtemp() + "/budget.db")
    >>> ledger.open("survey-2026", epsilon=3.0, unit=ib.Unit("replace", "person"))
    >>> m = ib.BoundedLaplace.calibrated(ib.Box(0, 120), 2.5, epsilon=1.0)
    >>> 0 <= ledger.release(m, 41.3, dataset="survey-2026", label="mean age") <= 120
    True
    >>> round(ledger.remaining("survey-2026").epsilon, 9)
    2.0
    """

    def __init__(
        self, place: str | os.PathLike[str], *, create: bool = True, user: str | None = None
    ) -> None:
        self._user = None if user is None else check_user(user)
        self._book = Book(place)
        self._create = create
        if not (create or self._book.store.exists()):
            raise LedgerError(f"there is no ledger at {self._book.store.shown}.")

    @called("open")
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
        epsilon
            The epsilon of the budget. It is pure epsilon, unless a `delta` is given.
        delta
            The delta of the budget, which goes with `epsilon`.
        rho
            The rho of the budget, in place of `epsilon`.
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

        Examples
        --------
        >>> import tempfile
        >>> import inbounds as ib
        >>> ledger = ib.Ledger(tempfile.mkdtemp() + "/budget.db")
        >>> ledger.open("survey", epsilon=3.0, unit=ib.Unit("replace", "person"))
        >>> print(ledger.remaining("survey"))
        epsilon=3.0
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
        user: str | None = ...,
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
        user: str | None = ...,
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
        user: str | None = ...,
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
        user: str | None = ...,
        **options: Any,
    ) -> Any: ...
    @overload
    def release(
        self, mechanism: PricedResponse, value: Labels, *, dataset: str, **options: Any
    ) -> Any: ...
    def release(
        self,
        mechanism: PricedMechanism | PricedResponse,
        value: Any,
        *,
        dataset: str,
        label: str = "",
        parallel: bool = False,
        unit: Unit | None = None,
        user: str | None = None,
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
        dataset
            The dataset whose budget is charged. Its name must not be private.
        label
            A note for the history, which must not be private.
        parallel
            Pass True, so that all elements (rows) are charged as one release, only if no two depend
            on the same person, and no change of a person's data could move them between elements.
        unit
            The change of the data that the sensitivity was stated for. By default it is the
            dataset's unit; any other unit is converted to that, or refused.
        user
            Who asks for it. By default it is the user of this `Ledger`.
        **options
            Further keywords of ``mechanism.release``.

        Returns
        -------
        float, level, array or column
            What ``mechanism.release(value)`` returns.

        Raises
        ------
        BudgetExceededError
            If the budget has no room for the charge. Nothing is charged, and nothing is drawn.
        LedgerError
            If the dataset is unknown, or the ledger cannot be read, verified or written.
        ArgumentError, ArgumentTypeError
            If an argument is not valid, or `unit` cannot be converted. Nothing is charged.

        Examples
        --------
        >>> import tempfile
        >>> import inbounds as ib
        >>> ledger = ib.Ledger(tempfile.mkdtemp() + "/budget.db")
        >>> ledger.open("survey", epsilon=3.0)
        >>> m = ib.BoundedLaplace.calibrated(ib.Box(0, 120), 2.5, epsilon=1.0)
        >>> 0 <= ledger.release(m, 41.3, dataset="survey", label="mean age") <= 120
        True
        >>> print(ledger.remaining("survey"))
        epsilon=2.0
        """
        label, user = text(label=label), self._user if user is None else check_user(user)
        offer = checked_release(mechanism, value, options)
        entry, count = repr(mechanism), offer.count
        if parallel and count > 1:
            entry, count = f"{entry} in parallel on {count} parts", 1
        notes: Any = {"label": label, "mechanism": entry, "asked": asked_of(mechanism)}
        cost = self._book.budget(dataset).cost_of(mechanism, unit)
        self._book.charge(dataset, cost, count, **notes, user=user)
        return offer.rebuilt(mechanism.release(offer.values, **options))

    @called("spend")
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
        user: str | None = None,
    ) -> None:
        """Charge for something released elsewhere.

        Parameters
        ----------
        dataset, label, unit, user
            As in `release`. A loss may state its own unit instead.
        epsilon
            What it cost in epsilon, which is pure epsilon, unless a `delta` is given.
        delta
            The delta that goes with `epsilon`.
        rho
            What it cost in rho, in place of `epsilon`.
        loss
            What it cost, in place of these numbers.

        Raises
        ------
        BudgetExceededError
            If the budget has no room for the charge. Nothing is charged.
        LedgerError
            If the dataset is unknown, or the ledger cannot be read, verified or written.
        ArgumentError, ArgumentTypeError
            If the cost is not valid, unsuitable for the budget, or cannot be converted.

        Examples
        --------
        >>> import tempfile
        >>> import inbounds as ib
        >>> ledger = ib.Ledger(tempfile.mkdtemp() + "/budget.db")
        >>> ledger.open("survey", epsilon=3.0)
        >>> ledger.spend("survey", epsilon=0.5, label="published elsewhere")
        >>> ledger.spend("survey", epsilon=2.6)
        Traceback (most recent call last):
        inbounds.errors.BudgetExceededError: dataset 'survey' has epsilon=2.5 left of ...
        """
        cost = Cost.stated(epsilon, delta, rho, loss, unit)
        asked = None if loss is not None else stated_amount(epsilon, delta, rho)
        notes: Any = {"label": text(label=label), "mechanism": "", "asked": asked}
        user = self._user if user is None else check_user(user)
        self._book.charge(dataset, cost, 1, **notes, user=user)

    def __reduce__(self) -> tuple[object, ...]:
        """Copy the place alone, so that the copy verifies the history again."""
        copy = partial(type(self), create=self._create, user=self._user)
        return copy, (self._book.store.place,)
