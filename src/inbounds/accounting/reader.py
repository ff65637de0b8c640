"""The part of a ledger that only reads: budgets, what is left of them, and the verified history."""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Self

from inbounds import _check
from inbounds._extra import optional
from inbounds.accounting.book import Book
from inbounds.accounting.budget import Budget
from inbounds.accounting.chain import text
from inbounds.accounting.cost import Cost, as_float, total
from inbounds.accounting.offer import asked_of, check_mechanism, stated_amount
from inbounds.accounting.overview import overview
from inbounds.accounting.priced import PricedMechanism, PricedResponse
from inbounds.accounting.request import Fit
from inbounds.errors import ArgumentError
from inbounds.guarantee import Amount
from inbounds.loss import PrivacyLoss
from inbounds.unit import Unit

if TYPE_CHECKING:
    import pandas as pd

_HEAD = re.compile("[0-9a-fA-F]{64}")
_AMOUNTS = ("epsilon", "delta", "rho")
RECORD = (
    *("when", "user", "label", "mechanism", "unit", "releases", "asked"),
    *(*_AMOUNTS, "charged", "cumulative"),
)
"""The fields of one record of the history."""


class LedgerReader:
    """The methods of `Ledger` that write nothing."""

    _book: Book

    def datasets(self) -> list[str]:
        """Return the names of all datasets, sorted.

        Examples
        --------
        >>> import tempfile
        >>> import inbounds as ib
        >>> ledger = ib.Ledger(tempfile.mkdtemp() + "/budget.db")
        >>> ledger.open("survey", epsilon=3.0)
        >>> ledger.open("incomes", rho=0.5)
        >>> ledger.datasets()
        ['incomes', 'survey']
        """
        return self._book.datasets()

    def budget(self, dataset: str) -> Budget:
        """Return the budget that a dataset was opened with.

        Its unit may have been set later, by the first charge that stated one.

        Raises
        ------
        LedgerError
            If the dataset is unknown, or its history was tampered with.

        Examples
        --------
        >>> import tempfile
        >>> import inbounds as ib
        >>> ledger = ib.Ledger(tempfile.mkdtemp() + "/budget.db")
        >>> ledger.open("survey", epsilon=3.0, unit=ib.Unit("replace", "person"))
        >>> ledger.budget("survey")
        Budget(epsilon=3.0, unit=Unit('replace', 'person'))
        """
        return self._book.budget_of(self._book.account(dataset))

    def remaining(self, dataset: str) -> Amount:
        """Return what is left of a budget.

        Returns
        -------
        Amount
            The epsilon that is left, or the rho. If the budget has a delta, it is the pure epsilon
            that is left: a release whose pure epsilon is at most this fits, and lowers it by at
            most its own epsilon. Gaussian noise costs much less than its pure epsilon, except that
            the first of it reserves a part of the budget. `would_fit` tells the cost in advance.

        Raises
        ------
        LedgerError
            If the dataset is unknown, or its history was tampered with.

        See Also
        --------
        would_fit : whether a release fits, and what would be left after it.
        records : what was asked, by whom, and what every charge cost.

        Examples
        --------
        >>> import tempfile
        >>> import inbounds as ib
        >>> ledger = ib.Ledger(tempfile.mkdtemp() + "/budget.db")
        >>> ledger.open("survey", epsilon=1.0, delta=1e-6)
        >>> noise = ib.BoundedGaussian.calibrated(ib.Box(0, 10_000), 2.5, epsilon=0.2, delta=1e-6)
        >>> y = ledger.release(noise, 4130, dataset="survey")
        >>> round(ledger.remaining("survey").epsilon, 2)  # 0.2 was asked; a part is reserved
        0.72
        >>> y = ledger.release(noise, 4130, dataset="survey")
        >>> round(ledger.remaining("survey").epsilon, 2)  # the second costs less
        0.6
        >>> ledger.spend("survey", epsilon=0.1)  # a pure release costs its epsilon at most
        >>> round(ledger.remaining("survey").epsilon, 2)
        0.5
        """
        account = self._book.account(dataset)
        return self._book.budget_of(account).left(self._book.spent(account))

    def would_fit(
        self,
        release: PricedMechanism | PricedResponse | PrivacyLoss | None = None,
        *,
        dataset: str,
        epsilon: float | None = None,
        delta: float | None = None,
        rho: float | None = None,
        releases: int = 1,
        unit: Unit | None = None,
    ) -> Fit:
        """Tell whether a charge would fit in the budget now. Nothing is charged or drawn.

        Parameters
        ----------
        release
            A mechanism as for `Ledger.release`, or a loss as for `Ledger.spend`.
        dataset
            The dataset whose budget would be charged.
        epsilon, delta, rho
            What it costs, in place of `release`, as for `Ledger.spend`.
        releases
            How many releases the mechanism would make: as many as the value has elements or rows.
        unit
            As for `Ledger.release`.

        Returns
        -------
        Fit
            True if the charge fits, with its ``cost`` in terms of the budget, and what would be
            ``remaining``; false otherwise, with the ``reason``. Others may charge in between.

        Raises
        ------
        LedgerError
            If the dataset is unknown, or its history was tampered with.
        ArgumentError, ArgumentTypeError
            If an argument is not valid, or the budget cannot count it.

        Examples
        --------
        >>> import tempfile
        >>> import inbounds as ib
        >>> ledger = ib.Ledger(tempfile.mkdtemp() + "/budget.db")
        >>> ledger.open("survey", epsilon=3.0)
        >>> ledger.would_fit(dataset="survey", epsilon=0.5)
        Fit(True, cost=Amount(epsilon=0.5), remaining=Amount(epsilon=2.5))
        >>> ages = ib.BoundedLaplace.calibrated(ib.Box(0, 120), 2.5, epsilon=0.1)
        >>> bool(ledger.would_fit(ages, dataset="survey", releases=31))
        False
        """
        count = _check.positive_integer(releases=releases)
        if release is None or isinstance(release, PrivacyLoss):
            cost = Cost.stated(epsilon, delta, rho, release, unit)
            asked = None if release is not None else stated_amount(epsilon, delta, rho)
            return self._book.fit(dataset, cost, count, asked)
        check_mechanism(release)
        if stated_amount(epsilon, delta, rho) is not None:
            raise ArgumentError.must_be("release", "given without epsilon, delta or rho")
        cost = self._book.budget(dataset).cost_of(release, unit)
        return self._book.fit(dataset, cost, count, asked_of(release))

    def history(self, dataset: str) -> pd.DataFrame:
        """Return `records` as a pandas data frame.

        Raises
        ------
        MissingPackageError
            If pandas is not installed.
        LedgerError
            If the dataset is unknown, or its history was tampered with.

        Examples
        --------
        >>> import tempfile
        >>> import inbounds as ib
        >>> ledger = ib.Ledger(tempfile.mkdtemp() + "/budget.db")
        >>> ledger.open("survey", epsilon=3.0)
        >>> ledger.spend("survey", epsilon=0.5, label="published elsewhere")
        >>> ledger.history("survey")[["label", "asked", "charged", "cumulative"]]
                         label        asked  charged  cumulative
        0  published elsewhere  epsilon=0.5      0.5         0.5
        """
        with optional():
            import pandas as pd  # noqa: PLC0415 - optional

        return pd.DataFrame(self.records(dataset), columns=list(RECORD))

    def records(self, dataset: str) -> list[dict[str, Any]]:
        """Return one dictionary per charge, oldest first.

        Returns
        -------
        list of dict
            Each has the keys ``when``, ``user``, ``label``, ``mechanism``, ``unit`` (None if the
            charge states none) and ``releases``. ``asked`` is what the user asked for each release,
            in the user's own numbers, as in ``"epsilon=0.9, delta=1e-07"``. It is None if the
            mechanism was not calibrated, and like ``user`` in charges of older versions.
            ``epsilon``, ``delta`` and ``rho`` are upper bounds on what was charged: all releases
            added up, by each of these notions. ``charged`` is what it cost in terms of the budget,
            and ``cumulative`` what all charges up to this one did, which decides what is left.

        Raises
        ------
        LedgerError
            If the dataset is unknown, or its history was tampered with.

        Examples
        --------
        >>> import tempfile
        >>> import inbounds as ib
        >>> ledger = ib.Ledger(tempfile.mkdtemp() + "/budget.db")
        >>> ledger.open("survey", epsilon=3.0)
        >>> ledger.spend("survey", epsilon=0.5, label="published elsewhere")
        >>> [(record["label"], record["charged"]) for record in ledger.records("survey")]
        [('published elsewhere', 0.5)]
        """
        budget = self.budget(dataset)
        rows: list[dict[str, Any]] = []
        counts: Counter[Cost] = Counter()
        before: Fraction | float = Fraction(0)
        for charge, cost in self._book.charges(dataset):
            counts[cost] += charge.count
            cumulative, asked = budget.spent(counts.items()), self._book.asked(charge)
            rows.append(
                {"when": charge.time, "user": charge.asked_by, "label": charge.label}
                | {"mechanism": charge.mechanism}
                | {"unit": cost.loss.unit and str(cost.loss.unit), "releases": charge.count}
                | {"asked": None if asked is None else str(asked)}
                | _amounts(cost, charge.count)
                | {"charged": as_float(cumulative - before), "cumulative": as_float(cumulative)}
            )
            before = cumulative
        return rows

    def head(self, dataset: str) -> str:
        """Return the hash of the newest entry, which depends on every entry before it.

        Keep it in another place, and give it to `verify` as `expected_head`.

        Raises
        ------
        LedgerError
            If the dataset is unknown, or its history was tampered with.

        Examples
        --------
        >>> import tempfile
        >>> import inbounds as ib
        >>> ledger = ib.Ledger(tempfile.mkdtemp() + "/budget.db")
        >>> ledger.open("survey", epsilon=3.0)
        >>> kept = ledger.head("survey")
        >>> len(kept), ledger.verify("survey", expected_head=kept) == kept
        (64, True)
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
            if not _HEAD.fullmatch(expected_head):
                hint = "it is what head returned, and what inbounds ledger verify prints."
                raise ArgumentError.must_be("expected_head", "64 hexadecimal digits", hint=hint)
        return self._book.verify(dataset, expected_head)

    def close(self) -> None:
        """Close the ledger's file, which is kept open between calls. The next call reopens it.

        A ``with`` statement closes it, too.

        Examples
        --------
        >>> import tempfile
        >>> import inbounds as ib
        >>> with ib.Ledger(tempfile.mkdtemp() + "/budget.db") as ledger:
        ...     ledger.open("survey", epsilon=3.0)
        >>> ledger.datasets()
        ['survey']
        """
        self._book.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _repr_html_(self) -> str | None:
        table = overview(self._book)
        return None if table is None else table.html()

    def __repr__(self) -> str:
        return f"Ledger({self._book.store.shown!r})"


@lru_cache(maxsize=256)
def _amounts(cost: Cost, count: int) -> dict[str, float]:
    """Return the sums over the releases of one charge; cached, because charges repeat."""
    return {name: as_float(total([(cost, count)], name)) for name in _AMOUNTS}
