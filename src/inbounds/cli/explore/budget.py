"""The one ledger that the page may show and charge: the one that the command was given."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from inbounds.errors import ArgumentError, InBoundsError, LedgerError, MissingPackageError

if TYPE_CHECKING:
    from inbounds.accounting.ledger import Ledger
    from inbounds.unit import Unit

PLACE = "INBOUNDS_LEDGER"
"""The variable of the environment that tells a command the ledger's place."""
_PARTS = ("row", "person")  # whose units the page can charge


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

    def unit(self, dataset: str) -> Unit | None:
        """Return the unit of a dataset's budget, or None if it states none."""
        with self._hiding(), self._opened() as ledger:
            return ledger.budget(dataset).unit

    def charges(self, dataset: str) -> list[dict[str, Any]]:
        """Return all charges of a dataset, oldest first.

        Examples
        --------
        >>> Budget("/missing/budget.db").charges("survey")
        Traceback (most recent call last):
        inbounds.errors.LedgerError: there is no ledger at /missing/budget.db.
        """
        with self._hiding(), self._opened() as ledger:
            return ledger.records(dataset)

    def is_charged(self, charge: Charge, before: int) -> bool | None:
        """Tell whether a charge of ours is among those after the first `before`.

        Ours have our label, if we gave one, and our user. None if the ledger cannot be read.
        """
        from inbounds.accounting.user import system_user  # noqa: PLC0415 - as the ledger

        try:
            newer = self.charges(charge.dataset)[before:]
        except InBoundsError:
            return None
        ours = [record for record in newer if record["user"] == system_user()]
        return any(charge.label in ("", record["label"]) for record in ours)

    @property
    def argument(self) -> str:
        """The place as a command may show it, without a password.

        Examples
        --------
        >>> Budget("postgresql://ana:secret@db.example.org/privacy").argument
        'postgresql://ana@db.example.org/privacy'
        """
        if "://" not in self.place:
            return self.place
        parts = urlsplit(self.place)
        user, _, host = parts.netloc.rpartition("@")
        named = f"{user.partition(':')[0]}@{host}" if user else host
        query = [pair for pair in parse_qsl(parts.query) if "password" not in pair[0]]
        return urlunsplit(parts._replace(netloc=named, query=urlencode(query)))

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
        "for_rows": row_unit(budget.unit) is not None,
        "for_summaries": budget.unit is None or budget.unit.of in _PARTS,
        "entries": len(ledger.records(dataset)),
    }


def row_unit(unit: Unit | None) -> str | None:
    """Return the unit of a draw of one row per person that a budget counts, or None if it cannot.

    To replace a person is then to replace a row. But a draw keeps the number of rows, so it
    promises nothing to a person whose presence is to be hidden.

    Examples
    --------
    >>> from inbounds import Unit
    >>> row_unit(None), row_unit(Unit("replace", "person", 2)), row_unit(Unit("add-remove"))
    ('replace:row', 'replace:person', None)
    """
    if unit is None:
        return "replace:row"
    return f"replace:{unit.of}" if unit.change == "replace" and unit.of in _PARTS else None


def counted(dataset: str, unit: Unit | None) -> str:
    """Return the unit of a draw of one row per person, or refuse a budget that cannot count it.

    Examples
    --------
    >>> from inbounds import Unit
    >>> counted("survey", Unit("add-remove", "person"))
    Traceback (most recent call last):
    inbounds.errors.ArgumentError: the budget of 'survey' must be one for replaced rows or people,
    got 'add or remove one person'.
    Hint: a private copy has a row for everybody, so it does not hide that somebody is in it.
    """
    found = row_unit(unit)
    if found is None:
        raise ArgumentError.must_be(
            f"the budget of {dataset!r}",
            "one for replaced rows or people",
            got=repr(str(unit)),
            hint="a private copy has a row for everybody, so it does not hide that somebody is in "
            "it.",
        )
    return found


def spending(charge: Charge, epsilon: float, unit: str = "replace:row") -> list[str]:
    """Return the words of the command that charges a row's epsilon.

    Examples
    --------
    >>> spending(Charge("survey", "ages"), 0.5)
    ['ledger', 'spend', '--epsilon=0.5', '--unit=replace:row', '--label=ages', '--', 'survey']
    """
    amount = [f"--epsilon={epsilon!r}", f"--unit={unit}"]
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
