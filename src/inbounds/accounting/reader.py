"""The part of a ledger that only reads: budgets, what is left of them, and the verified history."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from inbounds._extra import optional
from inbounds.accounting.book import Book
from inbounds.accounting.budget import Budget
from inbounds.accounting.chain import text
from inbounds.accounting.cost import Cost, as_float, total
from inbounds.accounting.overview import overview
from inbounds.guarantee import Amount

if TYPE_CHECKING:
    import pandas as pd

_AMOUNTS = ("epsilon", "delta", "rho")
RECORD = ("when", "label", "mechanism", "unit", "releases", *_AMOUNTS, "cumulative")
"""The fields of one record of the history."""


class LedgerReader:
    """The methods of `Ledger` that write nothing."""

    _book: Book

    def datasets(self) -> list[str]:
        """Return the names of all datasets, sorted."""
        return self._book.datasets()

    def budget(self, dataset: str) -> Budget:
        """Return the budget that a dataset was opened with.

        Its unit may have been set later, by the first charge that stated one.

        Raises
        ------
        LedgerError
            If the dataset is unknown, or its history was tampered with.
        """
        return self._book.budget_of(self._book.account(dataset))

    def remaining(self, dataset: str) -> Amount:
        """Return what is left of a budget.

        Returns
        -------
        Amount
            The epsilon that is left, or the rho. If the budget has a delta, it is the epsilon that
            is left at that delta: an estimate to plan with. Whether a charge fits is decided by
            composition with all earlier charges, so more than this often fits.

        Raises
        ------
        LedgerError
            If the dataset is unknown, or its history was tampered with.

        See Also
        --------
        Ledger.records : what every charge cost.
        """
        account = self._book.account(dataset)
        return self._book.budget_of(account).left(self._book.spent(account))

    def history(self, dataset: str) -> pd.DataFrame:
        """Return `records` as a pandas data frame.

        Raises
        ------
        MissingPackageError
            If pandas is not installed.
        LedgerError
            If the dataset is unknown, or its history was tampered with.
        """
        with optional():
            import pandas as pd  # noqa: PLC0415 - optional

        return pd.DataFrame(self.records(dataset), columns=list(RECORD))

    def records(self, dataset: str) -> list[dict[str, Any]]:
        """Return one dictionary per charge, oldest first.

        Returns
        -------
        list of dict
            Each has the keys ``when``, ``label``, ``mechanism``, ``unit`` (None if the charge
            states none), ``releases``, ``epsilon``, ``delta`` and ``rho``. ``cumulative`` is what
            all charges up to this one cost in terms of the budget. If the budget has a delta, it
            is an upper bound that is quick to compute, and `remaining` uses a tighter one.

        Raises
        ------
        LedgerError
            If the dataset is unknown, or its history was tampered with.
        """
        budget = self.budget(dataset)
        rows: list[dict[str, Any]] = []
        counts: Counter[Cost] = Counter()
        for charge, cost in self._book.charges(dataset):
            counts[cost] += charge.count
            charge_cost = [(cost, charge.count)]
            rows.append(
                {"when": charge.time, "label": charge.label, "mechanism": charge.mechanism}
                | {"unit": cost.loss.unit and str(cost.loss.unit), "releases": charge.count}
                | {name: as_float(total(charge_cost, name)) for name in _AMOUNTS}
                | {"cumulative": as_float(budget.spent(counts.items()))}
            )
        return rows

    def head(self, dataset: str) -> str:
        """Return the hash of the newest entry, which depends on every entry before it.

        Keep it in another place, and give it to `verify` as `expected_head`.

        Raises
        ------
        LedgerError
            If the dataset is unknown, or its history was tampered with.
        """
        return self._book.account(dataset).head

    def verify(self, dataset: str, *, expected_head: str | None = None) -> str:
        """Check every entry of a dataset against its hash, and return the head.

        Parameters
        ----------
        dataset
            The dataset to check.
        expected_head
            What `head` returned earlier. Without it, only edits that left the hashes as they were
            are found: anyone with write access can remove the newest entries, or compute every
            hash again. Only a head that was kept elsewhere reveals that.

        Returns
        -------
        str
            The hash of the newest entry.

        Raises
        ------
        LedgerError
            If the dataset is unknown, its history was tampered with, or `expected_head` is not
            part of that history.

        Examples
        --------
        >>> import tempfile
        >>> import inbounds as ib
        >>> ledger = ib.Ledger(tempfile.mkdtemp() + "/budget.db")
        >>> ledger.open("survey", rho=0.5)
        >>> kept = ledger.head("survey")
        >>> ledger.spend("survey", rho=0.1)
        >>> ledger.verify("survey", expected_head=kept) == ledger.head("survey")
        True
        """
        if expected_head is not None:
            expected_head = text(expected_head=expected_head)
        return self._book.verify(dataset, expected_head)

    def _repr_html_(self) -> str | None:
        table = overview(self._book)
        return None if table is None else table.html()

    def __repr__(self) -> str:
        return f"Ledger({self._book.store.shown!r})"
