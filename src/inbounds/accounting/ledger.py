"""A budget that remembers: every release is charged, durably, before its noise is drawn."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from inbounds import _check
from inbounds._column import open_column
from inbounds._entry import warn_if_weak
from inbounds._extra import optional
from inbounds._types import Column, Nested, Number, SeriesT
from inbounds.accounting.book import Book
from inbounds.accounting.budget import Budget
from inbounds.accounting.chain import text
from inbounds.accounting.cost import Cost, Releases, as_float, total
from inbounds.accounting.overview import overview
from inbounds.errors import ArgumentError, ArgumentTypeError, LedgerError
from inbounds.guarantee import Amount
from inbounds.loss import PrivacyLoss
from inbounds.unit import Unit

if TYPE_CHECKING:
    import pandas as pd

_AMOUNTS = ("epsilon", "delta", "rho")
RECORD = ("when", "label", "mechanism", "unit", "releases", *_AMOUNTS, "cumulative")
"""What is told of a charge."""


class Ledger:
    """Privacy budgets of datasets, and every charge against them, in a file or on a server.

    Parameters
    ----------
    place
        Path of a SQLite file, or the URL of a PostgreSQL database
        (``postgresql+psycopg://user@host/name``) that several machines share.
    create
        Whether `open` may create the ledger. A ledger that is in use should be there: with False,
        losing it is an error at once.

    Guarantees
    ----------
    A charge is on disk before the first random bit of its release is drawn: a crash between the two
    loses budget, never privacy. Processes, threads and machines that share a ledger never overdraw
    it together. History is append-only, and changes to it are noticed (see `verify`).

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
        """Give a dataset its budget, once and for all: pure epsilon, (epsilon, delta), or rho.

        Blanks at the ends of a name do not count, and equal letters are equal however they are
        encoded. A name that looks like another dataset's is refused, and so are rare letters and
        words of two alphabets: docs/ledger.md. Names have at most 200 characters.

        A dataset that is there already is an error, unless `exist_ok` and the budget is the same.

        `unit` says which change of the data the budget speaks of. Charges that state another unit
        are converted to it or refused; those that state none count as stated for it, so that is
        what their sensitivity must have been stated for. Without `unit`, the first charge that
        states one decides for the dataset, including the charges before it.
        """
        budget = Budget(epsilon, delta, rho, unit)
        warn_if_weak(epsilon=epsilon, delta=delta)
        found = self._book.open(text(dataset=dataset), budget, create=self._create)
        if found is None or (exist_ok and budget in (found, replace(found, unit=None))):
            return
        to = "" if found.unit is None else f" to {found.unit}"
        raise LedgerError(
            f"dataset {dataset!r} is open already, with a budget of {found}{to}, "
            "which cannot be changed."
        )

    @overload
    def release(
        self,
        mechanism: Releases,
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
        mechanism: Releases,
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
        mechanism: Releases,
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
        mechanism: Releases,
        value: Column,
        *,
        dataset: str,
        label: str = ...,
        parallel: bool = ...,
        unit: Unit | None = ...,
        **options: Any,
    ) -> Any: ...
    def release(
        self,
        mechanism: Releases,
        value: Any,
        *,
        dataset: str,
        label: str = "",
        parallel: bool = False,
        unit: Unit | None = None,
        **options: Any,
    ) -> Any:
        """Charge the dataset, then draw and return private outputs, as ``mechanism.release`` does.

        On an interval every element of `value` is a release of its own and is charged as such; on
        a box of m coordinates every row of m numbers is. What can be wrong with the arguments is
        found before anything is charged. The ledger shows how many releases there were.

        Parameters
        ----------
        mechanism, value
            As in ``mechanism.release(value)``.
        dataset, label
            Whose budget is charged, and a note for the history. Neither may be private.
        parallel
            Say that no two elements (rows) depend on the same person, so that all cost as much as
            one. Without it one person may be in all of them. A person whose change could move them
            from one part to another is in both: then it must not be said.
        unit
            Which change of the data the sensitivity was stated for. By default the dataset's unit;
            any other is converted to that, or refused.
        **options
            For ``mechanism.release``.
        """
        label = text(label=label)
        if not all(hasattr(mechanism, name) for name in ("domain", "loss", "release")):
            raise ArgumentTypeError.must_be(
                "mechanism", "an inbounds mechanism", got=type(mechanism).__name__
            )
        column = open_column(value, "value") if mechanism.domain.is_interval else None
        given = _check.private_array(value=column[0] if column else value)
        mechanism.domain.check_shape(given, "value")
        if given.size == 0:
            raise ArgumentError.must("value", "hold at least one number")
        nothing = np.empty((0, mechanism.domain.dimension))
        mechanism.release(nothing, **options)  # draws no bit, but finds what is wrong
        if column:
            column[1](np.zeros(given.shape))  # as does this, on which no column must fail later
        count = given.size // mechanism.domain.dimension
        how = repr(mechanism)
        if parallel and count > 1:
            how, count = f"{how} in parallel on {count} parts", 1
        cost = self._book.budget(dataset).cost_of(mechanism, unit)
        self._book.charge(dataset, cost, count, label=label, mechanism=how)
        outputs = mechanism.release(given, **options)
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
        """Charge for something released elsewhere: epsilon, epsilon and delta, rho, or a loss.

        `unit` is as in `release`; a loss may state it itself.
        """
        cost = Cost.stated(epsilon, delta, rho, loss, unit)
        self._book.charge(dataset, cost, 1, label=text(label=label), mechanism="")

    def datasets(self) -> list[str]:
        """Return the names of all datasets."""
        return self._book.datasets()

    def budget(self, dataset: str) -> Budget:
        """Return what the dataset was opened with; a charge may have decided on its unit."""
        return self._book.budget_of(self._book.account(dataset))

    def remaining(self, dataset: str) -> Amount:
        """Return what is left: epsilon, epsilon at the budget's delta, or rho.

        Under a delta it is a number to plan with. What fits is decided by composition with all
        charges before, and is often more.
        """
        account = self._book.account(dataset)
        return self._book.budget_of(account).left(self._book.spent(account))

    def history(self, dataset: str) -> pd.DataFrame:
        """Return `records` as a pandas data frame; needs pandas."""
        with optional():
            import pandas as pd  # noqa: PLC0415 - optional

        return pd.DataFrame(self.records(dataset), columns=list(RECORD))

    def records(self, dataset: str) -> list[dict[str, Any]]:
        """Return every charge, oldest first, and what all had cost by then in the budget's terms.

        Under a delta the cumulative epsilon is a quick upper bound, without convolutions;
        `remaining` has the best one. The unit is None where a charge states none.
        """
        budget = self.budget(dataset)
        rows: list[dict[str, Any]] = []
        counts: Counter[Cost] = Counter()
        for charge, cost in self._book.charges(dataset):
            counts[cost] += charge.count
            this = [(cost, charge.count)]
            rows.append(
                {"when": charge.time, "label": charge.label, "mechanism": charge.mechanism}
                | {"unit": cost.loss.unit and str(cost.loss.unit), "releases": charge.count}
                | {name: as_float(total(this, name)) for name in _AMOUNTS}
                | {"cumulative": as_float(budget.spent(counts.items()))}
            )
        return rows

    def head(self, dataset: str) -> str:
        """Return the hash of the newest entry. Keep it elsewhere: it stands for all before it."""
        return self._book.account(dataset).head

    def verify(self, dataset: str, *, expected_head: str | None = None) -> str:
        """Check every entry of a dataset against its hash, and return the head.

        Edits, and entries removed from or put in the middle, are always found. Entries removed
        from the end are found if `expected_head`, what `head` once said, is given.

        Examples
        --------
        >>> import tempfile
        >>> ledger = Ledger(tempfile.mkdtemp() + "/budget.db")
        >>> ledger.open("survey", rho=0.5)
        >>> kept = ledger.head("survey")
        >>> ledger.spend("survey", rho=0.1)
        >>> ledger.verify("survey", expected_head=kept) == ledger.head("survey")
        True
        """
        return self._book.verify(dataset, expected_head)

    def close(self) -> None:
        """Close the file, which stays open between calls; the next call opens it again."""
        self._book.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[object, ...]:
        """Copy by place; the copy checks the history again."""
        return partial(type(self), create=self._create), (self._book.store.place,)

    def _repr_html_(self) -> str | None:
        table = overview(self._book)
        return None if table is None else table.html()

    def __repr__(self) -> str:
        return f"Ledger({self._book.store.shown!r})"
