"""The one ledger that the page may show and charge: the one that the command was given."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

from inbounds.errors import ArgumentError, InBoundsError, LedgerError, MissingPackageError

if TYPE_CHECKING:
    from inbounds.accounting.ledger import Ledger

PLACE = "INBOUNDS_LEDGER"
"""The variable of the environment that tells a command the ledger's place."""


@dataclass(frozen=True, slots=True)
class Budget:
    """A ledger's place, which may hold a password and is never shown, and the name it is shown by.

    Examples
    --------
    >>> Budget("postgresql://ana:secret@db.example.org/privacy")
    Budget(shown='db.example.org/privacy')
    """

    place: str
    shown: str

    def __init__(self, place: str) -> None:
        is_url = "://" in place and not place.startswith("sqlite")
        parts = urlsplit(place) if is_url else None
        shown = f"{parts.hostname or ''}{parts.path}" if parts else Path(place).name
        whole = place if "://" in place else str(Path(place).absolute())  # commands run elsewhere
        object.__setattr__(self, "place", whole)
        object.__setattr__(self, "shown", shown)

    def __repr__(self) -> str:
        return f"Budget(shown={self.shown!r})"

    def _opened(self) -> Ledger:
        """Return the ledger, which must exist."""
        from inbounds.accounting.ledger import Ledger  # noqa: PLC0415 - needs an optional package

        return Ledger(self.place, create=False)

    def hidden(self, text: str) -> str:
        """Return a text without the password of the ledger's URL.

        Examples
        --------
        >>> Budget("postgresql://ana:s%21@db/privacy").hidden("no role ana with password s!")
        'no role ana with password ***'
        """
        if "://" not in self.place:
            return text
        parts = urlsplit(self.place)
        secrets = [parts.password or "", unquote(parts.password or "")]
        secrets += [value for key, value in parse_qsl(parts.query) if "password" in key]
        for secret in (self.place, *filter(None, secrets)):
            text = text.replace(secret, "***" if secret != self.place else self.shown)
        return text

    def datasets(self) -> list[dict[str, Any]]:
        """Return every budget, and what is left of it; nothing is written.

        Examples
        --------
        >>> import tempfile
        >>> import inbounds as ib
        >>> place = tempfile.mkdtemp() + "/budget.db"
        >>> ledger = ib.Ledger(place)
        >>> ledger.open("survey", epsilon=2.0)
        >>> ledger.spend("survey", epsilon=0.5)
        >>> (facts,) = Budget(place).datasets()
        >>> facts["budget"], facts["remaining"], facts["fraction_spent"], facts["entries"]
        ('epsilon=2', 'epsilon=1.5', 0.25, 1)
        """
        with self._hiding(), self._opened() as ledger:
            return [_facts(ledger, name) for name in ledger.datasets()]

    def head(self, dataset: str) -> str:
        """Return the hash of a dataset's newest entry, by which a charge is noticed.

        Examples
        --------
        >>> Budget("/missing/budget.db").head("survey")
        Traceback (most recent call last):
        inbounds.errors.LedgerError: there is no ledger at /missing/budget.db.
        """
        with self._hiding(), self._opened() as ledger:
            return ledger.head(dataset)

    @contextmanager
    def _hiding(self) -> Iterator[None]:
        """Raise the ledger's errors again, without the password."""
        try:
            yield
        except MissingPackageError:
            raise
        except InBoundsError as error:
            raise LedgerError(self.hidden(str(error))) from None


def _facts(ledger: Ledger, dataset: str) -> dict[str, Any]:
    budget, left = ledger.budget(dataset), ledger.remaining(dataset)
    (term, remaining), *_ = left.stated().items()
    whole = budget.stated()[term]
    spent = max(whole - remaining, 0.0)
    return {
        "dataset": dataset,
        "budget": f"{budget:.6g}",
        "spent": f"{term}={spent:.6g}",
        "remaining": f"{left:.6g}",
        "fraction_spent": spent / whole if whole else None,
        "unit": "not stated" if budget.unit is None else str(budget.unit),
        "entries": len(ledger.records(dataset)),
    }


def spending(charge: Charge, epsilon: float) -> list[str]:
    """Return the words of the command that charges a row's epsilon.

    Examples
    --------
    >>> spending(Charge("survey", "ages"), 0.5)
    ['ledger', 'spend', '--epsilon=0.5', '--unit=replace:row', '--label=ages', '--', 'survey']
    """
    amount = [f"--epsilon={epsilon!r}", "--unit=replace:row"]
    return ["ledger", "spend", *amount, f"--label={charge.label}", "--", charge.dataset]


@dataclass(frozen=True, slots=True)
class Charge:
    """What a draw is charged to: a dataset of the ledger, with a label that must not be private."""

    dataset: str
    label: str


def required(budget: Budget | None) -> Budget:
    """Return the ledger, without which nothing can be charged.

    Examples
    --------
    >>> required(None)
    Traceback (most recent call last):
    inbounds.errors.ArgumentError: charge must be null, because the server has no ledger.
    Hint: inbounds explore --ledger FILE
    """
    if budget is None:
        requirement = "null, because the server has no ledger"
        raise ArgumentError.must_be("charge", requirement, hint="inbounds explore --ledger FILE")
    return budget
